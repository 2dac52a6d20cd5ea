"""Prolific's reports about submissions, by webhook and by list."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from hits.exceptions import ProviderFailed
from hits.models import HIT, Assignment, ProviderEvent, Submission, Worker
from hits.recruiting.arrivals import sync_submissions
from hits.recruiting.providers.prolific import FRESH_SECONDS
from hits.workers.forgetting import forget_worker
from tests.recruits import at_work, begin, hand_in, make_prolific_campaign, recruitment_in, send
from tests.simulators import prolific_shapes as shapes
from tests.simulators.prolific import ProlificSimulator, Session

pytestmark = pytest.mark.django_db


def deliver(body: bytes, headers: dict[str, str]) -> Any:
    return Client().post(
        reverse("prolific_hook"), body, content_type="application/json", headers=headers
    )


@pytest.fixture
def session(prolific: ProlificSimulator) -> Session:
    """The visit of a worker who has taken a HIT."""
    return at_work(prolific, make_prolific_campaign(prolific))[1]


def report(prolific: ProlificSimulator, session: Session, status: str, **options: Any) -> Any:
    session.status = status
    body = prolific.event(session)
    return deliver(body, prolific.headers(body, **options))


def test_a_returned_submission_frees_its_place(prolific):
    campaign = make_prolific_campaign(prolific, min_ratings=1)
    client, session, assignment = at_work(prolific, campaign)
    assert not HIT.objects.open().exists()
    assert report(prolific, session, "RETURNED").status_code == 204
    assert HIT.objects.open().get().places_left == 1
    _, _, second = at_work(prolific, campaign)
    assert second.hit == assignment.hit
    _, again = send(prolific, session)
    assert again.status_code == 404 and "returned this task" in again.content.decode()
    assert client.get(reverse("rate", args=[assignment.code])).status_code == 302


def test_a_timed_out_submission_frees_its_place_and_late_work_is_accepted(prolific):
    campaign = make_prolific_campaign(prolific, min_ratings=1)
    client, session, assignment = at_work(prolific, campaign)
    report(prolific, session, "TIMED-OUT")
    _, _, second = at_work(prolific, campaign)
    assert second.hit == assignment.hit
    assert hand_in(client, assignment).status_code == 303
    assignment.refresh_from_db()
    assert assignment.status == Assignment.Status.SUBMITTED and assignment.is_late


def test_submitted_work_stays_submitted_whatever_is_reported(prolific):
    campaign = make_prolific_campaign(prolific)
    client, session, assignment = at_work(prolific, campaign)
    hand_in(client, assignment)
    report(prolific, session, "RETURNED")
    assignment.refresh_from_db()
    assert assignment.status == Assignment.Status.SUBMITTED
    assert Submission.objects.get().status == Submission.Status.RETURNED


def test_a_second_visit_after_a_timeout_continues_the_same_hit(prolific):
    campaign = make_prolific_campaign(prolific)
    _, session, assignment = at_work(prolific, campaign)
    report(prolific, session, "TIMED-OUT")
    again = prolific.join(session.study, session.participant)
    client, _ = send(prolific, again)
    assert begin(client, campaign) == assignment
    assert Submission.objects.get(assignment=assignment).reference == again.id


def test_a_repeated_event_is_processed_once(prolific):
    campaign = make_prolific_campaign(prolific, min_ratings=1)
    _, session, _ = at_work(prolific, campaign)
    session.status = "RETURNED"
    body = prolific.event(session)
    headers = prolific.headers(body, event_id="event-1")
    assert deliver(body, headers).status_code == 204
    # Someone else takes the place between the two copies, and it must not be freed again.
    at_work(prolific, campaign)
    assert deliver(body, headers).status_code == 204
    assert ProviderEvent.objects.count() == 1
    assert not HIT.objects.open().exists()


@pytest.mark.django_db(transaction=True)
def test_simultaneous_copies_of_an_event_are_processed_once(prolific):
    campaign = make_prolific_campaign(prolific, min_ratings=1)
    _, session, _ = at_work(prolific, campaign)
    session.status = "RETURNED"
    body = prolific.event(session)
    headers = prolific.headers(body, event_id="event-1")

    def deliver_copy(_: int) -> int:
        try:
            return deliver(body, headers).status_code
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(deliver_copy, range(4))) == {204}
    assert ProviderEvent.objects.count() == 1
    assert HIT.objects.get().places_left == 1


def test_an_older_event_does_not_overwrite_a_newer_one(prolific, session):
    now = timezone.now().timestamp()
    report(prolific, session, "APPROVED", at=now)
    report(prolific, session, "AWAITING REVIEW", at=now - 60)
    assert Submission.objects.get().status == Submission.Status.APPROVED


FORGED: dict[str, dict[str, str]] = {
    "no headers": {"X-Prolific-Request-Signature": "", "X-Prolific-Request-Timestamp": ""},
    "no signature": {"X-Prolific-Request-Signature": ""},
    "another signature": {"X-Prolific-Request-Signature": "c2lnbmF0dXJl"},
    "not ASCII": {"X-Prolific-Request-Signature": "ÿ"},
    "another time": {"X-Prolific-Request-Timestamp": "1"},
    "no time": {"X-Prolific-Request-Timestamp": "now"},
}


@pytest.mark.parametrize("change", FORGED)
def test_a_forged_event_is_refused(prolific, session, change):
    body = prolific.event(session, status="RETURNED")
    assert deliver(body, prolific.headers(body) | FORGED[change]).status_code == 400
    assert Submission.objects.get().status == Submission.Status.ACTIVE


@pytest.mark.parametrize(
    "options",
    [{"secret": "another"}, {"at": -FRESH_SECONDS - 60}, {"at": FRESH_SECONDS + 60}],
    ids=["another secret", "old", "from the future"],
)
def test_an_event_with_another_secret_or_time_is_refused(prolific, session, options):
    if "at" in options:
        options = {"at": timezone.now().timestamp() + options["at"]}
    assert report(prolific, session, "RETURNED", **options).status_code == 400
    assert not ProviderEvent.objects.exists()


def test_a_changed_body_is_refused(prolific, session):
    headers = prolific.headers(prolific.event(session))
    assert deliver(prolific.event(session, status="RETURNED"), headers).status_code == 400


def test_without_a_secret_every_event_is_refused(prolific, session, settings):
    settings.PROLIFIC_WEBHOOK_SECRET = ""
    assert report(prolific, session, "RETURNED", secret="").status_code == 400


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b'{"event_type": 1}', b"\xff"])
def test_a_malformed_event_is_not_a_server_error(prolific, body):
    assert deliver(body, prolific.headers(body)).status_code in (204, 400)


def test_other_events_and_unknown_submissions_are_ignored(prolific, session):
    for body in (
        prolific.event(session, event_type="study.status.change", status="PAUSED"),
        prolific.event(session, resource_id="unknown", status="RETURNED"),
    ):
        assert deliver(body, prolific.headers(body)).status_code == 204
    assert Submission.objects.get().status == Submission.Status.ACTIVE


def test_a_sync_finds_changes_without_an_event(prolific):
    campaign = make_prolific_campaign(prolific, min_ratings=3)
    _, session, assignment = at_work(prolific, campaign)
    never_came = prolific.join(session.study)
    session.status = "RETURNED"
    assert sync_submissions(recruitment=recruitment_in(campaign)) == 1
    statuses = dict(Submission.objects.values_list("reference", "status"))
    assert statuses == {session.id: "returned", never_came.id: "active"}
    assert sync_submissions(recruitment=recruitment_in(campaign)) == 0


def test_an_unreadable_submission_does_not_hide_the_others(prolific, monkeypatch):
    campaign = make_prolific_campaign(prolific, min_ratings=2)
    _, strange, _ = at_work(prolific, campaign)
    _, returned, assignment = at_work(prolific, campaign)
    strange.status, returned.status = "PONDERING", "RETURNED"
    monkeypatch.setitem(shapes.SUBMISSION_IN_LIST, "status", shapes.STATUS | {"PONDERING"})
    with pytest.raises(ProviderFailed, match="could not be read: 1.*'PONDERING'"):
        sync_submissions(recruitment=recruitment_in(campaign))
    assignment.refresh_from_db()
    assert assignment.status == Assignment.Status.RETURNED


@pytest.mark.parametrize("status", ["ACTIVE", "AWAITING REVIEW", "APPROVED"])
def test_a_sync_does_not_bring_forgotten_workers_back(prolific, status):
    campaign = make_prolific_campaign(prolific)
    client, session, assignment = at_work(prolific, campaign)
    hand_in(client, assignment)
    forget_worker(worker=assignment.worker, reason="on request", even_if_owed=True)
    session.status = status
    assert sync_submissions(recruitment=recruitment_in(campaign)) == 0
    assert not Worker.objects.filter(external_id=session.participant).exists()


def test_a_sync_reads_every_page(prolific, monkeypatch):
    monkeypatch.setattr("hits.recruiting.providers.prolific_api.PAGE_SIZE", 2)
    campaign = make_prolific_campaign(prolific, min_ratings=5)
    for _ in range(5):
        prolific.join(recruitment_in(campaign).study)
    sync_submissions(recruitment=recruitment_in(campaign))
    assert Submission.objects.count() == 5
