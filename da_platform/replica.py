"""Large reads go to a PostgreSQL replica, if there is one.

What is read is never older than the primary database at the time of the request. If the replica lags or is down,
the primary database is read instead: that slows others down, but is never wrong.
"""

import logging
import time
from collections.abc import Callable
from typing import TypeVar

from django.db import DEFAULT_DB_ALIAS, OperationalError, connection, connections
from django.db.backends.base.base import BaseDatabaseWrapper

logger = logging.getLogger(__name__)

REPLICA = "replica"
# A replica is a fraction of a second behind. If it needs longer, it is not used.
PATIENCE_SECONDS = 5.0
_PAUSE_SECONDS = 0.02

Read = TypeVar("Read")


def has_replica() -> bool:
    return REPLICA in connections.settings


def alias_to_read_much() -> str:
    """Return the connection for reading what may be millions of rows."""
    # Within a transaction, the caller must see what it has just written.
    if not has_replica() or connection.in_atomic_block:
        return DEFAULT_DB_ALIAS
    try:
        if _wait_until_it_has(_position_of_database()):
            return REPLICA
        logger.warning("The replica is more than %g s behind and was not used.", PATIENCE_SECONDS)
    except OperationalError:
        connections[REPLICA].close()
        logger.warning("The replica is down and was not used.")
    return DEFAULT_DB_ALIAS


def read_much(read: Callable[[BaseDatabaseWrapper], Read]) -> Read:
    """Read from the replica; if that fails halfway, read again from the primary database."""
    alias = alias_to_read_much()
    if alias == REPLICA:
        try:
            return read(connections[REPLICA])
        except OperationalError:
            # It may have died, or cancelled the query because it conflicted with replication.
            connections[REPLICA].close()
            logger.warning("Reading from the replica failed; reading from the primary database.")
    return read(connection)


def seconds_behind() -> float:
    """Return how long the replica needs to catch up with the primary database.

    Infinite if it needs longer than `PATIENCE_SECONDS`. Raises `OperationalError` if it is down.
    """
    started = time.monotonic()
    has_it = _wait_until_it_has(_position_of_database())
    return time.monotonic() - started if has_it else float("inf")


def _position_of_database() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_current_wal_lsn()::text")
        return str(cursor.fetchone()[0])


def _wait_until_it_has(position: str) -> bool:
    ends_at = time.monotonic() + PATIENCE_SECONDS
    with connections[REPLICA].cursor() as cursor:
        while True:
            cursor.execute("SELECT pg_last_wal_replay_lsn() >= %s::pg_lsn", [position])
            if cursor.fetchone()[0]:
                return True
            if time.monotonic() > ends_at:
                return False
            time.sleep(_PAUSE_SECONDS)
