"""The score of each translation: a mean over ratings, with its standard error and interval."""

from dataclasses import dataclass, fields, replace
from typing import Literal

import numpy as np
import scipy
from numpy.typing import ArrayLike

from ._groups import Moments, counts, factorise, moments, t_reach
from ._validation import (
    Bools,
    Floats,
    Ints,
    Keys,
    as_keys,
    as_numbers,
    as_roles,
    check_at_least,
    check_between,
    check_same_kind,
    check_same_length,
    is_all_finite,
)
from .roles import SCORED_ROLES
from .signature import signature
from .thresholds import MINIMUM_RATINGS

# Confidence level of the intervals around a mean.
CONFIDENCE = 0.95

# How the ratings of a translation are combined; `weighted_scores` does the last.
Method = Literal["per_worker", "pooled", "weighted"]


@dataclass(frozen=True, slots=True)
class SegmentScores:
    """Scores of the translations with enough ratings; the others are only listed in `incomplete`.

    `n` counts the values averaged: workers (`per_worker`) or ratings (`pooled`). `n_ratings` always
    counts ratings. Standard error and interval are NaN if n = 1.
    """

    translations: Keys
    raw: Floats
    raw_se: Floats
    raw_low: Floats
    raw_high: Floats
    z: Floats
    z_se: Floats
    z_low: Floats
    z_high: Floats
    n: Ints
    n_ratings: Ints
    incomplete: Keys
    incomplete_n: Ints
    signature: str


def counts_for_gold(
    roles: ArrayLike, workers: ArrayLike | None = None, trusted: ArrayLike | None = None
) -> Bools:
    """Return which ratings count towards a translation's score.

    Parameters
    ----------
    roles : array_like of int, shape (n,)
        The `Role` of each item. Genuine items and repeats count; a repeat shows the same translation
        as its original.
    workers : array_like, shape (n,), optional
        The worker of each rating; required with `trusted`.
    trusted : array_like, optional
        The workers whose ratings count, for example those who passed quality control.

    Returns
    -------
    ndarray of bool, shape (n,)
    """
    roles = as_roles("roles", roles)
    chosen = np.logical_or.reduce([roles == role for role in SCORED_ROLES])
    if trusted is None:
        return chosen
    if workers is None:
        raise ValueError("`trusted` requires `workers`.")
    workers, trusted = as_keys("workers", workers), as_keys("trusted", trusted)
    check_same_length(roles=roles, workers=workers)
    check_same_kind(workers=workers, trusted=trusted)
    labels, codes = factorise(workers)
    return chosen & np.isin(labels, trusted)[codes]


def average_repeats(
    values: ArrayLike, workers: ArrayLike, translations: ArrayLike
) -> tuple[Floats, Keys, Keys]:
    """Average the ratings that a worker gave to the same translation.

    Parameters
    ----------
    values, workers, translations : array_like, shape (n,)
        Score (raw or z), worker and translation of each rating; rows with a NaN are left out.

    Returns
    -------
    values, workers, translations : ndarray, shape (m,)
        One row per worker and translation, sorted by translation, then worker.
    """
    values = as_numbers("values", values, missing=True)
    workers, translations = as_keys("workers", workers), as_keys("translations", translations)
    check_same_length(values=values, workers=workers, translations=translations)
    worker_labels, worker_codes = factorise(workers)
    labels, codes = factorise(translations)
    present = ~np.isnan(values)
    cells = Cells(codes[present], worker_codes[present], (len(labels), len(worker_labels)))
    return cells.means(values[present]), worker_labels[cells.workers], labels[cells.translations]


def segment_scores(
    scores: ArrayLike,
    z: ArrayLike,
    workers: ArrayLike,
    translations: ArrayLike,
    *,
    method: Method = "per_worker",
    minimum: int = MINIMUM_RATINGS,
    confidence: float = CONFIDENCE,
    expected: ArrayLike | None = None,
) -> SegmentScores:
    """Average the ratings of each translation.

    Parameters
    ----------
    scores, z, workers, translations : array_like, shape (n,)
        One row per rating that counts (see `counts_for_gold`). A row whose z is NaN, from a worker
        without z-scores, is left out of the raw mean too.
    method : {"per_worker", "pooled"}
        `per_worker` averages a worker's repeats first, so that every worker counts once: n is the
        number of workers, and a rating passed twice changes nothing. `pooled` counts every rating:
        n is the number of ratings, and a rating passed twice counts twice.
    minimum : int
        A translation with n below this is listed in `incomplete` and gets no score.
    confidence : float
        Confidence level of the t intervals around the means.
    expected : array_like, optional
        Translations that should have a score; those without ratings are listed in `incomplete` with
        n = 0.

    Returns
    -------
    SegmentScores
        Sorted by translation. Higher is better.

    References
    ----------
    .. [1] Graham, Baldwin and Mathur. Accurate evaluation of segment-level machine translation
       metrics. NAACL 2015.
    .. [2] Akhbardeh et al. Findings of the 2021 conference on machine translation. WMT 2021
       (pooled).
    """
    scores, z = as_numbers("scores", scores), as_numbers("z", z, missing=True)
    workers, translations = as_keys("workers", workers), as_keys("translations", translations)
    check_same_length(scores=scores, z=z, workers=workers, translations=translations)
    check_at_least("minimum", minimum, 1)
    check_between("confidence", confidence, 0, 1)
    if method not in ("per_worker", "pooled"):
        raise ValueError(f"`method` must be 'per_worker' or 'pooled', not {method!r}.")
    labels, codes = factorise(translations)
    if not is_all_finite(z):
        has_z = ~np.isnan(z)
        scores, z, workers, codes = scores[has_z], z[has_z], workers[has_z], codes[has_z]
    n = n_ratings = counts(codes, len(labels))
    if method == "per_worker":
        worker_labels, worker_codes = factorise(workers)
        cells = Cells(codes, worker_codes, (len(labels), len(worker_labels)))
        scores, z, codes = cells.means(scores), cells.means(z), cells.translations
        n = counts(codes, len(labels))
    raw_means, z_means = (moments(values, codes, len(labels), n) for values in (scores, z))
    all_scores = replace(
        _describe(labels, raw_means, z_means, n_ratings, confidence),
        signature=signature(seg=method, min=minimum, ci=("t", confidence)),
    )
    return separate_incomplete(all_scores, minimum, expected)


class Cells:
    """Ratings grouped by translation and worker in a sparse matrix, which needs no sorting."""

    def __init__(self, codes: Ints, worker_codes: Ints, shape: tuple[int, int]) -> None:
        # SciPy would copy 64-bit indices at every sum.
        self._place = (codes.astype(np.int32), worker_codes.astype(np.int32))
        self._shape = shape
        filled = self._sums(np.ones(len(codes)))
        self.counts: Floats = filled.data
        self.workers: Ints = filled.indices.astype(np.int64)
        self.translations: Ints = np.repeat(np.arange(shape[0]), np.diff(filled.indptr))

    def _sums(self, values: Floats) -> "scipy.sparse.csr_array":
        return scipy.sparse.coo_array((values, self._place), shape=self._shape).tocsr()

    def means(self, values: Floats) -> Floats:
        """Return the mean of each cell that has ratings."""
        means: Floats = self._sums(values).data
        means /= self.counts
        return means


def _describe(
    labels: Keys, raw: Moments, z: Moments, n_ratings: Ints, confidence: float
) -> SegmentScores:
    """Return means and intervals of all translations, complete or not, without a signature."""
    reach = t_reach(raw.n, confidence)
    raw_se, z_se = raw.se, z.se
    return SegmentScores(
        translations=labels,
        raw=raw.mean,
        raw_se=raw_se,
        raw_low=raw.mean - reach * raw_se,
        raw_high=raw.mean + reach * raw_se,
        z=z.mean,
        z_se=z_se,
        z_low=z.mean - reach * z_se,
        z_high=z.mean + reach * z_se,
        n=raw.n,
        n_ratings=n_ratings,
        incomplete=labels[:0],
        incomplete_n=raw.n[:0],
        signature="",
    )


def separate_incomplete(
    scores: SegmentScores, minimum: int, expected: ArrayLike | None
) -> SegmentScores:
    """Move translations with too few ratings, or none at all, to `incomplete`."""
    complete = scores.n >= minimum
    incomplete, incomplete_n = scores.translations[~complete], scores.n[~complete]
    if expected is not None:
        expected = as_keys("expected", expected)
        check_same_kind(expected=expected, translations=scores.translations)
        unrated = np.setdiff1d(expected, scores.translations)
        incomplete = np.concatenate([incomplete, unrated]) if len(incomplete) else unrated
        incomplete_n = np.concatenate([incomplete_n, np.zeros(len(unrated), dtype=np.int64)])
    parallel = {
        field.name: getattr(scores, field.name)[complete]
        for field in fields(scores)
        if field.name not in ("incomplete", "incomplete_n", "signature")
    }
    return replace(scores, **parallel, incomplete=incomplete, incomplete_n=incomplete_n)
