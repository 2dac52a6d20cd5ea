"""A campaign's study at Prolific: creating, publishing, adding places, pausing with the campaign."""

from decimal import Decimal
from typing import Any

import pytest
from django.urls import reverse

from hits.campaigns.lifecycle import change_status
from hits.chores import do_chores
from hits.exceptions import NotOffered, ProviderFailed, RecruitmentRefused
from hits.models import Assignment, AuditEntry, Campaign, Participation, Recruitment, Submission
from hits.rating.assignments import release_assignment
from hits.rating.places import settle_places
from hits.recruiting.arrivals import save_recruitment, sync_submissions
from hits.recruiting.providers import provider_for
from hits.recruiting.providers.prolific import REJECTION_CATEGORIES, status_named
from hits.recruiting.studies import create_study, places_wanted, publish_study, raise_places
from hits.tasks import follow_campaign
from tests.factories import make_hits
from tests.paying import add_bonus
from tests.people import client_of
from tests.recruits import (
    CODES,
    at_work,
    begin,
    choose_prolific,
    hand_in,
    make_prolific_campaign,
    recruitment_in,
    send,
)
from tests.simulators import prolific_shapes as shapes
from tests.simulators.prolific import ProlificSimulator, Session

pytestmark = pytest.mark.django_db

LANDING = "https://da.example/work/x/"


@pytest.fixture
def campaign(prolific: ProlificSimulator) -> Campaign:
    """A campaign whose study is published."""
    return make_prolific_campaign(prolific)


def make_campaign_without_study(**settings: Any) -> Campaign:
    campaign = make_hits(is_open=False, pay_per_hit="2.50", min_ratings=3)
    choose_prolific(campaign, **settings)
    return campaign


# The study ------------------------------------------------------------------------------------


def test_a_study_is_created_with_the_fields_that_prolific_expects(prolific):
    campaign = make_campaign_without_study(requires_token=True, project="p1")
    create_study(recruitment=recruitment_in(campaign), landing_url=LANDING, actor=None)
    [study] = prolific.studies.values()
    assert study["status"] == "UNPUBLISHED"
    assert (study["reward"], study["total_available_places"]) == (250, 3)
    assert study["external_study_url"] == (
        f"{LANDING}?PROLIFIC_PID={{{{%PROLIFIC_PID%}}}}"
        "&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"
    )
    assert study["is_external_study_url_secure"] and study["project"] == "p1"
    # People decide about pay: no code pays automatically or says whether the work was good.
    codes = {entry["code"]: entry for entry in study["completion_codes"]}
    assert set(codes) == set(CODES.values())
    assert codes["DONE1"]["actions"] == [{"action": "MANUALLY_REVIEW"}]
    assert "FAILED_ATTENTION_CHECK" not in str(study)
    assert recruitment_in(campaign).study == study["id"]


def test_the_simulator_refuses_wrong_fields(prolific):
    campaign = make_campaign_without_study()
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


def test_all_of_prolifics_categories_and_statuses_are_known():
    assert set(REJECTION_CATEGORIES) == shapes.REJECTION_CATEGORY
    assert {status_named(status) for status in shapes.STATUS} == set(Submission.Status)


def test_a_study_is_created_once(prolific, campaign):
    with pytest.raises(ProviderFailed, match="already"):
        create_study(recruitment=recruitment_in(campaign), landing_url=LANDING, actor=None)
    assert len(prolific.studies) == 1


def test_of_two_studies_created_at_once_one_is_deleted(prolific):
    campaign = make_campaign_without_study()
    first, second = recruitment_in(campaign), recruitment_in(campaign)
    create_study(recruitment=first, landing_url=LANDING, actor=None)
    with pytest.raises(ProviderFailed, match="at the same moment"):
        create_study(recruitment=second, landing_url=LANDING, actor=None)
    assert list(prolific.studies) == [recruitment_in(campaign).study]


def test_a_study_is_deleted_if_the_pay_changed_while_creating_it(prolific):
    campaign = make_campaign_without_study()
    recruitment = recruitment_in(campaign)
    Campaign.objects.filter(pk=campaign.pk).update(pay_per_hit=Decimal("9.00"))
    with pytest.raises(ProviderFailed, match="changed the pay"):
        create_study(recruitment=recruitment, landing_url=LANDING, actor=None)
    assert prolific.studies == {} and recruitment_in(campaign).study == ""


def test_publishing_twice_publishes_once(prolific, campaign):
    assert publish_study(recruitment=recruitment_in(campaign), actor=None) == "ACTIVE"
    assert AuditEntry.objects.filter(action="study published").count() == 1


def test_a_study_is_not_published_for_a_campaign_that_is_not_open(prolific):
    campaign = make_campaign_without_study()
    create_study(recruitment=recruitment_in(campaign), landing_url=LANDING, actor=None)
    change_status(campaign=campaign, to=Campaign.Status.PAUSED)
    with pytest.raises(ProviderFailed, match="not open"):
        publish_study(recruitment=recruitment_in(campaign), actor=None)
    [study] = prolific.studies.values()
    assert study["status"] == "UNPUBLISHED"


def test_without_a_token_nothing_is_sent(prolific, settings):
    settings.PROLIFIC_API_TOKEN = ""
    recruitment = recruitment_in(make_campaign_without_study())
    with pytest.raises(ProviderFailed, match="DA_PROLIFIC_API_TOKEN"):
        create_study(recruitment=recruitment, landing_url=LANDING, actor=None)
    assert prolific.requests == []


def test_no_secret_is_in_the_database(prolific, campaign, settings):
    stored = str(Recruitment.objects.filter(campaign=campaign).values().get())
    logged = str(list(AuditEntry.objects.values()))
    for secret in (settings.PROLIFIC_API_TOKEN, settings.PROLIFIC_WEBHOOK_SECRET):
        assert secret not in stored + logged


def test_a_campaign_with_links_has_no_study():
    with pytest.raises(NotOffered):
        create_study(recruitment=recruitment_in(make_hits()), landing_url=LANDING, actor=None)


def test_a_campaign_with_a_study_stays_with_its_provider(prolific, campaign):
    with pytest.raises(RecruitmentRefused, match="can no longer change"):
        save_recruitment(campaign=campaign, provider="link", values={}, actor=None)


def test_two_campaigns_cannot_have_the_same_study(prolific):
    study = recruitment_in(make_prolific_campaign(prolific)).study
    with pytest.raises(RecruitmentRefused, match="Another campaign"):
        choose_prolific(make_hits(is_open=False), study=study)


# Places ---------------------------------------------------------------------------------------


def test_places_are_added_and_never_removed(prolific):
    campaign = make_prolific_campaign(prolific, min_ratings=2)
    recruitment = recruitment_in(campaign)
    client, session, assignment = at_work(prolific, campaign)
    hand_in(client, assignment)
    sync_submissions(recruitment=recruitment)
    assert places_wanted(recruitment) == 2
    # The work is discarded: its place opens again here, but it still uses a place at Prolific.
    Participation.objects.update(trust=Participation.Trust.UNRELIABLE)
    settle_places(campaign=campaign, hits=[assignment.hit_id])
    assert raise_places(recruitment=recruitment) == 3
    assert prolific.studies[recruitment.study]["total_available_places"] == 3
    # After reinstating, fewer places are needed, but none is removed.
    Participation.objects.update(trust=Participation.Trust.RELIABLE)
    settle_places(campaign=campaign, hits=[assignment.hit_id])
    assert places_wanted(recruitment) == 2
    assert raise_places(recruitment=recruitment) == 3


def test_places_are_not_added_beyond_the_spending_cap(prolific):
    campaign = make_prolific_campaign(prolific, min_ratings=2, spending_cap=Decimal("5.00"))
    client, _, assignment = at_work(prolific, campaign)
    hand_in(client, assignment)
    sync_submissions(recruitment=recruitment_in(campaign))
    campaign.hits.update(places_left=10)
    assert places_wanted(recruitment_in(campaign)) == 2


def test_with_bonuses_the_cap_allows_fewer_places(prolific):
    campaign = make_prolific_campaign(prolific, min_ratings=9, spending_cap=Decimal("10.00"))
    assert places_wanted(recruitment_in(campaign)) == 4
    add_bonus(campaign, "2.50")
    assert places_wanted(recruitment_in(campaign)) == 2


def test_an_arrival_without_a_hit_does_not_add_a_place(prolific):
    campaign = make_prolific_campaign(prolific, min_ratings=2)
    send(prolific, prolific.join(recruitment_in(campaign).study))
    assert places_wanted(recruitment_in(campaign)) == 2


def test_forged_arrivals_do_not_add_places(prolific):
    campaign = make_prolific_campaign(prolific, min_ratings=2, spending_cap=Decimal("5.00"))
    recruitment = recruitment_in(campaign)
    for number in range(7):
        send(prolific, Session(f"session-{number}", f"person-{number}", recruitment.study))
    assert places_wanted(recruitment) == 2
    # Nor does a forged arrival that takes a HIT and abandons it.
    client, _ = send(prolific, Session("session-8", "person-8", recruitment.study))
    assignment = begin(client, campaign)
    sync_submissions(recruitment=recruitment)
    release_assignment(assignment=assignment)
    assert places_wanted(recruitment) == 2
    assert raise_places(recruitment=recruitment) == 2


def test_a_visit_uses_a_place_once_prolific_reports_it(prolific):
    campaign = make_prolific_campaign(prolific, min_ratings=2)
    _, _, assignment = at_work(prolific, campaign)
    assert places_wanted(recruitment_in(campaign)) == 1
    # The status is still active, but now it is confirmed.
    assert sync_submissions(recruitment=recruitment_in(campaign)) == 0
    assert places_wanted(recruitment_in(campaign)) == 2


def test_the_chores_add_places_and_sync_submissions(prolific):
    campaign = make_prolific_campaign(prolific, min_ratings=2)
    _, session, assignment = at_work(prolific, campaign)
    session.status = "RETURNED"
    campaign.hits.update(places_left=5)
    assert do_chores().n_studies == 1
    assignment.refresh_from_db()
    assert assignment.status == Assignment.Status.RETURNED
    n_requests = len(prolific.requests)
    assert do_chores().n_studies == 0 and len(prolific.requests) == n_requests


def test_an_unreachable_prolific_does_not_stop_the_chores(prolific):
    make_prolific_campaign(prolific)
    prolific.failing = 503
    assert do_chores().n_studies == 0


# Following the campaign -----------------------------------------------------------------------


def status_at(prolific: ProlificSimulator, campaign: Campaign) -> str:
    return str(prolific.studies[recruitment_in(campaign).study]["status"])


@pytest.mark.parametrize("to", ["paused", "closed"])
def test_the_study_is_paused_while_the_campaign_is_not_open(prolific, campaign, to):
    change_status(campaign=campaign, to=to)
    assert do_chores().n_studies == 1
    assert status_at(prolific, campaign) == "PAUSED"
    n_requests = len(prolific.requests)
    do_chores()
    assert len(prolific.requests) == n_requests
    change_status(campaign=campaign, to="open")
    do_chores()
    assert status_at(prolific, campaign) == "ACTIVE"
    entries = AuditEntry.objects.filter(action__in=["study paused", "study started"])
    assert [entry.action for entry in entries.order_by("pk")] == ["study paused", "study started"]


@pytest.mark.django_db(transaction=True)
def test_the_study_is_paused_at_once_and_only_once(prolific, monkeypatch):
    sent: list[tuple[str, int]] = []
    monkeypatch.setattr("hits.campaigns.lifecycle.enqueue", lambda *message: sent.append(message))
    campaign = make_prolific_campaign(prolific)
    sent.clear()
    change_status(campaign=campaign, to="paused")
    assert sent == [("hits.follow_campaign", campaign.pk)]
    follow_campaign(campaign.pk)
    assert status_at(prolific, campaign) == "PAUSED"
    n_requests = len(prolific.requests)
    follow_campaign(campaign.pk)
    assert len(prolific.requests) == n_requests


def test_a_study_paused_at_prolific_stays_paused(prolific, campaign):
    prolific.studies[recruitment_in(campaign).study]["status"] = "PAUSED"
    do_chores()
    assert status_at(prolific, campaign) == "PAUSED"


@pytest.mark.parametrize("status", ["UNPUBLISHED", "AWAITING REVIEW", "COMPLETED"])
def test_a_study_that_is_not_running_is_left_alone(prolific, campaign, status):
    prolific.studies[recruitment_in(campaign).study]["status"] = status
    for to in ("paused", "open"):
        change_status(campaign=campaign, to=to)
        do_chores()
        assert status_at(prolific, campaign) == status
    assert not recruitment_in(campaign).is_held


def test_a_study_that_is_being_published_is_checked_again(prolific, campaign):
    study = prolific.studies[recruitment_in(campaign).study]
    study["status"] = "PUBLISHING"
    change_status(campaign=campaign, to="paused")
    do_chores()
    assert recruitment_in(campaign).sends_in_vain
    study["status"] = "ACTIVE"
    do_chores()
    assert study["status"] == "PAUSED" and not recruitment_in(campaign).sends_in_vain


def test_the_page_warns_while_prolific_cannot_be_reached(prolific, campaign):
    admin = client_of("admin", campaign)
    address = reverse("campaign_recruiting", args=[campaign.code])
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
