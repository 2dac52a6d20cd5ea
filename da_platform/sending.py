"""Send messages to Celery workers."""

import logging
import time
from typing import Any

from .counting import MESSAGES_LOST

logger = logging.getLogger(__name__)

# After the broker has failed to respond, no request tries it again for this long.
PAUSE_SECONDS = 5.0

_silent_until = 0.0


def enqueue(task: str, *args: Any) -> bool:
    """Send a message and return whether it was sent. If the broker is down, this is logged, not raised.

    Call it after the commit, because a worker may start before this returns. The task is given by name,
    so that web processes need not load its code.
    """
    global _silent_until
    if time.monotonic() < _silent_until:
        MESSAGES_LOST.inc()
        return False
    # Imported here because most commands send nothing and start faster without it.
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
