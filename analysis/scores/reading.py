"""Read files of metric scores into tables, or list everything that is wrong with them."""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from da_platform.files.problems import Problems
from da_platform.files.reading import printable
from da_platform.files.texts import fault_in_name

from ..stats.signature import signature
from .directions import Suggestion, suggest_direction
from .errors import refuse_if_any
from .formats import PARSERS, find_format
from .parsers import Row, Sheet, is_number
from .plain_files import plain_scores
from .raw_files import RawFile, is_usable, load
from .score_tables import Key, Level, ScoreTable, shown

# Columns by which a file can be narrowed down with `only`.
CHOICES = ("language_pair", "testset", "reference")
# Cells that mean a missing score.
NO_SCORE = frozenset({"", "-", "None", "none", "null", "NA", "N/A", "NaN", "nan"})

# The format of a system and a score per line, of which most files are read in a quicker way.
PLAIN = "mt-metrics-eval"

RANKS_SUFFIX = " (ranks)"
_ENDINGS = (".seg.score", ".sys.score")
# What the names of files in mt-metrics-eval begin with.
_LANGUAGE_PAIR = re.compile(r"[a-z]{2,3}-[a-z]{2,3}\.(?=.)")


@dataclass(frozen=True, slots=True)
class ScoreFile:
    """The content of a score file.

    Attributes
    ----------
    tables : tuple of ScoreTable
        One for each metric, in order of appearance.
    format : str
    sha256 : str
    suggestions : dict
        Suggested directions of metrics that have none, to be confirmed by a person.
    notes : tuple of str
        How the file was interpreted.
    """

    tables: tuple[ScoreTable, ...]
    format: str
    sha256: str
    suggestions: dict[str, Suggestion]
    notes: tuple[str, ...]

    @property
    def unconfirmed(self) -> tuple[str, ...]:
        """Names of the metrics without a direction."""
        return tuple(table.name for table in self.tables if table.higher_is_better is None)


def read_scores(
    source: Path | RawFile,
    *,
    format: str | None = None,
    name: str | None = None,
    directions: Mapping[str, bool] | bool | None = None,
    system: str = "",
    only: Mapping[str, str] | None = None,
) -> ScoreFile:
    """Read the scores of one or more metrics from a file.

    Parameters
    ----------
    source : Path or RawFile
    format : str, optional
        One of `FORMATS`; by default, detected from the content.
    name : str, optional
        Name of the metric, for files that do not name it; by default, the file name.
    directions : bool or mapping of str to bool, optional
        Whether higher is better, for all metrics or by name. Overrides what the file says.
    system : str
        The system that was scored, for files that do not name systems.
    only : mapping, optional
        Which `language_pair`, `testset` or `reference` to read from a file that holds several.

    Returns
    -------
    ScoreFile

    Raises
    ------
    ScoresRefused
        Listing everything that is wrong.
    """
    problems = Problems()
    raw = open_raw(source, problems)
    format = format_of(raw, format, problems)
    name, choices = name or default_name(raw.name), read_as(system, only or {})
    how = signature(**choices) if choices else ""
    if format == PLAIN and not only and not fault_in_name(name) and (plain := plain_scores(raw)):
        higher = _direction(name, _Column(), directions)
        table = ScoreTable(name, "segment", *plain, higher, raw.sha256, how)
        return ScoreFile((table,), format, raw.sha256, _suggestions([table], format), ())
    sheet = PARSERS[format](raw, problems)
    rows = chosen_rows(sheet, only or {}, raw.name, problems)
    columns = _gather(sheet, rows, name, system, raw.name, problems)
    if not columns and not problems.total:
        problems.add(raw.name, None, "has no scores")
    refuse_if_any(problems)
    level = level_of(sheet)
    if facts := choices | sheet.figures:
        how = signature(**facts)
    tables = [
        ScoreTable(
            name=metric,
            level=level,
            keys=tuple(column.scores),
            scores=np.fromiter(column.scores.values(), dtype=np.float64),
            higher_is_better=_direction(metric, column, directions),
            sha256=raw.sha256,
            signature=how,
            document_of=_documents_in(sheet, rows),
        )
        for metric, column in columns.items()
    ]
    notes = [f"{name}: 1 is best" for name, column in columns.items() if column.is_ranks]
    if sheet.figures:
        notes += [f"{name}: {_listed(sheet.figures)}" for name in columns]
    return ScoreFile(tuple(tables), format, raw.sha256, _suggestions(tables, format), tuple(notes))


def _documents_in(sheet: Sheet, rows: Iterable[Row]) -> dict[str, str] | None:
    """Return the document of each segment, if the file says so."""
    if not {"segment", "document"} <= sheet.roles:
        return None
    return {cells["segment"]: cells["document"] for _, cells in rows}


def _listed(figures: Mapping[str, str]) -> str:
    """Say what a file says about its models, such as `583,891,109 parameters`."""
    return ", ".join(
        f"{int(value):,} {name}" if value.isdigit() else f"{name} {value}"
        for name, value in figures.items()
    )


def read_as(system: str, only: Mapping[str, str]) -> dict[str, str]:
    """Return the choices made when reading a file, for a signature."""
    chosen = {name: value for name, value in sorted(only.items()) if value}
    return chosen | ({"system": system} if system else {})


def _suggestions(tables: list[ScoreTable], format: str) -> dict[str, Suggestion]:
    suggestions = {}
    for table in tables:
        if table.higher_is_better is None and (hint := suggestion_for(table.name, format)):
            suggestions[table.name] = hint
    return suggestions


def suggestion_for(name: str, format: str) -> Suggestion | None:
    """Suggest the direction of a metric from its format or name; a person has to confirm it."""
    if format == PLAIN:
        return Suggestion(True, "mt-metrics-eval keeps scores so that higher is better")
    return suggest_direction(name)


def without_ranks(file: ScoreFile) -> ScoreFile:
    """Leave out rankings submitted with scores: both are the same submission."""
    names = {table.name for table in file.tables}
    tables = [
        table
        for table in file.tables
        if table.name.removesuffix(RANKS_SUFFIX) not in names - {table.name}
    ]
    remaining = {table.name for table in tables}
    notes = tuple(note for note in file.notes if note.rpartition(":")[0] in remaining)
    return replace(file, tables=tuple(tables), notes=notes)


def _direction(
    metric: str, column: "_Column", directions: Mapping[str, bool] | bool | None
) -> bool | None:
    if column.is_ranks:
        return False
    if isinstance(directions, Mapping):
        return directions.get(metric, column.declared)
    return column.declared if directions is None else directions


def default_name(file: str) -> str:
    """Name a metric after its file: BLEU for BLEU.seg.score and for BLEU.tsv."""
    for ending in _ENDINGS:
        if file.endswith(ending):
            return file.removesuffix(ending)
    return Path(file).stem


def without_language_pair(name: str) -> str:
    """Shorten a name such as `zh-en.mqm` to `mqm`."""
    return _LANGUAGE_PAIR.sub("", name, count=1) if _LANGUAGE_PAIR.match(name) else name


# Shared with gold -----------------------------------------------------------------------------


def open_raw(source: Path | RawFile, problems: Problems) -> RawFile:
    """Load a file, or refuse it if it cannot be read."""
    raw = load(source, problems) if isinstance(source, Path) else source
    if raw is not None and not isinstance(source, Path):
        is_usable(raw, problems)
    refuse_if_any(problems)
    assert raw is not None
    return raw


def format_of(raw: RawFile, format: str | None, problems: Problems) -> str:
    """Return the format of a file, or refuse one that is unknown."""
    format = format or find_format(raw, problems)
    refuse_if_any(problems)
    assert format is not None
    if format not in PARSERS:
        problems.add(
            "", None, f"{format!r} is not a supported format; choose from {', '.join(PARSERS)}"
        )
        refuse_if_any(problems)
    return format


def segment_role(sheet: Sheet) -> str:
    """Return the column that names what was scored: segments, or else documents; empty for whole systems."""
    return next((role for role in ("segment", "document") if role in sheet.roles), "")


def level_of(sheet: Sheet) -> Level:
    return "segment" if segment_role(sheet) else "system"


def parse(raw: RawFile, format: str | None, problems: Problems) -> tuple[str, Sheet]:
    """Return the format and the rows of a file, adding the problems of its lines."""
    format = format_of(raw, format, problems)
    return format, PARSERS[format](raw, problems)


def chosen_rows(sheet: Sheet, only: Mapping[str, str], file: str, problems: Problems) -> list[Row]:
    """Keep the rows of one language pair, test set and reference; refuse if several remain."""
    rows = sheet.rows
    for role in only:
        if role not in CHOICES:
            problems.add("", None, f"{role!r} cannot be chosen; choose from {', '.join(CHOICES)}")
        elif role not in sheet.roles:
            problems.add(file, None, f"has no column for the {_spoken(role)}")
    for role in CHOICES:
        if role not in sheet.roles:
            continue
        values = sorted({cells[role] for _, cells in rows})
        if role in only:
            rows = [row for row in rows if row[1][role] == only[role]]
            if not rows:
                listed = ", ".join(values[:10])
                problems.add(file, None, f"has no {_spoken(role)} {only[role]!r}, only {listed}")
        elif len(values) > 1:
            listed = ", ".join(map(printable, values[:10]))
            problems.add(file, None, f"has several {_spoken(role)}s; choose one: {listed}")
    return rows


def _spoken(role: str) -> str:
    return role.replace("_", " ")


def number_in(text: str, file: str, line: int, problems: Problems, *, what: str = "score") -> float:
    """Return a finite number; add a problem and return NaN for anything else."""
    if is_number(text):
        value = float(text)
        if math.isfinite(value):
            return value
        problems.add(file, line, f"the {what} {printable(text[:40])} is too large")
    elif text.strip() in NO_SCORE:
        problems.add(file, line, f"has no {what} ({text!r})" if text else f"has no {what}")
    else:
        problems.add(file, line, f"the {what} {printable(text[:40])!r} is not a finite number")
    return math.nan


class KeyChecker:
    """Builds the keys of rows and checks each new name once."""

    def __init__(self, sheet: Sheet, system: str, file: str, problems: Problems) -> None:
        self._names_systems = "system" in sheet.roles
        self._role = segment_role(sheet)
        self._system = system
        self._file = file
        self._problems = problems
        self._systems: set[str] = set()
        self._segments: set[str] = set()

    def key(self, line: int, cells: Mapping[str, str]) -> Key:
        system = cells["system"] if self._names_systems else self._system
        segment = cells[self._role] if self._role else ""
        # Files have a million rows, but few names: look before calling.
        if self._names_systems and system not in self._systems:
            self._check("system", system, self._systems, line)
        if self._role and segment not in self._segments:
            self._check(self._role, segment, self._segments, line)
        return system, segment

    def _check(self, role: str, name: str, checked: set[str], line: int) -> None:
        checked.add(name)
        if fault := fault_in_name(name):
            self._problems.add(self._file, line, f"the {role}'s name {fault}")


# Gathering ------------------------------------------------------------------------------------


@dataclass
class _Column:
    """One metric's scores, and the line of each."""

    declared: bool | None = None
    is_ranks: bool = False
    scores: dict[Key, float] = field(default_factory=dict)
    lines: dict[Key, int] = field(default_factory=dict)


def _gather(
    sheet: Sheet, rows: Iterable[Row], name: str, system: str, file: str, problems: Problems
) -> dict[str, _Column]:
    columns: dict[str, _Column] = {}
    keys = KeyChecker(sheet, system, file, problems)
    # Where rows do not name the metric, all have the same scores: look them up once.
    fixed = None if "metric" in sheet.roles else _scores_in(sheet, name)
    for line, cells in rows:
        key = keys.key(line, cells)
        for metric, role, direction, is_ranks in fixed or _scores_in(
            sheet, cells.get("metric", name)
        ):
            column = columns.get(metric)
            if column is None:
                if fault := fault_in_name(metric):
                    problems.add(file, line, f"the metric's name {fault}")
                column = columns[metric] = _Column(direction, is_ranks)
            if key in column.lines:
                problems.add(
                    file,
                    line,
                    f"{metric} already has a score for {shown(key)} on line {column.lines[key]}",
                )
                continue
            column.scores[key] = number_in(cells[role], file, line, problems)
            column.lines[key] = line
    return _without_empty_variant(columns)


def _scores_in(sheet: Sheet, name: str) -> list[tuple[str, str, bool | None, bool]]:
    """Return metric, cell, declared direction and whether it is a rank, for each score in a row."""
    scores = [(title, title, sheet.declared.get(title), False) for title in sheet.titles]
    if "score" in sheet.roles:
        if "rank" in sheet.roles:
            scores.insert(0, (f"{name}{RANKS_SUFFIX}", "rank", False, True))
        scores.insert(0, (name, "score", sheet.declared.get("score"), False))
    return scores


def _without_empty_variant(columns: dict[str, _Column]) -> dict[str, _Column]:
    """Drop the unused half of a QE submission: its ranks or its scores, if they are all equal."""
    used = dict(columns)
    for name in [name for name, column in columns.items() if column.is_ranks]:
        score_name = name.removesuffix(RANKS_SUFFIX)
        ranks_vary = len(set(columns[name].scores.values())) > 1
        scores_vary = len(set(columns[score_name].scores.values())) > 1
        if not ranks_vary:
            del used[name]
        elif not scores_vary:
            del used[score_name]
    return used
