"""Ask the broker whether it is available and how many messages are waiting."""

from kombu.exceptions import KombuError

from da_platform.celery import app
from da_platform.queues import QUEUES


def queue_lengths() -> dict[str, int] | None:
    """Return how many messages wait in each queue, or None if the broker does not respond."""
    connection = app.connection_for_read()
    # Those of Redis, which is loaded only if it is used, are among them.
    errors = (*connection.connection_errors, *connection.channel_errors, KombuError, OSError)
    try:
        with connection:
            channel = connection.default_channel
            return {name: channel._size(name) for name in QUEUES}
    except errors:
        return None
