"""Saving the ranks of a screen: one statement for all outputs, which can be repeated without harm."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from da_platform.counting import RATINGS

from ..exceptions import AnswerRefused
from ..models import Assignment, Item, Rank
from ..rating.saving import check_may_answer, insert_screen
from ..task_kinds import ShownItem
from .forms import RANKS
from .screens import order_shown


@dataclass(frozen=True, slots=True)
class SavedRanking:
    """`is_new` is False if the screen had already been ranked; `ahead` is what the browser needs next.

    `ranks` are those stored, by code; None for a text of a skipped screen.
    """

    is_new: bool
    ranks: Mapping[UUID, int | None]
    ahead: list[ShownItem]

    def facts(self) -> dict[str, Any]:
        ranks = {str(code): rank for code, rank in self.ranks.items()}
        return {"ranks": ranks, "items": self.ahead}


def save_ranking(
    *,
    assignment: Assignment,
    position: int,
    ranks: Mapping[UUID, int],
    skip: str = "",
    elapsed_ms: int | None = None,
    active_ms: int | None = None,
    at: datetime | None = None,
) -> bool:
    """Store the ranks of all outputs of the next screen, or why it was skipped; return whether they are new.

    Ranks that came first stay. A screen is only taken if the one before it is answered.
    """
    check_may_answer(assignment)
    outputs = Item.objects.filter(hit=assignment.hit_id, screen=position).order_by("position")
    items = dict(outputs.values_list("code", "pk"))
    _check(items, ranks, skip)
    shown = order_shown(assignment, position, list(items))
    rows = {
        items[code]: {"rank": None if skip else ranks[code], "place": place}
        for place, code in enumerate(shown, 1)
    }
    shared = {"elapsed_ms": elapsed_ms, "active_ms": active_ms, "skip": skip}
    if insert_screen(Rank, assignment, position, rows, shared, at=at):
        return True
    if not Rank.objects.filter(assignment=assignment, item__in=items.values()).exists():
        raise AnswerRefused("This is not the next screen of your HIT. Screens are ranked in order.")
    RATINGS.labels("repeated").inc()
    return False


def stored_ranks(assignment: Assignment, position: int) -> dict[UUID, int | None]:
    """Return the ranks of a screen by code."""
    ranks = Rank.objects.filter(assignment=assignment, item__screen=position)
    return dict(ranks.values_list("item__code", "rank"))


def _check(items: Mapping[UUID, int], ranks: Mapping[UUID, int], skip: str) -> None:
    if not items:
        raise AnswerRefused("Your HIT has no such screen.")
    if skip and skip not in Rank.Skip.values:
        raise AnswerRefused("This is not a reason to skip a screen.")
    if not skip and set(ranks) != set(items):
        raise AnswerRefused("Give every text on the screen a rank.")
    if not set(ranks.values()) <= set(RANKS):
        raise AnswerRefused(f"A rank is a number from 1 to {RANKS[-1]}.")
