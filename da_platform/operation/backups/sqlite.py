"""SQLite backups with its own backup function: a consistent copy while others keep writing."""

import hashlib
import sqlite3
from contextlib import closing
from pathlib import Path

from django.db import connection

from ..exceptions import BackupRefused
from .manifest import Table

DATABASE_FILE = "database.sqlite3"


def dump(folder: Path) -> dict[str, Table]:
    """Copy the database into the folder; return what the copy contains."""
    connection.ensure_connection()
    with closing(sqlite3.connect(folder / DATABASE_FILE)) as copy:
        # All pages in one step: with several, every write by others would restart the copy.
        connection.connection.backup(copy)
        # One file, without a separate write-ahead log.
        copy.execute("PRAGMA journal_mode = DELETE")
        [[verdict]] = copy.execute("PRAGMA integrity_check(1)").fetchall()
        if verdict != "ok":
            raise BackupRefused(f"The database is damaged: {verdict}")
        return _tables_of(copy)


def load(folder: Path) -> dict[str, Table]:
    """Fill the empty database from the folder; return what it then contains."""
    connection.ensure_connection()
    with closing(sqlite3.connect(folder / DATABASE_FILE)) as copy:
        copy.backup(connection.connection)
    # The copy has no write-ahead log; the next connection turns it on again.
    connection.close()
    return contents()


def contents() -> dict[str, Table]:
    connection.ensure_connection()
    return _tables_of(connection.connection)


def _tables_of(database: sqlite3.Connection) -> dict[str, Table]:
    names = database.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    )
    return {name: _table(database, name) for (name,) in names.fetchall()}


def _table(database: sqlite3.Connection, name: str) -> Table:
    # Django's connections convert dates and booleans; the digest is of the stored values.
    cursor = sqlite3.Connection.cursor(database)
    n_rows = total = 0
    columns = [row[1] for row in cursor.execute(f'PRAGMA table_info("{name}")')]
    # A concatenation has no declared type, so it is not converted.
    quoted = " || ',' || ".join(f'quote("{column}")' for column in columns)
    for (row,) in cursor.execute(f'SELECT {quoted} FROM "{name}"'):  # noqa: S608
        n_rows += 1
        total += int.from_bytes(hashlib.blake2b(row.encode(), digest_size=8).digest())
    return Table(n_rows, f"{total % 2**64:016x}")
