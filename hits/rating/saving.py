"""Saving a rating: one statement that can be repeated without harm."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import connection
from django.utils import timezone

from da_platform.counting import RATINGS

from ..exceptions import RatingRefused
from ..models import (
    SCORE_MAX,
    SCORE_MIN,
    Assignment,
    Item,
    Rating,
)


@dataclass(frozen=True, slots=True)
class SavedRating:
    """What the database holds for an item now. `is_new` is False if the item had already been rated."""

    score: int
    is_new: bool


def save_rating(
    *,
    assignment: Assignment,
    position: int,
    item_code: UUID,
    score: int,
    elapsed_ms: int | None = None,
    active_ms: int | None = None,
    at: datetime | None = None,
) -> SavedRating:
    """Store the score of the assignment's next item and return what is stored.

    A second score for the same item changes nothing: the first one is returned. Ratings are never
    changed or removed and are given in order, so what is read here stays true.
    """
    _check_rating(assignment, score)
    is_new = _insert_rating(
        assignment, position, item_code, (score, at or timezone.now(), elapsed_ms, active_ms)
    )
    if is_new:
        RATINGS.labels("new").inc()
        return SavedRating(score, is_new=True)
    stored = Rating.objects.filter(
        assignment=assignment, item__position=position, item__code=item_code
    ).first()
    if stored:
        RATINGS.labels("repeated").inc()
        return SavedRating(stored.score, is_new=False)
    raise RatingRefused("This is not the next item of your HIT. Items are rated in order.")


def _check_rating(assignment: Assignment, score: int) -> None:
    if isinstance(score, bool) or not isinstance(score, int):
        raise RatingRefused("A score must be a whole number.")
    if not SCORE_MIN <= score <= SCORE_MAX:
        raise RatingRefused(f"A score must be between {SCORE_MIN} and {SCORE_MAX}.")
    if assignment.status == Assignment.Status.RETURNED:
        raise RatingRefused("This HIT was returned.")


# One statement checks and writes, so that nothing can happen in between: the item must belong to the
# HIT at this position, and the one before it must be rated. The subquery does not refer to the outer
# query, or PostgreSQL would read all earlier ratings of the assignment to answer it.
_INSERT_RATING = """
    INSERT INTO hits_rating (assignment_id, item_id, score, received_at, elapsed_ms, active_ms)
    SELECT %s, item.id, %s, %s, %s, %s
    FROM hits_item item
    WHERE item.hit_id = %s AND item.position = %s AND item.code = %s
      AND (item.position = 1 OR EXISTS (
        SELECT 1
        FROM hits_item before
        JOIN hits_rating rated ON rated.assignment_id = %s AND rated.item_id = before.id
        WHERE before.hit_id = %s AND before.position = %s
      ))
    ON CONFLICT (assignment_id, item_id) DO NOTHING
"""


def _insert_rating(
    assignment: Assignment,
    position: int,
    item_code: UUID,
    values: tuple[int, datetime, int | None, int | None],
) -> bool:
    score, received_at, elapsed_ms, active_ms = values
    with connection.cursor() as cursor:
        cursor.execute(
            _INSERT_RATING,
            [
                assignment.pk,
                score,
                connection.ops.adapt_datetimefield_value(received_at),
                elapsed_ms,
                active_ms,
                assignment.hit_id,
                position,
                Item._meta.get_field("code").get_db_prep_value(item_code, connection),
                assignment.pk,
                assignment.hit_id,
                position - 1,
            ],
        )
        return cursor.rowcount == 1
