"""What Celery does for jobs: thin, and harmless when done twice."""

from celery import shared_task  # type: ignore[import-untyped]

from . import jobs, nightly


@shared_task(name="analysis.run_job")
def run_job(pk: int) -> None:
    jobs.run_job(pk)


@shared_task(name="analysis.sweep_jobs")
def sweep_jobs() -> None:
    jobs.sweep_jobs()


@shared_task(name="analysis.start_nightly_jobs")
def start_nightly_jobs() -> None:
    nightly.start_nightly_jobs()
