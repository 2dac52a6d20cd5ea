"""Would it pay to keep the ratings of each campaign in a separate partition?

    python -m benchmarks.partitions [--rows 10000000]

Twenty campaigns ran at the same time, so their ratings are interleaved, in the platform's own table and in a table
with a partition for each. Measured in turns: storing a rating, looking up those of an assignment, reading a whole
campaign as gold does, and removing a campaign. The single table is the baseline.
"""

import random
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import psycopg

from tests.concurrency.databases import postgres_url
from tests.migrated import migrated_database

from .measuring import affordable
from .table import Row, run

N_CAMPAIGNS = 20
N_LOOKUPS = 2_000
N_READS = 3
# The time for filling the tables; a slower machine gets fewer rows.
MAX_SECONDS = 900.0

Connection = psycopg.Connection[Any]

MAKE = f"""
CREATE TABLE parted (LIKE hits_rating INCLUDING DEFAULTS, campaign_id bigint NOT NULL)
    PARTITION BY LIST (campaign_id);
ALTER TABLE parted ADD PRIMARY KEY (campaign_id, assignment_id, item_id);
CREATE INDEX ON parted (item_id);
DO $$ BEGIN FOR n IN 0..{N_CAMPAIGNS - 1} LOOP
    EXECUTE format('CREATE TABLE parted_%s PARTITION OF parted FOR VALUES IN (%s)', n, n);
END LOOP; END $$;
CREATE TABLE place (id bigint PRIMARY KEY, campaign_id bigint NOT NULL);
"""
# Twenty assignments are in progress, each in another campaign, and get a rating in turn.
ROW = f"""
    n / 2000 * {N_CAMPAIGNS} + n %% {N_CAMPAIGNS} AS assignment_id,
    (n / 2000 %% 500) * 2000 + n %% 2000 AS item_id, n %% 101 AS score, now() AS received_at,
    9000 AS elapsed_ms, 8000 AS active_ms
    FROM generate_series(%s::bigint, %s - 1) n
"""
COLUMNS = "assignment_id, item_id, score, received_at, elapsed_ms, active_ms"
FILLS = (
    f"INSERT INTO hits_rating ({COLUMNS}) SELECT {ROW}",
    f"INSERT INTO parted ({COLUMNS}, campaign_id)"
    f" SELECT *, assignment_id %% {N_CAMPAIGNS} FROM (SELECT {ROW}) ratings",
)
PLACES = f"INSERT INTO place SELECT n, n %% {N_CAMPAIGNS} FROM generate_series(0, %s - 1) n"
SIZES = {
    "one table": "SELECT pg_total_relation_size('hits_rating')",
    "partitions": "SELECT sum(pg_total_relation_size(relid)) FROM pg_partition_tree('parted')",
}
STORE = {
    "one table": f"INSERT INTO hits_rating ({COLUMNS}) VALUES (%(assignment)s, %(item)s, 50, now(), 9000, 8000)"
    " ON CONFLICT DO NOTHING",
    "partitions": f"INSERT INTO parted ({COLUMNS}, campaign_id)"
    " VALUES (%(assignment)s, %(item)s, 50, now(), 9000, 8000, %(campaign)s) ON CONFLICT DO NOTHING",
}
LOOK_UP = {
    "one table": "SELECT item_id, score FROM hits_rating WHERE assignment_id = %(assignment)s",
    "partitions": "SELECT item_id, score FROM parted"
    " WHERE assignment_id = %(assignment)s AND campaign_id = %(campaign)s",
}
READ = {
    "one table": "SELECT assignment_id, item_id, score FROM hits_rating JOIN place ON place.id = assignment_id"
    " WHERE place.campaign_id = {campaign}",
    "partitions": "SELECT assignment_id, item_id, score FROM parted JOIN place ON place.id = assignment_id"
    " WHERE place.campaign_id = {campaign} AND parted.campaign_id = {campaign}",
}
REMOVE = {
    "one table": "DELETE FROM hits_rating USING place WHERE place.id = assignment_id AND place.campaign_id = 7",
    "partitions": "DROP TABLE parted_7",
}


def measure(*, rows: int) -> Iterator[Row]:
    with postgres_url() as url, migrated(url) as connection:
        n_rows = fill(connection, rows)
        for title, values, unit in (
            ("size of a rating", sizes(connection, n_rows), "bytes"),
            ("storing a rating, median", median_ms(connection, STORE, n_rows), "ms"),
            ("ratings of an assignment, median", median_ms(connection, LOOK_UP, n_rows), "ms"),
            ("reading a campaign, median", reading_ms(connection), "ms"),
            ("removing a campaign", removal_ms(connection), "ms"),
        ):
            work = f"{title}, {n_rows:,} ratings, partitions against one table"
            yield Row(work, values["partitions"], unit, values["one table"])


def migrated(url: str) -> Connection:
    migrated_database(url)
    connection = psycopg.connect(url, autocommit=True)
    # The wait for the disk is the same either way.
    connection.execute("SET synchronous_commit = off")
    # There are no assignments and items to refer to.
    connection.execute("SET session_replication_role = replica")
    return connection


def fill(connection: Connection, n_wanted: int) -> int:
    """Store a hundredth of the rows, then as many as there is time for; return how many."""
    connection.execute(MAKE)
    part = n_wanted // 100
    took = milliseconds(insert, connection, 0, part) / 1000
    n_rows = affordable(n_wanted, measured=part, took=took, seconds=MAX_SECONDS)
    insert(connection, part, n_rows)
    connection.execute(PLACES, [n_rows // 100 + N_CAMPAIGNS])
    connection.execute("VACUUM ANALYZE")
    return n_rows


def insert(connection: Connection, first: int, end: int) -> None:
    for statement in FILLS:
        connection.execute(statement, [first, end])


def sizes(connection: Connection, n_rows: int) -> dict[str, float]:
    """Return the bytes that a rating takes, with its indexes."""
    rows = {way: connection.execute(statement).fetchone() for way, statement in SIZES.items()}
    return {way: float(row[0]) / n_rows for way, row in rows.items() if row}


def median_ms(
    connection: Connection, statements: Mapping[str, str], n_rows: int
) -> dict[str, float]:
    """Look up random assignments, alternating between the tables."""
    rng = random.Random(1)
    times: dict[str, list[float]] = {way: [] for way in statements}
    for turn in range(N_LOOKUPS):
        assignment = rng.randrange(n_rows // 100)
        keys = {"assignment": assignment, "item": -turn, "campaign": assignment % N_CAMPAIGNS}
        for way, statement in statements.items():
            times[way].append(milliseconds(connection.execute, statement, keys))
    return {way: statistics.median(times_of_way) for way, times_of_way in times.items()}


def reading_ms(connection: Connection) -> dict[str, float]:
    times: dict[str, list[float]] = {way: [] for way in READ}
    for campaign in range(N_READS):
        for way, statement in READ.items():
            query = f"COPY ({statement.format(campaign=campaign)}) TO STDOUT (FORMAT BINARY)"
            times[way].append(milliseconds(copy_out, connection, query))
    return {way: statistics.median(times_of_way) for way, times_of_way in times.items()}


def copy_out(connection: Connection, query: str) -> None:
    with connection.cursor() as cursor, cursor.copy(query) as copy:
        for _ in copy:
            pass


def removal_ms(connection: Connection) -> dict[str, float]:
    """Remove a campaign, including the vacuum afterwards."""
    times = {way: milliseconds(connection.execute, statement) for way, statement in REMOVE.items()}
    times["one table"] += milliseconds(connection.execute, "VACUUM hits_rating")
    return times


def milliseconds(work: Callable[..., object], *arguments: Any) -> float:
    start = time.perf_counter()
    work(*arguments)
    return 1000 * (time.perf_counter() - start)


if __name__ == "__main__":
    run(measure, __doc__, sizes={"rows": (10_000_000, 40_000)})
