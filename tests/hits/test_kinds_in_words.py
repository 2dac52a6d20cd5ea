"""What workers read before and after the screens is about what they do: rate, rank or edit."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from hits.models import Campaign, Participation, Recruitment
from hits.task_facts import kinds
from hits.task_kinds import kind_of
from tests.documents.campaigns import document_campaign
from tests.factories import make_hits
from tests.hits.worker.steps import enter, take
from tests.people import client_of
from tests.ranking.campaigns import ranking_campaign
from tests.side_by_side.campaigns import side_campaign

pytestmark = pytest.mark.django_db

EDITING: dict[str, Any] = {"task": "edit", "hit_size": 20, "min_ratings": 1}
MAKERS = {
    "rating": make_hits,
    "documents": document_campaign,
    "side": side_campaign,
    "ranking": lambda **fields: ranking_campaign(is_open=True, **fields),
    "editing": lambda **fields: make_hits(**EDITING | fields),
}
every_kind = pytest.mark.parametrize("kind", MAKERS)


def page(client: Client, name: str, campaign: Campaign, *args: object) -> str:
    return client.get(reverse(name, args=[campaign.code, *args])).content.decode()


def read_everything(client: Client, campaign: Campaign) -> dict[str, str]:
    """Go from the first page to the last, as a worker; return all pages but the screens."""
    pages = {name: page(client, name, campaign) for name in ("landing", "privacy")}
    enter(client, campaign, qualified=False)
    for name, *step in (("instructions",), ("practice", 1), ("check",)):
        pages[name] = page(client, str(name), campaign, *step)
    Participation.objects.update(qualified_at=timezone.now())
    assignment = take(client, campaign)
    pages["rate"] = client.get(reverse("rate", args=[assignment.code])).content.decode()
    return pages


WORDS_OF_RATING = ("slider", "rating", "score", "How much do you agree")


def test_the_cast_has_every_kind():
    made = {type(kind_of(make())) for make in MAKERS.values()}
    assert made == {type(kind) for kind in kinds().values()}


@pytest.mark.parametrize("kind", ["ranking", "editing"])
def test_nothing_speaks_of_sliders_and_ratings_where_nobody_rates(client: Client, kind: str):
    for name, text in read_everything(client, MAKERS[kind]()).items():
        shown = text[text.index("<main") :]
        assert not [
            words for words in WORDS_OF_RATING if words in shown.replace("rating-form", "")
        ], name


@pytest.mark.parametrize(
    ("kind", "title", "size", "consent"),
    [
        ("rating", "How good are these translations?", "40 texts", "We store your ratings"),
        ("documents", "How good are these translations?", "40 texts", "We store your ratings"),
        ("side", "use sliders to say", "screens of up to 3 texts", "We store your ratings"),
        (
            "ranking",
            "Rank these translations",
            "3 screens of up to 5 texts",
            "We store your rankings",
        ),
        ("editing", "Correct these translations", "20 texts", "We store the texts you write"),
    ],
)
def test_the_first_page_says_what_there_is_to_do(
    client: Client, kind: str, title: str, size: str, consent: str
):
    campaign = MAKERS[kind]()
    text = page(client, "landing", campaign)
    for words in (title, size, consent):
        assert words in text
    assert "fingerprint of your device" in text
    Campaign.objects.filter(pk=campaign.pk).update(records_signals=False)
    assert "fingerprint of your device" not in page(client, "landing", campaign)


@every_kind
def test_the_preview_of_mechanical_turk_says_it_too(client: Client, kind: str):
    campaign = MAKERS[kind](run_by="Example University", contact="lab@example.org")
    Recruitment.objects.filter(campaign=campaign).update(provider="mturk")
    text = page(client, "external_question", campaign)
    assert f"<h1>{kind_of(campaign).words(campaign).title}</h1>" in text
    for words in ("Languages you need", "English", "Example University", "lab@example.org"):
        assert words in text
    assert ("How much do you agree" in text) == (kind in ("rating", "documents", "side"))
    assert ("Rank the black texts" in text) == (kind == "ranking")
    assert ("Change as little as possible" in text) == (kind == "editing")


def test_with_source_and_reference_both_languages_are_needed(client: Client):
    text = page(client, "landing", make_hits(shows="both"))
    assert "German, English" in text


@pytest.mark.parametrize("records", [True, False])
def test_editors_learn_that_texts_keys_and_pastes_are_stored_either_way(
    client: Client, records: bool
):
    text = page(client, "privacy", make_hits(**EDITING, records_signals=records))
    for words in ("The texts you write", "how many keys you pressed", "how often you pasted"):
        assert words in text
    assert "ratings" not in text
    assert "how many keys you pressed" not in page(client, "privacy", make_hits())


def test_examples_of_editing_show_the_right_edit(client: Client):
    campaign = make_hits(**EDITING)
    enter(client, campaign)
    text = page(client, "instructions", campaign)
    assert "closes at seven" in text and "Our correction:" in text
    assert "Only the time was wrong" in text


@pytest.mark.parametrize(
    ("kind", "finished"),
    [("rating", "rated all"), ("ranking", "ranked all"), ("editing", "corrected all")],
)
def test_the_last_page_says_what_was_done(kind: str, finished: str):
    page_of_end = page(client_of("superuser"), "preview_finish", MAKERS[kind](), 1)
    assert f"You have {finished} the texts" in page_of_end
