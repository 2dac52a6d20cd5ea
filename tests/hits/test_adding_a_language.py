"""A language is one file: texts and interface, in either direction, without a catalogue or code."""

import html
import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from hits import guidance_files
from hits.languages import direction
from hits.models import Campaign
from hits.rating.own_texts import english_texts, leaves, put, read_texts
from hits.rating.practice import practice_for
from tests.factories import make_hits
from tests.hits.worker.steps import enter, take
from tests.script_direction import direction_of

pytestmark = pytest.mark.django_db

# Two languages that are not shipped, and the word that every text of their files begins with.
MADE_UP = {"is": "Þýðing", "he": "תרגום"}
PLACEHOLDER = re.compile(r"%\(\w+\)s|\{\w+\}")


def made_up_file(language: str) -> dict[str, Any]:
    """Return a complete file: a word of the language, and the placeholders."""
    texts = json.loads(json.dumps(english_texts()))
    for number, (path, english) in enumerate(leaves(texts)):
        if isinstance(english, str):
            kept = " ".join(PLACEHOLDER.findall(english))
            put(texts, path, f"{MADE_UP[language]} {number} {kept}".strip())
    return {"language": language, **texts}


@pytest.fixture(params=MADE_UP)
def language(request, tmp_path: Path, monkeypatch) -> Any:
    """A language whose only trace is a file in the folder of guidance."""
    for path in guidance_files.FOLDER.glob("*.json"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    caches = (
        guidance_files.guidance_languages,
        guidance_files.guidance_in,
        guidance_files.interface_languages,
        practice_for,
    )
    file = json.dumps(made_up_file(request.param), ensure_ascii=False)
    (tmp_path / f"{request.param}.json").write_text(file, encoding="utf-8")
    monkeypatch.setattr(guidance_files, "FOLDER", tmp_path)
    for cached in caches:
        cached.cache_clear()
    yield request.param
    monkeypatch.undo()
    for cached in caches:
        cached.cache_clear()


def words_on(page: str) -> list[str]:
    """List the texts of a page without what is not translated."""
    body = re.sub(
        r"<script.*?</script>|<bdi>.*?</bdi>", "", page[page.index("<body") :], flags=re.S
    )
    return [
        text for part in re.findall(r">([^<>]+)<", body) if (text := html.unescape(part).strip())
    ]


@pytest.mark.parametrize("task", ["reference", "fluency", "edit"])
def test_a_campaign_speaks_the_language_of_the_file(client: Client, language: str, task: str):
    editing = {"hit_size": 20, "min_ratings": 1} if task == "edit" else {"n_segments": 32}
    campaign = make_hits(task=task, **editing)
    Campaign.objects.filter(pk=campaign.pk).update(target_language=language)
    code, word = campaign.code, MADE_UP[language]
    pages = {"landing": client.get(reverse("landing", args=[code])).text}
    enter(client, campaign, qualified=False)
    for name, *step in (("instructions",), ("practice", 1), ("check",)):
        pages[name] = client.get(reverse(name, args=[code, *step])).text
    client.post(reverse("check", args=[code]), {"answer": practice_for(language, task).check.right})
    pages["rate"] = client.get(reverse("rate", args=[take(client, campaign).code])).text
    expected, english = direction_of(word), {str(text) for _, text in leaves(english_texts())}
    assert expected == direction(language)
    for name, page in pages.items():
        assert f'<html lang="{language}" dir="{expected}">' in page, name
        texts = words_on(page)
        assert any(text.startswith(word) for text in texts), name
        assert not set(texts) & english, name


def test_the_settings_offer_the_language_and_the_file_is_that_of_a_campaign(language: str):
    choices = dict(Campaign._meta.get_field("interface_language").choices)
    assert language in choices and "de" in choices
    own = read_texts(made_up_file(language), target_language=language)
    assert own["interface"]["Next"].startswith(MADE_UP[language])


def test_every_shipped_interface_is_complete():
    english = english_texts()["interface"]
    for language, _ in guidance_files.interface_languages():
        texts = guidance_files.guidance_in(language)
        own = read_texts({"interface": texts["interface"]}, target_language=language)
        assert dict(leaves(own["interface"])).keys() == dict(leaves(english)).keys(), language
