"""Servers for the benchmarks of ratings, and the scripted workers in front of them."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tests.concurrency.databases import ROOT, platform_environment
from tests.concurrency.servers import Server, running_server

from .clients import Timings, Worker, connect_evenly, ratings_of, same_bodies, take_turn
from .processes import family_seconds, postmaster_of, processor_seconds

TURN_SECONDS = 1.5
WARM_UP_SECONDS = 2.0
N_PROCESSES = 2


def environment(database_url: str) -> dict[str, str]:
    return platform_environment(
        database_url,
        DA_DEBUG="0",
        DA_ALLOWED_HOSTS="127.0.0.1",
        DA_SSL_REDIRECT="0",
        DJANGO_SETTINGS_MODULE="benchmarks.rating_settings",
        WEB_CONCURRENCY=str(N_PROCESSES),
    )


def prepare(
    database_url: str, n_desks: int, n_ratings: int, *, with_pages: bool = False
) -> dict[str, Any]:
    """Fill the database; with what the main pages show only where they are opened, for that takes a while."""
    numbers = [str(int(number)) for number in (n_desks, n_ratings, with_pages)]
    command = [sys.executable, "-m", "benchmarks.rating_setup", *numbers]
    done = subprocess.run(
        command, cwd=ROOT, env=environment(database_url), check=True, stdout=subprocess.PIPE
    )
    prepared: dict[str, Any] = json.loads(done.stdout)
    return prepared


@contextmanager
def serving(database_url: str) -> Iterator[Server]:
    with running_server(environment(database_url)) as server:
        yield server


@contextmanager
def serving_bare(database_url: str) -> Iterator[Server]:
    """Django alone behind the same gunicorn; nothing of the platform is loaded into it."""
    settings = {"DJANGO_SETTINGS_MODULE": "benchmarks.bare_settings"}
    application = "django.core.wsgi:get_wsgi_application()"
    with running_server(environment(database_url) | settings, application) as server:
        yield server


@dataclass(frozen=True)
class Stage:
    """A server, the workers in front of it, and how to ask what its processes have used."""

    server: Server
    workers: Sequence[Worker]
    processor: Mapping[str, Callable[[], float]]

    @classmethod
    def of(
        cls, server: Server, database_url: str, desks: Sequence[Mapping[str, Any]], n_workers: int
    ) -> "Stage":
        workers = []
        for i in range(n_workers):
            own = desks[i::n_workers]
            requests = {
                "rate": ratings_of(own),
                "bare orm": same_bodies("/bare/orm/", own),
                "bare cursor": same_bodies("/bare/cursor/", own),
            }
            workers.append(Worker(requests))
        pids = server.worker_pids()
        processor: dict[str, Callable[[], float]] = {
            "clients": time.process_time,
            "gunicorn": lambda: processor_seconds(pids),
        }
        if (postmaster := postmaster_of(database_url)) is not None:
            processor["PostgreSQL"] = lambda: family_seconds(postmaster)
        return cls(server, workers, processor)

    def used(self) -> dict[str, float]:
        return {who: seconds() for who, seconds in self.processor.items()}

    def take_turn(self, kind: str, seconds: float, timings: Timings) -> None:
        """Let all workers send requests of one kind for so long; add what it took to the timings."""
        # Opened for each turn: the server hangs up on those who wait long for theirs.
        connections = connect_evenly(self.server.port, self.server.worker_pids(), len(self.workers))
        for worker, connection in zip(self.workers, connections, strict=True):
            worker.connection = connection
        before = self.used()
        take_turn(self.workers, kind, seconds, timings)
        for who, used in self.used().items():
            timings.used[who] = timings.used.get(who, 0.0) + used - before[who]
        for connection in connections:
            connection.close()


def take_turns(kinds: Mapping[str, tuple[Stage, str]], seconds: float) -> dict[str, Timings]:
    """Measure each kind for so long, in turns, so that a busy moment of the machine hits all alike."""
    for stage, request in kinds.values():
        # Not measured: everything is loaded afterwards, and the database's connections are open.
        stage.take_turn(request, WARM_UP_SECONDS, Timings())
    timings = {kind: Timings() for kind in kinds}
    for _ in range(max(1, round(seconds / TURN_SECONDS))):
        for kind, (stage, request) in kinds.items():
            stage.take_turn(request, TURN_SECONDS, timings[kind])
    return timings
