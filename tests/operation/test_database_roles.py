"""The platform with an account that owns nothing, as deploy/postgresql/roles.sql makes it."""

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
    """A server of its own: accounts are the whole server's."""
    with postgres() as database:
        yield database


@pytest.mark.slow
def test_all_work_is_done_without_owning_a_table(database: Postgres, tmp_path: Path):
    server_url = database.server.get_uri()
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute(sql.SQL(ROLES.read_text()))  # type: ignore[arg-type]
    owner, own = (server_url.replace("postgres:@", f"{who}:@") for who in ("da_owner", "da"))
    assert owner != own != server_url
    output_of(manage("migrate", "--verbosity", "0", DA_DEBUG="1", DATABASE_URL=owner))

    variables = {"DATABASE_URL": own, "DA_DATA_DIR": str(tmp_path), "DA_DEBUG": "1"}
    variables["DA_PG_BIN_DIR"] = str(database.server.bin_path)
    work = [["build_gold", "News"], ["do_chores", "--nightly"], ["backup"]]
    _, ratings, status = run_a_campaign(*work, **variables)
    assert status["n_ratings"] == len(ratings) > 0

    with psycopg.connect(own, autocommit=True) as connection:
        for forbidden in (
            "ALTER TABLE hits_auditentry DISABLE TRIGGER ALL",
            "TRUNCATE hits_auditentry",
            "DROP TABLE hits_rating CASCADE",
            "CREATE TABLE mine (id int)",
            "CREATE ROLE friend SUPERUSER",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(sql.SQL(forbidden))  # type: ignore[arg-type]
