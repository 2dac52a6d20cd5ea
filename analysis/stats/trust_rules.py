"""From evidence to a verdict: the guarded rule, in which each side of the evidence may also speak against.

The published rule is `quality_control.judge_workers`: the test of the pairs alone, after every HIT.
"""

from enum import StrEnum

import numpy as np

from .quality_control import Verdict
from .thresholds import (
    AGAINST_P,
    AGREEMENT_P,
    COHERENT_P,
    ENOUGH_AGREEMENT_ITEMS,
    ENOUGH_PAIRS,
    FEWEST_AGREEMENT_ITEMS,
    FEWEST_OTHERS,
    MINIMUM_PAIRS,
    RELIABLE_P,
)


class TrustRule(StrEnum):
    """How evidence becomes a verdict."""

    # Pairs and agreement each speak for a worker, against, or not yet.
    GUARDED = "guarded"
    # The test of the pairs alone decides after every HIT (Graham et al., 2017).
    PUBLISHED = "published"


def rule_facts(rule: str) -> dict[str, tuple[str, ...]]:
    """Return what a rule adds to the signature of the test of the pairs."""
    if rule != TrustRule.GUARDED:
        return {}
    return {
        "agreement": (
            f"p<{AGREEMENT_P:g}",
            f"items>={FEWEST_AGREEMENT_ITEMS}",
            f"others>={FEWEST_OTHERS}",
            f"coherence p<{COHERENT_P:g}",
        ),
        "against": (
            f"p>{AGAINST_P:g}",
            f"pairs>={ENOUGH_PAIRS}",
            f"items>={ENOUGH_AGREEMENT_ITEMS}",
        ),
    }


class Stance(StrEnum):
    """What one side of the evidence says about a worker."""

    FOR = "for"
    AGAINST = "against"
    UNDECIDED = "undecided"
    # There is too little to ask at all.
    SILENT = "silent"


def stance_of_pairs(n_pairs: int, p: float | None) -> Stance:
    """Return what the one-sided test of the degraded pairs says.

    Parameters
    ----------
    n_pairs : int
        With fewer than `MINIMUM_PAIRS` the pairs are silent.
    p : float or None
        Below `RELIABLE_P` the pairs speak for the worker. They speak against above `AGAINST_P`, or with
        `ENOUGH_PAIRS` pairs. None or NaN is silent.
    """
    return _stance(n_pairs, p, fewest=MINIMUM_PAIRS, enough=ENOUGH_PAIRS, level=RELIABLE_P)


def stance_of_agreement(n_items: int, p: float | None) -> Stance:
    """Return what the one-sided test of the agreement with the others says.

    Parameters
    ----------
    n_items : int
        With fewer than `FEWEST_AGREEMENT_ITEMS` agreement is silent.
    p : float or None
        Below `AGREEMENT_P` it speaks for the worker. It speaks against above `AGAINST_P`, or with
        `ENOUGH_AGREEMENT_ITEMS` items. None or NaN is silent.
    """
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
    """Return the verdict from what the pairs and the agreement with others say.

    Parameters
    ----------
    pairs, agreement : Stance
        From `stance_of_pairs` and `stance_of_agreement`.

    Returns
    -------
    Verdict
        Unreliable if either speaks against the worker. Reliable if the pairs speak for the worker and
        agreement does too, or cannot be asked yet. Otherwise unproven.
    """
    if Stance.AGAINST in (pairs, agreement):
        return Verdict.UNRELIABLE
    if pairs == Stance.FOR and agreement in (Stance.FOR, Stance.SILENT):
        return Verdict.RELIABLE
    return Verdict.UNPROVEN
