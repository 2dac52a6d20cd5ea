"""The settings against scripts and second references, through the API."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import override_settings

from hits.campaigns.building import build_hits
from hits.models import Campaign
from hits.rating.assignments import take_assignment
from tests.factories import make_campaign, make_hits, make_translations, make_worker

from .callers import caller

pytestmark = pytest.mark.django_db

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
    "drift": "all",
    "max_hits_per_worker": None,
    "records_signals": False,
    "has_canary": True,
}
BASICS = {"name": "News", "source_language": "de", "target_language": "en"}


@pytest.fixture(autouse=True)
def _own_folder(tmp_path):
    with override_settings(UPLOADS_DIR=tmp_path / "uploads"):
        yield


def text_file(name: str, *lines: str) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, "".join(f"{line}\n" for line in lines).encode())


def files(**more: object) -> dict[str, object]:
    return {
        "references": text_file("references.txt", "One.", "Two."),
        "systems": [text_file("a.txt", "one.", "two.")],
        **more,
    }


def chosen(campaign: Campaign) -> dict[str, object]:
    campaign.refresh_from_db()
    return {name: getattr(campaign, name) for name in DEFAULTS}


def path_of(campaign: Campaign) -> str:
    return f"/campaigns/{campaign.code}/settings"


def change(campaign: Campaign, **changes: object):
    return caller("admin").send("patch", path_of(campaign), changes)


# Creating ------------------------------------------------------------------------------------


def test_a_new_campaign_has_the_defaults():
    assert caller("admin").upload("/campaigns", BASICS | files()).status_code == 201
    assert chosen(Campaign.objects.get()) == DEFAULTS


def test_a_new_campaign_can_have_other_settings():
    # A form has no null: an empty value stands for it.
    fields = BASICS | files() | OTHERS | {"max_hits_per_worker": ""}
    answer = caller("admin").upload("/campaigns", fields)
    assert answer.status_code == 201, answer.content
    assert chosen(Campaign.objects.get()) == OTHERS


@pytest.mark.parametrize(
    ("field", "value"),
    [("degradation", "random"), ("trust_rule", "mine"), ("drift", ""), ("max_hits_per_worker", 0)],
)
def test_an_unknown_value_is_refused(field, value):
    answer = caller("admin").upload("/campaigns", BASICS | files() | {field: value})
    assert answer.status_code == 422 and field in answer.content.decode()
    assert not Campaign.objects.exists()


def test_second_references_can_be_uploaded():
    second = text_file("any.txt", "The first.", "The second.")
    answer = caller("admin").upload("/campaigns", BASICS | files(second_references=second))
    assert answer.status_code == 201, answer.content
    texts = Campaign.objects.get().segments.values_list("second_reference", flat=True)
    assert list(texts) == ["The first.", "The second."]


def test_a_table_can_have_paraphrases():
    head = "segment\treference\tsystem\ttranslation\tparaphrase"
    table = text_file("table.tsv", head, "1\tOne.\tA\t1\tThe first.")
    answer = caller("admin").upload("/campaigns", BASICS | {"package": table})
    assert answer.status_code == 201, answer.content
    assert Campaign.objects.get().segments.get().second_reference == "The first."


def test_an_unknown_second_reference_is_refused():
    answer = caller("admin").upload("/campaigns", BASICS | files(second_reference="B"))
    assert answer.status_code == 422
    assert "has no second reference 'B'" in answer.json()["problems"][0]["reason"]


def test_bad_second_references_are_refused_with_file_and_line():
    second = text_file("any.txt", "The first.", "")
    answer = caller("admin").upload("/campaigns", BASICS | files(second_references=second))
    assert answer.status_code == 422
    (problem,) = answer.json()["problems"]
    assert (problem["file"], problem["line"]) == ("second_references.txt", 2)
    assert not Campaign.objects.exists()


# Reading and changing ------------------------------------------------------------------------


def test_the_settings_are_listed():
    campaign = make_campaign(is_open=False, **OTHERS)
    answer = caller("admin").get(path_of(campaign)).json()
    assert {name: answer[name] for name in OTHERS} == OTHERS
    assert set(OTHERS) <= set(answer["editable"])


def test_each_setting_can_be_changed():
    campaign = make_campaign(is_open=False, **DEFAULTS)
    answer = change(campaign, **OTHERS)
    assert answer.status_code == 200, answer.content
    assert {name: answer.json()[name] for name in OTHERS} == OTHERS
    assert chosen(campaign) == OTHERS


@pytest.mark.parametrize("name", DEFAULTS)
def test_one_change_leaves_the_other_settings_alone(name):
    campaign = make_campaign(is_open=False, **DEFAULTS)
    assert change(campaign, **{name: OTHERS[name]}).status_code == 200
    assert chosen(campaign) == DEFAULTS | {name: OTHERS[name]}
    assert change(campaign, **{name: DEFAULTS[name]}).status_code == 200
    assert chosen(campaign) == DEFAULTS


def test_null_removes_the_limit_of_hits_per_worker_and_leaving_it_out_does_not():
    campaign = make_campaign(max_hits_per_worker=3)
    assert change(campaign, min_ratings=4).json()["max_hits_per_worker"] == 3
    assert change(campaign, max_hits_per_worker=None).json()["max_hits_per_worker"] is None
    assert chosen(campaign)["max_hits_per_worker"] is None
    assert change(campaign, max_hits_per_worker=7).json()["max_hits_per_worker"] == 7


@pytest.mark.parametrize("name", [name for name in DEFAULTS if name != "max_hits_per_worker"])
def test_other_settings_cannot_be_null(name):
    campaign = make_campaign(is_open=False, **DEFAULTS)
    answer = change(campaign, **{name: None})
    assert answer.status_code == 422 and name in answer.json()["detail"]
    assert chosen(campaign) == DEFAULTS


@pytest.mark.parametrize(
    ("name", "value"),
    [("degradation", "none"), ("drift", "since then"), ("max_hits_per_worker", 0)],
)
def test_an_unknown_value_changes_nothing(name, value):
    campaign = make_campaign(is_open=False, **DEFAULTS)
    assert change(campaign, **{name: value}).status_code == 422
    assert chosen(campaign) == DEFAULTS


def test_a_change_of_hidden_items_deletes_the_hits_and_is_refused_once_one_is_taken():
    draft = make_campaign(is_open=False)
    make_translations(draft)
    build_hits(campaign=draft)
    assert change(draft, degradation="balanced").status_code == 200
    assert not draft.hits.exists()
    taken = make_hits()
    take_assignment(campaign=taken, worker=make_worker())
    for changes in ({"degradation": "balanced"}, {"shows_gray_references": True}):
        answer = change(taken, **changes)
        assert answer.status_code == 409 and "work has begun" in answer.json()["detail"]
    assert change(taken, trust_rule="guarded", drift="all").status_code == 200
    assert taken.hits.exists()
