"""How long `da run` takes to its first page and to its examples, and what it uses when idle.

    python -m benchmarks.starting [--starts 5]

`da run` starts in a new folder and makes its examples; then it is stopped and started again a few times. The time is from
starting the command until the front page is answered, asked for every hundredth of a second. The baseline is the
first start. Memory is the sum of PSS, which counts a shared page once, after the server has been idle for a while.
"""

import http.client
import sqlite3
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.processes import children_of, family_seconds, memory_mb
from benchmarks.table import Row, run
from tests.subprocesses import CHECKOUT, environment, free_port

MAX_SECONDS, MAX_SECONDS_OF_EXAMPLES = 3.0, 10.0
MAX_MEGABYTES = 300.0
# While the examples are made, and until a server that has just started is idle.
PATIENCE_SECONDS, IDLE_SECONDS = 120, 6
PAUSE_SECONDS = 0.01


@dataclass
class Start:
    """A running platform, and what it took to its first page."""

    pid: int
    port: int
    seconds: float
    processor: float

    def megabytes(self) -> list[float]:
        """The memory of each process."""
        return [size[1] for pid in _family(self.pid) if (size := memory_mb(pid))]


def measure(*, starts: int) -> Iterator[Row]:
    with TemporaryDirectory() as folder:
        with started(folder) as first:
            examples = _seconds_of_examples(Path(folder) / "db.sqlite3")
        later = []
        for n in range(starts):
            with started(folder) as start:
                later.append(start)
                if n == starts - 1:
                    time.sleep(IDLE_SECONDS)
                    megabytes = start.megabytes()
    yield Row("making the examples", examples, "s", maximum=MAX_SECONDS_OF_EXAMPLES)
    yield Row(
        "second start of da run to the first page, median",
        statistics.median(start.seconds for start in later),
        "s",
        first.seconds,
        maximum=MAX_SECONDS,
        note=f"slowest {max(start.seconds for start in later):.2f} s",
    )
    yield Row(
        "the same, in processor seconds",
        statistics.median(start.processor for start in later),
        "s",
        first.processor,
    )
    yield Row(
        f"idle, {len(megabytes)} processes",
        sum(megabytes),
        "MB",
        maximum=MAX_MEGABYTES,
        note=" + ".join(f"{size:.0f}" for size in megabytes),
    )


@contextmanager
def started(folder: str) -> Iterator[Start]:
    port = free_port()
    # As at home.
    variables = environment(DA_DATA_DIR=folder, DA_DEBUG="1")
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "da_platform.command", "run", "--port", str(port)],
        cwd=CHECKOUT,
        env=variables,
        stdout=subprocess.DEVNULL,
    )
    try:
        while not _answers(port):
            if process.poll() is not None:
                raise SystemExit("da run has ended.")
            time.sleep(PAUSE_SECONDS)
        seconds = time.perf_counter() - began
        processor = sum(family_seconds(pid) for pid in _family(process.pid))
        yield Start(process.pid, port, seconds, processor)
    finally:
        process.terminate()
        process.wait()


def _answers(port: int) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request("GET", "/")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _family(pid: int) -> list[int]:
    return [pid, *(member for child in children_of(pid) for member in _family(child))]


def _seconds_of_examples(path: Path) -> float:
    """Wait until the job that makes them, the first of all, is finished; return how long it ran."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    with closing(sqlite3.connect(path)) as database:
        query = "SELECT state, started_at, finished_at FROM jobs_job ORDER BY id LIMIT 1"
        while (row := database.execute(query).fetchone())[0] in ("queued", "running"):
            assert time.monotonic() < deadline, "the examples were not made"
            time.sleep(10 * PAUSE_SECONDS)
    state, began, ended = row
    assert state == "done", "making the examples failed"
    return (datetime.fromisoformat(ended) - datetime.fromisoformat(began)).total_seconds()


if __name__ == "__main__":
    run(measure, __doc__, sizes={"starts": (5, 1)})
