"""Many tests at once: raise p-values so that all significant ones hold together."""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from ._validation import Floats

# How the p-values of one table are adjusted for their number.
Correction = Literal["holm", "none"]
CORRECTIONS: tuple[Correction, ...] = ("holm", "none")


def holm(pvalues: ArrayLike) -> Floats:
    """Adjust the p-values of one family of tests by Holm's method.

    If every adjusted p-value below 0.05 is called significant, the chance that even one of these calls is
    wrong is at most 5 %, however the tests depend on each other.

    Parameters
    ----------
    pvalues : array_like, any shape
        All entries are one family, in a matrix both directions of every pair: under the null hypothesis
        either may come out significant. NaN (a test that does not exist, such as the diagonal) is not
        counted and stays NaN.

    Returns
    -------
    adjusted : ndarray of the same shape
        The k-th smallest of m p-values times m - k + 1, at least the one before it, at most 1. Equal
        p-values stay equal.

    References
    ----------
    .. [1] Holm. A Simple Sequentially Rejective Multiple Test Procedure. Scandinavian Journal of
       Statistics 6(2), 1979.
    """
    p = np.asarray(pvalues, dtype=np.float64)
    known = ~np.isnan(p)
    values = p[known]
    if ((values < 0) | (values > 1)).any():
        raise ValueError("`pvalues` must lie between 0 and 1")
    order = np.argsort(values, kind="stable")
    steps = np.minimum(1, values[order] * np.arange(len(values), 0, -1))
    adjusted = np.empty(len(values))
    adjusted[order] = np.maximum.accumulate(steps)
    result = np.full(p.shape, np.nan)
    result[known] = adjusted
    return result


def adjust(pvalues: ArrayLike, correction: Correction = "holm") -> Floats:
    """Adjust the p-values of one table in the way that was chosen.

    Parameters
    ----------
    pvalues : array_like, any shape
    correction : {"holm", "none"}

    Returns
    -------
    adjusted : ndarray of the same shape
        With `none`, the p-values themselves.
    """
    if correction not in CORRECTIONS:
        raise ValueError(
            f"`correction` must be one of {', '.join(CORRECTIONS)}, not {correction!r}"
        )
    return holm(pvalues) if correction == "holm" else np.asarray(pvalues, dtype=np.float64)
