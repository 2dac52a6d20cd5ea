"""How well a metric correlates with the gold scores."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import Literal

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from ._groups import is_constant
from ._pearson import unit_rows
from ._ranks import Ranks, kendall_b
from ._validation import (
    Bools,
    Floats,
    as_scores,
    check_at_least,
    check_between,
    check_complete,
    directed,
    direction_name,
    directions,
    gold_scores,
    with_gold,
)
from .resampling import (
    DEFAULT_RESAMPLES,
    bootstrap_counts,
    percentile_interval,
    resampled_pearson,
    weighted_pearson,
)
from .signature import signature

Method = Literal["pearson", "spearman", "kendall_b", "kendall_c"]
End = Literal["best", "worst"]

# Share of the best or worst segments, where metrics behave differently from the middle.
EXTREME_SHARE = 0.2

# A correlation needs at least two segments.
MIN_SEGMENTS = 2

# Variance of Fisher's z of Kendall's tau times (n - 4): Fieller, Hartley and Pearson (1957).
KENDALL_Z_VARIANCE = 0.437


@dataclass(frozen=True, slots=True)
class Correlation:
    """A correlation with gold, higher is better, and its interval.

    `estimate` is NaN if the metric or the gold is constant; `low` and `high` are NaN if there is no
    interval (constant scores, too few segments for Fisher's z).
    """

    estimate: float
    low: float
    high: float
    n: int
    higher_is_better: bool
    signature: str


@dataclass(frozen=True, slots=True)
class GroupedCorrelation:
    """Correlations within groups (one per system) and their unweighted average.

    The average leaves out groups without a correlation (constant scores, a single segment);
    `n_groups` counts the remaining groups and `n` the segments in them.
    """

    estimate: float
    low: float
    high: float
    n: int
    n_groups: int
    groups: tuple[str, ...]
    estimates: tuple[float, ...]
    higher_is_better: bool
    signature: str


def correlate(
    metric: ArrayLike,
    gold: ArrayLike,
    *,
    method: Method = "pearson",
    higher_is_better: bool = True,
    confidence: float = 0.95,
    rng: np.random.Generator | None = None,
    n_resamples: int = DEFAULT_RESAMPLES,
) -> Correlation:
    """Correlate a metric with gold over all segments, with an interval.

    Parameters
    ----------
    metric, gold : array_like, shape (n,)
        One score per translation, in the same order. A segment with NaN in `gold` is left out; NaN
        in `metric` is refused.
    method : {"pearson", "spearman", "kendall_b", "kendall_c"}
        Ties share the average rank (Spearman) or are handled as tau-b and tau-c define.
    higher_is_better : bool
        False for an error rate such as TER: its sign is flipped, so that a good metric has r > 0.
    confidence : float
        Confidence level of the interval.
    rng : numpy.random.Generator, optional
        With it the interval is the percentile bootstrap over segments, without it Fisher's z
        (standard error 1/sqrt(n-3) for Pearson [1]_, sqrt((1 + r^2/2)/(n-3)) for Spearman [2]_,
        sqrt(0.437/(n-4)) for Kendall [3]_).
    n_resamples : int
        Number of bootstrap resamples.

    Returns
    -------
    Correlation
        The estimate is NaN for constant scores. |r| = 1 has Fisher interval (r, r).

    References
    ----------
    .. [1] Fisher. On the probable error of a coefficient of correlation. Metron 1, 1921.
    .. [2] Bonett and Wright. Sample size requirements for estimating Pearson, Kendall and Spearman
       correlations. Psychometrika 65(1), 2000.
    .. [3] Fieller, Hartley and Pearson. Tests for rank correlation coefficients. Biometrika 44, 1957.
    """
    _check_method(method)
    check_between("confidence", confidence, 0, 1)
    scores, truth = with_gold(metric, gold, "metric", at_least=MIN_SEGMENTS)
    scores = directed(scores, higher_is_better)
    estimate = _coefficient(scores, truth, method)
    if rng is None:
        low, high = fisher_interval(estimate, len(truth), method=method, confidence=confidence)
    else:
        resampled = _resampled_coefficients(scores, truth, method, n_resamples, rng)
        low, high = percentile_interval(resampled, confidence)
    return Correlation(
        estimate=estimate,
        low=float(low),
        high=float(high),
        n=len(truth),
        higher_is_better=higher_is_better,
        signature=_signed(method, "segment", confidence, rng, n_resamples, higher_is_better),
    )


def pearson_of_each(
    metrics: ArrayLike, gold: ArrayLike, *, higher_is_better: bool | ArrayLike = True
) -> Floats:
    """Return Pearson's r of many metrics with gold at once, without intervals.

    Parameters
    ----------
    metrics : array_like, shape (n_metrics, n)
        Segment scores of each metric.
    gold : array_like, shape (n,)
        Gold scores. A segment with NaN is left out for all metrics.
    higher_is_better : bool or array_like of bool, shape (n_metrics,)
        False flips a metric's sign.

    Returns
    -------
    r : ndarray, shape (n_metrics,)
        NaN for a constant metric, and for all metrics if gold is constant.

    References
    ----------
    .. [1] Pearson. Notes on regression and inheritance in the case of two parents. Proceedings of the
       Royal Society of London 58, 1895.
    """
    scores, truth = with_gold(metrics, gold, "metrics", at_least=MIN_SEGMENTS, ndim=2)
    signs = directions(higher_is_better, len(scores))
    return np.clip(signs * (unit_rows(scores) @ unit_rows(truth)), -1, 1)


def correlate_by_system(
    metric: ArrayLike,
    gold: ArrayLike,
    systems: ArrayLike,
    *,
    segments: ArrayLike | None = None,
    method: Method = "pearson",
    higher_is_better: bool = True,
    confidence: float = 0.95,
    rng: np.random.Generator | None = None,
    n_resamples: int = DEFAULT_RESAMPLES,
) -> GroupedCorrelation:
    """Correlate within each system and average, so that differences between systems do not count.

    Parameters
    ----------
    metric, gold, systems : array_like, shape (n,)
        Scores and system of each translation. Other groupings (segments, domains) work as well.
    segments : array_like, shape (n,), optional
        The segment of each translation.
    method, higher_is_better, confidence, n_resamples
        As in `correlate`.
    rng : numpy.random.Generator, optional
        With it and `segments` the average gets a percentile bootstrap interval, which draws the same
        segments for all systems. Otherwise `low` and `high` are NaN.

    Returns
    -------
    GroupedCorrelation
        Groups in sorted order.

    References
    ----------
    .. [1] Deutsch, Dror and Roth. A Statistical Analysis of Summarization Evaluation Metrics Using
       Resampling Methods. TACL 9, 2021.
    """
    _check_method(method)
    check_between("confidence", confidence, 0, 1)
    scores, truth = with_gold(metric, gold, "metric", at_least=MIN_SEGMENTS)
    names = _labels(systems, "systems", gold)
    scores = directed(scores, higher_is_better)
    groups = np.unique(names)
    parts = [(scores[names == group], truth[names == group]) for group in groups]
    estimates = np.array([_coefficient(*part, method) for part in parts])
    defined = ~np.isnan(estimates)
    low, high = np.nan, np.nan
    if segments is None:
        rng = None
    elif rng is not None and defined.any():
        labels, places = np.unique(_labels(segments, "segments", gold), return_inverse=True)
        usable = [
            (*part, places[names == group])
            for group, part in zip(groups[defined], compress(parts, defined), strict=True)
        ]
        resampled = _resampled_means(usable, len(labels), method, n_resamples, rng)
        low, high = percentile_interval(resampled, confidence)
    return GroupedCorrelation(
        estimate=float(estimates[defined].mean()) if defined.any() else math.nan,
        low=float(low),
        high=float(high),
        n=sum(len(truth) for _, truth in compress(parts, defined)),
        n_groups=int(defined.sum()),
        groups=tuple(map(str, groups)),
        estimates=tuple(map(float, estimates)),
        higher_is_better=higher_is_better,
        signature=_signed(
            method, "by-system", confidence, rng, n_resamples, higher_is_better, None
        ),
    )


def _labels(labels: ArrayLike, name: str, gold: ArrayLike) -> NDArray[np.str_]:
    """Return the labels of the rows that have gold."""
    names = np.asarray(labels).astype(str)
    if names.shape != np.asarray(gold).shape:
        raise ValueError(f"`{name}` has shape {names.shape}, `gold` {np.asarray(gold).shape}")
    return names[~np.isnan(gold_scores(gold))]


def _resampled_means(
    parts: Sequence[tuple[Floats, Floats, NDArray[np.int64]]],
    n_segments: int,
    method: Method,
    n_resamples: int,
    rng: np.random.Generator,
) -> Floats:
    """Return the mean of the groups' coefficients in each resample of the segments.

    Each part holds a group's scores, its gold and the segment index of each row. A group that is
    constant in a resample has no coefficient and does not count in that resample's mean.
    """
    means = []
    for counts in bootstrap_counts(n_segments, n_resamples, rng):
        coefficients = [_weighted_coefficients(*part, counts, method) for part in parts]
        means.append(_mean_of_defined(np.stack(coefficients)))
    return np.concatenate(means)


def _weighted_coefficients(
    metric: Floats, gold: Floats, places: NDArray[np.int64], counts: Floats, method: Method
) -> Floats:
    """Return the coefficient of one group in each resample, given how often each segment was drawn."""
    weights = counts[:, places]
    if method == "pearson":
        standard = unit_rows(np.stack([metric, gold]))
        return weighted_pearson(standard[:1], standard[1], weights)[:, 0]
    draws = (np.repeat(np.arange(len(gold)), times.astype(np.int64)) for times in weights)
    return np.array([_coefficient(metric[drawn], gold[drawn], method) for drawn in draws])


def _mean_of_defined(values: Floats) -> Floats:
    """Return the mean of each column without its NaNs; NaN for a column of NaNs."""
    defined = ~np.isnan(values)
    total = np.where(defined, values, 0.0).sum(axis=0)
    return np.where(defined.any(axis=0), total / np.maximum(defined.sum(axis=0), 1), np.nan)


def correlate_extremes(
    metric: ArrayLike,
    gold: ArrayLike,
    *,
    end: End,
    share: float = EXTREME_SHARE,
    method: Method = "pearson",
    higher_is_better: bool = True,
    confidence: float = 0.95,
    rng: np.random.Generator | None = None,
    n_resamples: int = DEFAULT_RESAMPLES,
) -> Correlation:
    """Correlate over the best or the worst share of the segments by gold.

    Parameters
    ----------
    metric, gold : array_like, shape (n,)
        Metric and gold scores; higher gold is better.
    end : {"best", "worst"}
    share : float
        Uses ceil(share * n) segments, and all others whose gold ties with the last of them, so that
        the order of the rows does not matter.
    method, higher_is_better, confidence, rng, n_resamples
        As in `correlate`.

    Returns
    -------
    Correlation

    References
    ----------
    .. [1] Ma, Wei, Bojar and Graham. Results of the WMT19 Metrics Shared Task. WMT 2019.
    """
    scores, truth = with_gold(metric, gold, "metric", at_least=MIN_SEGMENTS)
    chosen = extremes(truth, end, share=share)
    correlation = correlate(
        scores[chosen],
        truth[chosen],
        method=method,
        higher_is_better=higher_is_better,
        confidence=confidence,
        rng=rng,
        n_resamples=n_resamples,
    )
    level = f"{end},{share:g}"
    return replace(
        correlation,
        signature=_signed(method, level, confidence, rng, n_resamples, higher_is_better),
    )


def extremes(gold: ArrayLike, end: End, *, share: float = EXTREME_SHARE) -> Bools:
    """Return which translations have the best or the worst gold.

    Parameters
    ----------
    gold : array_like, shape (n,)
        Complete; higher is better.
    end : {"best", "worst"}
    share : float
        As in `correlate_extremes`.

    Returns
    -------
    ndarray of bool, shape (n,)
    """
    if end not in ("best", "worst"):
        raise ValueError(f"`end` must be 'best' or 'worst', not {end!r}")
    if not 0 < share <= 1:
        raise ValueError(f"`share` must lie in (0, 1], not {share}")
    truth = as_scores(gold, "gold")
    truth = -truth if end == "best" else truth
    # Slightly less than share * n, because ceil(0.07 * 100) is 8 in floating point.
    last = np.sort(truth)[max(1, math.ceil(share * len(truth) - 1e-9)) - 1]
    return truth <= last


def system_means(scores: ArrayLike) -> Floats:
    """Return the mean score of each system over its scored segments.

    Parameters
    ----------
    scores : array_like, shape (n_systems, n_segments)
        Segment scores; NaN where a translation has no score.

    Returns
    -------
    means : ndarray, shape (n_systems,)

    References
    ----------
    .. [1] Graham et al. Can machine translation systems be evaluated by the crowd alone. Natural
       Language Engineering 23(1), 2017.
    """
    array = as_scores(scores, "scores", ndim=2)
    is_scored = ~np.isnan(array)
    if not is_scored.any(axis=1).all():
        empty = np.flatnonzero(~is_scored.any(axis=1)).tolist()
        raise ValueError(f"`scores` has no scores for system(s) {empty}")
    return np.where(is_scored, array, 0.0).sum(axis=1) / is_scored.sum(axis=1)


def correlate_systems(
    metric: ArrayLike,
    gold: ArrayLike,
    *,
    method: Method = "pearson",
    higher_is_better: bool = True,
    confidence: float = 0.95,
) -> Correlation:
    """Correlate system means of a metric with system means of gold.

    Parameters
    ----------
    metric, gold : array_like, shape (n_systems, n_segments)
        Segment scores. Gold means are over the segments that have gold, metric means over all
        segments, as metrics publish them. For metrics with their own system score (corpus BLEU)
        pass the two vectors to `correlate` instead.
    method, higher_is_better, confidence
        As in `correlate`; the interval is Fisher's and wide with only a few systems.

    Returns
    -------
    Correlation

    References
    ----------
    .. [1] Callison-Burch et al. Further Meta-Evaluation of Machine Translation. WMT 2008.
    """
    scores = check_complete(as_scores(metric, "metric", ndim=2), "metric")
    truth = gold_scores(gold, ndim=2)
    if scores.shape != truth.shape:
        raise ValueError(f"`metric` has shape {scores.shape}, `gold` {truth.shape}")
    correlation = correlate(
        system_means(scores),
        system_means(truth),
        method=method,
        higher_is_better=higher_is_better,
        confidence=confidence,
    )
    return replace(
        correlation,
        signature=_signed(method, "system", confidence, None, 0, higher_is_better),
    )


def fisher_interval(
    r: float, n: int, *, method: Method = "pearson", confidence: float = 0.95
) -> tuple[float, float]:
    """Return the interval of a correlation by Fisher's z.

    Parameters
    ----------
    r : float
    n : int
    method : {"pearson", "spearman", "kendall_b", "kendall_c"}
    confidence : float

    Returns
    -------
    low, high : float
        NaN if r is NaN, or if n is too small for a standard error (n <= 3; Kendall n <= 4).

    References
    ----------
    .. [1] Bonett and Wright. Sample size requirements for estimating Pearson, Kendall and Spearman
       correlations. Psychometrika 65(1), 2000.
    """
    _check_method(method)
    check_between("confidence", confidence, 0, 1)
    df = n - 4 if method.startswith("kendall") else n - 3
    if math.isnan(r) or df <= 0:
        return math.nan, math.nan
    if abs(r) >= 1:
        return r, r
    variance = {"pearson": 1.0, "spearman": 1 + r**2 / 2}.get(method, KENDALL_Z_VARIANCE)
    reach = float(scipy.special.ndtri((1 + confidence) / 2)) * math.sqrt(variance / df)
    return math.tanh(math.atanh(r) - reach), math.tanh(math.atanh(r) + reach)


def _coefficient(metric: Floats, gold: Floats, method: Method) -> float:
    """Return the coefficient of two complete vectors; NaN if either is constant."""
    if len(gold) < MIN_SEGMENTS or is_constant(metric) or is_constant(gold):
        return math.nan
    return _COEFFICIENTS[method](metric, gold)


def _pearson(metric: Floats, gold: Floats) -> float:
    x, y = unit_rows(np.stack([metric, gold]))
    return float(np.clip(x @ y, -1, 1))


def _spearman(metric: Floats, gold: Floats) -> float:
    return _pearson(Ranks.of(metric).middle, Ranks.of(gold).middle)


def _kendall_b(metric: Floats, gold: Floats) -> float:
    return kendall_b(Ranks.of(metric), Ranks.of(gold))[0]


def _kendall_c(metric: Floats, gold: Floats) -> float:
    # Imported locally: `scipy.stats` takes a second to load, and most pages do not need it.
    from scipy.stats import kendalltau

    return float(kendalltau(metric, gold, variant="c").statistic)


_COEFFICIENTS: dict[Method, Callable[[Floats, Floats], float]] = {
    "pearson": _pearson,
    "spearman": _spearman,
    "kendall_b": _kendall_b,
    "kendall_c": _kendall_c,
}


def _resampled_coefficients(
    metric: Floats, gold: Floats, method: Method, n_resamples: int, rng: np.random.Generator
) -> Floats:
    """Return the coefficient in each bootstrap resample of the segments."""
    check_at_least("n_resamples", n_resamples, 1)
    if is_constant(metric) or is_constant(gold):
        return np.full(n_resamples, np.nan)
    if method == "pearson":
        standard = unit_rows(np.stack([metric, gold]))
        return resampled_pearson(standard[:1], standard[1], n_resamples, rng)[:, 0]
    # Ranks depend on the drawn segments, so resamples are processed one at a time.
    draws = (rng.integers(len(gold), size=len(gold)) for _ in range(n_resamples))
    return np.array([_coefficient(metric[drawn], gold[drawn], method) for drawn in draws])


def _check_method(method: str) -> None:
    if method not in _COEFFICIENTS:
        raise ValueError(f"`method` must be one of {', '.join(_COEFFICIENTS)}, not {method!r}")


def _signed(
    method: str,
    level: str,
    confidence: float,
    rng: np.random.Generator | None,
    n_resamples: int,
    higher_is_better: bool,
    without_rng: str | None = "fisher",
) -> str:
    interval = without_rng if rng is None else f"bootstrap,{n_resamples}"
    return signature(
        correlation=method,
        level=level,
        interval=interval,
        confidence=confidence if interval else None,
        metric=direction_name(higher_is_better),
    )
