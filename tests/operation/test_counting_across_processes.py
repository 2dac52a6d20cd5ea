"""/metrics of a server with two processes adds up both, and also those that have died."""

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

TOKEN = "a-token-for-these-tests"


@dataclass
class CountingServer:
    """A server with two processes, and the folder of their counters."""

    server: Server
    counts: Path

    def get(self, path: str) -> str:
        # A new connection for each request, so that both processes get some.
        request = urllib.request.Request(f"http://127.0.0.1:{self.server.port}{path}")
        request.add_header("Authorization", f"Bearer {TOKEN}")
        with urllib.request.urlopen(request, timeout=20) as response:
            return str(response.read().decode())

    def n_answers(self) -> float:
        match = re.search(r'^da_responses_total\{status="2xx"\} (\S+)$', self.get("/metrics"), re.M)
        return float(match[1]) if match else 0.0

    def is_up(self) -> bool:
        try:
            return bool(self.get("/healthz"))
        except OSError:
            return False

    def workers(self) -> set[int]:
        return set(self.server.worker_pids())

    def counting(self) -> set[int]:
        """The processes that have a counter file."""
        return {int(path.stem.partition("_")[2]) for path in self.counts.glob("counter_*.db")}

    def request_until(self, condition: Callable[[], bool]) -> int:
        """Request a small page until the condition holds; return the number of answers."""
        answers: list[bool] = []
        eventually(condition, meanwhile=lambda: answers.append(self.is_up()))
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


def test_metrics_add_up_all_processes_including_dead_ones(server: CountingServer):
    before = server.n_answers()
    first, second = server.workers()
    n_requests = server.request_until(lambda: {first, second} <= server.counting())
    # A request for /metrics is counted after its answer: the first is included, the second is not.
    assert server.n_answers() == before + n_requests + 1
    assert len({server.n_answers() - turn for turn in range(20)}) == 1

    before = server.n_answers()
    assert kill(first)
    server.request_until(lambda: len(server.workers() - {first}) == 2)
    [new] = server.workers() - {first, second}
    server.request_until(lambda: new in server.counting())
    # Prometheus treats a counter that decreases as a restart.
    after = server.n_answers()
    assert after > before
    assert [server.n_answers() for _ in range(10)] == [after + turn for turn in range(1, 11)]
