"""A self-contained report: an HTML page, the same in Markdown, and its tables, figures and data."""

import base64
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe

import hits
from da_platform.exceptions import PlatformError
from da_platform.forks import in_forks
from da_platform.plots.dark import follow_dark_mode
from da_platform.plots.rendering import Format, Picture

from ..plots.quadrants import quadrants
from ..scores.score_tables import shown
from ..tables.table import Cell, Column, Table, text
from ..tables.writing import escape_markdown, to_latex, to_markdown
from .contrasts import contrast
from .engine import Evaluated, Progress
from .file_names import file_names, stem
from .good_enough import reading_sentence
from .human_sentence import sentence_about_people
from .model_sizes import facts_of, in_words
from .pictures import main_maps, pictures_of, significance_maps
from .prediction_tables import SORT_NAMES
from .results import Comparison, EvaluationResult, Input, PredictionComparison
from .tables import breakdown_csv, contradictions_table, tables_of
from .wording import level_name, name_of_test, rows_name

COLOURS = Path(hits.__file__).parent / "static" / "hits" / "colours.css"

RESULT = "result.json"
PAGE = "index.html"
TEXT = "report.md"


class ReportRefused(PlatformError):
    """A report that cannot be written to its folder."""


@dataclass(frozen=True, slots=True)
class _Drawn:
    """A figure with its rendered files, its data, and the SVG for the page, which follows dark mode."""

    picture: Picture
    files: dict[Format, bytes]
    data: bytes
    on_page: bytes

    @property
    def inline(self) -> SafeString:
        """The figure as HTML: inline SVG if its points have hover texts, otherwise an image."""
        if self.picture.hover:
            # Text from users was escaped by the XML writer.
            return mark_safe(self.on_page.decode().partition("?>")[2])  # nosec B308 B703
        encoded = base64.b64encode(self.on_page).decode()
        return render_to_string(
            "analysis/_embedded_picture.html", {"encoded": encoded, "picture": self.picture}
        )


def _draw(picture: Picture) -> tuple[dict[Format, bytes], bytes, bytes]:
    """Return everything about a figure that takes time, for `in_forks`."""
    files = picture.render_all()
    return files, picture.csv(), follow_dark_mode(files["svg"])


def write_report(
    evaluated: Evaluated,
    folder: str | Path,
    *,
    scatters: Collection[str] = (),
    all_maps: bool = False,
    force: bool = False,
    processes: int = 1,
    progress: Progress = lambda n_done, n_total: None,
) -> list[Path]:
    """Write the report with its tables, figures and data into a folder.

    Parameters
    ----------
    evaluated : Evaluated
    folder : str or Path
        New or empty, unless `force`.
    scatters : collection of str
        Metrics to plot against gold; by default, the best ones.
    all_maps : bool
        Draw the significance map of every measure, not only of r. The data of all is written anyway.
    force : bool
        Write into a folder that is not empty.
    processes : int
        Number of processes that draw. More than one is safe only in a program without threads.
    progress : callable

    Returns
    -------
    list of Path
        The files written.

    Raises
    ------
    ReportRefused
    """
    root = Path(folder)
    check_folder(root, force=force)
    paths = []
    for name, content in report_files(
        evaluated, scatters=scatters, all_maps=all_maps, processes=processes, progress=progress
    ):
        path = root / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        except OSError as error:
            raise ReportRefused(f"Cannot write {path}: {error.strerror}.") from error
        paths.append(path)
    return paths


def check_folder(root: Path, *, force: bool = False) -> None:
    """Refuse a path that is not a folder, and without `force` a folder that is not empty."""
    if root.exists() and not root.is_dir():
        raise ReportRefused(f"{root} is not a folder.")
    if root.is_dir() and any(root.iterdir()) and not force:
        raise ReportRefused(f"{root} is not empty. Nothing was written.")


def report_files(
    evaluated: Evaluated,
    *,
    scatters: Collection[str] = (),
    all_maps: bool = False,
    processes: int = 1,
    progress: Progress = lambda n_done, n_total: None,
) -> Iterator[tuple[str, bytes]]:
    """Yield the name and content of every file of a report, the same bytes every time."""
    result = evaluated.result
    tables, pictures = tables_of(result), pictures_of(evaluated, scatters=scatters)
    for pairs in evaluated.contrasts:
        table = contradictions_table(contrast(pairs), result.options)
        name = stem("quadrants", *pairs.names)
        tables.append(replace(table, name=name))
        labels = [shown(key) for key in pairs.keys]
        pictures.append(quadrants(pairs.names, *pairs.z, labels, name=name))
    only_data = set() if all_maps else {each.name for each in significance_maps(result)}
    only_data -= main_maps(result)
    data = [picture for picture in pictures if picture.name in only_data]
    pictures = [picture for picture in pictures if picture.name not in only_data]
    drawn = []
    for picture, parts in zip(pictures, in_forks(_draw, pictures, processes), strict=True):
        drawn.append(_Drawn(picture, *parts))
        progress(len(drawn), len(pictures))
    yield RESULT, result.to_json(indent=1).encode()
    for table in tables:
        yield f"tables/{table.name}.tex", to_latex(table).encode()
        yield f"tables/{table.name}.md", to_markdown(table).encode()
        yield f"tables/{table.name}.csv", table.csv()
    names = file_names(result)
    for gold in result.golds:
        for breakdown in gold.breakdowns:
            name = names["groups", breakdown.by, gold.gold.name]
            yield f"tables/{name}.csv", breakdown_csv(breakdown)
    for figure in drawn:
        for fmt, content in figure.files.items():
            yield f"figures/{figure.picture.name}.{fmt}", content
        yield f"figures/{figure.picture.name}.csv", figure.data
    for picture in data:
        yield f"figures/{picture.name}.csv", picture.csv()
    yield TEXT, _markdown(result, tables, pictures).encode()
    yield PAGE, _page(result, tables, drawn).encode()


def _page(result: EvaluationResult, tables: Sequence[Table], drawn: Sequence[_Drawn]) -> str:
    return render_to_string(
        "analysis/evaluation_report.html",
        {
            "title": title_of(result),
            "findings": findings(result),
            "tables": tables,
            "drawn": drawn,
            "inputs": inputs_table(result),
            "signature": result.signature,
            "colours": mark_safe(COLOURS.read_text(encoding="utf-8")),  # nosec B308 B703
        },
    )


def title_of(result: EvaluationResult) -> str:
    """Return the title of an evaluation."""
    names = " and ".join(gold.gold.name for gold in result.golds)
    return f"{'Predictions' if result.options.qe else 'Metrics'} against {names}"


def findings(result: EvaluationResult) -> list[str]:
    """Summarise the result in a few sentences."""
    sentences = []
    for gold in result.golds:
        name = gold.gold.name
        if gold.segment:
            best = gold.segment[0]
            winners = ", ".join(gold.winners) or "none"
            sentences.append(
                f"Against {name}, {best.metric} has the highest r ({_shown(best.pearson.estimate)}). Not "
                f"significantly outperformed by any other metric ({_how(gold.comparison)}): {winners}."
            )
            sentences += [
                f"Best in {SORT_NAMES[test.measure]}, or not significantly worse ({_how_predictions(test)}): "
                f"{', '.join(test.winners(result.options.alpha)) or 'none'}."
                for test in gold.prediction_comparisons
            ]
            if about_people := sentence_about_people(gold, result.options):
                sentences.append(about_people)
            if about_reading := reading_sentence(gold, result.options):
                sentences.append(about_reading)
        elif gold.system:
            best_system = gold.system[0]
            sentences.append(
                f"Against {name}, at system level: {best_system.metric} has the highest r "
                f"({_shown(best_system.pearson.estimate)})."
            )
        if gold.gold.n_without_gold:
            sentences.append(
                f"{gold.gold.n_without_gold:,} {rows_name(result.options)} have no score in {name} and were left out."
            )
        if gold.gold.n_ignored:
            sentences.append(
                f"{gold.gold.n_ignored:,} scores for {rows_name(result.options)} that are not in {name} were ignored."
            )
        sentences += gold.gold.notes
    for comparison in result.comparisons:
        changes = comparison.changes
        n_moved = sum(metric.change != 0 for metric in changes)
        sentences.append(
            f"Between {comparison.first} and {comparison.second}, {n_moved} of {len(changes)} metrics "
            f"change their rank at {level_name(comparison.level, result.options)}."
        )
    return sentences


def _how(test: Comparison | None) -> str:
    if test is None:
        return "Williams test"
    return name_of_test(test) + ("" if test.correction == "none" else ", Holm's correction")


def _how_predictions(test: PredictionComparison) -> str:
    if test.unit == "translation":
        return "paired bootstrap, as published"
    name = "paired bootstrap" if test.is_bootstrap else "t test"
    return f"{name} by {test.unit}" + ("" if test.correction == "none" else ", Holm's correction")


def _shown(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.3f}"


def inputs_table(result: EvaluationResult) -> Table:
    """List the inputs, with the SHA-256 of each file."""
    rows: list[list[Cell]] = [
        [
            text(source.name),
            text(source.role),
            text(source.level),
            text(_better(source)),
            text(_how_read(source)),
            text(source.sha256 or "–"),
        ]
        for source in result.inputs
    ]
    titles = ("name", "role", "level", "better", "how", "SHA-256 of the file")
    return Table(
        name="inputs",
        caption="Inputs",
        columns=[Column(title, is_number=False) for title in titles],
        rows=rows,
    )


def _how_read(source: Input) -> str:
    """Return how scores were computed or read, and the size of the models behind them."""
    facts = [in_words(name, value) for name, value in facts_of(source) if name != "version"]
    return ", ".join(facts) or "–"


def _better(source: Input) -> str:
    if source.role == "judgements":
        return "–"
    return "higher" if source.higher_is_better else "lower"


def _markdown(
    result: EvaluationResult, tables: Sequence[Table], pictures: Sequence[Picture]
) -> str:
    parts = [f"# {escape_markdown(title_of(result))}\n"]
    parts += [f"* {escape_markdown(sentence)}" for sentence in findings(result)]
    parts += ["\n## Tables\n", *(to_markdown(table) for table in tables)]
    parts.append("## Figures\n")
    for picture in pictures:
        alt, caption = escape_markdown(picture.title), escape_markdown(picture.alternative)
        parts.append(f"![{alt}](<figures/{picture.name}.svg>)\n\n{caption}\n")
    parts += ["## Inputs and signature\n", to_markdown(inputs_table(result))]
    # A backtick in a name would end the code span.
    parts.append(f"`{result.signature.replace('`', chr(39))}`\n")
    return "\n".join(parts)
