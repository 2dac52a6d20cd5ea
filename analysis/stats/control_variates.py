"""System scores for all segments where only some were rated, with the help of a metric that is known for all."""

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike

from ._groups import ROUNDING, counts, divide, factorise, sums
from ._validation import (
    Floats,
    Ints,
    Keys,
    as_flags,
    as_keys,
    as_numbers,
    check_at_least,
    check_same_length,
)
from .segments import Method
from .signature import signature
from .system_covariance import (
    RatingRows,
    SystemCovariance,
    Unit,
    influence_of,
    rating_rows,
    rating_shares,
)

# Parts of the segments. How far the metric is believed in one part is learnt from the others.
N_FOLDS = 5


@dataclass(frozen=True, slots=True)
class Outputs:
    """All outputs of the systems, rated or not, one row each; a text shared by systems has a row for each.

    `is_rated` says which of them have a score, `metric` what the metric says of each, and `chances` how likely each was to be
    among those to rate. Without `chances` all are equally likely.
    """

    translations: ArrayLike
    systems: ArrayLike
    segments: ArrayLike
    is_rated: ArrayLike
    metric: ArrayLike | None = None
    chances: ArrayLike | None = None


@dataclass(frozen=True, slots=True)
class ScoresForAll:
    """System scores that hold for all segments, next to the plain means over the rated ones.

    Attributes
    ----------
    covariance, plain : SystemCovariance
        Scores with the metric's help and without it. Both count each output by its chance.
    slope : float
        What a unit of the metric is worth in z, the mean of all folds; 0 without a metric.
    r : float
        Correlation of metric and scores within systems; NaN without a metric, or if either never varies.
    gain : float
        How many times as many rated segments the plain means would need to be as sure, apart from what workers add. It
        can be below 1.
    n_rated, n_outputs : int
    """

    covariance: SystemCovariance
    plain: SystemCovariance
    slope: float
    r: float
    gain: float
    n_rated: int
    n_outputs: int


def scores_for_all_segments(
    z: ArrayLike,
    workers: ArrayLike,
    translations: ArrayLike,
    segments: ArrayLike,
    is_scored: ArrayLike,
    *,
    outputs: Outputs,
    rng: np.random.Generator,
    method: Method = "per_worker",
    n_folds: int = N_FOLDS,
    unit: Unit = "segments",
) -> ScoresForAll:
    """Estimate the mean score of each system over all segments, of which chance had some rated.

    Parameters
    ----------
    z, workers, translations, segments, is_scored : array_like, shape (n,)
        All ratings of the workers that count; see `system_covariance`.
    outputs : Outputs
    rng : numpy.random.Generator
        Divides the segments into folds.
    method : {"per_worker", "pooled"}
    n_folds : int
        At least 2.
    unit : {"segments", "documents"}
        What `segments` and `outputs.segments` are. Give documents if these were drawn.

    Returns
    -------
    ScoresForAll
        The metric is a control variate [1]_: if the rated outputs of a system happen to be better by the
        metric than all its outputs, its mean is lowered by as much as the metric predicts. The slope is
        that within systems, so it does not matter whether the metric likes the right systems, and in each
        fold it comes from the other folds. So the correction is unbiased whatever the metric is worth, if
        chance decided which outputs were rated. With unequal chances, each output counts by 1 / chance [2]_.

        Covariances are for other segments and workers, as in `system_covariance`. A system without a rated
        output has no score.

    References
    ----------
    .. [1] Chaganty, Mussmann and Liang. The price of debiasing automatic metrics in natural language
       evaluation. ACL 2018.
    .. [2] Särndal, Swensson and Wretman. Model Assisted Survey Sampling. Springer, 1992, chapter 5.
    """
    check_at_least("n_folds", n_folds, 2)
    ratings = rating_rows(z, workers, translations, segments, is_scored)
    rows = _rows(outputs)
    scores = _Scores(ratings, rows, method, unit)
    folds = rng.permutation(rows.n_segments)[rows.segments] % n_folds
    plain = scores.estimate(np.zeros(n_folds), folds, "weighted-by-chance")
    facts = {"n_rated": len(rows.rated), "n_outputs": len(rows.metric)}
    if outputs.metric is None:
        return ScoresForAll(plain, plain, 0.0, float("nan"), 1.0, **facts)
    slopes, r = scores.slopes(folds, n_folds)
    helped = scores.estimate(slopes, folds, "control-variate")
    return ScoresForAll(helped, plain, float(slopes.mean()), r, _gain(plain, helped), **facts)


def _gain(plain: SystemCovariance, helped: SystemCovariance) -> float:
    """Compare the variances over segments, of all differences of two systems or of the score of a single one.

    What workers add is left out: more segments would not lessen it, and from a few workers it is a guess.
    """
    before, after = (
        np.trace(each.by_segments) - each.by_segments.mean(axis=0).sum()
        if len(each.systems) > 1
        else each.by_segments.sum()
        for each in (plain, helped)
    )
    return float(divide(np.array([before]), np.array([after]))[0])


@dataclass(frozen=True, slots=True)
class _Rows:
    """Validated outputs, of systems with any score; everything numbered from 0. `rated` are the rows with a score."""

    translations: Keys
    labels: Keys
    systems: Ints
    segment_labels: Keys
    segments: Ints
    metric: Floats
    rated: Ints
    shares: Floats

    @property
    def n_segments(self) -> int:
        return len(self.segment_labels)


def _rows(outputs: Outputs) -> _Rows:
    translations = as_keys("outputs.translations", outputs.translations)
    systems = as_keys("outputs.systems", outputs.systems)
    segments = as_keys("outputs.segments", outputs.segments)
    is_rated = as_flags("outputs.is_rated", outputs.is_rated)
    n = len(translations)
    metric = as_numbers("outputs.metric", np.zeros(n) if outputs.metric is None else outputs.metric)
    chances = as_numbers(
        "outputs.chances", np.ones(n) if outputs.chances is None else outputs.chances
    )
    check_same_length(
        translations=translations,
        systems=systems,
        segments=segments,
        is_rated=is_rated,
        metric=metric,
        chances=chances,
    )
    if ((chances[is_rated] <= 0) | (chances[is_rated] > 1)).any():
        raise ValueError("`outputs.chances` must be above 0, and at most 1, for all rated outputs.")
    kept = np.isin(systems, systems[is_rated])
    labels, codes = factorise(systems[kept])
    segment_labels, segment_codes = factorise(segments[kept])
    rated = np.flatnonzero(is_rated[kept])
    weights = 1 / chances[kept][rated]
    shares = weights / sums(weights, codes[rated], len(labels))[codes[rated]]
    return _Rows(
        translations[kept],
        labels,
        codes,
        segment_labels,
        segment_codes,
        metric[kept],
        rated,
        shares,
    )


class _Scores:
    """Estimates scores from the same ratings and outputs for any slope of the metric."""

    def __init__(self, ratings: RatingRows, rows: _Rows, method: Method, unit: Unit) -> None:
        self._unit: Unit = unit
        self._ratings, self._rows, self._n_systems = ratings, rows, len(rows.labels)
        texts, self._texts = factorise(rows.translations[rows.rated])
        self._in_means = rating_shares(ratings, texts, method)
        self._shape = (len(texts), self._n_systems)
        self._systems = rows.systems[rows.rated]
        # How much residuals understate, as a system's own mean is taken from them.
        n = 1 / sums(rows.shares**2, self._systems, self._n_systems)
        self._finite_sample = np.sqrt(divide(n, n - (n > 1 + ROUNDING)))
        self._weights = self._in_means @ self._by_text(rows.shares)
        self._means = np.asarray(self._in_means.T @ ratings.z)[self._texts]

    def _by_text(self, values: Floats) -> "scipy.sparse.csr_array":
        """Return values of the rated outputs as a matrix of translations x systems."""
        places = (self._texts, self._systems)
        return scipy.sparse.coo_array((values, places), shape=self._shape).tocsr()

    def slopes(self, folds: Ints, n_folds: int) -> tuple[Floats, float]:
        """Return for each fold the slope within systems in the others, and the correlation in all."""
        rows, systems = self._rows, self._systems
        folds = folds[rows.rated]
        x, y = (
            values - sums(rows.shares * values, systems, self._n_systems)[systems]
            for values in (rows.metric[rows.rated], self._means)
        )
        # Shares add up to 1 in each system; a system counts by how many of its outputs are rated.
        w = rows.shares * counts(systems, self._n_systems)[systems]
        cells, shape = folds * self._n_systems + systems, (n_folds, self._n_systems)
        by_fold = np.array(
            [
                sums(values, cells, n_folds * self._n_systems).reshape(shape)
                for values in (w, w * x, w * y, w * x * x, w * x * y, w * y * y)
            ]
        )
        everything = by_fold.sum(axis=1, keepdims=True)
        xx, xy, _ = _products_within(everything - by_fold)
        slopes = np.nan_to_num(divide(xy, np.where(xx > ROUNDING, xx, 0)))
        xx, xy, yy = _products_within(everything)
        return slopes, float(divide(xy, np.sqrt(xx * yy))[0])

    def estimate(self, slopes: Floats, folds: Ints, name: str) -> SystemCovariance:
        """Return scores and their covariance, with the given slope in each fold."""
        rows, ratings = self._rows, self._ratings
        predicted, of_others = self._predictions(slopes, folds)
        offsets = self._in_means @ self._by_text(rows.shares * predicted[rows.rated])
        scores = self._weights.T @ ratings.z - offsets.sum(axis=0)
        of_z = scipy.sparse.diags_array(ratings.z) @ self._weights
        of_score = self._weights @ scipy.sparse.diags_array(scores)
        residuals = (of_z - offsets - of_score) @ scipy.sparse.diags_array(self._finite_sample)
        influence = influence_of(ratings, self._weights.tocsr(), residuals.tocsr())
        is_known, places = _look_up(rows.segment_labels, ratings.segment_labels)
        of_others[places] += influence.by_segment[is_known]
        rest = influence.by_segment[~is_known]
        return SystemCovariance(
            systems=rows.labels,
            by_segments=influence.covariance_by_segments(np.vstack([of_others, rest])),
            by_workers=influence.added_by_workers,
            n_segments=ratings.n_segments,
            n_workers=influence.n_workers,
            signature=signature(sys=name, var=(self._unit, "workers")),
            scores=scores,
            estimate=name,
            unit=self._unit,
        )

    def _predictions(self, slopes: Floats, folds: Ints) -> tuple[Floats, Floats]:
        """Return how far the metric sees each output above its system's mean, and what a segment adds to that mean.

        The mean is that of the fold, over rated outputs and others. What the metric sees in the rated outputs of a fold
        then has an expected value of 0, for any slope that comes from the others.
        """
        rows, n_cells = self._rows, len(slopes) * self._n_systems
        cells = folds * self._n_systems + rows.systems
        n = counts(cells, n_cells)
        predicted = slopes[folds] * (
            rows.metric - divide(sums(rows.metric, cells, n_cells), n)[cells]
        )
        # A fold counts by its share of the rated outputs.
        shares = sums(rows.shares, cells[rows.rated], n_cells)
        places = (rows.segments, rows.systems)
        shape = (rows.n_segments, self._n_systems)
        influence = predicted * (shares / np.maximum(n, 1))[cells]
        return predicted, scipy.sparse.coo_array((influence, places), shape=shape).toarray()


def _products_within(moments: Floats) -> Floats:
    """Return squares of x, products, and squares of y around the means of systems, a column for each fold.

    `moments` are the sums of w, wx, wy, wxx, wxy and wyy, folds x systems.
    """
    w, wx, wy, *squares = moments
    means = np.nan_to_num(
        divide(np.array([wx * wx, wx * wy, wy * wy]), np.broadcast_to(w, (3, *w.shape)))
    )
    return np.asarray((np.array(squares) - means).sum(axis=-1))


def _look_up(labels: Keys, keys: Keys) -> tuple[np.ndarray, Ints]:
    """Return which keys are among the sorted labels, and the places of those that are."""
    places = np.minimum(np.searchsorted(labels, keys), max(len(labels) - 1, 0))
    is_known = labels[places] == keys
    return is_known, places[is_known]
