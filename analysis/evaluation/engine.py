"""Evaluate the scores of metrics against one or more golds."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from da_platform.files.problems import Problems
from da_platform.forks import in_forks

from ..scores.errors import refuse_if_any
from ..scores.fixes import NO_BASELINE, keep_system
from ..scores.score_tables import GoldTable, Key, ScoreTable
from ..stats._groups import is_constant
from ..stats.signature import signature
from ..stats.system_swaps import MOST_SPA_SWAPS
from ..stats.williams import MIN_SEGMENTS
from .aligned_rows import Rows, Texts
from .by_document import by_document, documents_of, lengths_by_document
from .contrasts import Pairs, Scored, chosen_pairs, contrast, paired
from .good_enough import good_enough, refuse_if_all_alike
from .human_level import Ceiling, human_comparisons
from .per_word import per_word
from .predictions import (
    constant_prediction,
    gold_moments,
    prediction_comparisons,
    prediction_results,
)
from .preferences import gold_preferences, judged_preferences
from .results import (
    Breakdown,
    EvaluationResult,
    GoldComparison,
    GoldEvaluation,
    GoldFacts,
    Input,
    JudgementTable,
    Options,
    Preferences,
    RankChange,
    Uncertainty,
)
from .segment_level import (
    alternative_tests,
    break_down,
    by_r,
    measure_segments,
    segment_results,
    segment_tests,
    with_between,
    with_winners,
)
from .system_level import SystemRows, measure_systems, system_results, system_rows

# What signatures say about tests and intervals.
TESTS: dict[Uncertainty, str] = {
    "segments": "by-segment,one-sided",
    "robust": "t-by-segment,one-sided",
    "resampling": "permutation-by-segment,one-sided",
    "published": "williams,one-sided",
}
INTERVALS: dict[Uncertainty, str] = {
    "segments": "jackknife-by-segment,t",
    "robust": "jackknife-by-segment,t",
    "resampling": "bootstrap-by-segment",
    "published": "fisher",
}

# Called with the number of steps done and the total.
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Gold:
    """Gold of one name, at segment level, system level or both."""

    name: str
    segment: GoldTable | None
    system: GoldTable | None

    @property
    def table(self) -> GoldTable:
        """The segment gold, or the system gold if there is none."""
        table = self.segment or self.system
        assert table is not None
        return table


@dataclass(frozen=True, slots=True)
class Evaluated:
    """The result and, for figures, the aligned rows of each gold and pairs of scores chosen for a closer look."""

    result: EvaluationResult
    rows: dict[str, Rows]
    contrasts: tuple[Pairs, ...] = ()

    def with_contrasts(self, names: Sequence[Sequence[str]]) -> "Evaluated":
        """Add pairs of scores, of golds or metrics, by their names."""
        pairs = [
            chosen_pairs(self.result, first, second, lambda gold, _: self.rows[gold])
            for first, second in names
        ]
        return replace(self, contrasts=tuple(pairs))


def evaluate(
    tables: Sequence[ScoreTable],
    golds: Sequence[GoldTable],
    *,
    options: Options | None = None,
    texts: Texts | None = None,
    judgements: JudgementTable | None = None,
    ceilings: Mapping[str, Ceiling] | None = None,
    processes: int = 1,
    progress: Progress = lambda n_done, n_total: None,
) -> Evaluated:
    """Evaluate metrics against one or more golds.

    Parameters
    ----------
    tables : sequence of ScoreTable
        One per metric and level.
    golds : sequence of GoldTable
        Segment and system gold of the same name belong together.
    options : Options, optional
    texts : Texts, optional
        Segment lengths, for results by length.
    judgements : JudgementTable, optional
        Preferences of people, for how often metrics agree with them.
    ceilings : mapping of str to Ceiling, optional
        For golds by name: workers, and gold without them, to put metrics next to people.
    processes : int
        With more than one, golds are evaluated in parallel. Safe only in a program without threads.
    progress : callable
        Called with the number of steps done and the total.

    Returns
    -------
    Evaluated

    Raises
    ------
    ScoresRefused
        Listing everything that is missing, duplicated or unknown.
    """
    options = options or Options()
    if options.per_word:
        tables, golds = per_word(tables, golds, texts)
    named_golds = _golds_by_name(tables, golds, options)
    tables = _without_systems(tables, options.without_systems)
    steps = _Steps(progress, len(named_golds) * _STEPS_PER_GOLD)
    rows: dict[str, Rows] = {}
    tasks = []
    for gold in named_golds:
        own_tables = [table for table in tables if table.gold in ("", gold.name)]
        if options.level == "document":
            gold, own_tables, own_texts = _by_document(gold, own_tables, texts, options)
        else:
            own_texts = texts
        segment_tables = [table for table in own_tables if table.level == "segment"]
        if gold.segment is not None and segment_tables:
            rows[gold.name] = Rows.of(segment_tables, gold.segment, options)
            _check_enough(gold, rows[gold.name])
        ceiling = (ceilings or {}).get(gold.name)
        humans = None if ceiling is None else _with_workers(gold, ceiling, tables, texts, options)
        tasks.append((gold, own_tables, rows.get(gold.name), options, own_texts, humans))
    in_parallel = processes > 1 and len(tasks) > 1
    step = _say_nothing if in_parallel else steps.done
    results = []
    for gold_evaluation in in_forks(lambda task: _evaluate_gold(*task, step), tasks, processes):
        results.append(gold_evaluation)
        if in_parallel:
            steps.done(_STEPS_PER_GOLD)
    refuse_if_all_alike(results, options)
    result = EvaluationResult(
        inputs=_inputs(tables, golds, judgements),
        options=options,
        golds=tuple(results),
        comparisons=_comparisons(results, rows),
        signature=_signature(tables, golds, judgements, options),
        judged=None if judgements is None else _judged(tables, judgements, options),
    )
    return Evaluated(result, rows)


def _by_document(
    gold: Gold, tables: Sequence[ScoreTable], texts: Texts | None, options: Options
) -> tuple[Gold, list[ScoreTable], Texts | None]:
    """Put documents in the place of segments; scores and gold of systems stay as they are."""
    if gold.segment is None:
        return gold, list(tables), None
    of_systems = [table for table in tables if table.level == "system"]
    of_segments = [table for table in tables if table.level == "segment"]
    lengths = texts and lengths_by_document(texts, documents_of(gold.segment))
    averaged, gold_table = by_document(of_segments, gold.segment, options)
    return replace(gold, segment=gold_table), [*averaged, *of_systems], lengths


def _with_workers(
    gold: Gold,
    ceiling: Ceiling,
    tables: Sequence[ScoreTable],
    texts: Texts | None,
    options: Options,
) -> Rows | None:
    """Align metrics and workers with gold that contains neither; None if too little of it is left."""
    workers = _without_systems(ceiling.workers, options.without_systems)
    compared = [table for table in tables if table.level == "segment" and not table.gold]
    held_out = Gold(gold.name, ceiling.gold, None)
    both: list[ScoreTable] = [*compared, *workers]
    if options.level == "document":
        held_out, both, _ = _by_document(held_out, both, texts, options)
    if not compared or held_out.segment is None:
        return None
    rows = Rows.of(both, held_out.segment, options)
    return None if len(rows.gold) < MIN_SEGMENTS or is_constant(rows.gold) else rows


def _judged(
    tables: Sequence[ScoreTable], judgements: JudgementTable, options: Options
) -> Preferences:
    """Evaluate the segment scores of metrics, but not of workers, against judgements."""
    compared = [table for table in tables if table.level == "segment" and not table.gold]
    return judged_preferences(compared, judgements, options)


# Measures, tests, errors, systems, breakdowns.
_STEPS_PER_GOLD = 5


class _Steps:
    """Counts and reports the steps done."""

    def __init__(self, progress: Progress, n_total: int) -> None:
        self._progress = progress
        self._n_total = n_total
        self._n_done = 0

    def done(self, n: int = 1) -> None:
        self._n_done += n
        self._progress(self._n_done, self._n_total)


def _say_nothing() -> None:
    """Report no step: a separate process cannot reach the caller's progress."""


def _golds_by_name(
    tables: Sequence[ScoreTable], golds: Sequence[GoldTable], options: Options
) -> list[Gold]:
    """Combine golds of the same name, and refuse what cannot be evaluated."""
    problems = Problems()
    if not golds:
        problems.add("", None, "there is no gold to evaluate against")
    by_name_and_level: dict[tuple[str, str], GoldTable] = {}
    for gold in golds:
        if (gold.name, gold.level) in by_name_and_level:
            problems.add("", None, f"two golds at {gold.level} level are named {gold.name!r}")
        by_name_and_level[gold.name, gold.level] = gold
    keys_of_each = [*(table.keys for table in golds), *(table.keys for table in tables)]
    all_keys = {id(keys): keys for keys in keys_of_each}
    for system in options.without_systems:
        if not any(system == name for keys in all_keys.values() for name, _ in keys):
            fix = keep_system(system)
            problems.add("", None, f"there is no system {system!r} to leave out", fix)
    if options.baseline and options.baseline not in {table.name for table in tables}:
        reason = f"there is no metric {options.baseline!r} to use as the baseline"
        problems.add("", None, reason, NO_BASELINE)
    if options.baseline and not options.qe:
        problems.add("", None, "a baseline needs quality estimation (qe)", NO_BASELINE)
    levels = {table.level for table in tables}
    for gold in golds:
        if (
            gold.level == "segment"
            and "segment" not in levels
            and (gold.name, "system") not in by_name_and_level
        ):
            problems.add(gold.name, None, "is segment gold, but no metric has segment scores")
    refuse_if_any(problems)
    names = dict.fromkeys(gold.name for gold in golds)
    lookup = by_name_and_level.get
    return [Gold(name, lookup((name, "segment")), lookup((name, "system"))) for name in names]


def _without_systems(tables: Sequence[ScoreTable], systems: Collection[str]) -> list[ScoreTable]:
    """Leave out systems; tables that shared their keys share them again."""
    if not systems:
        return list(tables)
    shared: dict[int, tuple[tuple[Key, ...], NDArray[np.bool_]]] = {}
    for table in tables:
        if id(table.keys) not in shared:
            chosen = np.array([system not in systems for system, _ in table.keys], dtype=bool)
            keys = tuple(key for key in table.keys if key[0] not in systems)
            shared[id(table.keys)] = keys, chosen
    return [
        replace(table, keys=keys, scores=table.scores[chosen])
        for table in tables
        for keys, chosen in [shared[id(table.keys)]]
    ]


def without_systems(table: ScoreTable, systems: Collection[str]) -> ScoreTable:
    """Return the table without some systems, which need not be in the gold."""
    return _without_systems([table], systems)[0]


def _check_enough(gold: Gold, rows: Rows) -> None:
    problems = Problems()
    if (n := len(rows.gold)) < MIN_SEGMENTS:
        problems.add(gold.name, None, f"has {n} score(s), but a test needs at least {MIN_SEGMENTS}")
    elif is_constant(rows.gold):
        problems.add(
            gold.name, None, "has the same score everywhere, so nothing can correlate with it"
        )
    refuse_if_any(problems)


def _evaluate_gold(
    gold: Gold,
    tables: Sequence[ScoreTable],
    rows: Rows | None,
    options: Options,
    texts: Texts | None,
    humans: Rows | None,
    step: Callable[[], None],
) -> GoldEvaluation:
    """Evaluate all metrics against one gold."""
    segment_tables = [table for table in tables if table.level == "segment"]
    system_tables = [table for table in tables if table.level == "system"]
    at_system_level = system_rows(segment_tables, system_tables, gold.segment, gold.system, options)
    facts = _facts(gold, rows, at_system_level)
    if rows is None:
        at_systems = measure_systems(at_system_level, None, options)
        system = system_results(at_system_level, at_systems)
        return GoldEvaluation(
            facts,
            (),
            None,
            (),
            None,
            None,
            system,
            (),
            at_systems.tests,
            alternatives=at_systems.alternatives,
        )
    measured = measure_segments(rows, options)
    step()
    tests = segment_tests(rows, measured, options)
    comparison = with_between(rows, tests[0]) if tests else None
    results = with_winners(segment_results(rows, measured), comparison)
    r = np.array([result.pearson.estimate for result in results], dtype=np.float64)
    order = by_r(r)
    step()
    predictions = {result.metric: result for result in prediction_results(rows, options)}
    step()
    at_systems = measure_systems(at_system_level, rows, options)
    step()
    breakdowns = _breakdowns(rows, texts, order)
    step()
    mean, sd = gold_moments(rows.gold)
    metrics = [rows.metrics[i] for i in order]
    return GoldEvaluation(
        gold=facts,
        segment=tuple(results[i] for i in order),
        comparison=comparison,
        predictions=tuple(predictions[name] for name in metrics if name in predictions),
        gold_mean=mean,
        gold_sd=sd,
        system=system_results(at_system_level, at_systems),
        breakdowns=breakdowns,
        tests=tests[1:] + at_systems.tests,
        prediction_comparisons=prediction_comparisons(rows, options),
        preferences=gold_preferences(rows, options),
        constant=constant_prediction(rows, options),
        good_enough=good_enough(rows, options),
        alternatives=alternative_tests(rows, tests, options) + at_systems.alternatives,
        humans=() if humans is None else human_comparisons(humans, options),
    )


def _breakdowns(rows: Rows, texts: Texts | None, order: list[int]) -> tuple[Breakdown, ...]:
    """Break down by system, document and length, where there is more than one group."""
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


def _facts(gold: Gold, rows: Rows | None, at_system_level: SystemRows) -> GoldFacts:
    table = gold.table
    return GoldFacts(
        name=gold.name,
        kind=table.kind,
        higher_is_better=table.higher_is_better,
        n=len(at_system_level.systems) if rows is None else len(rows.gold),
        n_without_gold=0 if rows is None else rows.alignment.n_without_gold,
        n_ignored=at_system_level.n_ignored + (0 if rows is None else rows.alignment.n_ignored),
        n_systems=len(at_system_level.systems),
        n_segments=0 if rows is None else rows.n_segments,
        signature=table.signature,
        notes=table.notes,
    )


def _inputs(
    tables: Sequence[ScoreTable], golds: Sequence[GoldTable], judgements: JudgementTable | None
) -> tuple[Input, ...]:
    metrics = [
        Input(
            t.name,
            "human" if t.gold else "metric",
            t.level,
            bool(t.higher_is_better),
            t.sha256,
            t.signature,
        )
        for t in tables
    ]
    references = [
        Input(gold.name, "gold", gold.level, gold.higher_is_better, gold.sha256, gold.signature)
        for gold in golds
    ]
    if judgements is None:
        return (*metrics, *references)
    judged = Input(judgements.name, "judgements", "segment", True, judgements.sha256, "")
    return (*metrics, *references, judged)


def _signature(
    tables: Sequence[ScoreTable],
    golds: Sequence[GoldTable],
    judgements: JudgementTable | None,
    options: Options,
) -> str:
    lower = sorted({table.name for table in tables if not table.higher_is_better})
    return signature(
        evaluation="qe" if options.qe else "metrics",
        metrics=len({table.name for table in tables if not table.gold}),
        human=list(dict.fromkeys(table.name for table in tables if table.gold)) or None,
        lower=lower or None,
        gold=list(dict.fromkeys(gold.name for gold in golds)),
        without=sorted(options.without_systems) or None,
        extra="ignored" if options.ignore_extra else None,
        per="word" if options.per_word else None,
        level=None if options.level == "segment" else options.level,
        preferences=options.preference_points,
        good_enough=options.good_enough,
        judgements=None if judgements is None else len(judgements.rows),
        baseline=options.baseline or None,
        uncertainty=options.uncertainty,
        test=TESTS[options.uncertainty],
        correction=options.used_correction,
        alpha=options.alpha,
        interval=INTERVALS[options.uncertainty],
        confidence=options.confidence,
        ties=options.tie_threshold,
        resamples=None if options.is_published else options.n_resamples,
        spa=f"{options.n_resamples},mid-p",
        spa_swaps=None if options.is_published else min(options.n_resamples, MOST_SPA_SWAPS),
        seed=options.seed,
    )


# Comparing golds -------------------------------------------------------------------------------


def _comparisons(
    results: Sequence[GoldEvaluation], rows: dict[str, Rows]
) -> tuple[GoldComparison, ...]:
    """Compare every two golds at each level that both have."""
    pairs = list(combinations(results, 2))
    by_segment = [
        _compare(golds, "segment", rows) for golds in pairs if all(gold.segment for gold in golds)
    ]
    by_system = [
        _compare(golds, "system", rows) for golds in pairs if all(gold.system for gold in golds)
    ]
    return (*by_segment, *by_system)


def _compare(
    golds: tuple[GoldEvaluation, GoldEvaluation], level: str, rows: dict[str, Rows]
) -> GoldComparison:
    is_segment = level == "segment"
    first, second = (
        {result.metric: result for result in (gold.segment if is_segment else gold.system)}
        for gold in golds
    )
    first_name, second_name = (gold.gold.name for gold in golds)
    names = [name for name in first if name in second]
    ranks = [
        {name: rank for rank, name in enumerate(order, 1)}
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
    pairs = None
    if is_segment:
        pairs = paired(Scored.gold_of(rows[first_name]), Scored.gold_of(rows[second_name]))
    found = None if pairs is None else contrast(pairs)
    return GoldComparison(
        first=first_name,
        second=second_name,
        level="segment" if is_segment else "system",
        between=None if found is None else found.r,
        changes=changes,
        contrast=found,
    )
