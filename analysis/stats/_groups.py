"""Sums, means and ranks within groups of rows, for all groups at once."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from ._validation import Bools, Floats, Ints, Keys

# Integer keys are numbered by a lookup table, which is faster than sorting, if their range is at most
# this many times the number of rows, or below the smallest table.
WIDEST_TABLE = 4
SMALLEST_TABLE = 1 << 16
# A standard deviation below this share of the mean is a rounding error from summing equal numbers.
ROUNDING = 1e-11
# Rows processed at a time: half a megabyte per column.
BLOCK_ROWS = 1 << 16


def factorise(keys: Keys) -> tuple[Keys, Ints]:
    """Return the sorted distinct keys, and for each row the index of its key among them."""
    if keys.dtype.kind in "iu" and keys.size:
        low, high = int(keys.min()), int(keys.max())
        if high - low < max(WIDEST_TABLE * keys.size, SMALLEST_TABLE):
            return _factorise_by_table(keys, low, high)
    labels, codes = np.unique(keys, return_inverse=True)
    return labels, codes.astype(np.int64, copy=False)


def _factorise_by_table(keys: Keys, low: int, high: int) -> tuple[Keys, Ints]:
    places = keys.astype(np.int64, copy=False)
    if low:
        places = places - low
    present = np.zeros(high - low + 1, dtype=np.bool_)
    present[places] = True
    labels = (np.flatnonzero(present) + low).astype(keys.dtype)
    if len(labels) == len(present):
        return labels, places
    return labels, (np.cumsum(present) - 1)[places]


@dataclass(frozen=True, slots=True)
class Moments:
    """Count, mean and sum of squared deviations of each group; the mean of an empty group is NaN."""

    n: Ints
    mean: Floats
    ss: Floats

    @property
    def sd(self) -> Floats:
        """Sample standard deviation; NaN for groups of fewer than two."""
        return np.sqrt(divide(self.ss, np.maximum(self.n - 1, 0)))

    @property
    def se(self) -> Floats:
        """Standard error of the mean; NaN for groups of fewer than two."""
        return self.sd / np.sqrt(np.maximum(self.n, 1))


def moments(values: Floats, codes: Ints, n_groups: int, n: Ints | None = None) -> Moments:
    """Compute the moments of every group, in two passes for accuracy.

    If all values of a group are equal up to rounding, the sum of squares is exactly zero. Pass the
    group sizes `n` if you have them already.
    """
    if n is None:
        n = counts(codes, n_groups)
    mean = divide(sums(values, codes, n_groups), n)
    ss = np.zeros(n_groups)
    for rows in blocks(len(values)):
        deviations = values[rows] - mean[codes[rows]]
        deviations *= deviations
        np.add.at(ss, codes[rows], deviations)
    # Real ratings never vary this little.
    ss[ss <= n * np.square(ROUNDING * mean)] = 0
    return Moments(n=n, mean=mean, ss=ss)


def blocks(n_rows: int) -> Iterator[slice]:
    """Split rows into blocks whose intermediate results fit in the processor's cache."""
    for start in range(0, n_rows, BLOCK_ROWS):
        yield slice(start, start + BLOCK_ROWS)


def counts(codes: Ints, n_groups: int) -> Ints:
    """Count the rows of each group."""
    return np.bincount(codes, minlength=n_groups).astype(np.int64, copy=False)


def sums(values: Floats, codes: Ints, n_groups: int) -> Floats:
    """Add up the values of each group."""
    totals = np.bincount(codes, weights=values, minlength=n_groups)
    return totals.astype(np.float64, copy=False)


def divide(numerators: Floats, denominators: Floats | Ints) -> Floats:
    """Divide; NaN where the denominator is zero."""
    with np.errstate(divide="ignore", invalid="ignore"):
        quotients = np.divide(numerators, denominators)
    return np.where(denominators == 0, np.nan, quotients)


def starts_of_runs(*columns: NDArray[np.generic]) -> Ints:
    """Return the first row of each run: the rows where any column differs from the row above."""
    n = len(columns[0])
    changed: Bools = np.zeros(n, dtype=np.bool_)
    changed[:1] = True
    for column in columns:
        changed[1:] |= column[1:] != column[:-1]
    return np.flatnonzero(changed)


def lengths_of_runs(starts: Ints, n: int) -> Ints:
    """Return the number of rows in each run."""
    return np.diff(starts, append=n)


def places_in_group(codes: Ints, n_groups: int, order: Ints) -> Ints:
    """Return each row's position (from 0) in its group when rows are sorted by `order`.

    `order` must keep the rows of a group together.
    """
    sizes = np.bincount(codes, minlength=n_groups)
    first = np.cumsum(sizes) - sizes
    places = np.empty(len(codes), dtype=np.int64)
    places[order] = np.arange(len(codes)) - first[codes[order]]
    return places


def t_reach(n: Ints, confidence: float) -> Floats:
    """Return the half-width, in standard errors, of a t interval around a mean of n values.

    NaN for n < 2. The quantile is slow to compute, so it is computed once for each distinct n.
    """
    distinct, places = factorise(n)
    df = np.where(distinct > 1, distinct - 1.0, np.nan)
    reach: Floats = np.asarray(scipy.special.stdtrit(df, (1 + confidence) / 2), dtype=np.float64)
    return reach[places]


def is_constant(scores: Floats) -> Bools:
    """Return for each row whether all its scores are equal, up to rounding."""
    return np.asarray(np.ptp(scores, axis=-1) <= ROUNDING * np.abs(scores).max(axis=-1))
