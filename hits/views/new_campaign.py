"""Create a campaign in four steps: basics, files, settings, and a check before the import."""

from decimal import Decimal
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from da_platform.files.problems import FilesRefused
from da_platform.jobs.models import Job
from da_platform.jobs.refusals import refusal_of
from hits.exceptions import ImportRefused

from ..campaigns import drafts
from ..campaigns.costs import estimate_before_import
from ..campaigns.drafts import (
    begin_import,
    campaign_of,
    check_draft,
    is_checked_at_once,
    is_imported_at_once,
    storable,
)
from ..campaigns.forms import BasicsForm, FilesForm, RepairForm, SettingsForm, chosen_repairs
from ..campaigns.importing.service import CheckSummary
from ..campaigns.importing.tables import COLUMNS_IN_WORDS
from ..campaigns.uploads import keep_files
from ..models import Campaign, CampaignDraft
from ..people.access import for_admins, takes_files, user_of

STEPS = [
    ("Basics", "draft_basics"),
    ("Files", "draft_files"),
    ("Settings", "draft_settings"),
    ("Check and import", "draft_check"),
]


def _own_draft(request: HttpRequest, code: UUID) -> CampaignDraft:
    return get_object_or_404(CampaignDraft, code=code, owner=user_of(request))


def _page(
    request: HttpRequest, template: str, draft: CampaignDraft | None, step: int, **context: Any
) -> HttpResponse:
    context |= {"draft": draft, "steps": STEPS, "step": step}
    if (refusal := context.get("refusal")) and draft and refusal.fixes:
        context["repair"] = RepairForm(refusal, draft.options)
    status = 422 if request.method == "POST" else 200
    return render(request, template, context, status=status)


@require_http_methods(["GET", "POST"])
@for_admins
def basics(request: HttpRequest, code: UUID | None = None) -> HttpResponse:
    draft = _own_draft(request, code) if code else None
    form = BasicsForm(request.POST or None, initial=draft.basics if draft else None)
    if form.is_valid():
        draft = draft or CampaignDraft(owner=user_of(request))
        draft.basics = form.cleaned_data
        draft.save()
        return redirect("draft_files", draft.code)
    unfinished = None if draft else CampaignDraft.objects.filter(owner=user_of(request))[:10]
    return _page(
        request, "hits/new_campaign_basics.html", draft, 0, form=form, unfinished=unfinished
    )


@takes_files
@require_http_methods(["GET", "POST"])
@for_admins
def files(request: HttpRequest, code: UUID) -> HttpResponse:
    """Upload files, or show what is wrong with them by file and line."""
    draft = _own_draft(request, code)
    form = _empty_files_form(draft)
    if request.method == "POST":
        form = FilesForm(request.POST, request.FILES, has_files=bool(draft.files))
    refusal = None
    if request.method == "POST" and form.is_valid():
        try:
            if uploads := form.uploads():
                keep_files(draft=draft, uploads=uploads)
            draft.options = form.options()
            draft.save(update_fields=["options"])
            if is_checked_at_once(draft):
                check_draft(draft)
            return redirect("draft_settings", draft.code)
        except ImportRefused as error:
            refusal = error
    return _files_page(request, draft, form, refusal)


def _files_page(
    request: HttpRequest, draft: CampaignDraft, form: FilesForm, refusal: ImportRefused | None
) -> HttpResponse:
    return _page(
        request,
        "hits/new_campaign_files.html",
        draft,
        1,
        form=form,
        refusal=refusal,
        columns=COLUMNS_IN_WORDS.items(),
    )


def _empty_files_form(draft: CampaignDraft) -> FilesForm:
    ignored = ", ".join(draft.options.get("ignore_columns", []))
    return FilesForm(initial=draft.options | {"ignore_columns": ignored})


@require_POST
@for_admins
def mend_files(request: HttpRequest, code: UUID) -> HttpResponse:
    """Keep the uploaded files, add the options that would help, and go on from there."""
    draft = _own_draft(request, code)
    draft.options |= chosen_repairs(request.POST)
    draft.save(update_fields=["options"])
    if draft.settings:
        if not is_imported_at_once(draft):
            begin_import(draft=draft, actor=user_of(request))
        return redirect("draft_check", draft.code)
    try:
        if is_checked_at_once(draft):
            check_draft(draft)
    except ImportRefused as refusal:
        return _files_page(request, draft, _empty_files_form(draft), refusal)
    return redirect("draft_settings", draft.code)


@require_http_methods(["GET", "POST"])
@for_admins
def settings(request: HttpRequest, code: UUID) -> HttpResponse:
    draft = _own_draft(request, code)
    if not draft.files:
        return redirect("draft_files", draft.code)
    task = draft.basics["task"]
    form = SettingsForm(request.POST or None, initial=draft.settings or None, task=task)
    if form.is_valid():
        draft.settings = storable(form.cleaned_data)
        draft.save(update_fields=["settings"])
        return redirect("draft_check", draft.code)
    return _page(request, "hits/new_campaign_settings.html", draft, 2, form=form)


@require_http_methods(["GET", "POST"])
@for_admins
def check(request: HttpRequest, code: UUID) -> HttpResponse:
    """Show what will be imported, import it, and show the progress of a large import."""
    draft = _own_draft(request, code)
    if not draft.files or not draft.settings:
        return redirect("draft_files" if not draft.files else "draft_settings", draft.code)
    summary: CheckSummary | None = None
    refusal: FilesRefused | None = None
    job, is_running = None, False
    try:
        if request.method == "POST":
            begin_import(draft=draft, actor=user_of(request))
            return redirect("draft_check", draft.code)
        if campaign := campaign_of(draft):
            return _show_campaign(request, draft, campaign)
        job = Job.objects.filter(code=draft.job_code).first() if draft.job_code else None
        is_running = job is not None and job.finished_at is None
        if job and not is_running:
            refusal = refusal_of(job, ImportRefused)
        if is_checked_at_once(draft) and not is_running:
            summary = check_draft(draft)
    except ImportRefused as error:
        if campaign := campaign_of(draft):
            # A second click, refused because the first one took the name.
            return _show_campaign(request, draft, campaign)
        refusal = error
    shown = Campaign(**draft.basics, **draft.settings)
    return _page(
        request,
        "hits/new_campaign_check.html",
        draft,
        3,
        found=summary,
        refusal=refusal,
        shown=shown,
        # At most, because systems may share translations.
        cost=estimate_before_import(shown, summary) if summary else None,
        has_pay=Decimal(shown.pay_per_hit) > 0,
        cap=Decimal(shown.spending_cap or 0),
        job=job,
        is_running=is_running,
    )


def _show_campaign(request: HttpRequest, draft: CampaignDraft, campaign: Campaign) -> HttpResponse:
    drafts.discard(draft)
    messages.success(request, f"{campaign.name} was imported. Workers cannot see it yet.")
    return redirect("campaign_overview", campaign.code)


@require_POST
@for_admins
def discard(request: HttpRequest, code: UUID) -> HttpResponse:
    drafts.discard(_own_draft(request, code))
    messages.success(request, "The draft was discarded.")
    return redirect("home")
