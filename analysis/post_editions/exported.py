"""Read post-editions from what the platform exports: the table of a campaign, or an archive in a layout of WMT."""

import json
import zipfile
import zlib
from collections.abc import Callable, Iterator
from io import BytesIO
from typing import Any

from da_platform.files.cells import undo_defuse, undo_escape_tsv, undo_join_names
from da_platform.files.problems import Problems
from hits.campaigns.importing.tables import csv_cells

from ..scores.raw_files import MAX_FILE_BYTES, RawFile

# The columns by which the table is known, and the others that are read.
COLUMNS = ("role", "segment", "systems", "post_edition", "worker")
READ = ("checked_text", "checker", "pet", "is_trusted")
# The files of an archive that are read; the first two must be there.
MEMBERS = ("names", "pe", "seconds", "editors")
ZIP_MARK = b"PK\x03\x04"
_NOT_READABLE = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    OSError,
    RuntimeError,
    NotImplementedError,
    ValueError,
)
# Methods that unpack in chunks, as exports use them. Others unpack a whole block at once.
_METHODS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
_NONE = ("", "nan", "null")

# The line, and the cells by name; `systems` is a list.
Cells = tuple[int, dict[str, Any]]


def exported_rows(raw: RawFile, problems: Problems) -> Iterator[Cells] | None:
    """Yield the rows of an export that count towards gold, or return None for any other file.

    Each has `systems`, `segment`, `text` (after the check, if there was one), `editor` and `seconds` (as a text, empty if it
    is not known).
    """
    if raw.content.startswith(ZIP_MARK):
        return _rows_of_archive(raw, problems)
    first = raw.content.partition(b"\n")[0].decode(errors="replace")
    if first.startswith("{"):
        return (
            _rows_of_table(raw, _json_rows(raw, problems), problems) if _is_table(first) else None
        )
    for separator, rows in (("\t", _tsv_rows), (",", _csv_rows)):
        titles = first.strip("\ufeff\r").split(separator)
        if set(COLUMNS) <= set(titles):
            return _rows_of_table(raw, rows(raw, problems), problems)
    return None


def _is_table(first: str) -> bool:
    try:
        return set(COLUMNS) <= json.loads(first).keys()
    except (ValueError, AttributeError):
        return False


def _rows_of_table(raw: RawFile, rows: Iterator[Cells], problems: Problems) -> Iterator[Cells]:
    for line, cells in rows:
        missing = [name for name in READ if name not in cells]
        if missing:
            reason = f"has no {', '.join(missing)}: export the post-editions again"
            problems.add(raw.name, line, reason)
            return
        # Of outputs, and not of hidden items.
        if cells["role"] == "genuine" and cells["is_trusted"] in (True, "true"):
            yield (
                line,
                {
                    "systems": cells["systems"],
                    "segment": cells["segment"],
                    "text": cells["checked_text"] if cells["checker"] else cells["post_edition"],
                    "editor": cells["worker"],
                    "seconds": _seconds(cells["pet"]),
                },
            )


def _seconds(cell: object) -> str:
    return "" if cell is None or cell in _NONE else str(cell)


def _csv_rows(raw: RawFile, problems: Problems) -> Iterator[Cells]:
    lines = raw.lines(problems, may_have_crlf=True)
    return _named(raw, csv_cells(lines, raw.name, problems), undo_defuse, problems)


def _tsv_rows(raw: RawFile, problems: Problems) -> Iterator[Cells]:
    lines = ((number, line.split("\t")) for number, line in raw.lines(problems) if line is not None)
    return _named(raw, lines, lambda cell: undo_defuse(undo_escape_tsv(cell)), problems)


def _named(
    raw: RawFile,
    rows: Iterator[tuple[int, list[str]]],
    undo: Callable[[str], str],
    problems: Problems,
) -> Iterator[Cells]:
    """Name the cells after the header, as they were before they were escaped."""
    _, header = next(rows, (0, []))
    titles = [title.strip("\ufeff") for title in header]
    for line, cells in rows:
        if len(cells) != len(titles):
            problems.add(
                raw.name, line, f"has {len(cells)} cells, but the header has {len(titles)}"
            )
            continue
        named: dict[str, Any] = dict(zip(titles, map(undo, cells), strict=True))
        yield line, named | {"systems": undo_join_names(named["systems"])}


def _json_rows(raw: RawFile, problems: Problems) -> Iterator[Cells]:
    for line, text in raw.lines(problems):
        try:
            cells = json.loads(text or "")
        except ValueError:
            cells = None
        if not isinstance(cells, dict) or not _is_exported(cells):
            problems.add(raw.name, line, "is not a row of an export")
            return
        yield line, cells


def _is_exported(cells: dict[str, Any]) -> bool:
    systems = cells.get("systems")
    texts = (*COLUMNS, "checked_text", "checker")
    return isinstance(systems, list) and all(
        isinstance(cells.get(name), str | None) for name in texts if name != "systems"
    )


# Archives -------------------------------------------------------------------------------------


def _rows_of_archive(raw: RawFile, problems: Problems) -> Iterator[Cells]:
    columns = _members(raw, problems)
    if columns is None:
        return
    names, texts = columns["names"], columns["pe"]
    blank = [""] * len(names)
    for line, (name, text, seconds, editor) in enumerate(
        zip(
            names, texts, columns.get("seconds", blank), columns.get("editors", blank), strict=True
        ),
        start=1,
    ):
        segment, tab, systems = name.rpartition("\t")
        if not tab:
            problems.add(f"{raw.name}/names", line, "must have a segment, a tab and systems")
            continue
        yield (
            line,
            {
                "systems": undo_join_names(systems),
                "segment": segment,
                "text": text,
                "editor": editor,
                "seconds": _seconds(seconds),
            },
        )


def _members(raw: RawFile, problems: Problems) -> dict[str, list[str]] | None:
    """Return the lines of the files that are read, which all have the same number."""
    try:
        with zipfile.ZipFile(BytesIO(raw.content)) as archive:
            there = {
                info.filename: info.file_size
                for info in archive.infolist()
                if info.compress_type in _METHODS
            }
            read = [name for name in MEMBERS if name in there]
            if read[:2] != list(MEMBERS[:2]):
                problems.add(raw.name, None, "must have the files names and pe, as exports do")
                return None
            if sum(there[name] for name in read) > MAX_FILE_BYTES:
                problems.add(raw.name, None, f"holds more than {MAX_FILE_BYTES:,} bytes")
                return None
            # No more than a file says it holds is unpacked.
            files = {name: archive.read(name) for name in read}
    except _NOT_READABLE:
        problems.add(raw.name, None, "is not a zip archive that can be read")
        return None
    columns = {
        name: [
            line or ""
            for _, line in RawFile(f"{raw.name}/{name}", content).lines(
                problems, may_have_crlf=True
            )
        ]
        for name, content in files.items()
    }
    if len({len(lines) for lines in columns.values()}) > 1:
        problems.add(raw.name, None, "has files with different numbers of lines")
        return None
    return columns
