"""Calibration: is what is predicted with a probability of 0.7 true seven times in ten?"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ._validation import Floats, as_scores, check_at_least

N_BINS = 10


@dataclass(frozen=True, slots=True)
class Calibration:
    """Probabilities and outcomes in bins of equal width.

    Attributes
    ----------
    brier : float
        Mean squared difference between probability and outcome; lower is better.
    error : float
        The expected calibration error: mean distance between the mean probability and the share of true
        outcomes in a bin, weighted by the size of the bin [1]_.
    edges : ndarray, shape (n_bins + 1,)
    n : ndarray, shape (n_bins,)
    predicted, observed : ndarray, shape (n_bins,)
        Mean probability and share of true outcomes in each bin; NaN for an empty one.

    References
    ----------
    .. [1] Guo et al. On Calibration of Modern Neural Networks. ICML 2017.
    """

    brier: float
    error: float
    edges: Floats
    n: Floats
    predicted: Floats
    observed: Floats


def calibration(
    probabilities: ArrayLike, outcomes: ArrayLike, *, n_bins: int = N_BINS
) -> Calibration:
    """Compare probabilities with what came true.

    Parameters
    ----------
    probabilities : array_like, shape (n,)
        From 0 to 1.
    outcomes : array_like of bool, shape (n,)
    n_bins : int
        A probability on an edge belongs to the bin above it, and 1 to the last.

    Returns
    -------
    Calibration
    """
    p, y = as_scores(probabilities, "probabilities"), np.asarray(outcomes, dtype=np.float64)
    check_at_least("n_bins", n_bins, 1)
    if p.shape != y.shape or not len(p):
        raise ValueError("`probabilities` and `outcomes` must be parallel and not empty")
    if not ((p >= 0) & (p <= 1)).all():
        raise ValueError("`probabilities` must lie between 0 and 1")
    # The nearest numbers to the shares as they are written, so that 0.3 is on an edge.
    edges = np.arange(n_bins + 1) / n_bins
    bins = np.minimum(np.searchsorted(edges, p, side="right") - 1, n_bins - 1)
    n = np.bincount(bins, minlength=n_bins).astype(np.float64)
    filled = n > 0
    predicted, observed = np.full(n_bins, np.nan), np.full(n_bins, np.nan)
    predicted[filled] = np.bincount(bins, p, n_bins)[filled] / n[filled]
    observed[filled] = np.bincount(bins, y, n_bins)[filled] / n[filled]
    gaps = np.abs(predicted - observed)[filled]
    return Calibration(
        brier=float(((p - y) ** 2).mean()),
        error=float((gaps * n[filled]).sum() / len(p)),
        edges=edges,
        n=n,
        predicted=predicted,
        observed=observed,
    )
