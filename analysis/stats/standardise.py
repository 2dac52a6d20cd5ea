"""Standardise scores within each worker: some are strict, some generous, some use only the middle."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ._groups import blocks, factorise, moments
from ._validation import Bools, Floats, Ints, Keys, as_keys, as_numbers, check_same_length
from .signature import signature

# Why a worker has no z-scores. Kept as text because it is shown to the admin as it stands.
ONE_RATING = "only one rating"
NEVER_VARIES = "scores never vary"


@dataclass(frozen=True, slots=True)
class Standardised:
    """Scores on each worker's own scale; `workers`, `n`, `mean`, `sd` and `reasons` run in parallel."""

    z: Floats
    workers: Keys
    n: Ints
    mean: Floats
    sd: Floats
    reasons: Keys
    signature: str

    @property
    def is_set_aside(self) -> Bools:
        """True for the workers who have no scale of their own and so no z-scores."""
        return self.reasons != ""


def standardise_by_worker(scores: ArrayLike, workers: ArrayLike) -> Standardised:
    """Turn each score into a z-score within its own worker's scores.

    Give all items the worker rated in the campaign, quality-control items included: they belong to
    the scale the worker used. One worker in two campaigns used two scales; keep the two apart with
    `combining.combine_ratings`.

    Parameters
    ----------
    scores, workers : array_like, shape (n,)
        Raw scores and who gave them.

    Returns
    -------
    Standardised
        `z` in the order of the rows: (score - mean) / sd with the sample sd (n - 1). A worker with
        one rating, or whose scores never vary, is set aside: z is NaN, since 0 would pass for an
        average rating, and `reasons` says why. Giving a rating twice makes it count twice in the
        worker's mean and sd.

    References
    ----------
    .. [1] Graham, Baldwin, Moffat and Zobel. Can machine translation systems be evaluated by the
       crowd alone. Natural Language Engineering 23(1), 2017.
    """
    scores, workers = as_numbers("scores", scores), as_keys("workers", workers)
    check_same_length(scores=scores, workers=workers)
    labels, codes = factorise(workers)
    own = moments(scores, codes, len(labels))
    # A zero would turn into an infinite score; NaN says that there is no scale.
    scale = np.where(own.ss > 0, own.sd, np.nan)
    z = np.empty(len(scores))
    for rows in blocks(len(scores)):
        z[rows] = (scores[rows] - own.mean[codes[rows]]) / scale[codes[rows]]
    reasons = np.select([own.n == 1, own.ss == 0], [ONE_RATING, NEVER_VARIES], default="")
    return Standardised(
        z=z,
        workers=labels,
        n=own.n,
        mean=own.mean,
        sd=own.sd,
        reasons=reasons,
        signature=signature(std=("worker", "ddof=1")),
    )
