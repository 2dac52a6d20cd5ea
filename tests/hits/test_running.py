"""Opening, pausing, changing and copying campaigns: who may do it, and what the log records."""

from decimal import Decimal
from io import StringIO

import pytest
from django.core.exceptions import ValidationError
from django.core.management import call_command
from django.urls import reverse

from da_platform.jobs.models import Job
from hits.campaigns.building import build_hits
from hits.campaigns.editing import FREE, duplicate_campaign, edit_campaign, editable_fields
from hits.exceptions import CannotBuildHITs, EditRefused
from hits.models import HIT, AuditEntry, Campaign, Item, Membership, Recruitment
from hits.rating.assignments import take_assignment
from hits.rating.joining import take_part
from hits.views import campaign_actions
from tests.factories import log_lines, make_campaign, make_hits, make_translations, make_worker
from tests.people import client_of, make_person
from tests.recruits import make_prolific_campaign

pytestmark = pytest.mark.django_db


def make_draft(**fields) -> Campaign:
    campaign = make_campaign(**fields)
    make_translations(campaign, n_segments=28)
    return campaign


def take_a_hit(campaign: Campaign) -> None:
    alice = make_worker()
    take_part(campaign=campaign, worker=alice)
    assert take_assignment(campaign=campaign, worker=alice)


def post(client, view: str, campaign: Campaign, **data):
    answer = client.post(reverse(view, args=[campaign.code]), data, follow=True)
    campaign.refresh_from_db()
    return " ".join(answer.content.decode().split())


def test_a_draft_is_built_opened_paused_and_closed_by_buttons():
    campaign, client = make_draft(), client_of("admin")
    page = post(client, "change_campaign_status", campaign, to="open")
    assert "Build them before you open it" in page
    assert "Built 2 HITs of 40 items" in post(client, "build_campaign", campaign)
    for to, word in [("open", "opened"), ("paused", "paused"), ("closed", "closed")]:
        assert f"The campaign is {word}." in post(client, "change_campaign_status", campaign, to=to)
        assert campaign.status == to
    actions = list(AuditEntry.objects.order_by("pk").values_list("action", flat=True))
    assert actions == ["HITs built", "campaign opened", "campaign paused", "campaign closed"]
    assert set(AuditEntry.objects.values_list("actor__username", flat=True)) != {None}


def test_commands_are_logged_without_an_actor():
    campaign = make_draft()
    call_command("build_hits", campaign.name, open=True, stdout=StringIO())
    call_command("build_hits", make_draft().name, stdout=StringIO())
    first, second, third = AuditEntry.objects.order_by("pk")
    for entry, action in ((first, "HITs built"), (second, "campaign opened")):
        assert (entry.action, entry.actor, entry.campaign) == (action, None, campaign)
    assert first.details == {"n_hits": 2, "is_rebuild": False}
    assert second.details == {"before": "draft", "after": "open"}
    assert third.action == "HITs built" and third.campaign != campaign


def test_a_refused_build_is_not_logged():
    campaign = make_hits()
    n_before = AuditEntry.objects.count()
    with pytest.raises(CannotBuildHITs):
        build_hits(campaign=campaign)
    assert AuditEntry.objects.count() == n_before


def test_an_unknown_status_is_refused():
    campaign = make_hits()
    page = post(client_of("admin"), "change_campaign_status", campaign, to="burnt")
    assert "can be opened, paused or closed" in page
    assert campaign.status == "open" and not log_lines().exists()


def test_many_translations_are_built_by_a_job(monkeypatch):
    monkeypatch.setattr(campaign_actions, "BUILT_AT_ONCE", 5)
    campaign = make_draft()
    assert "Build HITs" in post(client_of("admin"), "build_campaign", campaign, rebuild="1")
    assert Job.objects.get().arguments == {"rebuild": True}


def test_hits_are_not_built_again_unless_asked():
    campaign, client = make_draft(), client_of("admin")
    post(client, "build_campaign", campaign)
    assert "already has HITs" in post(client, "build_campaign", campaign)
    assert "Built" in post(client, "build_campaign", campaign, rebuild="1")


# Settings ------------------------------------------------------------------------------------


def test_a_change_is_stored_and_logged_with_the_old_value():
    campaign, admin = make_hits(pay_per_hit=1), make_person("admin")
    changes = {"pay_per_hit": Decimal("2.50"), "min_ratings": 15}
    assert edit_campaign(campaign=campaign, actor=admin, changes=changes) == ["pay_per_hit"]
    entry = log_lines().get()
    assert entry.actor == admin
    assert entry.details["before"] == {"pay_per_hit": "1.00"}
    assert entry.details["after"] == {"pay_per_hit": "2.50"}


def test_more_ratings_open_more_places():
    campaign = make_hits(min_ratings=1)
    take_a_hit(campaign)
    assert HIT.objects.get().places_left == 0
    edit_campaign(campaign=campaign, actor=None, changes={"min_ratings": 3})
    assert HIT.objects.get().places_left == 2


def test_once_a_hit_is_taken_its_pay_and_contents_cannot_change():
    campaign = make_hits(pay_per_hit=1)
    assert "pay_per_hit" in editable_fields(campaign)
    take_a_hit(campaign)
    assert editable_fields(campaign) == FREE
    for changes in ({"pay_per_hit": Decimal(2)}, {"seed": 8}, {"task": "fluency"}):
        with pytest.raises(EditRefused, match="can no longer be changed"):
            edit_campaign(campaign=campaign, actor=None, changes=changes)
    assert not log_lines().exists()


@pytest.mark.parametrize("status", ["draft", "open"])
def test_once_there_is_a_study_its_pay_cannot_change(prolific, status):
    campaign = make_prolific_campaign(prolific)
    Campaign.objects.filter(pk=campaign.pk).update(status=status)
    campaign.refresh_from_db()
    assert "pay_per_hit" not in editable_fields(campaign)
    for changes in ({"pay_per_hit": Decimal(9)}, {"currency": "EUR"}):
        with pytest.raises(EditRefused, match="the pay of the study is fixed"):
            edit_campaign(campaign=campaign, actor=None, changes=changes)
    assert edit_campaign(campaign=campaign, actor=None, changes={"spending_cap": Decimal(9)})
    page = client_of("admin").get(reverse("campaign_settings", args=[campaign.code]))
    assert "Can no longer be changed: the pay of the study is fixed." in page.content.decode()


def test_the_pay_of_a_study_made_at_prolific_can_change_until_places_are_added():
    campaign = make_hits(pay_per_hit=1)
    Recruitment.objects.update(provider="prolific", study="abc")
    edit_campaign(campaign=campaign, actor=None, changes={"pay_per_hit": Decimal(2)})
    Recruitment.objects.update(n_places=1)
    with pytest.raises(EditRefused, match="the pay of the study is fixed"):
        edit_campaign(campaign=campaign, actor=None, changes={"pay_per_hit": Decimal(3)})


def test_changing_the_seed_removes_the_hits():
    campaign = make_draft()
    build_hits(campaign=campaign)
    edit_campaign(campaign=campaign, actor=None, changes={"seed": 8})
    assert not campaign.hits.exists()


@pytest.mark.parametrize("minutes", [0, 43_201, 2_000_000_000])
def test_an_invalid_value_is_refused(minutes):
    campaign = make_draft()
    with pytest.raises(ValidationError):
        edit_campaign(campaign=campaign, actor=None, changes={"lease_minutes": minutes})
    assert Campaign.objects.get().lease_minutes == 180 and not log_lines().exists()


def settings_of(campaign: Campaign, **changes) -> dict[str, object]:
    names = ("name", "min_ratings", "lease_minutes", "pay_per_hit", "currency", "hit_size", "seed")
    names += ("degradation", "trust_rule", "drift", "max_hits_per_worker")
    return {name: getattr(campaign, name) for name in names} | changes


def test_the_settings_page_saves_valid_values_only():
    campaign, client = make_hits(), client_of("admin")
    page = post(client, "campaign_settings", campaign, **settings_of(campaign, spending_cap="20"))
    assert "Saved." in page
    assert campaign.spending_cap == 20
    page = post(client, "campaign_settings", campaign, **settings_of(campaign, min_ratings=0))
    assert "greater than or equal to 1" in page
    take_a_hit(campaign)
    post(client, "campaign_settings", campaign, **settings_of(campaign, pay_per_hit=9, name="New"))
    assert (campaign.pay_per_hit, campaign.name) == (0, "New")


# Instructions --------------------------------------------------------------------------------


def test_instructions_can_be_previewed_before_they_are_stored():
    campaign, client = make_hits(), client_of("admin")
    text = "Read\n\n- twice\n- <script>alert(1)</script>"
    page = post(client, "campaign_instructions", campaign, instructions=text, preview="1")
    assert "<ul><li>twice</li><li>&lt;script&gt;" in page and campaign.instructions == ""
    page = post(client, "campaign_instructions", campaign, instructions=text)
    assert campaign.instructions == text and "<script>alert" not in page
    assert log_lines().get().action == "settings changed"


def test_instructions_with_hidden_controls_are_refused():
    campaign = make_hits()
    page = post(client_of("admin"), "campaign_instructions", campaign, instructions="a\n\u202eb")
    assert "Line 2" in page and campaign.instructions == ""


# Copies --------------------------------------------------------------------------------------


def texts(campaign: Campaign) -> list[tuple]:
    rows = campaign.segments.values_list(
        "position", "source", "reference", "outputs__system__name", "outputs__translation__text"
    )
    return sorted(rows)


def test_a_copy_has_the_same_texts_and_another_seed():
    campaign = make_hits(n_segments=28, pay_per_hit=2, instructions="Read.")
    copy = duplicate_campaign(campaign=campaign, name="Again", actor=make_person("admin"))
    assert texts(copy) == texts(campaign) and len(texts(copy)) == 56
    assert (copy.status, copy.pay_per_hit, copy.instructions) == ("draft", 2, "Read.")
    assert copy.seed != campaign.seed and not copy.hits.exists()


def test_with_the_same_seed_a_copy_has_the_same_hits():
    campaign = make_hits(n_segments=28)
    copy = duplicate_campaign(campaign=campaign, name="Again", actor=make_person("admin"))
    copy.seed = campaign.seed
    copy.save()
    build_hits(campaign=copy)

    def item_rows(campaign: Campaign) -> list[tuple]:
        items = Item.objects.filter(hit__campaign=campaign).order_by("hit__number", "position")
        return list(items.values_list("hit__number", "position", "role", "text"))

    assert item_rows(copy) == item_rows(campaign)


def test_an_admin_of_one_campaign_is_admin_of_its_copy():
    campaign = make_hits()
    admin = make_person("admin", campaign)
    copy = duplicate_campaign(campaign=campaign, name="Again", actor=admin)
    memberships = Membership.objects.filter(user=admin, level="admin")
    assert set(memberships.values_list("campaign", flat=True)) == {campaign.pk, copy.pk}


def test_a_copy_needs_a_new_name():
    campaign, client = make_hits(), client_of("admin")
    assert "This is a copy of" in post(client, "duplicate_campaign", campaign, name="Again")
    assert "was not copied" in post(client, "duplicate_campaign", campaign, name="Again")
    assert Campaign.objects.count() == 2


def test_an_archive_is_neither_copied_nor_changed():
    campaign = make_campaign(is_archive=True, status="closed")
    with pytest.raises(EditRefused):
        duplicate_campaign(campaign=campaign, name="Again", actor=make_person("admin"))
    assert editable_fields(campaign) == ("name",)


# Permissions ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    ["campaign_settings", "campaign_instructions", "campaign_cost"]
    + ["preview", "preview_landing", "preview_instructions"],
)
def test_researchers_do_not_see_the_pages_of_admins(name):
    campaign = make_hits()
    url = reverse(name, args=[campaign.code])
    assert client_of("researcher").get(url).status_code == 403
    assert client_of("admin", campaign).get(url, follow=True).status_code == 200


def test_only_admins_see_the_buttons():
    campaign = make_hits()
    url = reverse("campaign_overview", args=[campaign.code])
    button = reverse("change_campaign_status", args=[campaign.code])
    assert button in client_of("admin", campaign).get(url).content.decode()
    assert button not in client_of("researcher", campaign).get(url).content.decode()
