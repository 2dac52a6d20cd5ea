"""The same load straight on PostgreSQL and through PgBouncer: ratings per second, waiting times, connections.

    python -m benchmarks.pooling [--seconds N]

The workers of `benchmarks.load`, on two servers that take turns. PgBouncer is Debian's, fetched by
`python -m tests.setup_servers`, in transaction mode with as few connections as in the tests.
"""

import argparse
from contextlib import ExitStack

import psycopg

from tests.concurrency.databases import DATABASES, POOL_SIZE

from .load import CROWDS, desks_needed, take
from .rating import line_of
from .stage import Stage, prepare, serving, take_turns

CONNECTIONS = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=6, help="of measuring, for each kind")
    options = parser.parse_args()
    needed = {n: desks_needed(n, options.seconds) for n in CROWDS}
    with ExitStack() as parts:
        places = {}
        for title, name in (("straight", "postgres"), (f"pool of {POOL_SIZE}", "pooled")):
            url = parts.enter_context(DATABASES[name]())("load")
            prepared = prepare(url, 1 + sum(needed.values()), 0)
            places[title] = (parts.enter_context(serving(url)), url, prepared)
        for n_workers, n_desks in needed.items():
            stages = {
                title: Stage.of(server, url, take(prepared, n_desks), n_workers)
                for title, (server, url, prepared) in places.items()
            }
            timings = take_turns(
                {title: (stage, "rate") for title, stage in stages.items()}, options.seconds
            )
            print(f"{n_workers} workers without pauses, gunicorn with 2 processes")
            for title, measured in timings.items():
                print(line_of(title, measured))
                print(f"    {connections_to(places[title][1])} connections to PostgreSQL")
            straight, pooled = (measured.per_second for measured in timings.values())
            print(f"  through the pooler {pooled / straight:.2f} of the rate without", flush=True)


def connections_to(database_url: str) -> int:
    """Count them, without the one that asks where that is one more."""
    with psycopg.connect(database_url) as connection:
        [n] = connection.execute(CONNECTIONS).fetchone() or [0]
    return int(n)


if __name__ == "__main__":
    main()
