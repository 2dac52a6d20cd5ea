"""PostgreSQL backups with pg_dump and pg_restore, from one snapshot: the rows counted are the rows dumped."""

import os
import shutil
import subprocess
from pathlib import Path

from django.conf import settings
from django.db import connection, transaction

from ..exceptions import BackupRefused
from .manifest import Table

DATABASE_FILE = "database.dump"
# In the environment, because other users of the machine can see a process's arguments.
_VARIABLES = {
    "host": "PGHOST",
    "port": "PGPORT",
    "user": "PGUSER",
    "password": "PGPASSWORD",
    "dbname": "PGDATABASE",
    "passfile": "PGPASSFILE",
    "service": "PGSERVICE",
    "sslmode": "PGSSLMODE",
    "sslrootcert": "PGSSLROOTCERT",
    "sslcert": "PGSSLCERT",
    "sslkey": "PGSSLKEY",
}


def dump(folder: Path) -> dict[str, Table]:
    """Dump the database into the folder; return what the dump contains."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            cursor.execute("SELECT pg_export_snapshot()")
            [snapshot] = cursor.fetchone()
        _run(
            "pg_dump",
            "--format=custom",
            "--no-owner",
            "--no-privileges",
            f"--snapshot={snapshot}",
            f"--file={folder / DATABASE_FILE}",
        )
        # In the transaction whose snapshot was dumped, so of the same rows.
        return contents()


def load(folder: Path) -> dict[str, Table]:
    """Restore the dump to the empty database, all or nothing; return what it then contains."""
    connection.close()
    name = str(connection.get_connection_params()["dbname"])
    _run(
        "pg_restore",
        "--no-owner",
        "--no-privileges",
        "--single-transaction",
        "--exit-on-error",
        f"--dbname={name}",
        str(folder / DATABASE_FILE),
    )
    with connection.cursor() as cursor:
        # Without statistics the first queries would be slow.
        cursor.execute("ANALYZE")
    return contents()


def contents() -> dict[str, Table]:
    with connection.cursor() as cursor:
        names = connection.introspection.table_names(cursor)
    return {name: _table(name) for name in names}


def _table(name: str) -> Table:
    # Imported here because only PostgreSQL needs it.
    from psycopg import sql

    statement = sql.SQL(
        "SELECT count(*), mod(coalesce(sum(hashtextextended(r::text, 0)::numeric), 0), 2 ^ 63::numeric)"
        " FROM {} r"
    )
    with connection.cursor() as cursor:
        cursor.execute(statement.format(sql.Identifier(name)))
        n_rows, digest = cursor.fetchone()
    return Table(n_rows, str(int(digest)))


def _run(program: str, *arguments: str) -> None:
    path = shutil.which(program, path=settings.PG_BIN_DIR or None)
    if path is None:
        raise BackupRefused(
            f"{program} is not installed. Install PostgreSQL's client programs, of the "
            "server's version or newer, or set DA_PG_BIN_DIR to their folder."
        )
    parameters = connection.get_connection_params()
    variables = {
        variable: str(parameters[name])
        for name, variable in _VARIABLES.items()
        if parameters.get(name)
    }
    done = subprocess.run(
        [path, *arguments], env=os.environ | variables, capture_output=True, text=True
    )
    if done.returncode:
        raise BackupRefused(f"{program} failed: {done.stderr.strip()[-1_000:]}")
