"""The post-editions that a campaign's own workers made: word by word, their measures, and how far editors agree."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np

from hits.languages import is_spaced
from hits.models import Campaign
from hits.post_editing.arrays import EditedOutput, load_edited_outputs
from hits.post_editing.changes import changed_spans

from ..metrics.catalogue import targeted_metrics_for, tokeniser_for, word_counter
from .agreement import HTER

# What happened to a part of a text, and the wording before and after.
Part = tuple[str, str, str]

# HTER and its kin, by the names of the metrics of which they are the human-targeted versions.
KIN = ("TER", "BLEU", "WER", "PER", "CDER")


@dataclass(frozen=True, slots=True)
class Measured:
    """What one post-edition says about its output. Times are in seconds, None if the browser sent none."""

    scores: dict[str, float]
    seconds: float | None
    seconds_per_word: float | None

    @property
    def hter(self) -> float:
        return self.scores[HTER]

    @property
    def kin(self) -> list[tuple[str, float]]:
        """The other measures by name."""
        return [(name, score) for name, score in self.scores.items() if name != HTER]


def measurer(language: str) -> Callable[[str, str, float | None], Measured]:
    """Return a function of an output, its post-edition and the time, which measures them as gold does."""
    metrics = targeted_metrics_for(language)
    n_words = word_counter(tokeniser_for(language))

    def measure(output: str, edited: str, seconds: float | None) -> Measured:
        chosen = (metrics[name] for name in KIN)
        scores = {each.name: each.of_segment(each.counts(output, edited)) for each in chosen}
        return Measured(scores, seconds, None if seconds is None else seconds / n_words(output))

    return measure


@dataclass(frozen=True, slots=True)
class EditRow:
    """A post-edition as the page shows it; `check_parts` is what somebody who checked it changed."""

    edit: EditedOutput
    editor: str
    measured: Measured
    parts: list[Part]
    checker: str
    check_parts: list[Part]

    @property
    def is_changed_by_check(self) -> bool:
        return self.edit.final != self.edit.text


def rows_of(campaign: Campaign, edits: Iterable[EditedOutput]) -> list[EditRow]:
    """Compare post-editions with their outputs, word by word."""
    spaced = is_spaced(campaign.target_language)
    measure = measurer(campaign.target_language)
    return [
        EditRow(
            edit=edit,
            editor=edit.worker_code[:8],
            measured=measure(edit.shown, edit.final, edit.seconds),
            parts=changed_spans(edit.shown, edit.text, spaced=spaced),
            checker=edit.check.checker_code[:8] if edit.check else "",
            check_parts=changed_spans(edit.text, edit.final, spaced=spaced),
        )
        for edit in edits
    ]


def hter_of(language: str) -> Callable[[str, str], float]:
    """Return a function of an output and its post-edition, which computes HTER as gold has it."""
    metric = targeted_metrics_for(language)["TER"]
    return lambda output, edited: metric.of_segment(metric.counts(output, edited))


# Agreement ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class EditorPair:
    """Two trusted editors of one output, and the HTER of each text against the other, before any check."""

    first: EditedOutput
    second: EditedOutput
    hter_of_first: float
    hter_of_second: float

    @property
    def mean(self) -> float:
        return (self.hter_of_first + self.hter_of_second) / 2


@dataclass(frozen=True, slots=True)
class EditorAgreement:
    """How far apart two editors of one output are: HTER of each text against the other, mean over both ways and all pairs."""

    n_pairs: int
    n_outputs: int
    n_editors: int
    mean: float | None
    share_equal: float | None
    signature: str

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def pairs_of_editors(campaign: Campaign) -> Iterator[EditorPair]:
    """Yield the pairs of trusted editors of each output that several have edited, in the order of the segments."""
    hter = hter_of(campaign.target_language)
    edits: defaultdict[int, list[EditedOutput]] = defaultdict(list)
    for edit in load_edited_outputs(campaign, trusted_only=True):
        edits[edit.translation].append(edit)
    for versions in edits.values():
        for one, other in combinations(versions, 2):
            yield EditorPair(one, other, hter(one.text, other.text), hter(other.text, one.text))


def agreement_of_editors(campaign: Campaign) -> EditorAgreement:
    """Compare the post-editions of every output that several trusted editors have edited, before any check."""
    pairs = list(pairs_of_editors(campaign))
    means = np.array([pair.mean for pair in pairs])
    facts = targeted_metrics_for(campaign.target_language)["TER"].signatures["segment"]
    return EditorAgreement(
        n_pairs=len(pairs),
        n_outputs=len({pair.first.translation for pair in pairs}),
        n_editors=len({edit.worker for pair in pairs for edit in (pair.first, pair.second)}),
        mean=float(means.mean()) if pairs else None,
        share_equal=float((means == 0).mean()) if pairs else None,
        signature=f"{facts}|between:editors,both-ways",
    )
