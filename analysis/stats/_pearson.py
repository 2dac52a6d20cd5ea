"""Pearson's r of two rows of numbers, and its interval."""

import math

from scipy import special

from ._scores import Floats, is_constant

# Below this many pairs r is -1 or 1 whatever the numbers say.
FEWEST_FOR_R = 3


def pearson(x: Floats, y: Floats) -> float:
    """Return r; NaN with fewer than three pairs, or where one side never varies."""
    if len(x) < FEWEST_FOR_R or is_constant(x) or is_constant(y):
        return math.nan
    x, y = x - x.mean(), y - y.mean()
    r = float(x @ y / math.sqrt(float(x @ x) * float(y @ y)))
    return max(-1.0, min(1.0, r))


def fisher_interval(r: float, n: int, confidence: float) -> tuple[float, float]:
    """Return the interval of r over n pairs by Fisher's transformation; NaN with n < 4."""
    if n < 4 or math.isnan(r):
        return math.nan, math.nan
    if abs(r) == 1:
        return r, r
    reach = float(special.ndtri((1 + confidence) / 2)) / math.sqrt(n - 3)
    return math.tanh(math.atanh(r) - reach), math.tanh(math.atanh(r) + reach)
