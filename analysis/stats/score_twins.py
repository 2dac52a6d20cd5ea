"""Workers who score as if they were one: nearly the same scores, or the same rhythm, on the same items."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._groups import ROUNDING, divide, factorise, sums
from ._validation import (
    Bools,
    Floats,
    Ints,
    Keys,
    as_keys,
    as_numbers,
    check_at_least,
    check_same_length,
)
from .signature import signature

# A pair is compared once both have rated this many of the same items.
FEWEST_SHARED_ITEMS = 20
# Two people who rate the same texts reach an r of 0.4 to 0.6, and careful ones 0.8. Only copies, or programs that
# compute the same, come this close to 1.
TWIN_R = 0.95
# The share of exactly equal scores, on a scale where 0 is what is usual and 1 is all of them.
TWIN_SHARE = 0.5
# Everyone takes longer for longer texts, so the times of two people are alike to some degree.
RHYTHM_R = 0.9


@dataclass(frozen=True, slots=True)
class WorkerPairs:
    """Pairs of workers who rated enough of the same items, `first` before `second` in sort order.

    `r` is NaN where the values of either never vary. `usual_share` is the share of equal values to expect: the
    median of the other pairs, or what the pair's own use of the scale gives by chance if that is more.
    """

    first: Keys
    second: Keys
    n_items: Ints
    r: Floats
    share_equal: Floats
    usual_share: Floats
    is_twin: Bools
    signature: str

    def __len__(self) -> int:
        return len(self.first)


def score_twins(
    scores: ArrayLike,
    workers: ArrayLike,
    items: ArrayLike,
    hits: ArrayLike,
    *,
    fewest_items: int = FEWEST_SHARED_ITEMS,
) -> WorkerPairs:
    """Compare the scores of every two workers who rated the same items.

    Parameters
    ----------
    scores, workers, items, hits : array_like, shape (n,)
        One row per rating, at most one per worker and item. An item belongs to one HIT.
    fewest_items : int
        Items that two workers must share to be compared.

    Returns
    -------
    WorkerPairs
        Twins have r >= `TWIN_R`, or equal scores far more often than usual: at least `TWIN_SHARE` of the way from
        the usual share to 1. Two workers who each give one score only are not twins; that is another question.
    """
    table = _compared(scores, workers, items, hits, fewest_items)
    usual = np.fmax(_median_of_others(table.share_equal), table.chance_equal)
    excess = divide(table.share_equal - usual, 1 - usual)
    # Comparisons with NaN are False.
    is_twin = (table.r >= TWIN_R) | (excess >= TWIN_SHARE)
    return table.judged(
        usual,
        is_twin,
        signature(
            twins=("pearson", f"r>={TWIN_R}", f"equal>={TWIN_SHARE}"), items=f">={fewest_items}"
        ),
    )


def rhythm_twins(
    seconds: ArrayLike,
    workers: ArrayLike,
    items: ArrayLike,
    hits: ArrayLike,
    *,
    fewest_items: int = FEWEST_SHARED_ITEMS,
) -> WorkerPairs:
    """Compare the time that every two workers took for the same items, on a logarithmic scale.

    Parameters
    ----------
    seconds : array_like, shape (n,)
        Time since the worker's previous rating. Rows that are NaN, zero or negative are left out.
    workers, items, hits, fewest_items
        As for `score_twins`.

    Returns
    -------
    WorkerPairs
        Twins have r >= `RHYTHM_R`.
    """
    seconds = as_numbers("seconds", seconds, missing=True)
    workers, items = as_keys("workers", workers), as_keys("items", items)
    hits = as_keys("hits", hits)
    check_same_length(seconds=seconds, workers=workers, items=items, hits=hits)
    known = seconds > 0
    table = _compared(
        np.log(seconds[known]), workers[known], items[known], hits[known], fewest_items
    )
    return table.judged(
        table.chance_equal,
        table.r >= RHYTHM_R,
        signature(rhythm=("pearson", "log", f"r>={RHYTHM_R}"), items=f">={fewest_items}"),
    )


@dataclass(frozen=True, slots=True)
class _Pairs:
    first: Keys
    second: Keys
    n_items: Ints
    r: Floats
    share_equal: Floats
    chance_equal: Floats

    def judged(self, usual_share: Floats, is_twin: Bools, how: str) -> WorkerPairs:
        return WorkerPairs(
            first=self.first,
            second=self.second,
            n_items=self.n_items,
            r=self.r,
            share_equal=self.share_equal,
            usual_share=usual_share,
            is_twin=is_twin,
            signature=how,
        )


def _compared(
    values: ArrayLike, workers: ArrayLike, items: ArrayLike, hits: ArrayLike, fewest_items: int
) -> _Pairs:
    """Compare all pairs with enough items in common, HIT by HIT, and add up what their HITs give."""
    values = as_numbers("values", values)
    workers, items = as_keys("workers", workers), as_keys("items", items)
    hits = as_keys("hits", hits)
    check_same_length(values=values, workers=workers, items=items, hits=hits)
    check_at_least("fewest_items", fewest_items, 3)
    labels, codes = factorise(workers)
    # Centred, so that differences of large sums lose no digits.
    centred = values - values.mean() if len(values) else values
    parts = [
        _in_hit(centred[rows], codes[rows], items[rows], len(labels)) for rows in _rows_of(hits)
    ]
    pairs = np.concatenate([np.zeros(0, dtype=np.int64), *(pair for pair, _ in parts)])
    columns = np.concatenate([np.zeros((_N_SUMS, 0)), *(part for _, part in parts)], axis=1)
    keys, places = factorise(pairs)
    n, sx, sy, sxx, syy, sxy, n_equal, chance = (
        sums(column, places, len(keys)) for column in columns
    )
    enough = n >= fewest_items
    keys, n, n_equal, chance = keys[enough], n[enough], n_equal[enough], chance[enough]
    sx, sy, sxx, syy, sxy = (total[enough] for total in (sx, sy, sxx, syy, sxy))
    first, second = np.divmod(keys.astype(np.int64), max(len(labels), 1))
    return _Pairs(
        first=labels[first],
        second=labels[second],
        n_items=n.astype(np.int64),
        r=_r_of_sums(n, sx, sy, sxx, syy, sxy),
        share_equal=divide(n_equal, n),
        chance_equal=divide(chance, n),
    )


_N_SUMS = 8


def _rows_of(hits: Keys) -> list[Ints]:
    """Return the rows of each HIT."""
    labels, codes = factorise(hits)
    order = np.argsort(codes, kind="stable")
    ends = np.cumsum(np.bincount(codes, minlength=len(labels)))
    return np.split(order, ends[:-1]) if len(labels) else []


def _in_hit(
    values: Floats, codes: Ints, items: Keys, n_workers: int
) -> tuple[Ints, NDArray[np.float64]]:
    """Return the key of each pair in a HIT, and the sums over the items that both rated."""
    own_workers, rows = factorise(codes)
    own_items, columns = factorise(items)
    table = np.full((len(own_workers), len(own_items)), np.nan)
    table[rows, columns] = values
    has = np.isfinite(table)
    x, ones = np.where(has, table, 0.0), has.astype(np.float64)
    n = ones @ ones.T
    total, squares, products = x @ ones.T, x**2 @ ones.T, x @ x.T
    n_equal = np.array([(has & has[i] & (table == table[i])).sum(axis=1) for i in range(len(x))])
    shares = _distributions(table, has)
    upper = np.triu_indices(len(x), k=1)
    chance = n * (shares @ shares.T)
    sums_of_pairs = np.array(
        [
            column[upper]
            for column in (n, total, total.T, squares, squares.T, products, n_equal, chance)
        ]
    )
    # Codes are sorted, so the first of a pair is the smaller one.
    keys = own_workers[upper[0]].astype(np.int64) * n_workers + own_workers[upper[1]]
    return keys, sums_of_pairs


def _distributions(table: Floats, has: Bools) -> Floats:
    """Return how often each worker of a HIT uses each value, as shares of their ratings."""
    rows, _ = np.nonzero(has)
    values, codes = np.unique(table[has], return_inverse=True)
    uses = np.zeros((len(table), max(len(values), 1)))
    np.add.at(uses, (rows, codes), 1.0)
    return uses / np.maximum(uses.sum(axis=1, keepdims=True), 1)


def _r_of_sums(n: Floats, sx: Floats, sy: Floats, sxx: Floats, syy: Floats, sxy: Floats) -> Floats:
    x_spread, y_spread = sxx - sx**2 / n, syy - sy**2 / n
    varies = (x_spread > ROUNDING * sxx) & (y_spread > ROUNDING * syy)
    spread = np.sqrt(np.where(varies, x_spread * y_spread, 0.0))
    return np.clip(divide(sxy - sx * sy / n, spread), -1, 1)


def _median_of_others(shares: Floats) -> Floats:
    """Return for each pair the median of all other pairs; NaN if there are none."""
    n = len(shares)
    if n < 2:
        return np.full(n, np.nan)
    order = np.argsort(shares, kind="stable")
    ranks = np.empty(n, dtype=np.int64)
    ranks[order] = np.arange(n)
    ordered = shares[order]
    # Without the pair itself, what comes after it moves up by one place.
    low, high = (n - 2) // 2, (n - 1) // 2
    return (ordered[low + (ranks <= low)] + ordered[high + (ranks <= high)]) / 2
