"""Evaluate metrics against gold at segment level."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from da_platform.numbers import known, known_matrix

from ..stats.correlation import correlate, correlate_extremes, pearson_of_each
from ..stats.meta_evaluation import TieAccuracy, tie_accuracies
from ..stats.williams import WilliamsMatrix, williams_matrix
from .aligned_rows import Floats, Grouping, Rows
from .results import (
    Breakdown,
    Comparison,
    Estimate,
    Options,
    SegmentResult,
    numbers,
)

# Translations a group needs for a correlation.
MIN_GROUP = 10


def by_r(r: Floats) -> list[int]:
    """Return the indices of metrics, best r first and NaN last; ties keep their order."""
    return sorted(range(len(r)), key=lambda i: -np.inf if np.isnan(r[i]) else r[i], reverse=True)


def segment_results(
    rows: Rows, options: Options, step: Callable[[str], None] = lambda name: None
) -> tuple[SegmentResult, ...]:
    """Evaluate every metric against gold, in input order.

    Parameters
    ----------
    rows : Rows
    options : Options
    step : callable
        Called with the name of each metric that is done.

    Returns
    -------
    tuple of SegmentResult
        Winners are not marked yet; see `with_winners`.
    """
    ties = _tie_accuracies(rows, options)
    results = []
    for metric, scores, flag, tie in zip(rows.metrics, rows.scores, rows.flags, ties, strict=True):
        results.append(_segment_result(metric, scores, flag, tie, rows.truth, options))
        step(metric)
    return tuple(results)


def _segment_result(
    metric: str,
    scores: Floats,
    flag: bool,
    tie: TieAccuracy | None,
    truth: Floats,
    options: Options,
) -> SegmentResult:
    settings: dict[str, Any] = {"higher_is_better": flag, "confidence": options.confidence}
    pearson, spearman, kendall = (
        Estimate.of(correlate(scores, truth, method=method, **settings))
        for method in ("pearson", "spearman", "kendall_b")
    )
    best, worst = (_extreme(scores, truth, end, settings) for end in ("best", "worst"))
    return SegmentResult(
        metric=metric,
        higher_is_better=flag,
        pearson=pearson,
        spearman=spearman,
        kendall=kendall,
        acc_eq=None if tie is None else Estimate.of(tie),
        epsilon=None if tie is None else known(tie.epsilon),
        best=best,
        worst=worst,
        is_winner=False,
    )


def _extreme(
    scores: Floats, truth: Floats, end: Literal["best", "worst"], settings: dict[str, Any]
) -> Estimate | None:
    """Return r over the best or the worst translations; None if there are too few."""
    if len(truth) < MIN_GROUP:
        return None
    estimate = Estimate.of(correlate_extremes(scores, truth, end=end, **settings))
    return estimate if estimate.n >= MIN_GROUP else None


def _tie_accuracies(rows: Rows, options: Options) -> list[TieAccuracy | None]:
    """Return acc_eq of every metric; None if no segment has two translations with gold."""
    if rows.n_segments == len(rows.gold):
        return [None] * len(rows.metrics)
    metrics, gold = rows.cube()
    return list(
        tie_accuracies(
            metrics, gold, higher_is_better=list(rows.flags), confidence=options.confidence
        )
    )


def compare_metrics(rows: Rows) -> WilliamsMatrix | None:
    """Run the Williams test for all pairs of metrics; None for a single metric."""
    if len(rows.metrics) < 2:
        return None
    return williams_matrix(rows.scores, rows.truth, higher_is_better=list(rows.flags))


def comparison_of(rows: Rows, tests: WilliamsMatrix, order: list[int]) -> Comparison:
    """Return the tests, and the correlations between metrics, in this order."""
    return Comparison(
        metrics=tuple(rows.metrics[i] for i in order),
        r=tuple(known(tests.estimates[i]) for i in order),
        pvalue=known_matrix(tests.pvalue[np.ix_(order, order)]),
        between=known_matrix(tests.between[np.ix_(order, order)]),
        n=tests.n,
        signature=tests.signature,
    )


def with_winners(
    results: tuple[SegmentResult, ...], tests: WilliamsMatrix | None, options: Options
) -> tuple[SegmentResult, ...]:
    """Mark the metrics that no other significantly outperforms."""
    if tests is None:
        flags = [result.pearson.estimate is not None for result in results]
    else:
        flags = tests.winners(options.alpha).tolist()
    return tuple(
        replace(result, is_winner=flag) for result, flag in zip(results, flags, strict=True)
    )


def break_down(rows: Rows, grouping: Grouping, order: list[int]) -> Breakdown:
    """Correlate every metric with gold within groups.

    Parameters
    ----------
    rows : Rows
    grouping : Grouping
        Groups of fewer than `MIN_GROUP` translations are listed without a correlation.
    order : list of int
        Indices of the metrics, in the order of the result.

    Returns
    -------
    Breakdown
    """
    counts = np.bincount(grouping.places, minlength=len(grouping.groups))
    scores, flags = rows.scores[order], np.array(rows.flags)[order]
    r = np.full((len(order), len(grouping.groups)), np.nan)
    for group in np.flatnonzero(counts >= MIN_GROUP):
        members = grouping.places == group
        r[:, group] = pearson_of_each(
            scores[:, members], rows.truth[members], higher_is_better=flags
        )
    return Breakdown(
        by=grouping.by,
        groups=grouping.groups,
        n=tuple(counts.tolist()),
        metrics=tuple(rows.metrics[i] for i in order),
        r=known_matrix(r),
        mean=tuple(_mean(row) for row in known_matrix(r)),
    )


def _mean(row: tuple[float | None, ...]) -> float | None:
    values = numbers(row)
    values = values[~np.isnan(values)]
    return known(values.mean()) if len(values) else None
