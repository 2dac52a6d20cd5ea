"""Measures at system level, and how they vary with the segments.

A system's score is the mean over its segments, so other segments would give other system scores, for metrics and for
gold. The systems stay the same: what is tested is whether one metric agrees better with gold about these systems.
"""

import numpy as np
from numpy.typing import ArrayLike

from ._pearson import unit_rows
from ._validation import Floats, as_scores, directions, with_gold
from .by_segment import (
    Scale,
    UnitEstimates,
    correlations_by_segment,
    covariance_of,
    largest_of_order,
    scaled,
)
from .meta_evaluation import checked_cube
from .recentring import recentred
from .resampling import DEFAULT_RESAMPLES, bootstrap_counts

MEASURES = ("pearson", "spearman", "kendall_b", "accuracy")
# Numbers computed at a time: a few megabytes, which fit in the caches.
NUMBERS_AT_ONCE = 1_000_000


def resampled_systems(
    metrics: ArrayLike,
    gold: ArrayLike,
    *,
    rng: np.random.Generator,
    n_resamples: int = DEFAULT_RESAMPLES,
    higher_is_better: bool | ArrayLike = True,
) -> dict[str, Floats]:
    """Return every measure in bootstrap resamples of the segments, about recentred systems.

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
        For each of `MEASURES`. About the agreement of the recentred systems (see `recentring`): only the
        spread is of use. NaN in a resample in which a measure does not exist.

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
    observed = _centred(rows.sum(axis=2) / has_gold.sum(axis=1))
    columns = np.ascontiguousarray(rows.reshape(-1, n_segments).T)
    noise = []
    for counts in bootstrap_counts(n_segments, n_resamples, rng):
        n_drawn = counts @ has_gold.T.astype(np.float64)
        totals = (counts @ columns).reshape(len(counts), -1, n_systems)
        with np.errstate(invalid="ignore", divide="ignore"):
            noise.append(_centred(totals / n_drawn[:, None, :]) - observed)
    return _measures_about(observed, np.concatenate(noise))


def _centred(means: Floats) -> Floats:
    """Subtract the mean over systems, which no measure depends on."""
    return np.asarray(means - means.mean(axis=-1, keepdims=True))


def _measures_about(observed: Floats, noise: Floats) -> dict[str, Floats]:
    """Return all measures of recentred systems (metrics, systems), gold last, with noise (resamples, ...)."""
    # A system without gold in a resample makes it unknown.
    is_known = np.asarray(~np.isnan(noise).any(axis=(1, 2)))
    drawn = noise[is_known]
    products = np.einsum("bjk,blk->jl", drawn, drawn[:, -1:]) / max(drawn[:, 0].size, 1)
    squares = np.einsum("bjk,bjk->j", drawn, drawn) / max(drawn[:, 0].size, 1)
    centres = [
        recentred(
            metric,
            observed[-1],
            np.array([[squares[i], products[i, 0]], [products[i, 0], squares[-1]]]),
        )
        for i, metric in enumerate(observed[:-1])
    ]
    centre, gold_centre = np.array(centres).transpose(1, 0, 2)
    size = max(1, NUMBERS_AT_ONCE // (observed.size * observed.shape[1]))
    blocks: dict[str, list[Floats]] = {measure: [] for measure in MEASURES}
    for start in range(0, len(noise), size):
        block = noise[start : start + size]
        for measure, values in _measures(
            block[:, :-1] + centre, block[:, -1:] + gold_centre
        ).items():
            blocks[measure].append(np.where(is_known[start : start + size, None], values, np.nan))
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
    # Of the others, some take few values, often exactly 1, which has no Fisher's z.
    scale: Scale = "fisher" if measure == "pearson" else "plain"
    again = scaled(as_scores(resampled, "resampled", ndim=2), scale)
    # A resample without a value (only equal scores drawn) counts as the mean of the others.
    is_known = ~np.isnan(again)
    mean = np.where(is_known, again, 0).sum(axis=0) / np.maximum(is_known.sum(axis=0), 1)
    deviations = np.where(is_known, again - mean, 0)
    return UnitEstimates(
        measure=measure,
        estimates=values,
        covariance=deviations.T @ deviations / max(len(again) - 1, 1),
        scale=scale,
        n=n,
        n_units=n_segments,
        limits=(0.0, 1.0) if measure in ("accuracy", "spa") else (-1.0, 1.0),
        higher_is_better=higher_is_better,
        how=f"recentred-bootstrap-of-segments,{len(again)}",
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
    largest = largest_of_order("accuracy", len(truth))
    # On the scale of shares a small change is divided by this.
    slope = np.maximum(1 - (2 * estimates - 1) ** 2, 1 - largest**2) / 2
    # Each system is in all pairs with the others, so it moves the share of agreeing pairs twice.
    influences = 2 * (shares - estimates[:, None]) / len(truth)
    return UnitEstimates(
        measure=measure,
        estimates=estimates,
        covariance=covariance_of(influences / slope[:, None]),
        scale="share",
        n=len(truth),
        n_units=len(truth),
        limits=(0.0, 1.0),
        higher_is_better=tuple(bool(sign > 0) for sign in signs),
        how="by-system",
        largest=largest,
    )


def _measures(metrics: Floats, gold: Floats) -> dict[str, Floats]:
    """Return all measures of system means, both with a gold for each metric (resamples, metrics, systems)."""
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
        "pearson": _pearson(metrics, gold),
        "spearman": _pearson(
            (signs @ to_ranks).astype(np.float64), (gold_signs @ to_ranks).astype(np.float64)
        ),
        "kendall_b": kendall.astype(np.float64),
        "accuracy": np.asarray((signs == gold_signs).mean(axis=2)),
    }


def _pearson(metrics: Floats, gold: Floats) -> Floats:
    product: Floats = (unit_rows(metrics) * unit_rows(gold)).sum(axis=2)
    return np.clip(product, -1, 1)
