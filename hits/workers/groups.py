"""Groups of workers who seem to move together: one browser, one network, the same scores, the same rhythm.

This is advice. A family shares a browser and an office shares a network, so each sign comes with how often pairs of
trusted workers show it.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from django.core.cache import cache
from django.db import models
from django.db.models import Count, Max, Sum

from ..models import Assignment, Campaign, DeviceSighting, Participation, Worker
from ..people.guards import shared_devices

if TYPE_CHECKING:
    from analysis.stats.score_twins import WorkerPairs

# A network with more workers than this is a company's, a school's or a proxy, and tells nothing about any of them.
LARGEST_NETWORK = 20
# The page of a worker shows no more of them; the page of groups has them all.
MOST_COMPANIONS = 50
# How long the result of comparing a campaign's workers is kept, and in a campaign with this many submitted HITs.
KEPT_SECONDS = 60 * 60
LARGE, LARGE_SECONDS = 2_000, 15 * 60


class Sign(models.TextChoices):
    """What two workers may have in common."""

    COOKIE = "cookie", "Same browser"
    ADDRESS = "address", "Same kind of browser at the same address"
    SCORES = "scores", "Almost the same scores"
    RHYTHM = "rhythm", "Same rhythm"


# Workers by primary key, the smaller one first.
Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class SignRate:
    """How many of the pairs of trusted workers that could be compared show a sign."""

    sign: Sign
    n_showing: int
    n_compared: int

    @property
    def percent(self) -> float | None:
        return 100 * self.n_showing / self.n_compared if self.n_compared else None


@dataclass(frozen=True, slots=True)
class Links:
    """The signs that each pair of workers shows, with the numbers behind them, and the rates among trusted pairs."""

    pairs: Mapping[Pair, Mapping[Sign, str]]
    rates: tuple[SignRate, ...]

    def of(self, worker: int) -> dict[int, Mapping[Sign, str]]:
        """The workers who share a sign with this one."""
        return {
            second if first == worker else first: signs
            for (first, second), signs in self.pairs.items()
            if worker in (first, second)
        }


@dataclass(frozen=True, slots=True)
class SharedSign:
    """A sign within a group: how many pairs of its workers show it, and the numbers of one of them."""

    sign: Sign
    n_pairs: int
    example: str


@dataclass(frozen=True, slots=True)
class Group:
    """Workers who are linked, directly or through others."""

    workers: tuple[Worker, ...]
    signs: tuple[SharedSign, ...]
    n_trusted: int


@dataclass(frozen=True, slots=True)
class WorkerGroups:
    """All groups of a campaign, those with the most signs first, and how often trusted pairs show each sign."""

    groups: list[Group]
    rates: tuple[SignRate, ...]


def groups_of(campaign: Campaign) -> WorkerGroups:
    """Find the groups of a campaign. The number of queries does not depend on the number of workers."""
    links = links_of(campaign)
    members = list(_connected(links.pairs))
    workers = Worker.objects.in_bulk({worker for group in members for worker in group})
    trusted = set(campaign.participations.trusted().values_list("worker", flat=True))
    groups = [
        Group(
            workers=tuple(workers[pk] for pk in sorted(group) if pk in workers),
            signs=_shared_signs(group, links.pairs),
            n_trusted=len(group & trusted),
        )
        for group in members
    ]
    groups.sort(key=lambda group: (-len(group.signs), -len(group.workers), group.workers[0].pk))
    return WorkerGroups(groups, links.rates)


def links_of(campaign: Campaign) -> Links:
    """Return which workers are linked by what.

    The result is kept until something is submitted, seen or decided. In a large campaign, where that happens all the time
    and comparing takes seconds, it is kept for a quarter of an hour.
    """
    key, is_large = _place_in_cache(campaign)
    links: Links | None = cache.get(key)
    return _compare(campaign, key, is_large) if links is None else links


def quick_links_of(campaign: Campaign) -> Links | None:
    """The same, or None if it is a large campaign whose workers have not been compared recently."""
    key, is_large = _place_in_cache(campaign)
    links: Links | None = cache.get(key)
    return _compare(campaign, key, is_large) if links is None and not is_large else links


def _compare(campaign: Campaign, key: str, is_large: bool) -> Links:
    links = _find_links(campaign)
    cache.set(key, links, LARGE_SECONDS if is_large else KEPT_SECONDS)
    return links


def _place_in_cache(campaign: Campaign) -> tuple[str, bool]:
    """Return the key of the kept links, and whether the campaign is large."""
    submitted = Assignment.objects.submitted().filter(hit__campaign=campaign)
    work = submitted.aggregate(Count("pk"), Max("pk"), Max("submitted_at"))
    if work["pk__count"] >= LARGE:
        return f"hits.groups.{campaign.pk}", True
    facts = [
        *work.values(),
        *campaign.device_sightings.aggregate(Count("pk"), Max("pk")).values(),
        *campaign.participations.trusted().aggregate(Count("pk"), Sum("pk")).values(),
    ]
    state = "-".join(str(fact).replace(" ", "T") for fact in facts)
    return f"hits.groups.{campaign.pk}.{state}", False


def _find_links(campaign: Campaign) -> Links:
    trusted = set(campaign.participations.trusted().values_list("worker", flat=True))
    found: dict[Pair, dict[Sign, str]] = defaultdict(dict)
    rates = []
    by_device, n_compared = _same_devices(campaign, trusted)
    for sign in (Sign.COOKIE, Sign.ADDRESS):
        for pair in by_device[sign]:
            found[pair][sign] = ""
        rates.append(SignRate(sign, _n_trusted(by_device[sign], trusted), n_compared))
    for sign, pairs in _same_ratings(campaign).items():
        twins = {
            (first, second): _in_words(sign, n_items, r, share_equal)
            for first, second, n_items, r, share_equal in _twins(pairs)
        }
        for pair, words in twins.items():
            found[pair][sign] = words
        compared = zip(pairs.first.tolist(), pairs.second.tolist(), strict=True)
        rates.append(SignRate(sign, _n_trusted(twins, trusted), _n_trusted(compared, trusted)))
    return Links(dict(found), tuple(rates))


def _n_trusted(pairs: Iterable[Pair], trusted: set[int]) -> int:
    return sum(first in trusted and second in trusted for first, second in pairs)


def _same_devices(campaign: Campaign, trusted: set[int]) -> tuple[dict[Sign, set[Pair]], int]:
    """Return the pairs that share a mark, and how many pairs of trusted workers were seen on any device."""
    marks: dict[tuple[str, str], list[int]] = defaultdict(list)
    for sighting in shared_devices(campaign):
        marks[sighting.kind, sighting.mark].append(sighting.worker_id)
    pairs: dict[Sign, set[Pair]] = {Sign.COOKIE: set(), Sign.ADDRESS: set()}
    for (kind, _), workers in marks.items():
        if kind == DeviceSighting.Kind.COOKIE or len(workers) <= LARGEST_NETWORK:
            pairs[Sign(kind)].update(combinations(sorted(set(workers)), 2))
    seen = set(campaign.device_sightings.values_list("worker", flat=True).distinct()) & trusted
    return pairs, len(seen) * (len(seen) - 1) // 2


def _same_ratings(campaign: Campaign) -> "dict[Sign, WorkerPairs]":
    # Imported here because NumPy and SciPy are not needed by most requests.
    import numpy as np

    from analysis.stats.roles import Role
    from analysis.stats.score_twins import rhythm_twins, score_twins

    from ..rating.arrays import load_assignments, load_ratings

    ratings, assignments = load_ratings(campaign), load_assignments(campaign)
    hits = assignments.hit[np.searchsorted(assignments.assignment, ratings.assignment)]
    genuine = ratings.role == Role.GENUINE
    order = np.lexsort((ratings.position, ratings.assignment))
    received = ratings.received[order].astype("M8[us]").astype(np.int64) / 1e6
    is_next = np.diff(ratings.assignment[order], prepend=-1) == 0
    seconds = np.full(len(ratings), np.nan)
    seconds[order] = np.where(is_next, np.diff(received, prepend=np.nan), np.nan)
    return {
        Sign.SCORES: score_twins(
            ratings.score[genuine], ratings.worker[genuine], ratings.item[genuine], hits[genuine]
        ),
        Sign.RHYTHM: rhythm_twins(seconds, ratings.worker, ratings.item, hits),
    }


def _twins(pairs: "WorkerPairs") -> Iterator[tuple[int, int, int, float, float]]:
    chosen = pairs.is_twin
    columns = (pairs.first, pairs.second, pairs.n_items, pairs.r, pairs.share_equal)
    return zip(*(column[chosen].tolist() for column in columns), strict=True)


def _in_words(sign: Sign, n_items: int, r: float, share_equal: float) -> str:
    # NaN differs from itself.
    correlation = f"r = {r:.2f}" if r == r else "scores that never vary"
    if sign == Sign.RHYTHM:
        return f"{correlation} of the times for {n_items} texts"
    return f"{correlation}, {share_equal:.0%} equal, {n_items} texts"


def _shared_signs(
    group: set[int], pairs: Mapping[Pair, Mapping[Sign, str]]
) -> tuple[SharedSign, ...]:
    examples: dict[Sign, list[str]] = defaultdict(list)
    # Both workers of a pair are in the same group.
    for (first, _), signs in pairs.items():
        if first in group:
            for sign, words in signs.items():
                examples[sign].append(words)
    return tuple(
        SharedSign(sign, len(examples[sign]), examples[sign][0]) for sign in Sign if examples[sign]
    )


def _connected(pairs: Iterable[Pair]) -> Iterator[set[int]]:
    """Yield the sets of workers that are linked, directly or through others."""
    linked: dict[int, set[int]] = defaultdict(set)
    for first, second in pairs:
        linked[first].add(second)
        linked[second].add(first)
    unvisited = set(linked)
    while unvisited:
        waiting = [unvisited.pop()]
        group = set(waiting)
        while waiting:
            new = linked[waiting.pop()] - group
            group |= new
            waiting.extend(new)
        unvisited -= group
        yield group


@dataclass(frozen=True, slots=True)
class Companion:
    """Another worker who shares signs with the one on the page."""

    worker: Worker
    signs: list[tuple[Sign, str]]


def companions_of(participation: Participation, links: Links) -> list[Companion]:
    """The workers who share signs with this one, those with the most first."""
    shared = links.of(participation.worker_id)
    nearest = sorted(shared, key=lambda pk: (-len(shared[pk]), pk))[:MOST_COMPANIONS]
    workers = Worker.objects.in_bulk(nearest)
    return [
        Companion(workers[pk], [(sign, shared[pk][sign]) for sign in Sign if sign in shared[pk]])
        for pk in nearest
        if pk in workers
    ]
