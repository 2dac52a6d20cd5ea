"""How closely a metric follows the gold scores."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from ._groups import is_constant
from ._pearson import unit_rows
from ._validation import (
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

# The best and the worst fifth of the segments, where metrics behave differently from the middle.
EXTREME_SHARE = 0.2

# Fewer than two segments have no correlation at all.
MIN_SEGMENTS = 2

# Variance of Fisher's z of Kendall's tau times (n - 4): Fieller, Hartley and Pearson (1957).
KENDALL_Z_VARIANCE = 0.437


@dataclass(frozen=True, slots=True)
class Correlation:
    """A correlation with gold, higher is better, and the interval around it.

    `estimate` is NaN when the metric or the gold never varies; `low` and `high` are NaN when the
    interval cannot be had (constant scores, too few segments for Fisher's z).
    """

    estimate: float
    low: float
    high: float
    n: int
    higher_is_better: bool
    signature: str


@dataclass(frozen=True, slots=True)
class GroupedCorrelation:
    """Correlations within groups (one per system) and their plain average.

    The average leaves out groups without a correlation (constant scores, a single segment);
    `n_groups` counts those that remained and `n` the segments in them.
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
        One score per translation in the same order. NaN in `gold` leaves the segment out; NaN in
        `metric` is refused.
    method : {"pearson", "spearman", "kendall_b", "kendall_c"}
        Ties share the average rank (Spearman) or are handled as tau-b and tau-c define.
    higher_is_better : bool
        False for an error rate such as TER: its sign is turned, so that a good metric has r > 0.
    confidence : float
    rng : numpy.random.Generator, optional
        With it the interval is the percentile bootstrap over segments, without it Fisher's z
        (standard error 1/sqrt(n-3) for Pearson [1]_, sqrt((1 + r^2/2)/(n-3)) for Spearman [2]_,
        sqrt(0.437/(n-4)) for Kendall [3]_).
    n_resamples : int

    Returns
    -------
    Correlation
        Estimate NaN for constant scores. |r| = 1 has Fisher interval (r, r).

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
    gold : array_like, shape (n,)
        NaN leaves a segment out, for all metrics alike.
    higher_is_better : bool or array_like of bool, shape (n_metrics,)
        False turns a metric's sign.

    Returns
    -------
    r : ndarray, shape (n_metrics,)
        NaN for a metric, or for all, where the scores never vary.

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
    """Correlate within each system and average, so that system differences lend no help.

    Parameters
    ----------
    metric, gold, systems : array_like, shape (n,)
        Scores and the system that made each translation. Any other grouping will do as well
        (segments, domains).
    segments : array_like, shape (n,), optional
        What each is a translation of.
    method, higher_is_better, confidence, n_resamples
        As in `correlate`.
    rng : numpy.random.Generator, optional
        With it and `segments` the average gets a percentile bootstrap interval, the same segments
        being drawn for all systems: they share what makes a segment hard. Otherwise `low` and
        `high` are NaN: there is no closed form that knows that.

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
    known = ~np.isnan(estimates)
    low, high = np.nan, np.nan
    if segments is None:
        rng = None
    elif rng is not None and known.any():
        labels, places = np.unique(_labels(segments, "segments", gold), return_inverse=True)
        usable = [
            (*part, places[names == group])
            for group, part, is_known in zip(groups, parts, known, strict=True)
            if is_known
        ]
        resampled = _resampled_means(usable, len(labels), method, n_resamples, rng)
        low, high = percentile_interval(resampled, confidence)
    return GroupedCorrelation(
        estimate=float(estimates[known].mean()) if known.any() else math.nan,
        low=float(low),
        high=float(high),
        n=sum(len(part[1]) for part, is_known in zip(parts, known, strict=True) if is_known),
        n_groups=int(known.sum()),
        groups=tuple(map(str, groups)),
        estimates=tuple(map(float, estimates)),
        higher_is_better=higher_is_better,
        signature=_signed(
            method, "by-system", confidence, rng, n_resamples, higher_is_better, None
        ),
    )


def _labels(labels: ArrayLike, name: str, gold: ArrayLike) -> NDArray[np.str_]:
    """Return the labels of the rows that have gold."""
    found = np.asarray(labels).astype(str)
    if found.shape != np.asarray(gold).shape:
        raise ValueError(f"`{name}` has shape {found.shape}, `gold` {np.asarray(gold).shape}")
    return found[~np.isnan(gold_scores(gold))]


def _resampled_means(
    parts: Sequence[tuple[Floats, Floats, NDArray[np.int64]]],
    n_segments: int,
    method: Method,
    n_resamples: int,
    rng: np.random.Generator,
) -> Floats:
    """Return the mean of the groups' coefficients in each resample of the segments.

    A group is its scores, its gold and the number of each row's segment. One that varies no more in a
    resample has no coefficient there; the mean is over the others.
    """
    means = []
    for counts in bootstrap_counts(n_segments, n_resamples, rng):
        own = [_weighted_coefficients(*part, counts, method) for part in parts]
        means.append(_mean_of_known(np.stack(own)))
    return np.concatenate(means)


def _weighted_coefficients(
    metric: Floats, gold: Floats, places: NDArray[np.int64], counts: Floats, method: Method
) -> Floats:
    """Return the coefficient of one group in each resample, given how often each segment was drawn."""
    weights = counts[:, places]
    if method == "pearson":
        standard = unit_rows(np.stack([metric, gold]))
        return weighted_pearson(standard[:1], standard[1], weights)[:, 0]
    rows = (np.repeat(np.arange(len(gold)), own.astype(np.int64)) for own in weights)
    return np.array([_coefficient(metric[drawn], gold[drawn], method) for drawn in rows])


def _mean_of_known(values: Floats) -> Floats:
    """Return means down the columns, over what is there; NaN where nothing is."""
    known = ~np.isnan(values)
    total = np.where(known, values, 0.0).sum(axis=0)
    return np.where(known.any(axis=0), total / np.maximum(known.sum(axis=0), 1), np.nan)


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
        Higher gold is better.
    end : {"best", "worst"}
    share : float
        ceil(share * n) segments, and every further one tied in gold with the last of them: the
        order of the rows must not decide who is in.
    method, higher_is_better, confidence, rng, n_resamples
        As in `correlate`.

    Returns
    -------
    Correlation

    References
    ----------
    .. [1] Ma, Wei, Bojar and Graham. Results of the WMT19 Metrics Shared Task. WMT 2019.
    """
    if end not in ("best", "worst"):
        raise ValueError(f"`end` must be 'best' or 'worst', not {end!r}")
    if not 0 < share <= 1:
        raise ValueError(f"`share` must lie in (0, 1], not {share}")
    scores, truth = with_gold(metric, gold, "metric", at_least=MIN_SEGMENTS)
    ranked = np.sort(-truth if end == "best" else truth)
    # A hair less than share * n, or rounding makes ceil(0.07 * 100) eight.
    last = ranked[max(1, math.ceil(share * len(truth) - 1e-9)) - 1]
    chosen = (-truth if end == "best" else truth) <= last
    found = correlate(
        scores[chosen],
        truth[chosen],
        method=method,
        higher_is_better=higher_is_better,
        confidence=confidence,
        rng=rng,
        n_resamples=n_resamples,
    )
    level = f"{end},{share:g}"
    made = _signed(method, level, confidence, rng, n_resamples, higher_is_better)
    return replace(found, signature=made)


def system_means(scores: ArrayLike) -> Floats:
    """Return the mean score of each system over the segments that have one.

    Parameters
    ----------
    scores : array_like, shape (n_systems, n_segments)
        NaN where a translation has no score.

    Returns
    -------
    means : ndarray, shape (n_systems,)

    References
    ----------
    .. [1] Graham et al. Can machine translation systems be evaluated by the crowd alone. Natural
       Language Engineering 23(1), 2017.
    """
    array = as_scores(scores, "scores", ndim=2)
    known = ~np.isnan(array)
    if not known.any(axis=1).all():
        empty = np.flatnonzero(~known.any(axis=1)).tolist()
        raise ValueError(f"`scores` has no score at all for system(s) {empty}")
    return np.where(known, array, 0.0).sum(axis=1) / known.sum(axis=1)


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
        Segment scores. Gold means are taken over the segments that have gold, metric means over all
        segments: the metric's published system score. For metrics with a system score of their own
        (corpus BLEU) give the two vectors to `correlate` instead.
    method, higher_is_better, confidence
        As in `correlate`; the interval is Fisher's, and wide for a handful of systems.

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
    found = correlate(
        system_means(scores),
        system_means(truth),
        method=method,
        higher_is_better=higher_is_better,
        confidence=confidence,
    )
    made = _signed(method, "system", confidence, None, 0, higher_is_better)
    return replace(found, signature=made)


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
        NaN when r is, or when n is too small for a standard error (n <= 3; Kendall n <= 4).

    References
    ----------
    .. [1] Bonett and Wright. Sample size requirements for estimating Pearson, Kendall and Spearman
       correlations. Psychometrika 65(1), 2000.
    """
    _check_method(method)
    check_between("confidence", confidence, 0, 1)
    spare = n - 4 if method.startswith("kendall") else n - 3
    if math.isnan(r) or spare <= 0:
        return math.nan, math.nan
    if abs(r) >= 1:
        return r, r
    variance = {"pearson": 1.0, "spearman": 1 + r**2 / 2}.get(method, KENDALL_Z_VARIANCE)
    reach = float(special.ndtri((1 + confidence) / 2)) * math.sqrt(variance / spare)
    return math.tanh(math.atanh(r) - reach), math.tanh(math.atanh(r) + reach)


def _coefficient(metric: Floats, gold: Floats, method: Method) -> float:
    """Return the coefficient of two complete vectors; NaN when one of them is constant."""
    if len(gold) < MIN_SEGMENTS or is_constant(metric) or is_constant(gold):
        return math.nan
    return _COEFFICIENTS[method](metric, gold)


def _pearson(metric: Floats, gold: Floats) -> float:
    x, y = unit_rows(np.stack([metric, gold]))
    return float(np.clip(x @ y, -1, 1))


def _spearman(metric: Floats, gold: Floats) -> float:
    # Here and below, not above: `scipy.stats` takes a second to load, and pages need little of it.
    from scipy.stats import rankdata

    return _pearson(rankdata(metric), rankdata(gold))


def _kendall_b(metric: Floats, gold: Floats) -> float:
    from scipy.stats import kendalltau

    return float(kendalltau(metric, gold, variant="b").statistic)


def _kendall_c(metric: Floats, gold: Floats) -> float:
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
    # Ranks change with what was drawn, so there are no sums to weight: one resample at a time.
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
