"""From evidence to a verdict: the published rule, and a guarded one that may also decide against."""

from enum import StrEnum

import numpy as np

from .quality_control import Verdict
from .thresholds import (
    AGAINST_P,
    AGREEMENT_P,
    ENOUGH_AGREEMENT_ITEMS,
    ENOUGH_PAIRS,
    FEWEST_AGREEMENT_ITEMS,
    MINIMUM_PAIRS,
    RELIABLE_P,
)


class TrustRule(StrEnum):
    """How evidence becomes a verdict."""

    # Pairs and agreement each speak for a worker, against, or not yet.
    GUARDED = "guarded"
    # The test of the pairs alone decides after every HIT (Graham et al., 2017).
    PUBLISHED = "published"


class Stance(StrEnum):
    """What one side of the evidence says about a worker."""

    FOR = "for"
    AGAINST = "against"
    UNDECIDED = "undecided"
    # There is too little to ask at all.
    SILENT = "silent"


def stance_of_pairs(n_pairs: int, p: float | None) -> Stance:
    """What the one-sided test of the degraded pairs says."""
    return _stance(n_pairs, p, fewest=MINIMUM_PAIRS, enough=ENOUGH_PAIRS, level=RELIABLE_P)


def stance_of_agreement(n_items: int, p: float | None) -> Stance:
    """What the one-sided test of the agreement with the others says."""
    return _stance(
        n_items,
        p,
        fewest=FEWEST_AGREEMENT_ITEMS,
        enough=ENOUGH_AGREEMENT_ITEMS,
        level=AGREEMENT_P,
    )


def _stance(n: int, p: float | None, *, fewest: int, enough: int, level: float) -> Stance:
    if n < fewest or p is None or np.isnan(p):
        return Stance.SILENT
    if p < level:
        return Stance.FOR
    return Stance.AGAINST if p > AGAINST_P or n >= enough else Stance.UNDECIDED


def guarded_verdict(pairs: Stance, agreement: Stance) -> Verdict:
    """Reliable when the pairs speak for the worker and agreement does too, once it can be asked.

    Unreliable as soon as either speaks against; unproven otherwise.
    """
    if Stance.AGAINST in (pairs, agreement):
        return Verdict.UNRELIABLE
    if pairs == Stance.FOR and agreement in (Stance.FOR, Stance.SILENT):
        return Verdict.RELIABLE
    return Verdict.UNPROVEN
