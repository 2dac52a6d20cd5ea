"""Bytes that a rating takes in PostgreSQL, with its indexes, and looking up an assignment's, as the table grows.

    python -m benchmarks.row_sizes

Rows are generated in the database, as the platform would store them: 100 items to an assignment.
"""

import random
import statistics
import time
from typing import Any

import psycopg

from tests.concurrency.databases import postgres_url
from tests.migrated import migrated_database

N_ROWS = (100_000, 1_000_000, 3_000_000)
FILL = """
    INSERT INTO hits_rating (assignment_id, item_id, score, received_at, elapsed_ms, active_ms)
    SELECT n / 100, (n / 100 %% 2000) * 100 + n %% 100, n %% 101, now(), 9000, 8000
    FROM generate_series(%s, %s) n
"""
LOOKUP = "SELECT item_id, score FROM hits_rating WHERE assignment_id = %s"
N_LOOKUPS = 500
SIZE = "SELECT pg_relation_size('hits_rating'), pg_indexes_size('hits_rating')"


def main() -> None:
    with postgres_url() as url:
        migrated_database(url)
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("SET session_replication_role = replica")
            first = 0
            for last in N_ROWS:
                connection.execute(FILL, [first, last - 1])
                connection.execute("VACUUM ANALYZE hits_rating")
                [table, indexes] = connection.execute(SIZE).fetchone() or (0, 0)
                first = last
                print(
                    f"{last:>10,} ratings: {table / last:.1f} bytes a row, {indexes / last:.1f} in indexes"
                )
                print(lookups(connection, n_assignments=last // 100))


def lookups(connection: psycopg.Connection[Any], *, n_assignments: int) -> str:
    """Say how long the ratings of one assignment take: over the connection, and within the server."""
    rng = random.Random(1)
    times, plan = [], ""
    for turn in range(N_LOOKUPS):
        assignment = rng.randrange(n_assignments)
        began = time.perf_counter()
        connection.execute(LOOKUP, [assignment]).fetchall()
        times.append((time.perf_counter() - began) * 1000)
        if turn == N_LOOKUPS - 1:
            rows = connection.execute(f"EXPLAIN (ANALYZE, BUFFERS) {LOOKUP}", [assignment])
            plan = "\n".join(f"      {row[0]}" for row in rows)
    first, median, p95 = times[0], statistics.median(times), sorted(times)[int(N_LOOKUPS * 0.95)]
    return f"    ratings of an assignment: first {first:.2f}, median {median:.2f}, p95 {p95:.2f} ms\n{plan}"


if __name__ == "__main__":
    main()
