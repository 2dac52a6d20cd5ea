"""Columns into bytes: CSV, TSV, JSON Lines, Parquet, and lines for the layouts of others."""

import csv
import io
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from .cells import Remembered, defuse, escape_spaces, escape_tsv, join_names
from .reading import Batch
from .tables import Column, Kind

# Large enough to compress well and to be skipped as a whole, small enough to hold in memory.
ROW_GROUP_ROWS = 100_000

_TEXT_KINDS = {Kind.TEXT, Kind.WORKER, Kind.ASSIGNMENT}
_FLAGS = {True: "true", False: "false"}

Encoder = Callable[[Sequence[Any]], Iterable[Any]]


class Writer(ABC):
    """Takes batches and writes them to a stream. Nothing is complete before `finish`."""

    def __init__(self, stream: BinaryIO, columns: Sequence[Column]) -> None:
        self._stream = stream
        self._columns = columns

    @abstractmethod
    def write(self, batch: Batch) -> None: ...

    def finish(self) -> None:
        """Write what has to come last."""
        return

    def abandon(self) -> None:
        """Let go of the stream without completing anything."""
        return


class _TextWriter(Writer):
    """Turns each column's cells into text with an encoder of its own, then rows into lines."""

    def __init__(self, stream: BinaryIO, columns: Sequence[Column]) -> None:
        super().__init__(stream, columns)
        self._encoders = [self._encoder(column.kind) for column in columns]
        if header := self._header():
            stream.write(header.encode())

    def write(self, batch: Batch) -> None:
        cells = (encode(own) for encode, own in zip(self._encoders, batch, strict=True))
        self._stream.write(self._lines(zip(*cells, strict=True)).encode())

    @abstractmethod
    def _encoder(self, kind: Kind) -> Encoder: ...

    @abstractmethod
    def _lines(self, rows: Iterable[tuple]) -> str: ...

    def _header(self) -> str:
        return ""


def _remembering(function: Callable[..., str]) -> Encoder:
    known = Remembered(function)
    return lambda cells: map(known.__getitem__, cells)


def _as_they_are(cells: Sequence[Any]) -> Iterable[Any]:
    return cells


class CSVWriter(_TextWriter):
    """RFC 4180, UTF-8, formulas defused. An empty cell is an empty value."""

    # Both characters of the line end make the csv module quote a cell that holds either.
    _format: dict[str, Any] = {"lineterminator": "\r\n"}

    def _encoder(self, kind: Kind) -> Encoder:
        if kind in _TEXT_KINDS:
            return _remembering(self._text)
        if kind is Kind.NAMES:
            return _remembering(lambda names: self._text(join_names(names)))
        if kind is Kind.FLAG:
            return _remembering(_FLAGS.__getitem__)
        return _as_they_are

    def _text(self, text: str | None) -> str:
        return "" if text is None else defuse(text)

    def _lines(self, rows: Iterable[tuple]) -> str:
        made = io.StringIO(newline="")
        csv.writer(made, **self._format).writerows(rows)
        return made.getvalue()

    def _header(self) -> str:
        return self._lines([tuple(column.name for column in self._columns)])


class TSVWriter(CSVWriter):
    """One line is one row and one tab one border, whatever the texts hold: no quotes, escapes instead."""

    _format: dict[str, Any] = {
        "lineterminator": "\n",
        "delimiter": "\t",
        "quoting": csv.QUOTE_NONE,
        "quotechar": None,
    }

    def _text(self, text: str | None) -> str:
        return escape_tsv(super()._text(text))


class JSONLinesWriter(_TextWriter):
    """One JSON object a line."""

    def __init__(self, stream: BinaryIO, columns: Sequence[Column]) -> None:
        super().__init__(stream, columns)
        names = (json.dumps(column.name).replace("%", "%%") for column in columns)
        self._template = "{" + ", ".join(f"{name}: %s" for name in names) + "}\n"

    def _encoder(self, kind: Kind) -> Encoder:
        if kind in _TEXT_KINDS or kind is Kind.NAMES:
            return _remembering(_json_text)
        if kind is Kind.FLAG:
            return _remembering(_FLAGS.__getitem__)
        if kind is Kind.TIME:
            return lambda cells: ["null" if cell is None else f'"{cell}"' for cell in cells]
        return lambda cells: ["null" if cell is None else cell for cell in cells]

    def _lines(self, rows: Iterable[tuple]) -> str:
        template = self._template
        return "".join([template % row for row in rows])


def _json_text(value: str | tuple[str, ...] | None) -> str:
    """Encode; line breaks of Unicode are escaped too, as some readers cut lines there."""
    text = json.dumps(value, ensure_ascii=False)
    for line_break in "\x85\u2028\u2029":
        text = text.replace(line_break, f"\\u{ord(line_break):04x}")
    return text


class ParquetWriter(Writer):
    """Apache Parquet with zstd, in row groups; how the numbers were made is in the schema's metadata."""

    _types = {
        Kind.INTEGER: pa.int64(),
        Kind.NUMBER: pa.float64(),
        Kind.FLAG: pa.bool_(),
        Kind.TIME: pa.timestamp("us", tz="UTC"),
        Kind.NAMES: pa.list_(pa.string()),
    }

    def __init__(
        self, stream: BinaryIO, columns: Sequence[Column], metadata: dict[str, str]
    ) -> None:
        super().__init__(stream, columns)
        self._schema = pa.schema(
            [(column.name, self._types.get(column.kind, pa.string())) for column in columns],
            metadata=metadata,
        )
        self._writer = pq.ParquetWriter(stream, self._schema, compression="zstd")
        self._waiting: list[pa.RecordBatch] = []
        self._n_waiting = 0

    def write(self, batch: Batch) -> None:
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
        # The library would otherwise write its last bytes whenever the object is collected.
        with suppress(Exception):
            self._writer.close()
        self._writer.is_open = False

    def _write_row_group(self) -> None:
        if self._waiting:
            table = pa.Table.from_batches(self._waiting, self._schema)
            self._writer.write_table(table, row_group_size=self._n_waiting)
        self._waiting, self._n_waiting = [], 0


def _array(cells: Sequence[Any], wanted: pa.DataType) -> pa.Array:
    if pa.types.is_timestamp(wanted):
        return pa.array(cells, pa.string()).cast(wanted)
    return pa.array(cells, wanted)


class ScoreFileWriter(_TextWriter):
    """Lines of mt-metrics-eval: a system, a tab, and its score or None; no header."""

    def _encoder(self, kind: Kind) -> Encoder:
        return _remembering(escape_spaces) if kind is Kind.TEXT else _as_they_are

    def _lines(self, rows: Iterable[tuple]) -> str:
        return "".join([f"{system}\t{score}\n" for system, score in rows])


class PublishedWriter(_TextWriter):
    """Lines as R wrote them for the published results: 15 digits, a space after every cell."""

    def _encoder(self, kind: Kind) -> Encoder:
        if kind is Kind.TEXT:
            return _remembering(escape_spaces)
        if kind is Kind.NUMBER:
            return lambda cells: [f"{cell:.15g}" for cell in cells]
        return lambda cells: map(str, cells)

    def _lines(self, rows: Iterable[tuple]) -> str:
        return "".join([f"{' '.join(row)} \n" for row in rows])

    def _header(self) -> str:
        return self._lines([tuple(column.name for column in self._columns)])
