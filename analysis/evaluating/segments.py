"""Metrics against gold, translation by translation."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from ..plain import known, known_matrix
from ..stats.correlation import correlate, correlate_extremes, pearson_of_each
from ..stats.meta_evaluation import TieAccuracy, tie_accuracies
from ..stats.williams import WilliamsMatrix, williams_matrix
from .results import (
    Breakdown,
    Comparison,
    Estimate,
    Options,
    SegmentResult,
    numbers,
)
from .rows import Floats, Grouping, Rows

# A correlation of a few translations says nothing; groups below this have none.
MIN_GROUP = 10


def by_r(r: Floats) -> list[int]:
    """Return the order of metrics, best first; one without r comes last, equal ones as given."""
    return sorted(range(len(r)), key=lambda i: -np.inf if np.isnan(r[i]) else r[i], reverse=True)


def segment_results(
    rows: Rows, options: Options, step: Callable[[str], None] = lambda name: None
) -> tuple[SegmentResult, ...]:
    """Measure every metric against gold, in the order given.

    Parameters
    ----------
    rows : Rows
    options : Options
    step : callable
        Hears the name of each metric that is done.

    Returns
    -------
    tuple of SegmentResult
        Winners are not marked yet; see `with_winners`.
    """
    ties = _tie_accuracies(rows, options)
    found = []
    for metric, own, flag, tie in zip(rows.metrics, rows.scores, rows.flags, ties, strict=True):
        found.append(_segment_result(metric, own, flag, tie, rows.truth, options))
        step(metric)
    return tuple(found)


def _segment_result(
    metric: str, own: Floats, flag: bool, tie: TieAccuracy | None, truth: Floats, options: Options
) -> SegmentResult:
    facts: dict[str, Any] = {"higher_is_better": flag, "confidence": options.confidence}
    pearson, spearman, kendall = (
        Estimate.of(correlate(own, truth, method=method, **facts))
        for method in ("pearson", "spearman", "kendall_b")
    )
    best, worst = (_extreme(own, truth, end, facts) for end in ("best", "worst"))
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
    own: Floats, truth: Floats, end: Literal["best", "worst"], facts: dict[str, Any]
) -> Estimate | None:
    """Return r over the best or the worst; None where they are too few, as any other group."""
    if len(truth) < MIN_GROUP:
        return None
    found = Estimate.of(correlate_extremes(own, truth, end=end, **facts))
    return found if found.n >= MIN_GROUP else None


def _tie_accuracies(rows: Rows, options: Options) -> list[TieAccuracy | None]:
    """Return acc_eq of every metric; None where no segment has two translations with gold."""
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


def comparison_of(rows: Rows, found: WilliamsMatrix, order: list[int]) -> Comparison:
    """Put the tests in order of r, with the correlations of metrics among themselves."""
    return Comparison(
        metrics=tuple(rows.metrics[i] for i in order),
        r=tuple(known(found.estimates[i]) for i in order),
        pvalue=known_matrix(found.pvalue[np.ix_(order, order)]),
        between=known_matrix(found.between[np.ix_(order, order)]),
        n=found.n,
        signature=found.signature,
    )


def with_winners(
    results: tuple[SegmentResult, ...], found: WilliamsMatrix | None, options: Options
) -> tuple[SegmentResult, ...]:
    """Mark the metrics that no other significantly outperforms."""
    if found is None:
        flags = [one.pearson.estimate is not None for one in results]
    else:
        flags = found.winners(options.alpha).tolist()
    return tuple(replace(one, is_winner=flag) for one, flag in zip(results, flags, strict=True))


def break_down(rows: Rows, grouping: Grouping, order: list[int]) -> Breakdown:
    """Correlate every metric with gold within groups, metrics in the order given.

    Parameters
    ----------
    rows : Rows
    grouping : Grouping
        Groups of fewer than `MIN_GROUP` translations are listed without a correlation.
    order : list of int
        Of the metrics.

    Returns
    -------
    Breakdown
    """
    counts = np.bincount(grouping.places, minlength=len(grouping.groups))
    scores, flags = rows.scores[order], np.array(rows.flags)[order]
    r = np.full((len(order), len(grouping.groups)), np.nan)
    for group in np.flatnonzero(counts >= MIN_GROUP):
        own = grouping.places == group
        r[:, group] = pearson_of_each(scores[:, own], rows.truth[own], higher_is_better=flags)
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
