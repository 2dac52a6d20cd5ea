"""Start a job like a failed one, but without its problems."""

from collections.abc import Collection

from django.contrib.auth.models import User

from .kinds import JobRefused, kind_named
from .models import Job
from .refusals import fix_of
from .running import start_job


def start_mended(job: Job, numbers: Collection[int], actor: User) -> Job:
    """Start a job like a failed one, with the fixes of some of its problems (their numbers, from 0)."""
    mend = kind_named(job.kind).mend
    fixes = [
        fix_of(problem["fix"])
        for number, problem in enumerate(job.problems)
        if number in numbers and problem["fix"] and not problem["fix"].get("needs_choice")
    ]
    if mend is None or job.state != Job.State.FAILED or not fixes:
        raise JobRefused("Choose at least one change, or start the job again from its own page.")
    arguments = mend(job, fixes)
    return start_job(kind=job.kind, campaign=job.campaign, arguments=arguments, started_by=actor)
