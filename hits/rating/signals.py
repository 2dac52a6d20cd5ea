"""How a HIT was rated: what the browser counted, and whether the hidden instruction was followed.

All of it is advice. Whatever the browser sends, or fails to send, a submission is never refused because of it.
"""

import json
from dataclasses import dataclass
from typing import Any

from ..models import Assignment, InputSignals
from ..task_kinds import kind_of
from .canary import canary_of

# What is counted for each item, in this order: pointer moves, key presses, touches, how often the page lost
# focus, and input made by a script.
COUNTS = ("pointer", "keys", "touches", "focus_lost", "scripted")
POINTER, KEYS, TOUCHES, FOCUS_LOST, SCRIPTED = range(len(COUNTS))
# More than this tells nothing more. The script on the page stops counting there.
MAX_COUNT = 9_999
# A full HIT with the largest counts takes 3,000 characters.
MAX_LENGTH = 8_000

ItemCounts = list[int] | None


@dataclass(frozen=True, slots=True)
class SentSignals:
    """The fields of the form that submits a HIT, as they were sent."""

    items: str = ""
    comment_pastes: str = ""


def read_items(sent: str, *, size: int) -> list[ItemCounts]:
    """Return the counts of each item of a HIT, or an empty list if they are not what our page sends."""
    if len(sent) > MAX_LENGTH:
        return []
    try:
        items = json.loads(sent)
    except (ValueError, RecursionError):
        return []
    if not isinstance(items, list) or len(items) != size or not all(map(_is_counted, items)):
        return []
    return items


def _is_counted(item: Any) -> bool:
    if item is None:
        return True
    return isinstance(item, list) and len(item) == len(COUNTS) and all(map(_is_count, item))


def _is_count(value: Any) -> bool:
    # True and False are integers, too.
    return type(value) is int and 0 <= value <= MAX_COUNT


def read_count(sent: str) -> int:
    """Return a small number as our page sends it, or 0 for anything else."""
    if not sent.isascii() or not sent.isdigit() or len(sent) > len(str(MAX_COUNT)):
        return 0
    return min(int(sent), MAX_COUNT)


def store_signals(*, assignment: Assignment, sent: SentSignals | None) -> InputSignals | None:
    """Store the signals of a HIT that was just submitted, if the campaign records any.

    `sent` is None if the HIT was not submitted through the page. Without usable counts, the row says so.
    """
    campaign = assignment.hit.campaign
    signals = InputSignals(assignment=assignment)
    is_recorded = campaign.records_signals and sent is not None
    if is_recorded and sent is not None:
        items = read_items(sent.items, size=assignment.hit.size)
        counted = [item for item in items if item is not None]
        signals.items = items
        signals.n_items_without_input = sum(map(_has_no_input, counted))
        signals.n_items_scripted = sum(item[SCRIPTED] > 0 for item in counted)
        signals.n_items_unfocused = sum(item[FOCUS_LOST] > 0 for item in counted)
        signals.n_comment_pastes = read_count(sent.comment_pastes)
    if campaign.has_canary:
        signals.followed_canary = _follows_canary(assignment)
    if not is_recorded and not campaign.has_canary:
        return None
    # Ignored, because a HIT is submitted once and only the first report counts.
    InputSignals.objects.bulk_create([signals], ignore_conflicts=True)
    return signals


def _has_no_input(item: list[int]) -> bool:
    return not any(item[kind] for kind in (POINTER, KEYS, TOUCHES))


def _follows_canary(assignment: Assignment) -> bool:
    canary = canary_of(assignment)
    kind = kind_of(assignment.hit.campaign)
    return kind.follows_canary(assignment, position=canary.position, score=canary.score)
