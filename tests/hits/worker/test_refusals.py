"""Impossible ratings and other workers' assignments are refused with a reason."""

import logging
import uuid
from datetime import timedelta
from http import HTTPStatus
from typing import Any

import pytest
import time_machine
from django.test import Client
from django.utils import timezone

from hits.models import Assignment, Rating
from tests.factories import make_hits, rate_items
from tests.hits.worker.steps import JSON, enter, page, post_rating

pytestmark = pytest.mark.django_db


def assert_refused(response: Any, caplog: pytest.LogCaptureFixture, *, status: int) -> str:
    """Check that the response and the log give a reason and nothing is stored."""
    assert response.status_code == status
    message = response.json()["error"]
    assert message
    refusals = [record for record in caplog.records if record.name == "hits.views.rating"]
    assert [record.levelno for record in refusals] == [logging.WARNING]
    assert not Rating.objects.exists()
    return message


def test_skipping_an_item_is_refused(client, assignment, caplog):
    message = assert_refused(post_rating(client, assignment, 2), caplog, status=409)
    assert "order" in message


@pytest.mark.parametrize("belongs_to", ["another HIT", "another position", "nothing"])
def test_the_code_of_another_item_is_refused(client, assignment, caplog, belongs_to):
    code = {
        "another HIT": make_hits().hits.get().items.get(position=1).code,
        "another position": assignment.hit.items.get(position=2).code,
        "nothing": uuid.uuid4(),
    }[belongs_to]
    assert_refused(post_rating(client, assignment, 1, item=code), caplog, status=409)


@pytest.mark.parametrize("position", [41, 2**31, 10**30])
def test_a_position_outside_the_hit_is_refused(client, assignment, caplog, position):
    answer = post_rating(client, assignment, 1, position=position)
    assert_refused(answer, caplog, status=409 if position == 41 else 400)


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"score": -1}, "score"),
        ({"score": 101}, "score"),
        ({"score": "50.5"}, "score"),
        ({"score": "NaN"}, "score"),
        ({"score": ""}, "score"),
        ({"score": "1e1"}, "score"),
        ({"score": "fifty"}, "score"),
        ({"score": "9" * 5_000}, "score"),
        ({"position": 0}, "position"),
        ({"position": "one"}, "position"),
        ({"item": "1"}, "item"),
        ({"item": "\x00"}, "item"),
        ({"elapsed_ms": -1}, "elapsed_ms"),
        ({"elapsed_ms": 2**31}, "elapsed_ms"),
        ({"elapsed_ms": "soon"}, "elapsed_ms"),
        ({"elapsed_ms": 900, "active_ms": -1}, "active_ms"),
        ({"elapsed_ms": 900, "active_ms": 901}, "active_ms"),
        ({"active_ms": 900}, "active_ms"),
    ],
)
def test_an_impossible_value_is_refused_by_name(client, assignment, caplog, fields, field):
    message = assert_refused(post_rating(client, assignment, 1, **fields), caplog, status=400)
    assert field in message


@pytest.mark.parametrize("hours", [-2, 0, 2])
def test_a_rating_is_accepted_whatever_the_clock_says(client, assignment, hours):
    """The claimed time is stored as it is: weighing compares it with the time that passed."""
    with time_machine.travel(timezone.now() + timedelta(hours=hours)):
        answer = post_rating(client, assignment, 1, elapsed_ms=10 * 60_000, active_ms=9 * 60_000)
    assert answer.status_code == HTTPStatus.OK
    assert Rating.objects.get().elapsed_ms == 600_000


def test_a_rating_without_a_body_is_refused(client, assignment, caplog):
    answer = client.post(page("rate", assignment.code), headers=JSON)
    assert_refused(answer, caplog, status=400)


def test_a_plain_form_without_a_score_shows_the_item_again(client, assignment):
    item = assignment.hit.items.get(position=1)
    answer = client.post(page("rate", assignment.code), {"position": 1, "item": item.code})
    assert answer.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert answer.context["item"]["position"] == 1
    assert not Rating.objects.exists()


def test_a_plain_form_that_is_refused_gets_a_page_with_the_reason(client, assignment):
    item = assignment.hit.items.get(position=2)
    sent = {"position": 2, "item": item.code, "score": 50}
    answer = client.post(page("rate", assignment.code), sent)
    assert answer.status_code == HTTPStatus.CONFLICT
    assert "order" in answer.content.decode()


@pytest.mark.parametrize("name", ["rate", "finish", "done"])
def test_another_workers_assignment_is_not_found(assignment, campaign, caplog, name):
    bob = Client()
    enter(bob, campaign)
    answer = bob.get(page(name, assignment.code), headers=JSON)
    assert_refused(answer, caplog, status=404)


def test_nobody_can_rate_or_submit_for_another_worker(assignment, campaign, caplog):
    bob = Client()
    enter(bob, campaign)
    assert_refused(post_rating(bob, assignment, 1), caplog, status=404)
    rate_items(assignment)
    assert bob.post(page("finish", assignment.code)).status_code == HTTPStatus.NOT_FOUND
    assignment.refresh_from_db()
    assert assignment.status == Assignment.Status.IN_PROGRESS


def test_an_unknown_assignment_looks_like_another_workers(client, assignment, campaign):
    bob = Client()
    enter(bob, campaign)
    theirs = bob.get(page("rate", assignment.code))
    unknown = bob.get(page("rate", uuid.uuid4()))
    assert theirs.status_code == unknown.status_code == HTTPStatus.NOT_FOUND
    assert theirs.content == unknown.content


def test_a_returned_hit_accepts_no_rating(client, assignment, caplog):
    Assignment.objects.filter(pk=assignment.pk).update(status=Assignment.Status.RETURNED)
    assert_refused(post_rating(client, assignment, 1), caplog, status=409)


def test_a_line_break_in_a_comment_counts_as_one_character(client, assignment):
    """Browsers send two."""
    rate_items(assignment)
    comment = ("x" * 99 + "\n") * 19 + "x" * 100
    client.post(page("finish", assignment.code), {"comment": comment.replace("\n", "\r\n")})
    assignment.refresh_from_db()
    assert assignment.comment == comment and len(comment) == 2_000


def test_a_comment_that_is_too_long_is_refused_and_nothing_is_submitted(client, assignment):
    rate_items(assignment)
    answer = client.post(page("finish", assignment.code), {"comment": "x" * 2_001})
    assert answer.status_code == HTTPStatus.OK and answer.context["form"].errors
    assignment.refresh_from_db()
    assert not assignment.completion_code
