"""Read rows from the database in batches, as columns of plain values."""

import json
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from django.db import connection, connections
from django.db.backends.base.base import BaseDatabaseWrapper

from da_platform.numbers import known_list
from da_platform.replica import alias_to_read_much

from .queries import Kind, Query

# Small enough for the processor's cache, large enough that the overhead per batch does not matter.
BATCH_ROWS = 5_000

# One list of cells per column, all of the same length.
Batch = list[Sequence[Any]]


def read_batches(query: Query) -> Generator[Batch, None, None]:
    """Run a query and yield its rows in batches, so that memory use stays constant."""
    with _connection_to_read() as reader, reader.chunked_cursor() as cursor:
        cursor.execute(query.sql, query.parameters)
        while rows := cursor.fetchmany(BATCH_ROWS):
            yield [
                _plain(cells, column.kind)
                for cells, column in zip(zip(*rows, strict=True), query.columns, strict=True)
            ]


def one_batch(batch: Batch) -> Generator[Batch, None, None]:
    """Yield rows that are already in memory."""
    yield batch


@contextmanager
def _connection_to_read() -> Iterator[BaseDatabaseWrapper]:
    """Yield a separate connection, or the current one inside a transaction, to see its changes.

    A progress callback may write to the database. On the reading connection, SQLite would refuse
    the write if others have changed the database meanwhile, and on PostgreSQL it would become part
    of the export's transaction.
    """
    if connection.in_atomic_block:
        yield connections[connection.alias]
        return
    reader = connections[alias_to_read_much()].copy()
    try:
        if reader.vendor == "postgresql":
            # PostgreSQL streams rows only inside a transaction. SQLite always does, and there a
            # transaction would keep everyone else from writing.
            reader.set_autocommit(False)
        yield reader
    finally:
        reader.close()


def _plain(cells: Sequence[Any], kind: Kind) -> Sequence[Any]:
    convert = _CONVERTERS.get(kind)
    return cells if convert is None else convert(cells)


@lru_cache(maxsize=50_000)
def _names_in(cell: str) -> tuple[str, ...]:
    return tuple(sorted(name for name in json.loads(cell) if name is not None))


_CONVERTERS: dict[Kind, Callable[[Sequence[Any]], Sequence[Any]]] = {
    Kind.FLAG: lambda cells: list(map(bool, cells)),
    # NaN becomes empty: formats differ in how they write it, or cannot.
    Kind.NUMBER: known_list,
    Kind.NAMES: lambda cells: list(map(_names_in, cells)),
}
