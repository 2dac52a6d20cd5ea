"""A second PostgreSQL that follows the first: whatever reads a great deal reads it there.

It is never older than what the database itself held when somebody asked. Where it lags, or is away, the
database itself is read: that is slower for others, but never wrong.
"""

import logging
import time
from collections.abc import Callable
from typing import TypeVar

from django.db import DEFAULT_DB_ALIAS, OperationalError, connection, connections
from django.db.backends.base.base import BaseDatabaseWrapper

logger = logging.getLogger(__name__)

REPLICA = "replica"
# A replica is a fraction of a second behind. One that needs longer is not waited for.
PATIENCE_SECONDS = 5.0
_PAUSE_SECONDS = 0.02

Read = TypeVar("Read")


def has_replica() -> bool:
    return REPLICA in connections.settings


def alias_to_read_much() -> str:
    """Say from which database to read what may be millions of rows."""
    # Inside a transaction, the caller must see what it has just written.
    if not has_replica() or connection.in_atomic_block:
        return DEFAULT_DB_ALIAS
    try:
        if _wait_until_it_has(_position_of_database()):
            return REPLICA
        logger.warning("The replica is more than %g s behind and not read.", PATIENCE_SECONDS)
    except OperationalError:
        connections[REPLICA].close()
        logger.warning("The replica is away and not read.")
    return DEFAULT_DB_ALIAS


def read_much(read: Callable[[BaseDatabaseWrapper], Read]) -> Read:
    """Let somebody read from the replica, and once more from the database if that breaks off."""
    alias = alias_to_read_much()
    if alias == REPLICA:
        try:
            return read(connections[REPLICA])
        except OperationalError:
            # It may have died, or have had to apply what the reader stood in the way of.
            connections[REPLICA].close()
            logger.warning("The replica broke off; read from the database itself.")
    return read(connection)


def seconds_behind() -> float:
    """Say how long the replica needs just now until it has what the database holds.

    Raises `OperationalError` if it is away; infinite if it needs longer than anyone waits.
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
