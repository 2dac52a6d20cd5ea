"""Which gold scores are still too uncertain, and would gain from more ratings."""

import numpy as np
from numpy.typing import ArrayLike

from ._validation import Bools, Floats, as_numbers, check_same_length

# How many ratings' worth the common variance counts for, next to a translation's own.
PRIOR_DF = 4.0


def shrunk_errors(standard_errors: ArrayLike, n: ArrayLike) -> Floats:
    """Return standard errors of means whose variance is drawn towards that of all translations.

    Parameters
    ----------
    standard_errors : array_like, shape (k,)
        Of the mean of each translation: sd / sqrt(n). NaN with a single rating.
    n : array_like, shape (k,)
        Ratings of each translation.

    Returns
    -------
    ndarray, shape (k,)
        A few ratings that agree by chance seem sure: those who stop at them stop too soon. So the variance is
        the mean of the translation's own, with n - 1 degrees of freedom, and the pooled one, with `PRIOR_DF` [1]_.
        NaN without ratings, and everywhere if no translation has two.

    References
    ----------
    .. [1] Smyth. Linear models and empirical Bayes methods for assessing differential expression in
       microarray experiments. Statistical Applications in Genetics and Molecular Biology 3(1), 2004.
    """
    se, n = as_numbers("standard_errors", standard_errors, missing=True), as_numbers("n", n)
    check_same_length(standard_errors=se, n=n)
    own_df = np.where(np.isnan(se), 0, np.maximum(n - 1, 0))
    own = np.where(np.isnan(se), 0, se**2 * n)
    if not own_df.sum():
        return np.full(se.shape, np.nan)
    pooled = float((own_df * own).sum() / own_df.sum())
    variances = (PRIOR_DF * pooled + own_df * own) / (PRIOR_DF + own_df)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(n > 0, np.sqrt(variances / n), np.nan))


def is_wide(standard_errors: ArrayLike, n: ArrayLike, width: float) -> Bools:
    """Return which means are less certain than wished: their shrunk error is above `width`, or unknown."""
    if not width > 0:
        raise ValueError(f"`width` must be above 0, not {width!r}.")
    return ~(shrunk_errors(standard_errors, n) <= width)
