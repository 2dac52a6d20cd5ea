"""How simulated editors work: careful ones correct what is wrong, lazy ones little, pasting ones copy."""

import enum
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np

from analysis.stats.roles import Role

from ..campaigns.behaviours import SimulatedWorker
from ..languages import is_spaced
from ..models import Assignment, Item
from .changes import changed_spans
from .saving import save_edit

# A careful editor overlooks this share of what is wrong. A lazy one corrects only this share.
OVERLOOKED, LAZY_SHARE = 0.1, 0.15
# Seconds for each changed word, and for reading.
SECONDS_PER_CHANGE, SECONDS_TO_READ = 4.0, 8.0


class Editor(enum.StrEnum):
    """How a simulated worker edits."""

    CAREFUL = "careful"
    LAZY = "lazy"
    PASTING = "pasting"


@dataclass(frozen=True, slots=True)
class Edited:
    text: str
    n_changes: int
    pasted: int = 0


def _correct(item: Item, rng: np.random.Generator, share: float, *, spaced: bool) -> Edited:
    """Turn spans of the text into those of the correct one, each with this probability.

    What is correct is the reference, but a person keeps what is only worded differently: of a genuine text, half
    of the differences; of a degraded one, those that its original has from the reference too.
    """
    reference = item.translation.segment.reference
    target = _target(item, reference, spaced)
    gap = " " if spaced else ""
    parts, n_changes = [], 0
    for tag, before, after in changed_spans(item.text, target, spaced=spaced):
        is_corrected = tag != "equal" and rng.random() < share
        n_changes += is_corrected
        parts.append(after if is_corrected else before)
    return Edited(gap.join(part for part in parts if part), n_changes)


def _target(item: Item, reference: str, spaced: bool) -> str:
    """The text that a careful editor has in mind: the output, with every other difference corrected."""
    if item.role == Role.REFERENCE:
        return item.text
    return right_edit(_output_of(item), reference, spaced=spaced)


def _output_of(item: Item) -> str:
    """The output that a text comes from: of a post-edition, what was edited; of a degraded text, its original."""
    if editions := item.translation.editions.all():
        return editions[0].item.text
    return item.partner.text if item.partner else item.text


def right_edit(text: str, reference: str, *, spaced: bool) -> str:
    """Return what a text should become, in the simulation: every other difference from the reference corrected."""
    gap = " " if spaced else ""
    spans = changed_spans(text, reference, spaced=spaced)
    parts = [
        after if number % 4 == 1 else before for number, (_, before, after) in enumerate(spans)
    ]
    return gap.join(part for part in parts if part)


def _careful(item: Item, rng: np.random.Generator, spaced: bool) -> Edited:
    return _correct(item, rng, 1 - OVERLOOKED, spaced=spaced)


def _lazy(item: Item, rng: np.random.Generator, spaced: bool) -> Edited:
    return _correct(item, rng, LAZY_SHARE, spaced=spaced)


def _pasting(item: Item, rng: np.random.Generator, spaced: bool) -> Edited:
    """Another machine's translation: here, the words of the reference in another order."""
    words = (
        item.translation.segment.reference.split()
        if spaced
        else list(item.translation.segment.reference)
    )
    turn = int(rng.integers(1, max(2, len(words))))
    text = (" " if spaced else "").join(words[turn:] + words[:turn])
    return Edited(text, 1, pasted=len(text))


EDITORS: dict[Editor, Callable[[Item, np.random.Generator, bool], Edited]] = {
    Editor.CAREFUL: _careful,
    Editor.LAZY: _lazy,
    Editor.PASTING: _pasting,
}


def edit_items(assignment: Assignment, person: SimulatedWorker, *, at: datetime) -> datetime:
    """Edit every item of a HIT, from this time on; return when the last one was done."""
    clock, rng = at, person.rng
    spaced = is_spaced(assignment.hit.campaign.target_language)
    items = assignment.hit.items.select_related("translation__segment", "partner")
    items = items.prefetch_related("translation__editions__item")
    edit = EDITORS[Editor(person.behaviour)]
    for item in items.order_by("position"):
        edited = edit(item, rng, spaced)
        is_slow = person.behaviour == Editor.CAREFUL
        seconds = (SECONDS_TO_READ if is_slow else 2.0) * rng.lognormal(0, 0.4)
        seconds += SECONDS_PER_CHANGE * edited.n_changes * (is_slow or 0.3)
        clock += timedelta(seconds=float(seconds))
        spent_ms = round(1000 * seconds)
        save_edit(
            assignment=assignment,
            position=item.position,
            item_code=item.code,
            text=edited.text,
            elapsed_ms=spent_ms,
            active_ms=spent_ms,
            field_ms=round(0.8 * spent_ms),
            keys=0 if edited.pasted else 8 * edited.n_changes,
            pastes=int(edited.pasted > 0),
            pasted=edited.pasted,
            at=clock,
        )
    return clock
