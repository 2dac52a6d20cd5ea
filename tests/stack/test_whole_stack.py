"""Everything at once, as in production, while parts of it are killed: what was acknowledged is kept.

Two web servers, two workers of the queue with their schedule, PostgreSQL and Redis behind cables that are
pulled; and the same with SQLite on one machine. `make soak` runs it at full size.
"""

import json
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.concurrency.databases import ROOT, migrate, platform_environment
from tests.concurrency.servers import Server, running_server

from .cable import cable
from .machines import Process, celery_worker, postgres, redis

pytestmark = pytest.mark.xdist_group("stack")

Disaster = Callable[[], object]
PATIENCE_SECONDS = 1_500
# Of the crowd, with many threads each.
N_PROCESSES = 2


@dataclass(frozen=True)
class Size:
    """How many come and what they find. Every worker does so many HITs; places suffice for all."""

    n_workers: int
    hits_per_worker: int
    n_hits: int
    hit_size: int
    min_ratings: int
    # Over each item: workers shall still be there when the last disaster comes.
    think_seconds: float
    seconds_between_disasters: tuple[float, float]
    # How often all of them come; the rest of the work is done in peace.
    rounds: int


SMALL = Size(30, 2, 4, 40, 15, 0.25, (0.5, 1.0), 1)
# More than 200 workers, 400 HITs handed in and 40,000 ratings: the careless are refused their second HIT.
FULL = Size(220, 2, 22, 100, 20, 0.1, (2.0, 5.0), 5)


@dataclass
class Stack:
    environment: dict[str, str]
    folder: Path
    servers: list[Server]
    disasters: dict[str, Disaster] = field(default_factory=dict)


def kill_a_web_process(server: Server) -> None:
    if pids := server.worker_pids():
        server.kill_worker(random.choice(pids))


def crash_web(server: Server) -> None:
    server.kill_all()
    time.sleep(0.5)
    server.start()


@contextmanager
def running(process: Process) -> Iterator[Process]:
    process.start()
    try:
        yield process
    finally:
        process.stop()


@contextmanager
def production(folder: Path) -> Iterator[Stack]:
    """PostgreSQL and Redis behind cables, two web servers, two workers."""
    with ExitStack() as parts:
        database = parts.enter_context(postgres())
        wire = parts.enter_context(cable(database.socket))
        broker, port = redis(folder)
        parts.enter_context(running(broker))
        broker_wire = parts.enter_context(cable(port))
        url = f"postgres://postgres@127.0.0.1:{wire.port}/ratings"
        with psycopg.connect(url.replace("/ratings", "/postgres"), autocommit=True) as connection:
            connection.execute("CREATE DATABASE ratings")
        environment = _environment(url, folder) | {
            "DA_BROKER_URL": f"redis://127.0.0.1:{broker_wire.port}/0",
            "DA_VISIBILITY_SECONDS": "10",
        }
        migrate(url)
        servers = [parts.enter_context(running_server(environment)) for _ in range(2)]
        workers = [
            parts.enter_context(running(celery_worker(environment, folder, *options)))
            for options in (("first", "--beat"), ("second",))
        ]

        def pull(one: Any, seconds: float) -> None:
            one.pull()
            time.sleep(seconds)
            one.plug()

        yield Stack(
            environment,
            folder,
            servers,
            {
                "a web process is killed": lambda: kill_a_web_process(random.choice(servers)),
                "a web server is killed": lambda: crash_web(random.choice(servers)),
                "a worker is killed": lambda: random.choice(workers).crash(),
                "Redis is killed": broker.crash,
                "PostgreSQL crashes": database.crash,
                "the database's cable is pulled": lambda: pull(wire, 1.0),
                "the broker's cable is pulled": lambda: pull(broker_wire, 2.0),
            },
        )


@contextmanager
def one_machine(folder: Path) -> Iterator[Stack]:
    """SQLite, the queue in a folder, one web server and one worker: what `make run` gives."""
    url = f"sqlite:///{folder}/ratings.sqlite3"
    environment = _environment(url, folder)
    migrate(url)
    with (
        running_server(environment) as server,
        running(celery_worker(environment, folder, "only", "--beat")) as worker,
    ):
        disasters: dict[str, Disaster] = {
            "a web process is killed": lambda: kill_a_web_process(server),
            "the web server is killed": lambda: crash_web(server),
            "the worker is killed": worker.crash,
        }
        yield Stack(environment, folder, [server], disasters)


def _environment(url: str, folder: Path) -> dict[str, str]:
    return platform_environment(
        url,
        DA_DATA_DIR=str(folder),
        DA_ENV_FILE="/dev/null",
        DA_LOG_LEVEL="ERROR",
        DA_JOB_STALE_SECONDS="5",
        DA_BROKER_URL="",
    )


def books(stack: Stack, do: str, content: Any) -> dict[str, Any]:
    path = stack.folder / f"{do}.json"
    path.write_text(json.dumps(content))
    command = [sys.executable, "-m", "tests.stack.books", do, str(path)]
    done = subprocess.run(command, cwd=ROOT, env=stack.environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    facts: dict[str, Any] = json.loads(done.stdout)
    return facts


class Crowd:
    """The workers, in a few processes of many threads each."""

    def __init__(self, stack: Stack, size: Size, orders: dict[str, Any]) -> None:
        self.answers, self.processes = [], []
        for i in range(N_PROCESSES):
            own = orders | {
                "ports": [server.port for server in stack.servers],
                "numbers": list(range(size.n_workers))[i::N_PROCESSES],
                "hits_per_worker": size.hits_per_worker,
                "think_seconds": size.think_seconds,
                "careless_every": 10,
                "seed": 3,
            }
            paths = [stack.folder / f"{name}-{i}.json" for name in ("orders", "answers")]
            paths[0].write_text(json.dumps(own))
            self.answers.append(paths[1])
            self.processes.append(
                subprocess.Popen([sys.executable, "-m", "tests.stack.crowd", *paths], cwd=ROOT)
            )

    def is_at_work(self) -> bool:
        return any(process.poll() is None for process in self.processes)

    def notes(self) -> tuple[list[dict[str, Any]], int]:
        for process in self.processes:
            assert process.wait(PATIENCE_SECONDS) == 0
        answers = [json.loads(path.read_text()) for path in self.answers]
        assert [answer["errors"] for answer in answers] == [[] for _ in answers]
        told = [note for answer in answers for note in answer["told"]]
        return told, sum(answer["n_failures"] for answer in answers)

    def stop(self) -> None:
        for process in self.processes:
            process.kill()
            process.wait()


def let_disasters_come(stack: Stack, size: Size, crowd: Crowd) -> list[str]:
    """One of each in a random order, round after round, as long as anyone is at work."""
    rng = random.Random(11)
    happened: list[str] = []
    for _ in range(size.rounds):
        for name in rng.sample(sorted(stack.disasters), len(stack.disasters)):
            time.sleep(rng.uniform(*size.seconds_between_disasters))
            if crowd.is_at_work():
                stack.disasters[name]()
                happened.append(name)
    return happened


def ask_for_gold(stack: Stack, times: int, pause: float) -> None:
    """Meanwhile someone asks for gold; some of those jobs lose their worker half-way."""
    for _ in range(times):
        command = [sys.executable, "manage.py", "start_job", "build_gold", "--campaign"]
        subprocess.run(
            [*command, "campaign 1"], cwd=ROOT, env=stack.environment, capture_output=True
        )
        time.sleep(pause)


def check(stack: Stack, size: Size) -> dict[str, Any]:
    orders = books(stack, "prepare", vars(size) | {"seconds_between_disasters": 0})
    started = time.monotonic()
    crowd = Crowd(stack, size, orders)
    gold = threading.Thread(target=ask_for_gold, args=(stack, 3, 5.0))
    gold.start()
    try:
        happened = let_disasters_come(stack, size, crowd)
        told, n_failures = crowd.notes()
    finally:
        crowd.stop()
        gold.join()
    seconds = time.monotonic() - started
    facts = books(stack, "compare", told)
    facts |= {"n_told": sum(len(note["scores"]) for note in told), "n_failures": n_failures}
    facts |= {"disasters": len(happened), "seconds": round(seconds, 1)}
    print(json.dumps(facts))
    assert set(happened) == set(stack.disasters), "not everything that can happen happened"
    assert n_failures > len(happened) / 2, "the disasters hardly met a request"
    # Kept: every rating that was acknowledged, with the score that was told, once (it is a key).
    assert facts["lost"] == facts["wrong_scores"] == facts["wrong_codes"] == []
    assert facts["unasked"] == 0 and facts["n_ratings"] == facts["n_told"]
    assert facts["wrong_places"] == [] and facts["unweighed"] == 0
    # And gold is what the workers' own notes give.
    assert facts["n_trusted"][0] == facts["n_trusted"][1] > size.n_workers * 0.8
    assert len(set(facts["n_gold"])) == 1 and facts["n_gold"][0] > 0
    assert facts["largest_gold_difference"] < 1e-9
    return facts


STACKS = {"production": production, "one machine": one_machine}


@pytest.mark.parametrize("kind", STACKS)
def test_nothing_acknowledged_is_lost_while_parts_are_killed(kind, tmp_path):
    with STACKS[kind](tmp_path) as stack:
        facts = check(stack, SMALL)
    assert facts["n_submitted"] >= 50


@pytest.mark.soak
@pytest.mark.parametrize("kind", STACKS)
def test_at_full_size_nothing_acknowledged_is_lost(kind, tmp_path):
    with STACKS[kind](tmp_path) as stack:
        facts = check(stack, FULL)
    assert facts["n_submitted"] >= 400 and facts["n_ratings"] >= 40_000
