"""Write columns as CSV, TSV, JSON Lines, Parquet and the layouts of other projects."""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from math import isnan
from typing import TYPE_CHECKING, Any, BinaryIO

from da_platform.files.cells import CellCache, defuse, escape_spaces, escape_tsv, join_names

from .batches import Batch
from .queries import Column, Kind

if TYPE_CHECKING:
    import pyarrow as pa

# Large enough to compress well, small enough to hold in memory.
ROW_GROUP_ROWS = 100_000

_LINE_BREAKS = re.compile("[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_TEXT_KINDS = {Kind.TEXT, Kind.WORKER, Kind.ASSIGNMENT}
_FLAGS = {True: "true", False: "false"}

Encoder = Callable[[Sequence[Any]], Iterable[Any]]


class Writer(ABC):
    """Writes batches to a stream, which is not complete before `finish`."""

    def __init__(self, stream: BinaryIO, columns: Sequence[Column]) -> None:
        self._stream = stream
        self._columns = columns

    @abstractmethod
    def write(self, batch: Batch) -> None: ...

    def finish(self) -> None:
        """Write the end of the file."""
        return

    def abandon(self) -> None:
        """Release the stream without completing the file."""
        return


class TextWriter(Writer):
    """Encodes the cells of each column as text, and joins rows into lines."""

    def __init__(self, stream: BinaryIO, columns: Sequence[Column]) -> None:
        super().__init__(stream, columns)
        self._encoders = [self._encoder(column.kind) for column in columns]
        if header := self._header():
            stream.write(header.encode())

    def write(self, batch: Batch) -> None:
        cells = (encode(column) for encode, column in zip(self._encoders, batch, strict=True))
        self._stream.write(self._lines(zip(*cells, strict=True)).encode())

    @abstractmethod
    def _encoder(self, kind: Kind) -> Encoder: ...

    @abstractmethod
    def _lines(self, rows: Iterable[tuple]) -> str: ...

    def _header(self) -> str:
        return ""


def _cached(function: Callable[..., str]) -> Encoder:
    cache = CellCache(function)
    return lambda cells: map(cache.__getitem__, cells)


def _unchanged(cells: Sequence[Any]) -> Iterable[Any]:
    return cells


class CSVWriter(TextWriter):
    """RFC 4180, UTF-8, with formulas defused. An empty cell is a missing value."""

    # With this line end, the csv module quotes cells that contain CR or LF.
    _format: dict[str, Any] = {"lineterminator": "\r\n"}

    def _encoder(self, kind: Kind) -> Encoder:
        if kind in _TEXT_KINDS:
            return _cached(self._text)
        if kind is Kind.NAMES:
            return _cached(lambda names: self._text(join_names(names)))
        if kind is Kind.FLAG:
            return _cached(_FLAGS.__getitem__)
        return _unchanged

    def _text(self, text: str | None) -> str:
        return "" if text is None else defuse(text)

    def _lines(self, rows: Iterable[tuple]) -> str:
        buffer = io.StringIO(newline="")
        csv.writer(buffer, **self._format).writerows(rows)
        return buffer.getvalue()

    def _header(self) -> str:
        return self._lines([tuple(column.name for column in self._columns)])


class TSVWriter(CSVWriter):
    """Tabs and line breaks in texts are escaped, not quoted: one line is always one row."""

    _format: dict[str, Any] = {
        "lineterminator": "\n",
        "delimiter": "\t",
        "quoting": csv.QUOTE_NONE,
        "quotechar": None,
    }

    def _text(self, text: str | None) -> str:
        return escape_tsv(super()._text(text))


class JSONLinesWriter(TextWriter):
    """One JSON object per line."""

    def __init__(self, stream: BinaryIO, columns: Sequence[Column]) -> None:
        super().__init__(stream, columns)
        names = (json.dumps(column.name).replace("%", "%%") for column in columns)
        self._template = "{" + ", ".join(f"{name}: %s" for name in names) + "}\n"

    def _encoder(self, kind: Kind) -> Encoder:
        if kind in _TEXT_KINDS or kind is Kind.NAMES:
            return _cached(json_text)
        if kind is Kind.FLAG:
            return _cached(_FLAGS.__getitem__)
        if kind is Kind.TIME:
            return lambda cells: ["null" if cell is None else f'"{cell}"' for cell in cells]
        return lambda cells: ["null" if cell is None else cell for cell in cells]

    def _lines(self, rows: Iterable[tuple]) -> str:
        template = self._template
        return "".join([template % row for row in rows])


def json_text(value: Any) -> str:
    """Encode as JSON, escaping Unicode line breaks, at which some readers split lines."""
    text = json.dumps(value, ensure_ascii=False)
    for line_break in "\x85\u2028\u2029":
        text = text.replace(line_break, f"\\u{ord(line_break):04x}")
    return text


class ParquetWriter(Writer):
    """Apache Parquet with zstd, with the sidecar's facts in the schema's metadata."""

    def __init__(
        self, stream: BinaryIO, columns: Sequence[Column], metadata: dict[str, str]
    ) -> None:
        # Imported here because pages and other formats do not need it.
        import pyarrow as pa
        import pyarrow.parquet as pq

        super().__init__(stream, columns)
        types = {
            Kind.INTEGER: pa.int64(),
            Kind.NUMBER: pa.float64(),
            Kind.FLAG: pa.bool_(),
            Kind.TIME: pa.timestamp("us", tz="UTC"),
            Kind.NAMES: pa.list_(pa.string()),
        }
        self._schema = pa.schema(
            [(column.name, types.get(column.kind, pa.string())) for column in columns],
            metadata=metadata,
        )
        self._writer = pq.ParquetWriter(stream, self._schema, compression="zstd")
        self._waiting: list[pa.RecordBatch] = []
        self._n_waiting = 0

    def write(self, batch: Batch) -> None:
        import pyarrow as pa

        arrays = [
            _array(cells, field.type) for cells, field in zip(batch, self._schema, strict=True)
        ]
        self._waiting.append(pa.RecordBatch.from_arrays(arrays, schema=self._schema))
        self._n_waiting += len(arrays[0])
        if self._n_waiting >= ROW_GROUP_ROWS:
            self._write_row_group()

    def finish(self) -> None:
        self._write_row_group()
        self._writer.close()

    def abandon(self) -> None:
        # Otherwise the library writes its last bytes when the object is garbage collected.
        with suppress(Exception):
            self._writer.close()
        self._writer.is_open = False

    def _write_row_group(self) -> None:
        import pyarrow as pa

        # A batch may have no rows, and then there is no group to write.
        if self._n_waiting:
            table = pa.Table.from_batches(self._waiting, self._schema)
            self._writer.write_table(table, row_group_size=self._n_waiting)
        self._waiting, self._n_waiting = [], 0


def _array(cells: Sequence[Any], kind: pa.DataType) -> pa.Array:
    import pyarrow as pa

    if pa.types.is_timestamp(kind):
        return pa.array(cells, pa.string()).cast(kind)
    return pa.array(cells, kind)


class ScoreFileWriter(TextWriter):
    """mt-metrics-eval: a system, a tab, and a score or None on each line, without a header."""

    def _encoder(self, kind: Kind) -> Encoder:
        return _cached(escape_spaces) if kind is Kind.TEXT else _unchanged

    def _lines(self, rows: Iterable[tuple]) -> str:
        return "".join([f"{system}\t{score}\n" for system, score in rows])


class ArchiveWriter(Writer):
    """A zip archive with a text file for each column: a line for each row, in the same order."""

    def __init__(self, stream: BinaryIO, columns: Sequence[Column]) -> None:
        super().__init__(stream, columns)
        self._lines: list[list[str]] = [[] for _ in columns]

    def write(self, batch: Batch) -> None:
        for lines, column, cells in zip(self._lines, self._columns, batch, strict=True):
            as_line = _as_number if column.kind is Kind.NUMBER else _as_line
            lines.extend(map(as_line, cells))

    def finish(self) -> None:
        with zipfile.ZipFile(self._stream, "w", zipfile.ZIP_DEFLATED) as archive:
            for column, lines in zip(self._columns, self._lines, strict=True):
                add_member(archive, column.name, "".join(f"{line}\n" for line in lines))


class FolderWriter(Writer):
    """A zip archive with a text file for each row: its path and its content."""

    def __init__(self, stream: BinaryIO, columns: Sequence[Column]) -> None:
        super().__init__(stream, columns)
        self._archive = zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED)

    def write(self, batch: Batch) -> None:
        for path, content in zip(*batch, strict=True):
            add_member(self._archive, path, content)

    def finish(self) -> None:
        self._archive.close()


def add_member(archive: zipfile.ZipFile, name: str, content: str) -> None:
    # Without a time, so that the same rows give the same file.
    member = zipfile.ZipInfo(name)
    member.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(member, content)


def _as_number(cell: float) -> str:
    return "nan" if isnan(cell) else repr(float(cell))


def _as_line(text: str) -> str:
    """A text on one line. Texts of campaigns have no line breaks, but those typed into a field might."""
    return _LINE_BREAKS.sub(" ", text)


class PublishedWriter(TextWriter):
    """The format that R wrote for the published results: 15 digits, a space after every cell."""

    def _encoder(self, kind: Kind) -> Encoder:
        if kind is Kind.TEXT:
            return _cached(escape_spaces)
        if kind is Kind.NUMBER:
            return lambda cells: [f"{cell:.15g}" for cell in cells]
        return lambda cells: map(str, cells)

    def _lines(self, rows: Iterable[tuple]) -> str:
        return "".join([f"{' '.join(row)} \n" for row in rows])

    def _header(self) -> str:
        return self._lines([tuple(column.name for column in self._columns)])
