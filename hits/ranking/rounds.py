"""Add HITs to a ranking campaign: for pairs of systems that lack judgements, or that cannot be told apart yet."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations, groupby

import numpy as np
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, Q
from django.utils import timezone

from analysis.stats.judgements import Judgements, complete_tasks, expand
from analysis.stats.roles import Role
from da_platform.jobs.models import Job
from da_platform.jobs.running import start_job

from ..campaigns.building import store_hits
from ..campaigns.composition import CannotCompose
from ..campaigns.material import Material, load_material
from ..exceptions import CannotBuildHITs
from ..models import Assignment, Campaign, Item
from ..people.audit import record
from ..rating.places import work_by_hit
from .arrays import load_rankings
from .choice import Needs, Pairs, given_up, undecided_pairs
from .composition import genuine_screens
from .planning import (
    needed_groups,
    needs_for,
    places_by_translation,
    plan_groups,
    system_keys,
)


@dataclass(frozen=True, slots=True)
class RoundSummary:
    """The HITs that were added, and how many pairs of systems still lacked judgements before.

    Pairs of which most screens were skipped, or that no segment can show, are given up.
    """

    n_hits: int
    n_pairs: int
    n_undecided: int
    n_given_up: int = 0


@dataclass(frozen=True, slots=True)
class Standing:
    """How far the judgements of each pair of systems are, with systems in the order of their keys."""

    systems: list[int]
    # Trusted judgements, with those that HITs will still get.
    counts: Needs
    undecided: Pairs
    needs: Needs
    given_up: Pairs

    @property
    def n_pairs(self) -> int:
        return int(np.triu(self.needs > 0).sum())

    @property
    def n_undecided(self) -> int:
        return int(np.triu(self.undecided).sum())


def standing_of(campaign: Campaign) -> Standing:
    """Return how many judgements each pair of systems has, will have, and lacks."""
    systems = system_keys(campaign)
    place = {pk: place for place, pk in enumerate(systems)}
    rows = load_rankings(campaign)
    judgements = _with_all_systems(expand(complete_tasks(rows)), place)
    wins, ties = judgements.counts()
    asked, promised = _asked_for(campaign, len(systems))
    counts = wins + wins.T + ties + promised
    rng = np.random.default_rng([campaign.seed, 3])
    undecided = undecided_pairs(judgements, rng=rng)
    wanted = needs_for(campaign, counts, undecided)
    hopeless = given_up(counts, asked) & (wanted > 0)
    return Standing(systems, counts, undecided, np.where(hopeless, 0.0, wanted), hopeless)


def _with_all_systems(judgements: Judgements, place: dict[int, int]) -> Judgements:
    """Return the judgements with systems in our order, also those that nobody has ranked yet."""
    names = np.array(list(place), dtype=np.int64)
    if not len(judgements):
        nobody = np.empty(0, dtype=np.int64)
        return Judgements(names, nobody, nobody, nobody, nobody > 0, nobody, nobody, nobody)
    moved = np.array([place[int(name)] for name in judgements.names])
    return Judgements(
        names,
        moved[judgements.first],
        moved[judgements.second],
        judgements.outcomes,
        judgements.is_inferred,
        judgements.segments,
        judgements.judges,
        judgements.tasks,
    )


def _asked_for(campaign: Campaign, n_systems: int) -> tuple[Needs, Needs]:
    """Return how many judgements of each pair the HITs ask for, and how many of them places will still give."""
    asked = np.zeros((n_systems, n_systems))
    promised = np.zeros((n_systems, n_systems))
    work = work_by_hit(campaign, campaign.hits.all(), timezone.now())
    systems = places_by_translation(campaign)
    items = Item.objects.filter(hit__campaign=campaign, role=Role.GENUINE.value)
    shown = items.order_by("hit", "screen").values_list("hit_id", "screen", "translation_id")
    for (hit, _), rows in groupby(shown.iterator(), key=lambda row: row[:2]):
        n_trusted = work[hit].n_trusted if hit in work else 0
        n_missing = max(0, campaign.min_ratings - n_trusted)
        for one, other in combinations([translation for _, _, translation in rows], 2):
            grid = np.ix_(systems[one], systems[other])
            for counts, n in ((asked, campaign.min_ratings), (promised, n_missing)):
                counts[grid] += n
                counts.T[grid] += n
    return asked, promised


def add_round(
    *,
    campaign: Campaign,
    n_hits: int | None = None,
    actor: User | None = None,
    progress: Callable[[int], None] | None = None,
) -> RoundSummary:
    """Add HITs for pairs of systems that lack judgements, at most `n_hits`, or raise `CannotBuildHITs`.

    The same rankings and seed give the same HITs. With nothing to add it adds nothing, so it can be repeated.
    """
    campaign = Campaign.objects.get(pk=campaign.pk)
    n_before = _check(campaign)
    standing = standing_of(campaign)
    n_given_up = int(np.triu(standing.given_up).sum())
    if not standing.n_pairs:
        return RoundSummary(0, 0, standing.n_undecided, n_given_up)
    material = load_material(campaign)
    n_shown = _n_shown(campaign, material)
    most = None if n_hits is None else n_hits * genuine_screens(campaign.hit_size)
    groups = needed_groups(
        campaign, material, standing.needs, n_before=n_before, most=most, n_shown=n_shown
    )
    if not groups:
        n_given_up += standing.n_pairs
        return RoundSummary(0, 0, standing.n_undecided, n_given_up)
    try:
        plan = plan_groups(
            campaign,
            material,
            groups,
            n_before=n_before,
            seen=frozenset(n_shown),
            notes=[],
            progress=progress,
        )
    except CannotCompose as error:
        raise CannotBuildHITs(f"{campaign.name}: {error}") from error
    with transaction.atomic():
        locked = Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
        if _check(locked) != n_before:
            raise CannotBuildHITs(f"Other HITs were added to {locked.name} meanwhile. Try again.")
        store_hits(locked, plan, first_number=n_before + 1)
        record(
            "HITs added",
            actor=actor,
            campaign=locked,
            n_hits=len(plan.hits),
            n_pairs=standing.n_pairs,
            n_undecided=standing.n_undecided,
            n_given_up=n_given_up,
        )
    return RoundSummary(len(plan.hits), standing.n_pairs, standing.n_undecided, n_given_up)


def _n_shown(campaign: Campaign, material: Material) -> dict[int, int]:
    """Return how many HITs show each output, by index into the material, of those that any shows."""
    place = {pk: place for place, pk in enumerate(material.pks)}
    items = Item.objects.filter(hit__campaign=campaign, role=Role.GENUINE.value).order_by()
    counts = items.values_list("translation").annotate(n=Count("pk"))
    return {place[pk]: n for pk, n in counts if pk in place}


def _check(campaign: Campaign) -> int:
    """Return how many HITs the campaign has, if more can be added."""
    if campaign.task != Campaign.Task.RANK:
        raise CannotBuildHITs("HITs can only be added to a campaign that ranks outputs.")
    if not campaign.ranks_pairs:
        raise CannotBuildHITs(
            f"{campaign.name} ranks each output once. Set how many judgements each pair of systems needs."
        )
    if campaign.status == Campaign.Status.CLOSED:
        raise CannotBuildHITs(f"{campaign.name} is closed.")
    n_hits = campaign.hits.count()
    if not n_hits:
        raise CannotBuildHITs(f"{campaign.name} has no HITs yet. Build them first.")
    return n_hits


def add_rounds_where_done() -> int:
    """Start a job that adds HITs for each open campaign whose HITs are all done. Return how many were started.

    Nothing is started twice for the same rankings.
    """
    n_started = 0
    for campaign in Campaign.objects.filter(status=Campaign.Status.OPEN, task=Campaign.Task.RANK):
        if campaign.ranks_pairs and _is_done(campaign):
            start_job(kind="add_round", campaign=campaign)
            n_started += 1
    return n_started


def _is_done(campaign: Campaign) -> bool:
    """Whether every HIT is done and weighed, and something was weighed since HITs were last added."""
    work = Assignment.objects.filter(hit__campaign=campaign)
    is_waited_for = Q(status=Assignment.Status.IN_PROGRESS) | Q(
        status=Assignment.Status.SUBMITTED, evidence_at=None
    )
    if campaign.hits.filter(places_left__gt=0).exists() or work.filter(is_waited_for).exists():
        return False
    job = Job.objects.filter(campaign=campaign, kind="add_round").order_by("-pk").first()
    return job is None or (
        job.finished_at is not None and work.filter(evidence_at__gt=job.created_at).exists()
    )
