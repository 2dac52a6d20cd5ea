"""The Celery application, and the one way messages are sent.

    celery -A da_platform worker              does the work
    celery -A da_platform beat                sends what the schedule says, or `worker --beat` for both

A message is a hint that there is something to do. What is to be done stands in the database, so a lost
message costs a minute, until the schedule comes by, and a doubled one costs nothing.
"""

import ctypes
import logging
import os
import signal
import sys
import time
from typing import Any

from celery import Celery  # type: ignore[import-untyped]
from celery.signals import (  # type: ignore[import-untyped]
    beat_embedded_init,
    worker_process_init,
)
from kombu.exceptions import KombuError, OperationalError

from . import folder_queue  # noqa: F401  (makes its scheme known)

logger = logging.getLogger(__name__)

# Once the broker has not answered, no request tries again for so long: none of them shall wait.
PAUSE_SECONDS = 5.0

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "da_platform.settings")

app = Celery("da_platform")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()

_silent_until = 0.0


def enqueue(task: str, *args: Any) -> bool:
    """Send a message and say whether it went out. A broker that is down is logged, not an error.

    To be called after the commit: a worker may begin before this returns. By name, so that the web
    process need not load what only the task needs.
    """
    global _silent_until
    if time.monotonic() < _silent_until:
        return False
    try:
        app.send_task(task, args=args, retry=False, ignore_result=True)
    except (OperationalError, KombuError, OSError) as error:
        _silent_until = time.monotonic() + PAUSE_SECONDS
        logger.warning("%s%s is left to the schedule: no broker (%s).", task, args, error)
        return False
    return True


PR_SET_PDEATHSIG = 1


def die_with_parent(signum: int = signal.SIGTERM, **kwargs: Any) -> None:
    """Ask Linux to stop this process when the one that started it is gone, even by SIGKILL."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signum))


def _leave_no_orphan(**kwargs: Any) -> None:
    die_with_parent(signal.SIGKILL)


# Celery's own children outlive a worker that is killed; a second beat would then keep the time.
beat_embedded_init.connect(_leave_no_orphan)
worker_process_init.connect(_leave_no_orphan)
