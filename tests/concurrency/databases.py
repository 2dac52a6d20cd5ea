"""Databases for separate processes: migrated once, then copied for each test."""

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest

from tests import pooler
from tests.migrated import migrated_database
from tests.postgres import own_server
from tests.subprocesses import RANDOM_KEY

ROOT = Path(__file__).parents[2]

# Creates an empty migrated database with the given name and returns its URL.
MakeDatabase = Callable[[str], str]

# URLs that lead through a pooler; the platform needs other settings for them.
_pooled: set[str] = set()
# Fewer than there are processes, so that they share connections.
POOL_SIZE = 3


def platform_environment(database_url: str, **variables: str) -> dict[str, str]:
    """The environment for running the platform on this database, overriding the shell's."""
    settings = {
        "DA_DEBUG": "1",
        "DA_SECRET_KEY": RANDOM_KEY,
        "DA_LOG_LEVEL": "WARNING",
        "DATABASE_URL": database_url,
        "DJANGO_SETTINGS_MODULE": "da_platform.settings",
        "PYTHONWARNINGS": "ignore:No directory at",
    }
    if database_url in _pooled:
        settings |= pooler.VARIABLES
    return os.environ | settings | variables


@contextmanager
def sqlite_databases() -> Iterator[MakeDatabase]:
    with tempfile.TemporaryDirectory(prefix="da-sqlite-") as folder:

        def make(name: str) -> str:
            return migrated_database(f"sqlite:///{folder}/{name}.sqlite3")

        yield make


@contextmanager
def postgres_databases() -> Iterator[MakeDatabase]:
    # Nobody kills this server, so nothing needs to be safe on disk. Commits still wait for the log.
    with own_server("postgres", off=("fsync", "full_page_writes")) as server:
        server_url = server.get_uri()
        _create_database(server_url, "template_da")
        migrated_database(_named(server_url, "template_da"))

        def make(name: str) -> str:
            _create_database(server_url, name, template="template_da")
            return _named(server_url, name)

        yield make


@contextmanager
def pooled_databases() -> Iterator[MakeDatabase]:
    """PostgreSQL behind PgBouncer, where each transaction may use another connection."""
    if not pooler.is_there():
        pytest.skip("pgbouncer is not on this machine and could not be fetched from Debian.")
    with postgres_databases() as make_behind:
        host = psycopg.conninfo.conninfo_to_dict(make_behind("first"))["host"]
        with pooler.pooler(str(host), 5432, size=POOL_SIZE) as port:

            def make(name: str) -> str:
                make_behind(name)
                url = f"postgres://postgres@127.0.0.1:{port}/{name}"
                _pooled.add(url)
                return url

            yield make


def _create_database(server_url: str, name: str, *, template: str = "template1") -> None:
    with psycopg.connect(server_url, autocommit=True) as connection:
        statement = psycopg.sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(
            psycopg.sql.Identifier(name), psycopg.sql.Identifier(template)
        )
        connection.execute(statement)


def _named(server_url: str, database: str) -> str:
    return urlsplit(server_url)._replace(path=f"/{database}").geturl()


DATABASES = {"sqlite": sqlite_databases, "postgres": postgres_databases, "pooled": pooled_databases}
