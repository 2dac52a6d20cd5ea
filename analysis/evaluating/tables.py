"""The tables of an evaluation, each with a sentence that says which test was used."""

from dataclasses import replace

from ..plots.rendering import to_csv
from ..stats.correlation import EXTREME_SHARE
from ..stats.quality_estimation import RESCALED_SPREAD
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
from .naming import Parts, file_names
from .results import (
    Breakdown,
    Estimate,
    EvaluationResult,
    GoldComparison,
    GoldEvaluation,
    Options,
    PredictionResult,
)

# More groups than this do not fit across a page; they are in the data.
MOST_GROUPS = 14


def tables_of(result: EvaluationResult) -> list[Table]:
    """Return all tables of a result, in the order a paper would have them."""
    found: list[tuple[Parts, Table]] = []
    for gold in result.golds:
        name = gold.gold.name
        if gold.segment:
            found.append((("segment", name), segment_table(gold, result.options)))
        if gold.predictions:
            found.append((("prediction", name), prediction_table(gold, result.options)))
        if gold.system:
            found.append((("system", name), system_table(gold, result.options)))
        found += [
            (("by", one.by, name), breakdown_table(gold, one))
            for one in gold.breakdowns
            if len(one.groups) <= MOST_GROUPS
        ]
    found += [
        (("compared", one.level, one.first, one.second), comparison_table(one, result.options))
        for one in result.comparisons
    ]
    names = file_names(result)
    return [replace(table, name=names[parts]) for parts, table in found]


def segment_table(gold: GoldEvaluation, options: Options) -> Table:
    """Return metrics against the gold of segments, best r first."""
    has_pairs = any(one.acc_eq is not None for one in gold.segment)
    titles = ["Spearman", "Kendall", "best", "worst"] + (["acc_eq"] if has_pairs else [])
    rows = []
    for one in gold.segment:
        cells = [
            text(one.metric, bold=one.is_winner),
            correlation(one.pearson.estimate, bold=one.is_winner),
            interval(one.pearson.low, one.pearson.high),
            *(_value(part) for part in (one.spearman, one.kendall, one.best, one.worst)),
        ]
        rows.append(cells + ([_value(one.acc_eq)] if has_pairs else []))
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
        f"{_what(gold)} r: Pearson correlation with {_confidence(options)} interval (Fisher). "
        f"{williams_sentence(options)} best, worst: r over the {EXTREME_SHARE * 100:g} % of translations with "
        f"the best and the worst gold."
    )
    if has_pairs:
        note += " acc_eq: pairwise accuracy within segments, the tie threshold calibrated for each metric."
    if any(not one.higher_is_better for one in gold.segment):
        note += " Signs of metrics where lower is better are turned."
    if not facts.higher_is_better:
        note += f" Lower {facts.name} is better."
    return note


def williams_sentence(options: Options) -> str:
    """Say which test decides what is set in bold."""
    return (
        "Bold: not significantly outperformed by any other metric "
        f"(Williams test, one-sided, p < {_short(options.alpha)})."
    )


def prediction_table(gold: GoldEvaluation, options: Options) -> Table:
    """Return errors of predictions, as they are and rescaled."""
    titles = ["r", "MAE", "RMSE", "MAE rescaled", "RMSE rescaled", "DeltaAvg", "Spearman"]
    by_name = {one.metric: one for one in gold.segment}
    least = min((_estimate(one, "mae") for one in gold.predictions), default=None)
    rows = []
    for one in gold.predictions:
        own = by_name[one.metric]
        rows.append(
            [
                text(one.metric, bold=own.is_winner),
                correlation(own.pearson.estimate, bold=own.is_winner),
                number(one.mae.estimate),
                number(one.rmse.estimate),
                number(one.rescaled_mae.estimate),
                number(one.rescaled_rmse.estimate),
                number(one.delta_avg.estimate),
                _value(own.spearman),
            ]
        )
    gamed = sum(_estimate(one, "rescaled_mae") < _estimate(one, "mae") for one in gold.predictions)
    return Table(
        name=f"prediction-{gold.gold.name}",
        caption=f"Predictions of {gold.gold.name}",
        columns=[Column("system", is_number=False), *map(Column, titles)],
        rows=rows,
        note=(
            f"{_what(gold)} {williams_sentence(options)} Errors can be gamed: rescaling predictions to the mean of "
            f"the gold and {RESCALED_SPREAD:g} of its standard deviation leaves r as it is, yet lowers "
            f"the MAE of {gamed} of {len(gold.predictions)} systems; the smallest as submitted is "
            f"{number(least).text}."
        ),
    )


def _estimate(one: PredictionResult, name: str) -> float:
    value = getattr(one, name).estimate
    return float("inf") if value is None else value


def system_table(gold: GoldEvaluation, options: Options) -> Table:
    """Return metrics against the gold of systems, best r first."""
    has_spa = any(one.spa is not None for one in gold.system)
    titles = ["Spearman", "Kendall", "accuracy"] + (["SPA"] if has_spa else [])
    rows = []
    for one in gold.system:
        cells = [
            text(one.metric),
            correlation(one.pearson.estimate),
            interval(one.pearson.low, one.pearson.high),
            *(_value(part) for part in (one.spearman, one.kendall, one.accuracy)),
        ]
        rows.append(cells + ([_value(one.spa)] if has_spa else []))
    n = gold.gold.n_systems
    note = (
        f"n = {n} systems, {n * (n - 1) // 2} pairs. r: Pearson correlation with {_confidence(options)} "
        "interval (Fisher). accuracy: share of pairs of systems ordered as by the gold."
    )
    if has_spa:
        n_complete = next(one.spa.n for one in gold.system if one.spa is not None)
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


def breakdown_table(gold: GoldEvaluation, found: Breakdown) -> Table:
    """Return r within groups; the mean of the groups last."""
    titles = [*found.groups, "mean"]
    rows: list[list[Cell]] = [
        [text(metric), *map(correlation, own), correlation(mean)]
        for metric, own, mean in zip(found.metrics, found.r, found.mean, strict=True)
    ]
    rows.append([text("n"), *map(count, found.n), count(sum(found.n))])
    return Table(
        name=f"by-{found.by}-{gold.gold.name}",
        caption=f"Pearson correlation with {gold.gold.name} by {found.by}",
        columns=[Column("metric", is_number=False), *map(Column, titles)],
        rows=rows,
        note=f"{_what(gold)} mean: plain mean over groups that have a correlation.",
        lines_after=frozenset({len(rows) - 2}),
    )


def breakdown_csv(found: Breakdown) -> bytes:
    """Return r of every metric in every group as CSV, a row each: groups may be many."""
    rows = [
        (metric, group, n, r)
        for metric, own in zip(found.metrics, found.r, strict=True)
        for group, n, r in zip(found.groups, found.n, own, strict=True)
    ]
    return to_csv(("metric", found.by, "n", "r"), rows)


def comparison_table(found: GoldComparison, options: Options) -> Table:
    """Return r and rank of every metric under two golds, and the places gained."""
    first, second = found.first, found.second
    titles = [f"r {first}", f"rank {first}", f"r {second}", f"rank {second}", "change"]
    rows = [
        [
            text(one.metric),
            correlation(one.first_r, bold=one.wins_first),
            count(one.first_rank),
            correlation(one.second_r, bold=one.wins_second),
            count(one.second_rank),
            signed(one.change),
        ]
        for one in found.changes
    ]
    note = "Ranks by r; change: places gained under the second gold."
    if found.level == "segment":
        note += f" {williams_sentence(options)}"
    if found.between is not None:
        note += (
            f" The two golds correlate with r = {correlation(found.between.estimate).text} over the "
            f"{found.between.n:,} translations that have both."
        )
    return Table(
        name=f"compared-{found.level}-{first}-{second}",
        caption=f"{found.level.capitalize()}-level correlations with {first} and with {second}",
        columns=[Column("metric", is_number=False), *map(Column, titles)],
        rows=rows,
        note=note,
    )


def _value(found: Estimate | None) -> Cell:
    return correlation(None if found is None else found.estimate)


def _what(gold: GoldEvaluation) -> str:
    facts = gold.gold
    by = f" by {facts.n_systems} systems" if facts.n_systems > 1 else ""
    return f"n = {facts.n:,} translations of {facts.n_segments:,} segments{by}."


def _confidence(options: Options) -> str:
    return f"{options.confidence * 100:g} %"


def _with_r(options: Options, titles: list[str]) -> list[Column]:
    """Return the columns of metrics with r and its interval, and others after them."""
    interval_column = Column(f"{_confidence(options)} interval", parts=ENDS)
    return [Column("metric", is_number=False), Column("r"), interval_column, *map(Column, titles)]


def _short(value: float) -> str:
    return f"{value:g}".removeprefix("0")
