"""How soft pairwise accuracy (SPA) varies with the segments: a bootstrap about recentred systems.

SPA is a mean of distances between p-values. A distance bends sharply at 0 and hardly changes where both p-values are
near 0 or 1, so its slope at the observed scores says little about its spread: a jackknife takes it for half as large
again. A bootstrap has another fault: it adds the noise of segments to observed differences, which contain it
already, so that metric and gold seem further apart than they are. Here the differences between systems are first drawn
together until, with the noise that the bootstrap adds, they are as large and as much alike in metric and gold as the
observed ones.
"""

import numpy as np
from numpy.typing import NDArray
from scipy import special

from ._validation import Floats
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
    centres = [_recentred(each, of_gold) for each in differences[:-1]]
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

    def pvalues(self, means: Floats) -> Floats:
        """Return normal p-values of paired permutation tests if the differences had these means."""
        squares = self.variances + means**2
        varies = squares > ROUNDING
        return special.ndtr(
            np.where(varies, -means, 0) * np.sqrt(self.n / np.where(varies, squares, 1))
        )


def _recentred(metric: _Differences, gold: _Differences) -> tuple[Floats, Floats]:
    """Return mean differences of metric and gold without the share of their spread that is noise.

    Observed mean differences have the moments of the true ones plus those of their noise, which the segments
    show. The linear map is the one that moves the observed means least (optimal transport).
    """
    means = np.stack([metric.means, gold.means])
    deviations = (metric.deviations, gold.deviations)
    noise = np.array([[(a * b).mean() for b in deviations] for a in deviations]) / (gold.n - 1)
    scale = np.sqrt(np.diag(noise))
    if (scale <= ROUNDING).any():
        return metric.means, gold.means
    units = means / scale[:, None]
    seen = units @ units.T / units.shape[1]
    true = _power(seen - noise / np.outer(scale, scale), 1)
    root, inverse = _power(seen, 0.5), _power(seen, -0.5)
    moved = inverse @ _power(root @ true @ root, 0.5) @ inverse @ units
    return moved[0] * scale[0], moved[1] * scale[1]


def _power(matrix: Floats, exponent: float) -> Floats:
    """Return a power of a symmetric matrix, with 0 for negative eigenvalues."""
    values, vectors = np.linalg.eigh(matrix)
    is_positive = values > ROUNDING * max(1.0, float(values.max()))
    powers = np.where(is_positive, np.where(is_positive, values, 1.0) ** exponent, 0.0)
    return np.asarray((vectors * powers) @ vectors.T)
