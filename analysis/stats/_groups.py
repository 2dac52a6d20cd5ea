"""Sums, means and ranks within groups of rows, for all groups at once."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from ._validation import Bools, Floats, Ints, Keys

# Integer keys that lie this much wider than there are rows are still numbered by a table, which
# takes one pass, rather than by sorting.
WIDEST_TABLE = 4
SMALLEST_TABLE = 1 << 16
# A standard deviation below this share of the mean is what adding up equal numbers leaves behind.
ROUNDING = 1e-11
# Rows whose intermediate results are kept at a time: half a megabyte a column.
BLOCK_ROWS = 1 << 16


def factorise(keys: Keys) -> tuple[Keys, Ints]:
    """Return the distinct keys in order, and for each row the place of its key among them."""
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
    """Take the moments of every group, in two passes for accuracy.

    Where all values of a group are equal, up to rounding, the sum of squares is exactly zero. `n`
    spares counting the groups where that has been done.
    """
    if n is None:
        n = counts(codes, n_groups)
    mean = divide(sums(values, codes, n_groups), n)
    ss = np.zeros(n_groups)
    for rows in blocks(len(values)):
        deviations = values[rows] - mean[codes[rows]]
        deviations *= deviations
        np.add.at(ss, codes[rows], deviations)
    # No scale on which people rate is so fine that a spread this small could be theirs.
    ss[ss <= n * np.square(ROUNDING * mean)] = 0
    return Moments(n=n, mean=mean, ss=ss)


def blocks(n_rows: int) -> Iterator[slice]:
    """Cut rows into blocks whose intermediate results stay in the processor's cache."""
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
    """Divide, with NaN wherever the denominator is zero."""
    with np.errstate(divide="ignore", invalid="ignore"):
        quotients = np.divide(numerators, denominators)
    return np.where(denominators == 0, np.nan, quotients)


def starts_of_runs(*columns: NDArray[np.generic]) -> Ints:
    """Return where a new run begins: the rows in which any column differs from the row above."""
    n = len(columns[0])
    changed: Bools = np.zeros(n, dtype=np.bool_)
    changed[:1] = True
    for column in columns:
        changed[1:] |= column[1:] != column[:-1]
    return np.flatnonzero(changed)


def lengths_of_runs(starts: Ints, n: int) -> Ints:
    """Return how many rows each run has."""
    return np.diff(starts, append=n)


def places_in_group(codes: Ints, n_groups: int, order: Ints) -> Ints:
    """Return each row's place (from 0) in its group when rows are taken in `order`.

    `order` must bring the rows of a group together.
    """
    sizes = np.bincount(codes, minlength=n_groups)
    first = np.cumsum(sizes) - sizes
    places = np.empty(len(codes), dtype=np.int64)
    places[order] = np.arange(len(codes)) - first[codes[order]]
    return places


def t_reach(n: Ints, confidence: float) -> Floats:
    """Return how many standard errors a t interval around a mean of n values reaches to each side.

    NaN for n < 2. The quantile is slow to find, so it is looked up once for every distinct n.
    """
    distinct, places = factorise(n)
    df = np.where(distinct > 1, distinct - 1.0, np.nan)
    reach: Floats = np.asarray(special.stdtrit(df, (1 + confidence) / 2), dtype=np.float64)
    return reach[places]


def is_constant(scores: Floats) -> Bools:
    """Say for each row whether its scores never vary, but for what adding up equal numbers leaves behind."""
    return np.asarray(np.ptp(scores, axis=-1) <= ROUNDING * np.abs(scores).max(axis=-1))
