"""A campaign can have its own texts for workers, in any language: by form, file, API and command."""

import json
from copy import deepcopy
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext, ngettext

from hits.campaigns.editing import duplicate_campaign
from hits.campaigns.worker_texts import progress_of, set_texts, texts_file
from hits.exceptions import TextsRefused
from hits.guidance_files import guidance_in
from hits.models import Campaign
from hits.rating.interface import interface_strings, speaking
from hits.rating.own_texts import leaves, put, read_texts
from hits.views.worker_context import campaign_context, practice_of
from tests.api.callers import caller
from tests.factories import make_campaign
from tests.people import client_of, make_person

pytestmark = pytest.mark.django_db


def icelandic() -> dict[str, Any]:
    """All texts, each with a prefix by which it can be told from the English."""
    texts = deepcopy(guidance_in("en"))
    for path, value in list(leaves(texts)):
        if isinstance(value, str):
            put(texts, path, f"Þ {value}")
    return {"language": "is"} | texts


@pytest.fixture
def campaign() -> Campaign:
    return make_campaign(name="News", source_language="en", target_language="is", task="fluency")


def test_workers_read_them_once_they_are_complete(campaign: Campaign):
    texts = icelandic()
    texts["fluency"]["practice"][1]["too_high"] = ""
    set_texts(campaign=campaign, actor=None, texts=texts)
    assert progress_of(campaign).missing == ["fluency, practice 2, too_high"]
    assert practice_of(campaign).language == "en"
    set_texts(campaign=campaign, actor=None, texts=icelandic())
    practice = practice_of(campaign)
    assert practice.language == "is" and practice.statement == "Þ The text is fluent English."
    assert practice.items[1].too_high.startswith("Þ ") and practice.items[1].high == 40
    assert practice.check.right.startswith("Þ ")
    context = campaign_context(campaign)
    assert (context["statement"], context["statement_language"]) == (practice.statement, "is")


def test_another_task_needs_its_own_part_only(campaign: Campaign):
    adequacy = {name: icelandic()[name] for name in ("statements", "adequacy")}
    set_texts(campaign=campaign, actor=None, texts=adequacy)
    assert len(progress_of(campaign).missing) == len(list(leaves(guidance_in("en")["fluency"]))) - 7
    campaign.task = Campaign.Task.SOURCE_ADEQUACY
    assert not progress_of(campaign).missing
    item = practice_of(campaign).items[0]
    assert item.gray_language == "en" and item.translation.startswith("Þ ")


@pytest.mark.parametrize(
    ("path", "value", "reason"),
    [
        (("fluency", "examples", 2), {"why": "x"}, "fluency, examples 3, why: is not a place"),
        (("fluency", "check", "answer"), 3, "must be a whole number up to 2"),
        (("fluency", "check", "question"), 7, "must be a text"),
        (("statements", "fluency"), "a\nb", "contains a line break"),
        (("statements", "fluency"), "x" * 2_001, "is longer than 2,000 characters"),
        (("language",), "fi", "is in 'fi', but the campaign is into is"),
        (("interface",), {"Next": "<b>Áfram</b>"}, "contains <"),
        (("interface",), {"{position} of {size}": "{position}"}, "has other placeholders"),
        (("interface",), {"Nonsense": "x"}, "is not a place"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_place(campaign, path, value, reason):
    texts = icelandic()
    if path == ("fluency", "examples", 2):
        texts["fluency"]["examples"].append(value)
    else:
        put(texts, path, value)
    with pytest.raises(TextsRefused, match="1 problem") as refusal:
        set_texts(campaign=campaign, actor=None, texts=texts, name="is.json")
    assert reason in str(refusal.value) and "is.json" in str(refusal.value)
    assert campaign.guidance == {}


@pytest.mark.parametrize("given", [[], "x", {"statements": 3}, {"fluency": {"check": [1]}}, None])
def test_another_shape_is_refused(given: object):
    with pytest.raises(TextsRefused):
        read_texts(given, target_language="is")


def test_the_downloaded_file_can_be_uploaded_as_it_is(campaign: Campaign):
    assert read_texts(texts_file(campaign), target_language="is") == {}
    set_texts(campaign=campaign, actor=None, texts=icelandic())
    assert read_texts(texts_file(campaign), target_language="is") == campaign.guidance


def test_buttons_can_be_in_any_language_too(campaign: Campaign):
    words = {"Next": "Áfram", "%(size)s text": {"one": "%(size)s texti", "other": ""}}
    set_texts(campaign=campaign, actor=None, texts={"interface": words})
    assert (
        progress_of(campaign).n_missing_in_interface == len(list(leaves(interface_strings()))) - 2
    )
    with speaking(campaign):
        assert (gettext("Next"), gettext("Submit")) == ("Áfram", "Submit")
        assert ngettext("%(size)s text", "%(size)s texts", 1) == "%(size)s texti"
        assert ngettext("%(size)s text", "%(size)s texts", 4) == "%(size)s texts"
        assert translation.get_language() == "is"
    assert gettext("Next") == "Next"
    preview = client_of("admin").get(reverse("preview_practice", args=[campaign.code, 1]))
    page = preview.content.decode()
    assert '<html lang="is"' in page and 'id="next">Áfram</button>' in page


def test_every_string_of_the_pages_is_offered():
    strings = interface_strings()
    assert strings["Next"] == "Next" and len(strings) > 100
    assert strings["%(size)s text"] == {"one": "%(size)s text", "other": "%(size)s texts"}


def page_of(campaign: Campaign) -> str:
    return reverse("campaign_worker_texts", args=[campaign.code])


def test_the_form_keeps_what_is_written_and_says_what_is_missing(campaign: Campaign):
    client = client_of("admin")
    page = client.get(page_of(campaign)).content.decode()
    assert "The text is fluent English." in page and 'lang="is" dir="ltr"' in page
    client.post(page_of(campaign), {"text-0": " Textinn er góður. ", "string-0": "Leiðbeiningar"})
    campaign.refresh_from_db()
    assert campaign.guidance["statements"]["fluency"] == "Textinn er góður."
    page = client.get(page_of(campaign)).content.decode()
    assert (
        "1 of 23 texts are written" in page and "Missing: fluency, examples 1, translation" in page
    )
    client.post(page_of(campaign), {"text-1": "Annað."})
    campaign.refresh_from_db()
    assert campaign.guidance["statements"]["fluency"] == "Textinn er góður."
    assert client.post(page_of(campaign), {"do": "remove"}).status_code == 302
    campaign.refresh_from_db()
    assert campaign.guidance == {}


def upload(client: Client, campaign: Campaign, content: bytes) -> Any:
    file = SimpleUploadedFile("is.json", content)
    return client.post(page_of(campaign), {"do": "upload", "file": file})


def test_a_file_is_uploaded_or_refused_as_a_whole(campaign: Campaign):
    client = client_of("admin")
    for content, reason in ((b"{", "is.json, line 1: is not JSON"), (b"\xff", "is not UTF-8")):
        answer = upload(client, campaign, content)
        assert answer.status_code == 422 and reason in answer.content.decode()
    assert client.post(page_of(campaign), {"do": "upload"}).status_code == 422
    assert upload(client, campaign, json.dumps(icelandic()).encode()).status_code == 302
    assert "All 23 texts are written" in client.get(page_of(campaign)).content.decode()
    download = client.get(reverse("campaign_worker_texts_file", args=[campaign.code]))
    assert json.loads(download.content)["fluency"] == icelandic()["fluency"]


def test_the_next_campaign_takes_them_over(campaign: Campaign):
    set_texts(campaign=campaign, actor=None, texts=icelandic())
    client, following = client_of("admin"), make_campaign(target_language="is")
    assert "News" in client.get(page_of(following)).content.decode()
    client.post(page_of(following), {"do": "copy", "donor": str(campaign.code)})
    following.refresh_from_db()
    assert following.guidance == campaign.guidance
    # Not from a campaign that someone else runs.
    stranger, own = client_of("admin", make_campaign()), make_campaign(target_language="is")
    assert (
        stranger.post(page_of(own), {"do": "copy", "donor": str(campaign.code)}).status_code == 404
    )
    copy = duplicate_campaign(campaign=campaign, name="Again", actor=make_person("superuser"))
    assert copy.guidance == campaign.guidance


def test_the_api_reads_and_replaces_them(campaign: Campaign):
    admin, path = caller("admin"), f"/campaigns/{campaign.code}/worker-texts"
    before = admin.get(path).json()
    assert not before["is_shown"] and before["texts"]["statements"]["fluency"] == ""
    after = admin.send("put", path, {"texts": icelandic()}).json()
    assert after["is_shown"] and after["missing"] == []
    refused = admin.send("put", path, {"texts": {"statements": {"grammar": "x"}}})
    assert refused.status_code == 422 and "statements, grammar" in refused.json()["detail"]
    assert not admin.send("put", path, {"texts": {}}).json()["is_shown"]


def run(*arguments: str) -> str:
    output = StringIO()
    call_command("worker_texts", *arguments, stdout=output)
    return output.getvalue()


def test_the_command_shows_loads_copies_and_removes_them(campaign: Campaign, tmp_path: Path):
    file = tmp_path / "is.json"
    file.write_text(json.dumps(icelandic()), encoding="utf-8")
    assert "23 of 23 texts are written" in run("News", "--load", str(file))
    assert json.loads(run("News", "--print"))["language"] == "is"
    make_campaign(name="Next", target_language="is", task="fluency")
    assert "23 of 23" in run("Next", "--copy-from", "News")
    assert "0 of 23" in run("News", "--remove")
    file.write_text("[]", encoding="utf-8")
    with pytest.raises(CommandError, match=r"is\.json: is not a JSON object"):
        run("News", "--load", str(file))
