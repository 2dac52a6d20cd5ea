"""Randomised tests between systems by metrics of their whole outputs.

A metric is a function of sums over segments. A resample of segments, or an exchange of the outputs of two
systems for some of them, is a matrix product.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from ._validation import Floats, Ints, check_between
from .resampling import (
    DEFAULT_RESAMPLES,
    ROUNDING,
    bootstrap_counts,
    monte_carlo_pvalue,
    percentile_interval,
    swap_masks,
)

# The tests, in the order of the talk they come from.
OUTPUT_TESTS = ("bootstrap", "shifted", "randomisation")
N_BINS = 40


@dataclass(frozen=True, slots=True)
class SegmentSums:
    """What one metric needs to know about every system and segment.

    Attributes
    ----------
    rows : ndarray, shape (n_systems, n_segments, n_columns)
    score : callable
        Takes sums over segments, shape (..., n_columns); returns scores.
    higher_is_better : bool
    """

    rows: Floats
    score: Callable[[Floats], Floats]
    higher_is_better: bool


@dataclass(frozen=True, slots=True)
class OutputComparison:
    """All systems by one metric.

    Attributes
    ----------
    estimates, low, high : ndarray, shape (n_systems,)
        Scores with percentile bootstrap intervals.
    pvalue : dict of str to ndarray, shape (n_systems, n_systems)
        One-sided, by test; a small `pvalue[i, j]` favours i. NaN on the diagonal.
    two_sided : dict of str to ndarray
        The same tests of any difference. That of the bootstrap is sacreBLEU's: how often the absolute
        difference exceeds its mean by the observed one.
    differences : dict of str to ndarray, shape (n_pairs, n_resamples)
        The pseudo-statistics of each pair i < j, in the order of `numpy.triu_indices`: higher favours i.
    """

    estimates: Floats
    low: Floats
    high: Floats
    pvalue: dict[str, Floats] = field(default_factory=dict)
    two_sided: dict[str, Floats] = field(default_factory=dict)
    differences: dict[str, Floats] = field(default_factory=dict)


def compare_outputs(
    metrics: Sequence[SegmentSums],
    *,
    rng: np.random.Generator,
    n_resamples: int = DEFAULT_RESAMPLES,
    confidence: float = 0.95,
    tests: Sequence[str] = OUTPUT_TESTS,
) -> list[OutputComparison]:
    """Test the differences between all pairs of systems.

    Parameters
    ----------
    metrics : sequence of SegmentSums
        For the same systems and segments. All of them see the same resamples.
    rng : numpy.random.Generator
    n_resamples : int
    confidence : float
    tests : sequence of str
        Some of `OUTPUT_TESTS`. With S for the score, X for the first and Y for the second system:

        bootstrap : how often S(Xb) <= S(Yb) in resampled segments b [1]_. A tie speaks against X, so that a
            system does not outperform its copy.
        shifted : how often S(Xb) - S(Yb) - tau >= S(X) - S(Y), with tau the mean of S(Xb) - S(Yb) [2]_.
        randomisation : how often S(Xr) - S(Yr) >= S(X) - S(Y), if the outputs of random segments are
            exchanged [2]_.

    Returns
    -------
    list of OutputComparison
        One per metric. No p-value is 0: the observed arrangement counts as one of the resamples.

    References
    ----------
    .. [1] Koehn. Statistical Significance Tests for Machine Translation Evaluation. EMNLP 2004.
    .. [2] Riezler and Maxwell. On Some Pitfalls in Automatic Evaluation and Significance Testing for MT.
       ACL Workshop on Intrinsic and Extrinsic Evaluation Measures, 2005.
    """
    check_between("confidence", confidence, 0, 1)
    if unknown := [test for test in tests if test not in OUTPUT_TESTS]:
        raise ValueError(f"`tests` must be some of {', '.join(OUTPUT_TESTS)}, not {unknown[0]!r}")
    sizes = {metric.rows.shape[:2] for metric in metrics}
    if len(sizes) != 1 or 0 in next(iter(sizes)):
        raise ValueError("`metrics` must be of the same systems and segments, and not empty")
    ((_, n_segments),) = sizes
    # All systems and metrics side by side.
    flat = np.concatenate(
        [metric.rows.transpose(1, 0, 2).reshape(n_segments, -1) for metric in metrics], axis=1
    )
    ends = np.cumsum([metric.rows.shape[0] * metric.rows.shape[2] for metric in metrics])
    # Scores of every resample instead of sums, which are many times as large.
    scores: list[list[Floats]] = [[] for _ in metrics]
    exchanged: list[list[Floats]] = [[] for _ in metrics]
    for counts in bootstrap_counts(n_segments, n_resamples, rng, width=flat.shape[1]):
        for place, sums in enumerate(np.split(counts @ flat, ends[:-1], axis=1)):
            scores[place].append(_scores(metrics[place], sums))
    if "randomisation" in tests:
        for mask in swap_masks(n_segments, n_resamples, rng, width=flat.shape[1]):
            for place, moved in enumerate(np.split(mask @ flat, ends[:-1], axis=1)):
                exchanged[place].append(_exchanged(metrics[place], moved))
    return [
        _compare(
            metric,
            np.concatenate(drawn),
            np.concatenate(changed) if changed else None,
            confidence,
            tests,
        )
        for metric, drawn, changed in zip(metrics, scores, exchanged, strict=True)
    ]


def _scores(metric: SegmentSums, sums: Floats) -> Floats:
    """Return the scores of all systems in every resample."""
    n_systems, _, n_columns = metric.rows.shape
    return metric.score(sums.reshape(-1, n_systems, n_columns))


def _exchanged(metric: SegmentSums, moved: Floats) -> Floats:
    """Return the difference of every pair after its outputs were exchanged in some segments, whose sums are `moved`."""
    n_systems, _, n_columns = metric.rows.shape
    first, second = np.triu_indices(n_systems, 1)
    sums, parts = metric.rows.sum(axis=1), moved.reshape(-1, n_systems, n_columns)
    changes = parts[:, second] - parts[:, first]
    return metric.score(sums[first] + changes) - metric.score(sums[second] - changes)


def _compare(
    metric: SegmentSums,
    scores: Floats,
    exchanged: Floats | None,
    confidence: float,
    tests: Sequence[str],
) -> OutputComparison:
    n_systems = len(metric.rows)
    estimates = metric.score(metric.rows.sum(axis=1))
    low, high = percentile_interval(scores, confidence)
    found = OutputComparison(estimates, low, high)
    sign = 1 if metric.higher_is_better else -1
    first, second = np.triu_indices(n_systems, 1)
    observed = sign * (estimates[first] - estimates[second])
    drawn = sign * (scores[:, first] - scores[:, second])
    for test in tests:
        if test == "bootstrap":
            above, below = (drawn <= ROUNDING).sum(axis=0), (drawn >= -ROUNDING).sum(axis=0)
            found.differences[test] = drawn.T
            around = np.abs(drawn) - np.abs(drawn).mean(axis=0)
            extreme = (around >= np.abs(observed) - ROUNDING).sum(axis=0)
        else:
            if test == "shifted":
                null = drawn - drawn.mean(axis=0)
            else:
                assert exchanged is not None
                null = sign * exchanged
            above = (null >= observed - ROUNDING).sum(axis=0)
            below = (null <= observed + ROUNDING).sum(axis=0)
            found.differences[test] = null.T
            extreme = (np.abs(null) >= np.abs(observed) - ROUNDING).sum(axis=0)
        found.pvalue[test] = _matrix(
            n_systems,
            monte_carlo_pvalue(above, len(drawn)),
            monte_carlo_pvalue(below, len(drawn)),
        )
        either = monte_carlo_pvalue(extreme, len(drawn))
        found.two_sided[test] = _matrix(n_systems, either, either)
    return found


def _matrix(n_systems: int, above: Floats, below: Floats) -> Floats:
    first, second = np.triu_indices(n_systems, 1)
    pvalue = np.full((n_systems, n_systems), np.nan)
    pvalue[first, second], pvalue[second, first] = above, below
    return pvalue


def histogram(differences: ArrayLike, n_bins: int = N_BINS) -> tuple[Ints, Floats]:
    """Return the counts and edges of a histogram; one bin around differences that never vary."""
    values = np.asarray(differences, dtype=np.float64)
    if np.ptp(values) <= ROUNDING:
        return np.array([len(values)]), np.array([values[0] - 0.5, values[0] + 0.5])
    counts, edges = np.histogram(values, bins=n_bins)
    return counts, edges


# Agreement with people ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Share:
    """A share with its exact interval."""

    n_right: int
    n: int
    low: float
    high: float

    @property
    def estimate(self) -> float:
        return self.n_right / self.n


def conclusions(pvalue: ArrayLike, alpha: float) -> Ints:
    """Return 1 where the row is significantly better than the column, -1 where it is worse, else 0."""
    is_better = np.asarray(pvalue, dtype=np.float64) < alpha
    return is_better.astype(np.int64) - is_better.T.astype(np.int64)


def with_fallback(first: ArrayLike, second: ArrayLike) -> Ints:
    """Return the conclusions of one question, and where it has none, those of another.

    At WMT16, fluency decided between two systems that did not differ in adequacy [1]_.

    References
    ----------
    .. [1] Bojar et al. Findings of the 2016 Conference on Machine Translation. WMT 2016.
    """
    main, fallback = np.asarray(first, dtype=np.int64), np.asarray(second, dtype=np.int64)
    return np.where(main != 0, main, fallback)


def agreement(found: ArrayLike, human: ArrayLike, *, confidence: float = 0.95) -> Share:
    """Return for how many pairs of systems two sets of conclusions are the same.

    Parameters
    ----------
    found, human : array_like, shape (n_systems, n_systems)
        1, -1 or 0, as in `conclusions`.
    confidence : float

    Returns
    -------
    Share
        With the exact interval of Clopper and Pearson.
    """
    ours, theirs = np.asarray(found), np.asarray(human)
    pairs = np.triu_indices(len(ours), 1)
    if not len(pairs[0]):
        raise ValueError("`found` must have at least two systems")
    return share_of(int((ours[pairs] == theirs[pairs]).sum()), len(pairs[0]), confidence=confidence)


def share_of(n_right: int, n: int, *, confidence: float = 0.95) -> Share:
    """Return a share with the exact interval of Clopper and Pearson; `n` must not be 0."""
    # SciPy's distributions are slow to import, and only this needs them.
    from scipy.stats import binomtest

    interval = binomtest(n_right, n).proportion_ci(confidence, method="exact")
    return Share(n_right, n, float(interval.low), float(interval.high))
