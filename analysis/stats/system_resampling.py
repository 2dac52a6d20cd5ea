"""Measures at system level, and how they vary with the segments.

A system's score is the mean over its segments, so other segments would give other system scores, for metrics and for
gold. The systems stay the same: what is tested is whether one metric agrees better with gold about these systems.
"""

import numpy as np
from numpy.typing import ArrayLike

from ._pearson import unit_rows
from ._validation import Floats, as_scores, directions, with_gold
from .by_segment import (
    UnitEstimates,
    correlations_by_segment,
    covariance_of,
    jackknife_covariance,
    scaled,
)
from .meta_evaluation import checked_cube
from .resampling import DEFAULT_RESAMPLES, bootstrap_counts

# Measures that only depend on the order of systems.
MEASURES = ("spearman", "kendall_b", "accuracy")


def resampled_systems(
    metrics: ArrayLike,
    gold: ArrayLike,
    *,
    rng: np.random.Generator,
    n_resamples: int = DEFAULT_RESAMPLES,
    higher_is_better: bool | ArrayLike = True,
) -> dict[str, Floats]:
    """Return every measure of the order of systems in each bootstrap resample of the segments.

    Parameters
    ----------
    metrics : array_like, shape (n_metrics, n_systems, n_segments)
        Segment scores.
    gold : array_like, shape (n_systems, n_segments)
        Gold scores. A translation with NaN counts in no mean, of metrics neither.
    rng : numpy.random.Generator
    n_resamples : int
    higher_is_better : bool or array_like of bool, shape (n_metrics,)

    Returns
    -------
    dict of ndarray, shape (n_resamples, n_metrics)
        For each of `MEASURES`. NaN in a resample in which a measure does not exist.

    References
    ----------
    .. [1] Deutsch, Dror and Roth. A Statistical Analysis of Summarization Evaluation Metrics Using
       Resampling Methods. TACL 9, 2021. (BOOT-INPUTS)
    """
    scores, truth = checked_cube(metrics, gold, "metrics")
    signs = directions(higher_is_better, len(scores))
    n_systems, n_segments = truth.shape
    has_gold = ~np.isnan(truth)
    rows = np.where(has_gold, np.concatenate([scores * signs[:, None, None], truth[None]]), 0)
    columns = np.ascontiguousarray(rows.reshape(-1, n_segments).T)
    blocks: dict[str, list[Floats]] = {measure: [] for measure in MEASURES}
    width = rows.shape[0] * n_systems * (n_systems - 1) // 2
    for counts in bootstrap_counts(n_segments, n_resamples, rng, width=width):
        n_drawn = counts @ has_gold.T.astype(np.float64)
        totals = (counts @ columns).reshape(len(counts), -1, n_systems)
        with np.errstate(invalid="ignore", divide="ignore"):
            means = totals / n_drawn[:, None, :]
        for measure, values in _measures(means[:, :-1], means[:, -1:]).items():
            blocks[measure].append(values)
    return {measure: np.concatenate(values) for measure, values in blocks.items()}


def system_estimates(
    resampled: ArrayLike,
    measure: str,
    estimates: ArrayLike,
    *,
    n: int,
    n_segments: int,
    higher_is_better: tuple[bool, ...],
) -> UnitEstimates:
    """Return a measure with the covariance of its resampled values.

    Parameters
    ----------
    resampled : array_like, shape (n_resamples, n_metrics)
        The measure from `resampled_systems`; NaN for a metric without segment scores.
    measure : str
    estimates : array_like, shape (n_metrics,)
        Over all segments; NaN for a metric without an estimate.
    n, n_segments : int
        Number of systems (or of pairs of systems), and of segments.
    higher_is_better : tuple of bool

    Returns
    -------
    UnitEstimates
    """
    values = as_scores(estimates, "estimates")
    again = as_scores(resampled, "resampled", ndim=2)
    # A resample without a value (only equal scores drawn) counts as the mean of the others.
    is_known = ~np.isnan(again)
    mean = np.where(is_known, again, 0).sum(axis=0) / np.maximum(is_known.sum(axis=0), 1)
    deviations = np.where(is_known, again - mean, 0)
    return UnitEstimates(
        measure=measure,
        estimates=values,
        covariance=deviations.T @ deviations / max(len(again) - 1, 1),
        # These take few values, often exactly 1, which has no Fisher's z.
        scale="plain",
        n=n,
        n_units=n_segments,
        limits=(0.0, 1.0) if measure in ("accuracy", "spa") else (-1.0, 1.0),
        higher_is_better=higher_is_better,
        how=f"bootstrap-of-segments,{len(again)}",
    )


def system_correlations(
    metrics: ArrayLike,
    gold: ArrayLike,
    estimates: ArrayLike,
    *,
    higher_is_better: bool | ArrayLike = True,
) -> UnitEstimates:
    """Return Pearson's r at system level with the jackknife over segments, for intervals.

    Parameters
    ----------
    metrics, gold, higher_is_better
        As in `resampled_systems`.
    estimates : array_like, shape (n_metrics,)
        Over all segments; NaN for a metric without an estimate.

    Returns
    -------
    UnitEstimates
        r of a few systems is often near 1, where a bootstrap, which adds the noise of segments a second time,
        gives intervals that are too narrow.
    """
    scores, truth = checked_cube(metrics, gold, "metrics")
    signs = directions(higher_is_better, len(scores))
    has_gold = ~np.isnan(truth)
    n_left = has_gold.sum(axis=1, keepdims=True) - has_gold
    truth = np.where(has_gold, truth, 0)
    gold_means = (truth.sum(axis=1, keepdims=True) - truth) / np.maximum(n_left, 1)
    unit_gold = unit_rows(gold_means.T)
    without = np.empty((len(scores), truth.shape[1]))
    for i, (metric, sign) in enumerate(zip(scores, signs, strict=True)):
        rows = np.where(has_gold, metric * sign, 0)
        means = (rows.sum(axis=1, keepdims=True) - rows) / np.maximum(n_left, 1)
        without[i] = (unit_rows(means.T) * unit_gold).sum(axis=1)
    values = as_scores(estimates, "estimates")
    without = np.where(np.isnan(without), values[:, None], without)
    return UnitEstimates(
        measure="pearson",
        estimates=values,
        covariance=jackknife_covariance(scaled(without, "fisher")),
        scale="fisher",
        n=len(truth),
        n_units=truth.shape[1],
        limits=(-1.0, 1.0),
        higher_is_better=tuple(bool(sign > 0) for sign in signs),
        how="jackknife-by-segment",
    )


def measures_by_system(
    metrics: ArrayLike,
    gold: ArrayLike,
    measure: str,
    *,
    higher_is_better: bool | ArrayLike = True,
) -> UnitEstimates:
    """Return a measure of system scores with systems as the unit, for scores without segments.

    Parameters
    ----------
    metrics : array_like, shape (n_metrics, n_systems)
    gold : array_like, shape (n_systems,)
    measure : {"pearson", "spearman", "kendall_b", "accuracy"}
    higher_is_better : bool or array_like of bool, shape (n_metrics,)

    Returns
    -------
    UnitEstimates
        As `correlations_by_segment`, as if the systems were drawn from many.
    """
    scores, truth = with_gold(metrics, gold, "metrics", at_least=2, ndim=2)
    if measure != "accuracy":
        return correlations_by_segment(
            scores,
            truth,
            np.arange(len(truth)),
            method=measure,  # type: ignore[arg-type]
            higher_is_better=higher_is_better,
            unit="system",
        )
    signs = directions(higher_is_better, len(scores))
    agree = np.sign(scores[:, :, None] - scores[:, None, :]) * signs[:, None, None]
    agree = (agree == np.sign(truth[:, None] - truth)) & ~np.eye(len(truth), dtype=bool)
    shares = agree.sum(axis=2) / (len(truth) - 1)
    estimates = shares.mean(axis=1)
    return UnitEstimates(
        measure=measure,
        estimates=estimates,
        # Each system is in all pairs with the others, so it moves the share of agreeing pairs twice.
        covariance=covariance_of(2 * (shares - estimates[:, None]) / len(truth)),
        scale="plain",
        n=len(truth),
        n_units=len(truth),
        limits=(0.0, 1.0),
        higher_is_better=tuple(bool(sign > 0) for sign in signs),
        how="by-system",
    )


def _measures(metrics: Floats, gold: Floats) -> dict[str, Floats]:
    """Return all measures of system means (resamples, metrics, systems) and gold (resamples, 1, systems)."""
    n_systems = gold.shape[2]
    first, second = np.triu_indices(n_systems, 1)
    # Signs of differences give the order of all systems, with ties: from them come ranks and accuracies.
    signs, gold_signs = (
        np.sign(means[:, :, first] - means[:, :, second]).astype(np.float32)
        for means in (metrics, gold)
    )
    agreeing = (signs * gold_signs).sum(axis=2)
    untied = (signs**2).sum(axis=2) * (gold_signs**2).sum(axis=2)
    to_ranks = np.zeros((len(first), n_systems), dtype=np.float32)
    to_ranks[np.arange(len(first)), first], to_ranks[np.arange(len(first)), second] = 0.5, -0.5
    with np.errstate(invalid="ignore", divide="ignore"):
        kendall = np.where(untied > 0, agreeing / np.sqrt(untied), np.nan)
    return {
        "spearman": _pearson(
            (signs @ to_ranks).astype(np.float64), (gold_signs @ to_ranks).astype(np.float64)
        ),
        "kendall_b": kendall.astype(np.float64),
        "accuracy": (signs == gold_signs).mean(axis=2),
    }


def _pearson(metrics: Floats, gold: Floats) -> Floats:
    product: Floats = (unit_rows(metrics) * unit_rows(gold)).sum(axis=2)
    return np.clip(product, -1, 1)
