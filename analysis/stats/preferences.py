"""Does a metric prefer the translation that people prefer? Kendall's tau as in the WMT metrics tasks."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from ._groups import divide, factorise, sums
from ._validation import (
    Floats,
    as_keys,
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

# Two mean DA scores (0-100) at least this far apart count as a preference, since WMT17.
DARR_POINTS = 25.0

# What a tie in the metric adds to the numerator and the denominator.
_TIE_WEIGHTS: dict[MetricTies, tuple[int, int]] = {
    "wmt12": (-1, 1),  # discordant
    "wmt13": (0, 0),  # left out, which rewards a metric for abstaining
    "wmt14": (0, 1),  # counted, but neither concordant nor discordant
    "darr": (-1, 1),  # since WMT17, as in WMT12
}


@dataclass(frozen=True, slots=True)
class PreferenceTau:
    """Kendall-like tau over preferences; higher is better.

    With segments, the interval is Student's t with the standard error of the jackknife over segments.
    Without, it is the exact binomial one for the share of concordant pairs, rescaled to -1..1, which is too
    narrow: it assumes that pairs are independent, but pairs share translations. NaN if no pair counts.
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
    """Turn gold scores into preferences between translations of the same segment.

    Parameters
    ----------
    gold : array_like, shape (n_systems, n_segments)
        Gold scores, higher is better; NaN where there is none.
    points : float
        A pair is a preference if its scores differ by at least this much (and are not equal).

    Returns
    -------
    better, worse, segments : ndarray of int, shape (n_preferences,)
        Index of the preferred system, of the other system, and of the segment.

    References
    ----------
    .. [1] Bojar, Graham and Kamran. Results of the WMT17 Metrics Shared Task. WMT 2017.
    """
    if not points >= 0:
        raise ValueError(f"`points` must be at least 0, not {points}")
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
    segments: ArrayLike | None = None,
    confidence: float = 0.95,
) -> PreferenceTau:
    """Return (concordant - discordant) / preferences.

    Parameters
    ----------
    better, worse : array_like, shape (n,)
        For each preference, the metric's scores of the preferred translation and of the other one.
        Pairs that people tied are not preferences.
    metric_ties : {"wmt14", "wmt13", "wmt12", "darr"}
        How to count equal metric scores: "wmt14" counts them in the denominator only, "wmt13"
        leaves them out, "wmt12" and "darr" count them as discordant.
    higher_is_better : bool
    segments : array_like, shape (n,), optional
        The segment of each preference, for an interval with segments as the unit.
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
    if segments is not None:
        low, high = _interval_by_segment(margin, _TIE_WEIGHTS[metric_ties], segments, confidence)
    elif n:
        low, high = (2 * end - 1 for end in binomial_interval(share, n, confidence=confidence))
    else:
        low, high = np.nan, np.nan
    return PreferenceTau(
        estimate=2 * share / n - 1 if n else np.nan,
        low=low,
        high=high,
        n=n,
        n_concordant=concordant,
        n_discordant=discordant,
        n_tied=tied,
        higher_is_better=higher_is_better,
        signature=signature(
            correlation="preference-tau",
            ties=metric_ties,
            interval="clopper-pearson" if segments is None else "t,jackknife-by-segment",
            confidence=confidence,
            metric=direction_name(higher_is_better),
        ),
    )


def _interval_by_segment(
    margin: Floats, ties: tuple[int, int], segments: ArrayLike, confidence: float
) -> tuple[float, float]:
    """Return the t interval of tau; NaN with fewer than two segments."""
    names = as_keys("segments", segments)
    if len(names) != len(margin):
        raise ValueError(f"`segments` has {len(names)} values for {len(margin)} preferences")
    tie_gain, tie_count = ties
    gains = np.where(margin == 0, tie_gain, np.sign(margin))
    weights = np.where(margin == 0, tie_count, 1)
    _, codes = factorise(names)
    n = int(codes.max(initial=-1)) + 1
    gain, weight = sums(gains, codes, n), sums(weights, codes, n)
    left_out = divide(gain.sum() - gain, weight.sum() - weight)
    if n < 2 or np.isnan(left_out).any():
        return np.nan, np.nan
    reach = scipy.special.stdtrit(n - 1, (1 + confidence) / 2) * left_out.std() * np.sqrt(n - 1)
    tau = gain.sum() / weight.sum()
    return float(max(tau - reach, -1)), float(min(tau + reach, 1))


def preference_ceiling(better: ArrayLike, worse: ArrayLike, segments: ArrayLike) -> float:
    """Return the highest tau that any metric can have, given that people contradict each other.

    Of the judgements on one pair of translations, a metric agrees with one side: at best with the more
    frequent one.

    Parameters
    ----------
    better, worse, segments : array_like, shape (n,)
        For each preference, the preferred system, the other one, and the segment: integers or names.

    Returns
    -------
    float
        1 if nobody contradicts anybody; NaN without preferences.

    References
    ----------
    .. [1] Machacek and Bojar. Results of the WMT14 Metrics Shared Task. WMT 2014.
    """
    names = np.concatenate([as_keys("better", better), as_keys("worse", worse)])
    _, codes = factorise(names)
    first, second = np.split(codes, 2)
    _, places = factorise(as_keys("segments", segments))
    if not len(first):
        return np.nan
    size = int(codes.max()) + 1
    pairs = (places * size + np.minimum(first, second)) * size + np.maximum(first, second)
    _, groups = factorise(pairs)
    votes = sums(np.where(first < second, 1.0, -1.0), groups, int(groups.max()) + 1)
    return float(np.abs(votes).sum() / len(first))


def darr_tau(
    metric: ArrayLike,
    gold: ArrayLike,
    *,
    points: float = DARR_POINTS,
    higher_is_better: bool = True,
    confidence: float = 0.95,
) -> PreferenceTau:
    """Return the tau over relative rankings derived from direct assessment (DARR).

    Parameters
    ----------
    metric, gold : array_like, shape (n_systems, n_segments)
        Segment scores; NaN in `gold` where a translation has none.
    points : float
        See `relative_preferences`.
    higher_is_better : bool
    confidence : float

    Returns
    -------
    PreferenceTau
        With segments as the unit of its interval.

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
        segments=segments,
        confidence=confidence,
    )
