"""Our study at Prolific: made, published, topped up, and held with its campaign."""

from decimal import Decimal
from typing import Any

import pytest
from django.urls import reverse

from hits.campaigns.lifecycle import change_status
from hits.chores import do_chores
from hits.exceptions import NotOffered, ProviderFailed, RecruitmentRefused
from hits.models import (
    Assignment,
    AuditEntry,
    Campaign,
    Participation,
    PayRule,
    Recruitment,
    Submission,
)
from hits.rating.assignments import release_assignment
from hits.rating.places import settle_places
from hits.recruiting.arrivals import save_recruitment, sync_submissions
from hits.recruiting.providers import provider_for
from hits.recruiting.providers.prolific import REJECTION_CATEGORIES, status_named
from hits.recruiting.studies import create_study, places_wanted, publish_study, raise_places
from hits.tasks import follow_campaign
from tests.factories import make_hits
from tests.paying import make_admin
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


# The study ------------------------------------------------------------------------------------


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
    with pytest.raises(RecruitmentRefused, match="can no longer change"):
        save_recruitment(campaign=campaign, provider="link", values={}, actor=None)


def test_two_campaigns_cannot_have_the_same_study(prolific: ProlificSimulator):
    study = recruitment_in(make_prolific_campaign(prolific)).study
    with pytest.raises(RecruitmentRefused, match="Another campaign"):
        choose_prolific(make_hits(is_open=False), study=study)


# Places ---------------------------------------------------------------------------------------


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


# Following the campaign -----------------------------------------------------------------------


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
    monkeypatch.setattr("hits.campaigns.lifecycle.enqueue", lambda *message: sent.append(message))
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
