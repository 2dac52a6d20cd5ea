"""The page where admins choose how workers join a campaign."""

import csv
import io
import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from da_platform.jobs.models import Job
from hits.models import AuditEntry, Campaign, DeviceSighting, Invite, Recruitment, Submission
from tests.factories import log_lines, make_hits, make_worker
from tests.people import client_of
from tests.recruits import CODES, choose_panel, make_prolific_campaign
from tests.simulators.prolific import ProlificSimulator

pytestmark = pytest.mark.django_db

PROLIFIC = {"provider": "prolific", "title": "Rate", "description": "Rate texts.", "minutes": "20"}
PROLIFIC |= CODES
LINKS = {"kind": "personal", "n": "3", "days": "7", "label": "pilot"}


@pytest.fixture
def campaign() -> Campaign:
    return make_hits(is_open=False)


@pytest.fixture
def admin(campaign: Campaign) -> Client:
    return client_of("admin", campaign)


def url(name: str, campaign: Campaign) -> str:
    return reverse(name, args=[campaign.code])


def page_of(admin: Client, campaign: Campaign, **query: str) -> str:
    return admin.get(url("campaign_recruiting", campaign), query).content.decode()


def test_the_page_of_a_new_campaign_says_that_nobody_can_join(admin: Client, campaign: Campaign):
    assert "Nobody can join yet" in page_of(admin, campaign)


def test_the_open_link_can_be_turned_on_and_off(admin: Client, campaign: Campaign):
    settings = {"provider": "link", "is_open": "on"}
    assert admin.post(url("recruiting_settings", campaign), settings).status_code == 302
    assert "open to anyone" in page_of(admin, campaign)
    assert Client().post(campaign.get_absolute_url()).status_code == 302
    admin.post(url("recruiting_settings", campaign), {"provider": "link"})
    assert "Only people with an invite link" in page_of(admin, campaign)
    assert not Recruitment.objects.get().is_open
    assert AuditEntry.objects.filter(action="recruiting changed").count() == 2


@pytest.mark.parametrize(
    ("provider", "label"),
    [("prolific", "Signed launches only"), ("panel", "Name of the panel"), ("link", "Open link")],
)
def test_each_provider_has_its_settings(
    admin: Client, campaign: Campaign, provider: str, label: str
):
    page = page_of(admin, campaign, provider=provider)
    assert label in page
    assert f'<input type="hidden" name="provider" value="{provider}">' in page


def test_an_unknown_provider_is_not_offered(admin: Client, campaign: Campaign):
    assert "Open link" in page_of(admin, campaign, provider="os.system")
    admin.post(url("recruiting_settings", campaign), {"provider": "os.system"})
    assert Recruitment.objects.get().provider == "link"


def test_invalid_settings_are_refused_with_the_problem(admin: Client, campaign: Campaign):
    answer = admin.post(url("recruiting_settings", campaign), PROLIFIC | {"minutes": "0"})
    assert answer.status_code == 422
    assert "greater than or equal to 1" in answer.content.decode()
    same = PROLIFIC | {"no_consent_code": PROLIFIC["completed_code"]}
    assert admin.post(url("recruiting_settings", campaign), same).status_code == 422
    assert not Recruitment.objects.exists()


# Links ---------------------------------------------------------------------------------------


def test_links_are_shown_once_and_work(admin: Client, campaign: Campaign):
    page = admin.post(url("make_links", campaign), LINKS).content.decode()
    links = re.findall(r"http://testserver(/join/[\w-]+/)", page)
    assert len(links) == 3 and "pilot 1" in page
    assert Client().get(links[0]).status_code == 302
    assert "/join/" not in page_of(admin, campaign)


def test_links_can_be_downloaded_as_a_file(admin: Client, campaign: Campaign):
    form = LINKS | {"as_file": "yes", "label": "=1+1"}
    answer = admin.post(url("make_links", campaign), form)
    assert answer["Content-Disposition"].startswith("attachment")
    [header, *rows] = csv.reader(io.StringIO(answer.content.decode()))
    assert header == ["label", "link", "expires_at"]
    assert [row[0] for row in rows] == ["'=1+1 1", "'=1+1 2", "'=1+1 3"]
    path = rows[0][1].removeprefix("http://testserver")
    assert Client().get(path).status_code == 302


@pytest.mark.parametrize(
    "change",
    [
        *[{"n": "0"}, {"n": "5001"}, {"days": "0"}, {"kind": "x"}],
        {"kind": "shared", "n": "1", "max_uses": 2**31},
    ],
)
def test_invalid_values_for_links_are_refused(admin: Client, campaign: Campaign, change: Any):
    assert admin.post(url("make_links", campaign), LINKS | change).status_code == 422
    assert not Invite.objects.exists()


def test_a_shared_link_can_have_as_many_uses_as_the_database_can_count(
    admin: Client, campaign: Campaign
):
    form = LINKS | {"kind": "shared", "n": "1", "max_uses": 2**31 - 1}
    assert admin.post(url("make_links", campaign), form).status_code == 200


def test_selected_links_or_all_links_can_be_revoked(admin: Client, campaign: Campaign):
    admin.post(url("make_links", campaign), LINKS)
    first = Invite.objects.order_by("pk")[0]
    admin.post(url("revoke_links", campaign), {"invite": [first.pk, "x", "9" * 400, "9" * 5_000]})
    assert Invite.objects.usable().count() == 2
    assert "revoked" in page_of(admin, campaign)
    admin.post(url("revoke_links", campaign), {"all": "yes"})
    assert Invite.objects.usable().count() == 0


def test_a_label_is_shown_as_text(admin: Client, campaign: Campaign):
    admin.post(url("make_links", campaign), LINKS | {"label": "<b>x</b>", "n": "1"})
    page = page_of(admin, campaign)
    assert "&lt;b&gt;x" in page and "<b>x" not in page


# The study -----------------------------------------------------------------------------------


def test_a_study_is_created_and_published_from_the_page(
    prolific: ProlificSimulator, admin: Client, campaign: Campaign
):
    admin.post(url("recruiting_settings", campaign), PROLIFIC)
    assert "no study yet" in page_of(admin, campaign)
    admin.post(url("change_study", campaign), {"action": "create"})
    [study] = prolific.studies.values()
    landing = f"http://testserver{campaign.get_absolute_url()}"
    assert study["external_study_url"].startswith(f"{landing}?")
    assert study["id"] in page_of(admin, campaign)
    admin.post(url("change_study", campaign), {"action": "publish"})
    assert prolific.studies[study["id"]]["status"] == "ACTIVE"
    actors = set(log_lines().values_list("actor__username", flat=True))
    assert actors == {"admin0"}


def test_the_page_shows_prolifics_error(
    prolific: ProlificSimulator, admin: Client, campaign: Campaign
):
    admin.post(url("recruiting_settings", campaign), PROLIFIC)
    prolific.failing = 503
    answer = admin.post(url("change_study", campaign), {"action": "create"}, follow=True)
    assert "Prolific failed (503)" in answer.content.decode()


def test_codes_cannot_be_changed_once_there_is_a_study(prolific: ProlificSimulator):
    campaign = make_prolific_campaign(prolific)
    admin = client_of("admin", campaign)
    changed = PROLIFIC | {"completed_code": "OTHER", "study": "other", "title": "New"}
    assert admin.post(url("recruiting_settings", campaign), changed).status_code == 302
    recruitment = Recruitment.objects.get()
    assert recruitment.settings["completed_code"] == CODES["completed_code"]
    assert recruitment.settings["title"] == "New"
    assert recruitment.study in prolific.studies


@pytest.mark.parametrize("kind", ["sync_submissions", "raise_places"])
def test_syncing_and_adding_places_are_jobs(prolific: ProlificSimulator, kind: str):
    campaign = make_prolific_campaign(prolific)
    answer = client_of("admin", campaign).post(url("change_study", campaign), {"action": kind})
    job = Job.objects.get()
    assert job.kind == kind and answer.url == reverse("job", args=[job.code])


# Arrivals ------------------------------------------------------------------------------------


def test_submissions_and_shared_devices_are_shown_to_admins(admin: Client, campaign: Campaign):
    choose_panel(campaign)
    recruitment = Recruitment.objects.get()
    for name in ("alice", "bob"):
        worker = make_worker(name)
        Submission.objects.create(recruitment=recruitment, worker=worker, reference=f"v-{name}")
        DeviceSighting.objects.create(campaign=campaign, worker=worker, kind="cookie", mark="m")
    page = page_of(admin, campaign)
    assert "v-alice" in page and "link:bob" in page and "Same browser" in page


def test_researchers_do_not_see_the_page(campaign: Campaign):
    answer = client_of("researcher", campaign).get(url("campaign_recruiting", campaign))
    assert answer.status_code == 403


def test_a_tab_leads_to_the_page(admin: Client, campaign: Campaign):
    page = admin.get(url("campaign_overview", campaign)).content.decode()
    assert url("campaign_recruiting", campaign) in page


def test_settings_of_mechanical_turk_can_be_saved_again_and_the_page_shows_its_address(
    admin: Client, campaign: Campaign
):
    settings = {"provider": "mturk", "hit_ids": "3ABC\r\n3DEF"}
    for _ in range(2):
        admin.post(url("recruiting_settings", campaign), settings)
        page = page_of(admin, campaign)
        assert re.search(r"<textarea[^>]*>\s*3ABC\n3DEF</textarea>", page)
        form = admin.get(url("campaign_recruiting", campaign)).context["settings_form"]
        settings["hit_ids"] = form["hit_ids"].value()
    assert Recruitment.objects.get().settings == {"hit_ids": ["3ABC", "3DEF"]}
    assert f"http://testserver{url('external_question', campaign)}" in page
