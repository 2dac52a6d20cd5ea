"""Our study at Prolific: made, published, topped up; what it reports by list and by webhook; and money."""

from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from hits.chores import do_chores
from hits.exceptions import NotOffered, ProviderFailed, RecruitmentRefused
from hits.models import (
    HIT,
    Assignment,
    AuditEntry,
    Campaign,
    Participation,
    PayRule,
    ProviderEvent,
    Recruitment,
    Submission,
    Worker,
)
from hits.places import settle_places
from hits.providers import provider_for
from hits.providers.base import Bonus
from hits.providers.prolific import FRESH_SECONDS, REJECTION_CATEGORIES, status_named
from hits.recruiting.arrivals import save_recruitment, sync_submissions
from hits.recruiting.studies import create_study, places_wanted, publish_study, raise_places
from hits.services import change_status, release_assignment
from hits.tasks import follow_campaign
from hits.workers.forgetting import forget_worker
from tests.factories import make_hits
from tests.paying import make_admin
from tests.people import client_of
from tests.recruits import CODES, begin, choose_prolific, hand_in, make_prolific_campaign, send
from tests.simulators import prolific_shapes as shapes
from tests.simulators.prolific import ProlificSimulator, Session

pytestmark = pytest.mark.django_db

LANDING = "https://da.example/work/x/"
REASON = (
    "Nearly all of the ratings are the same number, whatever the text is, so they cannot be used. "
    * 2
)


def recruitment_in(campaign: Campaign) -> Recruitment:
    return Recruitment.objects.select_related("campaign").get(campaign=campaign)


def at_work(prolific: ProlificSimulator, campaign: Campaign) -> tuple[Client, Session, Assignment]:
    session = prolific.join(recruitment_in(campaign).study)
    client, _ = send(prolific, session)
    return client, session, begin(client, campaign)


def tell(body: bytes, headers: dict[str, str]) -> Any:
    return Client().post(
        reverse("prolific_hook"), body, content_type="application/json", headers=headers
    )


def report(prolific: ProlificSimulator, session: Session, status: str, **how: Any) -> Any:
    session.status = status
    body = prolific.event(session)
    return tell(body, prolific.headers(body, **how))


# The study -----------------------------------------------------------------------------------


def test_a_study_is_made_as_prolific_wants_it(prolific: ProlificSimulator):
    campaign = make_hits(is_open=False, pay_per_hit="2.50", min_ratings=3)
    choose_prolific(campaign, requires_token=True, project="p1")
    create_study(recruitment=recruitment_in(campaign), landing_url=LANDING, actor=None)
    [study] = prolific.studies.values()
    assert study["status"] == "UNPUBLISHED"
    assert (study["reward"], study["total_available_places"]) == (250, 3)
    assert study["external_study_url"] == (
        f"{LANDING}?PROLIFIC_PID={{{{%PROLIFIC_PID%}}}}"
        "&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"
    )
    assert study["is_external_study_url_secure"] and study["project"] == "p1"
    # Money is decided by people: no code pays by itself, and none tells good work from bad.
    codes = {one["code"]: one for one in study["completion_codes"]}
    assert set(codes) == set(CODES.values())
    assert codes["DONE1"]["actions"] == [{"action": "MANUALLY_REVIEW"}]
    assert "FAILED_ATTENTION_CHECK" not in str(study)
    assert recruitment_in(campaign).study == study["id"]


def test_the_simulator_would_notice_an_unknown_field(prolific: ProlificSimulator):
    campaign = make_hits(is_open=False)
    choose_prolific(campaign)
    provider: Any = provider_for(recruitment_in(campaign))
    body = provider.study_body(landing_url=LANDING, n_places=1)
    for wrong in (body | {"colour": "red"}, body | {"reward": "1.00"}):
        with pytest.raises(ProviderFailed, match="400"):
            provider.api.create_study(wrong)
    del body["name"]
    with pytest.raises(ProviderFailed, match="lacks 'name'"):
        provider.api.create_study(body)
    assert len(prolific.violations) == 3
    prolific.violations.clear()


def test_our_words_for_prolifics_choices_are_all_of_them():
    assert set(REJECTION_CATEGORIES) == shapes.REJECTION_CATEGORY
    assert {status_named(status) for status in shapes.STATUS} == set(Submission.Status)


def test_a_study_is_made_once(prolific: ProlificSimulator):
    campaign = make_prolific_campaign(prolific)
    with pytest.raises(ProviderFailed, match="already"):
        create_study(recruitment=recruitment_in(campaign), landing_url=LANDING, actor=None)
    assert len(prolific.studies) == 1


def test_of_two_made_at_once_one_is_kept_and_the_other_deleted(prolific: ProlificSimulator):
    campaign = make_hits(is_open=False)
    choose_prolific(campaign)
    first, second = recruitment_in(campaign), recruitment_in(campaign)
    create_study(recruitment=first, landing_url=LANDING, actor=None)
    with pytest.raises(ProviderFailed, match="at the same moment"):
        create_study(recruitment=second, landing_url=LANDING, actor=None)
    assert list(prolific.studies) == [recruitment_in(campaign).study]


def test_a_study_whose_pay_changed_while_it_was_made_is_deleted(prolific: ProlificSimulator):
    campaign = make_hits(is_open=False, pay_per_hit="2.50")
    choose_prolific(campaign)
    recruitment = recruitment_in(campaign)
    Campaign.objects.filter(pk=campaign.pk).update(pay_per_hit=Decimal("9.00"))
    with pytest.raises(ProviderFailed, match="changed the pay"):
        create_study(recruitment=recruitment, landing_url=LANDING, actor=None)
    assert prolific.studies == {} and recruitment_in(campaign).study == ""


def test_publishing_twice_publishes_once(prolific: ProlificSimulator):
    campaign = make_prolific_campaign(prolific)
    assert publish_study(recruitment=recruitment_in(campaign), actor=None) == "ACTIVE"
    assert AuditEntry.objects.filter(action="study published").count() == 1


def test_a_study_is_not_published_for_a_campaign_that_is_not_open(prolific: ProlificSimulator):
    campaign = make_hits(is_open=False)
    choose_prolific(campaign)
    create_study(recruitment=recruitment_in(campaign), landing_url=LANDING, actor=None)
    change_status(campaign=campaign, to=Campaign.Status.PAUSED)
    with pytest.raises(ProviderFailed, match="not open"):
        publish_study(recruitment=recruitment_in(campaign), actor=None)
    [study] = prolific.studies.values()
    assert study["status"] == "UNPUBLISHED"


def test_without_a_token_nothing_is_asked(prolific: ProlificSimulator, settings: Any):
    settings.PROLIFIC_API_TOKEN = ""
    campaign = make_hits(is_open=False)
    choose_prolific(campaign)
    with pytest.raises(ProviderFailed, match="DA_PROLIFIC_API_TOKEN"):
        create_study(recruitment=recruitment_in(campaign), landing_url=LANDING, actor=None)
    assert prolific.requests == []


def test_no_token_is_in_the_database(prolific: ProlificSimulator, settings: Any):
    campaign = make_prolific_campaign(prolific)
    stored = str(Recruitment.objects.filter(campaign=campaign).values().get())
    logged = str(list(AuditEntry.objects.values()))
    for secret in (settings.PROLIFIC_API_TOKEN, settings.PROLIFIC_WEBHOOK_SECRET):
        assert secret not in stored + logged


def test_links_have_no_study():
    with pytest.raises(NotOffered):
        create_study(recruitment=recruitment_in(make_hits()), landing_url=LANDING, actor=None)


def test_a_campaign_that_people_came_to_stays_with_its_provider(prolific: ProlificSimulator):
    campaign = make_prolific_campaign(prolific)
    with pytest.raises(RecruitmentRefused, match="stays there"):
        save_recruitment(campaign=campaign, provider="link", values={}, actor=None)


def test_two_campaigns_cannot_have_the_same_study(prolific: ProlificSimulator):
    study = recruitment_in(make_prolific_campaign(prolific)).study
    with pytest.raises(RecruitmentRefused, match="Another campaign"):
        choose_prolific(make_hits(is_open=False), study=study)


# Places --------------------------------------------------------------------------------------


def test_top_up_raises_places_and_they_only_grow(prolific: ProlificSimulator):
    campaign = make_prolific_campaign(prolific, min_ratings=2)
    recruitment = recruitment_in(campaign)
    client, session, assignment = at_work(prolific, campaign)
    hand_in(client, assignment)
    sync_submissions(recruitment=recruitment)
    assert places_wanted(recruitment) == 2
    # The work is discarded, so its place is offered again; the worker keeps Prolific's.
    Participation.objects.update(trust=Participation.Trust.UNRELIABLE)
    settle_places(campaign=campaign, hits=[assignment.hit_id])
    assert raise_places(recruitment=recruitment) == 3
    assert prolific.studies[recruitment.study]["total_available_places"] == 3
    # Reinstated: one place fewer is wanted, and none is taken away.
    Participation.objects.update(trust=Participation.Trust.RELIABLE)
    settle_places(campaign=campaign, hits=[assignment.hit_id])
    assert places_wanted(recruitment) == 2
    assert raise_places(recruitment=recruitment) == 3


def test_places_are_not_raised_beyond_the_money(prolific: ProlificSimulator):
    campaign = make_prolific_campaign(prolific, min_ratings=2, spending_cap=Decimal("5.00"))
    client, _, assignment = at_work(prolific, campaign)
    hand_in(client, assignment)
    sync_submissions(recruitment=recruitment_in(campaign))
    campaign.hits.update(places_left=10)
    assert places_wanted(recruitment_in(campaign)) == 2


def test_bonuses_for_every_hit_leave_money_for_fewer_places(prolific: ProlificSimulator):
    campaign = make_prolific_campaign(prolific, min_ratings=9, spending_cap=Decimal("10.00"))
    assert places_wanted(recruitment_in(campaign)) == 4
    PayRule.objects.create(
        campaign=campaign,
        kind=PayRule.Kind.FLAT,
        amount=Decimal("2.50"),
        reason="Thank you",
        created_by=make_admin(),
    )
    assert places_wanted(recruitment_in(campaign)) == 2


def test_who_has_arrived_without_a_hit_takes_one_of_the_open_places(prolific: ProlificSimulator):
    campaign = make_prolific_campaign(prolific, min_ratings=2)
    send(prolific, prolific.join(recruitment_in(campaign).study))
    assert places_wanted(recruitment_in(campaign)) == 2


def test_arrivals_that_someone_made_up_buy_no_places(prolific: ProlificSimulator):
    campaign = make_prolific_campaign(prolific, min_ratings=2, spending_cap=Decimal("5.00"))
    recruitment = recruitment_in(campaign)
    for number in range(7):
        send(prolific, Session(f"session-{number}", f"person-{number}", recruitment.study))
    assert places_wanted(recruitment) == 2
    # Nor if they take a HIT and leave it.
    client, _ = send(prolific, Session("session-8", "person-8", recruitment.study))
    assignment = begin(client, campaign)
    sync_submissions(recruitment=recruitment)
    release_assignment(assignment=assignment)
    assert places_wanted(recruitment) == 2
    assert raise_places(recruitment=recruitment) == 2


def test_a_visit_takes_up_a_place_once_prolific_has_told_of_it(prolific: ProlificSimulator):
    campaign = make_prolific_campaign(prolific, min_ratings=2)
    _, _, assignment = at_work(prolific, campaign)
    assert places_wanted(recruitment_in(campaign)) == 1
    # That it is active is no news, but a word for it.
    assert sync_submissions(recruitment=recruitment_in(campaign)) == 0
    assert places_wanted(recruitment_in(campaign)) == 2


def test_the_chores_raise_places_and_fetch_news(prolific: ProlificSimulator):
    campaign = make_prolific_campaign(prolific, min_ratings=2)
    _, session, assignment = at_work(prolific, campaign)
    session.status = "RETURNED"
    campaign.hits.update(places_left=5)
    assert do_chores().n_studies == 1
    assignment.refresh_from_db()
    assert assignment.status == Assignment.Status.RETURNED
    n_asked = len(prolific.requests)
    # A minute later nothing is due.
    assert do_chores().n_studies == 0 and len(prolific.requests) == n_asked


def test_prolific_out_of_reach_does_not_stop_the_chores(prolific: ProlificSimulator):
    make_prolific_campaign(prolific)
    prolific.failing = 503
    assert do_chores().n_studies == 0


# Following the campaign ----------------------------------------------------------------------


def status_at(prolific: ProlificSimulator, campaign: Campaign) -> str:
    return str(prolific.studies[recruitment_in(campaign).study]["status"])


@pytest.mark.parametrize("to", ["paused", "closed"])
def test_a_campaign_that_lets_nobody_in_is_not_recruited_for(prolific: ProlificSimulator, to: str):
    campaign = make_prolific_campaign(prolific)
    change_status(campaign=campaign, to=to)
    assert do_chores().n_studies == 1
    assert status_at(prolific, campaign) == "PAUSED"
    n_asked = len(prolific.requests)
    do_chores()
    assert len(prolific.requests) == n_asked
    change_status(campaign=campaign, to="open")
    do_chores()
    assert status_at(prolific, campaign) == "ACTIVE"
    deeds = AuditEntry.objects.filter(action__in=["study paused", "study started"])
    assert [entry.action for entry in deeds.order_by("pk")] == ["study paused", "study started"]


@pytest.mark.django_db(transaction=True)
def test_prolific_is_asked_at_once_and_once(prolific: ProlificSimulator, monkeypatch: Any):
    sent: list[tuple[str, int]] = []
    monkeypatch.setattr("hits.services.enqueue", lambda *message: sent.append(message))
    campaign = make_prolific_campaign(prolific)
    sent.clear()
    change_status(campaign=campaign, to="paused")
    assert sent == [("hits.follow_campaign", campaign.pk)]
    follow_campaign(campaign.pk)
    assert status_at(prolific, campaign) == "PAUSED"
    n_asked = len(prolific.requests)
    follow_campaign(campaign.pk)
    assert len(prolific.requests) == n_asked


def test_a_study_that_someone_paused_there_is_left_so(prolific: ProlificSimulator):
    campaign = make_prolific_campaign(prolific)
    prolific.studies[recruitment_in(campaign).study]["status"] = "PAUSED"
    do_chores()
    assert status_at(prolific, campaign) == "PAUSED"


@pytest.mark.parametrize("status", ["UNPUBLISHED", "AWAITING REVIEW", "COMPLETED"])
def test_a_study_that_sends_nobody_is_not_touched(prolific: ProlificSimulator, status: str):
    campaign = make_prolific_campaign(prolific)
    prolific.studies[recruitment_in(campaign).study]["status"] = status
    for to in ("paused", "open"):
        change_status(campaign=campaign, to=to)
        do_chores()
        assert status_at(prolific, campaign) == status
    assert not recruitment_in(campaign).is_held


def test_a_study_that_is_about_to_run_is_asked_about_again(prolific: ProlificSimulator):
    campaign = make_prolific_campaign(prolific)
    study = prolific.studies[recruitment_in(campaign).study]
    study["status"] = "PUBLISHING"
    change_status(campaign=campaign, to="paused")
    do_chores()
    assert recruitment_in(campaign).sends_in_vain
    study["status"] = "ACTIVE"
    do_chores()
    assert study["status"] == "PAUSED" and not recruitment_in(campaign).sends_in_vain


def test_the_page_warns_while_prolific_cannot_be_reached(prolific: ProlificSimulator):
    campaign = make_prolific_campaign(prolific)
    admin, address = (
        client_of("admin", campaign),
        reverse("campaign_recruiting", args=[campaign.code]),
    )
    assert "may still send people" not in admin.get(address).content.decode()
    change_status(campaign=campaign, to="paused")
    prolific.failing = 503
    do_chores()
    page = admin.get(address).content.decode()
    assert "may still send people" in page
    study = recruitment_in(campaign).study
    assert f'href="{prolific.url}/researcher/workspaces/studies/{study}"' in page
    prolific.failing = None
    do_chores()
    assert "may still send people" not in admin.get(address).content.decode()


# Reports -------------------------------------------------------------------------------------


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
    assert again.status_code == 404 and "gave this task back" in again.content.decode()
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
    monkeypatch.setattr("hits.providers.prolific_api.PAGE_SIZE", 2)
    campaign = make_prolific_campaign(prolific, min_ratings=5)
    for _ in range(5):
        prolific.join(recruitment_in(campaign).study)
    sync_submissions(recruitment=recruitment_in(campaign))
    assert Submission.objects.count() == 5


# Money ---------------------------------------------------------------------------------------


@pytest.fixture
def reviewed(prolific: ProlificSimulator) -> tuple[Any, Submission, Session]:
    """A submission that waits for a decision, and its campaign's provider."""
    campaign = make_prolific_campaign(prolific)
    client, session, assignment = at_work(prolific, campaign)
    hand_in(client, assignment)
    prolific.complete(session, "DONE1")
    sync_submissions(recruitment=recruitment_in(campaign))
    submission = Submission.objects.get()
    assert submission.status == Submission.Status.AWAITING_REVIEW
    return provider_for(recruitment_in(campaign)), submission, session


def test_an_approval_arrives_and_a_second_one_does_no_harm(reviewed: Any):
    provider, submission, session = reviewed
    for _ in range(2):
        provider.approve(submission)
    assert session.status == "APPROVED"
    assert provider.status_of(submission) == Submission.Status.APPROVED


def test_a_rejection_has_a_category_and_a_reason(reviewed: Any):
    provider, submission, session = reviewed
    provider.reject(submission, category="LOW_EFFORT", message=REASON)
    assert session.status == "REJECTED"


@pytest.mark.parametrize(
    ("category", "message"), [("LOW_EFFORT", "Too short."), ("UGLY", REASON), ("", REASON)]
)
def test_a_rejection_that_prolific_would_refuse_is_not_sent(
    reviewed: Any, prolific: ProlificSimulator, category: str, message: str
):
    provider, submission, session = reviewed
    n_asked = len(prolific.requests)
    with pytest.raises(ProviderFailed):
        provider.reject(submission, category=category, message=message)
    assert session.status == "AWAITING REVIEW" and len(prolific.requests) == n_asked


def bonus_for(submission: Submission, amount: str = "1.25") -> Bonus:
    return Bonus("key-1", submission, Decimal(amount), "GBP", "Thank you.")


def test_a_bonus_is_prepared_then_paid_and_can_be_found_after_a_crash(reviewed: Any):
    provider, submission, session = reviewed
    bonus = bonus_for(submission)
    prepared = provider.prepare_bonus(bonus)
    assert session.bonuses == []
    # Here the process may die: nothing was paid, and that can be found out.
    assert not provider.is_bonus_paid(bonus, prepared=prepared)
    provider.pay_bonus(bonus, prepared=prepared)
    # And here: it was paid, and must not be paid again.
    assert provider.is_bonus_paid(bonus, prepared=prepared)
    assert session.bonuses == [125]


def test_a_second_bonus_of_the_same_amount_is_told_from_the_first(reviewed: Any):
    provider, submission, session = reviewed
    bonus = bonus_for(submission)
    provider.pay_bonus(bonus, prepared=provider.prepare_bonus(bonus))
    second = provider.prepare_bonus(bonus)
    assert not provider.is_bonus_paid(bonus, prepared=second)
    provider.pay_bonus(bonus, prepared=second)
    assert provider.is_bonus_paid(bonus, prepared=second)


def test_what_prolific_says_is_wrong_is_passed_on(reviewed: Any, prolific: ProlificSimulator):
    provider, submission, _ = reviewed
    submission.reference = "unknown"
    with pytest.raises(ProviderFailed, match="no such submission"):
        provider.approve(submission)
    prolific.violations.clear()
