"""Redo a detour of the published scripts: their means and sds went through print-outs of seven digits."""

import numpy as np

from analysis.stats.standardise import standardise_by_worker


def as_printed(values: np.ndarray) -> np.ndarray:
    """Round to seven significant digits."""
    return np.array([float(f"{value:.7g}") for value in values])


def z_as_printed(scores: np.ndarray, workers: np.ndarray) -> np.ndarray:
    """Standardise with each worker's mean and sd as printed.

    The published z-scores were made so, and differ from unrounded ones in the sixth decimal.
    """
    own = standardise_by_worker(scores, workers)
    places = np.searchsorted(own.workers, workers)
    return (scores - as_printed(own.mean)[places]) / as_printed(own.sd)[places]
