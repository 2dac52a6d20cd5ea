"""Rows out of the database, a batch at a time, as columns of plain values."""

import json
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from typing import Any

from django.db import connection, transaction

from .tables import Kind, Query

# Few enough to stay in the processor's cache, many enough that the work per batch is lost in them.
BATCH_ROWS = 5_000

# One list of cells for each column, all of the same length.
Batch = list[Sequence[Any]]


def read_batches(query: Query) -> Iterator[Batch]:
    """Run a query once and hand out its rows in batches; memory does not grow with their number."""
    with _reading(), connection.chunked_cursor() as cursor:
        cursor.execute(query.sql, query.parameters)
        while rows := cursor.fetchmany(BATCH_ROWS):
            yield [
                _plain(cells, column.kind)
                for cells, column in zip(zip(*rows, strict=True), query.columns, strict=True)
            ]


def _reading() -> AbstractContextManager[Any]:
    """Keep PostgreSQL's cursor on the server, where only a transaction gives it rows as they are found.

    On SQLite a statement reads one state of the database by itself, and a transaction would lock
    everyone else out of writing for as long as the export takes.
    """
    return transaction.atomic() if connection.vendor == "postgresql" else nullcontext()


def _plain(cells: Sequence[Any], kind: Kind) -> Sequence[Any]:
    made = _PLAIN.get(kind)
    return cells if made is None else made(cells)


def _flags(cells: Sequence[Any]) -> list[bool]:
    return [bool(cell) for cell in cells]


def _numbers(cells: Sequence[float | None]) -> list[float | None]:
    """Let what is not a number be empty: formats disagree on how to write it, or cannot."""
    return [cell if cell is not None and math.isfinite(cell) else None for cell in cells]


def _names(cells: Sequence[str]) -> list[tuple[str, ...]]:
    return [_names_in(cell) for cell in cells]


@lru_cache(maxsize=50_000)
def _names_in(cell: str) -> tuple[str, ...]:
    return tuple(sorted(name for name in json.loads(cell) if name is not None))


_PLAIN: dict[Kind, Callable[[Sequence[Any]], Sequence[Any]]] = {
    Kind.FLAG: _flags,
    Kind.NUMBER: _numbers,
    Kind.NAMES: _names,
}
