"""Rank systems by their translations' scores and test the differences for significance."""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import scipy
from numpy.typing import ArrayLike

from ._groups import counts, divide, factorise, moments, sums, t_reach
from ._signed_rank import signed_ranks
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
from .multiple_tests import Correction, adjust
from .signature import signature
from .system_covariance import SystemCovariance, covariance_of_segment_scores, finite_sample, reach
from .thresholds import ALPHA, STAR_LEVELS

# Confidence level of the intervals of scores and differences.
CONFIDENCE = 0.95

# How to test whether one system is better than another.
Test = Literal["two_way", "paired", "published"]
TESTS: tuple[Test, ...] = get_args(Test)
# WMT does not adjust its p-values for the number of pairs.
_CORRECTIONS: dict[Test, Correction] = {"two_way": "holm", "paired": "holm", "published": "none"}
_FACTS: dict[Test, tuple[str, ...]] = {
    "two_way": ("difference-of-means", "t", "greater"),
    "paired": ("signed-rank", "by-segment", "greater"),
    "published": ("mann-whitney", "greater", "corrected"),
}


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
    """Pairwise tests; a small p-value in row i, column j favours system i over system j.

    Systems are sorted from best to worst mean. All matrices have NaN on the diagonal.

    Attributes
    ----------
    systems : ndarray, shape (k,)
    n_segments : ndarray of int, shape (k,)
    n_shared : ndarray of int, shape (k, k)
        Segments on which both systems have a score.
    differences, low, high : ndarray, shape (k, k)
        Differences of means, with their interval.
    probabilities, probability_low, probability_high : ndarray, shape (k, k)
        Probability that the row's translation of a random segment is rated above the column's, ties
        counting half, with its interval.
    statistics, pvalues : ndarray, shape (k, k)
        Of the chosen test, each by itself.
    adjusted : ndarray, shape (k, k)
        The p-values that decide: adjusted for the number of tests, if `correction` says so.
    paired_pvalues, rank_sum_pvalues : ndarray, shape (k, k)
        Of signed ranks by segment, and of the Mann-Whitney U test, next to the chosen test.
    test : {"two_way", "paired", "published"}
    correction : {"holm", "none"}
    alpha : float
    signature : str
    """

    systems: Keys
    n_segments: Ints
    n_shared: Ints
    differences: Floats
    low: Floats
    high: Floats
    probabilities: Floats
    probability_low: Floats
    probability_high: Floats
    statistics: Floats
    pvalues: Floats
    adjusted: Floats
    paired_pvalues: Floats
    rank_sum_pvalues: Floats
    test: Test
    correction: Correction
    alpha: float
    signature: str

    @property
    def is_win(self) -> Bools:
        """True where the row's system significantly beats the column's."""
        return self.adjusted < self.alpha

    @property
    def wins(self) -> Ints:
        """How many systems each system significantly beats."""
        return self.is_win.sum(axis=1)

    @property
    def stars(self) -> Ints:
        """Number of stars of each adjusted p-value."""
        return np.sum([self.adjusted < level for level in STAR_LEVELS], axis=0, dtype=np.int64)

    @property
    def clusters(self) -> Ints:
        """Cluster number of each system, from 1 for the best.

        A new cluster begins where every system above significantly beats all those below.
        """
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
    covariance: SystemCovariance | None = None,
    confidence: float = CONFIDENCE,
) -> SystemScores:
    """Average segment scores for each system.

    Parameters
    ----------
    raw, z, n_ratings : array_like, shape (n,)
        Segment scores and the number of ratings behind each.
    systems : array_like, shape (n,)
        The system of each score; see `expand_to_systems` for translations shared by systems.
    covariance : SystemCovariance, optional
        Of these scores, for intervals that hold for other segments and other workers too. Without it, the
        interval is that of a mean over segments.
    confidence : float
        Confidence level of the t interval of the mean z.

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
    means = _means(by_system.mean, labels, covariance)
    raw_means = moments(raw, codes, len(labels)).mean
    totals = sums(n_ratings, codes, len(labels)).astype(np.int64)
    se, half = by_system.se, t_reach(by_system.n, confidence) * by_system.se
    if covariance is not None:
        se, df = covariance.of(labels).score_errors()
        half = reach(df, confidence) * se
    best_first = np.argsort(-means, kind="stable")
    return SystemScores(
        systems=labels[best_first],
        raw=raw_means[best_first],
        z=means[best_first],
        z_se=se[best_first],
        z_low=(means - half)[best_first],
        z_high=(means + half)[best_first],
        n_segments=by_system.n[best_first],
        n_ratings=totals[best_first],
        signature=signature(
            sys=_estimate(covariance), rank="z", ci=("t", confidence, *_over(covariance))
        ),
    )


def _means(means: Floats, systems: Keys, covariance: SystemCovariance | None) -> Floats:
    """Return the scores of systems: means over segments, or as estimated from the ratings."""
    if covariance is None or covariance.scores is None:
        return means
    return np.asarray(covariance.of(systems).scores)


def _estimate(covariance: SystemCovariance | None) -> str:
    if covariance is None or covariance.scores is None:
        return "mean-of-segments"
    return covariance.estimate or "weighted-ratings"


def _over(covariance: SystemCovariance | None) -> tuple[str, ...]:
    """Return what the intervals take into account, for signatures."""
    if covariance is None:
        return ("segments",)
    return (covariance.unit, "workers") if covariance.has_workers else (covariance.unit,)


def compare_systems(
    z: ArrayLike,
    systems: ArrayLike,
    segments: ArrayLike,
    *,
    covariance: SystemCovariance | None = None,
    documents: ArrayLike | None = None,
    test: Test = "two_way",
    alpha: float = ALPHA,
    confidence: float = CONFIDENCE,
) -> SystemComparison:
    """Test for every two systems whether the first is better, one-sided.

    Parameters
    ----------
    z, systems, segments : array_like, shape (n,)
        Standardised segment scores, and the system and segment of each.
    covariance : SystemCovariance, optional
        Of the system scores, from the ratings. Without it, differences are judged over segments (or documents) only.
    documents : array_like, shape (n,), optional
        The document of each score, where scores of one document are not independent. Signed ranks are then those of
        mean differences of documents, and intervals of probabilities as wide as documents make them. The Mann-Whitney
        U test stays as at WMT.
    test : {"two_way", "paired", "published"}
        `two_way` compares the difference of means with its standard error over segments and workers, which
        systems share. `paired` is Wilcoxon's signed-rank test over the segments that both systems have; it
        holds for these workers only. `published` is the Mann-Whitney U test, which ignores that segments are
        shared, as at WMT.
    alpha, confidence : float
        Level of the tests, adjusted by Holm's method except in `published`, and of the intervals.

    Returns
    -------
    SystemComparison
        The U test uses the normal approximation with continuity and tie correction, as in
        `scipy.stats.mannwhitneyu(method="asymptotic", alternative="greater")`. A test that needs shared
        segments is NaN without any, and a difference without any variance has p = 1 (or 0 if it is
        positive).

    References
    ----------
    .. [1] Mann and Whitney. On a test of whether one of two random variables is stochastically
       larger than the other. Annals of Mathematical Statistics 18(1), 1947.
    .. [2] Wilcoxon. Individual comparisons by ranking methods. Biometrics Bulletin 1(6), 1945.
    """
    z, systems = as_numbers("z", z), as_keys("systems", systems)
    segments = as_keys("segments", segments)
    check_same_length(z=z, systems=systems, segments=segments)
    check_between("alpha", alpha, 0, 1)
    check_between("confidence", confidence, 0, 1)
    if test not in TESTS:
        raise ValueError(f"`test` must be one of {', '.join(TESTS)}, not {test!r}.")
    labels, ranks, means, n = _best_first(z, systems, covariance)
    used = covariance
    if used is None:
        used = (
            covariance_of_segment_scores(z, systems, segments)
            if documents is None
            else covariance_of_segment_scores(z, systems, documents, unit="documents")
        )
    pairs = _pairs(_table(z, ranks, segments, len(labels)), _clusters(segments, documents))
    rank_sums, tie_terms = _rank_sums(z, ranks, len(labels))
    rank_sum_test = (rank_sums, _rank_sum_p(rank_sums, tie_terms, n))
    matrices = _matrices(means, used.of(labels), pairs, rank_sum_test, test, confidence)
    correction = _CORRECTIONS[test]
    return SystemComparison(
        systems=labels,
        n_segments=n,
        n_shared=pairs.n_shared,
        **matrices,
        adjusted=adjust(matrices["pvalues"], correction),
        test=test,
        correction=correction,
        alpha=alpha,
        signature=signature(
            test=(
                *_facts(test, documents is not None),
                *(_over(used) if test == "two_way" else ()),
            ),
            correction=correction,
            wins=f"p<{alpha:g}",
        ),
    )


def _facts(test: Test, by_document: bool) -> tuple[str, ...]:
    facts = _FACTS[test]
    return ("signed-rank", "by-document", "greater") if test == "paired" and by_document else facts


def _clusters(segments: Keys, documents: ArrayLike | None) -> Ints | None:
    """Return the number of the document of each distinct segment."""
    if documents is None:
        return None
    documents = as_keys("documents", documents)
    check_same_length(segments=segments, documents=documents)
    labels, codes = factorise(segments)
    clusters = np.empty(len(labels), dtype=np.int64)
    numbers = factorise(documents)[1]
    clusters[codes] = numbers
    if (clusters[codes] != numbers).any():
        raise ValueError("`documents` must give each segment one document.")
    return clusters


def _best_first(
    z: Floats, systems: Keys, covariance: SystemCovariance | None
) -> tuple[Keys, Ints, Floats, Ints]:
    """Return the systems by mean, the place of each score's system, and the means and numbers of scores."""
    labels, codes = factorise(systems)
    by_system = moments(z, codes, len(labels))
    means = _means(by_system.mean, labels, covariance)
    order = np.argsort(-means, kind="stable")
    places = np.empty(len(labels), dtype=np.int64)
    places[order] = np.arange(len(labels))
    return labels[order], places[codes], means[order], by_system.n[order]


def _matrices(
    means: Floats,
    covariance: SystemCovariance,
    pairs: "_Pairs",
    rank_sum_test: tuple[Floats, Floats],
    test: Test,
    confidence: float,
) -> dict[str, Floats]:
    """Return the matrices of a `SystemComparison`, with NaN on the diagonals."""
    differences = means[:, None] - means
    se, df = covariance.difference_errors()
    half = reach(df, confidence) * se
    low, high = _score_interval(pairs, covariance.difference_ratios(), df, confidence)
    with np.errstate(divide="ignore", invalid="ignore"):
        # Without variance, a difference is beyond doubt and equality stays equality.
        t = np.where(differences == 0, 0.0, differences / se)
    tests: dict[Test, tuple[Floats, Floats]] = {
        "two_way": (t, np.where((t == 0) & (se == 0), 1.0, scipy.special.stdtr(df, -t))),
        "paired": (pairs.statistics, pairs.pvalues),
        "published": rank_sum_test,
    }
    matrices = {
        "differences": differences,
        "low": differences - half,
        "high": differences + half,
        "probabilities": pairs.probabilities,
        "probability_low": low,
        "probability_high": high,
        "statistics": tests[test][0],
        "pvalues": tests[test][1],
        "paired_pvalues": pairs.pvalues,
        "rank_sum_pvalues": rank_sum_test[1],
    }
    for matrix in matrices.values():
        np.fill_diagonal(matrix, np.nan)
    return matrices


def _table(z: Floats, codes: Ints, segments: Keys, n_systems: int) -> Floats:
    """Return scores by system and segment; NaN where a system has none."""
    labels, segment_codes = factorise(segments)
    cells = codes * len(labels) + segment_codes
    if len(np.unique(cells)) != len(cells):
        raise ValueError("`segments` must contain each segment of a system only once.")
    table = np.full((n_systems, len(labels)), np.nan)
    table[codes, segment_codes] = z
    return table


@dataclass(frozen=True, slots=True)
class _Pairs:
    """Comparisons of every two systems over the segments that both have."""

    n_shared: Ints
    probabilities: Floats
    tied: Floats
    statistics: Floats
    pvalues: Floats
    # How many times as large documents make the variance of a probability.
    inflation: Floats


def _pairs(table: Floats, clusters: Ints | None) -> _Pairs:
    """Compare all pairs; signed ranks are those of documents, if `clusters` says which segments these have."""
    n_systems = len(table)
    columns = []
    for own in table:
        others, segments = np.nonzero(~np.isnan(table) & ~np.isnan(own))
        # A small p-value of the signed ranks means that differences are below zero.
        differences = table[others, segments] - own[segments]
        wider = np.ones(n_systems)
        ranked, of_others = differences, others.astype(np.int64)
        if clusters is not None:
            wider = _inflation(differences, of_others, clusters[segments], n_systems)
            ranked, of_others = _by_document(differences, of_others, clusters[segments])
        signs = signed_ranks(ranked, of_others, n_systems)
        signs_counted = [
            np.bincount(others, weights=chosen, minlength=n_systems)
            for chosen in (np.ones(len(others)), differences < 0, differences == 0)
        ]
        columns.append((*signs_counted, signs.statistic, signs.pvalue, wider))
    parts = [
        np.array(part, dtype=np.float64).reshape(n_systems, n_systems)
        for part in zip(*columns, strict=True)
    ]
    n, n_below, n_tied, statistics, pvalues, inflation = parts or [np.zeros((0, 0))] * 6
    probabilities, tied = divide(n_below + n_tied / 2, n), divide(n_tied, n)
    return _Pairs(n.astype(np.int64), probabilities, tied, statistics, pvalues, inflation)


def _by_document(differences: Floats, others: Ints, documents: Ints) -> tuple[Floats, Ints]:
    """Return the mean difference of each document, and the other system."""
    width = int(documents.max(initial=0)) + 1
    cells, codes = factorise(others * width + documents)
    means = divide(sums(differences, codes, len(cells)), counts(codes, len(cells)))
    return means, np.asarray(cells // width, dtype=np.int64)


def _inflation(differences: Floats, others: Ints, documents: Ints, n_systems: int) -> Floats:
    """Return the variance of each share of segments over documents, as a multiple of that over segments, from 1 on."""
    signs = (differences < 0) + (differences == 0) / 2
    n = counts(others, n_systems)
    deviations = signs - divide(sums(signs, others, n_systems), n)[others]
    width = int(documents.max(initial=0)) + 1
    cells, codes = factorise(others * width + documents)
    of_cells = (cells // width).astype(np.int64)
    by_document = sums(sums(deviations, codes, len(cells)) ** 2, of_cells, n_systems)
    n_documents = counts(of_cells, n_systems)
    by_document *= [finite_sample(n) for n in n_documents.tolist()]
    by_segment = sums(deviations**2, others, n_systems)
    return np.maximum(np.where(by_segment > 0, divide(by_document, by_segment), 1.0), 1.0)


def _score_interval(
    pairs: _Pairs, worker_ratios: Floats, df: Floats, confidence: float
) -> tuple[Floats, Floats]:
    """Return Wilson's interval of a mean of 0, 1 and, for a share `tied` of values, 1/2.

    It solves (share - p)^2 = k (p (1 - p) - tied / 4) for p, where k = z^2 / n; the right-hand side is the
    variance of the mean. Documents multiply that variance. Workers add to that variance what they add to the variance of the difference of
    means, times 2 / pi: near 1/2, a normal difference moves its sign by that much.
    """
    shares, tied = pairs.probabilities, pairs.tied
    quantile = np.where(
        worker_ratios > 0, reach(df, confidence), scipy.special.ndtri((1 + confidence) / 2)
    )
    k = divide(quantile**2 * pairs.inflation * (1 + 2 / np.pi * worker_ratios), pairs.n_shared)
    middle = 2 * shares + k
    root = np.sqrt(np.maximum(middle**2 - 4 * (1 + k) * (shares**2 + k * tied / 4), 0))
    return (middle - root) / (2 * (1 + k)), (middle + root) / (2 * (1 + k))


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
    return np.asarray(scipy.special.ndtr(-distance), dtype=np.float64)
