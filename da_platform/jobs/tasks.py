"""Celery tasks for jobs: thin, and harmless when run twice."""

from celery import shared_task  # type: ignore[import-untyped]

from . import running, sweeping
from .limits import thread_limits


@shared_task(name="jobs.run_job")
def run_job(pk: int) -> None:
    with thread_limits():
        running.run_job(pk)


@shared_task(name="jobs.sweep_jobs")
def sweep_jobs() -> None:
    sweeping.sweep_jobs()
