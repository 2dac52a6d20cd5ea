"""The tables and figures on the page of a stored evaluation, by file name."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from da_platform.jobs.models import Job
from da_platform.plots.rendering import Picture, pixels

from ..models import Evaluation, GoldUpload
from ..plots.densities import densities_size
from ..plots.directions import reversal_sentence
from ..plots.scatter import SCATTER_SIZE, scatter_sentence
from ..tables.table import Table
from ..tables.writing import content_of
from .file_names import Parts, file_names
from .pictures import (
    SCATTERS,
    densities_of,
    map_parts,
    pictures_of_result,
    scatter_of,
    scatter_of_golds,
    standardised_metrics,
    standardised_of,
)
from .results import Comparison, EvaluationResult, GoldComparison, GoldEvaluation
from .stored_evaluations import rows_of
from .tables import MOST_GROUPS, breakdown_csv, tables_of
from .wording import MEASURE_NAMES, level_name

# About half a page: a wider figure has a row to itself.
WIDE_PIXELS = 700

TABLE_TYPES = {
    "tex": "application/x-tex; charset=utf-8",
    "md": "text/markdown; charset=utf-8",
    "csv": "text/csv; charset=utf-8",
}


@dataclass(frozen=True, slots=True)
class ShownTable:
    """A table on the page, or one too wide for it that can only be downloaded."""

    table: Table
    formats: Sequence[str] = tuple(TABLE_TYPES)

    @property
    def name(self) -> str:
        return self.table.name


@dataclass(frozen=True, slots=True)
class ShownPicture:
    """The name and text of a figure, which is drawn when a browser requests it."""

    name: str
    title: str
    alternative: str
    pixels: tuple[int, int]
    has_hover: bool = False
    # Drawn from the scores, not from the stored result alone.
    needs_scores: bool = False

    @property
    def is_wide(self) -> bool:
        """Whether its labels need the whole width of a page to be readable."""
        return self.pixels[0] > WIDE_PIXELS


def shown_tables(result: EvaluationResult) -> list[ShownTable]:
    """Return all tables; breakdowns with too many groups have only a caption and a file."""
    tables, names = [ShownTable(table) for table in tables_of(result)], file_names(result)
    for gold in result.golds:
        for breakdown in gold.breakdowns:
            if (n_groups := len(breakdown.groups)) > MOST_GROUPS:
                caption = f"Pearson correlation with {gold.gold.name} by {breakdown.by}"
                name = names["groups", breakdown.by, gold.gold.name]
                note = f"Too many groups to show here ({n_groups:,}); all are in the file."
                empty = Table(name=name, caption=caption, columns=[], rows=[], note=note)
                tables.append(ShownTable(empty, ("csv",)))
    return tables


def table_file(result: EvaluationResult, name: str, fmt: str) -> bytes | None:
    """Return the content of a table's file; None if there is no such table or format."""
    names = file_names(result)
    for gold in result.golds:
        for breakdown in gold.breakdowns:
            if fmt == "csv" and name == names["groups", breakdown.by, gold.gold.name]:
                return breakdown_csv(breakdown)
    table = next((table for table in tables_of(result) if table.name == name), None)
    if table is None or fmt not in TABLE_TYPES:
        return None
    return content_of(table, fmt)


def measures_offered(result: EvaluationResult) -> dict[str, str]:
    """Return the measures whose significance map can be shown: labels by key, such as segment-pearson."""
    return {
        key_of(test): f"{MEASURE_NAMES[test.measure]}, {level_name(test.level, result.options)}"
        for gold in result.golds
        for test in gold.shown_tests(result.options)
    }


def key_of(test: Comparison) -> str:
    return f"{test.level}-{test.measure}"


def shown_pictures(
    result: EvaluationResult, *, scatter: str = "", measure: str = ""
) -> list[ShownPicture]:
    """Return the figures of a page.

    Parameters
    ----------
    result : EvaluationResult
    scatter : str
        The metric to plot against gold; by default the best ones.
    measure : str
        The measure whose significance maps are shown, as in `measures_offered`; by default the first.

    Returns
    -------
    list of ShownPicture
    """
    files, offered = file_names(result), measures_offered(result)
    chosen_measure = measure if measure in offered else next(iter(offered), "")
    hidden = {
        files[map_parts(gold, test)]
        for gold in result.golds
        for test in gold.shown_tests(result.options)
        if key_of(test) != chosen_measure
    }
    pictures = [
        ShownPicture(picture.name, picture.title, picture.alternative, picture.pixels)
        for picture in pictures_of_result(result)
        if picture.name not in hidden
    ]
    for gold in result.golds:
        pictures += _pictures_of_gold(gold, scatter, files)
    return pictures + _pictures_of_pairs(result, files)


def _pictures_of_gold(
    gold: GoldEvaluation, scatter: str, files: Mapping[Parts, str]
) -> list[ShownPicture]:
    """Return the figures that are drawn from the scores of metrics and one gold."""
    pictures = [_shown_densities(gold, files)] if gold.predictions else []
    names = [row.metric for row in gold.segment]
    chosen = [scatter] if scatter in names else names[:SCATTERS]
    pictures += [
        _shown_scatter(gold, metric, files["scatter", metric, gold.gold.name]) for metric in chosen
    ]
    pictures += [
        ShownPicture(
            files["standardised", metric, gold.gold.name],
            f"{metric} against {gold.gold.name}, both standardised",
            "Each point is a translation. The regression line has the slope r; for perfect predictions it would be "
            "the diagonal.",
            pixels(SCATTER_SIZE),
            has_hover=True,
            needs_scores=True,
        )
        for metric in chosen
        if metric in standardised_metrics(gold)
    ]
    return pictures


def _shown_densities(gold: GoldEvaluation, files: Mapping[Parts, str]) -> ShownPicture:
    name = gold.gold.name
    return ShownPicture(
        files["densities", name],
        f"Predictions and {name}",
        f"The distribution of each system's predictions, as submitted and rescaled, and of {name}. A narrow "
        "peak at the mean has small errors but hardly distinguishes segments."
        + reversal_sentence({name: gold.gold.higher_is_better}),
        pixels(densities_size(len(gold.predictions))),
        needs_scores=True,
    )


def _pictures_of_pairs(result: EvaluationResult, files: Mapping[Parts, str]) -> list[ShownPicture]:
    """Return the scatter plots of one gold against another."""
    directions = {gold.gold.name: gold.gold.higher_is_better for gold in result.golds}
    return [
        ShownPicture(
            files["golds", pair.level, pair.first, pair.second],
            f"{pair.first} against {pair.second}",
            scatter_sentence(
                (pair.first, pair.second),
                (directions[pair.first], directions[pair.second]),
                None if pair.between is None else pair.between.estimate,
                pair.contrast.n,
            ),
            pixels(SCATTER_SIZE),
            needs_scores=True,
        )
        for pair in result.comparisons
        if pair.contrast is not None
    ]


def _shown_scatter(gold: GoldEvaluation, metric: str, name: str) -> ShownPicture:
    row = next(row for row in gold.segment if row.metric == metric)
    return ShownPicture(
        name,
        f"{metric} against {gold.gold.name}",
        scatter_sentence(
            (metric, gold.gold.name),
            (row.higher_is_better, gold.gold.higher_is_better),
            row.pearson.estimate,
            row.pearson.n,
        ),
        pixels(SCATTER_SIZE),
        has_hover=True,
        needs_scores=True,
    )


def picture_maker(
    evaluation: Evaluation, result: EvaluationResult, name: str
) -> Callable[[], Picture] | None:
    """Return a function that makes the figure of a name; None if there is no such figure."""
    by_name = {picture.name: picture for picture in pictures_of_result(result)}
    if name in by_name:
        return lambda: by_name[name]
    files = file_names(result)
    for gold in result.golds:
        gold_name = gold.gold.name
        if gold.predictions and name == files["densities", gold_name]:
            return partial(_draw_densities, evaluation, gold, name)
        for row in gold.segment:
            if name == files["scatter", row.metric, gold_name]:
                return partial(_draw_scatter, evaluation, gold, row.metric, name)
        for metric in standardised_metrics(gold):
            if name == files["standardised", metric, gold_name]:
                return partial(_draw_standardised, evaluation, gold, metric, name)
    for pair in result.comparisons:
        if pair.contrast and name == files["golds", pair.level, pair.first, pair.second]:
            return partial(_draw_golds, evaluation, result, pair, name)
    return None


def _draw_densities(evaluation: Evaluation, gold: GoldEvaluation, name: str) -> Picture:
    metrics = [row.metric for row in gold.predictions]
    return densities_of(gold, rows_of(evaluation, gold.gold.name, metrics), name)


def _draw_scatter(evaluation: Evaluation, gold: GoldEvaluation, metric: str, name: str) -> Picture:
    return scatter_of(gold, rows_of(evaluation, gold.gold.name, [metric]), metric, name)


def _draw_standardised(
    evaluation: Evaluation, gold: GoldEvaluation, metric: str, name: str
) -> Picture:
    return standardised_of(gold, rows_of(evaluation, gold.gold.name, [metric]), metric, name)


def _draw_golds(
    evaluation: Evaluation, result: EvaluationResult, pair: GoldComparison, name: str
) -> Picture:
    first, second = (
        rows_of(evaluation, gold.gold.name, [gold.segment[0].metric])
        for gold in sorted(
            (gold for gold in result.golds if gold.gold.name in (pair.first, pair.second)),
            key=lambda gold: gold.gold.name != pair.first,
        )
    )
    return scatter_of_golds(pair, first, second, name)


def is_whole(evaluation: Evaluation, result: EvaluationResult) -> bool:
    """Return whether its scores, gold and judgements still exist."""
    n_pooled = (
        evaluation.pooled.count() if not (evaluation.campaign_id or evaluation.collection_id) else 1
    )
    n_tables = sum(source.role == "metric" for source in result.inputs)
    codes = [choice["upload"] for choice in evaluation.golds if "upload" in choice]
    return (
        evaluation.metrics.count() == n_tables * n_pooled
        and (not codes or GoldUpload.objects.filter(code__in=codes).count() == len(codes))
        and (result.judged is None or evaluation.judgements_id is not None)
    )


def latest_check(evaluation: Evaluation) -> Job | None:
    """Return the latest job that repeated the evaluation and compared the results."""
    jobs = Job.objects.filter(
        kind="evaluate_again", state=Job.State.DONE, arguments__evaluation=str(evaluation.code)
    )
    return jobs.order_by("-pk").first()
