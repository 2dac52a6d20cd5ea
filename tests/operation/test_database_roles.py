"""The platform with the unprivileged account of deploy/postgresql/roles.sql."""

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from tests.stack.machines import Postgres, postgres
from tests.subprocesses import CHECKOUT, manage, output_of
from tests.test_postgresql import run_a_campaign

ROLES = CHECKOUT / "deploy/postgresql/roles.sql"


@pytest.fixture
def database() -> Iterator[Postgres]:
    """A separate server, because roles belong to the whole server."""
    with postgres() as database:
        yield database


@pytest.mark.slow
def test_the_platform_works_without_owning_a_table(database: Postgres, tmp_path: Path):
    server_url = database.server.get_uri()
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute(sql.SQL(ROLES.read_text()))  # type: ignore[arg-type]
    owner_url, app_url = (
        server_url.replace("postgres:@", f"{who}:@") for who in ("da_owner", "da")
    )
    assert owner_url != app_url != server_url
    output_of(manage("migrate", "--verbosity", "0", DA_DEBUG="1", DATABASE_URL=owner_url))

    variables = {"DATABASE_URL": app_url, "DA_DATA_DIR": str(tmp_path), "DA_DEBUG": "1"}
    variables["DA_PG_BIN_DIR"] = str(database.server.bin_path)
    work = [["build_gold", "News"], ["do_chores", "--nightly"], ["backup"]]
    _, ratings, status = run_a_campaign(*work, **variables)
    assert status["n_ratings"] == len(ratings) > 0

    with psycopg.connect(app_url, autocommit=True) as connection:
        for forbidden in (
            "ALTER TABLE hits_auditentry DISABLE TRIGGER ALL",
            "TRUNCATE hits_auditentry",
            "DROP TABLE hits_rating CASCADE",
            "CREATE TABLE mine (id int)",
            "CREATE ROLE friend SUPERUSER",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(sql.SQL(forbidden))  # type: ignore[arg-type]
