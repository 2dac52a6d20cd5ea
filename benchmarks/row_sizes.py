"""Bytes per rating in PostgreSQL, and the time to look up the ratings of an assignment, as the table grows.

    python -m benchmarks.row_sizes [--rows 3000000]

Rows are generated in the database, as the platform would store them: 100 items to an assignment. The baseline of
each row is the same table when it was smaller.
"""

import random
import statistics
import time
from collections.abc import Iterator
from typing import Any

import psycopg

from tests.concurrency.databases import postgres_url
from tests.migrated import migrated_database

from .table import Row, run

FILL = """
    INSERT INTO hits_rating (assignment_id, item_id, score, received_at, elapsed_ms, active_ms)
    SELECT n / 100, (n / 100 %% 2000) * 100 + n %% 100, n %% 101, now(), 9000, 8000
    FROM generate_series(%s, %s - 1) n
"""
LOOKUP = "SELECT item_id, score FROM hits_rating WHERE assignment_id = %s"
N_LOOKUPS = 500
SIZE = "SELECT pg_relation_size('hits_rating'), pg_indexes_size('hits_rating')"
# The time for a step; a slower machine stops before it.
MAX_SECONDS = 600.0


def measure(*, rows: int) -> Iterator[Row]:
    with postgres_url() as url:
        migrated_database(url)
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("SET session_replication_role = replica")
            yield from rows_as_it_grows(connection, rows)


def rows_as_it_grows(connection: psycopg.Connection[Any], n_wanted: int) -> Iterator[Row]:
    n_before, smaller = 0, (None, None, None)
    for n in (n_wanted // 30, n_wanted // 3, n_wanted):
        start = time.perf_counter()
        connection.execute(FILL, [n_before, n])
        took = time.perf_counter() - start
        connection.execute("VACUUM ANALYZE hits_rating")
        table, indexes = connection.execute(SIZE).fetchone() or (0, 0)
        milliseconds, plan = look_up(connection, n_assignments=n // 100)
        values = table / n, indexes / n, milliseconds
        for title, unit, value, baseline, note in (
            ("table", "bytes", values[0], smaller[0], ""),
            ("indexes", "bytes", values[1], smaller[1], ""),
            ("ratings of an assignment, median", "ms", values[2], smaller[2], plan),
        ):
            yield Row(f"{n:,} ratings, {title}", value, unit, baseline, note=note)
        # The next step stores up to ten times as many.
        if 10 * took > MAX_SECONDS:
            break
        n_before, smaller = n, values


def look_up(connection: psycopg.Connection[Any], *, n_assignments: int) -> tuple[float, str]:
    """Return the median time over the connection, and the server's plan."""
    rng = random.Random(1)
    times = []
    for _ in range(N_LOOKUPS):
        assignment = rng.randrange(n_assignments)
        start = time.perf_counter()
        connection.execute(LOOKUP, [assignment]).fetchall()
        times.append(1000 * (time.perf_counter() - start))
    plan = connection.execute(f"EXPLAIN (ANALYZE, BUFFERS) {LOOKUP}", [assignment])
    return statistics.median(times), "\n    ".join(line for (line,) in plan)


if __name__ == "__main__":
    run(measure, __doc__, sizes={"rows": (3_000_000, 30_000)})
