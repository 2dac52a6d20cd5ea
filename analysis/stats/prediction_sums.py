"""MAE, RMSE and DeltaAvg of submissions as sums over segments, which can be drawn or left out."""

from collections.abc import Callable, Iterator
from typing import Literal, get_args

import numpy as np

from ._validation import Floats, Ints, directed
from .resampling import WEIGHTS_AT_ONCE, bootstrap_counts

ErrorMeasure = Literal["mae", "rmse"]
PredictionMeasure = Literal["mae", "rmse", "delta_avg"]
PREDICTION_MEASURES: tuple[PredictionMeasure, ...] = get_args(PredictionMeasure)

# A standard error needs at least two segments. With more segments than this, the jackknife leaves out as
# many groups of them: its standard error is then known to about 4 %, and takes seconds.
MIN_UNITS = 2
MOST_GROUPS = 300


def standard_error(left_out: Floats) -> Floats:
    """Return the jackknife's standard error from estimates that each leave out one of n units."""
    n = len(left_out)
    return np.asarray(left_out.std(axis=0) * np.sqrt(n - 1))


def prediction_sums(
    predictions: Floats, gold: Floats, measure: PredictionMeasure, higher: bool, codes: Ints
) -> "ErrorSums | DeltaAvgSums":
    if measure == "delta_avg":
        return DeltaAvgSums(predictions, gold, codes, higher)
    return ErrorSums(predictions, gold, codes, measure)


class ErrorSums:
    """MAE or RMSE of submissions, as sums over segments, which can be drawn or left out."""

    def __init__(self, predictions: Floats, gold: Floats, codes: Ints, measure: ErrorMeasure):
        if measure not in _LOSS:
            raise ValueError(f"`measure` must be one of {', '.join(PREDICTION_MEASURES)}")
        losses = _LOSS[measure](predictions - gold)
        self._finish = _FINISH[measure]
        self.n_units = int(codes.max()) + 1
        self._sizes = np.bincount(codes).astype(np.float64)
        self._sums = np.stack([np.bincount(codes, weights=row) for row in losses], axis=1)
        self.estimates = self._finish(losses.mean(axis=1))

    def resampled(self, n_resamples: int, rng: np.random.Generator) -> Iterator[Floats]:
        """Yield blocks (resamples, submissions)."""
        for counts in bootstrap_counts(self.n_units, n_resamples, rng):
            yield self._of(counts)

    def left_out(self) -> Floats:
        """Return the estimates without each segment, or group of segments (groups, submissions)."""
        return self._of(_counts_left(self.n_units))

    def _of(self, counts: Floats) -> Floats:
        return self._finish(counts @ self._sums / (counts @ self._sizes)[:, None])


class DeltaAvgSums:
    """DeltaAvg of submissions, for all translations or for segments drawn with any weights.

    DeltaAvg is a weighted sum of the ranked gold scores, whose weights depend only on the rank. A
    translation that was drawn c times takes c ranks, so it has the weight of all of them: a difference of
    the cumulated weights, which need one lookup for each translation. If fewer or more translations are
    drawn than there are, their ranks are scaled to the number there is.
    """

    def __init__(self, predictions: Floats, gold: Floats, codes: Ints, higher_is_better: bool):
        values = directed(predictions, higher_is_better)
        self._gold = directed(gold, higher_is_better)
        self._codes = codes
        self.n_units = int(codes.max()) + 1
        self._weights = _cumulated_rank_weights(len(gold))
        self._slopes = np.diff(self._weights, append=self._weights[-1])
        self._orders = np.argsort(-values, axis=1, kind="stable")
        self._ties = [
            np.flatnonzero(np.diff(row[order], prepend=np.nan) != 0)
            for row, order in zip(values, self._orders, strict=True)
        ]
        self.estimates = self._of(np.ones((1, self.n_units)))[0]

    def resampled(self, n_resamples: int, rng: np.random.Generator) -> Iterator[Floats]:
        """Yield blocks (resamples, submissions)."""
        for counts in bootstrap_counts(self.n_units, n_resamples, rng, width=len(self._gold)):
            yield self._of(counts)

    def left_out(self) -> Floats:
        """Return the estimates without each segment, or group of segments (groups, submissions)."""
        counts, size = _counts_left(self.n_units), max(1, WEIGHTS_AT_ONCE // len(self._gold))
        blocks = [counts[start : start + size] for start in range(0, len(counts), size)]
        return np.concatenate([self._of(block) for block in blocks])

    def _of(self, counts: Floats) -> Floats:
        n = len(self._gold)
        rows = counts[:, self._codes]
        totals = rows.sum(axis=1)
        mean = rows @ self._gold / totals
        results = np.empty((len(counts), len(self._orders)))
        for i, (order, starts) in enumerate(zip(self._orders, self._ties, strict=True)):
            drawn = rows[:, order]
            sums, sizes = drawn * self._gold[order], drawn
            if len(starts) < n:
                sums = np.add.reduceat(sums, starts, axis=1)
                sizes = np.add.reduceat(sizes, starts, axis=1)
            # Interpolate between ranks. `numpy.interp` would search for each of them.
            ends = np.minimum(np.cumsum(sizes, axis=1) * (n / totals)[:, None], n)
            ranks = ends.astype(np.intp)
            cumulated = self._weights[ranks] + (ends - ranks) * self._slopes[ranks]
            weights = np.diff(cumulated, prepend=0, axis=1)
            # Translations with equal predictions share their mean gold.
            results[:, i] = (weights * sums / np.maximum(sizes, 1)).sum(axis=1) - mean
        return results


def _counts_left(n_segments: int) -> Floats:
    """Return 0 for the segments of a group and 1 for all others (groups, segments)."""
    n_groups = min(n_segments, MOST_GROUPS)
    groups = np.arange(n_segments) % n_groups
    return np.where(groups == np.arange(n_groups)[:, None], 0.0, 1.0)


def _cumulated_rank_weights(size: int) -> Floats:
    """Return the weight in DeltaAvg of the gold of the best j translations together, j = 0..size."""
    largest = size // 2
    # The weight of the mean gold of the best j.
    weights = np.zeros(size)
    for n in range(2, largest + 1):
        cuts = np.arange(1, n) * (size // n)
        weights[cuts - 1] += 1 / (n - 1)
    weights /= (largest - 1) * np.arange(1, size + 1)
    # Each of the best j is part of the means of j and more.
    by_rank = np.cumsum(weights[::-1])[::-1]
    return np.concatenate([[0.0], np.cumsum(by_rank)])


_LOSS: dict[ErrorMeasure, Callable[[Floats], Floats]] = {"mae": np.abs, "rmse": np.square}
_FINISH: dict[ErrorMeasure, Callable[[Floats], Floats]] = {"mae": np.asarray, "rmse": np.sqrt}
