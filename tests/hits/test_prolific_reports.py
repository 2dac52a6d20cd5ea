"""What Prolific reports of our submissions, by webhook and by list."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from hits.exceptions import ProviderFailed
from hits.models import (
    HIT,
    Assignment,
    ProviderEvent,
    Submission,
    Worker,
)
from hits.recruiting.arrivals import sync_submissions
from hits.recruiting.providers.prolific import FRESH_SECONDS
from hits.workers.forgetting import forget_worker
from tests.recruits import (
    at_work,
    begin,
    hand_in,
    make_prolific_campaign,
    recruitment_in,
    send,
)
from tests.simulators import prolific_shapes as shapes
from tests.simulators.prolific import ProlificSimulator, Session

pytestmark = pytest.mark.django_db


def tell(body: bytes, headers: dict[str, str]) -> Any:
    return Client().post(
        reverse("prolific_hook"), body, content_type="application/json", headers=headers
    )


def report(prolific: ProlificSimulator, session: Session, status: str, **how: Any) -> Any:
    session.status = status
    body = prolific.event(session)
    return tell(body, prolific.headers(body, **how))


def test_a_returned_submission_frees_its_place_at_once(prolific: ProlificSimulator):
    campaign = make_prolific_campaign(prolific, min_ratings=1)
    client, session, assignment = at_work(prolific, campaign)
    assert not HIT.objects.open().exists()
    assert report(prolific, session, "RETURNED").status_code == 204
    assert HIT.objects.open().get().places_left == 1
    # Another takes it; the first one cannot go on.
    _, _, second = at_work(prolific, campaign)
    assert second.hit == assignment.hit
    _, again = send(prolific, session)
    assert again.status_code == 404 and "returned this task" in again.content.decode()
    assert client.get(reverse("rate", args=[assignment.code])).status_code == 302


def test_a_timed_out_submission_is_replaced_and_late_work_is_welcome(prolific: ProlificSimulator):
    campaign = make_prolific_campaign(prolific, min_ratings=1)
    client, session, assignment = at_work(prolific, campaign)
    report(prolific, session, "TIMED-OUT")
    _, _, second = at_work(prolific, campaign)
    assert second.hit == assignment.hit
    assert hand_in(client, assignment).status_code == 303
    assignment.refresh_from_db()
    assert assignment.status == Assignment.Status.SUBMITTED and assignment.is_late


def test_work_that_is_handed_in_stays_so_whatever_is_reported(prolific: ProlificSimulator):
    campaign = make_prolific_campaign(prolific)
    client, session, assignment = at_work(prolific, campaign)
    hand_in(client, assignment)
    report(prolific, session, "RETURNED")
    assignment.refresh_from_db()
    assert assignment.status == Assignment.Status.SUBMITTED
    assert Submission.objects.get().status == Submission.Status.RETURNED


def test_a_second_visit_after_a_timeout_goes_on_with_the_same_hit(prolific: ProlificSimulator):
    campaign = make_prolific_campaign(prolific)
    _, session, assignment = at_work(prolific, campaign)
    report(prolific, session, "TIMED-OUT")
    again = prolific.join(session.study, session.participant)
    client, _ = send(prolific, again)
    assert begin(client, campaign) == assignment
    assert Submission.objects.get(assignment=assignment).reference == again.id


def test_a_message_that_comes_twice_is_heard_once(prolific: ProlificSimulator):
    campaign = make_prolific_campaign(prolific, min_ratings=1)
    _, session, _ = at_work(prolific, campaign)
    session.status = "RETURNED"
    body = prolific.event(session)
    headers = prolific.headers(body, event_id="event-1")
    assert tell(body, headers).status_code == 204
    # Between the two copies someone else takes the place: it must not be freed again.
    at_work(prolific, campaign)
    assert tell(body, headers).status_code == 204
    assert ProviderEvent.objects.count() == 1
    assert not HIT.objects.open().exists()


@pytest.mark.django_db(transaction=True)
def test_simultaneous_copies_of_a_message_are_heard_once(prolific: ProlificSimulator):
    campaign = make_prolific_campaign(prolific, min_ratings=1)
    _, session, _ = at_work(prolific, campaign)
    session.status = "RETURNED"
    body = prolific.event(session)
    headers = prolific.headers(body, event_id="event-1")

    def deliver(_: int) -> int:
        try:
            return tell(body, headers).status_code
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(deliver, range(4))) == {204}
    assert ProviderEvent.objects.count() == 1
    assert HIT.objects.get().places_left == 1


def test_messages_out_of_order_do_not_bring_old_news_back(prolific: ProlificSimulator):
    campaign = make_prolific_campaign(prolific)
    _, session, _ = at_work(prolific, campaign)
    now = timezone.now().timestamp()
    report(prolific, session, "APPROVED", at=now)
    report(prolific, session, "AWAITING REVIEW", at=now - 60)
    assert Submission.objects.get().status == Submission.Status.APPROVED


FORGED: dict[str, dict[str, str]] = {
    "no headers": {
        "X-Prolific-Request-Signature": "",
        "X-Prolific-Request-Timestamp": "",
    },
    "no signature": {"X-Prolific-Request-Signature": ""},
    "another signature": {"X-Prolific-Request-Signature": "c2lnbmF0dXJl"},
    "not ASCII": {"X-Prolific-Request-Signature": "ÿ"},
    "another moment": {"X-Prolific-Request-Timestamp": "1"},
    "no moment": {"X-Prolific-Request-Timestamp": "now"},
}


@pytest.mark.parametrize("change", FORGED)
def test_a_forged_message_is_refused(prolific: ProlificSimulator, change: str):
    campaign = make_prolific_campaign(prolific)
    _, session, _ = at_work(prolific, campaign)
    body = prolific.event(session, status="RETURNED")
    assert tell(body, prolific.headers(body) | FORGED[change]).status_code == 400
    assert Submission.objects.get().status == Submission.Status.ACTIVE


@pytest.mark.parametrize(
    "how",
    [{"secret": "another"}, {"at": -FRESH_SECONDS - 60}, {"at": FRESH_SECONDS + 60}],
    ids=["another secret", "old", "from the future"],
)
def test_what_is_not_signed_freshly_by_our_secret_is_refused(
    prolific: ProlificSimulator, how: dict[str, Any]
):
    campaign = make_prolific_campaign(prolific)
    _, session, _ = at_work(prolific, campaign)
    if "at" in how:
        how = {"at": timezone.now().timestamp() + how["at"]}
    assert report(prolific, session, "RETURNED", **how).status_code == 400
    assert not ProviderEvent.objects.exists()


def test_a_changed_body_is_refused(prolific: ProlificSimulator):
    campaign = make_prolific_campaign(prolific)
    _, session, _ = at_work(prolific, campaign)
    headers = prolific.headers(prolific.event(session))
    assert tell(prolific.event(session, status="RETURNED"), headers).status_code == 400


def test_without_a_secret_nothing_is_believed(prolific: ProlificSimulator, settings: Any):
    campaign = make_prolific_campaign(prolific)
    _, session, _ = at_work(prolific, campaign)
    settings.PROLIFIC_WEBHOOK_SECRET = ""
    assert report(prolific, session, "RETURNED", secret="").status_code == 400


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b'{"event_type": 1}', b"\xff"])
def test_a_signed_message_that_makes_no_sense_is_no_error_of_ours(
    prolific: ProlificSimulator, body: bytes
):
    assert tell(body, prolific.headers(body)).status_code in (204, 400)


def test_other_events_and_other_studies_are_of_no_interest(prolific: ProlificSimulator):
    campaign = make_prolific_campaign(prolific)
    _, session, _ = at_work(prolific, campaign)
    body = prolific.event(session, event_type="study.status.change", status="PAUSED")
    assert tell(body, prolific.headers(body)).status_code == 204
    body = prolific.event(session, resource_id="unknown", status="RETURNED")
    assert tell(body, prolific.headers(body)).status_code == 204
    assert Submission.objects.get().status == Submission.Status.ACTIVE


def test_a_sync_finds_what_no_message_told(prolific: ProlificSimulator):
    campaign = make_prolific_campaign(prolific, min_ratings=3)
    _, session, assignment = at_work(prolific, campaign)
    never_came = prolific.join(session.study)
    session.status = "RETURNED"
    assert sync_submissions(recruitment=recruitment_in(campaign)) == 1
    statuses = dict(Submission.objects.values_list("reference", "status"))
    assert statuses == {session.id: "returned", never_came.id: "active"}
    assert sync_submissions(recruitment=recruitment_in(campaign)) == 0


def test_a_submission_that_makes_no_sense_does_not_hide_the_others(
    prolific: ProlificSimulator, monkeypatch: Any
):
    campaign = make_prolific_campaign(prolific, min_ratings=2)
    _, strange, _ = at_work(prolific, campaign)
    _, returned, assignment = at_work(prolific, campaign)
    strange.status, returned.status = "PONDERING", "RETURNED"
    told = shapes.STATUS | {"PONDERING"}
    monkeypatch.setitem(shapes.SUBMISSION_IN_LIST, "status", told)
    with pytest.raises(ProviderFailed, match="could not be read: 1.*'PONDERING'"):
        sync_submissions(recruitment=recruitment_in(campaign))
    assignment.refresh_from_db()
    assert assignment.status == Assignment.Status.RETURNED


@pytest.mark.parametrize("status", ["ACTIVE", "AWAITING REVIEW", "APPROVED"])
def test_a_sync_does_not_bring_forgotten_people_back(prolific: ProlificSimulator, status: str):
    campaign = make_prolific_campaign(prolific)
    client, session, assignment = at_work(prolific, campaign)
    hand_in(client, assignment)
    forget_worker(worker=assignment.worker, reason="on request", even_if_owed=True)
    session.status = status
    assert sync_submissions(recruitment=recruitment_in(campaign)) == 0
    assert not Worker.objects.filter(external_id=session.participant).exists()


def test_a_sync_reads_every_page(prolific: ProlificSimulator, monkeypatch: Any):
    monkeypatch.setattr("hits.recruiting.providers.prolific_api.PAGE_SIZE", 2)
    campaign = make_prolific_campaign(prolific, min_ratings=5)
    for _ in range(5):
        prolific.join(recruitment_in(campaign).study)
    sync_submissions(recruitment=recruitment_in(campaign))
    assert Submission.objects.count() == 5
