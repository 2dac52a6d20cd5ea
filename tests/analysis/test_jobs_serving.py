"""One command starts the web server and the worker for all queues, and they end together."""

import json
import os
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.migrated import migrated_database
from tests.subprocesses import CHECKOUT, environment, free_port, kill, manage, output_of
from tests.waiting import PATIENCE_SECONDS, eventually

pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("celery"),
    pytest.mark.skipif(sys.platform != "linux", reason="processes are looked up in /proc"),
]


MAX_MEGABYTES = 300


class Platform:
    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        self.variables = {"DA_DEBUG": "1", "DA_DATA_DIR": str(folder)}
        migrated_database(f"sqlite:///{folder}/db.sqlite3")
        with (folder / "serve.log").open("w") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "da_platform.serve", "--port", str(self.port)],
                cwd=CHECKOUT,
                env=environment(**self.variables),
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.log = folder / "serve.log"

    def answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/", timeout=5) as answer:
                return answer.status == 200
        except OSError:
            return False

    def processes(self) -> set[int]:
        """Return the processes with this platform's folder in their environment."""
        mark = f"DA_DATA_DIR={self.variables['DA_DATA_DIR']}\0".encode()
        return {
            int(path.parent.name)
            for path in Path("/proc").glob("[0-9]*/environ")
            if _has(path, mark)
        }

    def has_worker(self) -> bool:
        """Whether the worker runs, whose scheduler is a thread."""
        return len(self.workers()) == 1

    def workers(self) -> list[int]:
        return [pid for pid in self.processes() if "worker" in _command_of(pid)]


def _has(path: Path, mark: bytes) -> bool:
    try:
        return mark in path.read_bytes()
    except OSError:
        return False


def _command_of(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().split("\0")
    except OSError:
        return []


@pytest.fixture
def platform(tmp_path: Path) -> Iterator[Platform]:
    platform = Platform(tmp_path)
    try:
        eventually(platform.answers)
        eventually(platform.has_worker)
        yield platform
    finally:
        for pid in platform.processes():
            kill(pid)
        platform.process.wait()


def test_it_serves_pages_and_runs_jobs_until_ctrl_c(platform: Platform):
    command = ["start_job", "release_expired", "--wait", "--json"]
    printed = json.loads(output_of(manage(*command, **platform.variables)))
    assert (printed["state"], printed["result"]) == ("done", {"n_released": 0})
    # Like a terminal, signal the whole process group.
    os.killpg(platform.process.pid, signal.SIGINT)
    assert platform.process.wait(PATIENCE_SECONDS) == 0
    assert platform.processes() == set() and not platform.answers()
    assert "Traceback" not in platform.log.read_text()


def test_it_holds_little_memory(platform: Platform):
    rollups = [Path(f"/proc/{pid}/smaps_rollup").read_text() for pid in platform.processes()]
    # Each page of memory counts once, shared among the processes that hold it.
    kilobytes = [int(text.partition("\nPss:")[2].split()[0]) for text in rollups]
    assert len(kilobytes) == 5
    assert sum(kilobytes) < MAX_MEGABYTES * 1024


def test_no_process_survives_when_it_is_killed(platform: Platform):
    platform.process.kill()
    eventually(lambda: platform.processes() == set())
    assert not platform.answers()


def test_it_fails_when_one_of_its_processes_dies(platform: Platform):
    [worker] = [pid for pid in platform.workers() if _parent_of(pid) == platform.process.pid]
    assert kill(worker)
    assert platform.process.wait(PATIENCE_SECONDS) != 0
    eventually(lambda: platform.processes() == set())


def test_a_worker_that_a_job_held_for_too_long_is_replaced(platform: Platform):
    [worker] = [pid for pid in platform.workers() if _parent_of(pid) == platform.process.pid]
    os.kill(worker, signal.SIGALRM)
    eventually(lambda: platform.has_worker() and worker not in platform.workers())
    assert platform.answers()


def _parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
