"""The Celery application, its queues and its schedule.

    celery -A da_platform worker              does the work
    celery -A da_platform beat                sends what the schedule says, or `worker --beat` for both

A message is a hint that there is something to do. What is to be done stands in the database, so a lost
message costs a minute, until the schedule comes by, and a doubled one costs nothing.
"""

import logging
import os
import signal
from threading import Thread
from typing import Any

from celery import Celery, bootsteps  # type: ignore[import-untyped]
from celery.schedules import crontab  # type: ignore[import-untyped]
from celery.signals import (  # type: ignore[import-untyped]
    beat_embedded_init,
    worker_process_init,
)
from django.conf import settings
from kombu import Queue

from . import folder_queue  # noqa: F401  (makes its scheme known)
from .queues import JOBS, QUEUES, QUICK
from .serve import die_with_parent

logger = logging.getLogger(__name__)

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "da_platform.settings")

app = Celery("da_platform")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()

app.conf.update(
    task_queues=[Queue(name, routing_key=name) for name in QUEUES],
    task_default_queue=QUICK,
    task_routes={"analysis.run_job": {"queue": JOBS}},
    # Each can be done twice, or left out once; `manage.py do_chores` does the same for those with
    # cron. What is not done when the next one is due expires: a worker's absence fills no queue.
    beat_schedule={
        "hits": {"task": "hits.do_chores", "schedule": 60, "options": {"expires": 55}},
        "jobs": {"task": "analysis.sweep_jobs", "schedule": 60, "options": {"expires": 55}},
        "signs": {"task": "operation.give_sign", "schedule": 30, "options": {"expires": 25}},
        "nightly": {
            "task": "analysis.do_nightly_chores",
            "schedule": crontab(hour="3", minute="0"),
        },
    },
)


def _leave_no_orphan(**kwargs: Any) -> None:
    die_with_parent(signal.SIGKILL)


# Celery's own children outlive a worker that is killed; a second beat would then keep the time.
beat_embedded_init.connect(_leave_no_orphan)
worker_process_init.connect(_leave_no_orphan)


class GiveSigns(bootsteps.StartStopStep):
    """Say twice a minute that this worker is there, and which queues it serves.

    From its main process and not by a task: a worker that is busy for hours comes to no task, and one for
    jobs alone would never see it. While the broker is away it says nothing, as it can do nothing.
    """

    # By name: web processes, which only send, need not load what a worker is made of.
    requires = ("celery.worker.consumer.tasks:Tasks",)

    def __init__(self, consumer: Any, **options: Any) -> None:
        self.entry: Any = None
        self.thread: Thread | None = None
        super().__init__(consumer, **options)

    def start(self, consumer: Any) -> None:
        self._sign(consumer)
        self.entry = consumer.timer.call_repeatedly(settings.SIGN_SECONDS, self._sign, (consumer,))

    def stop(self, consumer: Any) -> None:
        if self.entry:
            consumer.timer.cancel(self.entry)
            self.entry = None

    def _sign(self, consumer: Any) -> None:
        # The database may let it wait; messages shall not wait with it, nor shall signs pile up.
        if self.thread is None or not self.thread.is_alive():
            signed = (consumer.hostname, list(consumer.app.amqp.queues.consume_from))
            self.thread = Thread(target=_give_sign, args=signed, daemon=True)
            self.thread.start()


def _give_sign(name: str, queues: list[str]) -> None:
    from django.db import DatabaseError, connections

    from .operation.signs import give_sign

    try:
        give_sign(name, queues)
    except DatabaseError as error:
        logger.warning("No sign of life could be given: %s.", type(error).__name__)
    finally:
        connections.close_all()


app.steps["consumer"].add(GiveSigns)
