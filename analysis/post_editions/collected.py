"""The post-editions that a campaign's own workers made: word by word, and how far editors agree."""

from collections import defaultdict
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from hits.languages import is_spaced
from hits.models import Campaign
from hits.post_editing.arrays import EditedOutput, load_edited_outputs
from hits.post_editing.changes import changed_spans, n_edits, units_of


@dataclass(frozen=True, slots=True)
class EditRow:
    """A post-edition as the page shows it."""

    edit: EditedOutput
    editor: str
    n_changed: int
    n_words: int
    parts: list[tuple[str, str, str]]

    @property
    def share(self) -> float:
        """Changed words for each word of the post-edition, as in TER without shifts."""
        return self.n_changed / self.n_words if self.n_words else float(self.n_changed > 0)

    @property
    def seconds_per_word(self) -> float | None:
        n_shown = len(self.edit.shown.split()) or 1
        return None if self.edit.seconds is None else self.edit.seconds / n_shown


def edit_row(edit: EditedOutput, *, spaced: bool) -> EditRow:
    """Compare a post-edition with its output, word by word."""
    return EditRow(
        edit=edit,
        editor=edit.worker_code[:8],
        n_changed=n_edits(edit.shown, edit.text, spaced=spaced),
        n_words=len(units_of(edit.text, spaced)),
        parts=changed_spans(edit.shown, edit.text, spaced=spaced),
    )


@dataclass(frozen=True, slots=True)
class EditorAgreement:
    """How far apart two editors of one output are: edits for each word of the other's text, mean over pairs."""

    n_pairs: int
    mean: float | None
    share_equal: float | None


def agreement_of_editors(campaign: Campaign) -> EditorAgreement:
    """Compare the post-editions of every output that several trusted editors have edited."""
    spaced = is_spaced(campaign.target_language)
    texts: defaultdict[int, list[str]] = defaultdict(list)
    for row in load_edited_outputs(campaign, trusted_only=True):
        texts[row.translation].append(row.text)
    distances = [
        n_edits(one, other, spaced=spaced) / max(1, len(units_of(other, spaced)))
        for versions in texts.values()
        for one, other in combinations(versions, 2)
    ]
    if not distances:
        return EditorAgreement(0, None, None)
    equal = sum(distance == 0 for distance in distances)
    return EditorAgreement(len(distances), float(np.mean(distances)), equal / len(distances))
