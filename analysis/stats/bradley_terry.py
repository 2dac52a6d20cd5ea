"""Bradley-Terry strengths of systems from pairwise judgements."""

from dataclasses import dataclass

import numpy as np

from ._groups import factorise
from ._validation import Floats, Keys, check_at_least
from .judgements import Judgements
from .rank_ranges import RANGE_SHARE, RankRanges, rank_ranges
from .signature import signature

# Each system also wins and loses half a judgement against an average opponent. Without it the strength of
# a system that won (or lost) everything would be infinite.
PRIOR = 0.5
_ROUNDS = 100
_CLOSE = 1e-10
# Draws of strengths for rank ranges.
DRAWS = 1000


@dataclass(frozen=True, slots=True)
class BradleyTerry:
    """Strengths on the logit scale, best first; a difference of 1.1 means three wins for each loss.

    Standard errors are of the distance from the mean, and treat judgements as independent. The covariance is larger
    by how much judgements of one screen go together.
    """

    systems: Keys
    strengths: Floats
    errors: Floats
    covariance: Floats
    signature: str


def bradley_terry(judgements: Judgements) -> BradleyTerry:
    """Fit P(i beats j) = 1 / (1 + exp(s_j - s_i)); a tie counts as half a win for each.

    Parameters
    ----------
    judgements : Judgements

    Returns
    -------
    BradleyTerry
        With strengths of mean 0.

    References
    ----------
    .. [1] Bradley and Terry. Rank analysis of incomplete block designs. Biometrika 39(3/4), 1952.
    """
    check_at_least("judgements", len(judgements), 1)
    wins, ties = judgements.counts()
    won = wins + ties / 2
    strengths, curvature = _fit(won, won + won.T)
    order = np.argsort(-strengths, kind="stable")
    # Only differences are known: the errors are those of the distance from the mean.
    centring = np.eye(len(won)) - 1 / len(won)
    covariance = centring @ np.linalg.inv(curvature) @ centring
    widening = _widening(judgements, strengths, covariance)
    return BradleyTerry(
        systems=judgements.names[order],
        strengths=(centring @ strengths)[order],
        errors=np.sqrt(np.diag(covariance))[order],
        covariance=widening * covariance[np.ix_(order, order)],
        signature=signature(ranking="bradley-terry", ties="half", prior=PRIOR),
    )


def strength_ranges(
    fitted: BradleyTerry,
    *,
    rng: np.random.Generator,
    draws: int = DRAWS,
    share: float = RANGE_SHARE,
) -> RankRanges:
    """Return rank ranges and clusters of systems over normal draws of their strengths.

    Unlike those of TrueSkill, they become smaller wherever there are more judgements, so judgements can be spent on
    pairs that are close. `share` of the draws is left out at each end.
    """
    drawn = rng.multivariate_normal(fitted.strengths, fitted.covariance, size=draws, method="eigh")
    return rank_ranges(drawn, share=share)


def _widening(judgements: Judgements, strengths: Floats, covariance: Floats) -> float:
    """Return how much larger variances are if the judgements of a task are not independent; at least 1.

    The ratio of the traces of the sandwich estimate, with a task as a cluster, and of the usual one.
    """
    first, second = judgements.first, judgements.second
    expected = 1 / (1 + np.exp(strengths[second] - strengths[first]))
    residuals = (judgements.outcomes + 1) / 2 - expected
    names, tasks = factorise(judgements.tasks)
    scores = np.zeros((len(names), len(strengths)))
    np.add.at(scores, (tasks, first), residuals)
    np.add.at(scores, (tasks, second), -residuals)
    sandwich = covariance @ scores.T @ scores @ covariance
    return max(1.0, float(np.trace(sandwich) / np.trace(covariance)))


def _fit(won: Floats, played: Floats) -> tuple[Floats, Floats]:
    """Maximise the likelihood by Newton's method; return the strengths and minus the Hessian."""
    strengths = np.zeros(len(won))
    for _ in range(_ROUNDS):
        p = 1 / (1 + np.exp(strengths[None, :] - strengths[:, None]))
        p_prior = 1 / (1 + np.exp(-strengths))
        slope = won.sum(axis=1) + PRIOR - (played * p).sum(axis=1) - 2 * PRIOR * p_prior
        weights = played * p * (1 - p)
        curvature = np.diag(weights.sum(axis=1) + 2 * PRIOR * p_prior * (1 - p_prior)) - weights
        step = np.linalg.solve(curvature, slope)
        # Half steps where the quadratic is a poor picture of a steep start.
        strengths = strengths + step * min(1.0, 2 / max(float(np.abs(step).max()), 2 * _CLOSE))
        if np.abs(step).max() < _CLOSE:
            break
    return strengths, curvature
