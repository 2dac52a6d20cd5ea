"""Rank systems by their translations' scores and test the differences for significance."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from ._groups import factorise, moments, sums, t_reach
from ._validation import (
    Bools,
    Floats,
    Ints,
    Keys,
    as_keys,
    as_numbers,
    check_between,
    check_same_kind,
    check_same_length,
)
from .signature import signature
from .thresholds import ALPHA, STAR_LEVELS

# Confidence level of the interval around a system's score.
CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class SystemScores:
    """Mean segment scores of systems, from best to worst by z; higher is better."""

    systems: Keys
    raw: Floats
    z: Floats
    z_se: Floats
    z_low: Floats
    z_high: Floats
    n_segments: Ints
    n_ratings: Ints
    signature: str


@dataclass(frozen=True, slots=True)
class SystemComparison:
    """Pairwise rank-sum tests; a small p-value in row i, column j favours system i over system j.

    Systems are sorted from best to worst mean. `differences` are those of means. The diagonal is NaN,
    without stars. A new cluster begins where every system above significantly beats all those below.
    """

    systems: Keys
    n_segments: Ints
    differences: Floats
    statistics: Floats
    pvalues: Floats
    alpha: float
    signature: str

    @property
    def is_win(self) -> Bools:
        """True where the row's system significantly beats the column's."""
        return self.pvalues < self.alpha

    @property
    def wins(self) -> Ints:
        """How many systems each system significantly beats."""
        return self.is_win.sum(axis=1)

    @property
    def stars(self) -> Ints:
        """Number of stars of each p-value."""
        return np.sum([self.pvalues < level for level in STAR_LEVELS], axis=0, dtype=np.int64)

    @property
    def clusters(self) -> Ints:
        """Cluster number of each system, from 1 for the best."""
        wins = self.is_win
        begins = [bool(wins[:place, place:].all()) for place in range(1, len(wins))]
        return np.cumsum([1, *begins])[: len(wins)]


def expand_to_systems(
    scored: ArrayLike, translations: ArrayLike, systems: ArrayLike
) -> tuple[Ints, Keys]:
    """Give a translation's score to every system that produced it.

    Parameters
    ----------
    scored : array_like, shape (k,)
        Distinct translations that have a score.
    translations, systems : array_like, shape (n,)
        Which system produced which translation; one shared by several systems has several rows.

    Returns
    -------
    rows : ndarray of int, shape (m,)
        Positions in `scored`, for indexing the scores.
    systems : ndarray, shape (m,)
        The system that each of these rows counts for. Translations without a score are left out.
    """
    scored, translations = as_keys("scored", scored), as_keys("translations", translations)
    systems = as_keys("systems", systems)
    check_same_length(translations=translations, systems=systems)
    check_same_kind(scored=scored, translations=translations)
    labels, codes = factorise(scored)
    if len(labels) != len(scored):
        raise ValueError("`scored` must contain each translation only once.")
    if not len(labels):
        return np.zeros(0, dtype=np.int64), systems[:0]
    rows = np.empty(len(labels), dtype=np.int64)
    rows[codes] = np.arange(len(codes))
    places = np.minimum(np.searchsorted(labels, translations), len(labels) - 1)
    is_scored = labels[places] == translations
    return rows[places[is_scored]], systems[is_scored]


def system_scores(
    raw: ArrayLike,
    z: ArrayLike,
    n_ratings: ArrayLike,
    systems: ArrayLike,
    *,
    confidence: float = CONFIDENCE,
) -> SystemScores:
    """Average segment scores for each system.

    Parameters
    ----------
    raw, z, n_ratings : array_like, shape (n,)
        Segment scores and the number of ratings behind each.
    systems : array_like, shape (n,)
        The system of each score; see `expand_to_systems` for translations shared by systems.
    confidence : float
        Confidence level of the t interval of the mean z over segments.

    Returns
    -------
    SystemScores
        Best first; systems with equal z are sorted by name.

    References
    ----------
    .. [1] Bojar et al. Findings of the 2016 conference on machine translation. WMT 2016.
    """
    raw, z = as_numbers("raw", raw), as_numbers("z", z)
    n_ratings, systems = as_numbers("n_ratings", n_ratings), as_keys("systems", systems)
    check_same_length(raw=raw, z=z, n_ratings=n_ratings, systems=systems)
    check_between("confidence", confidence, 0, 1)
    labels, codes = factorise(systems)
    by_system = moments(z, codes, len(labels))
    raw_means = moments(raw, codes, len(labels)).mean
    totals = sums(n_ratings, codes, len(labels)).astype(np.int64)
    reach = t_reach(by_system.n, confidence) * by_system.se
    best_first = np.argsort(-by_system.mean, kind="stable")
    return SystemScores(
        systems=labels[best_first],
        raw=raw_means[best_first],
        z=by_system.mean[best_first],
        z_se=by_system.se[best_first],
        z_low=(by_system.mean - reach)[best_first],
        z_high=(by_system.mean + reach)[best_first],
        n_segments=by_system.n[best_first],
        n_ratings=totals[best_first],
        signature=signature(sys="mean-of-segments", rank="z", ci=("t", confidence)),
    )


def compare_systems(z: ArrayLike, systems: ArrayLike, *, alpha: float = ALPHA) -> SystemComparison:
    """Compare every two systems by a one-sided Mann-Whitney U test on their segment scores.

    Parameters
    ----------
    z, systems : array_like, shape (n,)
        Standardised segment scores and the system of each.
    alpha : float
        A system beats another if p is below this.

    Returns
    -------
    SystemComparison
        p-values from the normal approximation with continuity and tie correction, as in
        `scipy.stats.mannwhitneyu(method="asymptotic", alternative="greater")`.

    References
    ----------
    .. [1] Mann and Whitney. On a test of whether one of two random variables is stochastically
       larger than the other. Annals of Mathematical Statistics 18(1), 1947.
    """
    z, systems = as_numbers("z", z), as_keys("systems", systems)
    check_same_length(z=z, systems=systems)
    check_between("alpha", alpha, 0, 1)
    labels, codes = factorise(systems)
    by_system = moments(z, codes, len(labels))
    best_first = np.argsort(-by_system.mean, kind="stable")
    rank = np.empty(len(labels), dtype=np.int64)
    rank[best_first] = np.arange(len(labels))
    n, means = by_system.n[best_first], by_system.mean[best_first]
    statistics, tie_terms = _rank_sums(z, rank[codes], len(labels))
    pvalues = _rank_sum_p(statistics, tie_terms, n)
    differences = means[:, None] - means
    for matrix in (differences, statistics, pvalues):
        np.fill_diagonal(matrix, np.nan)
    return SystemComparison(
        systems=labels[best_first],
        n_segments=n,
        differences=differences,
        statistics=statistics,
        pvalues=pvalues,
        alpha=alpha,
        signature=signature(test=("mann-whitney", "greater", "corrected"), wins=f"p<{alpha:g}"),
    )


def _rank_sums(z: Floats, codes: Ints, n_systems: int) -> tuple[Floats, Floats]:
    """Return U of every row system against every column system, and each pair's sum of t^3 - t.

    All scores are ranked together once. One pass over them per column system then covers all row
    systems, so the pairs need no sorting.
    """
    distinct, places = np.unique(z, return_inverse=True)
    statistics = np.zeros((n_systems, n_systems))
    shared = np.zeros((n_systems, n_systems))
    cubes = np.zeros(n_systems)
    own_ties = _own_ties(places, codes, len(distinct), n_systems)
    for column in range(n_systems):
        ties = np.bincount(places[codes == column], minlength=len(distinct))
        below = np.cumsum(ties) - ties
        # A score beats those below it and half of those equal to it.
        statistics[:, column] = sums((below + ties / 2)[places], codes, n_systems)
        shared[:, column] = sums(own_ties * ties[places], codes, n_systems)
        cubes[column] = np.sum(ties.astype(np.float64) ** 3 - ties)
    # (a + b)^3 - (a + b) summed over values, where a and b are how often each system has the value.
    tie_terms = cubes[:, None] + cubes + 3 * (shared + shared.T)
    return statistics, tie_terms


def _own_ties(places: Ints, codes: Ints, n_distinct: int, n_systems: int) -> Floats:
    """Return for each score how often its own system has that score."""
    _, cells = factorise(codes * n_distinct + places)
    return np.bincount(cells)[cells].astype(np.float64) if len(cells) else np.zeros(0)


def _rank_sum_p(statistics: Floats, tie_terms: Floats, n: Ints) -> Floats:
    product, total = n[:, None] * n, n[:, None] + n
    variance = product / 12 * (total + 1 - tie_terms / (total * (total - 1)))
    with np.errstate(divide="ignore"):
        # If all scores are equal, the variance is zero and p = 1.
        distance = (statistics - product / 2 - 0.5) / np.sqrt(np.maximum(variance, 0))
    return np.asarray(special.ndtr(-distance), dtype=np.float64)
