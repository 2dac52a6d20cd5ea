"""The scores of a screen are stored at once, in order, with their places, and exactly once."""

from uuid import uuid4

import numpy as np
import pytest

from hits.exceptions import AnswerRefused, NotFinished
from hits.models import Rating
from hits.rating.assignments import submit_assignment
from hits.side_by_side.arrays import spread_over_screens
from hits.side_by_side.saving import save_screen
from hits.side_by_side.screens import shown_sides
from hits.task_kinds import kind_of
from hits.workers.holding import times_of
from tests.documents.campaigns import taken_by

from .campaigns import side_campaign

pytestmark = pytest.mark.django_db


@pytest.fixture
def assignment():
    return taken_by(side_campaign())


def codes(assignment, screen):
    items = assignment.hit.items.filter(screen=screen).order_by("position")
    return list(items.values_list("code", flat=True))


def rate(assignment, screen, **fields):
    scores = {code: 10 * place for place, code in enumerate(codes(assignment, screen), 1)}
    return save_screen(assignment=assignment, position=screen, **{"scores": scores} | fields)


def test_all_scores_of_a_screen_are_stored_with_the_order_shown(assignment):
    assert rate(assignment, 1, elapsed_ms=3000, active_ms=1500)
    stored = Rating.objects.order_by("place")
    shown = shown_sides(assignment, first=1, last=1)[0]["outputs"]
    assert [str(row.item.code) for row in stored] == [output["code"] for output in shown]
    assert sorted(row.score for row in stored) == [10, 20, 30]
    assert {(row.elapsed_ms, row.active_ms) for row in stored} == {(1000, 500)}


def test_a_second_answer_changes_nothing(assignment):
    rate(assignment, 1)
    before = list(Rating.objects.order_by("pk").values())
    assert not rate(assignment, 1, scores=dict.fromkeys(codes(assignment, 1), 99))
    assert list(Rating.objects.order_by("pk").values()) == before


def test_screens_are_rated_in_order(assignment):
    with pytest.raises(AnswerRefused, match="not the next"):
        rate(assignment, 2)
    rate(assignment, 1)
    assert rate(assignment, 2)


@pytest.mark.parametrize(
    "change",
    [
        lambda scores: dict(list(scores.items())[1:]),
        lambda scores: scores | {uuid4(): 1},
        lambda scores: dict.fromkeys(scores, 101),
        lambda scores: {},
    ],
)
def test_what_is_not_a_score_of_every_text_is_refused(assignment, change):
    scores = dict.fromkeys(codes(assignment, 1), 5)
    with pytest.raises(AnswerRefused):
        rate(assignment, 1, scores=change(scores))
    assert not Rating.objects.exists()


def test_a_hit_is_submitted_once_all_screens_are_rated(assignment):
    n_screens = kind_of(assignment.hit.campaign).n_screens(assignment.hit)
    for screen in range(1, n_screens):
        rate(assignment, screen)
    with pytest.raises(NotFinished):
        submit_assignment(assignment=assignment)
    rate(assignment, n_screens)
    assert submit_assignment(assignment=assignment).completion_code


def test_the_claims_of_a_screen_add_up(assignment):
    rate(assignment, 1, elapsed_ms=9000, active_ms=9000)
    rate(assignment, 2, elapsed_ms=3000, active_ms=3000)
    assert times_of(assignment).claimed == pytest.approx(12)


def test_times_within_a_screen_are_shared_out():
    dtype = [("assignment", "i8"), ("position", "i8"), ("received", "f8")]
    ratings = np.array(
        [(1, 1, 10), (1, 2, 10), (1, 3, 16), (1, 4, 16), (1, 5, 16), (2, 1, 50)], dtype=dtype
    )
    received = spread_over_screens(ratings)["received"]
    assert received.tolist() == [10, 10, 12, 14, 16, 50]
