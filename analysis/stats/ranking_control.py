"""Does someone who ranks outputs read them? Degraded outputs among them should come last."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ._validation import as_flags, as_numbers, check_same_length
from .quality_control import Verdict
from .thresholds import RELIABLE_P

# Before so many degraded outputs, chance alone may look like carelessness.
FEWEST_AGAINST = 3
# The evidence is against someone above this p-value, or with so many degraded outputs and no proof.
AGAINST_P = 0.5
ENOUGH_DEGRADED = 20


@dataclass(frozen=True, slots=True)
class DegradedLast:
    """How often degraded outputs were ranked last, alone; a small p-value says that it was not by chance.

    Attributes
    ----------
    n_last, n : int
        Degraded outputs ranked last, and all.
    share, pvalue : float
        NaN without any.
    verdict : Verdict
    level : float
        Reliable below this p-value.
    """

    n_last: int
    n: int
    share: float
    pvalue: float
    verdict: Verdict
    level: float = RELIABLE_P


def degraded_last(is_last: ArrayLike, sizes: ArrayLike) -> DegradedLast:
    """Test exactly whether degraded outputs are ranked last more often than by chance.

    Parameters
    ----------
    is_last : array_like of bool, shape (n,)
        Whether each degraded output was ranked last, without a tie.
    sizes : array_like of int, shape (n,)
        How many outputs were ranked together.

    Returns
    -------
    DegradedLast
        Someone who ranks at random puts one of k outputs last with a chance of 1 in k (or less, with ties), so the
        count is a sum of unequal coins, whose distribution is computed exactly.
    """
    last = as_flags("is_last", np.asarray(is_last, dtype=np.bool_))
    chances = 1 / as_numbers("sizes", np.asarray(sizes, dtype=np.float64))
    check_same_length(is_last=last, sizes=chances)
    n, n_last = len(last), int(last.sum())
    if not n:
        return DegradedLast(0, 0, np.nan, np.nan, Verdict.UNPROVEN)
    distribution = np.ones(1)
    for chance in chances:
        distribution = np.convolve(distribution, [1 - chance, chance])
    p = float(min(distribution[n_last:].sum(), 1.0))
    return DegradedLast(n_last, n, n_last / n, p, _verdict(n, p))


def _verdict(n: int, p: float) -> Verdict:
    if p < RELIABLE_P:
        return Verdict.RELIABLE
    is_against = (n >= FEWEST_AGAINST and p > AGAINST_P) or n >= ENOUGH_DEGRADED
    return Verdict.UNRELIABLE if is_against else Verdict.UNPROVEN
