"""Scores of translations and systems in which some workers' ratings count more than others'."""

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike

from ._groups import ROUNDING, blocks, counts, divide, factorise, moments, sums
from ._validation import (
    Floats,
    Ints,
    Keys,
    as_keys,
    as_numbers,
    check_at_least,
    check_between,
    check_same_length,
)
from .segments import CONFIDENCE, Cells, SegmentScores, separate_incomplete
from .signature import signature
from .system_covariance import SystemCovariance, equally_busy, finite_sample
from .thresholds import MINIMUM_RATINGS

# From this weight on, half of the crowd's mean, a worker counts in full towards the minimum; below it in proportion. So
# 15 ratings by people who hardly read do not complete a translation, and 15 by ordinary workers do.
FULL_WEIGHT = 0.5
# A worker whose scores of genuine items spread less than this, in z, is not stretched any further.
LEAST_SPREAD = 0.4
# Variance of a rating over that between segments, where the ratings do not show any between segments.
NO_SEGMENT_EFFECT = 1e6


def segment_scores_weighted(
    scores: ArrayLike,
    z: ArrayLike,
    workers: ArrayLike,
    translations: ArrayLike,
    weights: ArrayLike,
    *,
    minimum: int = MINIMUM_RATINGS,
    confidence: float = CONFIDENCE,
    expected: ArrayLike | None = None,
) -> SegmentScores:
    """Average the ratings of each translation, weighted by worker.

    Parameters
    ----------
    scores, z, workers, translations, weights : array_like, shape (n,)
        One row per rating that may count. Rows with a NaN in z or a weight of 0 do not.
    minimum, confidence, expected
        As for `segments.segment_scores`. n is the number of workers, each counting by weight up to `FULL_WEIGHT`,
        rounded down.

    Returns
    -------
    SegmentScores
        A worker's repeats are averaged first. The standard error follows from the weighted squares of the
        residuals, and the interval has as many degrees of freedom as equally weighted workers would
        give, less one.
    """
    scores, z = as_numbers("scores", scores), as_numbers("z", z, missing=True)
    workers, translations = as_keys("workers", workers), as_keys("translations", translations)
    weights = as_numbers("weights", weights)
    check_same_length(
        scores=scores, z=z, workers=workers, translations=translations, weights=weights
    )
    check_at_least("minimum", minimum, 1)
    check_between("confidence", confidence, 0, 1)
    labels, codes = factorise(translations)
    used = ~np.isnan(z) & (weights > 0)
    worker_labels, worker_codes = factorise(workers[used])
    cells = Cells(codes[used], worker_codes, (len(labels), len(worker_labels)))
    cell_weights = cells.means(weights[used])
    means = _Means(cells.translations, cell_weights, len(labels))
    raw, raw_se = means.of(cells.means(scores[used]))
    mean_z, z_se = means.of(cells.means(z[used]))
    reach = scipy.special.stdtrit(np.maximum(means.effective_n - 1, 1), (1 + confidence) / 2)
    all_scores = SegmentScores(
        translations=labels,
        raw=raw,
        raw_se=raw_se,
        raw_low=raw - reach * raw_se,
        raw_high=raw + reach * raw_se,
        z=mean_z,
        z_se=z_se,
        z_low=mean_z - reach * z_se,
        z_high=mean_z + reach * z_se,
        n=_full_workers(cell_weights, cells.translations, len(labels)),
        n_ratings=counts(codes[used], len(labels)),
        incomplete=labels[:0],
        incomplete_n=np.zeros(0, dtype=np.int64),
        signature=signature(
            seg="weighted", min=(minimum, f"full>={FULL_WEIGHT:g}"), ci=("t", confidence)
        ),
    )
    return separate_incomplete(all_scores, minimum, expected)


def _full_workers(weights: Floats, translations: Ints, n_translations: int) -> Ints:
    full = sums(np.minimum(weights / FULL_WEIGHT, 1), translations, n_translations)
    return np.floor(full + ROUNDING).astype(np.int64)


class _Means:
    """Weighted means of the cells of each translation."""

    def __init__(self, codes: Ints, weights: Floats, n_groups: int) -> None:
        self._codes, self._weights, self._n_groups = codes, weights, n_groups
        self._totals = sums(weights, codes, n_groups)
        self.effective_n = divide(self._totals**2, sums(weights**2, codes, n_groups))

    def of(self, values: Floats) -> tuple[Floats, Floats]:
        """Return means and their standard errors; NaN for the standard error of a single value."""
        mean = divide(sums(self._weights * values, self._codes, self._n_groups), self._totals)
        residuals = self._weights * (values - mean[self._codes])
        squares = divide(sums(residuals**2, self._codes, self._n_groups), self._totals**2)
        n = self.effective_n
        # What estimating the mean itself takes from the residuals.
        correction = divide(n, np.where(n > 1, n - 1, 0))
        return mean, np.sqrt(squares * correction)


@dataclass(frozen=True, slots=True)
class _Rows:
    """One row per rating and system that it counts for; everything numbered from 0."""

    y: Floats
    weights: Floats
    workers: Ints
    systems: Ints
    segments: Ints
    # What was drawn: the segments, or their documents.
    units: Ints
    n_workers: int
    n_segments: int
    n_units: int


def system_scores_weighted(
    z: ArrayLike,
    workers: ArrayLike,
    systems: ArrayLike,
    segments: ArrayLike,
    weights: ArrayLike,
    *,
    documents: ArrayLike | None = None,
) -> SystemCovariance:
    """Estimate system scores from weighted ratings, with random effects of segments.

    Parameters
    ----------
    z, workers, systems, segments, weights : array_like, shape (n,)
        Ratings of genuine items and repeats. One that counts for several systems has a row for each. Rows
        with a NaN in z or a weight of 0 do not count.
    documents : array_like, shape (n,), optional
        The document of each rating's segment, if documents were drawn and not segments.

    Returns
    -------
    SystemCovariance
        With `scores`. A rating is modelled as the score of its system, plus how easy its segment is,
        plus noise; it counts by its weight. Systems rated on easier segments do not gain by that, and no
        rating is lost because its translation has few. Ratings are relative to the mean and spread of
        the worker's genuine items. Covariances are clustered by segments (or documents) and by workers,
        as in `system_covariance`.

    References
    ----------
    .. [1] Henderson. Best linear unbiased estimation and prediction under a selection model. Biometrics
       31(2), 1975.
    .. [2] Cameron, Gelbach and Miller. Robust inference with multiway clustering. Journal of Business
       and Economic Statistics 29(2), 2011.
    """
    labels, rows = _rows(z, workers, systems, segments, weights, documents)
    model = _Model(rows, len(labels))
    by_segments, by_workers, n_workers = model.covariances()
    return SystemCovariance(
        systems=labels,
        by_segments=by_segments,
        by_workers=by_workers,
        n_segments=rows.n_units,
        n_workers=n_workers,
        signature=signature(
            sys="weighted",
            effects=("segments", f"ratio={model.ratio:.3g}"),
            var=("segments" if documents is None else "documents", "workers"),
        ),
        scores=model.scores,
        unit="segments" if documents is None else "documents",
    )


def weighted_means_of_systems(
    z: Floats, workers: Ints, systems: Ints, segments: Ints, weights: Floats, *, n_systems: int
) -> Floats:
    """Return only the scores of `system_scores_weighted`; NaN for numbers that no row has.

    Systems are numbered from 0.
    """
    labels, rows = _rows(z, workers, systems, segments, weights)
    scores = np.full(n_systems, np.nan)
    if len(labels):
        scores[labels] = _Model(rows, len(labels)).scores
    return scores


def _rows(
    z: ArrayLike,
    workers: ArrayLike,
    systems: ArrayLike,
    segments: ArrayLike,
    weights: ArrayLike,
    documents: ArrayLike | None = None,
) -> tuple[Keys, _Rows]:
    z, weights = as_numbers("z", z, missing=True), as_numbers("weights", weights)
    workers, systems = as_keys("workers", workers), as_keys("systems", systems)
    segments = as_keys("segments", segments)
    units = segments if documents is None else as_keys("documents", documents)
    check_same_length(
        z=z, workers=workers, systems=systems, segments=segments, weights=weights, documents=units
    )
    used = ~np.isnan(z) & (weights > 0)
    labels, system_codes = factorise(systems[used])
    worker_labels, worker_codes = factorise(workers[used])
    segment_labels, segment_codes = factorise(segments[used])
    unit_labels, unit_codes = (
        (segment_labels, segment_codes) if documents is None else factorise(units[used])
    )
    by_worker = moments(z[used], worker_codes, len(worker_labels))
    spread = np.maximum(np.nan_to_num(by_worker.sd), LEAST_SPREAD)
    return labels, _Rows(
        (z[used] - by_worker.mean[worker_codes]) / spread[worker_codes],
        weights[used],
        worker_codes,
        system_codes,
        segment_codes,
        unit_codes,
        len(worker_labels),
        len(segment_labels),
        len(unit_labels),
    )


class _Model:
    """Scores of systems as the solution of Henderson's equations, with segments eliminated."""

    def __init__(self, rows: _Rows, n_systems: int) -> None:
        self.rows, self.n_systems = rows, n_systems
        self.ratio = _noise_ratio(rows, n_systems)
        weights = rows.weights
        self._in_segments = scipy.sparse.coo_array(
            (weights, (rows.segments, rows.systems)), shape=(rows.n_segments, n_systems)
        ).toarray()
        # How far a segment's mean is believed: its share of the system's equation.
        self._share = self._in_segments / (self._in_segments.sum(axis=1) + self.ratio)[:, None]
        by_system = np.diag(self._in_segments.sum(axis=0))
        self._inverse = np.linalg.inv(by_system - self._in_segments.T @ self._share)
        weighted = weights * rows.y
        right = sums(weighted, rows.systems, n_systems)
        right -= self._share.T @ sums(weighted, rows.segments, rows.n_segments)
        self.scores: Floats = self._inverse @ right

    def covariances(self) -> tuple[Floats, Floats, float]:
        """Return the covariance over segments or documents, what workers add to it, and how many workers it rests on."""
        rows = self.rows
        residuals = rows.y - self.scores[rows.systems]
        on_mean = self._on_mean()
        n_workers = equally_busy(sums(rows.weights, rows.workers, rows.n_workers))
        by_unit = np.zeros((rows.n_units, self.n_systems))
        by_worker = np.zeros((rows.n_workers, self.n_systems))
        by_both = np.zeros((self.n_systems, self.n_systems))
        # The cells of workers and units, a block at a time, as there is one for almost every rating.
        cells, codes = factorise(rows.workers * rows.n_units + rows.units)
        order = np.argsort(codes, kind="stable")
        bounds = np.searchsorted(codes[order], np.arange(len(cells) + 1))
        for block in blocks(len(cells)):
            first, last = block.start, min(block.stop, len(cells))
            chosen = order[bounds[first] : bounds[last]]
            influence = self._influence(chosen, residuals, on_mean)
            size = last - first
            totals = _totals(codes[chosen] - first, size, influence)
            workers, units = np.divmod(cells[first:last], rows.n_units)
            by_both += totals.T @ totals
            by_unit += _totals(units, rows.n_units, totals)
            by_worker += _totals(workers, rows.n_workers, totals)
        of_units = finite_sample(rows.n_units) * by_unit.T @ by_unit
        of_workers = finite_sample(n_workers) * by_worker.T @ by_worker
        return of_units, of_workers - by_both, n_workers

    def _influence(self, chosen: Ints, residuals: Floats, on_mean: Floats) -> Floats:
        """Return what each of the chosen ratings adds to each system's score."""
        rows, weighted = self.rows, self.rows.weights[chosen] * residuals[chosen]
        parts = -self._share[rows.segments[chosen]] * weighted[:, None]
        parts[np.arange(len(chosen)), rows.systems[chosen]] += weighted
        own: Floats = parts @ self._inverse
        return own - on_mean[rows.workers[chosen]] * residuals[chosen, None]

    def _on_mean(self) -> Floats:
        """Return how much each worker's mean, which ratings are relative to, weighs in each score."""
        rows = self.rows
        shape = (rows.n_workers, rows.n_segments)
        in_cells = scipy.sparse.coo_array(
            (rows.weights, (rows.workers, rows.segments)), shape=shape
        )
        shape = (rows.n_workers, self.n_systems)
        in_systems = scipy.sparse.coo_array(
            (rows.weights, (rows.workers, rows.systems)), shape=shape
        )
        totals = (in_systems.toarray() - in_cells.tocsr() @ self._share) @ self._inverse
        return np.asarray(totals / counts(rows.workers, rows.n_workers)[:, None])


def _totals(codes: Ints, n_groups: int, values: Floats) -> Floats:
    """Add up the rows of each group."""
    rows = np.arange(len(codes))
    groups = scipy.sparse.coo_array(
        (np.ones(len(codes)), (codes, rows)), shape=(n_groups, len(codes))
    )
    return np.asarray(groups.tocsr() @ values)


def _noise_ratio(rows: _Rows, n_systems: int) -> float:
    """Estimate the variance of a rating over that between segments, by moments.

    Two ratings of a segment have in common how easy it is, so the mean product of their residuals is the
    variance between segments.
    """
    n = counts(rows.systems, n_systems)
    residuals = rows.y - (sums(rows.y, rows.systems, n_systems) / n)[rows.systems]
    totals = sums(residuals, rows.segments, rows.n_segments)
    squares = sums(residuals**2, rows.segments, rows.n_segments)
    in_segment = counts(rows.segments, rows.n_segments)
    n_pairs = float(in_segment @ (in_segment - 1))
    shared = float((totals**2 - squares).sum()) / n_pairs if n_pairs else 0.0
    rest = float(squares.sum()) / max(len(residuals), 1) - shared
    return min(rest / shared, NO_SEGMENT_EFFECT) if shared > 0 and rest > 0 else NO_SEGMENT_EFFECT
