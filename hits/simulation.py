"""Simulated workers, good and bad, who go through the same services as people.

Behind every translation stands a true quality; a worker's behaviour says what becomes of it on the way to
the slider. The same campaign and seed give the same ratings.
"""

import enum
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
from django.utils import timezone

from .composition import Role
from .models import SCORE_MAX, SCORE_MIN, Assignment, Campaign, Translation, Worker
from .services import find_or_make_worker, save_rating, submit_assignment, take_assignment

PROVIDER = "simulation"

# True quality of a campaign's translations on the 0-100 scale.
TRUTH_MEAN, TRUTH_SD = 55.0, 18.0
# Share of the true quality's variance that likeness to the reference explains; the rest is chance.
TRUTH_FROM_LIKENESS = 0.6

# One honest rating of a translation correlates at 0.41 with another's (Graham et al., NAACL 2015):
# truth's share of a rating's variance is 0.41 when the noise has this standard deviation.
SINGLE_RATING_AGREEMENT = 0.41
HONEST_NOISE_SD = TRUTH_SD * float(np.sqrt(1 / SINGLE_RATING_AGREEMENT - 1))
NOISY_NOISE_SD = 1.7 * HONEST_NOISE_SD

# How good references and degraded texts look to someone who reads them.
REFERENCE_QUALITY = 92.0
DEGRADED_SHARE = 0.35

# A drifting worker is honest for this many HITs and careless from then on.
HONEST_HITS_BEFORE_DRIFT = 2

CAREFUL_SECONDS, CARELESS_SECONDS = 9.0, 1.5


class Behaviour(enum.StrEnum):
    """How a simulated worker rates."""

    HONEST = "honest"
    NOISY = "noisy"
    LENIENT = "lenient"
    HARSH = "harsh"
    CONSTANT = "constant"
    RANDOM = "random"
    ADVERSARIAL = "adversarial"
    DRIFTING = "drifting"

    @property
    def is_careful(self) -> bool:
        return self in {self.HONEST, self.NOISY, self.LENIENT, self.HARSH}


@dataclass(frozen=True, slots=True)
class SimulationSummary:
    n_workers: int
    n_assignments: int
    n_ratings: int


def true_qualities(*, campaign: Campaign, seed: int) -> dict[int, float]:
    """Return the quality that simulated workers see in each translation, by its primary key."""
    rows = list(
        Translation.objects.filter(segment__campaign=campaign)
        .order_by("segment__position", "pk")
        .values_list("pk", "text", "segment__reference")
    )
    likeness = _standardised(np.array([word_f1(text, reference) for _, text, reference in rows]))
    chance = np.random.default_rng([seed, 0]).standard_normal(len(rows))
    mixed = _standardised(
        np.sqrt(TRUTH_FROM_LIKENESS) * likeness + np.sqrt(1 - TRUTH_FROM_LIKENESS) * chance
    )
    qualities = TRUTH_MEAN + TRUTH_SD * mixed
    return {pk: float(q) for (pk, _, _), q in zip(rows, qualities, strict=True)}


def word_f1(text: str, reference: str) -> float:
    """Return how much of its words a text shares with the reference, from 0 to 1."""
    words, others = Counter(text.lower().split()), Counter(reference.lower().split())
    total = words.total() + others.total()
    return 2 * (words & others).total() / total if total else 0.0


def _standardised(values: np.ndarray) -> np.ndarray:
    spread = values.std() if len(values) else 0.0
    return (values - values.mean()) / spread if spread else np.zeros(len(values))


@dataclass(slots=True)
class SimulatedWorker:
    """One behaviour with a random stream and a slider habit of its own."""

    behaviour: Behaviour
    rng: np.random.Generator
    n_hits_done: int = 0
    habit: float = 0.0

    def __post_init__(self) -> None:
        self.habit = float(self.rng.uniform(SCORE_MIN, SCORE_MAX))

    def score(self, role: Role, quality: float) -> int:
        """Rate an item whose translation has this true quality."""
        return int(np.clip(round(self._impression(role, quality)), SCORE_MIN, SCORE_MAX))

    def _impression(self, role: Role, quality: float) -> float:
        match self._present_behaviour():
            case Behaviour.CONSTANT:
                return self.habit
            case Behaviour.RANDOM:
                return self.rng.uniform(SCORE_MIN, SCORE_MAX)
            case Behaviour.ADVERSARIAL if role == Role.BAD_REFERENCE:
                return self._reading(Role.REFERENCE, quality, HONEST_NOISE_SD)
            case Behaviour.NOISY:
                return self._reading(role, quality, NOISY_NOISE_SD)
            case Behaviour.LENIENT:
                return 50 + self._reading(role, quality, HONEST_NOISE_SD) / 2
            case Behaviour.HARSH:
                return self._reading(role, quality, HONEST_NOISE_SD) / 2
            case _:
                return self._reading(role, quality, HONEST_NOISE_SD)

    def _present_behaviour(self) -> Behaviour:
        if self.behaviour != Behaviour.DRIFTING:
            return self.behaviour
        drifted = self.n_hits_done >= HONEST_HITS_BEFORE_DRIFT
        return Behaviour.RANDOM if drifted else Behaviour.HONEST

    def _reading(self, role: Role, quality: float, noise_sd: float) -> float:
        seen = {
            Role.REFERENCE: REFERENCE_QUALITY,
            Role.BAD_REFERENCE: DEGRADED_SHARE * quality,
        }.get(role, quality)
        return seen + self.rng.normal(0, noise_sd)

    def seconds(self) -> float:
        """How long the next item takes, with the long tail that people have."""
        typical = CAREFUL_SECONDS if self.behaviour.is_careful else CARELESS_SECONDS
        return typical * self.rng.lognormal(0, 0.5)


def simulate_workers(
    *,
    campaign: Campaign,
    crowd: Mapping[Behaviour, int],
    hits_per_worker: int = 1,
    seed: int,
    start: datetime | None = None,
    progress: Callable[[int], None] | None = None,
) -> SimulationSummary:
    """Let a crowd loose on an open campaign. `progress` is called with the ratings since the last call.

    Workers come one after another within a day from `start`, by default the day that ends now, in an
    order the seed decides. A worker stops early when no HIT is left.
    """
    qualities = true_qualities(campaign=campaign, seed=seed)
    start = start or timezone.now() - timedelta(days=1)
    people = [kind for kind, count in crowd.items() for _ in range(count)]
    order = np.random.default_rng([seed, 1]).permutation(len(people))
    n_assignments = n_ratings = 0
    for turn, number in enumerate(order):
        kind = people[number]
        worker = find_or_make_worker(provider=PROVIDER, external_id=f"{kind}-{seed}-{number + 1}")
        person = SimulatedWorker(kind, np.random.default_rng([seed, 2, int(number)]))
        clock = start + timedelta(days=1) * (turn / len(people))
        for _ in range(hits_per_worker):
            done = _do_one_hit(campaign, worker, person, qualities, clock)
            if done is None:
                break
            clock = done.submitted_at or clock
            n_assignments, n_ratings = n_assignments + 1, n_ratings + done.hit.size
            if progress:
                progress(done.hit.size)
    return SimulationSummary(len(people), n_assignments, n_ratings)


def _do_one_hit(
    campaign: Campaign,
    worker: Worker,
    person: SimulatedWorker,
    qualities: Mapping[int, float],
    clock: datetime,
) -> Assignment | None:
    assignment = take_assignment(campaign=campaign, worker=worker, at=clock)
    if assignment is None:
        return None
    for item in assignment.hit.items.order_by("position"):
        seconds = person.seconds()
        clock += timedelta(seconds=seconds)
        save_rating(
            assignment=assignment,
            position=item.position,
            item_code=item.code,
            score=person.score(Role(item.role), qualities[item.translation_id]),
            elapsed_ms=round(1000 * seconds),
            active_ms=round(1000 * seconds),
            at=clock,
        )
    person.n_hits_done += 1
    return submit_assignment(assignment=assignment, at=clock)
