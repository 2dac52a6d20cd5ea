"""Background jobs: the list, a job's page, cancelling and retrying."""

import json
from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import resolve
from django.views.decorators.http import require_GET, require_POST

from da_platform.jobs.kinds import JobRefused, Outcome, known_kinds
from da_platform.jobs.models import Job
from da_platform.sessions import asked_by_a_script

from ..campaigns.forms import FilesForm
from ..models import CampaignDraft
from ..people.access import Level, for_members, has_level, user_of
from ..people.job_access import cancel_job, may_change, mend_job, retry_job, visible_jobs

JOBS_PER_PAGE = 50
# Not shown in the list, and possibly long.
LONG_FIELDS = ("log", "result", "traceback", "arguments")


@require_GET
@for_members
def jobs(request: HttpRequest) -> HttpResponse:
    rows = visible_jobs(request.user).defer(*LONG_FIELDS)
    page = Paginator(rows, JOBS_PER_PAGE).get_page(request.GET.get("page"))
    return render(request, "hits/jobs.html", {"page": page})


@require_GET
@for_members
def job(request: HttpRequest, code: UUID) -> HttpResponse:
    return _show(request, _visible_job(request, code))


@require_GET
@asked_by_a_script
@for_members
def job_progress(request: HttpRequest, code: UUID) -> JsonResponse:
    """Progress as JSON, polled by the script on a job's page."""
    job = _visible_job(request, code)
    return JsonResponse(
        {
            "state": job.state,
            "label": job.get_state_display(),
            "n_done": job.n_done,
            "n_total": job.n_total,
            "log": job.log,
            "is_finished": job.finished_at is not None,
        }
    )


@require_POST
@for_members
def cancel(request: HttpRequest, code: UUID) -> HttpResponse:
    return _change(request, code, cancel_job)


@require_POST
@for_members
def retry(request: HttpRequest, code: UUID) -> HttpResponse:
    return _change(request, code, retry_job)


@require_POST
@for_members
def mend(request: HttpRequest, code: UUID) -> HttpResponse:
    """Start a failed job again with the changes that were chosen."""
    job = _visible_job(request, code)
    chosen = request.POST.getlist("fix")
    numbers = {number for number in range(len(job.problems)) if str(number) in chosen}
    try:
        new_job = mend_job(job, user_of(request), numbers)
    except JobRefused as refusal:
        return _show(request, job, problem=str(refusal), status=409)
    return redirect("job", new_job.code)


def _change(request: HttpRequest, code: UUID, change: Callable[[Job, User], Job]) -> HttpResponse:
    job = _visible_job(request, code)
    try:
        change(job, user_of(request))
    except JobRefused as refusal:
        return _show(request, job, problem=str(refusal), status=409)
    return redirect("job", code)


def _visible_job(request: HttpRequest, code: UUID) -> Job:
    return get_object_or_404(visible_jobs(request.user), code=code)


def _show(request: HttpRequest, job: Job, *, problem: str = "", status: int = 200) -> HttpResponse:
    is_unfinished = job.finished_at is None
    is_changeable = may_change(request.user, job)
    outcome = _outcome(job)
    problems = _with_each_fix_once(job.problems)
    draft = CampaignDraft.objects.filter(job_code=job.code, owner=user_of(request)).first()
    context = {
        "job": job,
        "problem": problem,
        "is_unfinished": is_unfinished,
        "can_cancel": is_changeable and is_unfinished and job.cancel_requested_at is None,
        "can_retry": is_changeable and job.state in (Job.State.FAILED, Job.State.CANCELLED),
        "arguments": _readable(job.arguments),
        "result": _readable(job.result),
        "outcome": outcome,
        "links": [link for link in outcome.links if _may_open(request, job, link[1])]
        if outcome
        else [],
        # The problems are listed below it.
        "error": job.error.partition("\n")[0] if job.problems else job.error,
        "problems": problems,
        "n_more": max(0, job.n_problems - len(problems)),
        # The draft's own page mends files, and goes on from there.
        "draft": draft if job.state == Job.State.FAILED else None,
        "can_mend": is_changeable
        and draft is None
        and _can_be_mended(job)
        and any(problem["offer"] for problem in problems),
        "traceback": job.traceback if request.user.is_superuser else "",
    }
    return render(request, "hits/job.html", context, status=status)


def _with_each_fix_once(problems: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Add to each problem the label of what would avoid it, unless an earlier problem offers the same."""
    seen, rows = [], []
    for problem in problems:
        fix = problem["fix"]
        is_offered = fix and not fix.get("needs_choice") and fix not in seen
        seen.append(fix)
        rows.append(problem | {"offer": _label(fix) if is_offered else ""})
    return rows


def _label(fix: dict[str, Any]) -> str:
    """Name the option of an import as its own pages do; other fixes have a label that says what they do."""
    field = FilesForm().fields.get(fix["option"])
    return (
        f"{field.label}: {', '.join([*fix['values']]) or fix['label']}" if field else fix["label"]
    )


def _can_be_mended(job: Job) -> bool:
    kind = known_kinds().get(job.kind)
    return kind is not None and kind.mend is not None


def _outcome(job: Job) -> Outcome | None:
    """What came out of a job that is done; None for a kind that does not exist any more."""
    kind = known_kinds().get(job.kind)
    if job.state != Job.State.DONE or kind is None or kind.outcome is None:
        return None
    return kind.outcome(job, job.result or {})


def _may_open(request: HttpRequest, job: Job, url: str) -> bool:
    """Researchers see jobs of a campaign whose pages only its admins can open."""
    rule = getattr(resolve(url.partition("?")[0]).func, "access_rule", "")
    return rule != "campaign_admins" or has_level(request.user, Level.ADMIN, job.campaign)


def _readable(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2) if value else ""
