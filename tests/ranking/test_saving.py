"""The ranks of a screen are stored at once, in order, and exactly once."""

from uuid import uuid4

import pytest

from hits.exceptions import AnswerRefused, NotFinished
from hits.models import Rank
from hits.ranking.saving import save_ranking
from hits.ranking.screens import shown_screens
from hits.rating.assignments import submit_assignment
from hits.task_kinds import kind_of

from .campaigns import ranking_campaign, taken_by

pytestmark = pytest.mark.django_db


def codes(assignment, screen):
    return list(assignment.hit.items.filter(screen=screen).values_list("code", flat=True))


def rank(assignment, screen, **fields):
    ranks = {code: place % 5 + 1 for place, code in enumerate(codes(assignment, screen))}
    return save_ranking(assignment=assignment, position=screen, **{"ranks": ranks} | fields)


def test_all_ranks_of_a_screen_are_stored_with_the_order_shown():
    assignment = taken_by(ranking_campaign())
    assert rank(assignment, 1)
    stored = Rank.objects.order_by("place")
    shown = shown_screens(assignment, first=1, last=1)[0]["outputs"]
    assert [str(row.item.code) for row in stored] == [output["code"] for output in shown]
    assert sorted(row.rank for row in stored) == list(range(1, len(shown) + 1))


def test_a_second_answer_changes_nothing():
    assignment = taken_by(ranking_campaign())
    rank(assignment, 1)
    before = list(Rank.objects.order_by("pk").values())
    assert not rank(assignment, 1, ranks=dict.fromkeys(codes(assignment, 1), 3))
    assert list(Rank.objects.order_by("pk").values()) == before


def test_screens_are_ranked_in_order():
    assignment = taken_by(ranking_campaign())
    with pytest.raises(AnswerRefused, match="not the next"):
        rank(assignment, 2)
    rank(assignment, 1)
    assert rank(assignment, 2)


@pytest.mark.parametrize(
    "change",
    [
        lambda ranks: dict(list(ranks.items())[1:]),
        lambda ranks: ranks | {uuid4(): 1},
        lambda ranks: dict.fromkeys(ranks, 6),
        lambda ranks: {},
    ],
)
def test_incomplete_or_impossible_ranks_are_refused(change):
    assignment = taken_by(ranking_campaign())
    ranks = dict.fromkeys(codes(assignment, 1), 1)
    with pytest.raises(AnswerRefused):
        save_ranking(assignment=assignment, position=1, ranks=change(ranks))
    assert not Rank.objects.exists()


def test_a_skipped_screen_has_a_reason_and_no_ranks():
    assignment = taken_by(ranking_campaign())
    assert rank(assignment, 1, ranks={}, skip="hard")
    assert set(Rank.objects.values_list("rank", "skip")) == {(None, "hard")}


def test_a_hit_is_submitted_once_every_screen_is_answered():
    assignment = taken_by(ranking_campaign())
    rank(assignment, 1)
    rank(assignment, 2)
    with pytest.raises(NotFinished):
        submit_assignment(assignment=assignment)
    rank(assignment, 3)
    assert kind_of(assignment.hit.campaign).place_of(assignment).is_finished
    assert submit_assignment(assignment=assignment).completion_code


def test_each_worker_has_another_order_and_keeps_it():
    campaign = ranking_campaign()
    alice, bob = taken_by(campaign, "alice"), taken_by(campaign, "bob")
    assert alice.hit == bob.hit
    orders = [
        [
            [output["code"] for output in screen["outputs"]]
            for screen in shown_screens(worker, first=1, last=3)
        ]
        for worker in (alice, bob, alice)
    ]
    assert orders[0] == orders[2] != orders[1]
    assert [set(screen) for screen in orders[0]] == [set(screen) for screen in orders[1]]
