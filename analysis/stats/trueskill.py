"""TrueSkill scores of systems from pairwise judgements, as published by WMT since 2014."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy

from ._compiled import compiled
from ._validation import Floats, check_at_least
from .judgements import Judgements
from .published_lookup import outcomes_found
from .rank_ranges import RANGE_SHARE, RankRanges, rank_ranges
from .signature import signature

# The published parameters: prior standard deviation and probability of a draw. The prior mean and the
# drift between judgements (tau) are 0.
SIGMA = 0.5
DRAW = 0.25
# Performance varies by sigma times this share of the number of steps.
BETA_SHARE = 1 / 40
RUNS = 1000

# Which judgements of a pair a step draws from: all of them, or those that the published program found.
Lookup = Literal["all", "published"]
LOOKUPS: tuple[Lookup, ...] = ("all", "published")

Progress = Callable[[int, int], object]

_DENSITY = 1 / math.sqrt(2 * math.pi)
_HALF = math.sqrt(0.5)


@dataclass(frozen=True, slots=True)
class TrueSkill:
    """TrueSkill scores, best first.

    Attributes
    ----------
    systems : ndarray, shape (k,)
    scores : ndarray, shape (k,)
        Mean of mu over the runs.
    mus : ndarray, shape (runs, k)
        Mu of each run.
    ranges : RankRanges
        Rank ranges and clusters, in the same order.
    n_judgements : int
    signature : str
    """

    systems: np.ndarray
    scores: Floats
    mus: Floats
    ranges: RankRanges
    n_judgements: int
    signature: str


def trueskill(
    judgements: Judgements,
    *,
    rng: np.random.Generator,
    runs: int = RUNS,
    steps: int | None = None,
    lookup: Lookup = "all",
    progress: Progress | None = None,
) -> TrueSkill:
    """Score systems in independent runs over random judgements.

    A run takes as many steps as there are judgements, and one more. In each step the system with the largest
    variance plays an opponent, drawn with weight exp(-|difference of mu|) among the systems that it was
    compared with, and the outcome is one of their judgements, drawn with replacement.

    Parameters
    ----------
    judgements : Judgements
        Inferred ties count.
    rng : numpy.random.Generator
    runs : int
    steps : int, optional
        Other than one more than the number of judgements.
    lookup : {"all", "published"}
        `published` draws only from the judgements that the program of WMT15 found (`published_lookup`).
    progress : callable, optional
        Called after every run with the number of runs done and of all; an exception that it raises ends the work.

    Returns
    -------
    TrueSkill

    References
    ----------
    .. [1] Sakaguchi, Post and Van Durme. Efficient elicitation of annotations for human evaluation of machine
       translation. WMT 2014.
    .. [2] Herbrich, Minka and Graepel. TrueSkill: a Bayesian skill rating system. NIPS 2006.
    """
    check_at_least("runs", runs, 1)
    check_at_least("judgements", len(judgements), 1)
    if lookup not in LOOKUPS:
        raise ValueError(f"`lookup` must be one of {', '.join(LOOKUPS)}.")
    wins, not_lost, compared = _outcomes(judgements, lookup)
    if not compared.any(axis=1).all():
        raise ValueError("`judgements` must compare every system with another.")
    n_steps = len(judgements) + 1 if steps is None else steps
    mus = _runs(wins, not_lost, compared, n_steps, rng.spawn(runs), progress)
    order = np.argsort(-mus.mean(axis=0), kind="stable")
    mus = mus[:, order]
    return TrueSkill(
        systems=judgements.names[order],
        scores=mus.mean(axis=0),
        mus=mus,
        ranges=rank_ranges(mus),
        n_judgements=len(judgements),
        signature=signature(
            ranking="trueskill",
            sigma=SIGMA,
            draw=DRAW,
            beta="sigma*n/40",
            n=n_steps,
            runs=runs,
            range=RANGE_SHARE,
            lookup=None if lookup == "all" else lookup,
        ),
    )


def _outcomes(judgements: Judgements, lookup: Lookup) -> tuple[Floats, Floats, Floats]:
    """Return how often the row's system won, did not lose, and was compared, when it is looked up first."""
    if lookup == "published":
        wins, ties, losses = outcomes_found(judgements)
    else:
        wins, ties = judgements.counts()
        losses = wins.T
    return wins, wins + ties, wins + ties + losses


def _runs(
    wins: Floats,
    not_lost: Floats,
    compared: Floats,
    n_steps: int,
    generators: list[np.random.Generator],
    progress: Progress | None,
) -> Floats:
    share = np.maximum(compared, 1)
    beta = SIGMA * n_steps * BETA_SHARE
    margin = float(scipy.special.ndtri((DRAW + 1) / 2)) * math.sqrt(2) * beta
    is_won, is_not_lost = wins / share, not_lost / share
    mus = np.empty((len(generators), len(wins)))
    for place, generator in enumerate(generators):
        mus[place] = _one_run(is_won, is_not_lost, compared > 0, n_steps, beta, margin, generator)
        if progress:
            progress(place + 1, len(generators))
    return mus


@compiled
def _one_run(  # type: ignore[no-untyped-def]
    is_won, is_not_lost, is_compared, n_steps, beta, margin, rng
):  # fmt: skip
    """Return the mu of each system after one run.

    Opponents are drawn by rejection, which is exact because no weight is above 1.
    """
    size = len(is_won)
    mu = np.zeros(size)
    variance = np.full(size, SIGMA * SIGMA)
    for _ in range(n_steps):
        a = np.argmax(variance)
        b = int(rng.random() * size)
        while b == a or not is_compared[a, b] or rng.random() >= math.exp(-abs(mu[a] - mu[b])):
            b = int(rng.random() * size)
        total = variance[a] + variance[b] + 2 * beta * beta
        scale = math.sqrt(total)
        gap, edge = (mu[a] - mu[b]) / scale, margin / scale
        chance = rng.random()
        if is_won[a, b] <= chance < is_not_lost[a, b]:
            # [2] eq. for a draw: the gap is truncated to -edge .. edge.
            low, high = -edge - gap, edge - gap
            at_low = _DENSITY * math.exp(-0.5 * low * low)
            at_high = _DENSITY * math.exp(-0.5 * high * high)
            mass = 0.5 * (math.erfc(-high * _HALF) - math.erfc(-low * _HALF))
            shift = (at_low - at_high) / mass
            shrink = shift * shift + (high * at_high - low * at_low) / mass
        else:
            sign = 1.0 if chance < is_won[a, b] else -1.0
            above = sign * gap - edge
            shift = _DENSITY * math.exp(-0.5 * above * above) / (0.5 * math.erfc(-above * _HALF))
            shrink = shift * (shift + above)
            shift *= sign
        mu[a] += variance[a] / scale * shift
        mu[b] -= variance[b] / scale * shift
        variance[a] *= 1 - variance[a] / total * shrink
        variance[b] *= 1 - variance[b] / total * shrink
    return mu
