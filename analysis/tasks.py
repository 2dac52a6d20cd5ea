"""What Celery does for jobs: thin, and harmless when done twice."""

from celery import shared_task  # type: ignore[import-untyped]

from . import jobs


@shared_task(name="analysis.run_job")
def run_job(pk: int) -> None:
    jobs.run_job(pk)


@shared_task(name="analysis.sweep_jobs")
def sweep_jobs() -> None:
    jobs.sweep_jobs()


@shared_task(name="analysis.do_nightly_chores")
def do_nightly_chores() -> None:
    # Here and not above: SciPy is for workers of the queue, web processes do without.
    from . import nightly

    nightly.do_nightly_chores()
