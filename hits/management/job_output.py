"""Show a job's progress and result in a terminal."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.core.management.base import CommandError
from tqdm import tqdm

from da_platform.jobs.models import Job

LOOK_SECONDS = 0.3


@contextmanager
def job_bar(job: Job) -> Iterator[Callable[[int, int | None], None]]:
    """Show a progress bar if standard error is a terminal; yield a function that moves it."""
    with tqdm(desc=job.kind, disable=None, leave=False) as bar:

        def move(n_done: int, n_total: int | None) -> None:
            bar.total = n_total
            bar.update(n_done - bar.n)

        yield move


def wait_for(job: Job) -> None:
    """Watch a job that runs elsewhere until it is finished."""
    with job_bar(job) as move:
        while job.finished_at is None:
            time.sleep(LOOK_SECONDS)
            job.refresh_from_db()
            move(job.n_done, job.n_total)


def facts_of(job: Job) -> dict[str, Any]:
    return {
        "code": str(job.code),
        "kind": job.kind,
        "state": job.state,
        "result": job.result,
        "error": job.error,
    }


def report_on(job: Job, *, as_json: bool) -> str:
    """Print the result of a job; raise `CommandError` if it failed."""
    if as_json:
        return json.dumps(facts_of(job), ensure_ascii=False)
    if job.state == Job.State.FAILED:
        raise CommandError(f"{job.kind}: {job.error}")
    lines = [f"{job.kind} {job.code}: {job.get_state_display().lower()}."]
    lines += [f"  {name}: {value}" for name, value in (job.result or {}).items()]
    return "\n".join(lines)
