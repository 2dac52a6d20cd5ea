"""How many ratings weighted gold saves: simulated crowds whose truth is known.

    python -m benchmarks.weighted_gold [--translations 1400] [--crowds 12]

A third of the workers score at random. The others read a part of the texts, from some share up to all, and score the
rest at random. Plain gold keeps those who pass the published test; weighted gold filters nobody. How noisy reading is was
chosen so that single ratings of workers who pass correlate at 0.41 with each other, as published.
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
# Correlation of single ratings by workers who pass: Graham, Baldwin and Mathur, NAACL 2015.
PUBLISHED_R = 0.41
# Standard deviation of reading, for which single ratings correlate so, by the least share that the honest read. That between
# translations is 1.
NOISE = {0.2: 0.3, 0.4: 0.5, 0.6: 0.7}
# The spread between workers is nearest to that of WMT21 here, and still far below it: how far those who passed there lower
# degraded texts varies between workers by 0.7 of its mean or more, and by 0.2 here.
JUDGED = (0.2, 0.4)
# How far degraded texts are below their originals, at least and on average more.
DROP, MORE_DROP = 1.6, 0.8
RATINGS = 15
FILTERED = (10, 12, 15, 17, 19, 21, 24, 28)
# Calibrated within this.
TOLERANCE = 0.03


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


def crowd(
    rng: np.random.Generator,
    n_translations: int,
    n_ratings: int,
    least: float,
    careless: float = CARELESS,
) -> Crowd:
    noise = NOISE[least]
    n_workers = -(-n_translations * n_ratings // N_GENUINE)
    rounds = [rng.permutation(n_translations) for _ in range(n_ratings + 1)]
    translations = np.concatenate(rounds)[: n_workers * N_GENUINE].reshape(n_workers, N_GENUINE)
    truth = rng.normal(size=n_translations)
    is_careless = rng.random(n_workers) < careless
    reads = np.where(is_careless, 0, rng.uniform(least, 1, n_workers))[:, None]

    def rate(quality: Floats) -> Floats:
        read = quality + noise * rng.normal(size=quality.shape)
        unread = np.sqrt(1 + noise**2) * rng.normal(size=quality.shape)
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


def passing(people: Crowd) -> NDArray[np.bool_]:
    drops = people.degraded - people.genuine[:, :N_HIDDEN]
    tests = degraded_tests(drops.ravel(), np.repeat(people.workers, N_HIDDEN))
    return np.asarray(tests.pvalue < RELIABLE_P)


def single_r(people: Crowd) -> float:
    """Return how single ratings of a translation by two workers who pass correlate."""
    passed = passing(people)
    z, translations = people.genuine[passed].ravel(), people.translations[passed].ravel()
    z = z - z.mean()
    n, total, squares = (
        np.bincount(translations, weights) for weights in (np.ones(len(z)), z, z**2)
    )
    return float((total**2 - squares).sum() / (n * (n - 1)).sum() / z.var())


def filtered(people: Crowd) -> float:
    """Return the correlation of plain gold by those who pass with the truth."""
    gold = segment_scores(*columns(people, passing(people)), minimum=1)
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
    for careless, name in ((CARELESS, "a third careless"), (0.0, "all honest")):
        for least in NOISE:
            rng = np.random.default_rng(SEED)
            made = {
                n: [crowd(rng, translations, n, least, careless) for _ in range(crowds)]
                for n in FILTERED
            }
            yield from _saved(made, least, name, is_judged=bool(careless) and least in JUDGED)


def _saved(
    made: dict[int, list[Crowd]], least: float, name: str, *, is_judged: bool
) -> Iterator[Row]:
    of_filtered = [np.mean([filtered(people) for people in made[n]]) for n in FILTERED]
    r = float(np.mean([weighted(people) for people in made[RATINGS]]))
    equal = float(np.interp(r, np.maximum.accumulate(of_filtered), FILTERED))
    title = f"{name}, the honest read at least {least:.0%}"
    yield Row(
        f"single ratings by workers who pass: {title}",
        float(np.mean([single_r(people) for people in made[RATINGS]])),
        "r",
        PUBLISHED_R,
        minimum=PUBLISHED_R - TOLERANCE if is_judged else None,
        maximum=PUBLISHED_R + TOLERANCE if is_judged else None,
    )
    yield Row(
        f"weighted gold of {RATINGS} ratings: {title}",
        equal,
        "ratings",
        RATINGS,
        min_ratio=4 / 3 if is_judged else None,
        note=f"r with the truth {r:.3f}, filtered {of_filtered[FILTERED.index(RATINGS)]:.3f}; "
        f"ours: ratings that filtered gold needs for the same. {1 - RATINGS / equal:.0%} fewer",
    )


if __name__ == "__main__":
    run(measure, __doc__, sizes={"translations": (1_400, 280), "crowds": (12, 1)})
