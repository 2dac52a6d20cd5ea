"""The worker's way through by HTTP, as a browser without scripts and as the page's script go it."""

import logging
import uuid
from datetime import timedelta
from http import HTTPStatus
from typing import Any

import pytest
import time_machine
from django.conf import settings
from django.core import signing
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from hits.building import build_hits
from hits.models import Assignment, Campaign, Item, Participation, Rating, Worker
from hits.practice import practice_for
from hits.services import change_status, release_expired, take_assignment, take_part
from hits.visitors import COOKIE, remember_worker
from tests.factories import make_campaign, make_hits, make_translations, make_worker, rate_items

pytestmark = [
    pytest.mark.django_db,
    # Nobody collects static files for a test.
    pytest.mark.filterwarnings("ignore:No directory at"),
]

JSON = {"Accept": "application/json"}


@pytest.fixture
def campaign() -> Campaign:
    return make_hits(min_ratings=3)


def enter(client: Client, campaign: Campaign, *, qualified: bool = True) -> Worker:
    """Agree to take part, and unless told otherwise have the practice done."""
    client.post(campaign.get_absolute_url())
    participation = Participation.objects.latest("pk")
    if qualified:
        Participation.objects.filter(pk=participation.pk).update(qualified_at=timezone.now())
    return participation.worker


def take(client: Client, campaign: Campaign) -> Assignment:
    """Take a HIT by the page that gives one out."""
    response = client.get(reverse("next_hit", args=[campaign.code]))
    return Assignment.objects.get(code=response.url.split("/")[2])


@pytest.fixture
def assignment(client, campaign) -> Assignment:
    enter(client, campaign)
    return take(client, campaign)


def page(name: str, *args: object) -> str:
    return reverse(name, args=args)


def post_rating(client: Client, assignment: Assignment, position: int, /, **fields: object) -> Any:
    """Send what the page's script sends for the item at a position."""
    item = assignment.hit.items.get(position=position)
    sent = {"position": position, "item": item.code, "score": 50} | fields
    return client.post(page("rate", assignment.code), sent, headers=JSON)


def wrong_answer(campaign: Campaign) -> int:
    check = practice_for(campaign.target_language, campaign.task).check
    return (check.answer + 1) % len(check.options)


def right_answer(campaign: Campaign) -> int:
    return practice_for(campaign.target_language, campaign.task).check.answer


# The whole way -------------------------------------------------------------------------------


def test_a_worker_goes_from_the_link_to_the_completion_code(client, campaign):
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
        shown = client.get(rating_page).context["item"]
        assert shown["position"] == position
        sent = {"position": position, "item": shown["item"], "score": position}
        assert client.post(rating_page, sent).url == rating_page

    finish = client.get(rating_page).url
    done = client.post(finish, {"comment": "Nice texts."}).url
    assignment = Assignment.objects.get()
    assert assignment.status == Assignment.Status.SUBMITTED
    assert assignment.comment == "Nice texts."
    assert assignment.completion_code in client.get(done).content.decode()
    ratings = assignment.ratings.order_by("item__position")
    assert list(ratings.values_list("score", flat=True)) == list(range(1, 41))


def test_a_script_is_told_what_is_stored_and_gets_one_more_item(client, assignment):
    answer = post_rating(client, assignment, 1, score=73, elapsed_ms=900, active_ms=800)
    assert answer.status_code == HTTPStatus.OK
    saved = answer.json()
    assert (saved["saved"], saved["score"]) == (1, 73)
    assert [item["position"] for item in saved["items"]] == [12]
    assert set(saved["items"][0]) == {"item", "position", "text", "above"}


def test_near_the_end_no_more_items_come(client, assignment):
    rate_items(assignment, n_items=39)
    assert post_rating(client, assignment, 40).json()["items"] == []


def test_the_window_and_the_answers_hold_every_item_once_and_in_order(client, assignment):
    shown = list(client.get(page("rate", assignment.code)).context["items"])
    for position in range(1, 41):
        shown += post_rating(client, assignment, position).json()["items"]
    assert [item["position"] for item in shown] == list(range(1, 41))


def test_a_second_worker_never_learns_of_the_first(client, assignment, campaign):
    other = Client()
    enter(other, campaign)
    assert take(other, campaign) != assignment


# Asking again --------------------------------------------------------------------------------


def test_a_repeated_rating_is_answered_with_what_is_stored(client, assignment):
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


def test_a_finished_hit_leads_to_its_code_from_everywhere(client, assignment):
    rate_items(assignment)
    client.post(page("finish", assignment.code))
    first = client.get(page("done", assignment.code)).content
    assert client.get(page("rate", assignment.code)).url == page("finish", assignment.code)
    assert client.get(page("finish", assignment.code)).url == page("done", assignment.code)
    assert client.post(page("finish", assignment.code)).url == page("done", assignment.code)
    assert client.get(page("done", assignment.code)).content == first


def test_the_code_is_not_shown_before_the_work_is_handed_in(client, assignment):
    assert client.get(page("done", assignment.code)).url == page("rate", assignment.code)
    assert client.get(page("finish", assignment.code)).url == page("rate", assignment.code)
    assert client.post(page("finish", assignment.code)).url == page("rate", assignment.code)
    assignment.refresh_from_db()
    assert assignment.status == Assignment.Status.IN_PROGRESS


def test_two_visits_to_the_next_hit_give_the_same_one(client, campaign, assignment):
    assert take(client, campaign) == assignment
    assert Assignment.objects.count() == 1


# Refusals ------------------------------------------------------------------------------------


def assert_refused(response: Any, caplog: pytest.LogCaptureFixture, *, status: int) -> str:
    """The answer says why, the log too, and nothing is stored."""
    assert response.status_code == status
    message = response.json()["error"]
    assert message
    refusals = [record for record in caplog.records if record.name == "hits.views.working"]
    assert [record.levelno for record in refusals] == [logging.WARNING]
    assert not Rating.objects.exists()
    return message


def test_skipping_an_item_is_refused(client, assignment, caplog):
    message = assert_refused(post_rating(client, assignment, 2), caplog, status=409)
    assert "order" in message


def test_an_item_of_another_hit_is_refused(client, assignment, caplog):
    foreign = make_hits().hits.get().items.get(position=1)
    assert_refused(post_rating(client, assignment, 1, item=foreign.code), caplog, status=409)


def test_the_item_of_another_position_is_refused(client, assignment, caplog):
    second = assignment.hit.items.get(position=2)
    assert_refused(post_rating(client, assignment, 1, item=second.code), caplog, status=409)


def test_an_item_nobody_has_is_refused(client, assignment, caplog):
    assert_refused(post_rating(client, assignment, 1, item=uuid.uuid4()), caplog, status=409)


@pytest.mark.parametrize("position", [41, 2**31, 10**30])
def test_a_position_outside_the_hit_is_refused(client, assignment, caplog, position):
    answer = post_rating(client, assignment, 1, position=position)
    assert_refused(answer, caplog, status=409 if position == 41 else 400)


@pytest.mark.parametrize(
    ("fields", "named"),
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
def test_what_nobody_can_have_rated_is_refused_by_name(client, assignment, caplog, fields, named):
    message = assert_refused(post_rating(client, assignment, 1, **fields), caplog, status=400)
    assert named in message


def test_a_time_longer_than_the_hit_was_in_hand_is_refused(client, assignment, caplog):
    answer = post_rating(client, assignment, 1, elapsed_ms=10 * 60_000)
    assert "in hand" in assert_refused(answer, caplog, status=400)


def test_a_time_as_long_as_the_hit_was_in_hand_is_taken(client, assignment):
    with time_machine.travel(timezone.now() + timedelta(minutes=10)):
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


def test_a_plain_form_that_is_refused_gets_a_page_that_says_why(client, assignment):
    item = assignment.hit.items.get(position=2)
    sent = {"position": 2, "item": item.code, "score": 50}
    answer = client.post(page("rate", assignment.code), sent)
    assert answer.status_code == HTTPStatus.CONFLICT
    assert "order" in answer.content.decode()


@pytest.mark.parametrize("name", ["rate", "finish", "done"])
def test_the_assignment_of_another_is_nobodys(assignment, campaign, caplog, name):
    bob = Client()
    enter(bob, campaign)
    answer = bob.get(page(name, assignment.code), headers=JSON)
    assert_refused(answer, caplog, status=404)


def test_nobody_rates_or_hands_in_for_another(assignment, campaign, caplog):
    bob = Client()
    enter(bob, campaign)
    assert_refused(post_rating(bob, assignment, 1), caplog, status=404)
    rate_items(assignment)
    assert bob.post(page("finish", assignment.code)).status_code == HTTPStatus.NOT_FOUND
    assignment.refresh_from_db()
    assert assignment.status == Assignment.Status.IN_PROGRESS


def test_an_assignment_nobody_has_looks_like_one_of_another(client, assignment, campaign):
    bob = Client()
    enter(bob, campaign)
    theirs = bob.get(page("rate", assignment.code))
    unknown = bob.get(page("rate", uuid.uuid4()))
    assert theirs.status_code == unknown.status_code == HTTPStatus.NOT_FOUND
    assert theirs.content == unknown.content


def test_a_hit_that_was_given_back_takes_no_rating(client, assignment, caplog):
    Assignment.objects.filter(pk=assignment.pk).update(status=Assignment.Status.RETURNED)
    assert_refused(post_rating(client, assignment, 1), caplog, status=409)


def test_a_comment_longer_than_the_box_is_refused_and_nothing_is_handed_in(client, assignment):
    rate_items(assignment)
    answer = client.post(page("finish", assignment.code), {"comment": "x" * 2_001})
    assert answer.status_code == HTTPStatus.OK and answer.context["form"].errors
    assignment.refresh_from_db()
    assert not assignment.completion_code


# Late ----------------------------------------------------------------------------------------


def test_a_late_worker_returns_finishes_and_is_marked_late(client, campaign, assignment):
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


def test_a_late_worker_who_asks_for_the_next_hit_has_the_lease_renewed(
    client, campaign, assignment
):
    with time_machine.travel(assignment.expires_at + timedelta(minutes=1), tick=False):
        release_expired()
        assert take(client, campaign) == assignment
        renewed_at = timezone.now()
    assignment.refresh_from_db()
    assert assignment.status == Assignment.Status.IN_PROGRESS
    assert assignment.expires_at == renewed_at + timedelta(minutes=campaign.lease_minutes)
    assert campaign.hits.get().places_left == 2


def test_a_late_worker_whose_place_is_gone_still_goes_on(client):
    campaign = make_hits(min_ratings=1)
    enter(client, campaign)
    late = take(client, campaign)
    release_expired(at=late.expires_at)
    take_assignment(campaign=campaign, worker=make_worker())
    assert take(client, campaign) == late
    late.refresh_from_db()
    assert late.status == Assignment.Status.EXPIRED
    assert post_rating(client, late, 1).status_code == HTTPStatus.OK


def test_a_hit_in_hand_can_be_finished_after_the_campaign_has_closed(client, campaign, assignment):
    change_status(campaign=campaign, to=Campaign.Status.CLOSED)
    assert client.get(campaign.get_absolute_url()).context["in_hand"] == assignment
    rate_items(assignment)
    client.post(page("finish", assignment.code))
    assignment.refresh_from_db()
    assert assignment.status == Assignment.Status.SUBMITTED and not assignment.is_late


# Getting in ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["instructions", "check", "next_hit"])
def test_who_has_not_agreed_is_sent_to_the_beginning(client, campaign, name):
    assert client.get(page(name, campaign.code)).url == campaign.get_absolute_url()
    assert client.get(page("practice", campaign.code, 1)).url == campaign.get_absolute_url()
    assert not Worker.objects.exists()


def test_looking_at_the_link_stores_nothing(client, campaign):
    client.get(campaign.get_absolute_url())
    assert not Worker.objects.exists() and not Participation.objects.exists()
    assert COOKIE not in client.cookies


def test_agreeing_twice_makes_one_participation(client, campaign):
    enter(client, campaign)
    enter(client, campaign)
    assert Participation.objects.count() == Worker.objects.count() == 1


def test_no_hit_before_the_question_is_answered(client, campaign):
    enter(client, campaign, qualified=False)
    answer = client.get(page("next_hit", campaign.code))
    assert answer.url == page("instructions", campaign.code)
    assert not Assignment.objects.exists()


def test_two_wrong_answers_screen_a_worker_out_for_good(client, campaign):
    enter(client, campaign, qualified=False)
    check = page("check", campaign.code)
    assert client.post(check, {"answer": wrong_answer(campaign)}).context["is_wrong"]
    second = client.post(check, {"answer": wrong_answer(campaign)})
    assert second.context["reason"] == "screened_out"
    third = client.post(check, {"answer": right_answer(campaign)})
    assert third.context["reason"] == "screened_out"
    assert client.get(page("next_hit", campaign.code)).context["reason"] == "screened_out"
    assert not Assignment.objects.exists()


def test_one_wrong_answer_is_forgiven(client, campaign):
    enter(client, campaign, qualified=False)
    check = page("check", campaign.code)
    client.post(check, {"answer": wrong_answer(campaign)})
    assert client.post(check, {"answer": right_answer(campaign)}).url == page(
        "next_hit", campaign.code
    )


@pytest.mark.parametrize("answer", ["", "none", "-1"])
def test_an_answer_that_is_none_costs_no_try(client, campaign, answer):
    enter(client, campaign, qualified=False)
    client.post(page("check", campaign.code), {"answer": answer})
    assert Participation.objects.get().n_check_tries == 0


def test_an_excluded_worker_gets_no_hit(client, campaign):
    enter(client, campaign)
    Participation.objects.update(decision="excluded", decision_reason="spam")
    assert client.get(page("next_hit", campaign.code)).context["reason"] == "excluded"
    assert not Assignment.objects.exists()


def test_a_worker_busy_elsewhere_is_told_so(client, assignment):
    other = make_hits()
    take_part(campaign=other, worker=assignment.worker)
    Participation.objects.update(qualified_at=timezone.now())
    assert client.get(page("next_hit", other.code)).context["reason"] == "busy"


def test_who_has_done_all_is_thanked_and_who_comes_too_late_asked_to_look_in_again(client):
    campaign = make_hits(min_ratings=1)
    enter(client, campaign)
    assignment = take(client, campaign)
    bob = Client()
    enter(bob, campaign)
    assert bob.get(page("next_hit", campaign.code)).context["reason"] == "none_left"
    rate_items(assignment)
    client.post(page("finish", assignment.code))
    assert client.get(page("next_hit", campaign.code)).context["reason"] == "done"


@pytest.mark.parametrize("status", [Campaign.Status.PAUSED, Campaign.Status.CLOSED])
def test_a_campaign_that_is_not_open_says_so_and_takes_nobody_in(client, campaign, status):
    change_status(campaign=campaign, to=status)
    assert client.get(campaign.get_absolute_url()).context["reason"] == status
    assert client.post(campaign.get_absolute_url()).context["reason"] == status
    assert not Worker.objects.exists()


@pytest.mark.parametrize("name", ["landing", "instructions", "check", "next_hit"])
def test_a_draft_is_not_there(client, name):
    campaign = make_campaign()
    make_translations(campaign)
    assert client.get(page(name, campaign.code)).status_code == HTTPStatus.NOT_FOUND
    assert client.get(page(name, uuid.uuid4())).status_code == HTTPStatus.NOT_FOUND


@pytest.mark.parametrize("step", [0, 4, 10**9 - 1])
def test_a_practice_step_that_does_not_exist_is_not_there(client, campaign, step):
    enter(client, campaign, qualified=False)
    assert client.get(page("practice", campaign.code, step)).status_code == HTTPStatus.NOT_FOUND


def test_practice_stores_nothing(client, campaign):
    enter(client, campaign, qualified=False)
    client.post(page("practice", campaign.code, 1), {"score": 3})
    assert not Rating.objects.exists() and not Assignment.objects.exists()


# Protection ----------------------------------------------------------------------------------


def worker_pages(campaign: Campaign, assignment: Assignment) -> list[str]:
    return [
        campaign.get_absolute_url(),
        page("instructions", campaign.code),
        page("practice", campaign.code, 1),
        page("check", campaign.code),
        page("next_hit", campaign.code),
        page("rate", assignment.code),
        page("finish", assignment.code),
        page("done", assignment.code),
    ]


def test_no_worker_page_is_kept_by_a_cache_or_framed(client, campaign, assignment):
    urls = worker_pages(campaign, assignment)
    answers = [client.get(url) for url in urls] + [post_rating(client, assignment, 1)]
    answers.append(Client().get(page("rate", assignment.code)))
    for answer in answers:
        assert "no-store" in answer["Cache-Control"] and "private" in answer["Cache-Control"]
        assert "default-src 'none'" in answer["Content-Security-Policy"]
        assert "unsafe" not in answer["Content-Security-Policy"]
        assert answer["X-Frame-Options"] == "DENY"
        assert answer["X-Content-Type-Options"] == "nosniff"
        assert answer["Referrer-Policy"] == "same-origin"
        assert answer["Cross-Origin-Opener-Policy"] == "same-origin"


def test_every_form_needs_its_token(campaign):
    alice = Client(enforce_csrf_checks=True)
    assert alice.post(campaign.get_absolute_url()).status_code == HTTPStatus.FORBIDDEN
    alice.get(campaign.get_absolute_url())
    token = alice.cookies[settings.CSRF_COOKIE_NAME].value
    headers = {"X-CSRFToken": token}
    assert alice.post(campaign.get_absolute_url(), headers=headers).status_code == HTTPStatus.FOUND
    Participation.objects.update(qualified_at=timezone.now())
    assignment = take(alice, campaign)
    for url in worker_pages(campaign, assignment):
        if "instructions" not in url and "done" not in url:
            assert alice.post(url).status_code == HTTPStatus.FORBIDDEN, url
    assert post_rating(alice, assignment, 1).status_code == HTTPStatus.FORBIDDEN
    item = assignment.hit.items.get(position=1)
    sent = {"position": 1, "item": item.code, "score": 50}
    answer = alice.post(page("rate", assignment.code), sent, headers=headers | JSON)
    assert answer.status_code == HTTPStatus.OK


def test_the_cookie_is_out_of_reach_of_scripts_and_other_sites(client, campaign):
    enter(client, campaign)
    cookie = client.cookies[COOKIE]
    assert cookie["httponly"] and cookie["samesite"] == "Lax"
    assert cookie["max-age"] == 180 * 24 * 60 * 60


def test_the_cookie_travels_by_https_only_outside_development(client, campaign, settings):
    settings.SESSION_COOKIE_SECURE = True
    enter(client, campaign)
    assert client.cookies[COOKIE]["secure"]


def test_the_cookie_says_nothing_about_the_worker_but_a_code(client, campaign):
    worker = enter(client, campaign)
    value = client.cookies[COOKIE].value
    assert value.startswith(f"{worker.code}:")
    assert worker.external_id not in value


@pytest.mark.parametrize("where", ["code", "signature", "all"])
def test_a_tampered_cookie_is_a_strangers(client, campaign, assignment, where):
    bob = make_worker()
    value = client.cookies[COOKIE].value
    client.cookies[COOKIE] = {
        "code": value.replace(str(assignment.worker.code), str(bob.code)),
        "signature": value[:-1] + ("A" if value[-1] != "A" else "B"),
        "all": str(assignment.worker.code),
    }[where]
    assert client.get(page("rate", assignment.code)).status_code == HTTPStatus.NOT_FOUND
    assert client.get(page("next_hit", campaign.code)).url == campaign.get_absolute_url()


def test_a_cookie_of_an_earlier_campaign_is_the_same_worker(client, campaign, assignment):
    other = make_hits()
    client.post(other.get_absolute_url())
    assert Worker.objects.count() == 1
    assert Participation.objects.filter(worker=assignment.worker).count() == 2


def test_a_login_of_a_worker_is_needed_nowhere_and_helps_nowhere(admin_client, assignment):
    assert admin_client.get(page("rate", assignment.code)).status_code == HTTPStatus.NOT_FOUND


def test_a_cookie_signed_for_another_purpose_is_a_strangers(client, campaign, assignment):
    right = HttpResponse()
    remember_worker(right, assignment.worker)
    client.cookies[COOKIE] = signing.dumps(str(assignment.worker.code), salt="elsewhere")
    assert client.get(page("rate", assignment.code)).status_code == HTTPStatus.NOT_FOUND
    client.cookies[COOKIE] = right.cookies[COOKIE].value
    assert client.get(page("rate", assignment.code)).status_code == HTTPStatus.OK


# Queries -------------------------------------------------------------------------------------


@pytest.fixture
def full_assignment(client) -> Assignment:
    """A HIT of 100 items in hand."""
    campaign = make_campaign(hit_size=100, min_ratings=3)
    make_translations(campaign, n_segments=35)
    build_hits(campaign=campaign)
    change_status(campaign=campaign, to=Campaign.Status.OPEN)
    enter(client, campaign)
    return take(client, campaign)


RATING_QUERIES = 2


@pytest.mark.parametrize("position", [1, 50, 99, 100])
def test_a_rating_costs_the_same_few_queries_at_every_item(
    client, full_assignment, position, django_assert_num_queries
):
    rate_items(full_assignment, n_items=position - 1)
    sent = {"position": position, "score": 50, "elapsed_ms": 5, "active_ms": 5}
    sent["item"] = Item.objects.get(hit=full_assignment.hit, position=position).code
    with django_assert_num_queries(RATING_QUERIES):
        answer = client.post(page("rate", full_assignment.code), sent, headers=JSON)
    assert answer.json()["saved"] == position


@pytest.mark.parametrize("n_rated", [0, 50, 99])
def test_the_rating_page_costs_the_same_few_queries_at_every_item(
    client, full_assignment, n_rated, django_assert_num_queries
):
    rate_items(full_assignment, n_items=n_rated)
    with django_assert_num_queries(3):
        client.get(page("rate", full_assignment.code))


@pytest.mark.parametrize("n_others", [0, 5])
def test_the_landing_page_costs_the_same_few_queries_however_many_came_before(
    client, n_others, django_assert_num_queries
):
    campaign = make_hits(min_ratings=9)
    for _ in range(n_others):
        worker = make_worker()
        take_part(campaign=campaign, worker=worker)
        take_assignment(campaign=campaign, worker=worker)
    enter(client, campaign)
    with django_assert_num_queries(4):
        client.get(campaign.get_absolute_url())
