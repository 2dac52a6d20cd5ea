"""The kinds of jobs, which each app registers.

A kind is a decorated function in one of the `settings.JOB_MODULES`:

    @job_kind("build_gold", title="Build gold", outcome=outcomes.gold_built, needs=Level.RESEARCHER)
    def build_gold_job(job: Job, report: Report) -> dict[str, Any]:
        ...
        report.progress(n_done, n_total)
        return {"n_scored": 12}

It may be interrupted at any line and run again from the start, so it must write all or nothing, or only what
can be written twice.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from django.conf import settings

from ..exceptions import PlatformError
from ..files.problems import Fix
from .models import Job
from .reports import Report


class JobRefused(PlatformError):
    """A job that cannot be started, cancelled or retried."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came out of a job: a sentence, and links (labels and URLs) to where it can be seen."""

    sentence: str
    links: tuple[tuple[str, str], ...] = ()


Body = Callable[[Job, Report], dict[str, Any]]
# Given the result of a job that is done.
Describe = Callable[[Job, dict[str, Any]], Outcome]
# Given a failed job and the fixes that were chosen among those of its problems: the arguments of a new job.
Mend = Callable[[Job, Sequence[Fix]], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of job.

    `needs` is the level a person needs to start, cancel or retry one; `scope` is what an API token needs.
    Both are defined in `hits.people` and not interpreted here. Researchers do not see confidential jobs,
    such as payments. `title` and `outcome` are what a job's page shows; `mend` changes the arguments of a job
    whose problems have fixes.
    """

    name: str
    run: Body
    needs_campaign: bool = False
    needs: str = "admin"
    scope: str = "run"
    is_confidential: bool = False
    title: str = ""
    outcome: Describe | None = None
    mend: Mend | None = None


_kinds: dict[str, Kind] = {}


def job_kind(
    name: str,
    *,
    needs_campaign: bool = False,
    needs: str = "admin",
    scope: str = "run",
    is_confidential: bool = False,
    title: str = "",
    outcome: Describe | None = None,
    mend: Mend | None = None,
) -> Callable[[Body], Body]:
    """Register the decorated function as what a job of this kind does."""

    def register(body: Body) -> Body:
        _kinds[name] = Kind(
            name, body, needs_campaign, needs, scope, is_confidential, title, outcome, mend
        )
        return body

    return register


def known_kinds() -> dict[str, Kind]:
    for module in settings.JOB_MODULES:
        import_module(module)
    return _kinds


def kind_named(name: str) -> Kind:
    kinds = known_kinds()
    if name not in kinds:
        raise JobRefused(f"There is no job kind {name!r}. Choose from: {', '.join(sorted(kinds))}.")
    return kinds[name]
