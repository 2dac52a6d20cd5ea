"""A new campaign in four steps: what it is, its files, its settings, and a last look before it is imported."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from analysis.models import Job

from ..access import for_admins, takes_files
from ..campaigns import creating
from ..campaigns.creating import begin_import, check_draft, is_small, settled, storable
from ..campaigns.forms import BasicsForm, FilesForm, SettingsForm
from ..campaigns.uploads import keep_files
from ..exceptions import ImportRefused
from ..models import Campaign, CampaignDraft
from .running import person

STEPS = [
    ("What it is", "draft_basics"),
    ("Files", "draft_files"),
    ("Settings", "draft_settings"),
    ("Check and import", "draft_check"),
]


def _own_draft(request: HttpRequest, code: UUID) -> CampaignDraft:
    return get_object_or_404(CampaignDraft, code=code, owner=person(request))


def _page(
    request: HttpRequest, template: str, draft: CampaignDraft | None, step: int, **context: Any
) -> HttpResponse:
    context |= {"draft": draft, "steps": STEPS, "step": step}
    status = 422 if request.method == "POST" else 200
    return render(request, template, context, status=status)


@require_http_methods(["GET", "POST"])
@for_admins
def basics(request: HttpRequest, code: UUID | None = None) -> HttpResponse:
    draft = _own_draft(request, code) if code else None
    form = BasicsForm(request.POST or None, initial=draft.basics if draft else None)
    if form.is_valid():
        draft = draft or CampaignDraft(owner=person(request))
        draft.basics = form.cleaned_data
        draft.save()
        return redirect("draft_files", draft.code)
    unfinished = None if draft else CampaignDraft.objects.filter(owner=person(request))[:10]
    return _page(
        request, "hits/new_campaign_basics.html", draft, 0, form=form, unfinished=unfinished
    )


@takes_files
@require_http_methods(["GET", "POST"])
@for_admins
def files(request: HttpRequest, code: UUID) -> HttpResponse:
    """Take the files, or say by file and line what is wrong with them."""
    draft = _own_draft(request, code)
    form = FilesForm(request.POST or None, request.FILES or None, initial=draft.options)
    refusal = None
    if request.method == "POST" and form.is_valid():
        try:
            if uploads := form.uploads():
                keep_files(draft=draft, uploads=uploads)
            draft.options = form.options()
            draft.save(update_fields=["options"])
            if is_small(draft):
                check_draft(draft)
            return redirect("draft_settings", draft.code)
        except ImportRefused as error:
            refusal = error
    return _page(request, "hits/new_campaign_files.html", draft, 1, form=form, refusal=refusal)


@require_http_methods(["GET", "POST"])
@for_admins
def settings(request: HttpRequest, code: UUID) -> HttpResponse:
    draft = _own_draft(request, code)
    if not draft.files:
        return redirect("draft_files", draft.code)
    form = SettingsForm(request.POST or None, initial=draft.settings or None)
    if form.is_valid():
        draft.settings = storable(form.cleaned_data)
        draft.save(update_fields=["settings"])
        return redirect("draft_check", draft.code)
    return _page(request, "hits/new_campaign_settings.html", draft, 2, form=form)


@require_http_methods(["GET", "POST"])
@for_admins
def check(request: HttpRequest, code: UUID) -> HttpResponse:
    """Show what will be imported, import it, and show how far a large import is."""
    draft = _own_draft(request, code)
    if not draft.files or not draft.settings:
        return redirect("draft_files" if not draft.files else "draft_settings", draft.code)
    found = refusal = None
    try:
        if request.method == "POST":
            begin_import(draft=draft, actor=person(request))
            return redirect("draft_check", draft.code)
        if campaign := settled(draft):
            return _arrive(request, draft, campaign)
        if is_small(draft):
            found = check_draft(draft)
    except ImportRefused as error:
        if campaign := settled(draft):
            # A second click, refused because the first one took the name.
            return _arrive(request, draft, campaign)
        refusal = error
    job = Job.objects.filter(code=draft.job_code).first() if draft.job_code else None
    shown = Campaign(**draft.basics, **draft.settings)
    return _page(
        request,
        "hits/new_campaign_check.html",
        draft,
        3,
        found=found,
        refusal=refusal,
        shown=shown,
        job=job,
        is_running=job is not None and job.finished_at is None,
    )


def _arrive(request: HttpRequest, draft: CampaignDraft, campaign: Campaign) -> HttpResponse:
    creating.discard(draft)
    messages.success(request, f"{campaign.name} is imported. Nobody but you and your team sees it.")
    return redirect("campaign_overview", campaign.code)


@require_POST
@for_admins
def discard(request: HttpRequest, code: UUID) -> HttpResponse:
    creating.discard(_own_draft(request, code))
    messages.success(request, "The draft is gone.")
    return redirect("home")
