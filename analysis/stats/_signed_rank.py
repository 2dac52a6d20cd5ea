"""Wilcoxon's signed-rank test for many samples at once."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy

from ._groups import lengths_of_runs, places_in_group, starts_of_runs, sums
from ._validation import Bools, Floats, Ints

# Largest samples with an exact p-value: from a table without ties, by counting all sign patterns with
# ties. The same limits as `scipy.stats.wilcoxon(method="auto")`.
LARGEST_UNTIED = 50
LARGEST_TIED = 13
# Samples whose sign patterns are counted together, to limit memory use.
BLOCK = 20_000


@dataclass(frozen=True, slots=True)
class SignedRanks:
    """Sum of the ranks of positive values (zeros dropped) and the p-value of a sum this small."""

    statistic: Floats
    n_nonzero: Ints
    pvalue: Floats
    is_exact: Bools


def signed_ranks(values: Floats, codes: Ints, n_groups: int) -> SignedRanks:
    """Test whether each group is centred below zero; p = 1 where all values are zero."""
    n = np.bincount(codes, minlength=n_groups)
    values, codes = values[values != 0], codes[values != 0]
    m = np.bincount(codes, minlength=n_groups).astype(np.int64)
    order = np.lexsort((np.abs(values), codes))
    values, codes = values[order], codes[order]
    ranks, tie_terms = _ranks(np.abs(values), codes, n_groups)
    statistic = sums(np.where(values > 0, ranks, 0.0), codes, n_groups)

    is_plain = (tie_terms == 0) & (m == n)
    by_table = is_plain & (n <= LARGEST_UNTIED)
    by_counting = ~is_plain & (n <= LARGEST_TIED)
    pvalue = _normal_p(statistic, m, tie_terms)
    pvalue[by_table] = _table_p(statistic[by_table], m[by_table])
    tied_groups = np.flatnonzero(by_counting)
    for start in range(0, len(tied_groups), BLOCK):
        groups = tied_groups[start : start + BLOCK]
        pvalue[groups] = _counted_p(statistic, ranks, codes, n_groups, groups)
    pvalue[n == 0] = np.nan
    return SignedRanks(statistic, m, pvalue, by_table | by_counting)


def _ranks(sizes: Floats, codes: Ints, n_groups: int) -> tuple[Floats, Floats]:
    """Rank within groups, with mean ranks for ties; also return the sum of t^3 - t over ties."""
    starts = starts_of_runs(codes, sizes)
    tied = lengths_of_runs(starts, len(codes))
    places = places_in_group(codes, n_groups, np.arange(len(codes)))
    ranks = np.repeat(places[starts] + (tied + 1) / 2, tied)
    return ranks, sums((tied**3 - tied).astype(np.float64), codes[starts], n_groups)


def _normal_p(statistic: Floats, m: Ints, tie_terms: Floats) -> Floats:
    mean = m * (m + 1) / 4
    variance = (m * (m + 1) * (2 * m + 1) - tie_terms / 2) / 24
    with np.errstate(divide="ignore", invalid="ignore"):
        z = (statistic - mean) / np.sqrt(variance)
    return np.where(m == 0, 1.0, scipy.special.ndtr(z))


@lru_cache(maxsize=1)
def _table() -> tuple[Floats, Ints]:
    """Return concatenated cumulative distributions for 0 to LARGEST_UNTIED values, and their offsets."""
    ways = np.ones(1)
    cumulative, offsets = [ways], [0]
    for n in range(1, LARGEST_UNTIED + 1):
        offsets.append(offsets[-1] + len(ways))
        # The value of rank n is either positive or not.
        ways = np.pad(ways, (0, n)) + np.pad(ways, (n, 0))
        cumulative.append(np.cumsum(ways) / 2.0**n)
    return np.concatenate(cumulative), np.array(offsets, dtype=np.int64)


def _table_p(statistic: Floats, m: Ints) -> Floats:
    cumulative, offsets = _table()
    return cumulative[offsets[m] + statistic.astype(np.int64)]


def _counted_p(
    statistic: Floats, ranks: Floats, codes: Ints, n_groups: int, groups: Ints
) -> Floats:
    """Return the share of all sign patterns whose sum of ranks is at most the observed one."""
    place = np.full(n_groups, -1, dtype=np.int64)
    place[groups] = np.arange(len(groups))
    chosen = place[codes] >= 0
    rows = place[codes[chosen]]
    columns = places_in_group(rows, len(groups), np.arange(len(rows)))
    # Mean ranks become whole numbers when doubled. Each unused column (0) counts every sum twice; the
    # division at the end corrects for that.
    doubled = np.zeros((len(groups), LARGEST_TIED), dtype=np.int64)
    doubled[rows, columns] = np.rint(2 * ranks[chosen]).astype(np.int64)
    totals = np.arange(LARGEST_TIED * (LARGEST_TIED + 1) + 1)
    ways = np.zeros((len(groups), len(totals)))
    ways[:, 0] = 1
    for column in doubled.T:
        without = totals - column[:, None]
        shifted = np.take_along_axis(ways, np.maximum(without, 0), axis=1)
        ways = ways + np.where(without >= 0, shifted, 0)
    below = totals <= np.rint(2 * statistic[groups])[:, None]
    return np.sum(ways, axis=1, where=below) / 2.0**LARGEST_TIED
