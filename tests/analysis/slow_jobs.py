"""Job kinds for tests: a slow one, and some that fail in different ways."""

import time
from pathlib import Path
from typing import Any

from billiard.exceptions import SoftTimeLimitExceeded

from da_platform.exceptions import PlatformError
from da_platform.jobs.kinds import job_kind
from da_platform.jobs.models import Job
from da_platform.jobs.reports import Report
from hits.people.access import Level


@job_kind("count_slowly", needs=Level.RESEARCHER)
def count_slowly(job: Job, report: Report) -> dict[str, Any]:
    """Count in steps, and note each start and end in a file, which no rollback can undo."""
    steps = job.arguments["steps"]
    note(job, f"start {job.attempt}")
    for step in range(steps):
        report.progress(step, steps)
        time.sleep(job.arguments.get("seconds", 0))
    report.progress(steps, steps)
    report.log("Counted.")
    note(job, f"end {job.attempt}")
    return {"n_steps": steps, "attempt": job.attempt}


def note(job: Job, line: str) -> None:
    if path := job.arguments.get("diary"):
        with Path(path).open("a") as file:
            file.write(line + "\n")


@job_kind("refuse", needs=Level.RESEARCHER)
def refuse(job: Job, report: Report) -> dict[str, Any]:
    raise PlatformError("There is nothing to count.")


@job_kind("break_down", needs=Level.RESEARCHER)
def break_down(job: Job, report: Report) -> dict[str, Any]:
    raise ZeroDivisionError("secret detail")


@job_kind("return_nonsense", needs=Level.RESEARCHER)
def return_nonsense(job: Job, report: Report) -> dict[str, Any]:
    return {"what": object()}


@job_kind("exceed_the_time_limit", needs=Level.RESEARCHER)
def exceed_the_time_limit(job: Job, report: Report) -> dict[str, Any]:
    """Raise what Celery raises in a task past its soft limit."""
    raise SoftTimeLimitExceeded
