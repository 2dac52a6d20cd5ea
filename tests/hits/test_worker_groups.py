"""Groups of workers who share a browser, a network, scores or a rhythm."""

from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from django.core.cache import cache
from django.urls import reverse
from django.utils import timezone

from hits.models import Campaign, DeviceSighting, Participation, Rating, Worker
from hits.rating.assignments import submit_assignment, take_assignment
from hits.workers import groups
from hits.workers.groups import LARGEST_NETWORK, Group, Sign, groups_of, links_of, quick_links_of
from tests.factories import make_hits, make_worker, rate
from tests.people import client_of

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _empty_cache() -> None:
    cache.clear()


def work(
    campaign: Campaign, name: str, scores: Any, *, seconds: Any = None, trust: str = "unproven"
) -> Worker:
    """Let a worker rate a HIT with these scores, taking so many seconds for each item."""
    worker = make_worker(name)
    Participation.objects.create(campaign=campaign, worker=worker, trust=trust)
    assignment = take_assignment(campaign=campaign, worker=worker)
    assert assignment is not None
    for item, score in zip(assignment.hit.items.order_by("position"), scores, strict=True):
        rate(assignment, item, score=int(score))
    moment = timezone.now()
    gaps = np.arange(1, 41) if seconds is None else seconds
    ratings = assignment.ratings.order_by("item__position")
    for pk, gap in zip(ratings.values_list("pk", flat=True), gaps, strict=True):
        moment += timedelta(seconds=float(gap))
        Rating.objects.filter(pk=pk).update(received_at=moment)
    submit_assignment(assignment=assignment)
    return worker


def see(campaign: Campaign, worker: Worker, kind: str, mark: str) -> None:
    DeviceSighting.objects.create(campaign=campaign, worker=worker, kind=kind, mark=mark)


def names(group: Group) -> list[str]:
    return [worker.external_id for worker in group.workers]


def readers(campaign: Campaign, n: int, *, seed: int = 1, trust: str = "reliable") -> list[Worker]:
    """People with scores and times of their own."""
    rng = np.random.default_rng(seed)
    return [
        work(
            campaign,
            f"reader-{number}",
            rng.integers(0, 101, 40),
            seconds=rng.lognormal(2, 0.5, 40),
            trust=trust,
        )
        for number in range(n)
    ]


def test_people_on_their_own_form_no_group():
    campaign = make_hits(min_ratings=9)
    readers(campaign, 3)
    found = groups_of(campaign)
    assert found.groups == []
    assert {rate.sign: (rate.n_showing, rate.n_compared) for rate in found.rates} == {
        Sign.COOKIE: (0, 0),
        Sign.ADDRESS: (0, 0),
        Sign.SCORES: (0, 3),
        Sign.RHYTHM: (0, 3),
    }


def test_shared_devices_make_a_group():
    campaign = make_hits()
    alice, bob, carol = (make_worker(name) for name in ("alice", "bob", "carol"))
    see(campaign, alice, "cookie", "a")
    see(campaign, bob, "cookie", "a")
    see(campaign, bob, "address", "b")
    see(campaign, carol, "address", "b")
    [group] = groups_of(campaign).groups
    assert names(group) == ["alice", "bob", "carol"]
    assert [(shared.sign, shared.n_pairs) for shared in group.signs] == [
        (Sign.COOKIE, 1),
        (Sign.ADDRESS, 1),
    ]


def test_a_network_of_many_workers_says_nothing():
    campaign = make_hits()
    for number in range(LARGEST_NETWORK + 1):
        see(campaign, make_worker(f"w{number}"), "address", "office")
    assert groups_of(campaign).groups == []


def test_the_same_scores_and_rhythm_make_a_group():
    campaign = make_hits(min_ratings=9)
    readers(campaign, 4)
    rng = np.random.default_rng(7)
    scores, seconds = rng.integers(0, 101, 40), rng.lognormal(1, 0.4, 40)
    work(campaign, "bot-1", scores, seconds=seconds)
    work(campaign, "bot-2", scores, seconds=seconds + rng.uniform(0, 0.01, 40))
    [group] = groups_of(campaign).groups
    assert names(group) == ["bot-1", "bot-2"]
    assert {shared.sign for shared in group.signs} == {Sign.SCORES, Sign.RHYTHM}
    assert "100% equal, 28 texts" in group.signs[0].example


def test_rates_count_pairs_in_which_both_are_trusted():
    campaign = make_hits(min_ratings=9)
    alice, bob, carol = readers(campaign, 3)
    Participation.objects.filter(worker=carol).update(trust="unreliable")
    for worker in (alice, bob, carol):
        see(campaign, worker, "cookie", "shared")
    rates = {rate.sign: (rate.n_showing, rate.n_compared) for rate in groups_of(campaign).rates}
    assert rates[Sign.COOKIE] == (1, 1)
    assert rates[Sign.SCORES] == (0, 1)


def test_links_are_kept_until_something_changes(monkeypatch):
    campaign = make_hits()
    alice, bob = make_worker("alice"), make_worker("bob")
    see(campaign, alice, "cookie", "a")
    assert not links_of(campaign).pairs
    see(campaign, bob, "cookie", "a")
    assert list(links_of(campaign).pairs) == [(alice.pk, bob.pk)]
    monkeypatch.setattr(groups, "_find_links", lambda campaign: pytest.fail("Found again."))
    assert list(links_of(campaign).pairs) == [(alice.pk, bob.pk)]


def test_a_large_campaign_is_compared_when_asked_and_then_kept(monkeypatch):
    monkeypatch.setattr(groups, "LARGE", 0)
    campaign = make_hits()
    assert quick_links_of(campaign) is None
    assert links_of(campaign).pairs == {}
    for name in ("alice", "bob"):
        see(campaign, make_worker(name), "cookie", "a")
    kept = quick_links_of(campaign)
    assert kept is not None and kept.pairs == {}


@pytest.mark.parametrize("n", [2, 6])
def test_finding_groups_takes_the_same_number_of_queries(n, django_assert_num_queries):
    campaign = make_hits(min_ratings=9)
    for worker in readers(campaign, n):
        see(campaign, worker, "cookie", "shared")
    with django_assert_num_queries(12):
        assert len(groups_of(campaign).groups) == 1


def test_the_page_shows_groups_to_admins_of_the_campaign():
    campaign = make_hits()
    for name in ("alice", "bob"):
        see(campaign, make_worker(name), "cookie", "a")
    url = reverse("worker_groups", args=[campaign.code])
    page = client_of("admin", campaign).get(url).content.decode()
    assert "link:alice" in page and "link:bob" in page and "same browser: 1 pair" in page
    assert "never a verdict" in page
    assert client_of("researcher", campaign).get(url).status_code == 403


def test_an_empty_campaign_has_no_groups():
    campaign = make_hits()
    page = client_of("admin", campaign).get(reverse("worker_groups", args=[campaign.code]))
    assert "No groups" in page.content.decode()
