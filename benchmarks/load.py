"""PostgreSQL under load: 8, 32 and 128 workers who never pause, ten million ratings stored, memory, pages.

    python -m benchmarks.load [--seconds N] [--stored N]

At each number of workers the platform on an empty database, on one that has grown, and two bare Django
views take turns of a second or two (see `benchmarks.rating`). Then the main pages are opened one by one,
beside a bare page, and the memory of every process is read, beside that of a server with a bare view alone.
"""

import argparse
import socket
import statistics
import time
from collections.abc import Mapping, Sequence
from typing import Any

from tests.concurrency.databases import DATABASES
from tests.concurrency.servers import Server, running_server

from .bars import fail_if_missed, print_bar
from .processes import children_of, memory_mb, postmaster_of
from .rating import MAX_P50_RATIO, MIN_RATIO_TO_BARE, line_of
from .stage import Stage, environment, prepare, serving, take_turns

CROWDS = (8, 32, 128)
N_STORED = 10_000_000
N_VISITS = 25
# More than these machines reach. A desk is a HIT of 100 items.
RATINGS_PER_SECOND = 1_500
RATINGS_PER_DESK = 100
PATIENCE_SECONDS = 120

Desks = Sequence[Mapping[str, Any]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=6, help="of measuring, for each kind")
    parser.add_argument(
        "--stored", type=int, default=N_STORED, help="ratings in the grown database"
    )
    options = parser.parse_args()
    needed = {n: desks_needed(n, options.seconds) for n in CROWDS}
    with DATABASES["postgres"]() as make_database:
        empty, grown = make_database("empty"), make_database("grown")
        here = prepare(empty, 1 + sum(needed.values()), 0)
        started = time.monotonic()
        there = prepare(grown, 1 + sum(needed.values()), options.stored)
        print(f"{there['n_ratings']:,} ratings stored in {time.monotonic() - started:.0f} s")
        with serving(empty) as server, serving(grown) as grown_server:
            for n_workers, n_desks in needed.items():
                places = [
                    (server, empty, take(here, n_desks)),
                    (grown_server, grown, take(there, n_desks)),
                ]
                report_crowd(n_workers, places, options.seconds, there["n_ratings"])
            report_pages(grown_server, there["pages"], there["n_ratings"])
            with bare_server(empty) as bare:
                report_memory({"platform": server, "bare Django": bare}, empty)
    fail_if_missed()


def desks_needed(n_workers: int, seconds: float) -> int:
    """So many that none of the workers runs out of items, each with the same number of desks."""
    n_ratings = RATINGS_PER_SECOND * (seconds + 4)
    return n_workers * (1 + round(n_ratings / RATINGS_PER_DESK / n_workers))


def take(prepared: Mapping[str, Any], n_desks: int) -> Desks:
    """Take desks away from those prepared: each is used once."""
    taken: Desks = prepared["desks"][:n_desks]
    del prepared["desks"][:n_desks]
    return taken


# Many at once --------------------------------------------------------------------------------


def report_crowd(
    n_workers: int, places: Sequence[tuple[Server, str, Desks]], seconds: float, n_stored: int
) -> None:
    here, there = (Stage.of(server, url, desks, n_workers) for server, url, desks in places)
    timings = take_turns({
        "rating": (here, "rate"),
        "bare view, ORM": (here, "bare orm"),
        "bare view, raw cursor": (here, "bare cursor"),
        "rating, grown": (there, "rate"),
    }, seconds)  # fmt: skip
    print(f"{n_workers} workers without pauses, gunicorn with 2 processes")
    for title, measured in timings.items():
        print(line_of(title, measured))
    rating = timings["rating"]
    for title in ("bare view, ORM", "bare view, raw cursor"):
        ratio = rating.per_second / timings[title].per_second
        print_bar(f"of the rate of the {title}", f"{ratio:.2f}", f">= {MIN_RATIO_TO_BARE}",
                  is_met=ratio >= MIN_RATIO_TO_BARE)  # fmt: skip
    growth = timings["rating, grown"].quantile_ms(50) / rating.quantile_ms(50)
    print_bar(f"p50 with {n_stored:,} stored", f"{growth:.2f}", f"<= {MAX_P50_RATIO}",
              is_met=growth <= MAX_P50_RATIO)  # fmt: skip


# Pages ---------------------------------------------------------------------------------------


def report_pages(server: Server, pages: Sequence[Mapping[str, str]], n_stored: int) -> None:
    """Open each page again and again, the pages in turns; print the median time to its first byte."""
    seconds: dict[str, list[float]] = {page["title"]: [] for page in pages}
    for visit in range(N_VISITS + 1):
        for page in pages:
            taken = seconds_to_first_byte(server.port, page["url"], page["cookie"])
            # The first visit loads the templates.
            if visit:
                seconds[page["title"]].append(taken)
    bare = statistics.median(seconds["bare page"])
    print(f"time to the first byte of a page, {n_stored:,} ratings stored, {N_VISITS} visits each")
    for title, measured in seconds.items():
        median = statistics.median(measured)
        print(
            f"  {title:<26} median {1000 * median:7.1f} ms   slowest {1000 * max(measured):7.1f} ms"
            f"   {median / bare:5.1f} times the bare page"
        )


def seconds_to_first_byte(port: int, url: str, cookie: str) -> float:
    request = (
        f"GET {url} HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: {cookie}\r\nConnection: close\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_SECONDS) as connection:
        started = time.perf_counter()
        connection.sendall(request.encode())
        first = connection.recv(65536)
        taken = time.perf_counter() - started
        while connection.recv(65536):
            pass
    if not first.startswith(b"HTTP/1.1 200"):
        raise RuntimeError(f"{url} answered {first[:200]!r}")
    return taken


# Memory --------------------------------------------------------------------------------------


def bare_server(database_url: str) -> Any:
    """Django with one view; nothing of the platform is loaded into it."""
    settings = {"DJANGO_SETTINGS_MODULE": "benchmarks.bare_settings"}
    return running_server(
        environment(database_url) | settings, "django.core.wsgi:get_wsgi_application()"
    )


def report_memory(servers: Mapping[str, Server], database_url: str) -> None:
    print("memory after this load: RSS, and PSS, which shares out what processes have in common")
    for name, server in servers.items():
        assert server.process
        print_memory(f"{name}, master", [server.process.pid])
        print_memory(f"{name}, process", server.worker_pids())
    postmaster = postmaster_of(database_url)
    assert postmaster
    print_memory("PostgreSQL, main", [postmaster])
    print_memory("PostgreSQL, process", children_of(postmaster))


def print_memory(title: str, pids: Sequence[int]) -> None:
    sizes = [size for size in map(memory_mb, pids) if size]
    rss, pss = max(size[0] for size in sizes), sum(size[1] for size in sizes)
    print(f"  {title:<26} {len(sizes):3}   largest RSS {rss:6.0f} MB   PSS of all {pss:6.0f} MB")


if __name__ == "__main__":
    main()
