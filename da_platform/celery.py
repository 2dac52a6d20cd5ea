"""The Celery application, its queues and its schedule.

    celery -A da_platform worker              runs tasks
    celery -A da_platform beat                sends scheduled tasks (or use `worker --beat` for both,
                                              or `worker --clock` for both in one process)

A message is only a hint that there is something to do; what to do is in the database. So a lost message costs
a minute, until the schedule finds the work, and a duplicate costs nothing.
"""

import os
import signal
from typing import Any

from celery import Celery, bootsteps  # type: ignore[import-untyped]
from celery.beat import EmbeddedService  # type: ignore[import-untyped]
from celery.schedules import crontab  # type: ignore[import-untyped]
from celery.signals import (  # type: ignore[import-untyped]
    beat_embedded_init,
    worker_process_init,
)
from click import Option
from kombu import Queue

from . import folder_queue  # noqa: F401  (makes its scheme known)
from .queues import JOBS, QUEUES, QUICK
from .serve import die_with_parent

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "da_platform.settings")

app = Celery("da_platform")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()

app.conf.update(
    task_queues=[Queue(name, routing_key=name) for name in QUEUES],
    task_default_queue=QUICK,
    task_routes={"jobs.run_job": {"queue": JOBS}},
    # Each can run twice or be skipped once; with cron, `manage.py do_chores` does the same. A task
    # that has not run by the time the next one is due expires, so that queues do not fill without a worker.
    beat_schedule={
        "hits": {"task": "hits.do_chores", "schedule": 60, "options": {"expires": 55}},
        "jobs": {"task": "jobs.sweep_jobs", "schedule": 60, "options": {"expires": 55}},
        "signs": {"task": "operation.give_sign", "schedule": 30, "options": {"expires": 25}},
        "nightly": {
            "task": "analysis.do_nightly_chores",
            "schedule": crontab(hour="3", minute="0"),
        },
    },
)


def _leave_no_orphan(**kwargs: Any) -> None:
    die_with_parent(signal.SIGKILL)


# Celery's children outlive a killed worker, and a surviving beat would run alongside the new one.
beat_embedded_init.connect(_leave_no_orphan)
worker_process_init.connect(_leave_no_orphan)


class Clock(bootsteps.StartStopStep):
    """Beat as a thread of the worker: `--beat` starts a second process, with another 75 MB."""

    def __init__(self, worker: Any, clock: bool = False, **options: Any) -> None:
        self.enabled = clock
        super().__init__(worker, **options)

    def create(self, worker: Any) -> Any:
        return EmbeddedService(
            worker.app,
            thread=True,
            schedule_filename=worker.schedule_filename,
            scheduler_cls=worker.scheduler,
        )


app.user_options["worker"].add(Option(["--clock"], is_flag=True, help="send scheduled tasks, too"))
app.steps["worker"].add(Clock)
