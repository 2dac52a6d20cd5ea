"""Django's PostgreSQL backend, with fewer checks of whether a persistent connection is still alive."""

import select
import time
from typing import Any

from django.db.backends.postgresql import base

# A connection used this recently has not been dropped by a firewall.
TRUSTED_SECONDS = 5.0


class DatabaseWrapper(base.DatabaseWrapper):
    """Checks the socket before it sends `SELECT 1`: a server that stops or dies closes it.

    Otherwise the check would add a third round trip to the two of every rating.
    """

    _answered_at = float("-inf")

    def is_usable(self) -> bool:
        now = time.monotonic()
        was_well = now - self._answered_at < TRUSTED_SECONDS and not self.errors_occurred
        if was_well and self._is_quiet():
            return True
        is_usable: bool = super().is_usable()
        if is_usable:
            self._answered_at = now
        return is_usable

    def connect(self) -> None:
        super().connect()
        self._answered_at = time.monotonic()

    def _is_quiet(self) -> bool:
        """Whether the server has sent nothing unexpected, such as the end of the connection."""
        connection: Any = self.connection
        if connection is None or connection.closed:
            return False
        socket = select.poll()
        socket.register(connection.fileno(), select.POLLIN)
        return not socket.poll(0)
