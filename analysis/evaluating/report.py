"""A report that stands alone: one HTML page, the same in Markdown, and everything in it as files."""

import base64
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe

import hits
from hits.exceptions import HitsError

from ..plots.rendering import Format, Picture, render_pictures
from ..tables.table import Cell, Column, Table, text
from ..tables.writing import escape_markdown, to_html, to_latex, to_markdown
from .engine import Evaluated, Progress
from .naming import file_names
from .pictures import pictures_of
from .results import EvaluationResult
from .tables import breakdown_csv, tables_of

COLOURS = Path(hits.__file__).parent / "static" / "hits" / "colours.css"

RESULT = "result.json"
PAGE = "index.html"
TEXT = "report.md"


class ReportRefused(HitsError):
    """A report that cannot be written where it should go."""


@dataclass(frozen=True, slots=True)
class _Drawn:
    """A picture with its bytes."""

    picture: Picture
    files: dict[Format, bytes]

    @property
    def inline(self) -> SafeString:
        """The picture within a page: as it is where its points tell what they are, else as an image."""
        svg = self.files["svg"]
        if self.picture.hover:
            # Made here and escaped by the XML writer; nothing from outside is in it but text.
            return mark_safe(svg.decode().partition("?>")[2])  # nosec B308 B703
        encoded = base64.b64encode(svg).decode()
        return render_to_string(
            "analysis/_embedded_picture.html", {"encoded": encoded, "picture": self.picture}
        )


def write_report(
    evaluated: Evaluated,
    folder: str | Path,
    *,
    scatters: Collection[str] = (),
    force: bool = False,
    processes: int = 1,
    progress: Progress = lambda n_done, n_total: None,
) -> list[Path]:
    """Write report, tables, pictures, data and result into a folder.

    Parameters
    ----------
    evaluated : Evaluated
    folder : str or Path
        New or empty, unless `force`.
    scatters : collection of str
        Metrics to show against gold; the best ones if there are none.
    force : bool
        Write into a folder that has something in it.
    processes : int
        How many draw at once. More than one only where this is all the program does.
    progress : callable

    Returns
    -------
    list of Path
        What was written.

    Raises
    ------
    ReportRefused
    """
    root = Path(folder)
    check_folder(root, force=force)
    paths = []
    for name, content in report_files(
        evaluated, scatters=scatters, processes=processes, progress=progress
    ):
        path = root / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        except OSError as error:
            raise ReportRefused(f"{path} cannot be written: {error.strerror}.") from error
        paths.append(path)
    return paths


def check_folder(root: Path, *, force: bool = False) -> None:
    """Refuse what is no folder, and a folder with something in it."""
    if root.exists() and not root.is_dir():
        raise ReportRefused(f"{root} is not a folder.")
    if root.is_dir() and any(root.iterdir()) and not force:
        raise ReportRefused(f"{root} is not empty; nothing was written.")


def report_files(
    evaluated: Evaluated,
    *,
    scatters: Collection[str] = (),
    processes: int = 1,
    progress: Progress = lambda n_done, n_total: None,
) -> Iterator[tuple[str, bytes]]:
    """Yield the name and the bytes of every file of a report; the same bytes every time."""
    result = evaluated.result
    tables = tables_of(result)
    pictures = pictures_of(evaluated, scatters=scatters)
    drawn = []
    for picture, files in zip(pictures, render_pictures(pictures, processes), strict=True):
        drawn.append(_Drawn(picture, files))
        progress(len(drawn), len(pictures))
    yield RESULT, result.to_json(indent=1).encode()
    for table in tables:
        yield f"tables/{table.name}.tex", to_latex(table).encode()
        yield f"tables/{table.name}.md", to_markdown(table).encode()
        yield f"tables/{table.name}.csv", table.csv()
    names = file_names(result)
    for gold in result.golds:
        for found in gold.breakdowns:
            name = names["groups", found.by, gold.gold.name]
            yield f"tables/{name}.csv", breakdown_csv(found)
    for one in drawn:
        for fmt, content in one.files.items():
            yield f"figures/{one.picture.name}.{fmt}", content
        yield f"figures/{one.picture.name}.csv", one.picture.csv()
    yield TEXT, _markdown(result, tables, pictures).encode()
    yield PAGE, _page(result, tables, drawn).encode()


def _page(result: EvaluationResult, tables: Sequence[Table], drawn: Sequence[_Drawn]) -> str:
    return render_to_string(
        "analysis/evaluation_report.html",
        {
            "title": title_of(result),
            "findings": findings(result),
            "tables": [_Written(table) for table in tables],
            "drawn": drawn,
            "inputs": mark_safe(to_html(inputs_table(result))),  # nosec B308 B703
            "signature": result.signature,
            "colours": mark_safe(COLOURS.read_text(encoding="utf-8")),  # nosec B308 B703
        },
    )


@dataclass(frozen=True, slots=True)
class _Written:
    table: Table

    @property
    def name(self) -> str:
        return self.table.name

    @property
    def html(self) -> SafeString:
        # Everything in it was escaped by `to_html`.
        return mark_safe(to_html(self.table))  # nosec B308 B703


def title_of(result: EvaluationResult) -> str:
    """Name an evaluation for its readers."""
    names = " and ".join(gold.gold.name for gold in result.golds)
    what = "Predictions" if result.options.qe else "Metrics"
    return f"{what} against {names}"


def findings(result: EvaluationResult) -> list[str]:
    """Say in a few sentences what came out."""
    found = []
    for gold in result.golds:
        name = gold.gold.name
        if gold.segment:
            best = gold.segment[0]
            won = ", ".join(gold.winners) or "none"
            found.append(
                f"Against {name}: {best.metric} has the highest r ({_shown(best.pearson.estimate)}). Not "
                f"significantly outperformed by any other (Williams test): {won}."
            )
        elif gold.system:
            best_system = gold.system[0]
            found.append(
                f"Against {name}, at system level: {best_system.metric} has the highest r "
                f"({_shown(best_system.pearson.estimate)})."
            )
        if gold.gold.n_without_gold:
            found.append(
                f"{gold.gold.n_without_gold:,} translations have no score in {name} and are left out."
            )
        if gold.gold.n_ignored:
            found.append(
                f"{gold.gold.n_ignored:,} scores unknown to {name} were ignored, as asked."
            )
        found += gold.gold.notes
    for compared in result.comparisons:
        moved = sum(one.change != 0 for one in compared.changes)
        found.append(
            f"Between {compared.first} and {compared.second}, {moved} of {len(compared.changes)} metrics "
            f"change their rank at {compared.level} level."
        )
    return found


def _shown(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.3f}"


def inputs_table(result: EvaluationResult) -> Table:
    """List what went in, with the fingerprint of each file."""
    rows: list[list[Cell]] = [
        [
            text(one.name),
            text(one.role),
            text(one.level),
            text("higher" if one.higher_is_better else "lower"),
            text(one.sha256 or "–"),
        ]
        for one in result.inputs
    ]
    titles = ("name", "is", "level", "better", "SHA-256 of the file")
    return Table(
        name="inputs",
        caption="What went in",
        columns=[Column(title, is_number=False) for title in titles],
        rows=rows,
    )


def _markdown(
    result: EvaluationResult, tables: Sequence[Table], pictures: Sequence[Picture]
) -> str:
    parts = [f"# {escape_markdown(title_of(result))}\n"]
    parts += [f"* {escape_markdown(sentence)}" for sentence in findings(result)]
    parts += ["\n## Tables\n", *(to_markdown(table) for table in tables)]
    parts.append("## Pictures\n")
    for picture in pictures:
        alt, words = escape_markdown(picture.title), escape_markdown(picture.alternative)
        parts.append(f"![{alt}](<figures/{picture.name}.svg>)\n\n{words}\n")
    parts += ["## How it was made\n", to_markdown(inputs_table(result))]
    # Code shows a signature as it is; a backtick in a name would end it.
    parts.append(f"`{result.signature.replace('`', chr(39))}`\n")
    return "\n".join(parts)
