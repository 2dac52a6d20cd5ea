"""The whole platform loses nothing it has acknowledged while its parts are killed.

It runs on three stacks: two web servers, two Celery workers, PostgreSQL and Redis behind cables that are pulled; the
same with PgBouncer; and SQLite on one machine. Work that is unfinished when the crowd leaves is left to the Celery
workers. `make soak` runs it at full size.
"""

import json
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests import pooler
from tests.concurrency.databases import ROOT, platform_environment
from tests.concurrency.servers import Server, running_server
from tests.migrated import migrated_database
from tests.subprocesses import kill

from .cable import Cable, cable
from .machines import Process, celery_worker, postgres, redis

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("stack")]

# The random generator chooses the victim, so the same seed hits the same one.
Disaster = Callable[[random.Random], object]
PATIENCE_SECONDS = 1_500
# For starting a job, which may fail during a disaster.
START_JOB_SECONDS = 120
HOST = "da.example.org"
# The crowd runs in this many processes with many threads each.
N_PROCESSES = 2
# Connections of the pooler to PostgreSQL, fewer than there are threads.
POOL_SIZE = 6


@dataclass(frozen=True)
class Size:
    """The size of crowd and campaign. There are places for all HITs of all workers."""

    n_workers: int
    hits_per_worker: int
    n_hits: int
    hit_size: int
    min_ratings: int
    # Per item. Most workers should still be there for the last disaster; some wait for it.
    think_seconds: float
    seconds_between_disasters: tuple[float, float]
    # How often each disaster happens.
    rounds: int
    seconds_between_gold: float
    # The Celery app, and how long its workers may take to finish.
    queue: str
    settling_seconds: float

    @property
    def enough(self) -> int:
        """Minimum of ratings for gold. Nobody replaces the ratings of careless workers."""
        return self.min_ratings * 2 // 3


SMALL = Size(
    n_workers=30,
    hits_per_worker=2,
    n_hits=4,
    hit_size=40,
    min_ratings=15,
    think_seconds=0.25,
    seconds_between_disasters=(0.5, 1.0),
    rounds=1,
    seconds_between_gold=10,
    queue="tests.stack.quick_queue",
    settling_seconds=120,
)
# More than 200 workers, 400 submitted HITs and 40,000 ratings. Careless workers get no second HIT.
FULL = Size(
    n_workers=220,
    hits_per_worker=2,
    n_hits=22,
    hit_size=100,
    min_ratings=20,
    think_seconds=0.1,
    seconds_between_disasters=(2.0, 5.0),
    rounds=5,
    seconds_between_gold=15,
    queue="da_platform",
    settling_seconds=300,
)


@dataclass
class Stack:
    environment: dict[str, str]
    folder: Path
    # The ports to which the crowd connects.
    ports: list[int]
    disasters: dict[str, Disaster] = field(default_factory=dict)

    @property
    def all_clear(self) -> Path:
        """A file that exists when all disasters are over."""
        return self.folder / "all-clear"


def kill_a_web_process(server: Server, rng: random.Random) -> None:
    if pids := server.worker_pids():
        kill(rng.choice(pids))


def crash_web(server: Server) -> None:
    server.kill_all()
    time.sleep(0.5)
    server.start()


def cut(seconds: float, *cables: Cable) -> None:
    for wire in cables:
        wire.pull()
    time.sleep(seconds)
    for wire in cables:
        wire.plug()


@contextmanager
def running(process: Process) -> Iterator[Process]:
    process.start()
    try:
        yield process
    finally:
        process.stop()


@contextmanager
def production(folder: Path, queue: str, *, is_pooled: bool = False) -> Iterator[Stack]:
    """PostgreSQL, Redis and two web servers, each behind a cable, and two Celery workers."""
    if is_pooled and not pooler.is_there():
        pytest.skip("pgbouncer is not on this machine and could not be fetched from Debian.")
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
        _prepare(url, environment)
        if is_pooled:
            pool = pooler.pooler("127.0.0.1", wire.port, size=POOL_SIZE)
            pooled = f"postgres://postgres@127.0.0.1:{parts.enter_context(pool)}/ratings"
            environment |= {"DATABASE_URL": pooled, **pooler.VARIABLES}
        servers = [parts.enter_context(running_server(environment)) for _ in range(2)]
        doors = [parts.enter_context(cable(server.port)) for server in servers]
        workers = [
            parts.enter_context(running(celery_worker(queue, environment, folder, *options)))
            for options in (("first", "--beat"), ("second",))
        ]
        yield Stack(
            environment,
            folder,
            [door.port for door in doors],
            {
                "a web process is killed": lambda rng: kill_a_web_process(rng.choice(servers), rng),
                "a web server is killed": lambda rng: crash_web(rng.choice(servers)),
                "a worker is killed": lambda rng: rng.choice(workers).crash(),
                "Redis is killed": lambda rng: broker.crash(),
                "PostgreSQL crashes": lambda rng: database.crash(),
                "the database's cable is pulled": lambda rng: cut(1.0, wire),
                "the broker's cable is pulled": lambda rng: cut(2.0, broker_wire),
                "the crowd's network is cut": lambda rng: cut(1.5, *doors),
            },
        )


@contextmanager
def one_machine(folder: Path, queue: str) -> Iterator[Stack]:
    """SQLite, the queue in a folder, one web server behind a cable and one Celery worker."""
    url = f"sqlite:///{folder}/ratings.sqlite3"
    environment = _environment(url, folder)
    _prepare(url, environment)
    with (
        running_server(environment) as server,
        cable(server.port) as door,
        running(celery_worker(queue, environment, folder, "only", "--beat")) as worker,
    ):
        disasters: dict[str, Disaster] = {
            "a web process is killed": lambda rng: kill_a_web_process(server, rng),
            "the web server is killed": lambda rng: crash_web(server),
            "the worker is killed": lambda rng: worker.crash(),
            "the crowd's network is cut": lambda rng: cut(1.5, door),
        }
        yield Stack(environment, folder, [door.port], disasters)


def _environment(url: str, folder: Path) -> dict[str, str]:
    """As in production, behind a proxy that terminates TLS."""
    return platform_environment(
        url,
        DA_DEBUG="0",
        # `Server.start` uses the IP address.
        DA_ALLOWED_HOSTS=f"{HOST},127.0.0.1",
        DA_BEHIND_PROXY="1",
        DA_DATA_DIR=str(folder),
        DA_ENV_FILE="/dev/null",
        DA_LOG_LEVEL="ERROR",
        DA_JOB_STALE_SECONDS="5",
        DA_BROKER_URL="",
        DJANGO_SETTINGS_MODULE="tests.stack.settings",
    )


def _prepare(url: str, environment: dict[str, str]) -> None:
    migrated_database(url)
    _manage(environment, "collectstatic", "--noinput", "--verbosity", "0").check_returncode()


def _manage(environment: dict[str, str], *arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "manage.py", *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)


def books(stack: Stack, step: str, content: Any) -> dict[str, Any]:
    path = stack.folder / f"{step}.json"
    path.write_text(json.dumps(content))
    command = [sys.executable, "-m", "tests.stack.books", step, str(path)]
    done = subprocess.run(command, cwd=ROOT, env=stack.environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    facts: dict[str, Any] = json.loads(done.stdout)
    return facts


class Crowd:
    """The workers, in a few processes with many threads each."""

    def __init__(self, stack: Stack, size: Size, orders: dict[str, Any]) -> None:
        self.answers, self.processes = [], []
        for i in range(N_PROCESSES):
            own_orders = orders | {
                "ports": stack.ports,
                "host": HOST,
                "numbers": list(range(size.n_workers))[i::N_PROCESSES],
                "hits_per_worker": size.hits_per_worker,
                "think_seconds": size.think_seconds,
                "careless_every": 10,
                "lingering_every": 3,
                "all_clear": str(stack.all_clear),
                "seed": 3,
            }
            paths = [stack.folder / f"{name}-{i}.json" for name in ("orders", "answers")]
            paths[0].write_text(json.dumps(own_orders))
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
        notes = [note for answer in answers for note in answer["notes"]]
        return notes, sum(answer["n_failures"] for answer in answers)

    def stop(self) -> None:
        for process in self.processes:
            process.kill()
            process.wait()


def cause_disasters(stack: Stack, size: Size, crowd: Crowd) -> list[str]:
    """Cause each disaster once per round, in random order; return those that happened."""
    rng = random.Random(11)
    happened: list[str] = []
    for _ in range(size.rounds):
        for name in rng.sample(sorted(stack.disasters), len(stack.disasters)):
            time.sleep(rng.uniform(*size.seconds_between_disasters))
            if crowd.is_at_work():
                stack.disasters[name](rng)
                happened.append(name)
    stack.all_clear.touch()
    return happened


def start_gold_job(stack: Stack, size: Size) -> None:
    """Try until it works; a disaster may be in the way."""
    deadline = time.monotonic() + START_JOB_SECONDS
    arguments = ("build_gold", "--campaign", "campaign 1", "--argument", f"minimum={size.enough}")
    while (process := _manage(stack.environment, "start_job", *arguments)).returncode:
        assert time.monotonic() < deadline, process.stderr


def start_gold_jobs_until(is_over: threading.Event, stack: Stack, size: Size) -> int:
    """Start gold jobs at intervals and return their number."""
    n_requested = 0
    while not is_over.wait(size.seconds_between_gold):
        start_gold_job(stack, size)
        n_requested += 1
    return n_requested


def check(stack: Stack, size: Size) -> dict[str, Any]:
    orders = books(stack, "prepare", asdict(size))
    started = time.monotonic()
    crowd, is_over = Crowd(stack, size, orders), threading.Event()
    with ThreadPoolExecutor(1) as executor:
        gold = executor.submit(start_gold_jobs_until, is_over, stack, size)
        try:
            happened = cause_disasters(stack, size, crowd)
            notes, n_failures = crowd.notes()
            seconds = time.monotonic() - started
        finally:
            is_over.set()
            crowd.stop()
        n_requested = gold.result()
    settled = books(stack, "settle", asdict(size) | {"enough": size.enough})
    assert not any(settled["left"].values()), f"left undone by the stack: {settled['left']}"
    facts = settled | books(stack, "compare", notes)
    facts |= {
        "n_acknowledged": sum(len(note["scores"]) for note in notes),
        "n_failures": n_failures,
    }
    facts |= {"disasters": len(happened), "seconds": round(seconds, 1)}
    print(json.dumps(facts))
    assert set(happened) == set(stack.disasters), "not every disaster happened"
    assert n_failures > len(happened) / 2, "the disasters hardly met a request"
    # Every acknowledged rating is stored with its score.
    assert facts["lost"] == facts["wrong_scores"] == facts["wrong_codes"] == []
    assert facts["unasked"] == 0 and facts["n_ratings"] == facts["n_acknowledged"]
    assert facts["wrong_places"] == []
    # Every job is done once.
    assert facts["jobs"].keys() == {"done"} and facts["jobs"]["done"] > n_requested > 0
    assert facts["n_runs"] == facts["jobs"]["done"] and facts["is_of_last_job"]
    # The gold of the stack equals the gold computed from the notes.
    assert facts["n_trusted"][0] == facts["n_trusted"][1] > size.n_workers * 0.8
    assert len(set(facts["n_gold"])) == 1 and facts["n_gold"][0] > 0
    assert facts["largest_gold_difference"] < 1e-9
    return facts


STACKS = {
    "production": production,
    "behind a pooler": partial(production, is_pooled=True),
    "one machine": one_machine,
}


@pytest.mark.parametrize("kind", ["production", "one machine"])
def test_nothing_acknowledged_is_lost_while_parts_are_killed(kind, tmp_path):
    with STACKS[kind](tmp_path, SMALL.queue) as stack:
        facts = check(stack, SMALL)
    assert facts["n_submitted"] >= 50


@pytest.mark.soak
@pytest.mark.parametrize("kind", STACKS)
def test_nothing_acknowledged_is_lost_at_full_size(kind, tmp_path):
    with STACKS[kind](tmp_path, FULL.queue) as stack:
        facts = check(stack, FULL)
    assert facts["n_submitted"] >= 400 and facts["n_ratings"] >= 40_000
