"""Ask the broker whether it is available and how many messages are waiting."""

from kombu.exceptions import KombuError
from redis.exceptions import RedisError

from da_platform.celery import app
from da_platform.queues import QUEUES


def queue_lengths() -> dict[str, int] | None:
    """Return how many messages wait in each queue, or None if the broker does not respond."""
    try:
        with app.connection_for_read() as connection:
            channel = connection.default_channel
            return {name: channel._size(name) for name in QUEUES}
    except (KombuError, RedisError, OSError):
        return None
