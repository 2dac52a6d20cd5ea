"""What a job refused, as fields of its row."""

from dataclasses import asdict
from typing import Any

from ..files.problems import FilesRefused, Fix, Problem
from .models import Job

# The fields of a job without problems.
NO_PROBLEMS: dict[str, Any] = {"problems": [], "n_problems": 0, "fixes": []}


def problems_of(refusal: FilesRefused) -> dict[str, Any]:
    """Return a refusal as fields of a job."""
    return {
        "problems": [asdict(problem) for problem in refusal.problems],
        "n_problems": refusal.n_problems,
        "fixes": [[asdict(fix), n] for fix, n in refusal.fixes.items()],
    }


def refusal_of(job: Job, kind: type[FilesRefused]) -> FilesRefused | None:
    """Return what a failed job refused; None if it failed for another reason."""
    if not job.problems:
        return None
    problems = [
        Problem(**problem | {"fix": problem["fix"] and fix_of(problem["fix"])})
        for problem in job.problems
    ]
    n_problems = max(job.n_problems, len(problems))
    return kind(problems, n_problems, {fix_of(fix): n for fix, n in job.fixes})


def fix_of(stored: dict[str, Any]) -> Fix:
    return Fix(**stored | {"values": tuple(stored["values"])})
