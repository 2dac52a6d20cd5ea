"""The whole evaluation: metrics and golds in, everything that can be said about them out."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from hits.importing.problems import Problems

from ..scores.errors import refuse_if_any
from ..scores.table import GoldTable, ScoreTable
from ..stats._groups import is_constant
from ..stats.correlation import correlate
from ..stats.signature import signature
from ..stats.williams import MIN_SEGMENTS
from .predictions import gold_moments, prediction_results
from .results import (
    Breakdown,
    Estimate,
    EvaluationResult,
    GoldComparison,
    GoldEvaluation,
    GoldFacts,
    Input,
    Options,
    RankChange,
)
from .rows import Rows, Texts
from .segments import (
    break_down,
    by_r,
    compare_metrics,
    comparison_of,
    segment_results,
    with_winners,
)
from .systems import SystemRows, system_results, system_rows

# Steps done, steps in all.
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Gold:
    """Gold of one name: of segments, of systems, or of both."""

    name: str
    segment: GoldTable | None
    system: GoldTable | None

    @property
    def table(self) -> GoldTable:
        """The finest there is."""
        found = self.segment or self.system
        assert found is not None
        return found


@dataclass(frozen=True, slots=True)
class Evaluated:
    """What was found, and the rows it was found in: pictures show both."""

    result: EvaluationResult
    rows: dict[str, Rows]


def evaluate(
    tables: Sequence[ScoreTable],
    golds: Sequence[GoldTable],
    *,
    options: Options | None = None,
    texts: Texts | None = None,
    progress: Progress = lambda n_done, n_total: None,
) -> Evaluated:
    """Hold metrics against one gold or several.

    Parameters
    ----------
    tables : sequence of ScoreTable
        One for each metric and level.
    golds : sequence of GoldTable
        Those of one name, at the levels of segments and systems, belong together.
    options : Options, optional
    texts : Texts, optional
        Lengths of the segments, for results by band of length.
    progress : callable
        Hears how many steps are done, and of how many.

    Returns
    -------
    Evaluated

    Raises
    ------
    ScoresRefused
        Naming everything that is missing, doubled or unknown.
    """
    chosen = options or Options()
    named = _golds(tables, golds, chosen)
    tables = [without_systems(table, chosen.without_systems) for table in tables]
    segment_tables = [table for table in tables if table.level == "segment"]
    steps = _Steps(progress, len(named) * (len(segment_tables) + _STEPS_PER_GOLD))
    rows: dict[str, Rows] = {}
    found = []
    for gold in named:
        if gold.segment is not None and segment_tables:
            rows[gold.name] = Rows.of(segment_tables, gold.segment, chosen)
            _check_enough(gold, rows[gold.name])
        found.append(_against(gold, tables, rows.get(gold.name), chosen, texts, steps))
    result = EvaluationResult(
        inputs=_inputs(tables, golds),
        options=chosen,
        golds=tuple(found),
        comparisons=_comparisons(found, rows),
        signature=_signature(tables, golds, chosen),
    )
    return Evaluated(result, rows)


# Against one gold, apart from its metrics: tests, errors, systems, breakdowns.
_STEPS_PER_GOLD = 4


class _Steps:
    """Counts what is done."""

    def __init__(self, progress: Progress, n_total: int) -> None:
        self._progress = progress
        self._n_total = n_total
        self._n_done = 0

    def done(self, name: str = "") -> None:
        self._n_done += 1
        self._progress(self._n_done, self._n_total)


def _golds(
    tables: Sequence[ScoreTable], golds: Sequence[GoldTable], options: Options
) -> list[Gold]:
    """Put golds of one name together, and refuse what cannot be evaluated at all."""
    problems = Problems()
    if not golds:
        problems.add("", None, "there is no gold to evaluate against")
    seen: dict[tuple[str, str], GoldTable] = {}
    for gold in golds:
        if (gold.name, gold.level) in seen:
            problems.add("", None, f"two golds of {gold.level}s have the name {gold.name!r}")
        seen[gold.name, gold.level] = gold
    all_keys = [*(table.keys for table in golds), *(table.keys for table in tables)]
    for system in options.without_systems:
        if not any(system == own for part in all_keys for own, _ in part):
            problems.add("", None, f"there is no system {system!r} that could be left out")
    levels = {table.level for table in tables}
    for gold in golds:
        if (
            gold.level == "segment"
            and "segment" not in levels
            and (gold.name, "system") not in seen
        ):
            problems.add(gold.name, None, "is gold of segments, but no metric scores segments")
    refuse_if_any(problems)
    names = dict.fromkeys(gold.name for gold in golds)
    return [Gold(name, seen.get((name, "segment")), seen.get((name, "system"))) for name in names]


def without_systems(table: ScoreTable, systems: Collection[str]) -> ScoreTable:
    """Return the table without these systems, which the gold need not know."""
    kept = np.array([system not in systems for system, _ in table.keys], dtype=bool)
    if kept.all():
        return table
    keys = tuple(key for key in table.keys if key[0] not in systems)
    return replace(table, keys=keys, scores=table.scores[kept])


def _check_enough(gold: Gold, rows: Rows) -> None:
    if (n := len(rows.gold)) < MIN_SEGMENTS:
        problems = Problems()
        problems.add(gold.name, None, f"has {n} score(s); a test needs at least {MIN_SEGMENTS}")
        refuse_if_any(problems)
    if is_constant(rows.gold):
        problems = Problems()
        problems.add(gold.name, None, "has the same score everywhere: nothing can agree with it")
        refuse_if_any(problems)


def _against(
    gold: Gold,
    tables: Sequence[ScoreTable],
    rows: Rows | None,
    options: Options,
    texts: Texts | None,
    steps: _Steps,
) -> GoldEvaluation:
    """Hold all metrics against one gold."""
    segment_tables = [table for table in tables if table.level == "segment"]
    system_tables = [table for table in tables if table.level == "system"]
    found = system_rows(segment_tables, system_tables, gold.segment, gold.system, options)
    if rows is None:
        system = system_results(found, None, options)
        return GoldEvaluation(_facts(gold, None, found), (), None, (), None, None, system, ())
    tests = compare_metrics(rows)
    results = with_winners(segment_results(rows, options, steps.done), tests, options)
    r = np.array([one.pearson.estimate for one in results], dtype=np.float64)
    order = by_r(r)
    comparison = None if tests is None else comparison_of(rows, tests, order)
    steps.done()
    predictions = {one.metric: one for one in prediction_results(rows, options)}
    steps.done()
    system = system_results(found, rows, options)
    steps.done()
    breakdowns = _breakdowns(rows, texts, order)
    steps.done()
    mean, sd = gold_moments(rows.gold)
    metrics = [rows.metrics[i] for i in order]
    return GoldEvaluation(
        gold=_facts(gold, rows, found),
        segment=tuple(results[i] for i in order),
        comparison=comparison,
        predictions=tuple(predictions[name] for name in metrics if name in predictions),
        gold_mean=mean,
        gold_sd=sd,
        system=system,
        breakdowns=breakdowns,
    )


def _breakdowns(rows: Rows, texts: Texts | None, order: list[int]) -> tuple[Breakdown, ...]:
    """Break down by whatever divides the rows into more than one group."""
    groupings = [
        rows.by_system(),
        rows.by_document(),
        None if texts is None else rows.by_length(texts),
    ]
    return tuple(
        break_down(rows, grouping, order)
        for grouping in groupings
        if grouping is not None and len(grouping.groups) > 1
    )


def _facts(gold: Gold, rows: Rows | None, found: SystemRows) -> GoldFacts:
    table = gold.table
    return GoldFacts(
        name=gold.name,
        kind=table.kind,
        higher_is_better=table.higher_is_better,
        n=len(found.systems) if rows is None else len(rows.gold),
        n_without_gold=0 if rows is None else rows.alignment.n_without_gold,
        n_ignored=found.n_ignored + (0 if rows is None else rows.alignment.n_ignored),
        n_systems=len(found.systems),
        n_segments=0 if rows is None else rows.n_segments,
        signature=table.signature,
        notes=table.notes,
    )


def _inputs(tables: Sequence[ScoreTable], golds: Sequence[GoldTable]) -> tuple[Input, ...]:
    metrics = [
        Input(one.name, "metric", one.level, bool(one.higher_is_better), one.sha256, one.signature)
        for one in tables
    ]
    against = [
        Input(one.name, "gold", one.level, one.higher_is_better, one.sha256, one.signature)
        for one in golds
    ]
    return (*metrics, *against)


def _signature(tables: Sequence[ScoreTable], golds: Sequence[GoldTable], options: Options) -> str:
    lower = sorted({one.name for one in tables if not one.higher_is_better})
    return signature(
        evaluation="qe" if options.qe else "metrics",
        metrics=len({one.name for one in tables}),
        lower=lower or None,
        gold=list(dict.fromkeys(one.name for one in golds)),
        without=sorted(options.without_systems) or None,
        extra="ignored" if options.ignore_extra else None,
        test="williams,one-sided",
        alpha=options.alpha,
        interval="fisher",
        confidence=options.confidence,
        spa=f"{options.n_resamples},mid-p",
        seed=options.seed,
    )


# Golds side by side ----------------------------------------------------------------------------


def _comparisons(
    found: Sequence[GoldEvaluation], rows: dict[str, Rows]
) -> tuple[GoldComparison, ...]:
    """Compare every two golds, at the level of segments where both have them."""
    pairs = list(combinations(found, 2))
    by_segment = [
        _compared(one, other, "segment", rows)
        for one, other in pairs
        if one.segment and other.segment
    ]
    by_system = [
        _compared(one, other, "system", rows) for one, other in pairs if one.system and other.system
    ]
    return (*by_segment, *by_system)


def _compared(
    one: GoldEvaluation, other: GoldEvaluation, level: str, rows: dict[str, Rows]
) -> GoldComparison:
    first, second = (
        {x.metric: x for x in (gold.segment if level == "segment" else gold.system)}
        for gold in (one, other)
    )
    names = [name for name in first if name in second]
    ranks = [
        {name: place for place, name in enumerate(order, 1)}
        for order in (names, [name for name in second if name in first])
    ]
    changes = tuple(
        RankChange(
            metric=name,
            first_r=first[name].pearson.estimate,
            second_r=second[name].pearson.estimate,
            first_rank=ranks[0][name],
            second_rank=ranks[1][name],
            wins_first=getattr(first[name], "is_winner", False),
            wins_second=getattr(second[name], "is_winner", False),
        )
        for name in names
    )
    is_segment = level == "segment"
    return GoldComparison(
        first=one.gold.name,
        second=other.gold.name,
        level="segment" if is_segment else "system",
        between=_between(rows[one.gold.name], rows[other.gold.name]) if is_segment else None,
        changes=changes,
    )


def _between(one: Rows, other: Rows) -> Estimate | None:
    """Correlate two golds over the rows that both have."""
    truth = dict(zip(other.alignment.keys, other.truth.tolist(), strict=True))
    shared = [i for i, key in enumerate(one.alignment.keys) if key in truth]
    if len(shared) < MIN_SEGMENTS:
        return None
    seconds = [truth[one.alignment.keys[i]] for i in shared]
    return Estimate.of(correlate(seconds, one.truth[shared]))
