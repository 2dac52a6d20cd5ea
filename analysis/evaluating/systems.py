"""Metrics against gold at the level of systems."""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from hits.importing.problems import Problems

from ..scores.errors import refuse_if_any
from ..scores.table import GoldTable, ScoreTable, shown
from ..stats.correlation import correlate
from ..stats.meta_evaluation import pairwise_system_accuracy
from ..stats.soft_accuracy import MIN_SEGMENTS, soft_pairwise_accuracies
from .results import Estimate, Options, SystemResult
from .rows import Floats, Rows

# With fewer systems every correlation is 1 or -1.
MIN_SYSTEMS = 3


@dataclass(frozen=True, slots=True)
class SystemRows:
    """System scores of metrics beside the gold of the systems; higher gold is better."""

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
    """Bring metrics and gold to the level of systems.

    A metric's own system scores are used where there are some (corpus BLEU is no mean), else the mean over
    all its segments; gold likewise, over the segments that have a score.

    Parameters
    ----------
    segment_tables, system_tables : sequence of ScoreTable
    gold, system_gold : GoldTable or None
        At least one of them.
    options : Options

    Returns
    -------
    SystemRows
    """
    truth = _gold_means(gold, system_gold, options.without_systems)
    own = {table.name: table for table in system_tables}
    names = list(dict.fromkeys([*(one.name for one in segment_tables), *own]))
    by_segment = {table.name: table for table in segment_tables}
    problems = Problems()
    known = {system for one in (gold, system_gold) if one is not None for system in one.systems}
    columns, flags, n_ignored = [], [], 0
    for name in names:
        table = own.get(name) or by_segment[name]
        if table.higher_is_better is None:
            problems.add(name, None, "nobody has confirmed whether higher or lower is better")
        if table.level == "system" or gold is None:
            # Those of segments were compared with their gold, row by row, before.
            n_ignored += _count_extra(table, known, options.ignore_extra, problems)
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
        from_segments=tuple(name not in own for name in names),
        n_ignored=n_ignored,
    )


def _count_extra(
    table: ScoreTable, known: Collection[str], ignore_extra: bool, problems: Problems
) -> int:
    """Return how many scores are of systems the gold does not know; unless ignored, they are problems."""
    extra = [system for system, _ in table.keys if system not in known]
    if not ignore_extra:
        for system in dict.fromkeys(extra):
            problems.add(
                table.name, None, f"has a score for {shown((system, ''))}, which has no place here"
            )
    return len(extra)


def _gold_means(
    gold: GoldTable | None, system_gold: GoldTable | None, without: Collection[str]
) -> dict[str, float]:
    """Return each system's gold; systems without any are left out."""
    source = gold if system_gold is None else system_gold
    assert source is not None
    means = _means(source.keys, source.scores)
    return {
        name: mean for name, mean in means.items() if not np.isnan(mean) and name not in without
    }


def _means(keys: Sequence[tuple[str, str]], scores: Floats) -> dict[str, float]:
    """Return the mean of the scores that are there, system by system; NaN where none is."""
    found: dict[str, list[float]] = {}
    for (system, _), score in zip(keys, scores.tolist(), strict=True):
        own = found.setdefault(system, [])
        if not math.isnan(score):
            own.append(score)
    # An exact sum, so that the order of the rows cannot make a tie or break one.
    return {system: math.fsum(own) / len(own) if own else math.nan for system, own in found.items()}


def _system_column(
    table: ScoreTable,
    truth: dict[str, float],
    gold: GoldTable | None,
    ignore_extra: bool,
    problems: Problems,
) -> Floats:
    """Return a metric's score of each system; what is missing goes to the problems."""
    keys, scores = table.keys, table.scores
    if table.level == "segment" and gold is not None and ignore_extra:
        wanted = set(gold.keys)
        kept = np.array([key in wanted for key in keys], dtype=bool)
        keys, scores = tuple(key for key in keys if key in wanted), scores[kept]
    means = _means(keys, scores)
    for system in truth:
        if system not in means:
            problems.add(table.name, None, f"has no score for {shown((system, ''))}")
    return np.array([means.get(system, np.nan) for system in truth])


def system_results(
    found: SystemRows, rows: Rows | None, options: Options
) -> tuple[SystemResult, ...]:
    """Measure every metric at system level, best r first; nothing below `MIN_SYSTEMS` systems."""
    if len(found.systems) < MIN_SYSTEMS:
        return ()
    soft = {} if rows is None else _soft_accuracies(rows, options)
    results = [
        _system_result(found, i, soft.get(name), options) for i, name in enumerate(found.metrics)
    ]
    return tuple(
        sorted(
            results,
            key=lambda one: -np.inf if one.pearson.estimate is None else one.pearson.estimate,
            reverse=True,
        )
    )


def _system_result(
    found: SystemRows, i: int, spa: Estimate | None, options: Options
) -> SystemResult:
    own, truth = found.scores[i], found.truth
    facts = {"higher_is_better": found.flags[i], "confidence": options.confidence}
    pearson, spearman, kendall = (
        Estimate.of(correlate(own, truth, method=method, **facts))  # type: ignore[arg-type]
        for method in ("pearson", "spearman", "kendall_b")
    )
    return SystemResult(
        metric=found.metrics[i],
        from_segments=found.from_segments[i],
        pearson=pearson,
        spearman=spearman,
        kendall=kendall,
        accuracy=Estimate.of(pairwise_system_accuracy(own, truth, **facts)),  # type: ignore[arg-type]
        spa=spa,
    )


def _soft_accuracies(rows: Rows, options: Options) -> dict[str, Estimate]:
    """Return SPA of every metric; of none where no segment has gold for all systems."""
    metrics, gold = rows.cube()
    n_complete = int((~np.isnan(gold).any(axis=0)).sum())
    if len(gold) < MIN_SYSTEMS or n_complete < MIN_SEGMENTS:
        return {}
    found = soft_pairwise_accuracies(
        metrics,
        gold,
        rng=np.random.default_rng(options.seed),
        n_resamples=options.n_resamples,
        higher_is_better=list(rows.flags),
        confidence=options.confidence,
    )
    return {name: Estimate.of(one) for name, one in zip(rows.metrics, found, strict=True)}
