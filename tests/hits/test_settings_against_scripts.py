"""The settings against scripts: on the pages, in the command, when edited and copied."""

import io
from pathlib import Path

import pytest
from django.conf import settings as django_settings
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client, override_settings
from django.urls import reverse

from hits.campaigns.building import build_hits
from hits.campaigns.editing import COPIED, duplicate_campaign, edit_campaign, editable_fields
from hits.campaigns.forms import EditForm, SettingsForm
from hits.exceptions import EditRefused
from hits.models import Campaign, CampaignDraft
from hits.rating.assignments import take_assignment
from tests.factories import make_campaign, make_hits, make_translations, make_worker
from tests.people import client_of, make_person

pytestmark = pytest.mark.django_db

EXAMPLE = Path(django_settings.BASE_DIR) / "examples" / "demo-de-en" / "campaign"
DEFAULTS = {
    "degradation": "balanced",
    "shows_gray_references": False,
    "trust_rule": "guarded",
    "drift": "count",
    "max_hits_per_worker": 10,
    "records_signals": True,
    "has_canary": False,
}
OTHERS = {
    "degradation": "published",
    "shows_gray_references": True,
    "trust_rule": "published",
    "drift": "since",
    "max_hits_per_worker": None,
    "records_signals": False,
    "has_canary": True,
}
BASICS = {"name": "News", "source_language": "de", "target_language": "en", "task": "reference"}
PAY = {"hit_size": "40", "min_ratings": "3", "pay_per_hit": "1", "currency": "EUR"}
PAY |= {"lease_minutes": "60", "seed": "", "spending_cap": ""}


def chosen(campaign: Campaign) -> dict[str, object]:
    return {name: getattr(campaign, name) for name in DEFAULTS}


def as_sent(values: dict[str, object]) -> dict[str, object]:
    """Return what a browser sends: no unchecked boxes, and nothing in an empty field."""
    return {
        name: "" if value is None else "on" if value is True else value
        for name, value in values.items()
        if value is not False
    }


def test_a_new_campaign_has_the_defaults():
    campaign = Campaign.objects.create(name="News", source_language="de", target_language="en")
    assert chosen(campaign) == DEFAULTS


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("degradation", "random"),
        ("trust_rule", ""),
        ("drift", "never"),
        ("max_hits_per_worker", 0),
    ],
)
def test_other_values_are_refused(name, value):
    with pytest.raises(ValidationError):
        edit_campaign(campaign=make_campaign(), actor=None, changes={name: value})


# A new campaign ------------------------------------------------------------------------------


@pytest.fixture
def uploads(tmp_path):
    with override_settings(UPLOADS_DIR=tmp_path / "uploads"):
        yield


def example_file(name: str) -> SimpleUploadedFile:
    return SimpleUploadedFile(Path(name).name, (EXAMPLE / name).read_bytes())


def example_files() -> dict[str, object]:
    names = sorted(path.name for path in (EXAMPLE / "systems").iterdir())
    systems = [example_file(f"systems/{name}") for name in names]
    return {"systems": systems, "references": example_file("references.txt")}


def step(name: str) -> str:
    return reverse(f"draft_{name}", args=[CampaignDraft.objects.get().code])


def up_to_settings(client: Client, **files: object) -> None:
    client.post(reverse("new_campaign"), BASICS)
    assert client.post(step("files"), example_files() | files).url == step("settings")


def test_the_settings_step_explains_the_choices_and_starts_with_the_defaults(uploads):
    client = client_of("admin")
    up_to_settings(client)
    page = client.get(step("settings")).content.decode()
    assert "Balanced: a script that compares texts cannot spot them" in page
    assert "Guarded: pairs and agreement decide, for or against" in page
    form = client.get(step("settings")).context["form"]
    assert {name: form[name].value() for name in DEFAULTS} == DEFAULTS
    # Fields come first, then all checkboxes.
    positions = [page.index(f'name="{name}"') for name in form.fields]
    checkboxes = [form[name].widget_type == "checkbox" for name in form.fields]
    in_order = [is_box for _, is_box in sorted(zip(positions, checkboxes, strict=True))]
    assert in_order == sorted(in_order)


@pytest.mark.parametrize("values", [DEFAULTS, OTHERS], ids=["defaults", "others"])
def test_the_choices_are_shown_before_the_import_and_stored_by_it(uploads, values):
    client = client_of("admin")
    up_to_settings(client)
    assert client.post(step("settings"), PAY | as_sent(values)).url == step("check")
    page = client.get(step("check")).content.decode()
    limit = "no limit" if values["max_hits_per_worker"] is None else "10"
    assert f"<dt>HITs per worker, at most</dt><dd>{limit}</dd>" in page
    assert Campaign(**values).get_trust_rule_display() in page
    assert Campaign(**values).get_drift_display() in page
    recorded = "yes" if values["records_signals"] else "no"
    assert f"<dt>Record signs of scripts</dt><dd>{recorded}</dd>" in page
    form = client.get(step("settings")).context["form"]
    assert {name: form[name].value() for name in values} == values
    client.post(step("check"))
    assert chosen(Campaign.objects.get()) == values


def test_second_references_are_uploaded_and_named_before_the_import(uploads):
    client = client_of("admin")
    up_to_settings(client, second_references=example_file("sources.txt"))
    client.post(step("settings"), PAY | as_sent(DEFAULTS))
    page = client.get(step("check")).content.decode()
    assert "with <strong>second references</strong>" in page
    client.post(step("check"))
    segment = Campaign.objects.get().segments.get(position=1)
    assert segment.second_reference == (EXAMPLE / "sources.txt").read_text().splitlines()[0]


def test_problems_of_second_references_are_shown_by_file_and_line(uploads):
    client = client_of("admin")
    client.post(reverse("new_campaign"), BASICS)
    lines = ["Another."] * 83 + [""]
    file = SimpleUploadedFile("any.txt", "".join(f"{line}\n" for line in lines).encode())
    page = client.post(step("files"), example_files() | {"second_references": file})
    assert page.status_code == 422
    text = page.content.decode()
    assert "second_references.txt" in text and "the second reference is empty" in text


def test_a_blank_limit_is_no_limit_and_a_blank_seed_is_random():
    form = SettingsForm(PAY | as_sent(OTHERS))
    assert form.is_valid(), form.errors
    assert form.cleaned_data["max_hits_per_worker"] is None
    assert not SettingsForm(PAY | as_sent(OTHERS) | {"max_hits_per_worker": "0"}).is_valid()


# The command ---------------------------------------------------------------------------------


def run_import(*options: str) -> Campaign:
    arguments = ["--name", "News", "--from", "de", "--to", "en", *options]
    call_command("import_campaign", str(EXAMPLE), *arguments, stdout=io.StringIO())
    return Campaign.objects.get()


def test_the_command_leaves_settings_at_their_defaults():
    assert chosen(run_import()) == DEFAULTS


def test_the_command_has_an_option_for_each_setting():
    campaign = run_import(
        *["--degradation", "published", "--gray-references", "--trust-rule", "published"],
        *["--drift", "since", "--max-hits-per-worker", "none", "--no-signals", "--canary"],
    )
    assert chosen(campaign) == OTHERS


def test_the_command_sets_a_limit_of_hits_per_worker():
    assert run_import("--max-hits-per-worker", "3").max_hits_per_worker == 3


@pytest.mark.parametrize("limit", ["0", "-1", "many", ""])
def test_the_command_refuses_an_impossible_limit(limit):
    with pytest.raises(CommandError):
        run_import("--max-hits-per-worker", limit)
    assert not Campaign.objects.exists()


# Editing -------------------------------------------------------------------------------------


def make_draft(**fields: object) -> Campaign:
    campaign = make_campaign(is_open=False, **fields)
    make_translations(campaign, n_segments=28)
    build_hits(campaign=campaign)
    return campaign


@pytest.mark.parametrize(
    ("name", "value"), [("degradation", "balanced"), ("shows_gray_references", True)]
)
def test_a_change_of_hidden_items_deletes_the_hits(name, value):
    campaign = make_draft()
    assert edit_campaign(campaign=campaign, actor=None, changes={name: value}) == [name]
    assert not campaign.hits.exists()


@pytest.mark.parametrize(
    "name", ["trust_rule", "drift", "max_hits_per_worker", "records_signals", "has_canary"]
)
def test_other_changes_keep_the_hits_even_once_work_has_begun(name):
    campaign = make_hits()
    take_assignment(campaign=campaign, worker=make_worker())
    value = OTHERS[name] if getattr(campaign, name) != OTHERS[name] else DEFAULTS[name]
    assert edit_campaign(campaign=campaign, actor=None, changes={name: value}) == [name]
    assert campaign.hits.exists()


@pytest.mark.parametrize("name", ["degradation", "shows_gray_references"])
def test_hidden_items_are_fixed_while_open_and_once_work_has_begun(name):
    campaign = make_hits()
    assert name not in editable_fields(campaign)
    take_assignment(campaign=campaign, worker=make_worker())
    Campaign.objects.update(status="paused")
    campaign.refresh_from_db()
    value = "balanced" if name == "degradation" else True
    with pytest.raises(EditRefused, match="Reason: work has begun"):
        edit_campaign(campaign=campaign, actor=None, changes={name: value})
    form = EditForm(instance=campaign, editable=editable_fields(campaign))
    assert form.fields[name].disabled
    assert form.fields[name].help_text == "Can no longer be changed: work has begun."


def test_the_page_warns_before_a_change_deletes_the_hits():
    campaign = make_draft()
    form = EditForm(instance=campaign, editable=editable_fields(campaign))
    for name in ("degradation", "shows_gray_references", "seed"):
        assert "deletes the HITs built so far" in form.fields[name].help_text
    assert "deletes" not in form.fields["trust_rule"].help_text


def test_the_settings_page_saves_all_of_them():
    campaign = make_campaign(is_open=False, **DEFAULTS)
    url = reverse("campaign_settings", args=[campaign.code])
    client = client_of("admin")
    values = PAY | {"name": campaign.name, "seed": campaign.seed} | as_sent(OTHERS)
    page = client.post(url, values, follow=True).content.decode()
    assert "Saved." in page
    campaign.refresh_from_db()
    assert chosen(campaign) == OTHERS
    form = client.get(url).context["form"]
    assert {name: form[name].value() for name in OTHERS} == OTHERS


def test_the_settings_page_puts_the_checkboxes_together():
    url = reverse("campaign_settings", args=[make_hits().code])
    answer = client_of("admin").get(url)
    page, form = answer.content.decode(), answer.context["form"]
    fields = [name for name in form.fields if form[name].widget_type != "checkbox"]
    boxes = [name for name in form.fields if form[name].widget_type == "checkbox"]
    assert boxes == ["records_signals", "has_canary", "scores_documents", "shows_gray_references"]
    assert max(page.index(f'name="{name}"') for name in fields) < min(
        page.index(f'name="{name}"') for name in boxes
    )
    assert all(page.count(f'name="{name}"') == 1 for name in boxes)


def test_a_copy_has_the_same_settings():
    campaign = make_campaign(**OTHERS)
    copy = duplicate_campaign(campaign=campaign, name="Copy", actor=make_person("admin"))
    assert chosen(copy) == OTHERS
    assert set(DEFAULTS) <= set(COPIED)
