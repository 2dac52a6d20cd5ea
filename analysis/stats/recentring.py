"""Draw the systems of metric and gold together before a bootstrap of segments.

A bootstrap adds the noise of segments to observed scores of systems, which contain it already. Systems then seem more
different, and metric and gold further apart, than they are, and intervals of their agreement are wrong. So the observed
scores are first drawn together until, with the noise that the bootstrap adds, they are as large and as much alike in metric
and gold as the observed ones.
"""

import numpy as np

from ._validation import Floats
from .resampling import ROUNDING


def recentred(metric: Floats, gold: Floats, noise: Floats) -> tuple[Floats, Floats]:
    """Return scores of metric and gold without the share of their spread that is noise.

    Observed scores have the moments of the true ones plus those of their noise. The linear map is the one that moves
    the observed scores least (optimal transport).

    Parameters
    ----------
    metric, gold : ndarray, shape (n,)
        Scores of systems, or differences between them, with mean 0.
    noise : ndarray, shape (2, 2)
        Covariance of the noise of one score of the metric with that of the gold.

    Returns
    -------
    metric, gold : ndarray, shape (n,)
        Unchanged if either has no noise.
    """
    scale = np.sqrt(np.diag(noise))
    if not (scale > ROUNDING).all():
        return metric, gold
    units = np.stack([metric, gold]) / scale[:, None]
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
