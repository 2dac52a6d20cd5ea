"""Simulate good and bad workers, who use the same services as people.

Every translation has a true quality. A worker's behaviour (`behaviours.py`) determines how they perceive and rate
it. The same campaign and seed give the same ratings.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import scipy
from django.db import transaction
from django.utils import timezone

from analysis.stats.roles import Role
from hits.rating.assignments import submit_assignment, take_assignment
from hits.rating.joining import find_or_make_worker
from hits.rating.saving import save_rating

from ..models import SCORE_MAX, SCORE_MIN, Assignment, Campaign, Translation, Worker
from ..task_kinds import kind_of
from .behaviours import (
    HONEST_NOISE_SD,
    SINGLE_RATING_AGREEMENT,
    TRUTH_MEAN,
    TRUTH_SD,
    Behaviour,
    Shown,
    SimulatedWorker,
    word_f1,
)

PROVIDER = "simulation"

# Share of the variance of the true quality that similarity to the reference explains; the rest is random.
TRUTH_FROM_SIMILARITY = 0.6


@dataclass(frozen=True, slots=True)
class SimulationSummary:
    n_workers: int
    n_assignments: int
    n_ratings: int


def true_qualities(*, campaign: Campaign, seed: int) -> dict[int, float]:
    """Return the true quality of each translation, by primary key."""
    rows = list(
        Translation.objects.filter(segment__campaign=campaign)
        .order_by("segment__position", "pk")
        .values_list("pk", "text", "segment__reference")
    )
    similarity = _standardised(np.array([word_f1(text, reference) for _, text, reference in rows]))
    chance = np.random.default_rng([seed, 0]).standard_normal(len(rows))
    mixed = _standardised(
        np.sqrt(TRUTH_FROM_SIMILARITY) * similarity + np.sqrt(1 - TRUTH_FROM_SIMILARITY) * chance
    )
    qualities = TRUTH_MEAN + TRUTH_SD * mixed
    return {pk: float(q) for (pk, _, _), q in zip(rows, qualities, strict=True)}


def _standardised(values: np.ndarray) -> np.ndarray:
    spread = values.std() if len(values) else 0.0
    return (values - values.mean()) / spread if spread else np.zeros(len(values))


def honest_noise_sd(qualities: Collection[float]) -> float:
    """Return the noise for which two honest ratings of these translations correlate at 0.41.

    Scores are clipped at the ends of the scale, and the effect depends on the qualities. Found by
    bisection, since agreement falls as noise grows.
    """
    truth = np.fromiter(qualities, dtype=np.float64)
    if not truth.size or not truth.std():
        return HONEST_NOISE_SD
    low, high = 0.1 * HONEST_NOISE_SD, 10 * HONEST_NOISE_SD
    for _ in range(40):
        middle = (low + high) / 2
        if _agreement(truth, middle) > SINGLE_RATING_AGREEMENT:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _agreement(truth: np.ndarray, noise_sd: float) -> float:
    """Return the correlation of two ratings, from the moments of a clipped normal variable."""
    low, high = (SCORE_MIN - truth) / noise_sd, (SCORE_MAX - truth) / noise_sd
    below, above = scipy.special.ndtr(low), scipy.special.ndtr(-high)
    inside = 1 - below - above
    density_low, density_high = np.exp([-(low**2) / 2, -(high**2) / 2]) / np.sqrt(2 * np.pi)
    # Relative to the truth and in units of the noise, like the bounds.
    mean = low * below + (density_low - density_high) + high * above
    square = low**2 * below + (inside + low * density_low - high * density_high) + high**2 * above
    means = truth + noise_sd * mean
    variances = noise_sd**2 * (square - mean**2)
    return float(means.var() / (means.var() + variances.mean()))


def is_for_people(campaign: Campaign) -> bool:
    """Return whether the campaign pays or has real workers, so that simulated work would do harm."""
    people = campaign.participations.exclude(worker__provider=PROVIDER)
    return campaign.pay_per_hit > 0 or people.exists()


def simulate_workers(
    *,
    campaign: Campaign,
    crowd: Mapping[Behaviour, int] | Mapping[Any, int],
    hits_per_worker: int = 1,
    seed: int,
    truth_seed: int | None = None,
    qualities: Mapping[int, float] | None = None,
    start: datetime | None = None,
    progress: Callable[[int], None] | None = None,
    after_hit: Callable[[Assignment], object] | None = None,
) -> SimulationSummary:
    """Let a crowd of simulated workers rate an open campaign.

    Workers come one after another within a day from `start`, by default 24 hours ago, in a random
    order. A worker stops when no HITs are left. `progress` is called with the number of ratings since
    the last call, and `after_hit` with each submitted assignment. Crowds with the same `truth_seed`
    but different seeds rate the same true qualities independently. `qualities` gives these instead, by
    the primary key of the translation.
    """
    qualities = qualities or true_qualities(
        campaign=campaign, seed=seed if truth_seed is None else truth_seed
    )
    noise_sd = honest_noise_sd(qualities.values())
    start = start or timezone.now() - timedelta(days=1)
    people = [kind for kind, count in crowd.items() for _ in range(count)]
    order = np.random.default_rng([seed, 1]).permutation(len(people))
    n_assignments = n_ratings = 0
    for turn, number in enumerate(order):
        kind = people[number]
        worker = find_or_make_worker(provider=PROVIDER, external_id=f"{kind}-{seed}-{number + 1}")
        person = SimulatedWorker(kind, np.random.default_rng([seed, 2, int(number)]), noise_sd)
        clock = start + timedelta(days=1) * (turn / len(people))
        for _ in range(hits_per_worker):
            # Stored with what `after_hit` makes of it, or other processes would weigh it meanwhile.
            with transaction.atomic():
                done = do_one_hit(
                    campaign=campaign, worker=worker, person=person, qualities=qualities, at=clock
                )
                if done and after_hit:
                    after_hit(done)
            if done is None:
                break
            clock = done.submitted_at or clock
            n_assignments, n_ratings = n_assignments + 1, n_ratings + done.hit.size
            if progress:
                progress(done.hit.size)
    return SimulationSummary(len(people), n_assignments, n_ratings)


def do_one_hit(
    *,
    campaign: Campaign,
    worker: Worker,
    person: SimulatedWorker,
    qualities: Mapping[int, float],
    at: datetime,
) -> Assignment | None:
    """Let a worker do their current or next HIT, starting `at` this time; None if there is none."""
    assignment = take_assignment(campaign=campaign, worker=worker, at=at)
    if assignment is None:
        return None
    clock = kind_of(campaign).simulate(assignment, person, qualities, at=at)
    person.n_hits_done += 1
    return submit_assignment(assignment=assignment, at=clock + timedelta(seconds=person.pace.wait))


def rate_items(
    assignment: Assignment,
    person: SimulatedWorker,
    qualities: Mapping[int, float],
    *,
    at: datetime,
    save: Callable[..., object] = save_rating,
) -> datetime:
    """Rate every item of a HIT, from this time on; return when the last one was rated."""
    clock, campaign = at, assignment.hit.campaign
    items = assignment.hit.items.select_related("translation__segment").order_by("position")
    for item in items:
        seconds = person.seconds()
        clock += timedelta(seconds=seconds)
        claimed_ms = round(1000 * (person.pace.claimed or seconds))
        shown = Shown(item.text, campaign.gray_text(item.translation.segment))
        quality = qualities[item.translation_id]
        save(
            assignment=assignment,
            position=item.position,
            item_code=item.code,
            score=person.score(Role(item.role), item.translation_id, quality, shown),
            elapsed_ms=claimed_ms,
            active_ms=claimed_ms,
            at=clock,
        )
    return clock
