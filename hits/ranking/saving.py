"""Saving the ranks of a screen: one statement for all outputs, which can be repeated without harm."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection
from django.utils import timezone

from da_platform.counting import RATINGS

from ..exceptions import AnswerRefused
from ..models import Assignment, Item, Rank
from ..rating.saving import check_may_answer
from ..task_kinds import ShownItem
from .forms import RANKS
from .screens import order_shown


@dataclass(frozen=True, slots=True)
class SavedRanking:
    """`is_new` is False if the screen had already been ranked; `ahead` is what the browser needs next."""

    is_new: bool
    ahead: list[ShownItem]

    def facts(self) -> dict[str, Any]:
        return {"items": self.ahead}


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
    rows = [(items[code], None if skip else ranks[code], n) for n, code in enumerate(shown, 1)]
    if _insert(assignment, position, rows, skip, (elapsed_ms, active_ms), at or timezone.now()):
        RATINGS.labels("new").inc()
        return True
    if not Rank.objects.filter(assignment=assignment, item__in=items.values()).exists():
        raise AnswerRefused("This is not the next screen of your HIT. Screens are ranked in order.")
    RATINGS.labels("repeated").inc()
    return False


def _check(items: Mapping[UUID, int], ranks: Mapping[UUID, int], skip: str) -> None:
    if not items:
        raise AnswerRefused("Your HIT has no such screen.")
    if skip and skip not in Rank.Skip.values:
        raise AnswerRefused("This is not a reason to skip a screen.")
    if not skip and set(ranks) != set(items):
        raise AnswerRefused("Give every text on the screen a rank.")
    if not set(ranks.values()) <= set(RANKS):
        raise AnswerRefused(f"A rank is a number from 1 to {RANKS[-1]}.")


def _insert(
    assignment: Assignment,
    position: int,
    rows: list[tuple[int, int | None, int]],
    skip: str,
    times: tuple[int | None, int | None],
    at: datetime,
) -> bool:
    """Store all rows or none in one statement; nothing can happen between its check and its writing."""
    ranks = [value for pk, rank, _ in rows for value in (pk, rank)]
    places = [value for pk, _, place in rows for value in (pk, place)]
    received_at = connection.ops.adapt_datetimefield_value(at)
    which = "CASE item.id " + "WHEN %s THEN %s " * len(rows) + "END"
    statement = f"""
        INSERT INTO hits_rank (assignment_id, item_id, received_at, elapsed_ms, active_ms, skip, rank, place)
        SELECT %s, item.id, %s, %s, %s, %s, {which}, {which}
        FROM hits_item item
        WHERE item.hit_id = %s AND item.screen = %s
          AND (item.screen = 1 OR EXISTS (
            SELECT 1
            FROM hits_item before
            JOIN hits_rank answered
              ON answered.assignment_id = %s AND answered.item_id = before.id
            WHERE before.hit_id = %s AND before.screen = %s
          ))
        ON CONFLICT (assignment_id, item_id) DO NOTHING
    """
    parameters = [
        *(assignment.pk, received_at, *times, skip, *ranks, *places),
        *(assignment.hit_id, position, assignment.pk, assignment.hit_id, position - 1),
    ]
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        return bool(cursor.rowcount > 0)
