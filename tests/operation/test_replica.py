"""Large reads go to a real PostgreSQL replica, but never return stale data."""

import csv
import json
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.migrated import migrated_database
from tests.stack.machines import Postgres, postgres
from tests.subprocesses import CHECKOUT, manage, output_of
from tests.waiting import eventually

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("replica")]

DEMO = CHECKOUT / "examples" / "demo-de-en" / "campaign"
SCANS = "SELECT seq_scan + idx_scan FROM pg_stat_user_tables WHERE relname = 'hits_rating'"


@dataclass
class Replica:
    """A replica that can be stopped or paused."""

    database: Postgres
    folder: Path

    @property
    def url(self) -> str:
        return f"postgresql://postgres@/postgres?host={self.folder}"

    def run(self, program: str, *arguments: str) -> None:
        server = self.database.server
        command = [server.bin_path / program, *arguments]
        subprocess.run(command, check=True, user=server.system_user, stdout=subprocess.DEVNULL)

    def copy(self) -> None:
        socket = str(Path(self.database.socket).parent)
        source = ("--host", socket, "--username", "postgres", "--checkpoint", "fast")
        self.run("pg_basebackup", *source, "--pgdata", str(self.folder), "--write-recovery-conf")
        # The primary's socket lock is in its data folder and was copied too.
        (self.folder / ".s.PGSQL.5432.lock").unlink()

    def start(self) -> None:
        options = f'-h "" -k {self.folder}'
        log = f"{self.folder}/log"
        self.run("pg_ctl", "-w", "-D", str(self.folder), "-o", options, "-l", log, "start")

    def stop(self) -> None:
        self.run("pg_ctl", "-w", "-D", str(self.folder), "-m", "immediate", "stop")

    def ask(self, statement: str) -> Any:
        with psycopg.connect(self.url, autocommit=True) as connection:
            row = connection.execute(statement).fetchone()
            assert row
            return row[0]

    @contextmanager
    def paused(self) -> Iterator[None]:
        self.ask("SELECT pg_wal_replay_pause()")
        eventually(lambda: self.ask("SELECT pg_get_wal_replay_pause_state()") == "paused")
        try:
            yield
        finally:
            self.ask("SELECT pg_wal_replay_resume()")

    @contextmanager
    def stopped(self) -> Iterator[None]:
        self.stop()
        try:
            yield
        finally:
            self.start()


@dataclass
class Platform:
    """The platform's commands, with or without the replica configured."""

    replica: Replica
    variables: dict[str, str]

    def run(self, *arguments: str, use_replica: bool = True) -> "subprocess.CompletedProcess[str]":
        replica = {"DA_REPLICA_URL": self.replica.url} if use_replica else {}
        return manage(*arguments, **self.variables, **replica)

    def gold(self, **options: bool) -> dict[str, Any]:
        facts = json.loads(output_of(self.run("build_gold", "News", "--json", **options)))
        return {name: facts[name] for name in ("n_ratings", "input_digest")}

    def rate(self, seed: int) -> None:
        crowd = ("--crowd", "honest=1", "--seed", str(seed))
        output_of(self.run("simulate_workers", "News", *crowd))

    def health(self) -> str:
        code = "from da_platform.operation.health import findings; print(*findings(), sep='\\n')"
        output = output_of(self.run("shell", "--verbosity", "0", "-c", code))
        [line] = [line for line in output.splitlines() if "'Replica'" in line]
        return line


@pytest.fixture(scope="module")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Platform]:
    """A campaign with a few ratings, on a database with a replica."""
    with ExitStack() as parts:
        database = parts.enter_context(postgres())
        folder = Path(parts.enter_context(tempfile.TemporaryDirectory(prefix="da-replica-")))
        if database.server.system_user:
            shutil.chown(folder, database.server.system_user)
        folder.chmod(0o700)
        replica = Replica(database, folder)
        replica.copy()
        replica.start()
        parts.callback(replica.stop)
        variables = {
            "DATABASE_URL": migrated_database(database.server.get_uri()),
            "DA_DEBUG": "1",
            "DA_DATA_DIR": str(tmp_path_factory.mktemp("data")),
        }
        platform = Platform(replica, variables)
        for command in (
            ["import_campaign", str(DEMO), "--name", "News", "--from", "de", "--to", "en"],
            ["build_hits", "News", "--open"],
        ):
            output_of(platform.run(*command))
        platform.rate(seed=1)
        yield platform


def exported(platform: Platform) -> tuple[list[dict[str, str]], str]:
    """All ratings, and the messages of the export."""
    done = platform.run("export", "ratings", "News", "-", "--format", "csv")
    return list(csv.DictReader(StringIO(output_of(done)))), done.stderr


def test_gold_and_exports_are_read_from_the_replica_with_the_same_results(platform: Platform):
    without = platform.gold(use_replica=False)
    before = platform.replica.ask(SCANS)
    assert platform.gold() == without and without["n_ratings"] > 0
    after_gold = platform.replica.ask(SCANS)
    rows, _ = exported(platform)
    assert platform.replica.ask(SCANS) > after_gold > before
    assert len(rows) >= without["n_ratings"]


def test_new_ratings_are_exported_although_the_replica_lags(platform: Platform):
    n_before = len(exported(platform)[0])
    with platform.replica.paused():
        platform.rate(seed=2)
        scans = platform.replica.ask(SCANS)
        rows, output = exported(platform)
        assert len(rows) > n_before and "more than 5 s behind" in output
        assert platform.replica.ask(SCANS) == scans
        assert "WARNING" in platform.health()
    again, output = exported(platform)
    assert again == rows and "behind" not in output
    assert platform.replica.ask(SCANS) > scans
    assert "GOOD" in platform.health()


def test_the_primary_is_read_while_the_replica_is_down(platform: Platform):
    without = platform.gold(use_replica=False)
    with platform.replica.stopped():
        assert platform.gold() == without
        rows, output = exported(platform)
        assert rows and "The replica is down" in output
        assert "WARNING" in platform.health()


BREAK_OFF = """
from da_platform.replica import read_much
def read(connection):
    with connection.cursor() as cursor:
        if connection.alias == "replica":
            cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")
        return connection.alias
print(read_much(read), read_much(lambda connection: connection.alias))
"""


def test_a_broken_read_is_repeated_on_the_primary(platform: Platform):
    done = platform.run("shell", "--verbosity", "0", "-c", BREAK_OFF)
    assert output_of(done).split() == ["default", "replica"]
    assert "Reading from the replica failed" in done.stderr


WRITE = """
from django.db import transaction
from da_platform.replica import alias_to_read_much
from hits.models import Campaign
with transaction.atomic():
    Campaign.objects.update(name="News")
    print(alias_to_read_much())
print(alias_to_read_much())
"""


def test_a_transaction_that_has_written_reads_from_the_primary(platform: Platform):
    output = output_of(platform.run("shell", "--verbosity", "0", "-c", WRITE))
    assert output.split() == ["default", "replica"]
