"""Rows out of the database, a batch at a time, as columns of plain values."""

import json
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from django.db import connection, connections
from django.db.backends.base.base import BaseDatabaseWrapper

from da_platform.replica import alias_to_read_much

from ..plain import known_list
from .tables import Kind, Query

# Few enough to stay in the processor's cache, many enough that the work per batch is lost in them.
BATCH_ROWS = 5_000

# One list of cells for each column, all of the same length.
Batch = list[Sequence[Any]]


def read_batches(query: Query) -> Generator[Batch, None, None]:
    """Run a query once and hand out its rows in batches; memory does not grow with their number."""
    with _connection_to_read() as reader, reader.chunked_cursor() as cursor:
        cursor.execute(query.sql, query.parameters)
        while rows := cursor.fetchmany(BATCH_ROWS):
            yield [
                _plain(cells, column.kind)
                for cells, column in zip(zip(*rows, strict=True), query.columns, strict=True)
            ]


def one_batch(batch: Batch) -> Generator[Batch, None, None]:
    """Hand out rows that are in memory already."""
    yield batch


@contextmanager
def _connection_to_read() -> Iterator[BaseDatabaseWrapper]:
    """Give a connection of its own, or the present one while its transaction has things to show.

    Whoever follows the progress may want to store it. On the connection that reads this would go wrong:
    SQLite refuses to write from a state that others have meanwhile changed, and on PostgreSQL it would become part
    of the export's own transaction.
    """
    if connection.in_atomic_block:
        yield connections[connection.alias]
        return
    reader = connections[alias_to_read_much()].copy()
    try:
        if reader.vendor == "postgresql":
            # Only inside a transaction does the server hand out rows as it finds them. SQLite
            # does so always, and a transaction there would keep everyone else from writing.
            reader.set_autocommit(False)
        yield reader
    finally:
        reader.close()


def _plain(cells: Sequence[Any], kind: Kind) -> Sequence[Any]:
    made = _PLAIN.get(kind)
    return cells if made is None else made(cells)


def _flags(cells: Sequence[Any]) -> list[bool]:
    return [bool(cell) for cell in cells]


def _names(cells: Sequence[str]) -> list[tuple[str, ...]]:
    return [_names_in(cell) for cell in cells]


@lru_cache(maxsize=50_000)
def _names_in(cell: str) -> tuple[str, ...]:
    return tuple(sorted(name for name in json.loads(cell) if name is not None))


_PLAIN: dict[Kind, Callable[[Sequence[Any]], Sequence[Any]]] = {
    Kind.FLAG: _flags,
    # What is not a number is left empty: formats disagree on how to write it, or cannot.
    Kind.NUMBER: known_list,
    Kind.NAMES: _names,
}
