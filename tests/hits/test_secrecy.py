"""Nothing that reaches a worker's browser, save the texts, tells a quality-control item from a genuine one.

Everything that the browser gets about an item is turned into numbers, and a classifier that knows the roles of
other HITs' items tries to guess the rest. It must not do better than chance; with a leak planted, it must.
"""

import json
import re
import time
import uuid
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from scipy import optimize, stats

from hits.campaigns.composition import Layout, Role, plan_hits
from hits.hit_sizes import HIT_SIZES
from hits.models import HIT, Assignment, Campaign, Item, Participation, Worker
from hits.rating import desk
from hits.rating.assignments import submit_assignment, take_assignment
from hits.rating.saving import save_rating
from hits.recruiting.visitors import COOKIE, remember_worker
from tests.audit_log import empty_audit_log
from tests.factories import make_hits, make_worker

pytestmark = [
    pytest.mark.xdist_group("secrecy"),
    pytest.mark.django_db,
    # Nobody collects static files for a test.
    pytest.mark.filterwarnings("ignore:No directory at"),
]

N_HITS = 12
N_FOLDS = 6
# What chance does once in a thousand times counts as a leak, and a planted leak must be that clear.
ALPHA = 0.001
# Ids and codes are drawn anew in every run: where no power is at stake, a false alarm must be rare.
RARE = 1e-6
# Which of an item's numbers is the time its answer took.
TIME = 0
JSON = {"Accept": "application/json"}
ITEMS = re.compile(r'<script id="items" type="application/json">(.*?)</script>', re.DOTALL)


# What the browser gets -----------------------------------------------------------------------


@dataclass(frozen=True)
class Sighting:
    """All that came with one item: as it is on its page, and as a script gets it ahead of time."""

    fields: dict[str, Any]
    raw: bytes
    page: str
    headers: dict[str, str]
    seconds: float


@pytest.fixture(scope="module")
def seen(django_db_setup: None, django_db_blocker: Any) -> Any:
    """What a worker on each of several HITs sees, with the items as the database knows them."""
    with django_db_blocker.unblock():
        campaign = make_secret_campaign()
        try:
            yield campaign, look_at_all(campaign)
        finally:
            remove(campaign)


def make_secret_campaign(name: str = "secret") -> Campaign:
    return make_hits(n_segments=N_HITS * 14, min_ratings=1, seed=11, name=name)


def look_at_all(campaign: Campaign) -> list[tuple[Item, Sighting]]:
    return [pair for hit in campaign.hits.all() for pair in look_at(hit)]


def remove(campaign: Campaign) -> None:
    for hit in campaign.hits.all():
        for assignment in hit.assignments.all():
            assignment.ratings.all().delete()
            assignment.delete()
    Worker.objects.filter(participations__campaign=campaign).delete()
    Item.objects.filter(hit__campaign=campaign, partner__isnull=False).delete()
    campaign.hits.all().delete()
    empty_audit_log()
    campaign.delete()


def look_at(hit: HIT) -> list[tuple[Item, Sighting]]:
    """Do a whole HIT over HTTP, reloading the page at every item."""
    client, assignment = enter(hit.campaign)
    url = reverse("rate", args=[assignment.code])
    pages: dict[int, Any] = {}
    sent_ahead: dict[int, tuple[dict[str, Any], bytes, float]] = {}
    for item in assignment.hit.items.order_by("position"):
        pages[item.position] = client.get(url)
        for fields in window_of(pages[item.position]):
            raw = json.dumps(fields, ensure_ascii=False).encode()
            sent_ahead.setdefault(fields["position"], (fields, raw, 0.0))
        started = time.perf_counter()
        answer = client.post(url, rating_of(item), headers=JSON)
        seconds = time.perf_counter() - started
        for fields in answer.json()["items"]:
            sent_ahead[fields["position"]] = (fields, answer.content, seconds)
    items = assignment.hit.items.select_related("translation__segment").order_by("position")
    return [(item, sighting_of(pages[item.position], *sent_ahead[item.position])) for item in items]


def enter(campaign: Campaign) -> tuple[Client, Assignment]:
    worker = make_worker()
    Participation.objects.create(campaign=campaign, worker=worker, qualified_at=timezone.now())
    assignment = take_assignment(campaign=campaign, worker=worker)
    assert assignment is not None
    response, client = HttpResponse(), Client()
    remember_worker(response, worker)
    client.cookies[COOKIE] = response.cookies[COOKIE].value
    return client, assignment


def rating_of(item: Item) -> dict[str, Any]:
    return {"position": item.position, "item": item.code, "score": 50}


def window_of(page: Any) -> list[dict[str, Any]]:
    found = ITEMS.search(page.content.decode())
    assert found
    items: list[dict[str, Any]] = json.loads(found[1])
    return items


def sighting_of(page: Any, fields: dict[str, Any], raw: bytes, seconds: float) -> Sighting:
    return Sighting(fields, raw, page.content.decode(), dict(page.headers), seconds)


# As numbers ----------------------------------------------------------------------------------


def numbers_of(sighting: Sighting) -> list[float]:
    """Describe a sighting without its texts: names, order, types, sizes, id, headers, time."""
    fields = sighting.fields
    code = uuid.UUID(fields["item"])
    texts = [fields["text"], fields["above"]]
    # The window of later items is not about this one; what is said of it there is among the fields.
    page = ITEMS.sub("", sighting.page)
    return [
        sighting.seconds,
        hashed(list(fields)),
        hashed([type(value).__name__ for value in fields.values()]),
        len(sighting.raw) - sum(len(json.dumps(text)) for text in texts),
        len(page) - sum(len(text) for text in texts),
        hashed(without(page, fields)),
        hashed(sorted(sighting.headers)),
        float(sighting.headers.get("Content-Length", 0)) - len(sighting.page.encode()),
        fields["position"],
        fields["position"] % 10,
        *((byte >> bit) & 1 for byte in code.bytes for bit in range(8)),
    ]


def without(page: str, fields: dict[str, Any]) -> str:
    """Cut out of a page what every item has of its own, and the tokens that differ on every load.

    A number that is not the item's place stays: it may stand for a row.
    """
    place = fields["position"]
    own = [fields["text"], fields["above"], fields["item"], f"{place} of 40"]
    own += [f'name="position" value="{place}"', f'max="40" value="{place - 1}"']
    for piece in own:
        page = page.replace(piece, "")
    page = re.sub(r'name="csrfmiddlewaretoken" value="\w+"', "", page)
    return re.sub(r'data-assignment="[^"]+"|/hit/[^/]+/', "", page)


def hashed(value: Any) -> float:
    """A number that differs where the value does, the same in every run."""
    return uuid.uuid5(uuid.NAMESPACE_OID, repr(value)).int % 9973


def matrix_of(sightings: list[tuple[Item, Sighting]]) -> np.ndarray:
    features = np.array([numbers_of(sighting) for _, sighting in sightings], dtype=float)
    # As ranks: one answer that took a second would make all others look alike.
    features[:, TIME] = stats.rankdata(features[:, TIME])
    spread = features.std(axis=0)
    return (features - features.mean(axis=0)) / np.where(spread > 0, spread, 1)


def is_qc(sightings: list[tuple[Item, Sighting]]) -> np.ndarray:
    return np.array([item.role != Role.GENUINE for item, _ in sightings])


# The guesser ---------------------------------------------------------------------------------


def fit(features: np.ndarray, labels: np.ndarray, penalty: float = 3.0) -> np.ndarray:
    """Logistic regression with an intercept and a ridge penalty, by L-BFGS."""
    design = np.column_stack([np.ones(len(features)), features])
    signs = np.where(labels, 1.0, -1.0)

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        margins = signs * (design @ weights)
        shrink = np.concatenate([[0.0], weights[1:]])
        slope = -signs / (1 + np.exp(np.clip(margins, -500, 500)))
        value = np.logaddexp(0, -margins).sum() + penalty * (shrink @ shrink) / 2
        return float(value), design.T @ slope + penalty * shrink

    found = optimize.minimize(loss, np.zeros(design.shape[1]), jac=True, method="L-BFGS-B")
    return np.asarray(found.x)


def guesses(features: np.ndarray, labels: np.ndarray, hits: np.ndarray) -> np.ndarray:
    """Guess each item's odds of being for quality control from the items of other HITs."""
    odds = np.empty(len(labels))
    folds = hits % N_FOLDS
    for fold in range(N_FOLDS):
        held_out = folds == fold
        weights = fit(features[~held_out], labels[~held_out])
        odds[held_out] = weights[0] + features[held_out] @ weights[1:]
    return odds


def chance_of(odds: np.ndarray, labels: np.ndarray, folds: np.ndarray) -> float:
    """How likely chance alone ranks the QC items that high: small when the guesser knows something.

    Each fold has a classifier of its own, so ranks are compared within folds; their rank-sum
    statistics are independent under the null and add up to a normal one.
    """
    excess = variance = 0.0
    for fold in np.unique(folds):
        own = folds == fold
        n_qc, n_genuine = labels[own].sum(), (~labels[own]).sum()
        ranks = stats.rankdata(odds[own])
        excess += ranks[labels[own]].sum() - n_qc * (own.sum() + 1) / 2
        ties = np.unique(ranks, return_counts=True)[1]
        n = own.sum()
        correction = (ties**3 - ties).sum() / (n * (n - 1))
        variance += n_qc * n_genuine / 12 * (n + 1 - correction)
    return float(stats.norm.sf(excess / np.sqrt(variance))) if variance else 1.0


def chance_that_nothing_leaks(
    features: np.ndarray, sightings: list[tuple[Item, Sighting]]
) -> float:
    labels = is_qc(sightings)
    hits = np.unique([item.hit_id for item, _ in sightings], return_inverse=True)[1]
    return chance_of(guesses(features, labels, hits), labels, hits % N_FOLDS)


# The tests -----------------------------------------------------------------------------------


def test_a_classifier_cannot_tell_qc_items_from_genuine_ones(seen):
    _, sightings = seen
    assert len(sightings) == N_HITS * 40
    chance = chance_that_nothing_leaks(matrix_of(sightings), sightings)
    if chance <= ALPHA:
        # Ids are drawn and times measured: chance gets here once in a thousand runs, a leak comes again.
        sightings = look_at_all(make_secret_campaign("secret again"))
        chance = chance_that_nothing_leaks(matrix_of(sightings), sightings)
    assert chance > ALPHA


def leaky_field(sighting: Sighting) -> Sighting:
    return replace(sighting, fields=sighting.fields | {"partner": None})


def leaky_id(sighting: Sighting) -> Sighting:
    """One bit of the id is set, which genuine items have by chance."""
    code = str(uuid.UUID(int=uuid.UUID(sighting.fields["item"]).int | 1))
    return replace(sighting, fields=sighting.fields | {"item": code})


def leaky_size(sighting: Sighting) -> Sighting:
    return replace(sighting, page=sighting.page + " ")


def leaky_number(sighting: Sighting) -> Sighting:
    return replace(sighting, page=sighting.page.replace('data-size="40"', 'data-size="41"'))


def leaky_header(sighting: Sighting) -> Sighting:
    return replace(sighting, headers=sighting.headers | {"X-Role": "1"})


@pytest.mark.parametrize("leak", [leaky_field, leaky_id, leaky_size, leaky_number, leaky_header])
def test_the_classifier_finds_a_leak_when_there_is_one(seen, leak: Callable[[Sighting], Sighting]):
    _, sightings = seen
    leaky = [
        (item, sighting if item.role == Role.GENUINE else leak(sighting))
        for item, sighting in sightings
    ]
    assert chance_that_nothing_leaks(matrix_of(leaky), leaky) < ALPHA


def test_the_classifier_finds_a_delay_on_a_machine_that_stalls_now_and_then(seen):
    """The times are drawn: those measured depend on what else the machine does."""
    _, sightings = seen
    rng, n = np.random.default_rng(4), len(sightings)
    stalls = np.where(rng.random(n) < 0.05, rng.uniform(0.1, 0.4, n), 0)
    times = 0.006 + rng.exponential(0.003, n) + stalls + 0.02 * is_qc(sightings)
    leaky = [
        (item, replace(sighting, seconds=seconds))
        for (item, sighting), seconds in zip(sightings, times, strict=True)
    ]
    assert chance_that_nothing_leaks(matrix_of(leaky), leaky) < ALPHA


def test_the_classifier_is_fair_when_there_is_nothing_to_find():
    """Its p-values on pure noise are spread as p-values should be."""
    rng = np.random.default_rng(5)
    labels, hits = rng.permutation(np.arange(480) % 10 < 3), np.arange(480) // 40
    chances = [
        chance_of(guesses(rng.normal(size=(480, 20)), labels, hits), labels, hits % N_FOLDS)
        for _ in range(25)
    ]
    assert stats.kstest(chances, "uniform").pvalue > ALPHA


def test_every_item_comes_with_the_same_fields_in_the_same_order(seen):
    _, sightings = seen
    shapes = {
        tuple((name, type(value)) for name, value in sighting.fields.items())
        for _, sighting in sightings
    }
    assert shapes == {(("item", str), ("position", int), ("text", str), ("above", str))}


def pages_but_for_what_is_the_items_own(sightings: list[tuple[Item, Sighting]]) -> set[str]:
    return {without(ITEMS.sub("", s.page), s.fields) for _, s in sightings}


def test_pages_differ_in_nothing_but_what_is_the_items_own(seen):
    _, sightings = seen
    assert len(pages_but_for_what_is_the_items_own(sightings)) == 1
    assert len({tuple(sorted(s.headers)) for _, s in sightings}) == 1


def test_a_number_that_stands_for_a_row_would_be_noticed(seen):
    _, sightings = seen
    pages = [s.page.replace("<main", f'<main data-row="{item.pk}"') for item, s in sightings[:2]]
    planted = [
        (i, replace(s, page=page)) for (i, s), page in zip(sightings[:2], pages, strict=True)
    ]
    assert len(pages_but_for_what_is_the_items_own(planted)) == 2


def test_ids_are_random_and_go_with_neither_role_nor_place_nor_age(seen):
    _, sightings = seen
    codes = [uuid.UUID(sighting.fields["item"]) for _, sighting in sightings]
    assert {(code.version, code.variant) for code in codes} == {(4, uuid.RFC_4122)}
    assert len(set(codes)) == len(codes)
    values = [float(code.int) for code in codes]
    for other in ("pk", "position", "role", "translation_id"):
        others = [getattr(item, other) for item, _ in sightings]
        assert stats.spearmanr(values, others).pvalue > RARE, other


def test_no_page_names_a_system_a_role_a_partner_or_a_row(seen):
    campaign, sightings = seen
    names = [system.name for system in campaign.systems.all()]
    segments = [segment.name for segment in campaign.segments.all()]
    words = ["partner", "degraded", "bad reference", "bad_ref", "genuine", "repeat item", "role_"]
    for item, sighting in sightings:
        page = without_texts(sighting).lower()
        assert not [word for word in [*names, *segments, *words, campaign.name] if word in page]
        assert not re.search(rf"\b(pk|id)\W+{item.pk}\b", page)


def without_texts(sighting: Sighting) -> str:
    """A page and the items sent with it, without the texts to rate: what the platform itself says."""
    found = ITEMS.search(sighting.page)
    assert found
    page = ITEMS.sub("", sighting.page)
    for text in (sighting.fields["text"], sighting.fields["above"]):
        page = page.replace(text, "")
    ahead = [fields | {"text": "", "above": ""} for fields in json.loads(found[1])]
    return page + json.dumps(ahead)


# Pairs ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", HIT_SIZES)
@pytest.mark.parametrize("has_references", [True, False])
def test_an_item_and_its_partner_never_lie_in_the_browser_together(size, has_references):
    roles = (Role.BAD_REFERENCE, Role.REPEAT) + ((Role.REFERENCE,) if has_references else ())
    layout = Layout(size // 10, roles)
    plan = plan_hits(
        60 * layout.genuine_per_hit, layout=layout, seed=3, degrade=lambda i, rng: f"bad {i}"
    )
    distances = Counter(
        abs(item.position - item.partner) for hit in plan for item in hit if item.partner
    )
    # The browser holds positions p to p + n_ahead - 1.
    assert desk.n_ahead(size) <= min(distances)
    assert desk.n_ahead(size) >= 11, "ten items can be rated without a connection"


def test_no_window_that_was_sent_holds_a_pair(seen):
    _, sightings = seen
    by_code = {str(item.code): item for item, _ in sightings}
    for _, sighting in sightings:
        found = ITEMS.search(sighting.page)
        assert found
        window = [by_code[fields["item"]] for fields in json.loads(found[1])]
        assert len(window) <= desk.n_ahead(40)
        pks = {item.pk for item in window}
        assert not [item for item in window if item.partner_id in pks]


# The completion code -------------------------------------------------------------------------


def test_the_completion_code_says_nothing_about_the_work():
    """Careless and honest workers' codes are drawn alike: from all letters, in every place."""
    campaign = make_hits(min_ratings=80)
    items = list(campaign.hits.get().items.order_by("position"))
    codes: dict[bool, list[str]] = {True: [], False: []}
    for number in range(80):
        is_honest = number % 2 == 0
        codes[is_honest].append(code_for(campaign, items, is_honest=is_honest))
    assert len({*codes[True], *codes[False]}) == 80
    counts = [Counter("".join(codes[kind])) for kind in (True, False)]
    letters = sorted(counts[0] | counts[1])
    table = [[count[letter] for letter in letters] for count in counts]
    assert stats.chi2_contingency(table).pvalue > RARE
    assert stats.chisquare(np.sum(table, axis=0)).pvalue > RARE


def code_for(campaign: Campaign, items: list[Item], *, is_honest: bool) -> str:
    assignment = take_assignment(campaign=campaign, worker=make_worker())
    assert assignment is not None
    for item in items:
        honest = {Role.BAD_REFERENCE: 5, Role.REFERENCE: 100}.get(Role(item.role), 60)
        save_rating(
            assignment=assignment,
            position=item.position,
            item_code=item.code,
            score=honest if is_honest else 100,
        )
    return submit_assignment(assignment=assignment).completion_code
