"""Everything that a browser gets of a HIT side by side, over HTTP: pages, answers, headers. Nothing tells what is hidden.

As for single translations and rankings, a classifier trained on other HITs must not tell hidden screens from others, nor
the degraded text of a hidden screen; and it must when a leak is planted.
"""

import json
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django.utils.html import escape

from analysis.stats.roles import Role
from hits.models import HIT, Participation
from hits.rating.assignments import take_assignment
from hits.recruiting.visitors import remember_worker
from tests.factories import make_worker
from tests.leaks import ALPHA, N_FOLDS, hashed, predicted_odds, rank_sum_pvalue, scaled
from tests.ranking.test_secrecy import ITEMS, JSON, RARE, items_in
from tests.ranking.test_secrecy import Sighting as RankingSighting

from .campaigns import side_campaign

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:No directory at"),
]


class Sighting(RankingSighting):
    @property
    def is_hidden(self) -> bool:
        return any(item.role != Role.GENUINE for item in self.items)

    @property
    def degraded(self) -> set[str]:
        return {str(item.code) for item in self.items if item.role == Role.BAD_REFERENCE}


def do_hit(hit: HIT) -> list[Sighting]:
    """Rate a whole HIT over HTTP, reloading the page at every screen."""
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
    screens = sorted(set(assignment.hit.items.values_list("screen", flat=True)))
    for screen in screens:
        answer = client.get(url)
        page = answer.content.decode()
        sent |= {each["position"]: each for each in items_in(page)}
        fields = sent[screen]
        # The same for every output, so that what comes back says nothing about it.
        scores = {f"score-{output['code']}": 50 for output in fields["outputs"]}
        saved = client.post(url, scores | {"position": screen}, headers=JSON).json()
        sent |= {each["position"]: each for each in saved["items"]}
        told = [list(saved), saved | dict.fromkeys(("items", "saved", "next", "scores"))]
        items = tuple(assignment.hit.items.filter(screen=screen).order_by("position"))
        seen.append(Sighting(items, fields, page, dict(answer.headers), json.dumps(told)))
    return seen


@pytest.fixture(params=[False, True], ids=["plain", "canary"])
def sightings(request: pytest.FixtureRequest) -> list[Sighting]:
    campaign = side_campaign(n_segments=80, min_ratings=1, has_canary=request.param)
    return [each for hit in campaign.hits.all() for each in do_hit(hit)]


def texts_of(fields: dict[str, Any]) -> list[str]:
    return [*(output["text"] for output in fields["outputs"]), fields["above"]]


def without(sighting: Sighting) -> str:
    """A page without its texts, ids, position, and what differs on every load or with the number of outputs."""
    page, fields = ITEMS.sub("", sighting.page), sighting.fields
    position, last = fields["position"], re.findall(r'data-size="(\d+)"', page)[0]
    texts = sorted(filter(None, texts_of(fields)), key=len, reverse=True)
    expected = [*texts, *map(escape, texts), fields["item"]]
    expected += [output["code"] for output in fields["outputs"]]
    expected += [f"{position} of {last}", f'name="position" value="{position}"']
    expected += [f'max="{last}" value="{position - 1}"', f'data-size="{last}"']
    page = re.sub(r'<p hidden aria-hidden="true" lang="en".*?</p>\n', "", page)
    for part in expected:
        page = page.replace(part, "")
    page = re.sub(r'<p id="time-left".*?</p>', "", page, flags=re.DOTALL)
    page = re.sub(r'name="csrfmiddlewaretoken" value="\w+"', "", page)
    return re.sub(r'data-assignment="[^"]+"|/hit/[^/]+/', "", page)


def numbers_of(sighting: Sighting) -> list[float]:
    fields = sighting.fields
    texts = sum(len(json.dumps(text)) for text in texts_of(fields))
    return [
        hashed(list(fields)),
        hashed([list(output) for output in fields["outputs"]]),
        len(json.dumps(fields)) - texts,
        hashed(without(sighting)),
        hashed(sighting.answer),
        hashed(sorted(sighting.headers)),
        float(sighting.headers.get("Content-Length", 0)) - len(sighting.page.encode()),
        float(fields["position"]),
        float(len(fields["outputs"])),
    ]


def leak(features: list[list[float]], labels: list[bool], hits: list[int]) -> float:
    numbers = np.unique(hits, return_inverse=True)[1]
    found = np.array(labels)
    odds = predicted_odds(scaled(np.array(features, dtype=float)), found, numbers)
    return rank_sum_pvalue(odds, found, numbers % N_FOLDS)


def screen_leak(sightings: list[Sighting]) -> float:
    return leak(
        [numbers_of(each) for each in sightings],
        [each.is_hidden for each in sightings],
        [each.items[0].hit_id for each in sightings],
    )


def output_leak(sightings: list[Sighting]) -> float:
    """Over the texts of hidden screens of three: on a smaller one, each is likelier to be degraded."""
    features, labels, hits = [], [], []
    for each in sightings:
        if each.is_hidden and len(each.fields["outputs"]) == 3:
            for place, output in enumerate(each.fields["outputs"]):
                facts = {name: value for name, value in output.items() if name != "text"}
                shape = [hashed(list(output)), float(len(json.dumps(facts)))]
                features.append([float(place), place == 0, place == 2, *shape])
                labels.append(output["code"] in each.degraded)
                hits.append(each.items[0].hit_id)
    return leak(features, labels, hits)


def test_a_classifier_tells_neither_hidden_screens_nor_degraded_texts(sightings):
    assert sum(each.is_hidden for each in sightings) >= 20
    assert screen_leak(sightings) > RARE and output_leak(sightings) > RARE
    by_size = {}
    for each in sightings:
        by_size.setdefault(len(each.fields["outputs"]), set()).add(without(each))
    assert all(len(pages) == 1 for pages in by_size.values())
    assert len({each.answer for each in sightings}) == 1
    assert len({tuple(sorted(each.headers)) for each in sightings}) == 1


def test_it_finds_what_is_planted(sightings):
    def marked(each: Sighting, **changes: Any) -> Sighting:
        return replace(each, **changes) if each.is_hidden else each

    for planted in (
        [marked(each, page=each.page + " ") for each in sightings],
        [marked(each, fields=each.fields | {"partner": None}) for each in sightings],
        [marked(each, headers=each.headers | {"X-Copy": "1"}) for each in sightings],
        [marked(each, answer=each.answer + "!") for each in sightings],
    ):
        assert screen_leak(planted) < ALPHA

    def last_degraded(each: Sighting) -> Sighting:
        outputs = sorted(each.fields["outputs"], key=lambda output: output["code"] in each.degraded)
        return replace(each, fields=each.fields | {"outputs": outputs})

    assert output_leak([last_degraded(each) for each in sightings]) < ALPHA
