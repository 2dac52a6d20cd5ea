"""The tables of an evaluation, each with a note on the test used."""

from dataclasses import replace
from typing import Literal

from da_platform.plots.rendering import to_csv

from ..stats.correlation import EXTREME_SHARE
from ..stats.quality_estimation import RESCALED_SPREAD
from ..stats.thresholds import bare
from ..tables.table import (
    ENDS,
    Cell,
    Column,
    Table,
    correlation,
    count,
    interval,
    number,
    signed,
    text,
)
from .file_names import Parts, file_names
from .results import (
    Breakdown,
    Estimate,
    EvaluationResult,
    GoldComparison,
    GoldEvaluation,
    Options,
    PredictionResult,
    Preferences,
)

# More groups than this do not fit on a page and are only in the CSV.
MOST_GROUPS = 14

SORT_NAMES = {"r": "r", "mae": "MAE", "rmse": "RMSE", "delta_avg": "DeltaAvg"}


def tables_of(result: EvaluationResult) -> list[Table]:
    """Return all tables of a result, in the order of a paper."""
    tables: list[tuple[Parts, Table]] = []
    for gold in result.golds:
        name = gold.gold.name
        if gold.segment:
            tables.append((("segment", name), segment_table(gold, result.options)))
        if gold.predictions:
            tables.append((("prediction", name), prediction_table(gold, result.options)))
        if gold.preferences:
            caption = f"Preferences in {name}"
            table = preference_table(gold.preferences, caption, result.options)
            tables.append((("preference", name), table))
        if gold.system:
            tables.append((("system", name), system_table(gold, result.options)))
        tables += [
            (("by", breakdown.by, name), breakdown_table(gold, breakdown))
            for breakdown in gold.breakdowns
            if len(breakdown.groups) <= MOST_GROUPS
        ]
    tables += [
        (("compared", pair.level, pair.first, pair.second), comparison_table(pair, result.options))
        for pair in result.comparisons
    ]
    if result.judged:
        table = preference_table(result.judged, "Judgements of people", result.options)
        tables.append((("judgements",), table))
    names = file_names(result)
    return [replace(table, name=names[parts]) for parts, table in tables]


def segment_table(gold: GoldEvaluation, options: Options) -> Table:
    """Return metrics against segment gold, best r first."""
    has_pairs = any(row.acc_eq is not None for row in gold.segment)
    titles = ["Spearman", "Kendall", "best", "worst"] + (["acc_eq"] if has_pairs else [])
    rows = []
    for row in gold.segment:
        cells = [
            text(row.metric, bold=row.is_winner),
            correlation(row.pearson.estimate, bold=row.is_winner),
            interval(row.pearson.low, row.pearson.high),
            *(_value(part) for part in (row.spearman, row.kendall, row.best, row.worst)),
        ]
        rows.append(cells + ([_value(row.acc_eq)] if has_pairs else []))
    return Table(
        name=f"segment-{gold.gold.name}",
        caption=f"Segment-level agreement with {gold.gold.name}",
        columns=_with_r(options, titles),
        rows=rows,
        note=_segment_note(gold, options, has_pairs),
    )


def _segment_note(gold: GoldEvaluation, options: Options, has_pairs: bool) -> str:
    facts = gold.gold
    note = (
        f"{_sample(gold)} r: Pearson correlation with {_confidence(options)} interval (Fisher). "
        f"{williams_sentence(options)} best, worst: r over the {EXTREME_SHARE * 100:g} % of translations with "
        f"the best and worst gold."
    )
    if has_pairs:
        note += " acc_eq: pairwise accuracy within segments, with a tie threshold calibrated for each metric."
    if any(not row.higher_is_better for row in gold.segment):
        note += " Metrics where lower is better have their signs reversed."
    if not facts.higher_is_better:
        note += f" Lower {facts.name} is better."
    return note


def williams_sentence(options: Options) -> str:
    """Explain which test decides what is in bold."""
    return (
        "Bold: not significantly outperformed by any other metric "
        f"(Williams test, one-sided, p < {bare(options.alpha)})."
    )


def prediction_table(gold: GoldEvaluation, options: Options) -> Table:
    """Return the errors of predictions, as submitted and rescaled, with the winners of each measure."""
    titles = ["r", "MAE", "RMSE", "MAE rescaled", "RMSE rescaled", "DeltaAvg", "Spearman"]
    segment_results = {row.metric: row for row in gold.segment}
    by_measure = {test.measure: test for test in gold.prediction_comparisons}
    names = [row.metric for row in gold.predictions]
    winners = {name: test.winners(options.alpha) for name, test in by_measure.items()}
    like = {name: test.like(options.baseline, options.alpha) for name, test in by_measure.items()}

    def tested(row: PredictionResult, measure: Literal["mae", "delta_avg"]) -> Cell:
        cell = number(getattr(row, measure).estimate, bold=row.metric in winners.get(measure, ()))
        return replace(cell, shaded=row.metric in like.get(measure, ()))

    rows = []
    for row in sorted_predictions(gold, options):
        segment = segment_results[row.metric]
        rows.append(
            [
                text(row.metric),
                correlation(segment.pearson.estimate, bold=segment.is_winner),
                tested(row, "mae"),
                number(row.rmse.estimate),
                number(row.rescaled_mae.estimate),
                number(row.rescaled_rmse.estimate),
                tested(row, "delta_avg"),
                _value(segment.spearman),
            ]
        )
    return Table(
        name=f"prediction-{gold.gold.name}",
        caption=f"Predictions of {gold.gold.name}",
        columns=[Column("system", is_number=False), *map(Column, titles)],
        rows=rows,
        note=_prediction_note(gold, options, options.baseline in names),
    )


def sorted_predictions(gold: GoldEvaluation, options: Options) -> list[PredictionResult]:
    """Return the predictions in the order that was chosen, best first; those without a value last."""
    if options.sort == "r":
        return list(gold.predictions)
    sign = -1 if options.sort == "delta_avg" else 1

    def place(row: PredictionResult) -> float:
        value = getattr(row, options.sort).estimate
        return float("inf") if value is None else sign * value

    return sorted(gold.predictions, key=place)


def _prediction_note(gold: GoldEvaluation, options: Options, has_baseline: bool) -> str:
    n_gamed = sum(
        _estimate(row, "rescaled_mae") < _estimate(row, "mae") for row in gold.predictions
    )
    least = min((_estimate(row, "mae") for row in gold.predictions), default=None)
    note = f"{_sample(gold)} Sorted by {SORT_NAMES[options.sort]}. {williams_sentence(options)}"
    if gold.prediction_comparisons:
        note += f" In the columns MAE and DeltaAvg: {prediction_sentence(options)}"
    if has_baseline and gold.prediction_comparisons:
        note += (
            f" Shaded (°): not significantly different from {options.baseline} by the same test."
        )
    return note + (
        f" Errors can be gamed: rescaling predictions to the mean of "
        f"the gold and {RESCALED_SPREAD:g} of its standard deviation does not change r, but lowers "
        f"the MAE of {n_gamed} of {len(gold.predictions)} systems. The smallest MAE as submitted is "
        f"{number(least).text}."
    )


def prediction_sentence(options: Options) -> str:
    """Explain which test decides which errors are in bold."""
    how = (
        "paired bootstrap over translations, as published"
        if options.is_published
        else "t test of the difference by its standard error over segments (jackknife)"
    )
    holm = ", Holm within the column" if options.used_correction == "holm" else ""
    return f"{how}, one-sided{holm}, p < {bare(options.alpha)}."


def _estimate(result: PredictionResult, name: str) -> float:
    value = getattr(result, name).estimate
    return float("inf") if value is None else value


_TIE_RULES = {
    "darr": "A metric that ties two translations is wrong.",
    "wmt14": "A metric that ties two translations is neither right nor wrong.",
}


def preference_table(preferences: Preferences, caption: str, options: Options) -> Table:
    """Return how often metrics prefer what people prefer, and the ceiling in the last row."""
    rows = [
        [
            text(row.metric),
            correlation(row.tau.estimate),
            interval(row.tau.low, row.tau.high),
            correlation(row.n_tied / preferences.n if preferences.n else None),
        ]
        for row in preferences.rows
    ]
    rows.append(
        [text("ceiling"), correlation(preferences.ceiling), interval(None, None), Cell("–")]
    )
    source = (
        f"Two translations of a segment whose gold scores are at least {options.preference_points:g} apart. "
        if preferences.ties == "darr" and options.preference_points is not None
        else ""
    )
    return Table(
        name="preferences",
        caption=caption,
        columns=[
            Column("metric", is_number=False),
            Column("tau"),
            Column(f"{_confidence(options)} interval", parts=ENDS),
            Column("ties"),
        ],
        rows=rows,
        note=(
            f"{source}n = {preferences.n:,} preferences in {preferences.n_segments:,} segments. tau: (concordant − "
            f"discordant) / preferences, with {_confidence(options)} interval over segments (jackknife). "
            f"{_TIE_RULES[preferences.ties]} ties: share of preferences that the metric ties. ceiling: the "
            "highest possible tau, as people may contradict each other."
        ),
        lines_after=frozenset({len(rows) - 2}),
    )


def system_table(gold: GoldEvaluation, options: Options) -> Table:
    """Return metrics against system gold, best r first."""
    has_spa = any(row.spa is not None for row in gold.system)
    titles = ["Spearman", "Kendall", "accuracy"] + (["SPA"] if has_spa else [])
    rows = []
    for row in gold.system:
        cells = [
            text(row.metric),
            correlation(row.pearson.estimate),
            interval(row.pearson.low, row.pearson.high),
            *(_value(part) for part in (row.spearman, row.kendall, row.accuracy)),
        ]
        rows.append(cells + ([_value(row.spa)] if has_spa else []))
    n = gold.gold.n_systems
    note = (
        f"n = {n} systems, {n * (n - 1) // 2} pairs. r: Pearson correlation with {_confidence(options)} "
        "interval (Fisher). accuracy: share of system pairs in the same order as in the gold."
    )
    if has_spa:
        n_complete = next(row.spa.n for row in gold.system if row.spa is not None)
        note += (
            f" SPA: soft pairwise accuracy over the {n_complete:,} segments with gold for every system "
            f"({options.n_resamples:,} permutations, seed {options.seed})."
        )
    return Table(
        name=f"system-{gold.gold.name}",
        caption=f"System-level agreement with {gold.gold.name}",
        columns=_with_r(options, titles),
        rows=rows,
        note=note,
    )


def breakdown_table(gold: GoldEvaluation, breakdown: Breakdown) -> Table:
    """Return r within groups, and its mean over groups in the last column."""
    titles = [*breakdown.groups, "mean"]
    rows: list[list[Cell]] = [
        [text(metric), *map(correlation, group_r), correlation(mean)]
        for metric, group_r, mean in zip(
            breakdown.metrics, breakdown.r, breakdown.mean, strict=True
        )
    ]
    rows.append([text("n"), *map(count, breakdown.n), count(sum(breakdown.n))])
    return Table(
        name=f"by-{breakdown.by}-{gold.gold.name}",
        caption=f"Pearson correlation with {gold.gold.name} by {breakdown.by}",
        columns=[Column("metric", is_number=False), *map(Column, titles)],
        rows=rows,
        note=f"{_sample(gold)} mean: unweighted mean over groups that have a correlation.",
        lines_after=frozenset({len(rows) - 2}),
    )


def breakdown_csv(breakdown: Breakdown) -> bytes:
    """Return a CSV with a row for every metric and group."""
    rows = [
        (metric, group, n, r)
        for metric, group_r in zip(breakdown.metrics, breakdown.r, strict=True)
        for group, n, r in zip(breakdown.groups, breakdown.n, group_r, strict=True)
    ]
    return to_csv(("metric", breakdown.by, "n", "r"), rows)


def comparison_table(comparison: GoldComparison, options: Options) -> Table:
    """Return r and rank of every metric under two golds, and the change in rank."""
    first, second, level = comparison.first, comparison.second, comparison.level
    titles = [f"r {first}", f"rank {first}", f"r {second}", f"rank {second}", "change"]
    rows = [
        [
            text(row.metric),
            correlation(row.first_r, bold=row.wins_first),
            count(row.first_rank),
            correlation(row.second_r, bold=row.wins_second),
            count(row.second_rank),
            signed(row.change),
        ]
        for row in comparison.changes
    ]
    note = "Ranks by r. change: ranks gained under the second gold."
    if level == "segment":
        note += f" {williams_sentence(options)}"
    if (between := comparison.between) is not None:
        note += (
            f" The two golds correlate at r = {correlation(between.estimate).text} over the "
            f"{between.n:,} translations that have both."
        )
    return Table(
        name=f"compared-{level}-{first}-{second}",
        caption=f"{level.capitalize()}-level correlations with {first} and with {second}",
        columns=[Column("metric", is_number=False), *map(Column, titles)],
        rows=rows,
        note=note,
    )


def _value(estimate: Estimate | None) -> Cell:
    return correlation(None if estimate is None else estimate.estimate)


def _sample(gold: GoldEvaluation) -> str:
    """Return the number of translations, segments and systems."""
    facts = gold.gold
    by = f" by {facts.n_systems} systems" if facts.n_systems > 1 else ""
    return f"n = {facts.n:,} translations of {facts.n_segments:,} segments{by}."


def _confidence(options: Options) -> str:
    return f"{options.confidence * 100:g} %"


def _with_r(options: Options, titles: list[str]) -> list[Column]:
    """Return the columns for metric, r and its interval, followed by others."""
    interval_column = Column(f"{_confidence(options)} interval", parts=ENDS)
    return [Column("metric", is_number=False), Column("r"), interval_column, *map(Column, titles)]
