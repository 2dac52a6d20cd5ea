"""Plan a campaign: how sure it will be about systems and about single translations, before it is paid for."""

import math
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike

from ._validation import Floats, check_at_least, check_between
from .thresholds import ALPHA
from .variance_components import VarianceComponents

# More segments or ratings than any campaign could collect: beyond this, a wish cannot be met.
MOST_SEGMENTS = 1_000_000
MOST_RATINGS = 10_000
# Points at which the variances over segments and over workers are averaged over.
N_SEGMENT_POINTS, N_WORKER_POINTS = 20, 100


@dataclass(frozen=True, slots=True)
class Design:
    """The size of a campaign. Every segment is rated in the output of every system.

    Parameters
    ----------
    n_systems, n_segments : int
    n_ratings : int
        Trusted ratings of each translation.
    genuine_per_hit : int
        Genuine items of a HIT.
    hits_per_worker : float
        HITs that a trusted worker does on average.
    """

    n_systems: int
    n_segments: int
    n_ratings: int
    genuine_per_hit: int = 70
    hits_per_worker: float = 1.0

    def __post_init__(self) -> None:
        check_at_least("n_systems", self.n_systems, 2)
        for name in ("n_segments", "n_ratings", "genuine_per_hit"):
            check_at_least(name, getattr(self, name), 1)
        if not self.hits_per_worker >= 1:
            raise ValueError(f"`hits_per_worker` must be at least 1, not {self.hits_per_worker!r}.")

    @property
    def n_translations(self) -> int:
        return self.n_systems * self.n_segments

    @property
    def n_hits(self) -> int:
        return -(-self.n_translations // self.genuine_per_hit)

    @property
    def n_assignments(self) -> int:
        """HITs done by trusted workers."""
        return self.n_hits * self.n_ratings

    @property
    def n_workers(self) -> int:
        """Trusted workers that it takes; no worker does a HIT twice."""
        per_worker = min(self.hits_per_worker, self.n_hits)
        return math.ceil(self.n_assignments / per_worker - 1e-9)

    @property
    def n_refilled(self) -> int:
        """Translations that are rated twice as often, because they fill up the last HIT."""
        if self.n_hits == 1:
            # A campaign this small has smaller HITs.
            return 0
        return self.n_hits * self.genuine_per_hit - self.n_translations

    @property
    def equally_busy(self) -> float:
        """The number of workers with equal shares of the scores that would be as informative.

        Some do a HIT more than others, and what fills up the last HIT counts half.
        """
        n_each = min(self.hits_per_worker, self.n_hits)
        share_of_more = n_each % 1
        squares = (
            share_of_more * math.ceil(n_each) ** 2 + (1 - share_of_more) * math.floor(n_each) ** 2
        )
        workers = self.n_assignments * n_each / squares
        full, two = self.genuine_per_hit, self.genuine_per_hit - self.n_refilled / 2
        n_full = self.n_hits - 2 if self.n_refilled else self.n_hits
        n_two = self.n_hits - n_full
        total, squared = n_full * full + n_two * two, n_full * full**2 + n_two * two**2
        return workers * total**2 / (self.n_hits * squared)

    @property
    def items_per_worker(self) -> float:
        return min(self.genuine_per_hit * self.hits_per_worker, self.n_translations)


def difference_error(design: Design, components: VarianceComponents) -> float:
    """Return the standard error of the difference between two system scores.

    Segments are shared by the systems and cancel out. What remains are translations, which more segments
    average out, tastes, which more workers do, and the noise of ratings.
    """
    # Means of twice as many ratings have half the noise.
    share_refilled = design.n_refilled / design.n_translations
    n_ratings = design.n_segments * design.n_ratings / (1 - share_refilled / 2)
    return math.sqrt(
        2
        * (
            components.translation / design.n_segments
            + _tastes(design, components)
            + (components.worker + components.residual) / n_ratings
        )
    )


def level_of(n_systems: int, alpha: float = ALPHA) -> float:
    """Return the p-value that a difference needs, in either direction of any pair, to count at once.

    This is the first step of Holm's method, which the comparison of systems uses, so it is on the safe side.
    """
    return alpha / (n_systems * (n_systems - 1))


def power(
    design: Design, components: VarianceComponents, difference: float, *, alpha: float = ALPHA
) -> float:
    """Predict how likely two systems are told apart.

    Parameters
    ----------
    design : Design
    components : VarianceComponents
    difference : float
        Of their true scores, in the unit of the components (z), above 0.
    alpha : float

    Returns
    -------
    float
        The probability that `systems.compare_systems` (`two_way`) finds the better one better.

    Notes
    -----
    That test adds what workers add to the variance over segments. The estimate of the first is that over
    workers less what chance adds to it; below 0, it is left out, with its degrees of freedom. Both
    variances are multiples of chi-squared, and the power is averaged over them, at equally likely values.
    """
    if not difference > 0:
        raise ValueError(f"`difference` must be above 0, not {difference!r}.")
    check_between("alpha", alpha, 0, 1)
    of_segments, of_workers = design.n_segments - 1.0, design.equally_busy - 1
    if min(of_segments, of_workers) <= 0:
        return 0.0
    error = difference_error(design, components)
    if error == 0:
        return 1.0
    # In units of the true variance.
    tastes = 2 * _tastes(design, components) / error**2
    over_segments = (1 - tastes) * _chi_squared(of_segments, N_SEGMENT_POINTS)[:, None]
    # What ratings of different segments and translations add by chance to the totals of workers.
    others = components.total - components.taste
    chance = 2 * others / (design.n_segments * design.n_ratings) / error**2
    extra = (tastes + chance) * _chi_squared(of_workers, N_WORKER_POINTS) - chance
    df = np.where(extra > 0, min(of_segments, of_workers), of_segments)
    needed = scipy.special.stdtrit(df, 1 - level_of(design.n_systems, alpha))
    used_errors = np.sqrt(over_segments + np.maximum(extra, 0))
    return float(np.mean(scipy.special.ndtr(difference / error - needed * used_errors)))


def _chi_squared(df: float, n: int) -> Floats:
    """Return n equally likely values of chi-squared over its degrees of freedom."""
    upper = 1 - (np.arange(n) + 0.5) / n
    return np.asarray(scipy.special.chdtri(df, upper) / df, dtype=np.float64)


def _tastes(design: Design, components: VarianceComponents) -> float:
    """Return the variance that workers' tastes give to the score of a system.

    A worker's items are drawn at random, so some systems have more of them, and tastes weigh a little more.
    """
    uneven = 1 + (design.n_systems - 1) / design.items_per_worker
    return components.taste * uneven / design.equally_busy


def segments_for_power(
    design: Design,
    components: VarianceComponents,
    difference: float,
    wished: float,
    *,
    alpha: float = ALPHA,
) -> int | None:
    """Return the fewest segments with which the wished power is reached; None if no number is enough."""
    check_between("wished", wished, 0, 1)

    def is_enough(n: int) -> bool:
        return power(_with_segments(design, n), components, difference, alpha=alpha) >= wished

    high = 2
    while not is_enough(high):
        high *= 2
        if high > MOST_SEGMENTS:
            return None
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


def _with_segments(design: Design, n_segments: int) -> Design:
    return Design(
        design.n_systems,
        n_segments,
        design.n_ratings,
        design.genuine_per_hit,
        design.hits_per_worker,
    )


def smallest_difference(
    design: Design, components: VarianceComponents, wished: float, *, alpha: float = ALPHA
) -> float:
    """Return the smallest difference that is found with the wished power; infinite without an error to judge by."""
    check_between("wished", wished, 0, 1)
    low, high = 0.0, 1e-3
    while power(design, components, high, alpha=alpha) < wished:
        high *= 2
        if high > 1e3:
            return math.inf
    while high - low > 1e-6 * high:
        middle = (low + high) / 2
        is_enough = power(design, components, middle, alpha=alpha) >= wished
        low, high = (low, middle) if is_enough else (middle, high)
    return high


def gold_reliability(components: VarianceComponents, n_ratings: ArrayLike) -> Floats:
    """Return how well means of n ratings correlate with those of n other workers.

    This is Spearman-Brown's formula; the correlation with the mean of endless ratings is its square root.
    """
    n = np.asarray(n_ratings, dtype=np.float64)
    signal = components.segment + components.translation
    noise = components.total - signal
    return np.asarray(n * signal / (n * signal + noise)) if signal else np.zeros(n.shape)


def ratings_for_reliability(components: VarianceComponents, wished: float) -> int | None:
    """Return the fewest ratings of a translation for the wished reliability; None if no number is enough."""
    check_between("wished", wished, 0, 1)
    signal = components.segment + components.translation
    if not signal:
        return None
    n = math.ceil(wished * (components.total - signal) / (signal * (1 - wished)) - 1e-9)
    return max(n, 1) if n <= MOST_RATINGS else None
