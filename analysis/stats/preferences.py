"""Does a metric prefer the translation that people prefer? Kendall's tau as the WMT metrics tasks used it."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._validation import (
    Floats,
    as_scores,
    check_between,
    check_complete,
    directed,
    direction_name,
    gold_scores,
)
from .signature import signature
from .significance import binomial_interval

Indices: TypeAlias = NDArray[np.intp]
MetricTies = Literal["wmt12", "wmt13", "wmt14", "darr"]

# Two mean DA scores (0-100) this far apart or more count as a preference: WMT17 on.
DARR_POINTS = 25.0

# What a tie in the metric adds to numerator and denominator, pairs without a human preference left out.
_TIE_WEIGHTS: dict[MetricTies, tuple[int, int]] = {
    "wmt12": (-1, 1),  # as wrong as the opposite preference
    "wmt13": (0, 0),  # left out, which rewards a metric for abstaining
    "wmt14": (0, 1),  # half right: neither concordant nor discordant, but counted
    "darr": (-1, 1),  # WMT17 on: as in WMT12
}


@dataclass(frozen=True, slots=True)
class PreferenceTau:
    """Kendall-like tau over preferences; higher is better.

    The interval is the exact binomial one of the share of concordant pairs, stretched to -1..1. It takes
    the pairs as independent, which pairs that share a translation are not: read it as too narrow.
    NaN throughout when no pair counts.
    """

    estimate: float
    low: float
    high: float
    n: int
    n_concordant: int
    n_discordant: int
    n_tied: int
    higher_is_better: bool
    signature: str


def relative_preferences(
    gold: ArrayLike, *, points: float = DARR_POINTS
) -> tuple[Indices, Indices, Indices]:
    """Turn gold scores into preferences between translations of one segment.

    Parameters
    ----------
    gold : array_like, shape (n_systems, n_segments)
        Higher is better; NaN where there is no gold score.
    points : float
        A pair is a preference when its scores differ, and by this much or more (`>=`).

    Returns
    -------
    better, worse, segments : ndarray of int, shape (n_preferences,)
        Row of the preferred system, row of the other, and the segment.

    References
    ----------
    .. [1] Bojar, Graham and Kamran. Results of the WMT17 Metrics Shared Task. WMT 2017.
    """
    if not points >= 0:
        raise ValueError(f"`points` must not be negative, not {points}")
    truth = gold_scores(gold, ndim=2)
    first, second = np.triu_indices(len(truth), 1)
    difference = truth[first] - truth[second]
    pair, segments = np.nonzero((np.abs(difference) >= points) & (difference != 0))
    first_wins = difference[pair, segments] > 0
    better = np.where(first_wins, first[pair], second[pair])
    worse = np.where(first_wins, second[pair], first[pair])
    return better, worse, segments


def preference_tau(
    better: ArrayLike,
    worse: ArrayLike,
    *,
    metric_ties: MetricTies = "wmt14",
    higher_is_better: bool = True,
    confidence: float = 0.95,
) -> PreferenceTau:
    """Return (concordant - discordant) / preferences.

    Parameters
    ----------
    better, worse : array_like, shape (n,)
        The metric's scores of the translation people preferred and of the other one, a pair for each
        preference. Pairs people tied are no preference and never appear here.
    metric_ties : {"wmt14", "wmt13", "wmt12", "darr"}
        What equal metric scores do: "wmt14" counts them in the denominator alone, "wmt13" leaves
        them out, "wmt12" and "darr" count them as discordant.
    higher_is_better : bool
        Whether the metric is higher-is-better.
    confidence : float

    Returns
    -------
    PreferenceTau

    References
    ----------
    .. [1] Machacek and Bojar. Results of the WMT14 Metrics Shared Task. WMT 2014. Section 4.
    .. [2] Ma, Bojar and Graham. Results of the WMT18 Metrics Shared Task. WMT 2018.
    """
    if metric_ties not in _TIE_WEIGHTS:
        raise ValueError(f"`metric_ties` must be one of {', '.join(_TIE_WEIGHTS)}")
    check_between("confidence", confidence, 0, 1)
    high_scores = check_complete(as_scores(better, "better"), "better")
    low_scores = check_complete(as_scores(worse, "worse"), "worse")
    if high_scores.shape != low_scores.shape:
        raise ValueError(f"`better` has {len(high_scores)} scores, `worse` {len(low_scores)}")
    margin: Floats = directed(high_scores - low_scores, higher_is_better)
    concordant, discordant = int((margin > 0).sum()), int((margin < 0).sum())
    tied = len(margin) - concordant - discordant
    tie_gain, tie_count = _TIE_WEIGHTS[metric_ties]
    n = concordant + discordant + tie_count * tied
    share = (n + concordant - discordant + tie_gain * tied) / 2
    low, high = binomial_interval(share, n, confidence=confidence) if n else (np.nan, np.nan)
    return PreferenceTau(
        estimate=2 * share / n - 1 if n else np.nan,
        low=2 * low - 1,
        high=2 * high - 1,
        n=n,
        n_concordant=concordant,
        n_discordant=discordant,
        n_tied=tied,
        higher_is_better=higher_is_better,
        signature=signature(
            correlation="preference-tau",
            ties=metric_ties,
            interval="clopper-pearson",
            confidence=confidence,
            metric=direction_name(higher_is_better),
        ),
    )


def darr_tau(
    metric: ArrayLike,
    gold: ArrayLike,
    *,
    points: float = DARR_POINTS,
    higher_is_better: bool = True,
    confidence: float = 0.95,
) -> PreferenceTau:
    """Return the tau over relative rankings made from direct assessment (DARR).

    Parameters
    ----------
    metric, gold : array_like, shape (n_systems, n_segments)
        NaN in `gold` where a translation has no score.
    points : float
        See `relative_preferences`.
    higher_is_better : bool
    confidence : float

    Returns
    -------
    PreferenceTau

    References
    ----------
    .. [1] Ma, Bojar and Graham. Results of the WMT18 Metrics Shared Task. WMT 2018.
    """
    scores = as_scores(metric, "metric", ndim=2)
    if scores.shape != np.shape(gold):
        raise ValueError(f"`metric` has shape {scores.shape}, `gold` {np.shape(gold)}")
    better, worse, segments = relative_preferences(gold, points=points)
    check_complete(scores[~np.isnan(gold_scores(gold, ndim=2))], "metric")
    return preference_tau(
        scores[better, segments],
        scores[worse, segments],
        metric_ties="darr",
        higher_is_better=higher_is_better,
        confidence=confidence,
    )
