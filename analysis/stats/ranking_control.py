"""Does someone who ranks outputs read them? Degraded outputs among them should come last."""

from dataclasses import dataclass
from itertools import takewhile

import numpy as np
from numpy.typing import ArrayLike

from ._validation import Bools, Floats, as_flags, as_numbers, check_same_length
from .quality_control import Verdict
from .thresholds import AGREEMENT_P, RELIABLE_P
from .trust_rules import Stance

# Before so many degraded outputs, chance alone may look like carelessness.
FEWEST_AGAINST = 3
# The evidence is against someone above this p-value, or with so many degraded outputs and no proof.
AGAINST_P = 0.5
ENOUGH_DEGRADED = 20
# The latest degraded outputs of someone who may have stopped reading: readers rank far more than half of them last, and
# someone who ranks at random passes once in thirty times (five outputs).
WINDOW_DEGRADED = 10
# Under the guarded rule agreement is asked once so many screens were ranked by others, too, of whom there must be
# `FEWEST_OTHERS`; with `ENOUGH_SCREENS` a reader would have passed.
FEWEST_SCREENS, ENOUGH_SCREENS = 6, 20


@dataclass(frozen=True, slots=True)
class DegradedLast:
    """How often degraded outputs were ranked last, alone; a small p-value says that it was not by chance.

    Attributes
    ----------
    n_last, n : int
        Degraded outputs ranked last, and all.
    share, pvalue : float
        NaN without any.
    window_n, window_pvalue : int, float
        The same test of the latest `WINDOW_DEGRADED`; 0 and NaN if there are no more than these.
    drifted_from : int or None
        The first degraded output of the earliest of the latest windows in a row that failed, by index.
    verdict : Verdict
    level : float
        Reliable below this p-value.
    """

    n_last: int
    n: int
    share: float
    pvalue: float
    verdict: Verdict
    window_n: int = 0
    window_pvalue: float = np.nan
    drifted_from: int | None = None
    level: float = RELIABLE_P


def degraded_last(is_last: ArrayLike, sizes: ArrayLike) -> DegradedLast:
    """Test exactly whether degraded outputs are ranked last more often than by chance.

    Parameters
    ----------
    is_last : array_like of bool, shape (n,)
        Whether each degraded output was ranked last, without a tie; in the order in which they were ranked.
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
    p = _chance_of_as_many(last, chances)
    verdict = _verdict(n, p)
    if n <= WINDOW_DEGRADED:
        return DegradedLast(n_last, n, n_last / n, p, verdict)
    starts = range(n - WINDOW_DEGRADED, -1, -1)
    windows = [slice(start, start + WINDOW_DEGRADED) for start in starts]
    window_ps = [_chance_of_as_many(last[window], chances[window]) for window in windows]
    failed = list(
        takewhile(lambda found: found[1] >= RELIABLE_P, zip(starts, window_ps, strict=True))
    )
    is_drifting = verdict == Verdict.RELIABLE and bool(failed)
    return DegradedLast(
        n_last=n_last,
        n=n,
        share=n_last / n,
        pvalue=p,
        verdict=Verdict.DRIFTING if is_drifting else verdict,
        window_n=WINDOW_DEGRADED,
        window_pvalue=window_ps[0],
        drifted_from=failed[-1][0] if is_drifting else None,
    )


def _chance_of_as_many(last: Bools, chances: Floats) -> float:
    distribution = np.ones(1)
    for chance in chances:
        distribution = np.convolve(distribution, [1 - chance, chance])
    return float(min(distribution[int(last.sum()) :].sum(), 1.0))


def _verdict(n: int, p: float) -> Verdict:
    verdicts = {Stance.FOR: Verdict.RELIABLE, Stance.AGAINST: Verdict.UNRELIABLE}
    return verdicts.get(stance_of_degraded(n, p), Verdict.UNPROVEN)


def stance_of_degraded(n: int, p: float | None) -> Stance:
    """Return what the exact test of `n` degraded outputs says."""
    if not n or p is None:
        return Stance.SILENT
    if p < RELIABLE_P:
        return Stance.FOR
    is_against = (n >= FEWEST_AGAINST and p > AGAINST_P) or n >= ENOUGH_DEGRADED
    return Stance.AGAINST if is_against else Stance.UNDECIDED


def stance_of_kappa(n_screens: int, p: float | None) -> Stance:
    """Return what the test of agreement with others (`kappa.agreement_by_task`) says; None without enough others."""
    if n_screens < FEWEST_SCREENS or p is None:
        return Stance.SILENT
    if p < AGREEMENT_P:
        return Stance.FOR
    return Stance.AGAINST if p > AGAINST_P or n_screens >= ENOUGH_SCREENS else Stance.UNDECIDED


def guarded(control: Verdict, agreement: Stance) -> Verdict:
    """Return the verdict of the guarded rule: agreement must not speak against, and be decided if it can be asked."""
    if agreement == Stance.AGAINST:
        return Verdict.UNRELIABLE
    is_proven = control in (Verdict.RELIABLE, Verdict.DRIFTING)
    return Verdict.UNPROVEN if is_proven and agreement == Stance.UNDECIDED else control
