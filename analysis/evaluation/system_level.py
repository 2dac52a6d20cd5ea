"""Evaluate metrics against gold at system level."""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from da_platform.files.problems import Problems

from ..scores.errors import refuse_if_any
from ..scores.score_tables import GoldTable, ScoreTable, shown
from ..stats.correlation import correlate
from ..stats.meta_evaluation import pairwise_system_accuracy
from ..stats.soft_accuracy import MIN_SEGMENTS, soft_pairwise_accuracies
from .aligned_rows import Floats, Rows
from .results import Estimate, Options, SystemResult

# With fewer systems every correlation is 1 or -1.
MIN_SYSTEMS = 3


@dataclass(frozen=True, slots=True)
class SystemRows:
    """System scores of metrics and gold. `truth` is the gold, negated if lower is better."""

    systems: tuple[str, ...]
    truth: Floats
    metrics: tuple[str, ...]
    scores: tuple[Floats, ...]
    flags: tuple[bool, ...]
    from_segments: tuple[bool, ...]
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
    for name in names:
        table = by_system.get(name) or by_segment[name]
        if table.higher_is_better is None:
            problems.add(name, None, "needs a confirmed direction: is higher or lower better?")
        if table.level == "system" or gold is None:
            # Segment scores have already been aligned with the gold.
            n_ignored += _count_extra(table, gold_systems, options.ignore_extra, problems)
        columns.append(_system_column(table, truth, gold, options.ignore_extra, problems))
        flags.append(bool(table.higher_is_better))
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
        n_ignored=n_ignored,
    )


def _count_extra(
    table: ScoreTable, gold_systems: Collection[str], ignore_extra: bool, problems: Problems
) -> int:
    """Count scores for systems that are not in the gold; add problems unless they are ignored."""
    extra = [system for system, _ in table.keys if system not in gold_systems]
    if not ignore_extra:
        for system in dict.fromkeys(extra):
            problems.add(
                table.name, None, f"has a score for {shown((system, ''))}, which is not in the gold"
            )
    return len(extra)


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


def _means(keys: Sequence[tuple[str, str]], scores: Floats) -> dict[str, float]:
    """Return the mean score of each system, ignoring NaN; NaN for a system without scores."""
    by_system: dict[str, list[float]] = {}
    for (system, _), score in zip(keys, scores.tolist(), strict=True):
        values = by_system.setdefault(system, [])
        if not math.isnan(score):
            values.append(score)
    # An exact sum, so that the order of the rows cannot make a tie or break one.
    return {
        system: math.fsum(values) / len(values) if values else math.nan
        for system, values in by_system.items()
    }


def _system_column(
    table: ScoreTable,
    truth: dict[str, float],
    gold: GoldTable | None,
    ignore_extra: bool,
    problems: Problems,
) -> Floats:
    """Return a metric's score for each system, adding problems for missing ones."""
    keys, scores = table.keys, table.scores
    if table.level == "segment" and gold is not None and ignore_extra:
        gold_keys = set(gold.keys)
        in_gold = np.array([key in gold_keys for key in keys], dtype=bool)
        keys, scores = tuple(key for key in keys if key in gold_keys), scores[in_gold]
    means = _means(keys, scores)
    for system in truth:
        if system not in means:
            problems.add(table.name, None, f"has no score for {shown((system, ''))}")
    return np.array([means.get(system, np.nan) for system in truth])


def system_results(
    systems: SystemRows, rows: Rows | None, options: Options
) -> tuple[SystemResult, ...]:
    """Evaluate every metric, best r first; empty with fewer than `MIN_SYSTEMS` systems."""
    if len(systems.systems) < MIN_SYSTEMS:
        return ()
    soft = {} if rows is None else _soft_accuracies(rows, options)
    results = [
        _system_result(systems, i, soft.get(name), options)
        for i, name in enumerate(systems.metrics)
    ]
    return tuple(
        sorted(
            results,
            key=lambda row: -np.inf if row.pearson.estimate is None else row.pearson.estimate,
            reverse=True,
        )
    )


def _system_result(
    systems: SystemRows, i: int, spa: Estimate | None, options: Options
) -> SystemResult:
    scores, truth = systems.scores[i], systems.truth
    settings = {"higher_is_better": systems.flags[i], "confidence": options.confidence}
    pearson, spearman, kendall = (
        Estimate.of(correlate(scores, truth, method=method, **settings))  # type: ignore[arg-type]
        for method in ("pearson", "spearman", "kendall_b")
    )
    return SystemResult(
        metric=systems.metrics[i],
        from_segments=systems.from_segments[i],
        pearson=pearson,
        spearman=spearman,
        kendall=kendall,
        accuracy=Estimate.of(pairwise_system_accuracy(scores, truth, **settings)),  # type: ignore[arg-type]
        spa=spa,
    )


def _soft_accuracies(rows: Rows, options: Options) -> dict[str, Estimate]:
    """Return SPA of every metric; empty if too few segments have gold for all systems."""
    metrics, gold = rows.cube()
    n_complete = int((~np.isnan(gold).any(axis=0)).sum())
    if len(gold) < MIN_SYSTEMS or n_complete < MIN_SEGMENTS:
        return {}
    accuracies = soft_pairwise_accuracies(
        metrics,
        gold,
        rng=np.random.default_rng(options.seed),
        n_resamples=options.n_resamples,
        higher_is_better=list(rows.flags),
        confidence=options.confidence,
    )
    return {name: Estimate.of(spa) for name, spa in zip(rows.metrics, accuracies, strict=True)}
