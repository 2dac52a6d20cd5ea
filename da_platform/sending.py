"""The one way messages are sent to workers of the queue."""

import logging
import time
from typing import Any

from .counting import MESSAGES_LOST

logger = logging.getLogger(__name__)

# Once the broker has not answered, no request tries again for so long: none of them shall wait.
PAUSE_SECONDS = 5.0

_silent_until = 0.0


def enqueue(task: str, *args: Any) -> bool:
    """Send a message and say whether it went out. A broker that is down is logged, not an error.

    To be called after the commit: a worker may begin before this returns. By name, so that the web
    process need not load what only the task needs.
    """
    global _silent_until
    if time.monotonic() < _silent_until:
        MESSAGES_LOST.inc()
        return False
    # Here and not above: most commands send nothing and start sooner without.
    from kombu.exceptions import KombuError

    from .celery import app

    try:
        app.send_task(task, args=args, retry=False, ignore_result=True)
    except (KombuError, OSError) as error:
        _silent_until = time.monotonic() + PAUSE_SECONDS
        MESSAGES_LOST.inc()
        logger.warning("%s%s is left to the schedule: no broker (%s).", task, args, error)
        return False
    return True
