"""The post-editions that a campaign's own workers made: word by word, and how far editors agree."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from hits.languages import is_spaced
from hits.models import Campaign
from hits.post_editing.arrays import EditedOutput, load_edited_outputs
from hits.post_editing.changes import changed_spans

from ..metrics.catalogue import targeted_metrics_for

# What happened to a part of a text, and the wording before and after.
Part = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class EditRow:
    """A post-edition as the page shows it; `check_parts` is what somebody who checked it changed."""

    edit: EditedOutput
    editor: str
    hter: float
    parts: list[Part]
    checker: str
    check_parts: list[Part]

    @property
    def seconds_per_word(self) -> float | None:
        n_shown = len(self.edit.shown.split()) or 1
        return None if self.edit.seconds is None else self.edit.seconds / n_shown

    @property
    def is_changed_by_check(self) -> bool:
        return self.edit.final != self.edit.text


def rows_of(campaign: Campaign, edits: Iterable[EditedOutput]) -> list[EditRow]:
    """Compare post-editions with their outputs, word by word."""
    spaced = is_spaced(campaign.target_language)
    hter = hter_of(campaign.target_language)
    return [
        EditRow(
            edit=edit,
            editor=edit.worker_code[:8],
            hter=hter(edit.shown, edit.final),
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


@dataclass(frozen=True, slots=True)
class EditorAgreement:
    """How far apart two editors of one output are: HTER of each text against the other, mean over both ways and all pairs."""

    n_pairs: int
    mean: float | None
    share_equal: float | None


def agreement_of_editors(campaign: Campaign) -> EditorAgreement:
    """Compare the post-editions of every output that several trusted editors have edited, before any check."""
    hter = hter_of(campaign.target_language)
    texts: defaultdict[int, list[str]] = defaultdict(list)
    for row in load_edited_outputs(campaign, trusted_only=True):
        texts[row.translation].append(row.text)
    distances = [
        (hter(one, other) + hter(other, one)) / 2
        for versions in texts.values()
        for one, other in combinations(versions, 2)
    ]
    if not distances:
        return EditorAgreement(0, None, None)
    equal = sum(distance == 0 for distance in distances)
    return EditorAgreement(len(distances), float(np.mean(distances)), equal / len(distances))
