"""Standardise scores within each worker, since workers use the scale differently."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ._groups import blocks, factorise, moments
from ._validation import Bools, Floats, Ints, Keys, as_keys, as_numbers, check_same_length
from .signature import signature

# Why a worker has no z-scores. The admin pages show these texts.
ONE_RATING = "only one rating"
NEVER_VARIES = "scores never vary"


@dataclass(frozen=True, slots=True)
class Standardised:
    """Scores on each worker's own scale.

    `z` has one element per rating; `workers`, `n`, `mean`, `sd` and `reasons` one per worker.
    """

    z: Floats
    workers: Keys
    n: Ints
    mean: Floats
    sd: Floats
    reasons: Keys
    signature: str

    @property
    def is_set_aside(self) -> Bools:
        """True for workers without z-scores."""
        return self.reasons != ""


def standardise_by_worker(scores: ArrayLike, workers: ArrayLike) -> Standardised:
    """Turn each score into a z-score within its worker's scores.

    Pass all of a worker's ratings in the campaign, including those of quality-control items: they
    show how the worker uses the scale. Use `combining.combine_ratings` to combine campaigns, since
    a worker may use the scale differently in each.

    Parameters
    ----------
    scores, workers : array_like, shape (n,)
        Raw scores and who gave them.

    Returns
    -------
    Standardised
        `z` in input order: (score - mean) / sd, with the sample sd (n - 1). It is NaN for a worker
        with one rating or constant scores, since 0 would pass for an average rating; `reasons` says
        why. A rating passed twice counts twice in the worker's mean and sd.

    References
    ----------
    .. [1] Graham, Baldwin, Moffat and Zobel. Can machine translation systems be evaluated by the
       crowd alone. Natural Language Engineering 23(1), 2017.
    """
    scores, workers = as_numbers("scores", scores), as_keys("workers", workers)
    check_same_length(scores=scores, workers=workers)
    labels, codes = factorise(workers)
    by_worker = moments(scores, codes, len(labels))
    # NaN instead of 0, which would make z infinite.
    scale = np.where(by_worker.ss > 0, by_worker.sd, np.nan)
    z = np.empty(len(scores))
    for rows in blocks(len(scores)):
        z[rows] = (scores[rows] - by_worker.mean[codes[rows]]) / scale[codes[rows]]
    reasons = np.select(
        [by_worker.n == 1, by_worker.ss == 0], [ONE_RATING, NEVER_VARIES], default=""
    )
    return Standardised(
        z=z,
        workers=labels,
        n=by_worker.n,
        mean=by_worker.mean,
        sd=by_worker.sd,
        reasons=reasons,
        signature=signature(std=("worker", "ddof=1")),
    )
