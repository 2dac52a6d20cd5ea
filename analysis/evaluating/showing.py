"""What a page shows of a stored evaluation: its tables and pictures, by the names of their files."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from ..models import Evaluation, GoldUpload, Job
from ..plots.rendering import Picture
from ..tables.table import Cell, Column, Table, correlation
from ..tables.writing import to_latex, to_markdown
from .campaigns import rows_of
from .naming import file_names
from .pictures import SCATTERS, densities_of, pictures_of_result, scatter_of
from .results import EvaluationResult, GoldEvaluation
from .tables import MOST_GROUPS, breakdown_csv, tables_of

TABLE_TYPES = {
    "tex": "application/x-tex; charset=utf-8",
    "md": "text/markdown; charset=utf-8",
    "csv": "text/csv; charset=utf-8",
}


@dataclass(frozen=True, slots=True)
class ShownTable:
    """A table of a page, or one too wide for it that is offered as data only."""

    table: Table
    formats: Sequence[str] = tuple(TABLE_TYPES)

    @property
    def name(self) -> str:
        return self.table.name

    @property
    def rows(self) -> list[list[tuple[Column, Cell]]]:
        columns = self.table.columns
        return [list(zip(columns, row, strict=True)) for row in self.table.rows]


@dataclass(frozen=True, slots=True)
class ShownPicture:
    """A picture by its name and in words; it is drawn when a browser asks for it."""

    name: str
    title: str
    alternative: str
    has_hover: bool = False
    # Drawn from the scores themselves, and not from what was found alone.
    needs_scores: bool = False


def shown_tables(result: EvaluationResult) -> list[ShownTable]:
    """Return all tables; breakdowns with very many groups have their head and their file alone."""
    found, names = [ShownTable(table) for table in tables_of(result)], file_names(result)
    for gold in result.golds:
        for one in gold.breakdowns:
            if len(one.groups) > MOST_GROUPS:
                caption = f"Pearson correlation with {gold.gold.name} by {one.by}"
                name = names["groups", one.by, gold.gold.name]
                note = f"{len(one.groups):,} groups are too many for a page; all are in the file."
                empty = Table(name=name, caption=caption, columns=[], rows=[], note=note)
                found.append(ShownTable(empty, ("csv",)))
    return found


def table_file(result: EvaluationResult, name: str, fmt: str) -> bytes | None:
    """Return a table as a file; None if there is no such table or format."""
    names = file_names(result)
    for gold in result.golds:
        for one in gold.breakdowns:
            if fmt == "csv" and name == names["groups", one.by, gold.gold.name]:
                return breakdown_csv(one)
    table = next((one for one in tables_of(result) if one.name == name), None)
    if table is None or fmt not in TABLE_TYPES:
        return None
    if fmt == "csv":
        return table.csv()
    return (to_latex(table) if fmt == "tex" else to_markdown(table)).encode()


def shown_pictures(result: EvaluationResult, *, scatter: str = "") -> list[ShownPicture]:
    """Return what there is to see, scatter plots of the best metrics or of the one asked for included."""
    files = file_names(result)
    found = [
        ShownPicture(one.name, one.title, one.alternative) for one in pictures_of_result(result)
    ]
    for gold in result.golds:
        name = gold.gold.name
        if gold.predictions:
            found.append(
                ShownPicture(
                    files["densities", name],
                    f"Predictions and {name}",
                    f"The density of each system's predictions over that of {name}: a needle at the mean has "
                    "small errors and tells segments apart badly.",
                    needs_scores=True,
                )
            )
        names = [one.metric for one in gold.segment]
        chosen = [scatter] if scatter in names else names[:SCATTERS]
        found += [_scatter_words(gold, metric, files["scatter", metric, name]) for metric in chosen]
    return found


def _scatter_words(gold: GoldEvaluation, metric: str, name: str) -> ShownPicture:
    own = next(one for one in gold.segment if one.metric == metric)
    r = correlation(own.pearson.estimate).text
    return ShownPicture(
        name,
        f"{metric} against {gold.gold.name}",
        f"Each of the {own.pearson.n:,} points is a translation; r = {r}.",
        has_hover=True,
        needs_scores=True,
    )


def picture_maker(
    evaluation: Evaluation, result: EvaluationResult, name: str
) -> Callable[[], Picture] | None:
    """Return what makes the picture of a name; None if there is none."""
    by_name = {one.name: one for one in pictures_of_result(result)}
    if name in by_name:
        return lambda: by_name[name]
    files = file_names(result)
    for gold in result.golds:
        own = gold.gold.name
        if gold.predictions and name == files["densities", own]:
            return partial(_draw_densities, evaluation, gold, name)
        for one in gold.segment:
            if name == files["scatter", one.metric, own]:
                return partial(_draw_scatter, evaluation, gold, one.metric, name)
    return None


def _draw_densities(evaluation: Evaluation, gold: GoldEvaluation, name: str) -> Picture:
    metrics = [one.metric for one in gold.predictions]
    return densities_of(gold, rows_of(evaluation, gold.gold.name, metrics), name)


def _draw_scatter(evaluation: Evaluation, gold: GoldEvaluation, metric: str, name: str) -> Picture:
    return scatter_of(gold, rows_of(evaluation, gold.gold.name, [metric]), metric, name)


def is_whole(evaluation: Evaluation, result: EvaluationResult) -> bool:
    """Say whether the scores and the gold it was made of are still there."""
    n_pooled = (
        evaluation.pooled.count() if not (evaluation.campaign_id or evaluation.collection_id) else 1
    )
    n_tables = sum(one.role == "metric" for one in result.inputs)
    codes = [one["upload"] for one in evaluation.golds if "upload" in one]
    return evaluation.metrics.count() == n_tables * n_pooled and (
        not codes or GoldUpload.objects.filter(code__in=codes).count() == len(codes)
    )


def latest_check(evaluation: Evaluation) -> Job | None:
    """Return the latest job that made the evaluation anew and compared."""
    jobs = Job.objects.filter(
        kind="evaluate_again", state=Job.State.DONE, arguments__evaluation=str(evaluation.code)
    )
    return jobs.order_by("-pk").first()
