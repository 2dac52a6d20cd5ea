"""The same load directly on PostgreSQL and through PgBouncer: ratings per second, response times, connections.

    python -m benchmarks.pooling [--workers 128] [--seconds 6]

The workers of `benchmarks.load`, on two servers that take turns. PgBouncer is Debian's, downloaded by
`python -m tests.setup_servers`, in transaction mode with as few connections as in the tests.
"""

from collections.abc import Iterator
from contextlib import ExitStack

import psycopg

from tests import pooler
from tests.concurrency.databases import DATABASES, POOL_SIZE

from .clients import RATE
from .load import crowds_up_to
from .stage import Stage, prepare_database, serving, take_turns
from .table import Row, run

CONNECTIONS = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"


def measure(*, workers: int, seconds: int) -> Iterator[Row]:
    if not pooler.is_there():
        raise SystemExit("PgBouncer is missing: run python -m tests.setup_servers first.")
    with ExitStack() as stack:
        servers = {}
        for name in ("postgres", "pooled"):
            url = stack.enter_context(DATABASES[name]())("load")
            prepare_database(url, 0)
            servers[name] = (stack.enter_context(serving(url)), url)
        for n_workers in crowds_up_to(workers):
            stages = {
                name: (Stage.of(server, url, n_workers), RATE)
                for name, (server, url) in servers.items()
            }
            timings = take_turns(stages, seconds)
            notes = [
                f"{name}: {timings[name].note}, {connections_to(url)} connections"
                for name, (_, url) in servers.items()
            ]
            yield Row(
                f"{n_workers} workers, ratings through a pool of {POOL_SIZE} against none",
                timings["pooled"].per_second,
                "/s",
                timings["postgres"].per_second,
                note="\n    ".join(notes),
            )


def connections_to(database_url: str) -> int:
    """Count the connections to PostgreSQL, including this one."""
    with psycopg.connect(database_url) as connection:
        [n] = connection.execute(CONNECTIONS).fetchone() or [0]
    return int(n)


if __name__ == "__main__":
    run(measure, __doc__, sizes={"workers": (128, 8), "seconds": (6, 1)})
