"""Saving an answer: one statement that can be repeated without harm."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any
from uuid import UUID

from django.db import connection
from django.utils import timezone

from da_platform.counting import RATINGS

from ..exceptions import AnswerRefused
from ..models import (
    SCORE_MAX,
    SCORE_MIN,
    Answer,
    Assignment,
    Item,
    Rating,
)


@dataclass(frozen=True, slots=True)
class SavedRating:
    """What the database holds for an item now. `is_new` is False if the item had already been rated."""

    score: int
    is_new: bool

    def facts(self) -> dict[str, Any]:
        return {"score": self.score}


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
    values = {"score": score, "elapsed_ms": elapsed_ms, "active_ms": active_ms}
    if insert_answer(Rating, assignment, position, item_code, values, at=at):
        return SavedRating(score, is_new=True)
    stored = stored_answer(Rating, assignment, position, item_code)
    return SavedRating(stored.score, is_new=False)


def _check_rating(assignment: Assignment, score: int) -> None:
    if isinstance(score, bool) or not isinstance(score, int):
        raise AnswerRefused("A score must be a whole number.")
    if not SCORE_MIN <= score <= SCORE_MAX:
        raise AnswerRefused(f"A score must be between {SCORE_MIN} and {SCORE_MAX}.")
    check_may_answer(assignment)


# For every kind of task with one item on a screen ----------------------------------------------


def check_may_answer(assignment: Assignment) -> None:
    if assignment.status == Assignment.Status.RETURNED:
        raise AnswerRefused("This HIT was returned.")


def insert_answer(
    table: type[Answer],
    assignment: Assignment,
    position: int,
    item_code: UUID,
    values: dict[str, Any],
    *,
    at: datetime | None = None,
) -> bool:
    """Store the answer to the assignment's next item; return False if it was not the next one.

    One statement checks and writes, so that nothing can happen in between.
    """
    received_at = connection.ops.adapt_datetimefield_value(at or timezone.now())
    code = Item._meta.get_field("code").get_db_prep_value(item_code, connection)
    parameters = [
        assignment.pk,
        received_at,
        *values.values(),
        *(assignment.hit_id, position, code),
        *(assignment.pk, assignment.hit_id, position - 1),
    ]
    with connection.cursor() as cursor:
        cursor.execute(_insertion(table._meta.db_table, tuple(values)), parameters)
        is_new: bool = cursor.rowcount == 1
    if is_new:
        RATINGS.labels("new").inc()
    return is_new


@cache
def _insertion(table: str, columns: tuple[str, ...]) -> str:
    """The item must belong to the HIT at this position, and the one before it must be answered.

    The subquery does not refer to the outer query, or PostgreSQL would read all earlier answers of the
    assignment.
    """
    return f"""
        INSERT INTO {table} (assignment_id, item_id, received_at, {", ".join(columns)})
        SELECT %s, item.id, %s, {", ".join(["%s"] * len(columns))}
        FROM hits_item item
        WHERE item.hit_id = %s AND item.position = %s AND item.code = %s
          AND (item.position = 1 OR EXISTS (
            SELECT 1
            FROM hits_item before
            JOIN {table} answered
              ON answered.assignment_id = %s AND answered.item_id = before.id
            WHERE before.hit_id = %s AND before.position = %s
          ))
        ON CONFLICT (assignment_id, item_id) DO NOTHING
    """


def insert_screen(
    table: type[Answer],
    assignment: Assignment,
    screen: int,
    answers: Mapping[int, Mapping[str, Any]],
    shared: Mapping[str, Any],
    *,
    at: datetime | None = None,
) -> bool:
    """Store the answers to all items of the next screen, or none; return False if it was not the next one.

    `answers` has the columns of each item, by key, all small numbers, and `shared` those that are the same for all. One statement
    checks and writes, so that nothing can happen in between.
    """
    received_at = connection.ops.adapt_datetimefield_value(at or timezone.now())
    columns = list(next(iter(answers.values())))
    # Cast, because PostgreSQL takes a column of nulls, as of a skipped screen, for texts.
    by_item = "CAST(CASE item.id " + "WHEN %s THEN %s " * len(answers) + "END AS smallint)"
    statement = f"""
        INSERT INTO {table._meta.db_table}
          (assignment_id, item_id, received_at, {", ".join([*shared, *columns])})
        SELECT %s, item.id, %s, {", ".join(["%s"] * len(shared) + [by_item] * len(columns))}
        FROM hits_item item
        WHERE item.hit_id = %s AND item.screen = %s
          AND (item.screen = 1 OR EXISTS (
            SELECT 1
            FROM hits_item before
            JOIN {table._meta.db_table} answered
              ON answered.assignment_id = %s AND answered.item_id = before.id
            WHERE before.hit_id = %s AND before.screen = %s
          ))
        -- Two requests at once meet at the first row, so that neither stores a part of a screen.
        ORDER BY item.id
        ON CONFLICT (assignment_id, item_id) DO NOTHING
    """
    parameters = [assignment.pk, received_at, *shared.values()]
    for column in columns:
        parameters += [value for pk, own in answers.items() for value in (pk, own[column])]
    parameters += [assignment.hit_id, screen, assignment.pk, assignment.hit_id, screen - 1]
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        is_new = bool(cursor.rowcount > 0)
    if is_new:
        RATINGS.labels("new").inc()
    return is_new


def stored_answer(
    table: type[Answer], assignment: Assignment, position: int, item_code: UUID
) -> Any:
    """Return the answer that an earlier request stored, or refuse because the item is not the next one."""
    answers = table._default_manager.filter(assignment=assignment)
    if stored := answers.filter(item__position=position, item__code=item_code).first():
        RATINGS.labels("repeated").inc()
        return stored
    raise AnswerRefused("This is not the next item of your HIT. Items are rated in order.")
