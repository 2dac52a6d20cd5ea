"""The kinds of jobs, which each app registers.

A kind is a decorated function in one of the `settings.JOB_MODULES`:

    @job_kind("build_gold", needs=Level.RESEARCHER)
    def build_gold_job(job: Job, report: Report) -> dict[str, Any]:
        ...
        report.progress(n_done, n_total)
        return {"n_scored": 12}

It may be interrupted at any line and run again from the start, so it must write all or nothing, or only what
can be written twice.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from django.conf import settings

from ..exceptions import PlatformError
from .models import Job
from .reports import Report


class JobRefused(PlatformError):
    """A job that cannot be started, cancelled or retried."""


Body = Callable[[Job, Report], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of job.

    `needs` is the level a person needs to start, cancel or retry one; `scope` is what an API token needs.
    Both are defined in `hits.people` and not interpreted here. Researchers do not see confidential jobs,
    such as payments.
    """

    name: str
    run: Body
    needs_campaign: bool = False
    needs: str = "admin"
    scope: str = "run"
    is_confidential: bool = False


_kinds: dict[str, Kind] = {}


def job_kind(
    name: str,
    *,
    needs_campaign: bool = False,
    needs: str = "admin",
    scope: str = "run",
    is_confidential: bool = False,
) -> Callable[[Body], Body]:
    """Register the decorated function as what a job of this kind does."""

    def register(body: Body) -> Body:
        _kinds[name] = Kind(name, body, needs_campaign, needs, scope, is_confidential)
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
