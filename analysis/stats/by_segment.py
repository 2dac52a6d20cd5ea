"""Intervals and tests with segments as the unit.

Scores of one segment by many systems are not independent: a hard segment is hard for all of them. Treated as
independent, they make intervals too narrow and tests too sure. Here every measure is split into what each segment
contributes to it, and only segments count as independent.

In simulations (tests/analysis/test_null_simulations.py) Student's t with the jackknife over segments holds its level where
metrics differ in how their noise is spread over segments. Swapping the metrics' scores segment by segment does so
only with many segments, and its p-values cannot be smaller than 1 / (resamples + 1), too large for Holm's method once
a table has more than a few metrics.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy
from numpy.typing import ArrayLike

from ._groups import factorise
from ._pearson import unit_rows
from ._ranks import Ranks, kendall_b
from ._validation import (
    Floats,
    Ints,
    as_keys,
    as_scores,
    check_between,
    check_complete,
    directions,
    with_gold,
)
from .resampling import ROUNDING, pearson_from_sums
from .signature import signature
from .significance import ComparisonMatrix, comparison_matrix, metric_pairs

Method = Literal["pearson", "spearman", "kendall_b"]
Scale = Literal["fisher", "plain", "share"]
Unit = Literal["segment", "system"]

# A variance needs at least two segments.
MIN_SEGMENTS = 2
# Correlations nearer to 1 are 1 but for rounding.
LARGEST = 1 - 1e-15
# Up to this many segments, rank correlations are computed again without each of them. With more, the first-order
# approximation differs from that by less than a few percent, and is faster by the number of segments.
FEW_SEGMENTS = 50


@dataclass(frozen=True, slots=True, eq=False)
class UnitEstimates:
    """A measure of several metrics, and how their estimates would vary with other segments.

    Parameters
    ----------
    measure : str
    estimates : ndarray, shape (n_metrics,)
        Higher is better; NaN for a metric without an estimate.
    covariance : ndarray, shape (n_metrics, n_metrics)
        Of the estimates on `scale`.
    scale : {"fisher", "plain", "share"}
        Correlations are compared as Fisher's z, which has nearly the same spread everywhere; shares of pairs in the
        right order as Fisher's z of the share in the right order less the share in the wrong one.
    n : int
        Number of translations.
    n_units : int
        Number of segments (or of systems); t has one degree of freedom less.
    limits : tuple of float
        The least and the greatest value that the measure can have.
    higher_is_better : tuple of bool
    how : str
        How the covariance was computed, for signatures.
    largest : float
        What stands for a correlation of 1, which has no finite z.
    """

    measure: str
    estimates: Floats
    covariance: Floats
    scale: Scale
    n: int
    n_units: int
    limits: tuple[float, float]
    higher_is_better: tuple[bool, ...]
    how: str
    largest: float = LARGEST

    def intervals(self, confidence: float = 0.95) -> Floats:
        """Return the lower and upper ends of t intervals, shape (2, n_metrics); NaN if unknown.

        An order without a mistake, which leaving out a segment cannot change, has no interval.
        """
        check_between("confidence", confidence, 0, 1)
        if self.n_units < MIN_SEGMENTS:
            return np.full((2, len(self.estimates)), np.nan)
        quantile = float(scipy.special.stdtrit(self.n_units - 1, (1 + confidence) / 2))
        reach = quantile * np.sqrt(np.diag(self.covariance))
        centre = scaled(self.estimates, self.scale, self.largest)
        low, high = (_unscaled(end, self.scale) for end in (centre - reach, centre + reach))
        ends = np.stack([np.minimum(low, self.estimates), np.maximum(high, self.estimates)])
        is_perfect = (self.largest < LARGEST) & (np.abs(centre) >= np.arctanh(self.largest))
        return np.where(is_perfect, np.nan, np.clip(ends, *self.limits))

    def differences_from(self, place: int, confidence: float = 0.95) -> Floats:
        """Return every metric's difference from the one at `place`, and the ends of its t interval, shape (3, n_metrics)."""
        check_between("confidence", confidence, 0, 1)
        # On their own scale, estimates vary by the slope of the transformation times as much.
        slope = 1 - self.estimates**2 if self.scale == "fisher" else np.ones(len(self.estimates))
        covariance = self.covariance * slope[:, None] * slope
        variance = np.diag(covariance) + covariance[place, place] - 2 * covariance[place]
        quantile = scipy.special.stdtrit(max(self.n_units - 1, 1), (1 + confidence) / 2)
        difference = self.estimates - self.estimates[place]
        reach = quantile * np.sqrt(np.maximum(variance, 0))
        if self.n_units < MIN_SEGMENTS:
            reach = np.full(len(difference), np.nan)
        return np.stack([difference, difference - reach, difference + reach])

    def compare(self) -> ComparisonMatrix:
        """Test every difference by Student's t, one-sided; a small `pvalue[i, j]` favours metric i.

        Metrics that agree in every segment have p = 0.5. Metrics whose difference never varies have p = 0
        or 1.
        """
        first, second = metric_pairs(self.estimates)
        centre = scaled(self.estimates, self.scale, self.largest)
        with np.errstate(invalid="ignore"):
            difference = centre[first] - centre[second]
        variance = np.diag(self.covariance)
        variance = variance[first] + variance[second] - 2 * self.covariance[first, second]
        is_known = self.n_units >= MIN_SEGMENTS
        t = _ratios(difference, variance)
        below = (
            scipy.special.stdtr(max(self.n_units - 1, 1), t)
            if is_known
            else np.full(len(t), np.nan)
        )
        above = scipy.special.stdtr(max(self.n_units - 1, 1), -t) if is_known else below
        return comparison_matrix(
            self.estimates,
            np.where(self.higher_is_better, 1.0, -1.0),
            self.n,
            above=above,
            below=below,
            how=signature(test="t", of=self.measure, se=self.how, sided="one", df=self.n_units - 1),
        )


def _ratios(difference: Floats, variance: Floats) -> Floats:
    """Return t; 0 if neither differs nor varies, infinite if it differs and does not vary."""
    is_same = np.abs(difference) <= ROUNDING
    varies = variance > ROUNDING**2
    t = difference / np.sqrt(np.where(varies, variance, 1))
    return np.where(varies, t, np.where(is_same, 0, np.copysign(np.inf, difference)))


def scaled(estimates: Floats, scale: Scale, largest: float = LARGEST) -> Floats:
    """Return estimates on the scale on which they are compared."""
    if scale == "plain":
        return estimates
    r = 2 * estimates - 1 if scale == "share" else estimates
    # A correlation of exactly 1 has no finite z.
    return np.arctanh(np.clip(r, -largest, largest))


def _unscaled(values: Floats, scale: Scale) -> Floats:
    if scale == "plain":
        return values
    return (np.tanh(values) + 1) / 2 if scale == "share" else np.tanh(values)


def correlations_by_segment(
    metrics: ArrayLike,
    gold: ArrayLike,
    segments: ArrayLike,
    *,
    method: Method = "pearson",
    higher_is_better: bool | ArrayLike = True,
    unit: Unit = "segment",
) -> UnitEstimates:
    """Correlate many metrics with gold over all translations, with segments as the unit.

    Parameters
    ----------
    metrics : array_like, shape (n_metrics, n)
        One score per translation.
    gold : array_like, shape (n,)
        Gold scores. A translation with NaN is left out for all metrics.
    segments : array_like, shape (n,)
        The segment of each translation: integers or strings.
    method : {"pearson", "spearman", "kendall_b"}
    higher_is_better : bool or array_like of bool, shape (n_metrics,)
        False flips a metric's sign.
    unit : {"segment", "system"}
        What `segments` holds, for signatures.

    Returns
    -------
    UnitEstimates
        The covariance is the jackknife [1]_ over segments of Fisher's z: from the correlations without each
        of the segments in turn. For ranks with more than `FEW_SEGMENTS` segments, or one translation of each, it
        is the infinitesimal jackknife: the influence of every translation, added up within segments.

    References
    ----------
    .. [1] Efron and Tibshirani. An Introduction to the Bootstrap. Chapman and Hall, 1993. Ch. 11.
    .. [2] Cameron and Miller. A Practitioner's Guide to Cluster-Robust Inference. Journal of Human
       Resources 50(2), 2015.
    .. [3] Croux and Dehon. Influence functions of the Spearman and Kendall correlation measures.
       Statistical Methods and Applications 19, 2010.
    """
    if method not in ("pearson", *_OF_RANKS):
        raise ValueError(f"`method` must be pearson, {', '.join(_OF_RANKS)}, not {method!r}")
    units = as_keys("segments", segments)
    scores, truth = with_gold(metrics, gold, "metrics", at_least=2, ndim=2)
    if len(units) != len(np.asarray(gold)):
        raise ValueError(f"`segments` has {len(units)} rows for {len(np.asarray(gold))} of `gold`")
    labels, codes = factorise(units[~np.isnan(np.asarray(gold, dtype=np.float64))])
    signs = directions(higher_is_better, len(scores))
    n_units, largest = len(labels), LARGEST
    if method == "pearson":
        estimates, without = _pearson(scores, truth, codes)
        covariance = jackknife_covariance(scaled(without, "fisher"))
    else:
        if n_units == len(truth):
            largest = largest_of_order(method, n_units)
        estimates, covariance = _rank_correlations(_OF_RANKS[method], scores, truth, codes, largest)
    return UnitEstimates(
        measure=method,
        estimates=estimates * signs,
        covariance=covariance * signs[:, None] * signs,
        scale="fisher",
        n=len(truth),
        n_units=n_units,
        limits=(-1.0, 1.0),
        higher_is_better=tuple(bool(sign > 0) for sign in signs),
        how=f"by-{unit}",
        largest=largest,
    )


def largest_of_order(method: str, n: int) -> float:
    """Return what stands for a rank correlation of 1 in an order of n: half a step, two neighbours swapped, below 1.

    Otherwise a metric with a perfect order would be infinitely better than one with a single mistake.
    """
    step = 12 / (n * (n**2 - 1)) if method == "spearman" else 4 / (n * (n - 1))
    return min(1 - step / 2, LARGEST) if n > 2 else LARGEST


def means_by_segment(
    by_segment: ArrayLike, *, measure: str, n: int, higher_is_better: tuple[bool, ...]
) -> UnitEstimates:
    """Return a measure that is a mean over segments, such as acc_eq.

    Parameters
    ----------
    by_segment : array_like, shape (n_metrics, n_segments)
        The measure in each segment, from 0 to 1. A segment that is NaN is left out for all metrics.
    measure : str
    n : int
        Number of translations.
    higher_is_better : tuple of bool

    Returns
    -------
    UnitEstimates
    """
    values = as_scores(by_segment, "by_segment", ndim=2)
    values = check_complete(values[:, ~np.isnan(values).any(axis=0)], "by_segment")
    estimates = values.mean(axis=1)
    return UnitEstimates(
        measure=measure,
        estimates=estimates,
        covariance=covariance_of((values - estimates[:, None]) / values.shape[1]),
        scale="plain",
        n=n,
        n_units=values.shape[1],
        limits=(0.0, 1.0),
        higher_is_better=higher_is_better,
        how="by-segment",
    )


def sums_by_unit(values: Floats, codes: Ints) -> Floats:
    """Add up the columns (translations) of each unit."""
    order = np.argsort(codes, kind="stable")
    starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
    return np.add.reduceat(values[:, order], starts, axis=1)


def covariance_of(contributions: Floats) -> Floats:
    """Return the covariance of sums of independent contributions, one column per segment."""
    n = contributions.shape[1]
    centred = contributions - contributions.mean(axis=1, keepdims=True)
    return centred @ centred.T * (n / max(n - 1, 1))


def jackknife_covariance(without: Floats) -> Floats:
    """Return the covariance of estimates from the estimates without each segment, one column per segment."""
    n = without.shape[1]
    centred = without - without.mean(axis=1, keepdims=True)
    return centred @ centred.T * ((n - 1) / n)


def _pearson(metrics: Floats, gold: Floats, codes: Ints) -> tuple[Floats, Floats]:
    """Return r of each metric, and r without each of the units, from sums over units."""
    x, y = unit_rows(metrics), unit_rows(gold)
    # One at a time: each is as large as all scores.
    sums = [sums_by_unit(x, codes), sums_by_unit(x**2, codes), sums_by_unit(x * y, codes)]
    sums += [sums_by_unit(part, codes) for part in (y[None], y[None] ** 2, np.ones((1, len(y))))]
    rest = [np.nan_to_num(part.sum(axis=1, keepdims=True) - part) for part in sums]
    x_sum, xx, xy, y_sum, yy, n = rest
    without = pearson_from_sums(np.maximum(n, 1), x_sum, y_sum, xx, yy, xy)
    r = np.clip(x @ y, -1, 1)
    # Without one segment there may be only equal scores left; r then stays where it was.
    return r, np.where(np.isnan(without), r[:, None], without)


def _rank_correlations(
    of_ranks: Callable[[Ranks, Ranks], tuple[float, Floats]],
    metrics: Floats,
    gold: Floats,
    codes: Ints,
    largest: float,
) -> tuple[Floats, Floats]:
    """Return the coefficient of each metric, and the covariance of their Fisher's z."""
    n_units, y = int(codes.max()) + 1, Ranks.of(gold)
    estimates, values = np.empty(len(metrics)), np.empty((len(metrics), n_units))
    is_few = n_units <= FEW_SEGMENTS and n_units < len(gold)
    kept = [codes != unit for unit in range(n_units)] if is_few else []
    gold_without = [Ranks.of(gold[chosen]) for chosen in kept]
    for i, scores in enumerate(metrics):
        estimates[i], influences = of_ranks(Ranks.of(scores), y)
        if not kept:
            values[i] = np.bincount(codes, weights=influences, minlength=n_units)
            continue
        without = [
            of_ranks(Ranks.of(scores[chosen]), rest)[0]
            for chosen, rest in zip(kept, gold_without, strict=True)
        ]
        values[i] = np.where(np.isnan(without), estimates[i], without)
    if kept:
        return estimates, jackknife_covariance(scaled(values, "fisher"))
    return estimates, covariance_of(_on_fishers_scale(values, estimates, largest))


def _on_fishers_scale(influences: Floats, estimates: Floats, largest: float) -> Floats:
    """Divide small changes of r by 1 - r^2, which gives those of Fisher's z."""
    slope: Floats = np.maximum(1 - estimates**2, 1 - largest**2)
    return influences / slope[:, None]


def rank_influences(
    metrics: Floats, gold: Floats, codes: Ints, method: Method
) -> tuple[Floats, Floats]:
    """Return the coefficient of each metric, and the influence of each segment on its Fisher's z."""
    y, n_units = Ranks.of(gold), int(codes.max()) + 1
    found = [_OF_RANKS[method](Ranks.of(scores), y) for scores in metrics]
    estimates = np.array([estimate for estimate, _ in found])
    values = [np.bincount(codes, weights=rows, minlength=n_units) for _, rows in found]
    largest = largest_of_order(method, len(gold))
    return estimates, _on_fishers_scale(np.array(values), estimates, largest)


# Coefficients of two rankings, and the influence of each translation on them, divided by n ---------


def _spearman(x: Ranks, y: Ranks) -> tuple[float, Floats]:
    """A translation moves Spearman's coefficient by its own ranks and by the ranks it gives to others."""
    n = len(x.numbers)
    if len(x.sizes) < 2 or len(y.sizes) < 2:
        return np.nan, np.full(n, np.nan)
    a, b = x.middle / n - (n + 1) / (2 * n), y.middle / n - (n + 1) / (2 * n)
    product, square_a, square_b = a @ b / n, a @ a / n, b @ b / n
    rho = product / np.sqrt(square_a * square_b)
    of_product = a * b + (x.sums_above(b) + y.sums_above(a)) / n - 3 * product
    of_squares = [
        (own**2 + 2 * ranks.sums_above(own) / n) / square - 3
        for ranks, own, square in ((x, a, square_a), (y, b, square_b))
    ]
    influence = of_product / np.sqrt(square_a * square_b) - rho / 2 * sum(of_squares)
    return float(np.clip(rho, -1, 1)), influence / n


def _kendall_b(x: Ranks, y: Ranks) -> tuple[float, Floats]:
    """A translation moves tau-b by the pairs it is in: concordant, discordant or tied."""
    if len(x.sizes) < 2 or len(y.sizes) < 2:
        return np.nan, np.full(len(x.numbers), np.nan)
    tau, counts = kendall_b(x, y)
    untied_x, untied_y = x.n_untied, y.n_untied
    n_x, n_y = untied_x.sum(), untied_y.sum()
    influence = 2 * (
        counts / np.sqrt(n_x) / np.sqrt(n_y) - tau / 2 * (untied_x / n_x + untied_y / n_y)
    )
    return tau, influence


_OF_RANKS = {"spearman": _spearman, "kendall_b": _kendall_b}
