"""Which form should the weight of a worker have? Candidates chosen on one collection and judged on another.

    python -m benchmarks.weight_forms [--splits 200] [--crowds 6]

With the replication data, system scores from random halves of the workers of WMT21 cs-en and de-en are compared, each half
weighed alone: what is best on one pair is judged on the other. Simulated crowds, whose truth is known, need no data.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import scipy
from numpy.typing import NDArray

import benchmarks.django_setup  # noqa: F401
from analysis.gold.counted_ratings import CountedColumns, HiddenItems
from analysis.stats._groups import divide, factorise, moments, sums
from analysis.stats.quality_control import NO_PARTNER
from analysis.stats.roles import Role
from analysis.stats.segments import counts_for_gold
from analysis.stats.standardise import standardise_by_worker
from analysis.stats.weighted_scores import segment_scores_weighted, weighted_means_of_systems
from analysis.stats.worker_weights import LEAST_DISCRIMINATION, POWER, UNAVOIDABLE_VARIANCE
from benchmarks.table import Row, run
from benchmarks.weighted_gold import N_HIDDEN, Crowd, columns, correlation, crowd, filtered
from tests.replication.locating import data_folder

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
# Weighs the workers (sorted) by the hidden items of these alone.
Form = Callable[[HiddenItems, Ints], Floats]

SEED = 24
# Of EM. More change nothing that matters.
N_STEPS = 40
PAIRS = ("cs-en", "de-en")
N_TRANSLATIONS = 700

# Cells of a table of halves.
EQUAL, GUESS, IN_USE = "z-means", "first guess", "power 1.5 (in use)"


# Forms ----------------------------------------------------------------------------------------


def first_guess(hidden: HiddenItems, workers: Ints) -> Floats:
    """Weigh by the mean drop over 0.5 + half the variance of repeats, both shrunk with the weight of five pairs."""
    drop = _shrunk(hidden.drops, hidden.drop_workers, workers)
    noise = _shrunk(hidden.changes**2 / 2, hidden.change_workers, workers)
    return np.maximum(drop, LEAST_DISCRIMINATION) / (UNAVOIDABLE_VARIANCE + noise)


def _shrunk(values: Floats, owners: Ints, workers: Ints, prior: float = 5.0) -> Floats:
    used = np.isin(owners, workers)
    own = moments(values[used], np.searchsorted(workers, owners[used]), len(workers))
    crowd_mean = float(values[used].mean()) if used.any() else 0.0
    return (own.n * np.nan_to_num(own.mean) + prior * crowd_mean) / (own.n + prior)


def linear(hidden: HiddenItems, workers: Ints) -> Floats:
    """Weigh as in use, but by the first power of the signal."""
    return _powered(hidden, workers, 1)


def squared(hidden: HiddenItems, workers: Ints) -> Floats:
    return _powered(hidden, workers, 2)


def _powered(hidden: HiddenItems, workers: Ints, power: float) -> Floats:
    own = hidden.weigh(workers)
    signal = np.where(own.discrimination >= LEAST_DISCRIMINATION, own.discrimination, 0)
    return np.asarray(signal**power / (UNAVOIDABLE_VARIANCE + own.repeat_variance))


def signal_alone(hidden: HiddenItems, workers: Ints) -> Floats:
    """Weigh as in use, but without the noise of repeats."""
    own = hidden.weigh(workers)
    signal = np.where(own.discrimination >= LEAST_DISCRIMINATION, own.discrimination, 0)
    return np.asarray(signal**POWER)


def in_use(hidden: HiddenItems, workers: Ints) -> Floats:
    return hidden.weigh(workers).weights


def hierarchical(hidden: HiddenItems, workers: Ints) -> Floats:
    """Weigh by the posterior mean of scale over variance in a model of each worker's offset, scale and noise.

    z-scores have taken out the offset. Of a worker with scale b and noise s^2, a drop is N(b, b^2 v + 2 s^2) and a change
    between repeats N(0, 2 k s^2): a worker who remembers repeats less of the noise. The distribution of (b, s^2) over
    workers is any on a grid, fitted with v and k by EM [1].

    References
    ----------
    .. [1] Laird. Nonparametric maximum likelihood estimation of a mixing distribution. Journal of the American
       Statistical Association 73(364), 1978.
    """
    drops = _of(hidden.drops, hidden.drop_workers, workers)
    changes = _of(hidden.changes, hidden.change_workers, workers)
    if not len(drops[0]) or not len(changes[0]):
        return np.ones(len(workers))
    scale, noise = (
        part.ravel() for part in np.meshgrid(np.linspace(-0.1, 2.5, 27), np.geomspace(0.05, 1.2, 8))
    )
    v, k = 0.3, 0.8
    prior = np.full(len(scale), 1 / len(scale))
    for _ in range(N_STEPS):
        spread = scale**2 * v + 2 * noise
        log = np.log(prior) + _log_normal(drops, scale, spread, len(workers))
        log += _log_normal(changes, 0 * scale, 2 * k * noise, len(workers))
        posterior = np.exp(log - scipy.special.logsumexp(log, axis=1, keepdims=True))
        # One more worker, of whom nothing is known.
        prior = (posterior.sum(axis=0) + 1 / len(scale)) / (len(workers) + 1)
        of_drop, of_change = posterior[drops[1]], posterior[changes[1]]
        squares = (of_drop * (drops[0][:, None] - scale) ** 2).sum()
        v = max(float((squares - (of_drop @ (2 * noise)).sum()) / (of_drop @ scale**2).sum()), 0.05)
        k = float(np.mean(of_change @ (1 / (2 * noise)) * changes[0] ** 2))
    return np.maximum(posterior @ (scale / (UNAVOIDABLE_VARIANCE + noise)), 0)


def _of(values: Floats, owners: Ints, workers: Ints) -> tuple[Floats, Ints]:
    used = np.isin(owners, workers)
    return values[used], np.searchsorted(workers, owners[used])


def _log_normal(
    values: tuple[Floats, Ints], means: Floats, variances: Floats, n_workers: int
) -> Floats:
    """Add up the log likelihoods of each worker's values (rows) at each point of the grid (columns)."""
    x, owners = values
    n, total, squares = (
        sums(each, owners, n_workers)[:, None] for each in (np.ones(len(x)), x, x**2)
    )
    return np.asarray(
        -(squares - 2 * means * total + n * means**2) / (2 * variances) - n * np.log(variances) / 2
    )


FORMS: dict[str, Form] = {
    "power 1": linear,
    IN_USE: in_use,
    "power 2": squared,
    "power 1.5, repeats left out": signal_alone,
    "hierarchical": hierarchical,
}


# Collections ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Collection:
    """The ratings of a language pair; systems and segments are numbered from 0."""

    ratings: CountedColumns
    systems: Ints
    segments: Ints
    z: Floats
    hidden: HiddenItems

    @property
    def n_systems(self) -> int:
        return int(self.systems.max()) + 1

    @property
    def scored(self) -> Ints:
        return np.flatnonzero(counts_for_gold(self.ratings.role) & ~np.isnan(self.z))

    def halves(self, n_splits: int, rng: np.random.Generator) -> list[tuple[Ints, Ints]]:
        """Split the workers at random, many times."""
        workers, splits = self.hidden.workers, []
        for _ in range(n_splits):
            order = rng.permutation(len(workers))
            half = len(workers) // 2
            splits.append((np.sort(workers[order[:half]]), np.sort(workers[order[half:]])))
        return splits

    def plain(self, workers: Ints) -> Floats:
        """Return system scores of these workers: means of the means of translations."""
        rows = self._rows(workers)
        labels, codes = factorise(self.ratings.translation[rows])
        means = moments(self.z[rows], codes, len(labels)).mean
        systems = np.zeros(len(labels), dtype=np.int64)
        systems[codes] = self.systems[rows]
        return moments(means, systems, self.n_systems).mean

    def weighted_means(self, form: Form, workers: Ints) -> Floats:
        """Return weighted means over the ratings of each system, as in the first guess."""
        rows = self._rows(workers)
        weights = self._weights(form, workers, rows)
        totals = sums(weights * self.z[rows], self.systems[rows], self.n_systems)
        return divide(totals, sums(weights, self.systems[rows], self.n_systems))

    def modelled(self, form: Form, workers: Ints) -> Floats:
        """Return system scores from weighted ratings, with random effects of segments."""
        rows = self._rows(workers)
        return weighted_means_of_systems(
            self.z[rows],
            self.ratings.worker[rows],
            self.systems[rows],
            self.segments[rows],
            self._weights(form, workers, rows),
            n_systems=self.n_systems,
        )

    def _rows(self, workers: Ints) -> Ints:
        return self.scored[np.isin(self.ratings.worker[self.scored], workers)]

    def _weights(self, form: Form, workers: Ints, rows: Ints) -> Floats:
        return form(self.hidden, workers)[np.searchsorted(workers, self.ratings.worker[rows])]


def agreement_of_halves(
    score: Callable[[Ints], Floats], halves: Sequence[tuple[Ints, Ints]]
) -> float:
    """Return the mean correlation of the system scores of halves of the workers."""
    return float(np.mean([correlation(score(first), score(second)) for first, second in halves]))


def read_wmt21(pair: str) -> Collection:
    # Not needed for simulated crowds, and needs pytest.
    from tests.replication.test_wmt21 import read_published

    published = read_published(pair)
    names, translations = np.unique(published.translations, return_inverse=True)
    assignments = np.char.add(np.char.add(published.hits, " "), published.workers)
    ratings = CountedColumns(
        translation=translations,
        worker=factorise(published.workers)[1],
        role=published.roles.astype(np.int16),
        score=published.scores.astype(np.int16),
        assignment=factorise(assignments)[1],
        item=translations + published.roles * len(names),
        partner=np.where(published.roles == Role.GENUINE, NO_PARTNER, translations),
    )
    z = standardise_by_worker(ratings.score, ratings.worker).z
    return Collection(
        ratings,
        factorise(published.systems)[1],
        factorise(published.segments)[1],
        z,
        HiddenItems.of(ratings, z),
    )


def hidden_of(people: Crowd) -> HiddenItems:
    originals = people.genuine[:, :N_HIDDEN]
    owners = np.repeat(people.workers, N_HIDDEN)
    _, z, workers, translations = columns(people, np.ones(len(people.workers), dtype=np.bool_))
    return HiddenItems(
        workers=people.workers,
        drops=(originals - people.degraded).ravel(),
        drop_workers=owners,
        changes=(people.repeats - originals).ravel(),
        change_workers=owners,
        scored=(z, workers, translations),
    )


def truth_of(form: Form, people: Crowd) -> float:
    """Return the correlation of weighted gold with the truth."""
    everyone = columns(people, np.ones(len(people.workers), dtype=np.bool_))
    weights = form(hidden_of(people), people.workers)[everyone[2]]
    gold = segment_scores_weighted(*everyone, weights, minimum=1)
    known = ~np.isnan(gold.z)
    return correlation(gold.z[known], people.truth[gold.translations][known])


# Rows -----------------------------------------------------------------------------------------


def measure(splits: int, crowds: int) -> Iterator[Row]:
    if (data_folder() / "wmt21-crowd-da").exists():
        yield from _real(splits)
    else:
        print("No replication data: simulated crowds only.")
    for least in (0.2, 0.6):
        for n_ratings in (2, 15):
            rng = np.random.default_rng(SEED)
            made = [crowd(rng, N_TRANSLATIONS, n_ratings, least) for _ in range(crowds)]
            plain = float(np.mean([filtered(people) for people in made]))
            for name, form in {GUESS: first_guess, **FORMS}.items():
                yield Row(
                    f"simulated, the honest read at least {least:.0%}, {n_ratings} ratings: {name}",
                    float(np.mean([truth_of(form, people) for people in made])),
                    "r",
                    plain,
                )


def _real(splits: int) -> Iterator[Row]:
    r: dict[str, dict[str, float]] = {}
    for pair in PAIRS:
        collection = read_wmt21(pair)
        halves = collection.halves(splits, np.random.default_rng(SEED))
        r[pair] = {
            EQUAL: agreement_of_halves(collection.plain, halves),
            GUESS: agreement_of_halves(partial(collection.weighted_means, first_guess), halves),
        }
        for name, form in {"first guess, effects of segments": first_guess, **FORMS}.items():
            r[pair][name] = agreement_of_halves(partial(collection.modelled, form), halves)
        for name, value in r[pair].items():
            yield Row(f"WMT21 {pair}: {name}", value, "r", r[pair][EQUAL])
    for chosen_on, judged_on in (PAIRS, PAIRS[::-1]):
        best = max(FORMS, key=lambda name: r[chosen_on][name])
        yield Row(
            f"best on {chosen_on}, judged on {judged_on}: {best}",
            r[judged_on][best],
            "r",
            r[judged_on][GUESS],
            note=f"in use: {r[judged_on][IN_USE]:.3f}",
        )


if __name__ == "__main__":
    run(measure, __doc__, sizes={"splits": (200, 2), "crowds": (6, 1)})
