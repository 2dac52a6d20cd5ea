"""A platform on loopback whose jobs are worked off as they come, for tests of programs that call it."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection

from da_platform.jobs.models import Job
from da_platform.jobs.running import run_job

LOOK_EVERY_SECONDS = 0.05


@contextmanager
def working() -> Iterator[None]:
    """Run jobs in a thread, as a worker process would, until the block is left."""
    is_over = threading.Event()

    def work() -> None:
        try:
            while not is_over.wait(LOOK_EVERY_SECONDS):
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
