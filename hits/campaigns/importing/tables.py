"""Read tables with one translation per row, in any order: TSV, CSV or JSONL."""

import csv
import hashlib
import json
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from da_platform.files.problems import Fix, Problems
from da_platform.files.reading import CampaignFolder, Line, read_lines

from .records import (
    NEEDS_REFERENCES,
    NO_TEXT,
    Draft,
    Grid,
    ReadingOptions,
    checked_name,
    checked_text,
)

REQUIRED_COLUMNS = ("segment", "system", "translation")
OPTIONAL_COLUMNS = ("document", "source", "reference", "second_reference")
MEDIA_COLUMNS = ("media", "captions")
COLUMNS = (*REQUIRED_COLUMNS, *OPTIONAL_COLUMNS, *MEDIA_COLUMNS)
COLUMNS_IN_WORDS = {
    "segment": "id of the segment",
    "system": "name of the system",
    "translation": "the system's output",
    "source": "the source; needed if workers see it",
    "reference": "the reference; needed if workers see it",
    "second_reference": "optional: another reference or a paraphrase",
    "document": "optional: the segment's document",
    "media": "optional: the file that is the source, in a zip with the table",
    "captions": "optional: the file with its captions, as WebVTT",
}
_NAME_COLUMNS = ("segment", "system", "document")
# Other names of columns.
ALIASES = {"paraphrase": "second_reference"}

# The line a row begins on, and its cells by column.
Row = tuple[int, dict[str, str]]


def read_tsv(path: Path, options: ReadingOptions, problems: Problems) -> Draft:
    """Read tab-separated values, without quoting: a quotation mark is part of the text."""
    folder = CampaignFolder(path)
    lines = read_lines(folder, path, problems, mender=options.mender)
    cells = ((number, line.split("\t")) for number, line in lines if line is not None)
    return _read_rows(_with_header(cells, path, options, problems), path, options, problems)


def read_csv(path: Path, options: ReadingOptions, problems: Problems) -> Draft:
    # RFC 4180 ends lines with CR LF, and so do Excel and our own exports.
    folder = CampaignFolder(path)
    lines = read_lines(folder, path, problems, may_have_crlf=True, mender=options.mender)
    cells = csv_cells(lines, path.name, problems)
    return _read_rows(_with_header(cells, path, options, problems), path, options, problems)


def read_jsonl(path: Path, options: ReadingOptions, problems: Problems) -> Draft:
    return _read_rows(_json_rows(path, options, problems), path, options, problems)


# Rows of each kind of file --------------------------------------------------------------------


class _LineCounter:
    """Passes readable lines to a CSV reader, and keeps the number of the last one."""

    def __init__(self, lines: Iterable[Line]) -> None:
        self._lines = lines
        self.number = 0

    def __iter__(self) -> Iterator[str]:
        for number, line in self._lines:
            if line is not None:
                self.number = number
                yield f"{line}\n"


def csv_cells(
    numbered: Iterable[Line], file: str, problems: Problems
) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a CSV file, each with the number of the line it begins on."""
    lines = _LineCounter(numbered)
    reader = csv.reader(lines, strict=True)
    n_before = 0
    try:
        for cells in reader:
            yield lines.number - (reader.line_num - n_before) + 1, cells
            n_before = reader.line_num
    except csv.Error as error:
        first_line = max(1, lines.number - (reader.line_num - n_before) + 1)
        problems.add(file, first_line, f"is not CSV: {error}; the rest was not read")


def _with_header(
    rows: Iterator[tuple[int, list[str]]], path: Path, options: ReadingOptions, problems: Problems
) -> Iterator[Row]:
    number, header = next(rows, (0, []))
    if number != 1:
        # The first line was unreadable, and has been reported.
        return
    n_before = problems.total
    _check_columns(header, path.name, 1, options, problems)
    if problems.total > n_before:
        return
    for number, cells in rows:
        if cells in ([], [""]):
            problems.add(path.name, number, "is an empty line")
        elif len(cells) != len(header):
            problems.add(
                path.name, number, f"has {len(cells)} cells, but the header has {len(header)}"
            )
        else:
            yield number, dict(zip(map(_column, header), cells, strict=True))


def _column(name: str) -> str:
    return ALIASES.get(name, name)


def _check_columns(
    names: Iterable[str], file: str, line: int, options: ReadingOptions, problems: Problems
) -> None:
    counts = Counter(map(_column, names))
    if not counts.keys() & set(COLUMNS):
        problems.add(file, line, f"does not name the columns: {', '.join(COLUMNS)}")
        return
    for name, count in counts.items():
        if name in options.ignore_columns:
            continue
        if name not in COLUMNS:
            reason = f"column {name!r} is unknown; use {', '.join(COLUMNS)}, or have it ignored"
            problems.add(file, line, reason, Fix("ignore_columns", (name,), "unknown columns"))
        elif count > 1:
            problems.add(file, line, f"column {name!r} appears {count} times")
    # A picture, a sound or a video can do without a transcript.
    has_source = "media" in counts
    missing = [
        name
        for name in _needed_columns(options)
        if name not in counts and not (name == "source" and has_source)
    ]
    if missing:
        problems.add(file, line, f"has no column {' and no column '.join(map(repr, missing))}")
    elif not {"source", "reference", "media"} & counts.keys():
        problems.add(file, line, "has neither a column 'source' nor a column 'reference'")
    elif "second_reference" in counts and "reference" not in counts:
        problems.add(file, line, NEEDS_REFERENCES)


def _needed_columns(options: ReadingOptions) -> tuple[str, ...]:
    if options.needs_source:
        return (*REQUIRED_COLUMNS, "source")
    if options.needs_reference:
        return (*REQUIRED_COLUMNS, "reference")
    return REQUIRED_COLUMNS


def _json_rows(path: Path, options: ReadingOptions, problems: Problems) -> Iterator[Row]:
    columns: tuple[str, ...] | None = None
    folder = CampaignFolder(path)
    for number, line in read_lines(folder, path, problems, mender=options.mender):
        pairs = None if line is None else json_pairs(line, path.name, number, problems)
        if pairs is None:
            continue
        names = tuple(sorted(name for name, _ in pairs))
        if names != columns:
            # Most rows have the same columns as the one before, and need no check.
            n_before = problems.total
            _check_columns(names, path.name, number, options, problems)
            columns = names if problems.total == n_before else None
        read = [pair for pair in pairs if pair[0] not in options.ignore_columns]
        if columns is not None and _are_strings(read, path.name, number, problems):
            yield number, {_column(name): value for name, value in read}


def json_pairs(
    line: str, file: str, number: int, problems: Problems
) -> list[tuple[str, Any]] | None:
    """Read an object as pairs, to keep duplicate keys; report a problem and return None if it is not one."""
    if not line.strip():
        problems.add(file, number, "is an empty line")
        return None
    try:
        pairs = json.loads(line, object_pairs_hook=_Pairs)
    except json.JSONDecodeError as error:
        problems.add(file, number, f"is not JSON: {error.msg} at character {error.pos + 1}")
        return None
    except (ValueError, RecursionError):
        # A number with thousands of digits, or brackets nested too deep.
        problems.add(file, number, "cannot be read as JSON")
        return None
    if not isinstance(pairs, _Pairs):
        problems.add(file, number, "is not a JSON object")
        return None
    return pairs


class _Pairs(list[tuple[str, Any]]):
    """A JSON object; a plain list is a JSON array."""


def _are_strings(pairs: list[tuple[str, Any]], file: str, number: int, problems: Problems) -> bool:
    wrong = [name for name, value in pairs if not isinstance(value, str)]
    for name in wrong:
        problems.add(file, number, f"the value of {name!r} is not a string")
    return not wrong


# From rows to a draft -------------------------------------------------------------------------


def _read_rows(
    rows: Iterator[Row], path: Path, options: ReadingOptions, problems: Problems
) -> Draft:
    table = _Table(path.name, options, problems)
    n_before = problems.total
    for number, cells in rows:
        table.add(number, cells)
    if problems.total - n_before > table.n_problems:
        # Some rows were unreadable, so we cannot tell which outputs are missing.
        return table.draft
    if not table.systems:
        problems.add(path.name, None, "has no rows below its header")
    table.draft.report_missing_outputs(path.name, options, problems)
    table.report_missing_second_references()
    return table.draft


class _Table:
    """Collects rows, and checks each against earlier rows of the same segment."""

    def __init__(self, file: str, options: ReadingOptions, problems: Problems) -> None:
        self.draft = Draft()
        self.systems: dict[str, int] = {}
        self.n_problems = 0
        self._file = file
        self._options = options
        self._problems = problems
        self._may_be_empty = options.allow_empty_translations
        self._segments: dict[str, int] = {}
        # The first line of each segment and each output.
        self._segment_lines = array("q")
        self._output_lines = Grid()
        self._digests: list[tuple[bytes, ...]] = []

    def add(self, number: int, cells: dict[str, str]) -> None:
        cells = self._with_clean_names(number, cells)
        segment = self._segments.get(cells["segment"])
        if segment is None:
            segment = self._add_segment(number, cells)
        else:
            self._compare(segment, number, cells)
        system = self.systems.get(cells["system"])
        if system is None:
            self._check_name("system", number, cells)
            system = self.systems[cells["system"]] = self.draft.add_system(cells["system"])
        if (first := self._output_lines.get(system, segment)) != NO_TEXT:
            self._report(
                number,
                f"system {cells['system']!r} already has a translation of segment "
                f"{cells['segment']!r} on line {first}",
            )
        self._output_lines.set(system, segment, number)
        place = self._add_text("translation", number, cells, may_be_empty=self._may_be_empty)
        self.draft.set_output(system, segment, place)

    def _add_segment(self, number: int, cells: dict[str, str]) -> int:
        self._check_name("segment", number, cells)
        if cells.get("document"):
            self._check_name("document", number, cells)
        segment = self.draft.add_segment(
            cells["segment"],
            document=cells.get("document", ""),
            source=self._add_text("source", number, cells, may_be_empty=bool(cells.get("media"))),
            reference=self._add_text("reference", number, cells),
            second_reference=self._add_text("second_reference", number, cells),
        )
        self.draft.media.append(cells.get("media", ""))
        self.draft.captions.append(cells.get("captions", ""))
        if cells.get("captions") and not cells.get("media"):
            self._report(number, "has captions, but no media")
        if cells.get("media") and not self._options.needs_source:
            self._report(number, "has media, but workers would not see sources in this task")
        self._segments[cells["segment"]] = segment
        self._segment_lines.append(number)
        self._digests.append(_digests(cells))
        return segment

    def _compare(self, segment: int, number: int, cells: dict[str, str]) -> None:
        first, current = self._digests[segment], _digests(cells)
        columns = (*OPTIONAL_COLUMNS, *MEDIA_COLUMNS)
        for column, expected, digest in zip(columns, first, current, strict=True):
            if digest != expected:
                self._report(
                    number,
                    f"the {_in_words(column)} of segment {cells['segment']!r} is not the same "
                    f"as on line {self._segment_lines[segment]}",
                )

    def _add_text(
        self, column: str, number: int, cells: dict[str, str], *, may_be_empty: bool = False
    ) -> int:
        if column not in cells:
            return NO_TEXT
        n_before = self._problems.total
        text = checked_text(
            cells[column],
            f"the {_in_words(column)}",
            file=self._file,
            line=number,
            options=self._options,
            problems=self._problems,
            may_be_empty=may_be_empty,
        )
        self.n_problems += self._problems.total - n_before
        return self.draft.add_text(text)

    def _check_name(self, column: str, number: int, cells: dict[str, str]) -> None:
        n_before = self._problems.total
        checked_name(
            cells[column],
            f"the {column}'s name",
            file=self._file,
            line=number,
            options=self._options,
            problems=self._problems,
        )
        self.n_problems += self._problems.total - n_before

    def _with_clean_names(self, number: int, cells: dict[str, str]) -> dict[str, str]:
        """Mend names before rows are compared by them."""
        mender = self._options.mender
        if not mender.cleans:
            return cells
        names = {
            column: mender.text(cells[column], self._file, number)
            for column in _NAME_COLUMNS
            if column in cells
        }
        return cells | names

    def report_missing_second_references(self) -> None:
        for segment in self.draft.without_second_reference():
            name = self.draft.names[segment]
            reason = f"segment {name!r} has no second reference, but others have one"
            self._report(self._segment_lines[segment], reason)

    def _report(self, number: int, reason: str) -> None:
        self.n_problems += 1
        self._problems.add(self._file, number, reason)


def _in_words(column: str) -> str:
    return column.replace("_", " ")


def _digests(cells: dict[str, str]) -> tuple[bytes, ...]:
    """Hash the optional columns of a row, to compare rows without keeping their texts."""
    return tuple(
        hashlib.blake2b(cells.get(column, "").encode(errors="replace"), digest_size=16).digest()
        for column in (*OPTIONAL_COLUMNS, *MEDIA_COLUMNS)
    )
