"""Evaluate metrics against gold at segment level."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np

from da_platform.numbers import known, known_matrix

from ..stats._pearson import unit_rows
from ..stats._validation import Bools
from ..stats.by_segment import Method, UnitEstimates, correlations_by_segment, means_by_segment
from ..stats.correlation import (
    End,
    correlate,
    correlate_extremes,
    extremes,
    fisher_interval,
    pearson_of_each,
)
from ..stats.meta_evaluation import TieAccuracy, tie_accuracies
from ..stats.segment_resampling import (
    ResampledEstimates,
    resampled_correlations,
    resampled_means,
)
from ..stats.significance import ComparisonMatrix, winners
from ..stats.williams import WilliamsMatrix, williams_matrix
from .aligned_rows import Floats, Grouping, Rows
from .results import (
    Breakdown,
    Comparison,
    Estimate,
    Level,
    Measure,
    Options,
    SegmentResult,
    Value,
    numbers,
)

SegmentTests: TypeAlias = UnitEstimates | ResampledEstimates | WilliamsMatrix

# Translations a group needs for a correlation.
MIN_GROUP = 10

METHODS: dict[Measure, Method] = {
    "pearson": "pearson",
    "spearman": "spearman",
    "kendall": "kendall_b",
}


def by_r(r: Floats) -> list[int]:
    """Return the indices of metrics, best r first and NaN last; ties keep their order."""
    return sorted(range(len(r)), key=lambda i: -np.inf if np.isnan(r[i]) else r[i], reverse=True)


@dataclass(frozen=True, slots=True)
class SegmentMeasures:
    """Every measure of all metrics, in input order, and the tests between metrics.

    `tests` has an entry for each measure that is tested; `epsilons` are the tie thresholds of acc_eq.
    """

    estimates: dict[Measure, list[Estimate]]
    best: list[Estimate | None]
    worst: list[Estimate | None]
    epsilons: list[Value]
    tests: dict[Measure, SegmentTests]


def measure_segments(rows: Rows, options: Options) -> SegmentMeasures:
    """Measure how well every metric agrees with gold, with intervals and tests.

    Parameters
    ----------
    rows : Rows
    options : Options
        `uncertainty` decides what counts as independent.

    Returns
    -------
    SegmentMeasures
    """
    ties = _tie_accuracies(rows, options)
    measured = _published(rows, options) if options.is_published else _by_segment(rows, options)
    if ties:
        measured.estimates["acc_eq"] = [Estimate.of(tie) for tie in ties]
        if not options.is_published:
            tests = _tests_of_ties(ties, rows, options)
            measured.tests["acc_eq"] = tests
            if isinstance(tests, ResampledEstimates):
                intervals = estimates_of(tests, options.confidence)
                measured.estimates["acc_eq"] = [
                    replace(estimate, n=tie.n)
                    for estimate, tie in zip(intervals, ties, strict=True)
                ]
    epsilons = [known(tie.epsilon) for tie in ties] or [None] * len(rows.metrics)
    return replace(measured, epsilons=epsilons)


def _published(rows: Rows, options: Options) -> SegmentMeasures:
    """Fisher's intervals and the Williams test, as if all translations were independent."""
    estimates: dict[Measure, list[Estimate]] = {
        measure: [
            Estimate.of(
                correlate(
                    scores,
                    rows.truth,
                    method=method,
                    higher_is_better=flag,
                    confidence=options.confidence,
                )
            )
            for scores, flag in zip(rows.scores, rows.flags, strict=True)
        ]
        for measure, method in METHODS.items()
    }
    best, worst = (
        [
            _extreme(scores, flag, rows.truth, end, options)
            for scores, flag in zip(rows.scores, rows.flags, strict=True)
        ]
        for end in ("best", "worst")
    )
    return SegmentMeasures(estimates, best, worst, [], {"pearson": _williams(rows)})


def _extreme(
    scores: Floats, flag: bool, truth: Floats, end: str, options: Options
) -> Estimate | None:
    """Return r over the best or the worst translations; None if there are too few."""
    if len(truth) < MIN_GROUP:
        return None
    correlation = correlate_extremes(
        scores,
        truth,
        end=end,  # type: ignore[arg-type]
        higher_is_better=flag,
        confidence=options.confidence,
    )
    return Estimate.of(correlation) if correlation.n >= MIN_GROUP else None


def _by_segment(rows: Rows, options: Options) -> SegmentMeasures:
    """Intervals and tests with segments as the unit; by default, with one translation each, Fisher and Williams for r."""
    everything = np.ones(len(rows.gold), dtype=bool)
    tests: dict[Measure, SegmentTests] = {}
    estimates: dict[Measure, list[Estimate]] = {}
    for measure, method in METHODS.items():
        result = _correlations(rows, everything, method, options)
        estimates[measure] = estimates_of(result, options.confidence)
        tests[measure] = result
    if options.uncertainty == "segments" and not rows.shares_segments:
        estimates["pearson"] = [
            Estimate(row.estimate, *_fisher(row, options), n=row.n) for row in estimates["pearson"]
        ]
        tests["pearson"] = _williams(rows)
    best, worst = (_extremes(rows, end, options) for end in ("best", "worst"))
    return SegmentMeasures(estimates, best, worst, [], tests)


def _correlations(
    rows: Rows, chosen: Bools, method: Method, options: Options
) -> UnitEstimates | ResampledEstimates:
    """Correlate the chosen translations."""
    metrics, gold = rows.scores[:, chosen], rows.truth[chosen]
    segments, flags = rows.alignment.segments[chosen], list(rows.flags)
    if options.is_resampling:
        return resampled_correlations(
            metrics, gold, segments, method=method, higher_is_better=flags, **_resampling(options)
        )
    return correlations_by_segment(metrics, gold, segments, method=method, higher_is_better=flags)


def _resampling(options: Options) -> dict[str, Any]:
    """Return a generator for each measure, so that its numbers do not depend on the other measures."""
    return {"rng": np.random.default_rng(options.seed), "n_resamples": options.n_resamples}


def _tests_of_ties(
    ties: Sequence[TieAccuracy], rows: Rows, options: Options
) -> UnitEstimates | ResampledEstimates:
    facts: dict[str, Any] = {
        "measure": "acc_eq",
        "n": len(rows.gold),
        "higher_is_better": rows.flags,
    }
    by_segment = np.stack([tie.by_segment for tie in ties])
    if options.is_resampling:
        return resampled_means(by_segment, **facts, **_resampling(options))
    return means_by_segment(by_segment, **facts)


def _fisher(row: Estimate, options: Options) -> tuple[Value, Value]:
    r = np.nan if row.estimate is None else row.estimate
    low, high = fisher_interval(r, row.n, confidence=options.confidence)
    return known(low), known(high)


def estimates_of(result: UnitEstimates | ResampledEstimates, confidence: float) -> list[Estimate]:
    """Return the estimate and interval of every metric."""
    low, high = result.intervals(confidence)
    return [
        Estimate(known(value), known(least), known(most), result.n)
        for value, least, most in zip(result.estimates, low, high, strict=True)
    ]


def _extremes(rows: Rows, end: End, options: Options) -> list[Estimate | None]:
    """Return r over the best or the worst translations; None if there are too few."""
    chosen = extremes(rows.truth, end) if len(rows.truth) >= MIN_GROUP else np.zeros(0, dtype=bool)
    if chosen.sum() < MIN_GROUP:
        return [None] * len(rows.metrics)
    return list(estimates_of(_correlations(rows, chosen, "pearson", options), options.confidence))


def _williams(rows: Rows) -> WilliamsMatrix:
    return williams_matrix(rows.scores, rows.truth, higher_is_better=list(rows.flags))


def _tie_accuracies(rows: Rows, options: Options) -> list[TieAccuracy]:
    """Return acc_eq of every metric; empty if no segment has two translations with gold."""
    if not rows.shares_segments:
        return []
    metrics, gold = rows.cube()
    return list(
        tie_accuracies(
            metrics,
            gold,
            higher_is_better=list(rows.flags),
            confidence=options.confidence,
            cross_validate=options.tie_threshold == "cross-validated",
        )
    )


def segment_results(rows: Rows, measured: SegmentMeasures) -> tuple[SegmentResult, ...]:
    """Return the result of every metric, in input order; see `with_winners` for the winners."""
    acc_eq = measured.estimates.get("acc_eq")
    return tuple(
        SegmentResult(
            metric=metric,
            higher_is_better=rows.flags[i],
            pearson=measured.estimates["pearson"][i],
            spearman=measured.estimates["spearman"][i],
            kendall=measured.estimates["kendall"][i],
            acc_eq=None if acc_eq is None else acc_eq[i],
            epsilon=measured.epsilons[i],
            best=measured.best[i],
            worst=measured.worst[i],
            is_winner=False,
        )
        for i, metric in enumerate(rows.metrics)
    )


def segment_tests(
    rows: Rows, measured: SegmentMeasures, options: Options
) -> tuple[Comparison, ...]:
    """Return the tests between metrics for every measure; none for a single metric."""
    if len(rows.metrics) < 2:
        return ()
    return tuple(
        comparison_of(
            rows.metrics,
            tests,
            level="segment",
            measure=measure,
            unit=options.level if rows.shares_segments else "translation",
            options=options,
        )
        for measure, tests in measured.tests.items()
    )


def alternative_tests(
    rows: Rows, tests: Sequence[Comparison], options: Options
) -> tuple[Comparison, ...]:
    """Return the test of r to show next to the one that decides: t next to Williams', otherwise Williams'."""
    if not tests or options.is_published:
        return ()
    matrix: SegmentTests = _williams(rows)
    if tests[0].test == "williams":
        everything = np.ones(len(rows.gold), dtype=bool)
        matrix = _correlations(rows, everything, "pearson", options)
    unit = options.level if rows.shares_segments else "translation"
    facts: dict[str, Any] = {"level": "segment", "measure": "pearson", "unit": unit}
    return (comparison_of(rows.metrics, matrix, options=options, **facts),)


_TESTS: dict[type, Literal["williams", "t", "permutation"]] = {
    WilliamsMatrix: "williams",
    UnitEstimates: "t",
    ResampledEstimates: "permutation",
    ComparisonMatrix: "permutation",
}


def comparison_of(
    metrics: Sequence[str],
    tests: SegmentTests | ComparisonMatrix,
    *,
    level: Level,
    measure: Measure,
    unit: Literal["translation", "segment", "document", "system"],
    options: Options,
    n_units: int = 0,
    n_by_system: int = 0,
) -> Comparison:
    """Return the tests of one measure, best metric first, with the winners."""
    matrix: ComparisonMatrix | WilliamsMatrix
    is_williams = isinstance(tests, WilliamsMatrix)
    if isinstance(tests, UnitEstimates | ResampledEstimates):
        matrix, n_units = tests.compare(), n_units or tests.n_units
    else:
        matrix, n_units = tests, n_units or tests.n
    order = by_r(matrix.estimates)
    is_winner = winners(
        matrix.pvalue, matrix.estimates, alpha=options.alpha, correction=options.used_correction
    )
    if is_williams:
        unit = "translation" if level == "segment" else "system"
    return Comparison(
        metrics=tuple(metrics[i] for i in order),
        estimates=tuple(known(matrix.estimates[i]) for i in order),
        pvalue=known_matrix(matrix.pvalue[np.ix_(order, order)]),
        between=(),
        n=matrix.n,
        signature=matrix.signature,
        level=level,
        measure=measure,
        test=_TESTS[type(tests)],
        unit=unit,
        n_units=n_units,
        n_by_system=n_by_system,
        correction=options.used_correction,
        winners=tuple(metrics[i] for i in order if is_winner[i]),
    )


def with_between(rows: Rows, comparison: Comparison) -> Comparison:
    """Add the correlations between metrics."""
    order = [rows.metrics.index(name) for name in comparison.metrics]
    signs = np.where(rows.flags, 1.0, -1.0)
    unit = (unit_rows(rows.scores) * signs[:, None])[order]
    return replace(comparison, between=known_matrix(np.clip(unit @ unit.T, -1, 1)))


def with_winners(
    results: tuple[SegmentResult, ...], comparison: Comparison | None
) -> tuple[SegmentResult, ...]:
    """Mark the metrics that no other significantly outperforms in r."""
    return tuple(
        replace(
            result,
            is_winner=result.pearson.estimate is not None
            if comparison is None
            else result.metric in comparison.winners,
        )
        for result in results
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
