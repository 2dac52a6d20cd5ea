"""Runs jobs during tests of programs that call the platform."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection

from da_platform.jobs.models import Job
from da_platform.jobs.running import run_job

POLL_SECONDS = 0.05


@contextmanager
def working() -> Iterator[None]:
    """Run jobs in a thread, like a worker process, until the block ends."""
    is_over = threading.Event()

    def work() -> None:
        try:
            while not is_over.wait(POLL_SECONDS):
                for pk in Job.objects.filter(state=Job.State.QUEUED).values_list("pk", flat=True):
                    run_job(pk)
        finally:
            connection.close()

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join(timeout=60)
