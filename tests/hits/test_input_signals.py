"""How a HIT was rated is stored with its submission, and never prevents it."""

import json
from typing import Any

import pytest
from django.test import Client

from hits.models import Assignment, Campaign, InputSignals
from hits.rating.assignments import submit_assignment, take_assignment
from hits.rating.signals import MAX_COUNT, MAX_LENGTH, SentSignals, read_count, read_items
from tests.factories import make_hits, make_worker, rate_items
from tests.hits.worker.steps import enter, page, take

pytestmark = pytest.mark.django_db

SIZE = 40
BY_KEYS = [0, 2, 0, 0, 0]
# What our page never sends for a HIT of two items.
NONSENSE = [
    "",
    "null",
    "{}",
    "7",
    "not json",
    "[]",
    "[[1,2,3,4,5]]",
    "[[1,2,3,4,5],[1,2,3,4]]",
    "[[1,2,3,4,5],[1,2,3,4,-1]]",
    "[[1,2,3,4,5],[1,2,3,4,1.5]]",
    "[[1,2,3,4,5],[1,2,3,4,true]]",
    '[[1,2,3,4,5],[1,2,3,4,"5"]]',
    "[[1,2,3,4,5],[1,2,3,4,NaN]]",
    f"[[1,2,3,4,5],[1,2,3,4,{MAX_COUNT + 1}]]",
    "[" * 5_000,
    "[null,null" + " " * MAX_LENGTH + "]",
]


def finished(client: Client, **fields: Any) -> Assignment:
    campaign = make_hits(**fields)
    enter(client, campaign)
    assignment = take(client, campaign)
    rate_items(assignment)
    return assignment


def submit(client: Client, assignment: Assignment, items: Any, **fields: Any) -> Assignment:
    sent = {"signals": items if isinstance(items, str) else json.dumps(items)} | fields
    client.post(page("finish", assignment.code), sent)
    assignment.refresh_from_db()
    return assignment


def test_counts_are_stored_with_the_submission(client):
    assignment = finished(client)
    submit(client, assignment, [BY_KEYS] * SIZE, comment_pastes="1")
    signals = InputSignals.objects.get(assignment=assignment)
    assert signals.items == [BY_KEYS] * SIZE
    assert signals.n_comment_pastes == 1
    assert signals.followed_canary is None


def test_items_are_counted_by_what_they_show(client):
    assignment = finished(client)
    items = [BY_KEYS] * SIZE
    items[0], items[1], items[2] = None, [0, 0, 0, 3, 0], [0, 0, 0, 0, 9]
    submit(client, assignment, items)
    signals = assignment.signals
    assert signals.n_items_without_input == 2
    assert signals.n_items_unfocused == 1
    assert signals.n_items_scripted == 1


@pytest.mark.parametrize("sent", NONSENSE, ids=lambda sent: sent[:20] or "nothing")
def test_nonsense_is_read_as_nothing(sent):
    assert read_items(sent, size=2) == []


def test_counts_of_the_right_shape_are_read():
    assert read_items("[null,[0,0,0,0,9999]]", size=2) == [None, [0, 0, 0, 0, 9999]]


@pytest.mark.parametrize("sent", ["", "-1", "x", "1.5", "٣", "99999", "1" * 5_000])
def test_a_count_that_is_no_small_number_is_read_as_none(sent):
    assert read_count(sent) == 0


@pytest.mark.parametrize("sent", ["", "nonsense", "x" * 100_000])
def test_nonsense_never_stands_in_the_way_of_a_submission(client, sent):
    assignment = submit(client, finished(client), sent)
    assert assignment.status == Assignment.Status.SUBMITTED
    assert assignment.signals.items == []


def test_nothing_is_stored_unless_the_campaign_records_it(client):
    assignment = finished(client, records_signals=False)
    form = client.get(page("finish", assignment.code)).content.decode()
    assert "signals" not in form
    submit(client, assignment, [BY_KEYS] * SIZE)
    assert assignment.status == Assignment.Status.SUBMITTED
    assert not InputSignals.objects.exists()


def test_the_rating_page_counts_only_if_the_campaign_records_it(client):
    for records, is_there in ((True, True), (False, False)):
        campaign = make_hits(records_signals=records)
        client.cookies.clear()
        enter(client, campaign)
        shown = client.get(page("rate", take(client, campaign).code)).content.decode()
        assert ("data-counts-input" in shown) == is_there


def test_a_second_submission_changes_nothing(client):
    assignment = submit(client, finished(client), [BY_KEYS] * SIZE)
    submit(client, assignment, [[9, 9, 9, 9, 9]] * SIZE)
    submit_assignment(assignment=assignment, signals=SentSignals("[]"))
    assert InputSignals.objects.get().items == [BY_KEYS] * SIZE


def test_a_hit_submitted_without_the_page_has_no_signals():
    campaign: Campaign = make_hits()
    assignment = take_assignment(campaign=campaign, worker=make_worker())
    assert assignment is not None
    rate_items(assignment)
    submit_assignment(assignment=assignment)
    assert not InputSignals.objects.exists()
