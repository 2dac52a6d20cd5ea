"""/metrics of a server with two processes: either of them adds up both, and the dead still count."""

import re
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.concurrency.servers import Server, running_server
from tests.migrated import migrated_database
from tests.subprocesses import environment, kill
from tests.waiting import eventually

TOKEN = "only-for-tests"  # pragma: allowlist secret


@dataclass
class CountingServer:
    """A server of two processes, and the folder in which they count."""

    server: Server
    counts: Path

    def get(self, path: str) -> str:
        # A connection for each request, so that they spread over the processes.
        request = urllib.request.Request(f"http://127.0.0.1:{self.server.port}{path}")
        request.add_header("Authorization", f"Bearer {TOKEN}")
        with urllib.request.urlopen(request, timeout=20) as response:
            return str(response.read().decode())

    def n_answers(self) -> float:
        found = re.search(r'^da_responses_total\{status="2xx"\} (\S+)$', self.get("/metrics"), re.M)
        return float(found[1]) if found else 0.0

    def is_up(self) -> bool:
        try:
            return bool(self.get("/healthz"))
        except OSError:
            return False

    def workers(self) -> set[int]:
        return set(self.server.worker_pids())

    def counting(self) -> set[int]:
        """The processes that have counted something, by the names of their files."""
        return {int(path.stem.partition("_")[2]) for path in self.counts.glob("counter_*.db")}

    def ask_until(self, is_so: Callable[[], bool]) -> int:
        """Ask for a small page again and again; return how often it was answered."""
        answers: list[bool] = []
        eventually(is_so, meanwhile=lambda: answers.append(self.is_up()))
        return sum(answers)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[CountingServer]:
    counts = tmp_path / "counts"
    counts.mkdir()
    variables = {
        "DA_DEBUG": "1",
        "DA_DATA_DIR": str(tmp_path),
        "DA_METRICS_TOKEN": TOKEN,
        "PROMETHEUS_MULTIPROC_DIR": str(counts),
    }
    migrated_database(f"sqlite:///{tmp_path}/db.sqlite3")
    options = ("--workers", "2", "--no-control-socket")
    with running_server(environment(**variables), *options) as server:
        yield CountingServer(server, counts)


def test_either_process_adds_up_both_and_a_dead_one_still_counts(server: CountingServer):
    before = server.n_answers()
    first, second = server.workers()
    n_asked = server.ask_until(lambda: {first, second} <= server.counting())
    # The request for /metrics is counted once it is answered: the first one is in, the second not yet.
    assert server.n_answers() == before + n_asked + 1
    assert len({server.n_answers() - turn for turn in range(20)}) == 1

    before = server.n_answers()
    assert kill(first)
    server.ask_until(lambda: len(server.workers() - {first}) == 2)
    [new] = server.workers() - {first, second}
    server.ask_until(lambda: new in server.counting())
    # Prometheus takes a counter that shrinks for a restart.
    after = server.n_answers()
    assert after > before
    assert [server.n_answers() for _ in range(10)] == [after + turn for turn in range(1, 11)]
