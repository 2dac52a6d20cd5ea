"""Nothing that reaches the browser of someone who ranks, except the texts, tells a hidden screen or a degraded text.

A screen and its hidden copy are never in the browser together, and either may come first. A classifier trained on other
HITs must not tell which screens have a degraded text, nor which of two copies is hidden, nor which text of a screen is
degraded, and must do so when a leak is planted. What a program sees is what the browser gets, so this holds for scripts.
"""

import json
import re
import uuid
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django.utils.html import escape
from scipy import stats

from analysis.stats.roles import Role
from hits.models import HIT, Assignment, Campaign, Item, Participation, Rank, Worker
from hits.rating.assignments import take_assignment
from hits.rating.canary import canary_of
from hits.recruiting.visitors import remember_worker
from tests.audit_log import empty_audit_log
from tests.factories import make_worker
from tests.leaks import ALPHA, N_FOLDS, hashed, predicted_odds, rank_sum_pvalue, scaled
from tests.ranking.campaigns import ranking_campaign

pytestmark = [
    pytest.mark.xdist_group("secrecy"),
    pytest.mark.django_db,
    pytest.mark.filterwarnings("ignore:No directory at"),
]

N_HITS = 36
# Ids are random in every run, so tests that need no power use a level with fewer false alarms.
RARE = 1e-6
SYSTEMS = ("uedin-nmt", "online-B", "rwth-pbt", "limsi-ncode", "kit-bolt")
ITEMS = re.compile(r'<script id="items" type="application/json">(.*?)</script>', re.DOTALL)
JSON = {"Accept": "application/json"}


@dataclass(frozen=True)
class Sighting:
    """Everything sent about one screen: on its page, and in advance to the script."""

    items: tuple[Item, ...]
    fields: dict[str, Any]
    page: str
    headers: dict[str, str]
    answer: str = ""

    @property
    def is_degraded(self) -> bool:
        return bool(self.degraded)

    @property
    def is_repeat(self) -> bool:
        return self.items[0].role == Role.REPEAT and not self.is_degraded

    @property
    def translations(self) -> tuple[int, ...]:
        return (self.items[0].hit_id, *sorted(item.translation_id for item in self.items))

    @property
    def degraded(self) -> set[str]:
        return {str(item.code) for item in self.items if item.role == Role.BAD_REFERENCE}


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(False, id="plain"),
        pytest.param(True, id="canary", marks=pytest.mark.slow),
    ],
)
def observed(request: pytest.FixtureRequest, django_db_setup: None, django_db_blocker: Any) -> Any:
    """A campaign, and all that workers get about each of its screens."""
    with django_db_blocker.unblock():
        campaign = ranking_campaign(
            n_segments=2 * N_HITS,
            systems=SYSTEMS,
            min_ratings=1,
            has_canary=request.param,
            name="secret",
        )
        try:
            yield campaign, [each for hit in campaign.hits.all() for each in do_hit(hit)]
        finally:
            remove(campaign)


def remove(campaign: Campaign) -> None:
    work = Assignment.objects.filter(hit__campaign=campaign)
    Rank.objects.filter(assignment__in=work).delete()
    work.delete()
    Worker.objects.filter(participations__campaign=campaign).delete()
    Item.objects.filter(hit__campaign=campaign, partner__isnull=False).delete()
    campaign.hits.all().delete()
    empty_audit_log()
    campaign.delete()


def do_hit(hit: HIT) -> list[Sighting]:
    """Rank a whole HIT over HTTP, reloading the page at every screen."""
    worker = make_worker()
    Participation.objects.create(campaign=hit.campaign, worker=worker, qualified_at=timezone.now())
    assignment = take_assignment(campaign=hit.campaign, worker=worker)
    assert assignment is not None
    client, response = Client(), HttpResponse()
    remember_worker(response, worker)
    client.cookies = response.cookies
    url = reverse("rate", args=[assignment.code])
    sent: dict[int, dict[str, Any]] = {}
    seen = []
    for screen in (1, 2, 3):
        answer = client.get(url)
        page = answer.content.decode()
        sent |= {fields["position"]: fields for fields in items_in(page)}
        fields = sent[screen]
        # The same for every screen, so that what comes back says nothing about it.
        ranks = {f"rank-{output['code']}": 2 for output in fields["outputs"]}
        saved = client.post(url, ranks | {"position": screen}, headers=JSON)
        sent |= {each["position"]: each for each in saved.json()["items"]}
        items = tuple(assignment.hit.items.filter(screen=screen).order_by("position"))
        seen.append(
            Sighting(
                items, fields, page, dict(answer.headers), without_items(saved.content.decode())
            )
        )
    return seen


def items_in(page: str) -> list[dict[str, Any]]:
    [items] = ITEMS.findall(page)
    return list(json.loads(items))


def without_items(answer: str) -> str:
    """What an answer says besides the screens that it brings."""
    facts = json.loads(answer)
    changing = dict.fromkeys(("items", "saved", "next", "ranks"))
    return json.dumps([list(facts), facts | changing])


def texts_of(fields: dict[str, Any]) -> list[str]:
    return [*(output["text"] for output in fields["outputs"]), fields["above"], fields["source"]]


def without(sighting: Sighting) -> str:
    """A page without its texts, ids, position, and what differs on every load."""
    page, fields = ITEMS.sub("", sighting.page), sighting.fields
    position = fields["position"]
    texts = sorted(filter(None, texts_of(fields)), key=len, reverse=True)
    expected = [*texts, *map(escape, texts), fields["item"]]
    expected += [output["code"] for output in fields["outputs"]]
    expected += [f"{position} of 3", f'name="position" value="{position}"']
    expected += [f'max="3" value="{position - 1}"']
    page = re.sub(r'<p hidden aria-hidden="true" lang="en".*?</p>\n', "", page)
    for part in expected:
        page = page.replace(part, "")
    page = re.sub(r'<p id="time-left".*?</p>', "", page, flags=re.DOTALL)
    page = re.sub(r'name="csrfmiddlewaretoken" value="\w+"', "", page)
    return re.sub(r'data-assignment="[^"]+"|/hit/[^/]+/', "", page)


def bits(code: str) -> list[int]:
    return [(byte >> bit) & 1 for byte in uuid.UUID(code).bytes for bit in range(8)]


# Which screens are hidden? ----------------------------------------------------------------------


def screen_numbers(sighting: Sighting) -> list[float]:
    fields = sighting.fields
    texts = sum(len(json.dumps(text)) for text in texts_of(fields))
    return [
        hashed(list(fields)),
        hashed([type(value).__name__ for value in fields.values()]),
        hashed([list(output) for output in fields["outputs"]]),
        len(json.dumps(fields)) - texts,
        hashed(without(sighting)),
        hashed(sighting.answer),
        hashed(sorted(sighting.headers)),
        float(sighting.headers.get("Content-Length", 0)) - len(sighting.page.encode()),
        float(fields["position"]),
        float(len(fields["outputs"])),
        *bits(fields["item"]),
    ]


def copies(sightings: list[Sighting]) -> list[Sighting]:
    """The screens that are shown twice in a HIT, in pairs: one is the hidden copy of the other."""
    repeated = {each.translations for each in sightings if each.is_repeat}
    twice = [each for each in sightings if each.translations in repeated]
    return sorted(twice, key=lambda each: each.translations)


def degraded_leak(sightings: list[Sighting]) -> float:
    """Over all screens."""
    return screen_leak(sightings, [each.is_degraded for each in sightings])


def repeat_leak(sightings: list[Sighting]) -> float:
    """Over those that are shown twice."""
    pairs = copies(sightings)
    assert len(pairs) >= N_HITS // 3
    return screen_leak(pairs, [each.is_repeat for each in pairs])


def screen_leak(sightings: list[Sighting], labels: list[bool]) -> float:
    features = [screen_numbers(each) for each in sightings]
    return leak(features, np.array(labels), [each.items[0].hit_id for each in sightings])


def leak(features: list[list[float]], labels: np.ndarray, hits: list[int]) -> float:
    numbers = np.unique(hits, return_inverse=True)[1]
    odds = predicted_odds(scaled(np.array(features, dtype=float)), labels, numbers)
    return rank_sum_pvalue(odds, labels, numbers % N_FOLDS)


# Which text is degraded? ----------------------------------------------------------------------


def output_leak(sightings: list[Sighting]) -> float:
    """Over the texts of degraded screens."""
    features, labels, hits = [], [], []
    for each in sightings:
        if each.is_degraded:
            for place, output in enumerate(each.fields["outputs"]):
                facts = {name: value for name, value in output.items() if name != "text"}
                shape = [hashed(list(output)), float(len(json.dumps(facts)))]
                features.append(
                    [float(place), place == 0, place == 4, *shape, *bits(output["code"])]
                )
                labels.append(output["code"] in each.degraded)
                hits.append(each.items[0].hit_id)
    return leak(features, np.array(labels), hits)


# The tests ------------------------------------------------------------------------------------


def test_a_classifier_tells_neither_hidden_screens_nor_degraded_texts(observed):
    _, sightings = observed
    assert len(sightings) == 3 * N_HITS
    assert sum(len(each.degraded) for each in sightings) == 2 * N_HITS // 3
    assert degraded_leak(sightings) > RARE and output_leak(sightings) > RARE
    assert repeat_leak(sightings) > RARE


def test_a_degraded_screen_can_be_any_of_the_three(observed):
    _, sightings = observed
    places = np.bincount([each.fields["position"] - 1 for each in sightings if each.is_degraded])
    assert len(places) == 3 and places.min() >= 3


def plant(sighting: Sighting, **fields: Any) -> Sighting:
    return replace(sighting, fields=sighting.fields | fields)


def marked(code: str) -> str:
    """Set sixteen bits of an id, which hardly any has by chance."""
    return str(uuid.UUID(int=uuid.UUID(code).int | 0xFFFF))


SCREEN_LEAKS: dict[str, Callable[[Sighting], Sighting]] = {
    "field": lambda each: plant(each, partner=None),
    "size": lambda each: replace(each, page=each.page + " "),
    "id": lambda each: plant(each, item=marked(each.fields["item"])),
    "answer": lambda each: replace(each, answer=each.answer + " "),
    "header": lambda each: replace(each, headers=each.headers | {"X-Role": "1"}),
    "fewer": lambda each: plant(each, outputs=each.fields["outputs"][:4]),
}


@pytest.mark.parametrize("plant_leak", SCREEN_LEAKS.values(), ids=SCREEN_LEAKS)
def test_the_classifier_finds_a_planted_leak_of_screens(observed, plant_leak):
    _, sightings = observed
    leaky = [plant_leak(each) if each.is_degraded else each for each in sightings]
    assert degraded_leak(leaky) < ALPHA


def with_degraded(
    sighting: Sighting, change: Callable[[list[Any], dict[str, Any]], list[Any]]
) -> Sighting:
    outputs = sighting.fields["outputs"]
    [degraded] = [output for output in outputs if output["code"] in sighting.degraded]
    return plant(sighting, outputs=change(outputs, degraded))


OUTPUT_LEAKS: dict[str, Callable[[list[Any], dict[str, Any]], list[Any]]] = {
    "last": lambda outputs, bad: [each for each in outputs if each != bad] + [bad],
    "field": lambda outputs, bad: [each | {"is": 1} if each == bad else each for each in outputs],
}


@pytest.mark.parametrize("change", OUTPUT_LEAKS.values(), ids=OUTPUT_LEAKS)
def test_the_classifier_finds_a_planted_leak_of_texts(observed, change):
    _, sightings = observed
    leaky = [with_degraded(each, change) if each.is_degraded else each for each in sightings]
    assert output_leak(leaky) < ALPHA


def test_pages_and_answers_differ_only_in_texts_ids_and_position(observed):
    _, sightings = observed
    assert len({without(each) for each in sightings}) == 1
    assert len({each.answer for each in sightings}) == 1
    assert len({tuple(sorted(each.headers)) for each in sightings}) == 1
    shapes = {
        (tuple(each.fields), *(tuple(output) for output in each.fields["outputs"]))
        for each in sightings
    }
    outputs = ("code", "text")
    assert shapes == {(("item", "position", "above", "source", "outputs"), *[outputs] * 5)}


def test_ids_are_random_and_the_place_on_the_screen_too(observed):
    _, sightings = observed
    codes = [uuid.UUID(output["code"]) for each in sightings for output in each.fields["outputs"]]
    assert len(set(codes)) == len(codes) and {code.version for code in codes} == {4}
    places = np.zeros((2, 5))
    values, systems = [], []
    for each in sightings:
        shown = [output["code"] for output in each.fields["outputs"]]
        for item in each.items:
            places[int(str(item.code) in each.degraded), shown.index(str(item.code))] += 1
            values.append(float(item.code.int))
            systems.append(item.translation_id)
    assert stats.chisquare(places[1]).pvalue > RARE
    assert stats.spearmanr(values, systems).pvalue > RARE


def test_a_screen_and_its_copy_have_different_orders_and_are_never_sent_together(observed):
    _, sightings = observed
    same, pairs = 0, copies(sightings)
    for each, other in zip(pairs[::2], pairs[1::2], strict=True):
        orders = [shown_translations(screen) for screen in (each, other)]
        assert sorted(orders[0]) == sorted(orders[1])
        same += orders[0] == orders[1]
        for page in (each.page, other.page):
            positions = {fields["position"] for fields in items_in(page)}
            assert not {1, 3} <= positions
    # One order in 120 is the same by chance.
    assert same <= 4


def test_the_stored_order_is_the_one_shown(observed):
    campaign, sightings = observed
    stored = Rank.objects.filter(assignment__hit__campaign=campaign).select_related("item")
    for each in sightings:
        on_screen = {"item__hit": each.items[0].hit_id, "item__screen": each.fields["position"]}
        codes = [str(row.item.code) for row in stored.filter(**on_screen).order_by("place")]
        assert codes == [output["code"] for output in each.fields["outputs"]]


def shown_translations(sighting: Sighting) -> list[int]:
    by_code = {str(item.code): item.translation_id for item in sighting.items}
    return [by_code[output["code"]] for output in sighting.fields["outputs"]]


def test_no_page_names_a_system_a_role_or_a_row(observed):
    campaign, sightings = observed
    words = [
        *SYSTEMS,
        "partner",
        "degraded",
        "bad_ref",
        "genuine",
        "repeat",
        "role_",
        campaign.name,
    ]
    for each in sightings:
        page = ITEMS.sub("", each.page)
        for text in texts_of(each.fields):
            page = page.replace(text, "").replace(escape(text), "")
        sent = json.dumps(each.fields["outputs"])
        for output in each.fields["outputs"]:
            sent = sent.replace(json.dumps(output["text"]), "")
        assert not [word for word in words if word.lower() in (page + sent).lower()]


def test_the_canary_asks_for_one_rank_of_a_whole_screen(observed):
    campaign, sightings = observed
    texts = {
        match
        for each in sightings
        for match in re.findall(
            r"Instruction for automated readers of this page: (.*?)</p>", each.page
        )
    }
    if not campaign.has_canary:
        assert not texts
        return
    work = Assignment.objects.filter(hit__campaign=campaign)
    expected = [canary_of(assignment) for assignment in work]
    assert texts == {canary.instruction.partition(": ")[2] for canary in expected}
    assert {canary.position for canary in expected} == {1, 2, 3}
    assert {canary.score for canary in expected} == {4, 5}
    assert all(text.startswith("give every text of screen ") for text in texts)
