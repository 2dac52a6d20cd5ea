"""Time limits for jobs that run as threads, where Celery's own limits do nothing."""

import ctypes
import math
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from billiard.exceptions import SoftTimeLimitExceeded  # type: ignore[import-untyped]
from django.conf import settings

# When each thread's job must be over; the alarm of the process is set to the first.
_deadlines: dict[int, float] = {}
_lock = threading.Lock()


@contextmanager
def thread_limits() -> Iterator[None]:
    """Raise `SoftTimeLimitExceeded` in this thread at Celery's soft limit; end the process at the hard one.

    An exception cannot reach a thread that is inside one long call into C, such as a regular expression. SIGALRM can,
    even if that call keeps all other threads from running. `da_platform.serve` then starts the worker again, and
    the sweep restarts its jobs, a few times at most.
    """
    if threading.current_thread() is threading.main_thread():
        # Celery's limits apply here, or there is no worker.
        yield
        return
    thread = threading.get_ident()
    soft = threading.Timer(settings.CELERY_TASK_SOFT_TIME_LIMIT, _interrupt, [thread])
    soft.daemon = True
    _set_deadline(thread, time.monotonic() + settings.CELERY_TASK_TIME_LIMIT)
    soft.start()
    try:
        yield
    finally:
        _set_deadline(thread, None)
        soft.cancel()


def _interrupt(thread: int) -> None:
    with _lock:
        if thread in _deadlines:
            ctypes.pythonapi.PyThreadState_SetAsyncExc(
                ctypes.c_ulong(thread), ctypes.py_object(SoftTimeLimitExceeded)
            )


def _set_deadline(thread: int, deadline: float | None) -> None:
    with _lock:
        if deadline is None:
            _deadlines.pop(thread, None)
        else:
            _deadlines[thread] = deadline
        left = min(_deadlines.values()) - time.monotonic() if _deadlines else 0
        # No handler is installed, so the signal ends the process. 0 means no alarm.
        signal.alarm(max(1, math.ceil(left)) if _deadlines else 0)
