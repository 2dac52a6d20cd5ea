"""From the link to the completion code over HTTP, with and without the page's script."""

from datetime import timedelta
from http import HTTPStatus

import pytest
import time_machine
from django.test import Client
from django.utils import timezone

from hits.campaigns.lifecycle import change_status
from hits.models import Assignment, Campaign, Rating
from hits.rating.assignments import release_expired, take_assignment
from tests.factories import make_hits, make_worker, rate_items
from tests.hits.worker.steps import enter, page, post_rating, take
from tests.recruits import right_answer

pytestmark = pytest.mark.django_db


def test_a_worker_gets_from_the_link_to_the_completion_code(client, campaign):
    assert client.get(campaign.get_absolute_url()).status_code == HTTPStatus.OK
    agreed = client.post(campaign.get_absolute_url())
    assert agreed.url == page("instructions", campaign.code)
    assert client.get(agreed.url).status_code == HTTPStatus.OK
    practised = client.post(page("practice", campaign.code, 1), {"score": 90})
    assert practised.context["verdict"] in {"too_low", "too_high", "fine"}
    answered = client.post(page("check", campaign.code), {"answer": right_answer(campaign)})
    assert answered.url == page("next_hit", campaign.code)

    rating_page = client.get(answered.url).url
    for position in range(1, 41):
        item = client.get(rating_page).context["item"]
        assert item["position"] == position
        sent = {"position": position, "item": item["item"], "score": position}
        assert client.post(rating_page, sent).url == rating_page

    finish = client.get(rating_page).url
    done = client.post(finish, {"comment": "Nice texts."}).url
    assignment = Assignment.objects.get()
    assert assignment.status == Assignment.Status.SUBMITTED
    assert assignment.comment == "Nice texts."
    assert assignment.completion_code in client.get(done).content.decode()
    ratings = assignment.ratings.order_by("item__position")
    assert list(ratings.values_list("score", flat=True)) == list(range(1, 41))


def test_the_script_gets_the_stored_rating_and_one_more_item(client, assignment):
    answer = post_rating(client, assignment, 1, score=73, elapsed_ms=900, active_ms=800)
    assert answer.status_code == HTTPStatus.OK
    saved = answer.json()
    assert (saved["saved"], saved["score"]) == (1, 73)
    assert [item["position"] for item in saved["items"]] == [12]
    assert set(saved["items"][0]) == {"item", "position", "text", "above"}


def test_near_the_end_there_are_no_more_items_to_send(client, assignment):
    rate_items(assignment, n_items=39)
    assert post_rating(client, assignment, 40).json()["items"] == []


def test_the_page_and_the_responses_hold_every_item_once_and_in_order(client, assignment):
    items = list(client.get(page("rate", assignment.code)).context["items"])
    for position in range(1, 41):
        items += post_rating(client, assignment, position).json()["items"]
    assert [item["position"] for item in items] == list(range(1, 41))


def test_a_second_worker_starts_at_the_beginning_and_learns_nothing_of_the_first(
    client, assignment, campaign
):
    for position in range(1, 4):
        post_rating(client, assignment, position, score=73)
    other = Client()
    enter(other, campaign)
    second = take(other, campaign)
    assert second.hit == assignment.hit and second != assignment
    rating_page = other.get(page("rate", second.code))
    assert (rating_page.context["item"]["position"], rating_page.context["place"].n_done) == (1, 0)
    answer = post_rating(other, second, 1, score=20)
    assert (answer.json()["saved"], answer.json()["score"]) == (1, 20)
    for text in (rating_page.content.decode(), answer.content.decode()):
        assert str(assignment.code) not in text and str(assignment.worker.code) not in text
    assert other.get(page("rate", assignment.code)).status_code == HTTPStatus.NOT_FOUND


def test_a_repeated_rating_returns_the_stored_one(client, assignment):
    first = post_rating(client, assignment, 1, score=73)
    again = post_rating(client, assignment, 1, score=10)
    assert again.status_code == HTTPStatus.OK
    assert again.json() == first.json()
    assert Rating.objects.get().score == 73


def test_going_back_changes_nothing(client, assignment):
    rate_items(assignment, n_items=5)
    assert post_rating(client, assignment, 2, score=99).json()["score"] == 2
    assert assignment.ratings.get(item__position=2).score == 2
    assert client.get(page("rate", assignment.code)).context["item"]["position"] == 6


def test_every_page_of_a_finished_hit_leads_to_its_completion_code(client, assignment):
    rate_items(assignment)
    client.post(page("finish", assignment.code))
    first = client.get(page("done", assignment.code)).content
    assert client.get(page("rate", assignment.code)).url == page("finish", assignment.code)
    assert client.get(page("finish", assignment.code)).url == page("done", assignment.code)
    assert client.post(page("finish", assignment.code)).url == page("done", assignment.code)
    assert client.get(page("done", assignment.code)).content == first


def test_the_completion_code_is_not_shown_before_submission(client, assignment):
    assert client.get(page("done", assignment.code)).url == page("rate", assignment.code)
    assert client.get(page("finish", assignment.code)).url == page("rate", assignment.code)
    assert client.post(page("finish", assignment.code)).url == page("rate", assignment.code)
    assignment.refresh_from_db()
    assert assignment.status == Assignment.Status.IN_PROGRESS


def test_asking_for_the_next_hit_twice_gives_the_same_one(client, campaign, assignment):
    assert take(client, campaign) == assignment
    assert Assignment.objects.count() == 1


def test_a_worker_who_finishes_after_expiry_is_marked_late(client, campaign, assignment):
    rate_items(assignment, n_items=39)
    with time_machine.travel(assignment.expires_at + timedelta(minutes=1)):
        assert release_expired() == 1
        welcome = client.get(campaign.get_absolute_url())
        assert welcome.context["in_hand"] == assignment
        assert post_rating(client, assignment, 40).status_code == HTTPStatus.OK
        client.post(page("finish", assignment.code))
    assignment.refresh_from_db()
    assert assignment.is_late and assignment.completion_code
    assert campaign.hits.get().places_left == 2


def test_asking_for_the_next_hit_after_expiry_renews_the_lease(client, campaign, assignment):
    with time_machine.travel(assignment.expires_at + timedelta(minutes=1), tick=False):
        release_expired()
        assert take(client, campaign) == assignment
        renewed_at = timezone.now()
    assignment.refresh_from_db()
    assert assignment.status == Assignment.Status.IN_PROGRESS
    assert assignment.expires_at == renewed_at + timedelta(minutes=campaign.lease_minutes)
    assert campaign.hits.get().places_left == 2


def test_a_late_worker_whose_place_is_taken_can_still_continue(client):
    campaign = make_hits(min_ratings=1)
    enter(client, campaign)
    late = take(client, campaign)
    release_expired(at=late.expires_at)
    take_assignment(campaign=campaign, worker=make_worker())
    assert take(client, campaign) == late
    late.refresh_from_db()
    assert late.status == Assignment.Status.EXPIRED
    assert post_rating(client, late, 1).status_code == HTTPStatus.OK


def test_a_hit_in_progress_can_be_finished_after_the_campaign_is_closed(
    client, campaign, assignment
):
    change_status(campaign=campaign, to=Campaign.Status.CLOSED)
    assert client.get(campaign.get_absolute_url()).context["in_hand"] == assignment
    rate_items(assignment)
    client.post(page("finish", assignment.code))
    assignment.refresh_from_db()
    assert assignment.status == Assignment.Status.SUBMITTED and not assignment.is_late
