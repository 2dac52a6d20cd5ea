"""How many ratings weighted gold saves: simulated crowds whose truth is known.

    python -m benchmarks.weighted_gold [--translations 1400] [--crowds 6]

A third of the workers score at random. The others read a part of the texts, from some share up to all, and score the
rest at random. Plain gold keeps those who pass the published test; weighted gold filters nobody.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.stats.quality_control import degraded_tests
from analysis.stats.segments import segment_scores
from analysis.stats.standardise import standardise_by_worker
from analysis.stats.thresholds import RELIABLE_P
from analysis.stats.weighted_scores import segment_scores_weighted
from analysis.stats.worker_weights import worker_weights
from benchmarks.table import Row, run

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SEED = 22
CARELESS = 1 / 3
# A HIT of 100 items: 70 genuine ones, 10 degraded versions of them and 10 repeats; references do not matter here.
N_GENUINE, N_HIDDEN = 70, 10
# Standard deviation of reading; that between translations is 1.
NOISE = 0.7
# How far degraded texts are below their originals, at least and on average more.
DROP, MORE_DROP = 1.6, 0.8
RATINGS = 15
FILTERED = (10, 12, 15, 17, 19, 21, 24, 28)


@dataclass(frozen=True, slots=True)
class Crowd:
    """z-scores of one HIT for each worker: genuine items, degraded versions and repeats of the first ones."""

    truth: Floats
    translations: Ints
    genuine: Floats
    degraded: Floats
    repeats: Floats

    @property
    def workers(self) -> Ints:
        return np.arange(len(self.genuine))


def crowd(rng: np.random.Generator, n_translations: int, n_ratings: int, least: float) -> Crowd:
    n_workers = -(-n_translations * n_ratings // N_GENUINE)
    rounds = [rng.permutation(n_translations) for _ in range(n_ratings + 1)]
    translations = np.concatenate(rounds)[: n_workers * N_GENUINE].reshape(n_workers, N_GENUINE)
    truth = rng.normal(size=n_translations)
    is_careless = rng.random(n_workers) < CARELESS
    reads = np.where(is_careless, 0, rng.uniform(least, 1, n_workers))[:, None]

    def rate(quality: Floats) -> Floats:
        read = quality + NOISE * rng.normal(size=quality.shape)
        unread = np.sqrt(1 + NOISE**2) * rng.normal(size=quality.shape)
        return np.where(rng.random(quality.shape) < reads, read, unread)

    hidden = truth[translations[:, :N_HIDDEN]]
    drop = DROP + rng.exponential(MORE_DROP, hidden.shape)
    scores = np.hstack([rate(truth[translations]), rate(hidden - drop), rate(hidden)])
    rows = np.repeat(np.arange(n_workers), scores.shape[1])
    z = standardise_by_worker(scores.ravel(), rows).z.reshape(scores.shape)
    return Crowd(truth, translations, *np.split(z, [N_GENUINE, N_GENUINE + N_HIDDEN], axis=1))


def columns(people: Crowd, chosen: NDArray[np.bool_]) -> tuple[Floats, Floats, Ints, Ints]:
    """Return score, z, worker and translation of the chosen workers' genuine items and repeats."""
    z = np.hstack([people.genuine, people.repeats])[chosen]
    translations = np.hstack([people.translations, people.translations[:, :N_HIDDEN]])[chosen]
    workers = np.repeat(people.workers[chosen], z.shape[1])
    return z.ravel(), z.ravel(), workers, translations.ravel()


def filtered(people: Crowd) -> float:
    """Return the correlation of plain gold by those who pass with the truth."""
    drops = people.degraded - people.genuine[:, :N_HIDDEN]
    tests = degraded_tests(drops.ravel(), np.repeat(people.workers, N_HIDDEN))
    gold = segment_scores(*columns(people, tests.pvalue < RELIABLE_P), minimum=1)
    return correlation(gold.z, people.truth[gold.translations])


def weighted(people: Crowd) -> float:
    """Return the correlation of weighted gold by everyone with the truth."""
    originals, owners = people.genuine[:, :N_HIDDEN], np.repeat(people.workers, N_HIDDEN)
    everyone = columns(people, np.ones(len(people.workers), dtype=np.bool_))
    weights = worker_weights(
        people.workers,
        drops=(originals - people.degraded).ravel(),
        drop_workers=owners,
        changes=(people.repeats - originals).ravel(),
        change_workers=owners,
        ratings=everyone[1:],
    )
    gold = segment_scores_weighted(*everyone, weights.of(everyone[2]), minimum=1)
    return correlation(gold.z, people.truth[gold.translations])


def correlation(first: Floats, second: Floats) -> float:
    return float(np.corrcoef(first, second)[0, 1])


def measure(translations: int, crowds: int) -> Iterator[Row]:
    for least in (0.2, 0.4, 0.6):
        rng = np.random.default_rng(SEED)
        made = {n: [crowd(rng, translations, n, least) for _ in range(crowds)] for n in FILTERED}
        of_filtered = [np.mean([filtered(people) for people in made[n]]) for n in FILTERED]
        r = float(np.mean([weighted(people) for people in made[RATINGS]]))
        equal = float(np.interp(r, np.maximum.accumulate(of_filtered), FILTERED))
        yield Row(
            f"weighted gold of {RATINGS} ratings, the honest read at least {least:.0%}",
            equal,
            "ratings",
            RATINGS,
            min_ratio=4 / 3 if least == 0.2 else None,
            note=f"r with the truth {r:.3f}, filtered {of_filtered[FILTERED.index(RATINGS)]:.3f}; "
            "ours: ratings that filtered gold needs for the same",
        )


if __name__ == "__main__":
    run(measure, __doc__, sizes={"translations": (1_400, 280), "crowds": (6, 1)})
