"""What makes ratings differ: segments, systems on single segments, workers and chance."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ._groups import counts, divide, factorise, sums
from ._validation import Floats, Ints, as_keys, as_numbers, check_same_length


@dataclass(frozen=True, slots=True)
class VarianceComponents:
    """Variances of single ratings around the mean of their system, each at least 0.

    `segment`: some segments are easier for all systems. `translation`: a system does better on some
    segments than on others (system times segment). `worker`: some workers score higher; z-scores hardly
    have it. `taste`: workers like some systems better than other workers do (system times worker).
    `residual`: everything else.
    """

    segment: float
    translation: float
    worker: float
    taste: float
    residual: float

    def __post_init__(self) -> None:
        for name in self.__slots__:
            value = getattr(self, name)
            if not (np.isfinite(value) and value >= 0):
                raise ValueError(f"`{name}` must be a variance of at least 0, not {value!r}.")

    @property
    def total(self) -> float:
        return self.segment + self.translation + self.worker + self.taste + self.residual

    @property
    def single_r(self) -> float:
        """Correlation of two ratings of one translation by different workers; NaN if nothing varies."""
        return (self.segment + self.translation) / self.total if self.total else float("nan")


def variance_components(
    scores: ArrayLike, workers: ArrayLike, systems: ArrayLike, segments: ArrayLike
) -> VarianceComponents:
    """Estimate variance components from ratings, however unevenly they are spread.

    Parameters
    ----------
    scores, workers, systems, segments : array_like, shape (n,)
        One row per rating, repeats averaged. Rows whose score is NaN are left out.

    Returns
    -------
    VarianceComponents
        By the method of moments: pairs of ratings that share a segment, a translation, a worker, or a
        worker and a system have these variances as their mean product around the means of systems [1]_.
        Estimates below 0 count as 0; those without any pair are 0 too. All are 0 without ratings.

    References
    ----------
    .. [1] Searle, Casella and McCulloch. Variance Components. Wiley, 1992, chapter 5.
    """
    y, workers = as_numbers("scores", scores, missing=True), as_keys("workers", workers)
    systems, segments = as_keys("systems", systems), as_keys("segments", segments)
    check_same_length(scores=y, workers=workers, systems=systems, segments=segments)
    has_score = ~np.isnan(y)
    y = y[has_score]
    (w, n_workers), (s, n_systems), (g, n_segments) = (
        _coded(keys[has_score]) for keys in (workers, systems, segments)
    )
    if not len(y):
        return VarianceComponents(0.0, 0.0, 0.0, 0.0, 0.0)
    residuals = y - divide(sums(y, s, n_systems), counts(s, n_systems))[s]
    pairs = _Pairs(residuals)
    by_segment, by_worker = pairs.sharing(g), pairs.sharing(w)
    by_both = pairs.sharing(g * n_workers + w)
    by_translation = pairs.sharing(g * n_systems + s)
    by_taste = pairs.sharing(w * n_systems + s)
    by_all = pairs.sharing((g * n_workers + w) * n_systems + s)
    # Of one segment by different workers: of the same system, and of different ones.
    same_text = _mean(by_translation - by_all)
    other_text = _mean((by_segment - by_translation) - (by_both - by_all))
    # By one worker on different segments, likewise.
    same_system = _mean(by_taste - by_all)
    other_system = _mean((by_worker - by_taste) - (by_both - by_all))
    if n_systems == 1:
        other_text, other_system = same_text, same_system
    segment, worker = max(other_text, 0.0), max(other_system, 0.0)
    translation, taste = max(same_text - segment, 0.0), max(same_system - worker, 0.0)
    total = float((residuals**2).sum()) / max(len(y) - n_systems, 1)
    residual = max(total - segment - translation - worker - taste, 0.0)
    return VarianceComponents(segment, translation, worker, taste, residual)


def _coded(keys: np.ndarray) -> tuple[Ints, int]:
    labels, codes = factorise(keys)
    return codes, len(labels)


class _Pairs:
    """Adds up products of residuals over pairs of ratings."""

    def __init__(self, residuals: Floats) -> None:
        self._residuals = residuals
        self._squares = float((residuals**2).sum())

    def sharing(self, codes: Ints) -> Floats:
        """Return the sum of products over all pairs within groups, and the number of pairs."""
        labels, codes = factorise(codes)
        n = counts(codes, len(labels))
        totals = sums(self._residuals, codes, len(labels))
        return np.array([float((totals**2).sum()) - self._squares, float(n @ (n - 1))])


def _mean(pairs: Floats) -> float:
    total, n = pairs
    return float(total / n) if n > 0 else 0.0
