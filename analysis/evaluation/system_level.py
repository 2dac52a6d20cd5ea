"""Evaluate metrics against gold at system level."""

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from da_platform.files.problems import Problems

from ..scores.errors import refuse_if_any
from ..scores.fixes import leave_out_metrics
from ..scores.gaps import Gaps
from ..scores.score_tables import GoldTable, Key, ScoreTable
from ..stats.by_segment import UnitEstimates
from ..stats.correlation import correlate
from ..stats.meta_evaluation import pairwise_system_accuracy
from ..stats.significance import ComparisonMatrix
from ..stats.soft_accuracy import MIN_SEGMENTS, soft_pairwise_accuracies
from ..stats.system_resampling import (
    measures_by_system,
    resampled_systems,
    system_estimates,
)
from ..stats.system_swaps import MOST_SPA_SWAPS, compare_by_swaps, swap_spreads
from ..stats.williams import MIN_SEGMENTS as MIN_FOR_WILLIAMS
from ..stats.williams import WilliamsMatrix, williams_matrix
from .aligned_rows import Floats, Rows
from .results import Comparison, Estimate, Measure, Options, SystemResult
from .segment_level import METHODS, comparison_of, estimates_of

# With fewer systems every correlation is 1 or -1.
MIN_SYSTEMS = 3
SYSTEM_MEASURES: tuple[Measure, ...] = ("pearson", "spearman", "kendall", "accuracy")
# System scores are the means of segment scores if they differ by no more than rounding: this share of their spread.
ROUNDED = 1e-3


@dataclass(frozen=True, slots=True)
class SystemRows:
    """System scores of metrics and gold. `truth` is the gold, negated if lower is better.

    `from_segments`: no system scores were given for the metric. `are_means`: its system scores are the means of its
    segment scores, up to rounding, so that its segments can be resampled.
    """

    systems: tuple[str, ...]
    truth: Floats
    metrics: tuple[str, ...]
    scores: tuple[Floats, ...]
    flags: tuple[bool, ...]
    from_segments: tuple[bool, ...]
    are_means: tuple[bool, ...]
    gold_is_mean: bool
    n_ignored: int


def system_rows(
    segment_tables: Sequence[ScoreTable],
    system_tables: Sequence[ScoreTable],
    gold: GoldTable | None,
    system_gold: GoldTable | None,
    options: Options,
) -> SystemRows:
    """Return metrics and gold at system level.

    A metric's own system scores are used if there are any (corpus BLEU is not a mean of segments),
    otherwise the mean of its segment scores. The same goes for gold.

    Parameters
    ----------
    segment_tables, system_tables : sequence of ScoreTable
    gold, system_gold : GoldTable or None
        At least one is required.
    options : Options

    Returns
    -------
    SystemRows
    """
    truth = _gold_means(gold, system_gold, options.without_systems)
    by_system = {table.name: table for table in system_tables}
    by_segment = {table.name: table for table in segment_tables}
    names = list(dict.fromkeys([*by_segment, *by_system]))
    problems = Problems()
    gold_systems = {system for table in (gold, system_gold) if table for system in table.systems}
    columns, flags, n_ignored = [], [], 0
    gaps = Gaps(_keys(sorted(gold_systems)))
    for name in names:
        table = by_system.get(name) or by_segment[name]
        if table.higher_is_better is None:
            reason = "needs a confirmed direction: is higher or lower better?"
            problems.add(name, None, reason, leave_out_metrics([name]))
        extra: list[str] = []
        if table.level == "system" or gold is None:
            # Segment scores have already been aligned with the gold.
            extra = [system for system, _ in table.keys if system not in gold_systems]
            n_ignored += len(extra)
        columns.append(_system_column(table, truth, gold, options.ignore_extra))
        gaps.add(
            name,
            missing=_keys(np.array(list(truth))[np.isnan(columns[-1])].tolist()),
            extra=[] if options.ignore_extra else _keys(extra),
        )
        flags.append(bool(table.higher_is_better))
    gaps.report(problems)
    refuse_if_any(problems)
    source = gold if system_gold is None else system_gold
    assert source is not None
    values = np.array(list(truth.values()))
    return SystemRows(
        systems=tuple(truth),
        truth=values if source.higher_is_better else -values,
        metrics=tuple(names),
        scores=tuple(columns),
        flags=tuple(flags),
        from_segments=tuple(name not in by_system for name in names),
        are_means=tuple(
            name in by_segment
            and (name not in by_system or _are_means(tuple(truth), column, by_segment[name]))
            for name, column in zip(names, columns, strict=True)
        ),
        gold_is_mean=gold is not None
        and (system_gold is None or _are_means(tuple(truth), values, gold)),
        n_ignored=n_ignored,
    )


def _keys(systems: Iterable[str]) -> list[Key]:
    """Return the keys of system scores."""
    return [(system, "") for system in dict.fromkeys(systems)]


def _gold_means(
    gold: GoldTable | None, system_gold: GoldTable | None, without: Collection[str]
) -> dict[str, float]:
    """Return the gold of each system that has any."""
    source = gold if system_gold is None else system_gold
    assert source is not None
    means = _means(source.keys, source.scores)
    return {
        name: mean for name, mean in means.items() if not np.isnan(mean) and name not in without
    }


def _means(keys: tuple[tuple[str, str], ...], scores: Floats) -> dict[str, float]:
    """Return the mean score of each system, ignoring NaN; NaN for a system without scores."""
    means = {}
    for system, rows in _rows_of_systems(keys).items():
        values = scores[rows]
        values = values[~np.isnan(values)]
        # An exact sum, so that the order of the rows cannot make a tie or break one.
        means[system] = math.fsum(values.tolist()) / len(values) if len(values) else math.nan
    return means


# Tables share one tuple of keys, so the last few are enough.
@lru_cache(maxsize=8)
def _rows_of_systems(keys: tuple[tuple[str, str], ...]) -> dict[str, NDArray[np.int64]]:
    """Return the rows of each system."""
    rows: dict[str, list[int]] = {}
    for row, (system, _) in enumerate(keys):
        rows.setdefault(system, []).append(row)
    return {system: np.array(places) for system, places in rows.items()}


def _are_means(systems: tuple[str, ...], scores: Floats, segments: ScoreTable | GoldTable) -> bool:
    """Return whether system scores are the means of segment scores, up to rounding."""
    means = _means(segments.keys, segments.scores)
    expected = np.array([means.get(system, np.nan) for system in systems])
    return bool((np.abs(scores - expected) <= ROUNDED * scores.std()).all())


def _system_column(
    table: ScoreTable,
    truth: dict[str, float],
    gold: GoldTable | None,
    ignore_extra: bool,
) -> Floats:
    """Return a metric's score for each system; NaN where there is none."""
    keys, scores = table.keys, table.scores
    if table.level == "segment" and gold is not None and ignore_extra:
        gold_keys = set(gold.keys)
        in_gold = np.array([key in gold_keys for key in keys], dtype=bool)
        keys, scores = tuple(key for key in keys if key in gold_keys), scores[in_gold]
    means = _means(keys, scores)
    return np.array([means.get(system, np.nan) for system in truth])


@dataclass(frozen=True, slots=True)
class SystemMeasures:
    """Every measure of all metrics at system level, in input order, and the tests between metrics."""

    estimates: dict[Measure, list[Estimate]]
    spa: list[Estimate | None] | None = None
    tests: tuple[Comparison, ...] = ()
    alternatives: tuple[Comparison, ...] = ()


def measure_systems(systems: SystemRows, rows: Rows | None, options: Options) -> SystemMeasures:
    """Measure how well every metric agrees with gold about systems, with intervals and tests.

    Parameters
    ----------
    systems : SystemRows
    rows : Rows or None
        Segment scores, whose segments are resampled. Without them, and for metrics that have only system
        scores, systems are the unit.
    options : Options

    Returns
    -------
    SystemMeasures
        Empty with fewer than `MIN_SYSTEMS` systems.
    """
    if len(systems.systems) < MIN_SYSTEMS or not systems.metrics:
        return SystemMeasures({})
    published = _published_estimates(systems, options)
    soft = None if rows is None else _soft_accuracies(systems, rows, options)
    if options.is_published:
        return SystemMeasures(published, soft, _published_tests(systems, options))
    return _resampled(systems, rows, soft, published, options)


def _published_estimates(systems: SystemRows, options: Options) -> dict[Measure, list[Estimate]]:
    """Fisher's and exact binomial intervals, as if systems, and all pairs of them, were independent."""
    facts = [{"higher_is_better": flag, "confidence": options.confidence} for flag in systems.flags]
    columns = list(zip(systems.scores, facts, strict=True))
    truth = systems.truth
    estimates: dict[Measure, list[Estimate]] = {
        measure: [
            Estimate.of(correlate(scores, truth, method=method, **settings))  # type: ignore[arg-type]
            for scores, settings in columns
        ]
        for measure, method in METHODS.items()
    }
    estimates["accuracy"] = [
        Estimate.of(pairwise_system_accuracy(scores, truth, **settings))  # type: ignore[arg-type]
        for scores, settings in columns
    ]
    return estimates


def _published_tests(systems: SystemRows, options: Options) -> tuple[Comparison, ...]:
    tests = _by_system(systems, "pearson")
    if tests is None or len(systems.metrics) < 2:
        return ()
    return (_comparison(systems, "pearson", tests, "system", options),)


def _by_system(
    systems: SystemRows, measure: Measure, *, is_robust: bool = False
) -> UnitEstimates | WilliamsMatrix | None:
    """Return the tests with systems as the unit; None if there are too few systems for Williams'."""
    scores, flags = np.stack(systems.scores), list(systems.flags)
    if measure != "pearson" or is_robust:
        method = METHODS.get(measure, measure)
        return measures_by_system(scores, systems.truth, method, higher_is_better=flags)
    if len(systems.systems) < MIN_FOR_WILLIAMS:
        return None
    return williams_matrix(scores, systems.truth, higher_is_better=flags)


def _comparison(
    systems: SystemRows,
    measure: Measure,
    tests: UnitEstimates | WilliamsMatrix | ComparisonMatrix,
    unit: Literal["segment", "document", "system"],
    options: Options,
    **facts: int,
) -> Comparison:
    return comparison_of(
        systems.metrics,
        tests,
        level="system",
        measure=measure,
        unit=unit,
        options=options,
        **facts,
    )


def _resampled(
    systems: SystemRows,
    rows: Rows | None,
    soft: list[Estimate | None] | None,
    published: dict[Measure, list[Estimate]],
    options: Options,
) -> SystemMeasures:
    """Intervals and tests that resample segments, or with systems as the unit where there are none."""
    by_segment = _by_segment(systems, rows, published, options)
    unsegmented = _estimates_by_system(systems, published, options)
    spreads = _spreads(systems, rows, options) if rows is not None and (by_segment or soft) else {}
    estimates, tests = dict(unsegmented), []
    for measure in SYSTEM_MEASURES:
        is_resampled = measure in by_segment and all(systems.are_means)
        by_system = (
            None if is_resampled else _by_system(systems, measure, is_robust=options.is_robust)
        )
        if measure in by_segment:
            estimates[measure] = [
                new if is_mean else old
                for new, old, is_mean in zip(
                    estimates_of(by_segment[measure], options.confidence),
                    unsegmented[measure],
                    systems.are_means,
                    strict=True,
                )
            ]
            by_swaps = compare_by_swaps(
                spreads[METHODS.get(measure, measure)],
                by_segment[measure].estimates,
                measure=measure,
                n=by_segment[measure].n,
                n_resamples=options.n_resamples,
                higher_is_better=systems.flags,
            )
            tests.append(_mixed(systems, measure, by_swaps, by_system, rows, options))
        elif by_system is not None:
            tests.append(_comparison(systems, measure, by_system, "system", options))
    if soft is not None and "spa" in spreads:
        tests.append(_soft_tests(systems, soft, spreads["spa"], options))
    if len(systems.metrics) < 2:
        return SystemMeasures(estimates, soft)
    alternatives = _alternatives(systems, tests[0] if tests else None, options)
    return SystemMeasures(estimates, soft, tuple(tests), alternatives)


def _alternatives(
    systems: SystemRows, decisive: Comparison | None, options: Options
) -> tuple[Comparison, ...]:
    """Return Williams' test of r next to another, and Student's t by system next to Williams'."""
    if decisive is None or decisive.measure != "pearson":
        return ()
    matrix = _by_system(systems, "pearson", is_robust=decisive.test == "williams")
    return () if matrix is None else (_comparison(systems, "pearson", matrix, "system", options),)


def _estimates_by_system(
    systems: SystemRows, published: dict[Measure, list[Estimate]], options: Options
) -> dict[Measure, list[Estimate]]:
    """Return intervals with systems as the unit: Fisher's for r, the jackknife for the others.

    Pairs of systems are not independent, so the exact binomial interval of accuracy is too narrow.
    """
    estimates = dict(published)
    for measure in SYSTEM_MEASURES[0 if options.is_robust else 1 :]:
        result = _by_system(systems, measure, is_robust=options.is_robust)
        assert isinstance(result, UnitEstimates)
        estimates[measure] = [
            replace(known, low=row.low, high=row.high)
            for row, known in zip(
                estimates_of(result, options.confidence), published[measure], strict=True
            )
        ]
    return estimates


def _by_segment(
    systems: SystemRows,
    rows: Rows | None,
    published: dict[Measure, list[Estimate]],
    options: Options,
) -> dict[Measure, UnitEstimates]:
    """Return every measure with the covariance over resampled segments; empty if there are none."""
    if (
        rows is None
        or not (any(systems.are_means) and systems.gold_is_mean)
        or set(rows.systems) != set(systems.systems)
        or rows.n_segments < MIN_SEGMENTS
    ):
        return {}
    metrics, gold = rows.cube()
    again = resampled_systems(
        metrics,
        gold,
        rng=np.random.default_rng(options.seed),
        n_resamples=options.n_resamples,
        higher_is_better=list(rows.flags),
    )
    # Metrics without segment scores have no resampled values.
    places = {name: i for i, name in enumerate(rows.metrics)}
    columns = [places.get(name, -1) for name in systems.metrics]
    is_missing = np.array(columns) < 0
    found = {
        measure: np.array([_number(row) for row in published[measure]])
        for measure in SYSTEM_MEASURES
    }
    results: dict[Measure, UnitEstimates] = {}
    for measure in SYSTEM_MEASURES:
        method = METHODS.get(measure, measure)
        results[measure] = system_estimates(
            np.where(is_missing, np.nan, again[method][:, columns]),
            method,
            found[measure],
            n=max(row.n for row in published[measure]),
            n_segments=rows.n_segments,
            higher_is_better=systems.flags,
        )
    return results


def _number(row: Estimate) -> float:
    return np.nan if row.estimate is None else row.estimate


def _spreads(systems: SystemRows, rows: Rows, options: Options) -> dict[str, Floats]:
    """Return the spread of swapped differences between the metrics of the system table; NaN if unknown."""
    metrics, gold = rows.cube()
    spreads = swap_spreads(
        metrics,
        gold,
        rng=np.random.default_rng(options.seed),
        n_resamples=options.n_resamples,
        higher_is_better=list(rows.flags),
    )
    places = {name: i for i, name in enumerate(rows.metrics)}
    columns = np.array([places.get(name, -1) for name in systems.metrics])
    first, second = np.triu_indices(len(columns), 1)
    return {measure: _square(spread, columns)[first, second] for measure, spread in spreads.items()}


def _square(values: Floats, columns: NDArray[np.int64]) -> Floats:
    """Arrange the values of pairs i < j as a matrix, and pick rows and columns; NaN where a place is -1."""
    n = int(columns.max()) + 1
    n = max(n, round((1 + math.sqrt(1 + 8 * len(values))) / 2))
    matrix = np.full((n + 1, n + 1), np.nan)
    first, second = np.triu_indices(n, 1)
    matrix[first, second] = matrix[second, first] = values
    return matrix[np.ix_(columns, columns)]


def _mixed(
    systems: SystemRows,
    measure: Measure,
    by_swaps: ComparisonMatrix,
    by_system: UnitEstimates | WilliamsMatrix | None,
    rows: Rows | None,
    options: Options,
) -> Comparison:
    """Return the tests by segment; those of metrics that are not means of segments by system."""
    is_mean = np.array(systems.are_means)
    by_segments = is_mean[:, None] & is_mean
    other = by_system.compare() if isinstance(by_system, UnitEstimates) else by_system
    pvalue = np.where(by_segments, by_swaps.pvalue, np.nan if other is None else other.pvalue)
    n_by_system = int((~by_segments).sum() - (~is_mean).sum()) // 2
    return _comparison(
        systems,
        measure,
        replace(by_swaps, pvalue=pvalue),
        options.level,
        options,
        n_units=0 if rows is None else rows.n_segments,
        n_by_system=n_by_system,
    )


def _soft_tests(
    systems: SystemRows, soft: list[Estimate | None], spreads: Floats, options: Options
) -> Comparison:
    """Return the tests of SPA between the metrics that have one."""
    has_spa = np.array([row is not None for row in soft])
    first, second = np.triu_indices(len(has_spa), 1)
    chosen = has_spa[first] & has_spa[second]
    rows = [row for row in soft if row is not None]
    flags = tuple(flag for flag, known in zip(systems.flags, has_spa, strict=True) if known)
    tests = compare_by_swaps(
        spreads[chosen],
        np.array([row.estimate for row in rows], dtype=np.float64),
        measure="spa",
        n=rows[0].n,
        n_resamples=min(options.n_resamples, MOST_SPA_SWAPS),
        higher_is_better=flags,
    )
    names = [name for name, known in zip(systems.metrics, has_spa, strict=True) if known]
    return comparison_of(
        names,
        tests,
        level="system",
        measure="spa",
        unit=options.level,
        options=options,
        n_units=rows[0].n,
    )


def system_results(systems: SystemRows, measured: SystemMeasures) -> tuple[SystemResult, ...]:
    """Return the result of every metric, best r first; empty with fewer than `MIN_SYSTEMS` systems."""
    if not measured.estimates:
        return ()
    columns = measured.estimates
    winners = next((test.winners for test in measured.tests if test.measure == "pearson"), ())
    results = [
        SystemResult(
            metric=name,
            from_segments=systems.from_segments[i],
            pearson=columns["pearson"][i],
            spearman=columns["spearman"][i],
            kendall=columns["kendall"][i],
            accuracy=columns["accuracy"][i],
            spa=None if measured.spa is None else measured.spa[i],
            is_winner=name in winners,
        )
        for i, name in enumerate(systems.metrics)
    ]
    return tuple(
        sorted(
            results,
            key=lambda row: -np.inf if row.pearson.estimate is None else row.pearson.estimate,
            reverse=True,
        )
    )


def _soft_accuracies(
    systems: SystemRows, rows: Rows, options: Options
) -> list[Estimate | None] | None:
    """Return SPA of every metric of the system table, None without segment scores; None if too few segments have gold for all systems."""
    metrics, gold = rows.cube()
    n_complete = int((~np.isnan(gold).any(axis=0)).sum())
    if len(gold) < MIN_SYSTEMS or n_complete < MIN_SEGMENTS:
        return None
    accuracies = soft_pairwise_accuracies(
        metrics,
        gold,
        rng=np.random.default_rng(options.seed),
        n_resamples=options.n_resamples,
        higher_is_better=list(rows.flags),
        confidence=options.confidence,
    )
    by_name = {name: Estimate.of(spa) for name, spa in zip(rows.metrics, accuracies, strict=True)}
    return [by_name.get(name) for name in systems.metrics]
