"""Who gets a HIT, and what the page says to workers who do not."""

import re
import uuid
from http import HTTPStatus

import pytest
from django.test import Client
from django.utils import timezone
from django.utils.html import escape

from hits.campaigns.lifecycle import change_status
from hits.models import Assignment, Campaign, Participation, Rating, Worker
from hits.rating.joining import take_part
from hits.recruiting.visitors import COOKIE
from tests.factories import make_campaign, make_hits, make_translations, rate_items
from tests.hits.worker.steps import enter, page, take
from tests.recruits import right_answer, wrong_answer

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("name", ["instructions", "check", "next_hit"])
def test_without_consent_every_page_redirects_to_the_landing_page(client, campaign, name):
    assert client.get(page(name, campaign.code)).url == campaign.get_absolute_url()
    assert client.get(page("practice", campaign.code, 1)).url == campaign.get_absolute_url()
    assert not Worker.objects.exists()


def test_opening_the_link_stores_nothing(client, campaign):
    client.get(campaign.get_absolute_url())
    assert not Worker.objects.exists() and not Participation.objects.exists()
    assert COOKIE not in client.cookies


def test_agreeing_twice_makes_one_participation(client, campaign):
    enter(client, campaign)
    enter(client, campaign)
    assert Participation.objects.count() == Worker.objects.count() == 1


def test_there_is_no_hit_before_the_check_question_is_answered(client, campaign):
    enter(client, campaign, qualified=False)
    answer = client.get(page("next_hit", campaign.code))
    assert answer.url == page("instructions", campaign.code)
    assert not Assignment.objects.exists()


def test_two_wrong_answers_screen_a_worker_out_permanently(client, campaign):
    enter(client, campaign, qualified=False)
    check = page("check", campaign.code)
    assert client.post(check, {"answer": wrong_answer(campaign)}).context["is_wrong"]
    second = client.post(check, {"answer": wrong_answer(campaign)})
    assert second.context["reason"] == "screened_out"
    third = client.post(check, {"answer": right_answer(campaign)})
    assert third.url == page("next_hit", campaign.code)
    assert client.get(page("next_hit", campaign.code)).context["reason"] == "no_hit"
    assert not Assignment.objects.exists()


def test_one_wrong_answer_is_forgiven(client, campaign):
    enter(client, campaign, qualified=False)
    check = page("check", campaign.code)
    client.post(check, {"answer": wrong_answer(campaign)})
    answer = client.post(check, {"answer": right_answer(campaign)})
    assert answer.url == page("next_hit", campaign.code)


@pytest.mark.parametrize("answer", ["", "none", "1"])
def test_an_invalid_answer_does_not_use_up_a_try(client, campaign, answer):
    enter(client, campaign, qualified=False)
    client.post(page("check", campaign.code), {"answer": answer})
    assert Participation.objects.get().n_check_tries == 0


def test_only_the_wording_identifies_the_right_answer(client, campaign):
    """Otherwise a script could pass by a number or a position, without reading."""
    shuffled = []
    for _ in range(20):
        client.cookies.clear()
        enter(client, campaign, qualified=False)
        html = client.get(page("check", campaign.code)).content.decode()
        options = re.findall(r"<label>(<input[^>]*>) (.*?)</label>", html)
        shuffled.append([words for _, words in options])
        same = '<input type="radio" name="answer" value="{}" required>'
        assert [field for field, _ in options] == [same.format(words) for words in shuffled[-1]]
    right = escape(right_answer(campaign))
    assert {options.index(right) for options in shuffled} == {0, 1, 2}


def test_an_excluded_worker_gets_no_hit(client, campaign):
    enter(client, campaign)
    Participation.objects.update(decision="excluded", decision_reason="spam")
    assert client.get(page("next_hit", campaign.code)).context["reason"] == "no_hit"
    assert not Assignment.objects.exists()


def test_a_worker_busy_in_another_campaign_gets_no_hit(client, assignment):
    other = make_hits()
    take_part(campaign=other, worker=assignment.worker)
    Participation.objects.update(qualified_at=timezone.now())
    assert client.get(page("next_hit", other.code)).context["reason"] == "busy"


def test_workers_who_did_all_hits_and_workers_who_come_too_late_read_the_same(client):
    campaign = make_hits(min_ratings=1)
    enter(client, campaign)
    assignment = take(client, campaign)
    bob = Client()
    enter(bob, campaign)
    assert bob.get(page("next_hit", campaign.code)).context["reason"] == "no_hit"
    rate_items(assignment)
    client.post(page("finish", assignment.code))
    assert client.get(page("next_hit", campaign.code)).context["reason"] == "no_hit"


@pytest.mark.parametrize("status", [Campaign.Status.PAUSED, Campaign.Status.CLOSED])
def test_a_campaign_that_is_not_open_says_so_and_admits_nobody(client, campaign, status):
    change_status(campaign=campaign, to=status)
    assert client.get(campaign.get_absolute_url()).context["reason"] == status
    assert client.post(campaign.get_absolute_url()).context["reason"] == status
    assert not Worker.objects.exists()


@pytest.mark.parametrize("name", ["landing", "instructions", "check", "next_hit"])
def test_a_draft_is_not_found(client, name):
    campaign = make_campaign()
    make_translations(campaign)
    assert client.get(page(name, campaign.code)).status_code == HTTPStatus.NOT_FOUND
    assert client.get(page(name, uuid.uuid4())).status_code == HTTPStatus.NOT_FOUND


@pytest.mark.parametrize("step", [0, 4, 10**9 - 1])
def test_an_unknown_practice_step_is_not_found(client, campaign, step):
    enter(client, campaign, qualified=False)
    assert client.get(page("practice", campaign.code, step)).status_code == HTTPStatus.NOT_FOUND


def test_practice_stores_nothing(client, campaign):
    enter(client, campaign, qualified=False)
    client.post(page("practice", campaign.code, 1), {"score": 3})
    assert not Rating.objects.exists() and not Assignment.objects.exists()
