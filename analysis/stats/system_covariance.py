"""How uncertain system scores are, given that systems share both segments and workers."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy
from numpy.typing import ArrayLike

from ._groups import ROUNDING, counts, divide, factorise, sums
from ._validation import (
    Bools,
    Floats,
    Ints,
    Keys,
    as_flags,
    as_keys,
    as_numbers,
    check_same_kind,
    check_same_length,
)
from .segments import Method
from .signature import signature

# Ratings of the segments of a document are not independent if they were rated in a run.
Unit = Literal["segments", "documents"]


@dataclass(frozen=True, slots=True)
class SystemCovariance:
    """Covariances of system scores, in the order of `systems`.

    `by_segments` is what another sample of segments would change, `by_workers` what another sample of
    workers would change on top of that. Both are needed apart, since the second is an estimate that may
    come out below zero for some difference, and then counts as zero. `n_workers` is the number of equally busy
    workers that would be as informative as these. `scores` are the scores themselves, where they are not
    means over segments, and `estimate` says for signatures what they are.
    """

    systems: Keys
    by_segments: Floats
    by_workers: Floats
    n_segments: int
    n_workers: float
    signature: str
    scores: Floats | None = None
    estimate: str | None = None
    # What was drawn: the segments, or the documents they are from. `n_segments` counts these.
    unit: Unit = "segments"

    @property
    def has_workers(self) -> bool:
        """Whether there are enough workers to see how much they differ; one alone shows nothing."""
        return self.n_workers > 1 + ROUNDING

    def of(self, systems: Keys) -> "SystemCovariance":
        """Return the same for some systems, in their order."""
        place = {name: place for place, name in enumerate(self.systems.tolist())}
        rows = [place[name] for name in systems.tolist()]
        chosen = np.ix_(rows, rows)
        return SystemCovariance(
            systems,
            self.by_segments[chosen],
            self.by_workers[chosen],
            self.n_segments,
            self.n_workers,
            self.signature,
            None if self.scores is None else self.scores[rows],
            self.estimate,
            self.unit,
        )

    def score_errors(self) -> tuple[Floats, Floats]:
        """Return standard error and degrees of freedom of each system's score."""
        return self._errors(np.diag(self.by_segments), np.diag(self.by_workers))

    def difference_errors(self) -> tuple[Floats, Floats]:
        """Return standard error and degrees of freedom of the difference of every two systems."""
        return self._errors(_of_differences(self.by_segments), _of_differences(self.by_workers))

    def difference_ratios(self) -> Floats:
        """Return the variance that workers add to each difference, as a multiple of that over segments."""
        by_segments, by_workers = map(_of_differences, (self.by_segments, self.by_workers))
        ratios = divide(np.maximum(by_workers, 0), by_segments)
        return np.where(by_segments > 0, ratios, 0.0)

    def _errors(self, by_segments: Floats, by_workers: Floats) -> tuple[Floats, Floats]:
        """Add the two parts. Where workers matter, there are as many degrees of freedom as the fewer groups allow."""
        has_workers = by_workers > 0
        variance = np.maximum(by_segments, 0) + np.where(has_workers, by_workers, 0)
        fewest = min(self.n_segments, self.n_workers)
        df = np.maximum(np.where(has_workers, fewest, self.n_segments) - 1.0, 1.0)
        if self.n_segments < 2:
            return np.full_like(variance, np.nan), df
        return np.sqrt(variance), df


def _of_differences(covariance: Floats) -> Floats:
    variances = np.diag(covariance)
    return variances[:, None] + variances - 2 * covariance


def reach(df: Floats, confidence: float) -> Floats:
    """Return the half-width of an interval in standard errors."""
    return np.asarray(scipy.special.stdtrit(df, (1 + confidence) / 2), dtype=np.float64)


def covariance_of_segment_scores(
    z: ArrayLike, systems: ArrayLike, segments: ArrayLike, *, unit: Unit = "segments"
) -> SystemCovariance:
    """Estimate the covariance of system scores when only segment scores are known.

    Parameters
    ----------
    z, systems, segments : array_like, shape (n,)
        Score, system and segment of each translation.
    unit : {"segments", "documents"}
        What `segments` holds: with documents, scores of one document need not be independent.

    Returns
    -------
    SystemCovariance
        Without a part for workers: the results hold for these workers, not for others.
    """
    z, systems, segments = (
        as_numbers("z", z),
        as_keys("systems", systems),
        as_keys("segments", segments),
    )
    check_same_length(z=z, systems=systems, segments=segments)
    labels, codes = factorise(systems)
    segment_labels, segment_codes = factorise(segments)
    n = counts(codes, len(labels))
    residuals = (z - divide(sums(z, codes, len(labels)), n)[codes]) / n[codes]
    by_segment = scipy.sparse.coo_array(
        (residuals, (segment_codes, codes)), shape=(len(segment_labels), len(labels))
    ).tocsr()
    return SystemCovariance(
        systems=labels,
        by_segments=finite_sample(len(segment_labels)) * (by_segment.T @ by_segment).toarray(),
        by_workers=np.zeros((len(labels), len(labels))),
        n_segments=len(segment_labels),
        n_workers=0.0,
        signature=signature(var=unit),
        unit=unit,
    )


def system_covariance(
    z: ArrayLike,
    workers: ArrayLike,
    translations: ArrayLike,
    segments: ArrayLike,
    is_scored: ArrayLike,
    *,
    produced: ArrayLike,
    systems: ArrayLike,
    method: Method = "per_worker",
    unit: Unit = "segments",
) -> SystemCovariance:
    """Estimate the covariance of system scores over segments and over workers.

    Parameters
    ----------
    z, workers, translations, segments : array_like, shape (n,)
        All ratings of the workers that count, including those of hidden items: a worker's z-scores are
        relative to all of them. Rows whose z is NaN are left out.
    is_scored : array_like of bool, shape (n,)
        Whether the rating is part of the score of its translation.
    produced, systems : array_like, shape (m,)
        The translations with a score, and the system that produced each; one shared by several systems
        has several rows.
    method : {"per_worker", "pooled"}
        How the ratings of a translation were averaged; see `segments.segment_scores`.
    unit : {"segments", "documents"}
        What `segments` holds. Pass documents where they were rated in runs: the variance is then over documents.

    Returns
    -------
    SystemCovariance
        A system's score is a weighted sum of ratings. The variance of its residuals is that within segments,
        plus that within workers, minus what both have counted [1]_. A worker's mean, which z-scores are
        relative to, depends on the segments too and enters by its derivative.

    References
    ----------
    .. [1] Cameron, Gelbach and Miller. Robust inference with multiway clustering. Journal of Business
       and Economic Statistics 29(2), 2011.
    .. [2] Owen. The pigeonhole bootstrap. Annals of Applied Statistics 1(2), 2007.
    """
    ratings = rating_rows(z, workers, translations, segments, is_scored)
    produced, systems = as_keys("produced", produced), as_keys("systems", systems)
    check_same_length(produced=produced, systems=systems)
    check_same_kind(produced=produced, translations=ratings.translations)
    labels, system_codes = factorise(systems)
    texts, text_codes = factorise(produced)
    share = 1 / counts(system_codes, len(labels))
    in_scores = scipy.sparse.coo_array(
        (share[system_codes], (text_codes, system_codes)), shape=(len(texts), len(labels))
    ).tocsr()
    weights = (rating_shares(ratings, texts, method) @ in_scores).tocsr()
    weights.eliminate_zeros()
    scores = weights.T @ ratings.z
    residuals = weights.copy()
    residuals.data *= np.repeat(ratings.z, np.diff(weights.indptr)) - scores[weights.indices]
    influence = influence_of(ratings, weights, residuals)
    return SystemCovariance(
        systems=labels,
        by_segments=influence.covariance_by_segments(influence.by_segment),
        by_workers=influence.added_by_workers,
        n_segments=ratings.n_segments,
        n_workers=influence.n_workers,
        signature=signature(var=(unit, "workers")),
        unit=unit,
    )


@dataclass(frozen=True, slots=True)
class Influence:
    """What each segment adds to each system's score, and the covariance that workers add.

    `by_segment` has a row for each segment with ratings, in the order of `RatingRows.segment_labels`.
    """

    by_segment: Floats
    added_by_workers: Floats
    n_workers: float

    def covariance_by_segments(self, totals: Floats) -> Floats:
        """Return the covariance of scores, given what each segment adds to them."""
        return np.asarray(finite_sample(len(self.by_segment)) * totals.T @ totals)


def influence_of(
    ratings: "RatingRows", weights: "scipy.sparse.csr_array", residuals: "scipy.sparse.csr_array"
) -> Influence:
    """Add up weighted residuals (ratings x systems) by segment and by worker."""
    by_segment = _totals(ratings.segments, ratings.n_segments, residuals)
    by_worker = _totals(ratings.workers, ratings.n_workers, residuals).toarray()
    # How much each worker's mean weighs in each system's score.
    on_mean = _totals(ratings.workers, ratings.n_workers, weights).toarray()
    n_workers = equally_busy(on_mean.sum(axis=1))
    on_mean /= np.maximum(counts(ratings.workers, ratings.n_workers), 1)[:, None]
    place = (ratings.segments, ratings.workers)
    both = scipy.sparse.coo_array((ratings.z, place), shape=(ratings.n_segments, ratings.n_workers))
    of_workers = finite_sample(n_workers) * by_worker.T @ by_worker
    return Influence(
        by_segment.toarray() - both.tocsr() @ on_mean,
        of_workers - _of_both(ratings, residuals, on_mean),
        n_workers,
    )


def finite_sample(n_groups: float) -> float:
    return n_groups / (n_groups - 1) if n_groups > 1 else 1.0


def equally_busy(weights: Floats) -> float:
    """Return how many equal weights have the same ratio of squared sum to sum of squares."""
    squares = float(np.sum(weights**2))
    return float(weights.sum()) ** 2 / squares if squares else 0.0


@dataclass(frozen=True, slots=True)
class RatingRows:
    """Validated ratings with a z-score; workers and segments are numbered from 0."""

    z: Floats
    workers: Ints
    translations: Keys
    segments: Ints
    is_scored: Bools
    segment_labels: Keys
    n_workers: int

    @property
    def n_segments(self) -> int:
        return len(self.segment_labels)


def rating_rows(
    z: ArrayLike,
    workers: ArrayLike,
    translations: ArrayLike,
    segments: ArrayLike,
    is_scored: ArrayLike,
) -> RatingRows:
    z, is_scored = as_numbers("z", z, missing=True), as_flags("is_scored", is_scored)
    workers, segments = as_keys("workers", workers), as_keys("segments", segments)
    translations = as_keys("translations", translations)
    check_same_length(
        z=z, workers=workers, translations=translations, segments=segments, is_scored=is_scored
    )
    has_z = ~np.isnan(z)
    worker_labels, worker_codes = factorise(workers[has_z])
    segment_labels, segment_codes = factorise(segments[has_z])
    return RatingRows(
        z[has_z],
        worker_codes,
        translations[has_z],
        segment_codes,
        is_scored[has_z],
        segment_labels,
        len(worker_labels),
    )


def rating_shares(ratings: RatingRows, labels: Keys, method: Method) -> "scipy.sparse.csr_array":
    """Return the weight of each rating (row) in the mean of each of these translations (column)."""
    n = len(ratings.z)
    if not len(labels):
        return scipy.sparse.csr_array((n, 0))
    places = np.minimum(np.searchsorted(labels, ratings.translations), len(labels) - 1)
    used = ratings.is_scored & (labels[places] == ratings.translations)
    in_means = np.zeros(n)
    in_means[used] = _shares_of_means(places[used], ratings.workers[used], len(labels), method)
    shape = (n, len(labels))
    return scipy.sparse.csr_array((in_means, places, np.arange(n + 1)), shape=shape)


def _shares_of_means(
    translations: Ints, workers: Ints, n_translations: int, method: Method
) -> Floats:
    """Return the weight of each rating in the mean of its translation."""
    if method == "pooled":
        return 1 / counts(translations, n_translations)[translations]
    n_workers = int(workers.max(initial=0)) + 1
    cells, cell_codes = factorise(translations * n_workers + workers)
    n_own = counts(cell_codes, len(cells))[cell_codes]
    n_raters = counts((cells // n_workers).astype(np.int64), n_translations)
    return 1 / (n_own * n_raters[translations])


def _totals(
    codes: Ints, n_groups: int, values: "scipy.sparse.csr_array"
) -> "scipy.sparse.csr_array":
    """Add up the rows of each group."""
    rows = np.arange(len(codes))
    groups = scipy.sparse.coo_array(
        (np.ones(len(codes)), (codes, rows)), shape=(n_groups, len(codes))
    )
    return (groups.tocsr() @ values).tocsr()


def _of_both(ratings: RatingRows, residuals: "scipy.sparse.csr_array", on_mean: Floats) -> Floats:
    """Return the covariance of totals by segment and worker, which both ways of adding up contain.

    A total is that of the residuals minus the worker's mean, cells x systems. The second part is the
    same for all cells of a worker but for a factor, so the product needs no cells x systems matrix.
    """
    cells, codes = factorise(ratings.segments * ratings.n_workers + ratings.workers)
    cell_workers = (cells % max(ratings.n_workers, 1)).astype(np.int64)
    totals = _totals(codes, len(cells), residuals)
    z_totals = sums(ratings.z, codes, len(cells))
    rows = np.arange(len(cells))
    to_workers = scipy.sparse.coo_array(
        (z_totals, (cell_workers, rows)), shape=(ratings.n_workers, len(cells))
    ).tocsr()
    crossed = (to_workers @ totals).toarray().T @ on_mean
    squares = sums(z_totals**2, cell_workers, ratings.n_workers)
    product = (totals.T @ totals).toarray() - crossed - crossed.T
    return np.asarray(product + on_mean.T @ (squares[:, None] * on_mean))
