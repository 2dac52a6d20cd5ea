"""PostgreSQL under load: 8, 32 and 128 workers who never pause, ten million ratings stored, memory, pages.

    python -m benchmarks.load [--workers 128] [--seconds 6] [--stored 10000000]

At each number of workers the platform on an empty database, the platform on one that has grown, and bare views
take turns (see `benchmarks.rating`). Then the main pages are opened repeatedly, next to a bare page of plain
Django, and the memory of every process is read, including that of plain Django after the same load.
"""

import socket
import statistics
import time
from collections.abc import Iterator, Mapping, Sequence

from tests.concurrency.databases import DATABASES
from tests.concurrency.servers import Server

from .processes import children_of, memory_mb, postmaster_of
from .rating import kinds_of, rows_of
from .stage import Stage, prepare_database, serving, serving_bare, take_turns
from .table import Row, run

CROWDS = (8, 32, 128)
N_VISITS = 25
# A page that has taken this long in total is not opened again.
MAX_SECONDS_PER_PAGE = 30
PATIENCE_SECONDS = 120

# One row in a small template, by Django without session, user and context processors.
BARE_PAGE = {"title": "bare page of plain Django", "url": "/", "cookie": ""}


def measure(*, workers: int, seconds: int, stored: int) -> Iterator[Row]:
    with DATABASES["postgres"]() as make_database:
        empty, grown = make_database("empty"), make_database("grown")
        prepare_database(empty, 0)
        prepared = prepare_database(grown, stored, with_pages=True)
        n_stored = prepared["n_ratings"]
        with (
            serving(empty) as server,
            serving(grown) as grown_server,
            serving_bare(empty) as bare_server,
        ):
            for n_workers in crowds_up_to(workers):
                platform = Stage.of(server, empty, n_workers)
                bare = Stage.of(bare_server, empty, n_workers, platform.desks)
                grown_platform = Stage.of(grown_server, grown, n_workers)
                timings = take_turns(kinds_of(platform, bare, grown_platform), seconds)
                yield from rows_of(f"{n_workers} workers", timings, n_stored)
            yield from page_rows(grown_server, bare_server, prepared["pages"], n_stored)
            yield from memory_rows(server, grown_server, bare_server, empty)


def crowds_up_to(n_workers: int) -> list[int]:
    return [n for n in CROWDS if n <= n_workers]


# Pages ---------------------------------------------------------------------------------------


def page_rows(
    server: Server, bare: Server, pages: Sequence[Mapping[str, str]], n_stored: int
) -> Iterator[Row]:
    """Open the pages in turns; yield the median time to the first byte of each."""
    ports = {BARE_PAGE["title"]: bare.port} | {page["title"]: server.port for page in pages}
    times: dict[str, list[float]] = {title: [] for title in ports}
    for visit in range(N_VISITS + 1):
        for page in (BARE_PAGE, *pages):
            title = page["title"]
            if sum(times[title]) < MAX_SECONDS_PER_PAGE:
                seconds = seconds_to_first_byte(ports[title], page["url"], page["cookie"])
                # The first visit loads the templates.
                if visit:
                    times[title].append(seconds)
    baseline = 1000 * statistics.median(times.pop(BARE_PAGE["title"]))
    for title, seconds_each in times.items():
        yield Row(
            f"{title}, first byte, {n_stored:,} ratings stored, against a bare page",
            1000 * statistics.median(seconds_each),
            "ms",
            baseline,
            note=f"slowest {1000 * max(seconds_each):.1f} ms, n {len(seconds_each)}",
        )


def seconds_to_first_byte(port: int, url: str, cookie: str) -> float:
    request = (
        f"GET {url} HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: {cookie}\r\nConnection: close\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_SECONDS) as connection:
        started = time.perf_counter()
        connection.sendall(request.encode())
        first = connection.recv(65536)
        seconds = time.perf_counter() - started
        while connection.recv(65536):
            pass
    if not first.startswith(b"HTTP/1.1 200"):
        raise RuntimeError(f"{url} answered {first[:200]!r}")
    return seconds


# Memory --------------------------------------------------------------------------------------


def memory_rows(server: Server, grown: Server, bare: Server, database_url: str) -> Iterator[Row]:
    """Yield the RSS of the largest process of each kind; the notes have the PSS, which splits shared pages."""
    postmaster = postmaster_of(database_url)
    assert postmaster and server.process and grown.process and bare.process
    baseline, _ = memory_of(bare.worker_pids())
    for title, pids, bare_megabytes in (
        ("web process after ratings, against plain Django", server.worker_pids(), baseline),
        (
            "web process after ratings and pages, against plain Django",
            grown.worker_pids(),
            baseline,
        ),
        ("gunicorn's main process", [server.process.pid], None),
        ("PostgreSQL, main process", [postmaster], None),
        ("PostgreSQL, largest other process", children_of(postmaster), None),
    ):
        megabytes, note = memory_of(pids)
        yield Row(f"memory: {title}", megabytes, "MB", bare_megabytes, note=note)


def memory_of(pids: Sequence[int]) -> tuple[float, str]:
    sizes = [size for size in map(memory_mb, pids) if size]
    total = sum(pss for _, pss in sizes)
    return max(rss for rss, _ in sizes), f"{len(sizes)} processes, PSS of all {total:.0f} MB"


if __name__ == "__main__":
    run(
        measure,
        __doc__,
        sizes={"workers": (128, 8), "seconds": (6, 1), "stored": (10_000_000, 2_000)},
    )
