"""Ratings, edits and rankings that the server has acknowledged are stored, even if it is killed."""

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
from .raters import Desk, EditingRater, RankingRater, Rater
from .scenarios import run_scenario
from .servers import Server, running_server

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("concurrency")]

N_RATERS = 4
N_KILLS = 40
# How often everything is killed at once, including the master process.
KILLS_PER_CRASH = 10
# The next kill waits for this many ratings, because a new process needs a while to answer.
RATINGS_BETWEEN_KILLS = 2


# `make soak` does the same behind a pooler.
@pytest.mark.parametrize("make_database", ["sqlite", "postgres"], indirect=True)
@pytest.mark.parametrize(
    ("make_desks", "stored_answers", "kind"),
    [
        pytest.param("prepare_desks", "stored_ratings", Rater, id="ratings"),
        pytest.param("prepare_editing_desks", "stored_edits", EditingRater, id="edits"),
        pytest.param("prepare_ranking_desks", "stored_rankings", RankingRater, id="rankings"),
    ],
)
def test_no_acknowledged_answer_is_lost_or_doubled_by_kills(
    database_url, make_desks, stored_answers, kind
):
    desks = [Desk(*desk) for desk in run_scenario(make_desks, database_url)["desks"]]
    # With --preload, killed processes are replaced quickly.
    with running_server(platform_environment(database_url), "--preload") as server:
        crew = Crew(server.port, desks, kind)
        n_kills = kill_again_and_again(server, crew)
        acknowledged, n_failures = crew.finish()

    assert n_kills == N_KILLS
    assert n_failures >= N_KILLS / 4, "the kills hardly met a request"
    assert len(acknowledged) >= N_KILLS
    stored = [tuple(rating) for rating in run_scenario(stored_answers, database_url)["ratings"]]
    assert max(Counter(rating[:2] for rating in stored).values()) == 1
    assert set(acknowledged) <= set(stored)
    # Each rater may have stopped before the answer to one stored rating.
    assert len(stored) - len(acknowledged) <= N_RATERS


class Crew:
    """Raters in separate processes, who rate HIT after HIT until they are stopped."""

    def __init__(self, port: int, desks: list[Desk], kind: type[Rater] = Rater) -> None:
        context = multiprocessing.get_context("spawn")
        self.is_over = context.Event()
        self.outcomes: Any = context.Queue()
        self.n_acknowledged = context.Value("i", 0)
        self.processes = [
            context.Process(
                target=rate_many,
                args=(
                    kind,
                    port,
                    desks[i::N_RATERS],
                    i,
                    self.is_over,
                    self.n_acknowledged,
                    self.outcomes,
                ),
            )
            for i in range(N_RATERS)
        ]
        for process in self.processes:
            process.start()

    def is_at_work(self) -> bool:
        return all(process.is_alive() for process in self.processes)

    def wait_for_ratings(self) -> None:
        enough = self.n_acknowledged.value + RATINGS_BETWEEN_KILLS
        eventually(lambda: self.n_acknowledged.value >= enough or not self.is_at_work())

    def finish(self) -> tuple[list[tuple[str, int, Any]], int]:
        """Stop all raters; return the acknowledged ratings and the number of failed requests."""
        self.is_over.set()
        outcomes = [self.outcomes.get(timeout=30) for _ in self.processes]
        for process in self.processes:
            process.join()
            assert process.exitcode == 0
        acknowledged = [rating for ratings, _ in outcomes for rating in ratings]
        return acknowledged, sum(n_failures for _, n_failures in outcomes)


def rate_many(
    kind: type[Rater],
    port: int,
    desks: list[Desk],
    seed: int,
    is_over: Event,
    n_acknowledged: Any,
    outcomes: Any,
) -> None:
    rater = kind(port, random.Random(seed))
    acknowledged = []
    for desk in desks:
        for position, score in rater.rate_hit(desk, is_over=is_over.is_set):
            acknowledged.append((desk.url, position, score))
            with n_acknowledged:
                n_acknowledged.value += 1
    outcomes.put((acknowledged, rater.n_failures))


def kill_again_and_again(server: Server, crew: Crew) -> int:
    """Kill server processes, and now and then the whole server."""
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
        # A process that has just ended does not count.
        elif kill(rng.choice(workers)):
            n_kills += 1
    return n_kills
