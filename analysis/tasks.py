"""Celery tasks for analysis. They can be run twice without harm."""

from celery import shared_task  # type: ignore[import-untyped]


@shared_task(name="analysis.do_nightly_chores")
def do_nightly_chores() -> None:
    # Imported here: only Celery workers need SciPy, not web processes.
    from . import nightly

    nightly.do_nightly_chores()
