"""Test in between and stop when it is decided, without finding more than chance allows: group sequential tests."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, get_args

import numpy as np
import scipy
from numpy.typing import ArrayLike

from ._validation import Bools, Floats, check_between
from .multiple_tests import holm
from .signature import signature
from .system_covariance import SystemCovariance
from .systems import SystemComparison
from .thresholds import ALPHA, FEWEST_LOOKS, LEAST_CHANCE, MOST_LOOKS

# How the level of the tests is spread over the looks.
Spending = Literal["obrien_fleming", "pocock"]
SPENDING: tuple[Spending, ...] = get_args(Spending)
# Scores further out than this many standard deviations are not integrated over.
_REACH = 8.0
# Distance of points, in standard deviations of what is added between two looks.
_STEP = 0.1
# Levels at which boundaries are computed; p-values between them are interpolated.
_SMALLEST, _LARGEST, _N_LEVELS = 1e-10, 0.9, 80


@dataclass(frozen=True, slots=True)
class Rule:
    """When a ranking counts as decided; fixed before the first rating.

    Parameters
    ----------
    n_looks : int
        After equal parts of the segments.
    alpha : float
        The chance of even one wrong conclusion, over all pairs of systems and all looks.
    spending : {"obrien_fleming", "pocock"}
        `obrien_fleming` is strict early and almost a single test at the end. `pocock` has nearly the same
        level at every look.
    least_chance : float
        A pair that would be decided by the last look with less chance than this, if the difference is as it now seems,
        gets no more ratings. 0: every undecided pair does.
    """

    n_looks: int
    alpha: float = ALPHA
    spending: Spending = "obrien_fleming"
    least_chance: float = LEAST_CHANCE

    def __post_init__(self) -> None:
        if not FEWEST_LOOKS <= self.n_looks <= MOST_LOOKS:
            raise ValueError(
                f"`n_looks` must be from {FEWEST_LOOKS} to {MOST_LOOKS}, not {self.n_looks!r}."
            )
        check_between("alpha", self.alpha, 0, 1)
        if not 0 <= self.least_chance < 1:
            raise ValueError(f"`least_chance` must be from 0 to 1, not {self.least_chance!r}.")
        _check_spending(self.spending)

    @property
    def times(self) -> tuple[float, ...]:
        """The share of the information at each planned look."""
        return tuple((number + 1) / self.n_looks for number in range(self.n_looks))

    @property
    def signature(self) -> str:
        return signature(
            looks=self.n_looks,
            spend=(self.spending, f"alpha={self.alpha:g}"),
            undecided=("holm", "sequential-p", f"p>={self.alpha:g}"),
            open=f"chance>={self.least_chance:g}",
        )


def spent(level: ArrayLike, time: ArrayLike, spending: Spending) -> Floats:
    """Return how much of a one-sided level may be spent until this share of the information.

    Parameters
    ----------
    level, time : array_like
        Between 0 and 1.
    spending : {"obrien_fleming", "pocock"}
        2 - 2 Phi(z / sqrt(time)), where z leaves half of the level above it, or
        level * ln(1 + (e - 1) time) [1]_.

    References
    ----------
    .. [1] Lan and DeMets. Discrete sequential boundaries for clinical trials. Biometrika 70(3), 1983.
    """
    _check_spending(spending)
    level, time = np.asarray(level, dtype=np.float64), np.asarray(time, dtype=np.float64)
    if spending == "pocock":
        return np.asarray(level * np.log1p((np.e - 1) * np.minimum(time, 1)))
    z = -scipy.special.ndtri(level / 2)
    return np.asarray(2 * scipy.special.ndtr(-z / np.sqrt(np.minimum(time, 1))))


def boundaries(times: Sequence[float], level: float, spending: Spending) -> Floats:
    """Return the z-score that a test needs at each look.

    Parameters
    ----------
    times : sequence of float, shape (k,)
        Share of the information at each look, increasing, at most 1.
    level : float
        One-sided: the chance that the score ever reaches its boundary if there is no difference.
    spending : {"obrien_fleming", "pocock"}

    Returns
    -------
    z : ndarray, shape (k,)

    Notes
    -----
    Scores at the looks are normal with mean 0, variance 1 and correlation sqrt(t_i / t_j). The density of those that
    have not crossed is integrated from look to look [1]_.

    References
    ----------
    .. [1] Armitage, McPherson and Rowe. Repeated significance tests on accumulating data. JRSS A 132(2), 1969.
    .. [2] Jennison and Turnbull. Group Sequential Methods with Applications to Clinical Trials. 2000, ch. 7 and 19.
    """
    shares = _checked_times(times)
    check_between("level", level, 0, 1)
    steps = np.diff(spent(level, shares, spending), prepend=0.0)
    bounds = np.empty(len(shares))
    path = _Path()
    for look, (time, step) in enumerate(zip(shares, steps, strict=True)):
        bounds[look] = path.bound(time, step)
        path = path.continued(time, bounds[look])
    return bounds


def crossing_probability(
    times: Sequence[float], bounds: ArrayLike, *, drift: float = 0.0
) -> Floats:
    """Return the chance of first crossing each boundary, if the score at time 1 has `drift` as its mean.

    Parameters
    ----------
    times : sequence of float, shape (k,)
    bounds : array_like, shape (k,)
    drift : float
    """
    chances, path = [], _Path(drift=drift)
    for time, bound in zip(
        _checked_times(times), np.asarray(bounds, dtype=np.float64), strict=True
    ):
        chances.append(path.chance_above(time, bound))
        path = path.continued(time, bound)
    return np.array(chances)


@dataclass(frozen=True, slots=True)
class _Path:
    """The density of z * sqrt(time) at a look, of paths that have not crossed, times weights of integration."""

    time: float = 0.0
    points: Floats | None = None
    mass: Floats | None = None
    drift: float = 0.0

    def chance_above(self, time: float, bound: float) -> float:
        sd = np.sqrt(time - self.time)
        height = bound * np.sqrt(time) - self.drift * (time - self.time)
        if self.points is None or self.mass is None:
            return float(scipy.special.ndtr(-height / sd))
        return float(self.mass @ scipy.special.ndtr((self.points - height) / sd))

    def bound(self, time: float, chance: float) -> float:
        """Return the boundary that is crossed with this chance."""
        low, high = -_REACH, 38.0
        if chance <= self.chance_above(time, high):
            return high
        return float(
            scipy.optimize.brentq(
                lambda bound: np.log(max(self.chance_above(time, bound), 1e-320)) - np.log(chance),
                low,
                high,
                xtol=1e-10,
            )
        )

    def continued(self, time: float, bound: float) -> "_Path":
        sd, mean = np.sqrt(time - self.time), self.drift * time
        bottom, top = mean - _REACH * np.sqrt(time), mean + _REACH * np.sqrt(time)
        top = min(bound * np.sqrt(time), top)
        # An odd number of points, for Simpson's rule.
        n = 2 * int(np.ceil(max(top - bottom, sd) / (2 * _STEP * sd))) + 1
        points = np.linspace(min(bottom, top - sd), top, n)
        weights = np.full(n, 2.0)
        weights[1::2], weights[0], weights[-1] = 4.0, 1.0, 1.0
        weights *= (points[1] - points[0]) / 3
        moved = points - self.drift * (time - self.time)
        if self.points is None or self.mass is None:
            density = _normal(moved / sd) / sd
        else:
            density = _normal((moved[:, None] - self.points) / sd) @ self.mass / sd
        return _Path(time, points, weights * density, self.drift)


def _normal(z: Floats) -> Floats:
    return np.asarray(np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi))


def sequential_pvalues(
    pvalues: ArrayLike, times: Sequence[float], spending: Spending = "obrien_fleming"
) -> Floats:
    """Turn the p-values of one test at several looks into one that holds whenever one stops.

    Parameters
    ----------
    pvalues : array_like, shape (looks, ...)
        One-sided, each as if it were the only look. NaN where a test was not made.
    times : sequence of float, shape (looks,)
        Share of the information at these looks.
    spending : {"obrien_fleming", "pocock"}

    Returns
    -------
    ndarray, shape (...)
        The smallest level at which the test would have crossed its boundary by now [1]_. At most 1, and never
        below 1e-10. If there is no difference, it is at most p with a chance of at most p, whatever the number of looks.
        NaN where no test was made.

    References
    ----------
    .. [1] Liu and Anderson. On adaptive extensions of group sequential trials for clinical investigations.
       JASA 103(484), 2008.
    """
    p, shares = np.asarray(pvalues, dtype=np.float64), _checked_times(times)
    if len(p) != len(shares):
        raise ValueError(f"`pvalues` are of {len(p)} looks, `times` of {len(shares)}.")
    if np.any((p < 0) | (p > 1)):
        raise ValueError("`pvalues` must lie between 0 and 1.")
    z = -scipy.special.ndtri(np.clip(p, 1e-300, 1))
    by_look = np.stack(
        [
            _level_at(z[look], tuple(shares[: look + 1].tolist()), spending)
            for look in range(len(shares))
        ]
    )
    known = ~np.isnan(by_look)
    lowest = np.where(known, by_look, np.inf).min(axis=0)
    return np.where(known.any(axis=0), lowest, np.nan)


def _level_at(z: Floats, times: tuple[float, ...], spending: Spending) -> Floats:
    """Return the level whose boundary at the last of these looks is z."""
    bounds, probits = _levels(times, spending)
    level = scipy.special.ndtr(scipy.interpolate.PchipInterpolator(bounds, probits)(z))
    level = np.where(z >= bounds[-1], _SMALLEST, level)
    return np.where(np.isnan(z), np.nan, np.where(z < bounds[0], 1.0, level))


@lru_cache(maxsize=256)
def _levels(times: tuple[float, ...], spending: Spending) -> tuple[Floats, Floats]:
    """Return boundaries at the last look and the levels they belong to, as normal quantiles."""
    high, low = (float(scipy.special.ndtri(level)) for level in (_LARGEST, _SMALLEST))
    probits = np.linspace(high, low, _N_LEVELS)
    levels = scipy.special.ndtr(probits)
    bounds = np.array([boundaries(times, level, spending)[-1] for level in levels])
    # Equal boundaries, where hardly anything is spent, belong to the largest of their levels.
    keep = np.concatenate([[True], np.diff(np.maximum.accumulate(bounds)) > 1e-9])
    return bounds[keep], probits[keep]


def cautious_pvalues(statistics: ArrayLike, covariance: SystemCovariance) -> Floats:
    """Return one-sided p-values of t statistics, with the degrees of freedom of the fewest workers or segments.

    `compare_systems` counts only segments where workers seem to add nothing. In the far tail, where early looks
    decide, and with the few workers they have, that would be too bold.
    """
    t = np.asarray(statistics, dtype=np.float64)
    return np.asarray(scipy.special.stdtr(_cautious_df(covariance), -t))


def _cautious_df(covariance: SystemCovariance) -> float:
    return max(min(covariance.n_segments, covariance.n_workers) - 1.0, 1.0)


def repeated_interval(
    comparison: SystemComparison, covariance: SystemCovariance, boundary: float
) -> tuple[Floats, Floats]:
    """Return bounds of all differences that hold at this and all other looks together, as confidently as the tests.

    They reach as many standard errors to either side as a test needs to cross its boundary [1]_, with a t-quantile of
    the same level.

    References
    ----------
    .. [1] Jennison and Turnbull. Interim analyses: the repeated confidence interval approach. JRSS B 51(3), 1989.
    """
    se, _ = covariance.of(comparison.systems).difference_errors()
    level = float(scipy.special.ndtr(-boundary))
    half = -scipy.special.stdtrit(_cautious_df(covariance), level) * se
    return comparison.differences - half, comparison.differences + half


@dataclass(frozen=True, slots=True)
class Decision:
    """What the looks so far have decided about pairs of systems; rows are better than columns.

    Attributes
    ----------
    adjusted : ndarray, shape (k, k)
        p-values adjusted for all looks and, by Holm's method, for all pairs. They hold whenever one stops.
    is_win : ndarray of bool, shape (k, k)
        The row's system is better.
    undecided : ndarray of bool, shape (k, k)
        Neither is.
    chances : ndarray, shape (k, k)
        How likely the row's system is found better by the last look, if the difference is as it seems now.
    is_open : ndarray of bool, shape (k, k)
        Undecided, and with a fair chance of a decision in either direction: worth more ratings.
    boundary : float
        The z-score with which any one pair counts at this look, however the others come out.
    """

    adjusted: Floats
    is_win: Bools
    undecided: Bools
    chances: Floats
    is_open: Bools
    boundary: float

    @property
    def n_undecided(self) -> int:
        return int(np.triu(self.undecided).sum())

    @property
    def open_systems(self) -> Bools:
        """The systems with an open pair: those that get more ratings."""
        return np.asarray(self.is_open.any(axis=1))


def decide(pvalues: ArrayLike, times: Sequence[float], rule: Rule) -> Decision:
    """Decide about every two systems from the tests of all looks so far.

    Parameters
    ----------
    pvalues : array_like, shape (looks, k, k)
        One-sided; a small one in row i, column j favours system i. NaN on the diagonal, and for a pair without
        enough scores.
    times : sequence of float, shape (looks,)
    rule : Rule

    Returns
    -------
    Decision
        Holm's method on p-values that hold at any time controls the chance of even one wrong conclusion, over
        pairs and looks, however the tests depend on each other [1]_.

    References
    ----------
    .. [1] Maurer and Bretz. Multiple testing in group sequential trials using graphical approaches.
       Statistics in Biopharmaceutical Research 5(4), 2013.
    """
    p = np.asarray(pvalues, dtype=np.float64)
    size = p.shape[-1]
    # Both directions of a pair count, also those that nothing is known about yet.
    sequential = sequential_pvalues(p, times, rule.spending)
    sequential = np.where(np.isnan(sequential), 1.0, sequential)
    np.fill_diagonal(sequential, np.nan)
    adjusted = holm(sequential)
    is_win = adjusted < rule.alpha
    undecided = ~(is_win | is_win.T) & ~np.eye(size, dtype=np.bool_)
    chances = _chances(p, times, rule, n_left=max(size * (size - 1) - int(is_win.sum()), 1))
    first = rule.alpha / max(size * (size - 1), 1)
    return Decision(
        adjusted=adjusted,
        is_win=is_win,
        undecided=undecided,
        chances=chances,
        is_open=undecided & (np.fmax(chances, chances.T) >= rule.least_chance),
        boundary=float(boundaries(times, first, rule.spending)[-1]),
    )


def _chances(p: Floats, times: Sequence[float], rule: Rule, *, n_left: int) -> Floats:
    """Return how likely each test crosses its last boundary, if its score goes on as until its latest look.

    The level is Holm's for the tests that are left. A pair that was never tested has every chance, and one that is no
    longer tested has none.
    """
    is_pair = ~np.eye(p.shape[-1], dtype=np.bool_)
    otherwise = np.where(is_pair, np.isnan(p).all(axis=0).astype(np.float64), np.nan)
    planned = (*times, *(time for time in rule.times if time > times[-1] + 1e-9))
    if len(planned) == len(times):
        return np.where(is_pair, 0.0, np.nan)
    last = boundaries(planned, rule.alpha / n_left, rule.spending)[-1]
    now = times[-1]
    z = -scipy.special.ndtri(np.clip(p[-1], 1e-300, 1 - 1e-16))
    # The score at time 1 is z sqrt(now) plus what is still to come: normal, with the mean seen so far.
    expected = z / np.sqrt(now)
    chances = scipy.special.ndtr((expected - last) / np.sqrt(1 - now))
    return np.where(np.isnan(p[-1]), otherwise, chances)


def _checked_times(times: Sequence[float]) -> Floats:
    shares = np.asarray(times, dtype=np.float64)
    if not len(shares) or shares[0] <= 0 or np.any(np.diff(shares) <= 0) or shares[-1] > 1 + 1e-9:
        raise ValueError("`times` must increase, above 0 and at most 1.")
    return shares


def _check_spending(spending: str) -> None:
    if spending not in SPENDING:
        raise ValueError(f"`spending` must be one of {', '.join(SPENDING)}, not {spending!r}.")
