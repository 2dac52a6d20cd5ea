"""Whatever the reason why a worker gets no further HIT, the answer is the same to the byte."""

import re
from collections.abc import Callable
from decimal import Decimal

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from hits.models import HIT, Assignment, Campaign, Participation, Recruitment, Submission, Worker
from hits.workers.held_hits import discard_held
from tests.decisions import exclude
from tests.factories import make_hits
from tests.hits.worker.steps import enter, page
from tests.holds import do_held_hit, do_hit
from tests.people import make_person
from tests.recruits import CODES, choose_prolific, wrong_answer

pytestmark = pytest.mark.django_db

SENTENCE = "There are no more texts for you in this task at the moment."


def own_limit(campaign: Campaign, worker: Worker) -> None:
    Campaign.objects.filter(pk=campaign.pk).update(max_hits_per_worker=1)


def no_places(campaign: Campaign, worker: Worker) -> None:
    HIT.objects.filter(campaign=campaign).update(places_left=0)


def all_done(campaign: Campaign, worker: Worker) -> None:
    do_hit(campaign, worker)


def unreliable(campaign: Campaign, worker: Worker) -> None:
    participation(campaign, worker).update(trust=Participation.Trust.UNRELIABLE)


def excluded(campaign: Campaign, worker: Worker) -> None:
    exclude(
        participation=participation(campaign, worker).get(),
        actor=make_person("admin"),
        reason="spam",
    )


def screened_out(campaign: Campaign, worker: Worker) -> None:
    participation(campaign, worker).update(qualified_at=None, n_check_tries=2)


def spending_cap(campaign: Campaign, worker: Worker) -> None:
    Campaign.objects.filter(pk=campaign.pk).update(spending_cap=campaign.pay_per_hit)


def held(campaign: Campaign, worker: Worker) -> None:
    Assignment.objects.filter(worker=worker).update(
        hold=Assignment.Hold.HELD, hold_reason="Too fast.", held_at="2026-01-01T00:00Z"
    )


REASONS: list[Callable[[Campaign, Worker], None]] = [
    no_places,
    all_done,
    own_limit,
    unreliable,
    excluded,
    screened_out,
    spending_cap,
    held,
]
every_reason = pytest.mark.parametrize("reason", REASONS, ids=lambda reason: reason.__name__)


def participation(campaign: Campaign, worker: Worker):
    return Participation.objects.filter(campaign=campaign, worker=worker)


@pytest.fixture
def news() -> Campaign:
    """A campaign of two HITs with a spending cap, as each reason must look the same in one campaign."""
    return make_hits(
        name="News", n_segments=28, trust_rule="guarded", pay_per_hit=2, spending_cap=Decimal(1000)
    )


def worker_after_one_hit(campaign: Campaign) -> tuple[Client, Worker]:
    client = Client()
    worker = enter(client, campaign)
    do_hit(campaign, worker)
    return client, worker


def refused(
    campaign: Campaign, reason: Callable[[Campaign, Worker], None]
) -> tuple[bytes, list[str], int]:
    """The answer to a worker without a further HIT, its headers, and the number of queries it took."""
    client, worker = worker_after_one_hit(campaign)
    reason(campaign, worker)
    with CaptureQueriesContext(connection) as queries:
        answer = client.get(page("next_hit", campaign.code))
    assert answer.status_code == 200
    assert not worker.assignments.in_progress().exists()
    headers = sorted(answer.headers) + [answer.headers["Content-Length"]]
    return without_tokens(answer.content), headers, len(queries)


def without_tokens(content: bytes) -> bytes:
    return re.sub(rb'(nonce=|name="csrfmiddlewaretoken" value=)"[^"]+"', rb"\1", content)


@every_reason
def test_every_reason_gives_the_same_page_and_takes_the_same_queries(news, reason):
    expected = refused(news, no_places)
    HIT.objects.filter(campaign=news).update(places_left=10)
    assert refused(news, reason) == expected
    assert SENTENCE.encode() in expected[0]


# The button for more texts depends on free places, as for everyone.
@pytest.mark.parametrize("reason", REASONS[2:], ids=lambda reason: reason.__name__)
def test_the_last_page_with_the_completion_code_stays_the_same(news, reason):
    client, worker = worker_after_one_hit(news)
    done = page("done", worker.assignments.get().code)
    before = client.get(done)
    reason(news, worker)
    assert without_tokens(client.get(done).content) == without_tokens(before.content)


@every_reason
def test_opening_the_link_again_does_not_ask_for_consent_again(news, reason):
    client, worker = worker_after_one_hit(news)
    reason(news, worker)
    answer = client.get(news.get_absolute_url())
    assert answer.status_code == 302 and answer.url == page("next_hit", news.code)


def test_a_worker_who_agreed_but_did_not_qualify_continues_with_the_instructions(client, news):
    enter(client, news, qualified=False)
    answer = client.get(news.get_absolute_url(), follow=True)
    assert answer.redirect_chain[-1][0] == page("instructions", news.code)


def test_someone_new_is_asked_for_consent(client, news):
    assert b"I agree and want to start" in client.get(news.get_absolute_url()).content


def test_the_second_wrong_answer_is_explained_once(client, news):
    enter(client, news, qualified=False)
    check = page("check", news.code)
    for _ in range(2):
        answer = client.post(check, {"answer": wrong_answer(news)})
    assert answer.context["reason"] == "screened_out"
    again = client.post(check, {"answer": wrong_answer(news)}, follow=True)
    assert again.context["reason"] == "no_hit" and SENTENCE in again.content.decode()


def test_a_discarded_hit_does_not_keep_its_worker_out(news):
    client = Client()
    worker = enter(client, news)
    assignment = do_held_hit(news, worker)
    assert client.get(page("next_hit", news.code)).context["reason"] == "no_hit"
    discard_held(assignment=assignment, actor=None, reason="Nobody decided.")
    assert client.get(page("next_hit", news.code)).url.startswith("/hit/")


@every_reason
def test_a_provider_gets_the_same_code_whatever_the_reason(news, reason):
    client, worker = worker_after_one_hit(news)
    choose_prolific(news)
    Worker.objects.filter(pk=worker.pk).update(provider="prolific")
    worker.refresh_from_db()
    reason(news, worker)
    recruitment = Recruitment.objects.get(campaign=news)
    Submission.objects.create(recruitment=recruitment, worker=worker, reference="second visit")
    answer = client.get(page("next_hit", news.code))
    assert f"cc={CODES['screened_out_code']}" in answer.content.decode()
    assert SENTENCE in answer.content.decode()
