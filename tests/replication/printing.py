"""Rounding as in the published scripts, which printed means and sds with seven digits."""

import numpy as np

from analysis.stats.standardise import standardise_by_worker


def as_printed(values: np.ndarray) -> np.ndarray:
    """Round to seven significant digits."""
    return np.array([float(f"{value:.7g}") for value in values])


def z_as_printed(scores: np.ndarray, workers: np.ndarray) -> np.ndarray:
    """Standardise with each worker's mean and sd as printed.

    The published z-scores were computed like this. Unrounded ones differ in the sixth decimal.
    """
    result = standardise_by_worker(scores, workers)
    places = np.searchsorted(result.workers, workers)
    return (scores - as_printed(result.mean)[places]) / as_printed(result.sd)[places]
