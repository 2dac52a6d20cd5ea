"""Pearson's r of two vectors, its interval, and unit vectors for computing many r at once."""

import math

import numpy as np
import scipy

from ._groups import is_constant
from ._validation import Floats

# With fewer pairs r is always -1 or 1.
FEWEST_FOR_R = 3


def pearson(x: Floats, y: Floats) -> float:
    """Return r; NaN with fewer than three pairs, or if either vector is constant."""
    if len(x) < FEWEST_FOR_R or is_constant(x) or is_constant(y):
        return math.nan
    x, y = x - x.mean(), y - y.mean()
    r = float(x @ y / math.sqrt(float(x @ x) * float(y @ y)))
    return max(-1.0, min(1.0, r))


def fisher_interval(r: float, n: int, confidence: float) -> tuple[float, float]:
    """Return the interval of r over n pairs by Fisher's transformation; NaN if n < 4."""
    if n < 4 or math.isnan(r):
        return math.nan, math.nan
    if abs(r) == 1:
        return r, r
    reach = float(scipy.special.ndtri((1 + confidence) / 2)) / math.sqrt(n - 3)
    return math.tanh(math.atanh(r) - reach), math.tanh(math.atanh(r) + reach)


def unit_rows(scores: Floats) -> Floats:
    """Return rows centred and of length 1, so that dot products are Pearson's r; NaN if constant."""
    # Scale to [-1, 1] first: squares of very large or small scores would overflow or underflow.
    constant = is_constant(scores)[..., None]
    centred = scores - scores.mean(axis=-1, keepdims=True)
    largest = np.abs(centred).max(axis=-1, keepdims=True)
    centred = centred / np.where(constant | (largest == 0), 1.0, largest)
    length = np.sqrt((centred**2).sum(axis=-1, keepdims=True))
    undefined = constant | (length == 0)
    return np.where(undefined, np.nan, centred / np.where(undefined, 1.0, length))
