"""How soft pairwise accuracy (SPA) varies with the segments: a bootstrap about recentred systems.

SPA is a mean of distances between p-values. A distance bends sharply at 0 and hardly changes where both p-values are
near 0 or 1, so its slope at the observed scores says little about its spread: a jackknife takes it for half as large
again. A bootstrap has another fault: it adds the noise of segments to observed differences, which contain it
already, so that metric and gold seem further apart than they are; see `recentring`.
"""

import numpy as np
import scipy
from numpy.typing import NDArray

from ._validation import Floats
from .recentring import recentred
from .resampling import ROUNDING, bootstrap_counts


def resampled_soft_accuracies(
    metrics: Floats, gold: Floats, n_resamples: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return SPA, from normal p-values, of every metric in bootstrap resamples of the segments.

    Parameters
    ----------
    metrics : ndarray, shape (n_metrics, n_systems, n_segments)
        Complete and standardised.
    gold : ndarray, shape (n_systems, n_segments)
        Complete.
    n_resamples : int
    rng : numpy.random.Generator

    Returns
    -------
    ndarray, shape (n_resamples, n_metrics)
        About the SPA of the recentred systems: only the spread is of use.
    """
    n_systems, n = gold.shape
    scores = np.concatenate([metrics, gold[None]])
    deviations = scores - scores.mean(axis=2, keepdims=True)
    columns = deviations.reshape(-1, n).T / n
    differences = [_Differences(each) for each in scores]
    of_gold = differences[-1]
    centres = [
        recentred(each.means, of_gold.means, each.noise_with(of_gold)) for each in differences[:-1]
    ]
    width = len(scores) * len(of_gold.means)
    blocks = []
    for counts in bootstrap_counts(n, n_resamples, rng, width=width):
        sums = (counts @ columns).reshape(len(counts), -1, n_systems)
        gold_noise = of_gold.between(sums[:, -1])
        distances = [
            np.abs(
                each.pvalues(each.between(sums[:, i]) + centre)
                - of_gold.pvalues(gold_noise + gold_centre)
            ).mean(axis=1)
            for i, (each, (centre, gold_centre)) in enumerate(
                zip(differences[:-1], centres, strict=True)
            )
        ]
        blocks.append(1 - np.stack(distances, axis=1))
    return np.concatenate(blocks)


class _Differences:
    """Differences between every two systems: their means, variances and deviations."""

    def __init__(self, scores: Floats) -> None:
        self._first, self._second = np.triu_indices(len(scores), 1)
        differences = self.between(scores.T).T
        self.n = scores.shape[1]
        self.means = differences.mean(axis=1)
        self.deviations = differences - self.means[:, None]
        self.variances = (self.deviations**2).mean(axis=1)

    def between(self, scores: Floats) -> Floats:
        """Return the differences along the last axis, which holds the systems."""
        return scores[..., self._first] - scores[..., self._second]

    def noise_with(self, gold: "_Differences") -> Floats:
        """Return the covariance of the noise of a mean difference with that of the gold."""
        deviations = (self.deviations, gold.deviations)
        return np.array([[(a * b).mean() for b in deviations] for a in deviations]) / (self.n - 1)

    def pvalues(self, means: Floats) -> Floats:
        """Return normal p-values of paired permutation tests if the differences had these means."""
        squares = self.variances + means**2
        varies = squares > ROUNDING
        return scipy.special.ndtr(
            np.where(varies, -means, 0) * np.sqrt(self.n / np.where(varies, squares, 1))
        )
