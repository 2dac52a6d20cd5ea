"""Servers for the benchmarks of ratings, and the scripted workers in front of them."""

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from benchmarks.rating_setup import make_desks, prepare
from tests.concurrency.databases import platform_environment
from tests.concurrency.servers import Server, running_server

from .clients import RATE, Desk, Timings, Worker, connect_evenly, take_turn
from .measuring import in_own_process
from .processes import family_seconds, postmaster_of, processor_seconds

TURN_SECONDS = 1.5
WARM_UP_SECONDS = 2.0
N_PROCESSES = 2
RATINGS_PER_DESK = 100
# Desks for the warm-up, which shows how many more are needed.
DESKS_PER_WORKER = 3
# More ratings than the fastest turn so far would need.
RESERVE = 1.5


def environment(database_url: str) -> dict[str, str]:
    return platform_environment(
        database_url,
        DA_DEBUG="0",
        DA_ALLOWED_HOSTS="127.0.0.1",
        DA_SSL_REDIRECT="0",
        DJANGO_SETTINGS_MODULE="benchmarks.rating_settings",
        WEB_CONCURRENCY=str(N_PROCESSES),
    )


def prepare_database(
    url: str, n_ratings: int, *, with_pages: bool = False, **settings: str
) -> dict[str, Any]:
    """Fill the database; add what the main pages show only if they are opened, since that takes a while."""
    prepared: dict[str, Any] = in_own_process(
        prepare,
        environment=environment(url),
        n_ratings=n_ratings,
        with_pages=with_pages,
        settings=settings,
    )
    return prepared


@contextmanager
def serving(database_url: str) -> Iterator[Server]:
    with running_server(environment(database_url)) as server:
        yield server


@contextmanager
def serving_bare(database_url: str) -> Iterator[Server]:
    """Plain Django behind the same gunicorn; nothing of the platform is loaded."""
    settings = {"DJANGO_SETTINGS_MODULE": "benchmarks.bare_settings"}
    application = "django.core.wsgi:get_wsgi_application()"
    with running_server(environment(database_url) | settings, application) as server:
        yield server


@dataclass
class Stage:
    """A server, the workers in front of it, and the processor time of all processes involved."""

    server: Server
    database_url: str
    desks: Sequence[Desk]
    workers: Sequence[Worker]
    processor: Mapping[str, Callable[[], float]]
    # In the fastest turn so far.
    ratings_per_second: float = field(default=0.0, init=False)

    @classmethod
    def of(
        cls, server: Server, database_url: str, n_workers: int, desks: Sequence[Desk] = ()
    ) -> "Stage":
        """Set up the workers, with new desks unless some are given."""
        desks = desks or new_desks(database_url, n_workers * DESKS_PER_WORKER)
        workers = [Worker(desks[i::n_workers]) for i in range(n_workers)]
        pids = server.worker_pids()
        processor: dict[str, Callable[[], float]] = {
            "clients": time.process_time,
            "gunicorn": lambda: processor_seconds(pids),
        }
        if (postmaster := postmaster_of(database_url)) is not None:
            processor["PostgreSQL"] = lambda: family_seconds(postmaster)
        return cls(server, database_url, desks, workers, processor)

    def stock_up(self, seconds: float) -> None:
        """If a worker might run out of items during a turn, prepare enough for this long."""
        per_second = RESERVE * self.ratings_per_second / len(self.workers)
        if min(len(worker.ratings) for worker in self.workers) > per_second * TURN_SECONDS:
            return
        n_each = 1 + math.ceil(per_second * max(seconds, TURN_SECONDS) / RATINGS_PER_DESK)
        desks = new_desks(self.database_url, n_each * len(self.workers))
        for i, worker in enumerate(self.workers):
            worker.take_desks(desks[i :: len(self.workers)])

    def take_turn(self, kind: str, seconds: float, timings: Timings) -> None:
        """Let all workers send requests of one kind for a while; add the results to the timings."""
        # Opened for each turn, because the server closes idle connections.
        connections = connect_evenly(self.server.port, self.server.worker_pids(), len(self.workers))
        for worker, connection in zip(self.workers, connections, strict=True):
            worker.connection = connection
        before = {who: used() for who, used in self.processor.items()}
        take_turn(self.workers, kind, seconds, timings)
        for who, used in self.processor.items():
            timings.processor[who] = timings.processor.get(who, 0.0) + used() - before[who]
        for connection in connections:
            connection.close()
        if kind == RATE:
            self.ratings_per_second = max(self.ratings_per_second, timings.rates[-1])


def new_desks(database_url: str, n_desks: int) -> list[Desk]:
    desks: list[Desk] = in_own_process(
        make_desks, environment=environment(database_url), n_desks=n_desks
    )
    return desks


def take_turns(kinds: Mapping[str, tuple[Stage, str]], seconds: float) -> dict[str, Timings]:
    """Measure each kind for this long, in turns, so that a busy moment of the machine affects all equally."""
    for stage, kind in kinds.values():
        # Not measured. Afterwards everything is loaded and the database connections are open.
        stage.take_turn(kind, min(seconds, WARM_UP_SECONDS), Timings())
    timings = {title: Timings() for title in kinds}
    for turn in range(max(1, round(seconds / TURN_SECONDS))):
        for title, (stage, kind) in kinds.items():
            if kind == RATE:
                stage.stock_up(seconds - turn * TURN_SECONDS)
            stage.take_turn(kind, TURN_SECONDS, timings[title])
    return timings
