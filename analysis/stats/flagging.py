"""Find what is not good enough: ROC, precision and recall, and the cost of reading what is flagged.

What a metric or prediction scores lowest is flagged, and read, first.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ._validation import (
    Bools,
    Floats,
    Ints,
    as_flags,
    as_scores,
    check_at_least,
    check_between,
    check_complete,
)
from .resampling import DEFAULT_RESAMPLES, bootstrap_counts, percentile_interval


@dataclass(frozen=True, slots=True)
class FlaggingAreas:
    """How well scores tell bad translations from good ones, for one or more metrics.

    Attributes
    ----------
    roc : ndarray, shape (n_metrics,)
        The area under the ROC curve: the probability that a bad translation has a lower score than a good one, where
        a tie counts half [1]_. 0.5 by chance.
    precision : ndarray, shape (n_metrics,)
        Average precision: the mean, over the bad translations, of the share that is bad among all with at most
        their score [2]_. By chance, the share that is bad.
    roc_interval, precision_interval : ndarray, shape (2, n_metrics)
        By the percentile bootstrap over segments.

    References
    ----------
    .. [1] Hanley and McNeil. The Meaning and Use of the Area under a Receiver Operating Characteristic (ROC) Curve.
       Radiology 143(1), 1982.
    .. [2] Davis and Goadrich. The Relationship Between Precision-Recall and ROC Curves. ICML 2006.
    """

    roc: Floats
    precision: Floats
    roc_interval: Floats
    precision_interval: Floats


def flagging_areas(
    scores: ArrayLike,
    is_bad: ArrayLike,
    *,
    rng: np.random.Generator,
    segments: ArrayLike | None = None,
    n_resamples: int = DEFAULT_RESAMPLES,
    confidence: float = 0.95,
) -> FlaggingAreas:
    """Measure how well scores tell bad translations from good ones.

    Parameters
    ----------
    scores : array_like, shape (n_metrics, n)
        Higher is better.
    is_bad : array_like of bool, shape (n,)
        At least one translation must be bad, and one good.
    rng : numpy.random.Generator
        All metrics see the same resamples.
    segments : array_like, shape (n,), optional
        The segment of each translation, if some have several: then segments are resampled.
    n_resamples : int
    confidence : float

    Returns
    -------
    FlaggingAreas
    """
    check_between("confidence", confidence, 0, 1)
    check_at_least("n_resamples", n_resamples, 1)
    values, bad = _parallel(as_scores(scores, "scores", ndim=2), is_bad)
    units = np.arange(len(bad)) if segments is None else np.asarray(segments)
    if units.shape != bad.shape:
        raise ValueError("`segments` must have one element per translation")
    _, codes = np.unique(units, return_inverse=True)
    rankings = [_Ranking.of(row, bad) for row in values]
    roc, precision = np.array([ranking.areas(np.ones((1, len(bad)))) for ranking in rankings])[
        ..., 0
    ].T
    resampled: list[Floats] = []
    for counts in bootstrap_counts(codes.max() + 1, n_resamples, rng, width=len(bad)):
        weights = counts[:, codes]
        resampled.append(np.array([ranking.areas(weights) for ranking in rankings]))
    # Metrics, areas, resamples.
    all_areas = np.concatenate(resampled, axis=2)
    intervals = percentile_interval(np.moveaxis(all_areas, 2, 0), confidence)
    return FlaggingAreas(roc, precision, intervals[:, :, 0], intervals[:, :, 1])


def found_by_reading(scores: ArrayLike, is_bad: ArrayLike, shares: ArrayLike) -> Floats:
    """Return the share of bad translations among the first to be read, from the lowest score upwards.

    Parameters
    ----------
    scores : array_like, shape (n,)
        Higher is better. Translations with equal scores are read in random order; the mean over all orders is returned.
    is_bad : array_like of bool, shape (n,)
    shares : array_like, shape (m,)
        Shares of the translations that are read, from 0 to 1.

    Returns
    -------
    found : ndarray, shape (m,)
    """
    values, bad = _parallel(as_scores(scores, "scores")[None], is_bad)
    read, found = _Ranking.of(values[0], bad).steps()
    return np.interp(np.asarray(shares, dtype=np.float64) * len(bad), read, found / bad.sum())


def reading_to_find(scores: ArrayLike, is_bad: ArrayLike, target: float) -> float:
    """Return the share of translations to be read, from the lowest score upwards, until a share of the bad is found.

    Parameters
    ----------
    scores, is_bad : array_like, shape (n,)
        As in `found_by_reading`.
    target : float
        Such as 0.9.

    Returns
    -------
    float
    """
    check_between("target", target, 0, 1)
    values, bad = _parallel(as_scores(scores, "scores")[None], is_bad)
    read, found = _Ranking.of(values[0], bad).steps()
    wanted = target * bad.sum()
    place = int(np.searchsorted(found, wanted - 1e-9))
    # Among ties, bad ones are as likely to come early as late.
    part = (wanted - found[place - 1]) / (found[place] - found[place - 1])
    return float(np.ceil(read[place - 1] + part * (read[place] - read[place - 1]) - 1e-9)) / len(
        bad
    )


def _parallel(values: Floats, is_bad: ArrayLike) -> tuple[Floats, Bools]:
    bad = as_flags("is_bad", is_bad)
    if values.shape[1:] != bad.shape:
        raise ValueError("`scores` and `is_bad` must be parallel")
    if bad.all() or not bad.any():
        raise ValueError("`is_bad` must have both True and False")
    return check_complete(values, "scores"), bad


@dataclass(frozen=True, slots=True)
class _Ranking:
    """Translations from the lowest score upwards; `starts` are the first of each group of ties."""

    order: Ints
    starts: Ints
    bad: Bools

    @classmethod
    def of(cls, scores: Floats, bad: Bools) -> "_Ranking":
        order = np.argsort(scores, kind="stable")
        ordered = scores[order]
        starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
        return cls(order, starts, bad[order])

    def steps(self) -> tuple[Floats, Floats]:
        """Return how many were read, and how many bad ones found, after each group of ties, from none on."""
        weights = np.ones((1, len(self.order)))
        bad, good = self._groups(weights)
        read = np.cumsum(bad + good)
        return np.concatenate([[0.0], read]), np.concatenate([[0.0], np.cumsum(bad)])

    def areas(self, weights: Floats) -> Floats:
        """Return the ROC area and the average precision for each row of weights; NaN where one kind is missing."""
        bad, good = self._groups(weights)
        n_bad, n_good = np.cumsum(bad, axis=1), np.cumsum(good, axis=1)
        all_bad, all_good = n_bad[:, -1], n_good[:, -1]
        pairs = (good * (n_bad - bad / 2)).sum(axis=1)
        read = n_bad + n_good
        precision = (bad * n_bad / np.where(read > 0, read, 1)).sum(axis=1)
        is_known = (all_bad > 0) & (all_good > 0)
        at_least_one = np.where(is_known, all_bad, 1)
        return np.where(
            is_known,
            [
                pairs / (at_least_one * np.where(is_known, all_good, 1)),
                precision / at_least_one,
            ],
            np.nan,
        )

    def _groups(self, weights: Floats) -> tuple[Floats, Floats]:
        """Return the weight of bad and of good translations in each group of ties."""
        ordered = weights[:, self.order]
        bad = np.add.reduceat(ordered * self.bad, self.starts, axis=1)
        return bad, np.add.reduceat(ordered, self.starts, axis=1) - bad
