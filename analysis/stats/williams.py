"""Williams test: is one metric's correlation with gold higher than another's?

Two metrics score the same segments, so their correlations with gold are not independent. The test
takes that into account, which gives it more power than a comparison of two confidence intervals.
"""

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike

from ._pearson import unit_rows
from ._validation import Bools, Floats, direction_name, directions, with_gold
from .multiple_tests import Correction
from .signature import signature
from .significance import ALPHA, winners

# The test has n - 3 degrees of freedom, so it needs at least four segments.
MIN_SEGMENTS = 4

# Metrics whose correlation is this close to 1 (or -1) are the same metric (or its mirror image) on
# another scale; the remaining difference is rounding.
SAME_METRIC = 1e-12

# Gold lies in the plane of two metrics if its component outside is smaller than this share of the maximum.
IN_PLANE = 1e-12

# A variance, and a difference between two correlations, below these is 0 but for rounding.
NO_VARIANCE, NO_DIFFERENCE = 1e-30, 1e-12

# How far below 0 rounding may push the determinant K of three real correlations.
K_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class WilliamsResult:
    """Result of `williams_test`; a small p-value favours the first metric."""

    statistic: float
    df: int
    pvalue: float
    estimate: float
    n: int
    signature: str


@dataclass(frozen=True, slots=True, eq=False)
class WilliamsMatrix:
    """All pairs of metrics; a small `pvalue[i, j]` favours metric i over metric j.

    `estimates` are the correlations with gold, higher is better; `between[i, j]` are the correlations of
    two metrics. `statistic` and `pvalue` have NaN on the diagonal.
    """

    estimates: Floats
    between: Floats
    statistic: Floats
    df: int
    pvalue: Floats
    n: int
    higher_is_better: tuple[bool, ...]
    signature: str

    def winners(self, alpha: float = ALPHA, correction: Correction = "none") -> Bools:
        """Return which metrics no other significantly outperforms (see `significance.winners`)."""
        return winners(self.pvalue, self.estimates, alpha=alpha, correction=correction)


def williams_test(r13: float, r23: float, r12: float, n: int) -> WilliamsResult:
    """Test whether the first metric correlates better with gold than the second.

    Parameters
    ----------
    r13, r23 : float
        Correlation with gold (3) of the first (1) and of the second metric (2).
    r12 : float
        Correlation of the two metrics.
    n : int
        Number of segments, at least 4.

    Returns
    -------
    WilliamsResult
        One-sided, n - 3 degrees of freedom. A small p-value favours r13 > r23. Identical metrics
        (r12 = 1) have statistic 0 and p = 0.5. For mirrored ones (r12 = -1, r23 = -r13) the statistic
        is its limit r13 sqrt((n - 3) / (1 - r13^2)), which tests whether r13 > 0. If the variance is 0
        (gold is the standardised difference of the two metrics), it is infinite and p is 0 or 1.
        `estimate` is r13 - r23.

    References
    ----------
    .. [1] Williams. Regression Analysis. Wiley, 1959.
    .. [2] Graham and Baldwin. Testing for Significance of Increased Correlation with Human Judgment.
       EMNLP 2014.
    """
    for name, r in (("r13", r13), ("r23", r23), ("r12", r12)):
        if not -1 <= r <= 1:
            raise ValueError(f"`{name}` must lie between -1 and 1, not {r}")
    if n < MIN_SEGMENTS:
        raise ValueError(f"`n` must be at least {MIN_SEGMENTS}, not {n}")
    if 1 - r12**2 - r13**2 - r23**2 + 2 * r12 * r13 * r23 < -K_ROUNDING:
        raise ValueError("`r13`, `r23` and `r12` cannot be correlations of the same segments")
    statistic = _statistic(np.array(r13), np.array(r23), np.array(r12), n)
    return WilliamsResult(
        statistic=float(statistic),
        df=n - 3,
        pvalue=float(scipy.special.stdtr(n - 3, -statistic)),
        estimate=r13 - r23,
        n=n,
        signature=signature(test="williams", sided="one", df="n-3"),
    )


def williams_matrix(
    metrics: ArrayLike, gold: ArrayLike, *, higher_is_better: bool | ArrayLike = True
) -> WilliamsMatrix:
    """Run the Williams test for every ordered pair of metrics at once.

    Parameters
    ----------
    metrics : array_like, shape (n_metrics, n)
        Scores of each metric for the same segments; no missing scores.
    gold : array_like, shape (n,)
        Gold scores. A segment with NaN is left out for all metrics.
    higher_is_better : bool or array_like of bool, shape (n_metrics,)
        False flips a metric's sign.

    Returns
    -------
    WilliamsMatrix
        A small `pvalue[i, j]` favours metric i. A constant metric has NaN as its estimate and in
        its row and column.

    References
    ----------
    .. [1] Williams. Regression Analysis. Wiley, 1959.
    .. [2] Graham and Baldwin. Testing for Significance of Increased Correlation with Human Judgment.
       EMNLP 2014.
    """
    scores, truth = with_gold(metrics, gold, "metrics", at_least=MIN_SEGMENTS, ndim=2)
    signs = directions(higher_is_better, len(scores))
    unit = unit_rows(scores) * signs[:, None]
    estimates = np.clip(unit @ unit_rows(truth), -1, 1)
    between = np.clip(unit @ unit.T, -1, 1)
    n = len(truth)
    statistic = _statistic(estimates[:, None], estimates[None, :], between, n)
    np.fill_diagonal(statistic, np.nan)
    return WilliamsMatrix(
        estimates=estimates,
        between=between,
        statistic=statistic,
        df=n - 3,
        pvalue=scipy.special.stdtr(n - 3, -statistic),
        n=n,
        higher_is_better=tuple(bool(sign > 0) for sign in signs),
        signature=signature(
            test="williams",
            sided="one",
            df="n-3",
            metric=sorted({direction_name(bool(sign > 0)) for sign in signs}),
        ),
    )


def _statistic(r13: Floats, r23: Floats, r12: Floats, n: int) -> Floats:
    """Return t of [2] eq. 1, elementwise; 0 for the same metric, the limit for its mirror image."""
    difference = r13 - r23
    # K as the component of gold outside the plane of both metrics: accurate if the two nearly agree.
    outside = (1 - r12**2) * (1 - r13**2)
    k = outside - (r23 - r12 * r13) ** 2
    k = np.where(k > IN_PLANE * outside, k, 0)
    variance = 2 * k * (n - 1) / (n - 3) + (r13 + r23) ** 2 / 4 * (1 - r12) ** 3
    no_variance = variance <= NO_VARIANCE
    t = difference * np.sqrt((n - 1) * (1 + r12)) / np.sqrt(np.where(no_variance, 1, variance))
    limit = np.where(np.abs(difference) > NO_DIFFERENCE, np.copysign(np.inf, difference), 0.0)
    t = np.where(no_variance, limit, t)
    t = np.where(r12 < -1 + SAME_METRIC, _mirrored_statistic(difference / 2, n), t)
    return np.where(r12 > 1 - SAME_METRIC, 0.0, t)


def _mirrored_statistic(r: Floats, n: int) -> Floats:
    """Return the limit of t for r13 = r and r23 = -r as r12 goes to -1.

    With e = 1 + r12 the determinant K is e (1 - r12 - 2 r^2) and r13 + r23 is 0: the numerator and the root of
    the variance both go to 0 as sqrt(e), and their ratio to r sqrt((n - 3) / (1 - r^2)). Along other paths, with
    r13 + r23 of the order of sqrt(e), the limit is larger by a factor of at most sqrt((n - 1) / (n - 3)).
    """
    with np.errstate(divide="ignore"):
        return r * np.sqrt((n - 3) / (1 - np.minimum(r**2, 1)))
