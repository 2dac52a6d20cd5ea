"""PostgreSQL under load: 8, 32 and 128 workers who never pause, ten million ratings stored, memory, pages.

    python -m benchmarks.load [--seconds N] [--stored N]

At each number of workers the platform on an empty database, on one that has grown, and bare views take turns
of a second or two (see `benchmarks.rating`). Then the main pages are opened one by one, beside a bare page of
Django alone, and the memory of every process is read: that of Django alone too after these crowds and visits.
"""

import argparse
import socket
import statistics
import time
from collections.abc import Mapping, Sequence
from typing import Any

from tests.concurrency.databases import DATABASES
from tests.concurrency.servers import Server

from .bars import fail_if_missed
from .processes import children_of, memory_mb, postmaster_of
from .rating import GROWN, bare_kinds, line_of, report_ratios
from .stage import Stage, prepare, serving, serving_bare, take_turns

CROWDS = (8, 32, 128)
N_STORED = 10_000_000
N_VISITS = 25
# A page that has taken so long in all is not opened again.
SECONDS_A_PAGE = 30
# More than these machines reach. A desk is a HIT of 100 items.
RATINGS_PER_SECOND = 1_500
RATINGS_PER_DESK = 100
PATIENCE_SECONDS = 120

# One row in a small template, by Django without session, user and context processors.
BARE_PAGE = {"title": "bare page of Django alone", "url": "/", "cookie": ""}

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
        there = prepare(grown, 1 + sum(needed.values()), options.stored, with_pages=True)
        print(f"{there['n_ratings']:,} ratings stored in {time.monotonic() - started:.0f} s")
        with (
            serving(empty) as server,
            serving(grown) as grown_server,
            serving_bare(empty) as bare,
        ):
            for n_workers, n_desks in needed.items():
                desks = take(here, n_desks)
                places = [
                    (server, empty, desks),
                    # The same bodies again: to a bare view they are all one.
                    (bare, empty, desks),
                    (grown_server, grown, take(there, n_desks)),
                ]
                report_crowd(n_workers, places, options.seconds, there["n_ratings"])
            report_pages(grown_server, bare, there["pages"], there["n_ratings"])
            servers = {
                "platform, ratings": server,
                "platform, ratings and pages": grown_server,
                "Django alone": bare,
            }
            report_memory(servers, empty)
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
    """Measure at the platform, at Django alone and at the platform that has grown, in turns."""
    here, bare, there = (Stage.of(server, url, desks, n_workers) for server, url, desks in places)
    kinds = {"rating": (here, "rate"), **bare_kinds(here, bare), GROWN: (there, "rate")}
    timings = take_turns(kinds, seconds)
    print(f"{n_workers} workers without pauses, gunicorn with 2 processes")
    for title, measured in timings.items():
        print(line_of(title, measured))
    report_ratios(timings, n_stored)


# Pages ---------------------------------------------------------------------------------------


def report_pages(
    server: Server, bare: Server, pages: Sequence[Mapping[str, str]], n_stored: int
) -> None:
    """Open each page again and again, the pages in turns; print the median time to its first byte."""
    places = [(server.port, page) for page in pages] + [(bare.port, BARE_PAGE)]
    seconds: dict[str, list[float]] = {page["title"]: [] for _, page in places}
    for visit in range(N_VISITS + 1):
        for port, page in places:
            if sum(seconds[page["title"]]) > SECONDS_A_PAGE:
                continue
            taken = seconds_to_first_byte(port, page["url"], page["cookie"])
            # The first visit loads the templates.
            if visit:
                seconds[page["title"]].append(taken)
    least = statistics.median(seconds[BARE_PAGE["title"]])
    print(f"time to the first byte of a page, {n_stored:,} ratings stored")
    for title, measured in seconds.items():
        median = statistics.median(measured)
        print(
            f"  {title:<28} median {1000 * median:7.1f} ms   slowest {1000 * max(measured):7.1f} ms"
            f"   n {len(measured):2}   {median / least:5.1f} times the bare page"
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


def report_memory(servers: Mapping[str, Server], database_url: str) -> None:
    print("memory after this load: RSS, and PSS, which shares out what processes have in common")
    for name, server in servers.items():
        assert server.process
        print_memory(f"{name}: master", [server.process.pid])
        print_memory(f"{name}: process", server.worker_pids())
    postmaster = postmaster_of(database_url)
    assert postmaster
    print_memory("PostgreSQL: main", [postmaster])
    print_memory("PostgreSQL: process", children_of(postmaster))


def print_memory(title: str, pids: Sequence[int]) -> None:
    sizes = [size for size in map(memory_mb, pids) if size]
    rss, pss = max(size[0] for size in sizes), sum(size[1] for size in sizes)
    print(f"  {title:<36} {len(sizes):3}   largest RSS {rss:6.0f} MB   PSS of all {pss:6.0f} MB")


if __name__ == "__main__":
    main()
