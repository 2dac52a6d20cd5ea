"""Would it pay to keep the ratings of each campaign in a partition of their own? Both ways, side by side.

    python -m benchmarks.partitions [--rows N]

Twenty campaigns that ran at the same time, so that their ratings lie among each other, in the platform's own
table and in one with a partition for each. Measured in turns: storing a rating, looking up those of an
assignment, reading a whole campaign as gold does, and getting rid of one.
"""

import argparse
import random
import statistics
import time
from collections.abc import Callable, Mapping
from typing import Any

import psycopg

from tests.concurrency.databases import postgres_url
from tests.migrated import migrated_database

N_CAMPAIGNS = 20
N_LOOKUPS = 2_000
N_READS = 3

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
# Twenty assignments at work, each of another campaign, get a rating in turn.
ROW = f"""
    n / 2000 * {N_CAMPAIGNS} + n %% {N_CAMPAIGNS} AS assignment_id,
    (n / 2000 %% 500) * 2000 + n %% 2000 AS item_id, n %% 101 AS score, now() AS received_at,
    9000 AS elapsed_ms, 8000 AS active_ms
    FROM generate_series(0::bigint, %s - 1) n
"""
COLUMNS = "assignment_id, item_id, score, received_at, elapsed_ms, active_ms"
FILLS = (
    f"INSERT INTO hits_rating ({COLUMNS}) SELECT {ROW}",
    f"INSERT INTO parted ({COLUMNS}, campaign_id)"
    f" SELECT *, assignment_id %% {N_CAMPAIGNS} FROM (SELECT {ROW}) made",
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000_000)
    n_rows = parser.parse_args().rows
    with postgres_url() as url, migrated(url) as connection:
        fill(connection, n_rows)
        print(f"{n_rows:,} ratings of {N_CAMPAIGNS} campaigns at a time")
        sizes = {way: connection.execute(size).fetchone()[0] for way, size in SIZES.items()}  # type: ignore[index]
        compare("bytes a rating", {way: float(size) / n_rows for way, size in sizes.items()}, "")
        compare("storing one, median", in_turns(connection, STORE, n_rows), "ms")
        compare("those of an assignment, median", in_turns(connection, LOOK_UP, n_rows), "ms")
        compare("reading a campaign, median", whole_campaigns(connection), "ms")
        compare("removing a campaign", removal(connection), "ms")


def migrated(url: str) -> Connection:
    migrated_database(url)
    connection = psycopg.connect(url, autocommit=True)
    # The wait for the disk is the same either way.
    connection.execute("SET synchronous_commit = off")
    # There are no assignments and items to refer to.
    connection.execute("SET session_replication_role = replica")
    return connection


def fill(connection: Connection, n_rows: int) -> None:
    connection.execute(MAKE)
    for statement in FILLS:
        connection.execute(statement, [n_rows])
    connection.execute(PLACES, [n_rows // 100])
    connection.execute("VACUUM ANALYZE")


def in_turns(
    connection: Connection, statements: Mapping[str, str], n_rows: int
) -> dict[str, float]:
    """Ask about random assignments, one way and then the other."""
    rng = random.Random(1)
    taken: dict[str, list[float]] = {way: [] for way in statements}
    for turn in range(N_LOOKUPS):
        assignment = rng.randrange(n_rows // 100)
        of = {"assignment": assignment, "item": -turn, "campaign": assignment % N_CAMPAIGNS}
        for way, statement in statements.items():
            taken[way].append(milliseconds(connection.execute, statement, of))
    return {way: statistics.median(times) for way, times in taken.items()}


def whole_campaigns(connection: Connection) -> dict[str, float]:
    taken: dict[str, list[float]] = {way: [] for way in READ}
    for campaign in range(N_READS):
        for way, statement in READ.items():
            query = f"COPY ({statement.format(campaign=campaign)}) TO STDOUT (FORMAT BINARY)"
            taken[way].append(milliseconds(copy_out, connection, query))
    return {way: statistics.median(times) for way, times in taken.items()}


def copy_out(connection: Connection, query: str) -> None:
    with connection.cursor() as cursor, cursor.copy(query) as copy:
        for _ in copy:
            pass


def removal(connection: Connection) -> dict[str, float]:
    """With what has to be cleaned up after it."""
    taken = {way: milliseconds(connection.execute, statement) for way, statement in REMOVE.items()}
    taken["one table"] += milliseconds(connection.execute, "VACUUM hits_rating")
    return taken


def milliseconds(do: Callable[..., object], *arguments: Any) -> float:
    began = time.perf_counter()
    do(*arguments)
    return 1000 * (time.perf_counter() - began)


def compare(title: str, found: Mapping[str, float], unit: str) -> None:
    whole, parted = found["one table"], found["partitions"]
    print(
        f"  {title:<32} one table {whole:10.2f} {unit:<2}   partitions {parted:10.2f} {unit:<2}"
        f"   {parted / whole:5.2f} times",
        flush=True,
    )


if __name__ == "__main__":
    main()
