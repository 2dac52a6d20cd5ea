"""Saving the scores of a screen: one statement for all outputs, which can be repeated without harm."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from da_platform.counting import RATINGS

from ..exceptions import AnswerRefused
from ..models import SCORE_MAX, SCORE_MIN, Assignment, Item, Rating
from ..ranking.screens import order_shown
from ..rating.saving import check_may_answer, insert_screen
from ..task_kinds import ShownItem


@dataclass(frozen=True, slots=True)
class SavedScreen:
    """The stored scores by code. `is_new` is False if the screen had been rated; `ahead` is what the browser needs."""

    is_new: bool
    scores: Mapping[UUID, int]
    ahead: list[ShownItem]

    def facts(self) -> dict[str, Any]:
        return {"items": self.ahead, "scores": {str(c): s for c, s in self.scores.items()}}


def save_screen(
    *,
    assignment: Assignment,
    position: int,
    scores: Mapping[UUID, int],
    elapsed_ms: int | None = None,
    active_ms: int | None = None,
    at: datetime | None = None,
) -> bool:
    """Store the scores of all outputs of the next screen, with their places on it; return whether they are new.

    Scores that came first stay. A screen is only taken if the one before it is rated. The time of the screen is
    shared out among its outputs, so that the ratings of a HIT add up to its time.
    """
    check_may_answer(assignment)
    outputs = Item.objects.filter(hit=assignment.hit_id, screen=position).order_by("position")
    items = dict(outputs.values_list("code", "pk"))
    _check(items, scores)
    shown = order_shown(assignment, position, list(items))
    rows = {
        items[code]: {"score": scores[code], "place": place if len(items) > 1 else None}
        for place, code in enumerate(shown, 1)
    }
    times = {"elapsed_ms": elapsed_ms, "active_ms": active_ms}
    shared = {name: None if ms is None else ms // len(items) for name, ms in times.items()}
    if insert_screen(Rating, assignment, position, rows, shared, at=at):
        return True
    if not Rating.objects.filter(assignment=assignment, item__in=items.values()).exists():
        raise AnswerRefused("This is not the next screen of your HIT. Screens are rated in order.")
    RATINGS.labels("repeated").inc()
    return False


def stored_scores(assignment: Assignment, position: int) -> dict[UUID, int]:
    """Return the scores of a screen by code."""
    ratings = Rating.objects.filter(assignment=assignment, item__screen=position)
    return dict(ratings.values_list("item__code", "score"))


def _check(items: Mapping[UUID, int], scores: Mapping[UUID, int]) -> None:
    if not items:
        raise AnswerRefused("Your HIT has no such screen.")
    if set(scores) != set(items):
        raise AnswerRefused("Score every text on the screen.")
    if not all(SCORE_MIN <= score <= SCORE_MAX for score in scores.values()):
        raise AnswerRefused(f"A score must be between {SCORE_MIN} and {SCORE_MAX}.")
