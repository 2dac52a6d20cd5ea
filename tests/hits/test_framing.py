"""Worker pages in Mechanical Turk's frame: the preview, work without cookies, and no other page in a frame."""

import re

import pytest
import time_machine
from django.templatetags.static import static
from django.test import Client
from django.urls import get_script_prefix, reverse

from hits.models import Assignment, Participation, Rating, Recruitment, Submission, Worker
from hits.rating.practice import practice_for
from hits.recruiting.framing import framed_address
from hits.views import mturk
from tests.factories import make_hits
from tests.people import client_of

pytestmark = pytest.mark.django_db

TURK = "https://workersandbox.mturk.com"
ACCEPTED = {
    "assignmentId": "ASSIGNMENT1",
    "hitId": "HIT1",
    "workerId": "ALICE",
    "turkSubmitTo": TURK,
}


def make_turk_campaign(**fields):
    campaign = make_hits(**{"min_ratings": 2} | fields)
    Recruitment.objects.filter(campaign=campaign).update(provider="mturk")
    return campaign


@pytest.fixture
def campaign():
    return make_turk_campaign()


def question(campaign):
    return reverse("external_question", args=[campaign.code])


def arrive(campaign, client=None, **changes):
    client = client or Client(enforce_csrf_checks=True)
    return client, client.get(question(campaign), ACCEPTED | changes)


def work_through(client, campaign, response):
    """Go from the arrival to the last page without cookies; return that page."""
    landing = response.url
    prefix = landing.removesuffix(reverse("landing", args=[campaign.code]))
    client.post(landing)
    answer = practice_for("en", campaign.task, source_language_code="de").check.right
    response = client.post(
        prefix + reverse("check", args=[campaign.code]), {"answer": answer}, follow=True
    )
    rate_url = response.redirect_chain[-1][0]
    assignment = Assignment.objects.get(worker__external_id="ALICE", status="in_progress")
    for item in assignment.hit.items.order_by("position"):
        client.post(rate_url, {"position": item.position, "item": item.code, "score": 50})
    client.cookies.clear()
    return client.post(f"{rate_url}finish/", follow=True)


@pytest.mark.parametrize(
    "query", [{}, {"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE", "hitId": "HIT1"}]
)
def test_without_an_assignment_there_is_a_preview_without_forms(query):
    text = Client().get(question(make_turk_campaign()), query).content.decode()
    assert "This is a preview" in text and "<form" not in text and "<input" not in text
    assert not Worker.objects.exists() and not Submission.objects.exists()


class TestFraming:
    def test_only_known_hosts_may_frame_it(self, settings):
        page = Client().get(question(make_turk_campaign()))
        ancestors = f"frame-ancestors {' '.join(settings.MTURK_FRAME_ORIGINS)}"
        assert ancestors in page.headers["Content-Security-Policy"]
        assert "X-Frame-Options" not in page.headers

    def test_other_campaigns_have_no_such_page(self):
        assert Client().get(question(make_hits())).status_code == 404

    def test_the_same_page_at_its_normal_address_cannot_be_framed(self, campaign):
        page = Client().get(reverse("landing", args=[campaign.code]))
        assert "frame-ancestors 'none'" in page.headers["Content-Security-Policy"]
        assert page.headers["X-Frame-Options"] == "DENY"

    @pytest.mark.parametrize("path", ["/", "/login/", "/jobs/", "/admin/"])
    def test_staff_pages_have_no_framed_address(self, path):
        client, response = arrive(make_turk_campaign())
        prefix = response.url.partition("/work/")[0]
        assert client_of("superuser").get(prefix + path).status_code == 404

    def test_pages_of_another_campaign_have_no_framed_address(self, campaign):
        client, response = arrive(campaign)
        prefix = response.url.partition("/work/")[0]
        url = prefix + reverse("landing", args=[make_turk_campaign().code])
        assert client.get(url).status_code == 404


class TestWorking:
    def test_a_worker_can_finish_without_cookies(self, campaign):
        client, response = arrive(campaign)
        page = work_through(client, campaign, response)
        text = page.content.decode()
        assert f'action="{TURK}/mturk/externalSubmit"' in text
        assert 'name="assignmentId" value="ASSIGNMENT1"' in text
        assert Rating.objects.count() == 40
        submission = Submission.objects.get()
        assert submission.reference == "ASSIGNMENT1"
        assert submission.assignment.status == Assignment.Status.SUBMITTED
        assert f"form-action 'self' {TURK}" in page.headers["Content-Security-Policy"]
        assert "completionCode" in text and submission.assignment.completion_code in text

    def test_no_framed_page_sets_a_cookie(self):
        client, response = arrive(make_turk_campaign())
        assert not client.get(response.url).cookies and not client.post(response.url).cookies

    def test_cookies_are_ignored_in_a_frame(self, campaign):
        _, response = arrive(campaign)
        client = client_of("superuser")
        page = client.get(response.url)
        assert page.status_code == 200 and not page.wsgi_request.user.is_authenticated

    def test_a_worker_who_returns_after_the_end_can_still_submit(self, campaign):
        client, response = arrive(campaign)
        work_through(client, campaign, response)
        _, again = arrive(campaign, client)
        assert "externalSubmit" in client.get(again.url).content.decode()

    def test_after_returning_an_assignment_a_worker_continues_under_the_next(self, campaign):
        client, response = arrive(campaign)
        take_hit(client, campaign, response)
        arrive(campaign, client, assignmentId="ASSIGNMENT2")
        first, second = Submission.objects.order_by("pk")
        assert first.assignment is None and second.assignment == Assignment.objects.get()

    def test_a_hit_taken_in_another_tab_in_the_meantime_stays_bound(self, campaign, monkeypatch):
        client, response = arrive(campaign)

        def take_a_hit_in_another_tab(*args):
            monkeypatch.undo()
            take_hit(client, campaign, response)

        monkeypatch.setattr(mturk, "_take_over", take_a_hit_in_another_tab)
        arrive(campaign, client)
        assert Submission.objects.get().assignment == Assignment.objects.get()

    def test_the_hit_of_an_earlier_visit_stays_there_if_this_visit_has_another(self):
        campaign = make_turk_campaign(n_segments=28)
        client, response = arrive(campaign)
        take_hit(client, campaign, response)
        arrive(campaign, client, assignmentId="ASSIGNMENT2")
        second, first = Submission.objects.order_by("-pk")
        stale = Submission.objects.get(pk=second.pk)
        stale.assignment = None
        other = Assignment.objects.create(
            hit=campaign.hits.last(),
            worker=second.worker,
            expires_at=second.assignment.expires_at,
            status=Assignment.Status.EXPIRED,
        )
        Submission.objects.filter(pk=first.pk).update(assignment=other)
        mturk._take_over(stale, second.worker)
        first.refresh_from_db()
        assert first.assignment == other

    def test_a_second_hit_needs_a_second_mturk_assignment(self):
        campaign = make_turk_campaign(n_segments=28)
        client, response = arrive(campaign)
        work_through(client, campaign, response)
        for n_hits in (1, 2):
            prefix = response.url.partition("/work/")[0]
            client.get(prefix + reverse("next_hit", args=[campaign.code]), follow=True)
            assert Assignment.objects.count() == n_hits
            _, response = arrive(campaign, client, assignmentId="ASSIGNMENT2")


def take_hit(client, campaign, response):
    prefix = response.url.partition("/work/")[0]
    client.post(response.url)
    Participation.objects.update(qualified_at=campaign.created_at)
    client.get(prefix + reverse("next_hit", args=[campaign.code]))


class TestRefusals:
    @pytest.mark.parametrize(
        "wrong",
        [
            {"turkSubmitTo": "https://evil.example"},
            {"turkSubmitTo": f"{TURK}.evil.example"},
            {"turkSubmitTo": f"https://user@evil.example/{TURK}"},
            {"turkSubmitTo": ""},
            {"workerId": ""},
            {"workerId": "a b"},
            {"workerId": "x" * 65},
            {"assignmentId": "<script>"},
        ],
    )
    def test_an_invalid_arrival_is_refused(self, wrong):
        _, response = arrive(make_turk_campaign(), **wrong)
        assert response.status_code == 404 and not Submission.objects.exists()

    def test_another_workers_assignment_is_refused(self, campaign):
        arrive(campaign)
        _, response = arrive(campaign, workerId="BOB")
        assert response.status_code == 404

    def test_a_changed_or_expired_token_is_refused(self):
        client, response = arrive(make_turk_campaign())
        assert client.get(response.url.replace("framed/", "framed/x")).status_code == 404
        with time_machine.travel("2099-01-01"):
            assert client.get(response.url).status_code == 404

    def test_a_token_is_valid_for_its_worker_only(self, campaign):
        client, response = arrive(campaign)
        take_hit(client, campaign, response)
        assignment = Assignment.objects.get()
        bob = Worker.objects.create(provider="mturk", external_id="BOB")
        url = framed_address(
            reverse("rate", args=[assignment.code]),
            worker=bob,
            campaign=campaign,
            assignment_id="X",
            submit_origin=TURK,
        )
        assert client.get(url).status_code == 404


def test_addresses_outside_a_frame_never_contain_a_token(campaign):
    client, response = arrive(campaign)
    page = client.get(response.url).content.decode()
    assert re.search(r'href="/static/hits/worker\.css"', page)
    assert get_script_prefix() == "/"
    assert static("hits/icon.svg").startswith("/static/")
    assert "framed/" not in Client().get(reverse("home")).content.decode()
