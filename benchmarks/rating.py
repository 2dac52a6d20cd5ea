"""Eight workers who never pause: ratings per second, waiting times, queries.

    python -m benchmarks.rating [--database sqlite|postgres|both] [--seconds N]

Scripted workers, each in a process of its own with one connection kept open, rate against gunicorn with two
worker processes and the settings of production. In turns of a second or two they do the same with a bare
Django view, which has the same settings and middleware and only stores a row and looks one up, and with a
second server whose database holds a million ratings already. What is compared was thus measured side by side.
"""

import argparse
import json
import multiprocessing
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlencode

from tests.concurrency.databases import DATABASES, ROOT, platform_environment
from tests.concurrency.raters import Desk
from tests.concurrency.servers import running_server

N_WORKERS = 8
N_STORED = 1_000_000
# More HITs of 100 items than eight workers can do in any sensible time.
DESKS_PER_SECOND = 30
TURN_SECONDS = 1.5
WARM_UP_SECONDS = 2.0

# What the platform is held to.
MAX_QUERIES = 6
MIN_RATIO_TO_BARE = 0.7
MAX_P50_RATIO = 1.2


@dataclass(frozen=True)
class Turn:
    """All workers do one kind of thing between these two moments of the common clock."""

    kind: str
    start: float
    end: float


@dataclass
class Timings:
    """What the workers measured in all turns of one kind."""

    seconds: list[float] = field(default_factory=list)
    seconds_measured: float = 0.0

    @property
    def per_second(self) -> float:
        return len(self.seconds) / self.seconds_measured

    def quantile_ms(self, percent: int) -> float:
        return 1000 * statistics.quantiles(self.seconds, n=100)[percent - 1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--database", choices=[*DATABASES, "both"], default="both")
    parser.add_argument("--seconds", type=float, default=10, help="of measuring, for each kind")
    parser.add_argument("--stored", type=int, default=N_STORED, help=argparse.SUPPRESS)
    options = parser.parse_args()
    chosen = list(DATABASES) if options.database == "both" else [options.database]
    for name in chosen:
        measure(name, seconds=options.seconds, n_stored=options.stored)


def measure(name: str, *, seconds: float, n_stored: int) -> None:
    n_desks = 1 + N_WORKERS * round(2 + DESKS_PER_SECOND * seconds / N_WORKERS)
    with DATABASES[name]() as make_database:
        empty, full = make_database("empty"), make_database("full")
        prepared = prepare(empty, n_desks, 0)
        crowded = prepare(full, n_desks, n_stored)
        with serving(empty) as port, serving(full) as crowded_port:
            places = {
                "rate": (port, prepared["desks"]),
                "bare": (port, prepared["desks"]),
                "crowded": (crowded_port, crowded["desks"]),
            }
            timings = let_them_work(places, seconds)
    report(name, timings, prepared["n_queries"], crowded["n_ratings"])


def environment(database_url: str) -> dict[str, str]:
    return platform_environment(
        database_url,
        DA_DEBUG="0",
        DA_ALLOWED_HOSTS="127.0.0.1",
        DA_SSL_REDIRECT="0",
        DJANGO_SETTINGS_MODULE="benchmarks.rating_settings",
        WEB_CONCURRENCY="2",
    )


def prepare(database_url: str, n_desks: int, n_ratings: int) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.rating_setup", str(n_desks), str(n_ratings)]
    done = subprocess.run(
        command, cwd=ROOT, env=environment(database_url), check=True, stdout=subprocess.PIPE
    )
    prepared: dict[str, Any] = json.loads(done.stdout)
    return prepared


@contextmanager
def serving(database_url: str) -> Iterator[int]:
    with running_server(environment(database_url)) as server:
        yield server.port


# The workers ---------------------------------------------------------------------------------


def let_them_work(places: dict[str, Any], seconds: float) -> dict[str, Timings]:
    """Let all workers take their turns; the kinds alternate, so that a busy moment hits all alike."""
    context = multiprocessing.get_context("spawn")
    everyone_ready = context.Barrier(N_WORKERS + 1)
    first_moment = context.Value("d", 0.0)
    turns = plan_turns(list(places), seconds)
    outcomes: Any = context.Queue()
    crew = []
    for number in range(N_WORKERS):
        own = {kind: (port, desks[number::N_WORKERS]) for kind, (port, desks) in places.items()}
        arguments = (own, turns, everyone_ready, first_moment, outcomes)
        crew.append(context.Process(target=work, args=arguments))
        crew[-1].start()
    first_moment.value = time.monotonic() + 5
    everyone_ready.wait(timeout=60)
    timings = {kind: Timings() for kind in places}
    for _ in crew:
        for kind, measured in outcomes.get(timeout=turns[-1].end + 60).items():
            timings[kind].seconds += measured
    for process in crew:
        process.join()
    for turn in turns:
        if turn.kind in timings:
            timings[turn.kind].seconds_measured += turn.end - turn.start
    return timings


def plan_turns(kinds: list[str], seconds: float) -> list[Turn]:
    turns, moment = [], 0.0
    for kind in kinds:
        # Not measured: everything is loaded and every connection open afterwards.
        turns.append(Turn(f"warm-up {kind}", moment, moment + WARM_UP_SECONDS))
        moment += WARM_UP_SECONDS
    for _ in range(max(1, round(seconds / TURN_SECONDS))):
        for kind in kinds:
            turns.append(Turn(kind, moment, moment + TURN_SECONDS))
            moment += TURN_SECONDS
    return turns


def work(places: dict[str, Any], turns: list[Turn], ready: Any, first: Any, outcomes: Any) -> None:
    requests = {kind: endless(kind, *place) for kind, place in places.items()}
    seconds: dict[str, list[float]] = {kind: [] for kind in places}
    ready.wait(timeout=60)
    start = max(first.value, time.monotonic())
    for turn in turns:
        kind = turn.kind.removeprefix("warm-up ")
        time.sleep(max(0.0, start + turn.start - time.monotonic()))
        while time.monotonic() < start + turn.end:
            taken = next(requests[kind])
            if turn.kind == kind:
                seconds[kind].append(taken)
    outcomes.put(seconds)


def endless(kind: str, port: int, desks: list[dict[str, Any]]) -> Iterator[float]:
    """Rate item after item, or ask the bare view with the very same requests; yield the time each took."""
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    for desk in desks:
        headers = Desk(desk["url"], desk["cookie"]).headers
        url = "/bare/" if kind == "bare" else desk["url"]
        for position, item in enumerate(desk["items"], start=1):
            rating = {"position": position, "item": item, "score": position}
            body = urlencode(rating | {"elapsed_ms": 40, "active_ms": 30})
            started = time.perf_counter()
            connection.request("POST", url, body, headers)
            response = connection.getresponse()
            answer = json.loads(response.read())
            taken = time.perf_counter() - started
            if response.status != 200 or answer["saved"] != (1 if kind == "bare" else position):
                raise RuntimeError(f"{url} answered {response.status}: {answer}")
            yield taken
    raise RuntimeError(f"No item is left for {kind}: prepare more desks.")


# The report ----------------------------------------------------------------------------------


def report(
    name: str, timings: dict[str, Timings], n_queries: dict[str, int], n_stored: int
) -> None:
    titles = {"rate": "rating", "bare": "bare view", "crowded": f"rating, {n_stored:,} stored"}
    print(f"{name}: {N_WORKERS} workers without pauses, gunicorn with 2 processes")
    for kind, title in titles.items():
        measured = timings[kind]
        print(
            f"  {title:<26} {measured.per_second:7.0f} /s   p50 {measured.quantile_ms(50):6.1f} ms"
            f"   p95 {measured.quantile_ms(95):6.1f} ms   n {len(measured.seconds):,}"
        )
    first, last = n_queries["1"], n_queries["99"]
    ratio = timings["rate"].per_second / timings["bare"].per_second
    growth = timings["crowded"].quantile_ms(50) / timings["rate"].quantile_ms(50)
    bars = [
        ("queries at item 1 and 99", f"{first}, {last}", f"<= {MAX_QUERIES}, the same",
         first == last <= MAX_QUERIES),
        ("of the bare view's rate", f"{ratio:.2f}", f">= {MIN_RATIO_TO_BARE}",
         ratio >= MIN_RATIO_TO_BARE),
        (f"p50 with {n_stored:,} stored", f"{growth:.2f}", f"<= {MAX_P50_RATIO}",
         growth <= MAX_P50_RATIO),
    ]  # fmt: skip
    for title, value, bound, is_met in bars:
        verdict = "met" if is_met else "MISSED"
        print(f"  {title:<32} {value:>8}   bar {bound:<18} {verdict}", flush=True)


if __name__ == "__main__":
    main()
