"""What the server has acknowledged is stored, whatever happens to the server."""

import multiprocessing
import random
import time
from collections import Counter
from multiprocessing.synchronize import Event
from typing import Any

import pytest

from tests.subprocesses import kill
from tests.waiting import eventually

from .databases import platform_environment
from .raters import Desk, Rater
from .scenarios import run_scenario
from .servers import Server, running_server

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("concurrency")]

N_RATERS = 4
N_KILLS = 40
# Now and then everything goes at once, master included, as in a power cut for the server.
KILLS_PER_CRASH = 10
# A fresh worker's first answer takes a while; the next kill waits for so many ratings.
RATINGS_BETWEEN_KILLS = 2


# Not behind a pooler too, for time's sake: there `make soak` kills.
@pytest.mark.parametrize("make_database", ["sqlite", "postgres"], indirect=True)
def test_no_acknowledged_rating_is_lost_or_doubled_by_kills(database_url):
    desks = [Desk(*desk) for desk in run_scenario("prepare_desks", database_url)["desks"]]
    # The application is loaded once and workers are forks of it: they are back in a moment.
    with running_server(platform_environment(database_url), "--preload") as server:
        crew = Crew(server.port, desks)
        n_kills = kill_again_and_again(server, crew)
        told, n_failures = crew.finish()

    assert n_kills == N_KILLS
    assert n_failures >= N_KILLS / 4, "the kills hardly met a request"
    assert len(told) >= N_KILLS
    stored = [tuple(rating) for rating in run_scenario("stored_ratings", database_url)["ratings"]]
    assert max(Counter(rating[:2] for rating in stored).values()) == 1
    assert set(told) <= set(stored)
    # At most the rating that each was about to hear of when the end came is stored without being told.
    assert len(stored) - len(told) <= N_RATERS


class Crew:
    """Raters in processes of their own, who go from desk to desk until they are told to stop."""

    def __init__(self, port: int, desks: list[Desk]) -> None:
        context = multiprocessing.get_context("spawn")
        self.is_over = context.Event()
        self.outcomes: Any = context.Queue()
        self.n_told = context.Value("i", 0)
        self.processes = [
            context.Process(
                target=rate_many,
                args=(port, desks[i::N_RATERS], i, self.is_over, self.n_told, self.outcomes),
            )
            for i in range(N_RATERS)
        ]
        for process in self.processes:
            process.start()

    def is_at_work(self) -> bool:
        return all(process.is_alive() for process in self.processes)

    def wait_for_ratings(self) -> None:
        enough = self.n_told.value + RATINGS_BETWEEN_KILLS
        eventually(lambda: self.n_told.value >= enough or not self.is_at_work())

    def finish(self) -> tuple[list[tuple[str, int, int]], int]:
        """Stop everyone; return what all were told, and how often a request failed."""
        self.is_over.set()
        outcomes = [self.outcomes.get(timeout=30) for _ in self.processes]
        for process in self.processes:
            process.join()
            assert process.exitcode == 0
        told = [rating for ratings, _ in outcomes for rating in ratings]
        return told, sum(n_failures for _, n_failures in outcomes)


def rate_many(
    port: int, desks: list[Desk], seed: int, is_over: Event, n_told: Any, outcomes: Any
) -> None:
    rater = Rater(port, random.Random(seed))
    told = []
    for desk in desks:
        for position, score in rater.rate_hit(desk, is_over=is_over.is_set):
            told.append((desk.url, position, score))
            with n_told:
                n_told.value += 1
    outcomes.put((told, rater.n_failures))


def kill_again_and_again(server: Server, crew: Crew) -> int:
    """Kill workers as soon as they are at work again, and at times the whole server."""
    rng = random.Random(1)
    n_kills = 0
    while n_kills < N_KILLS:
        crew.wait_for_ratings()
        time.sleep(rng.uniform(0, 0.05))
        assert crew.is_at_work(), "nobody is rating any more"
        workers = server.worker_pids()
        if not workers:
            continue
        if n_kills % KILLS_PER_CRASH == KILLS_PER_CRASH - 1:
            server.kill_all()
            server.start()
            n_kills += 1
        # One that the server has just buried is not killed once more, and does not count.
        elif kill(rng.choice(workers)):
            n_kills += 1
    return n_kills
