"""Post-editions word by word, next to the outputs; importing them, and using them as references."""

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.forms import Form
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from da_platform.exceptions import PlatformError
from da_platform.jobs.models import Job
from da_platform.jobs.running import start_job
from hits.archives.storing_post_editions import can_take_post_editions
from hits.models import Campaign
from hits.people.access import (
    campaigns_of,
    for_campaign_admins,
    for_campaign_researchers,
    takes_files,
    user_of,
)
from hits.post_editing.arrays import edited_outputs, edits_of
from hits.post_editing.checked import progress_of_checks

from ..evaluation.uploading import raw_files
from ..exporting.service import EDIT_LAYOUTS, TABLE_FORMATS
from ..post_editions.agreement import KIND, in_words, latest_agreement_of_editors
from ..post_editions.forms import BringBackForm, CheckForm, ImportForm, OwnReferencesForm

EDITS_PER_PAGE = 50


@require_GET
@for_campaign_researchers
def post_editions(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """List post-editions with their editor, time and changed words."""
    return _show(request, campaign)


@require_POST
@for_campaign_researchers
def measure_editor_agreement(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Start a job that compares the post-editions of outputs that several editors have edited."""
    job = start_job(kind=KIND, campaign=campaign, started_by=user_of(request))
    return redirect("job", job.code)


@takes_files
@require_POST
@for_campaign_admins
def import_post_editions(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Store post-editions from a file as those of the campaign."""
    from ..post_editions.importing import import_post_editions

    form = ImportForm(campaign, request.POST, request.FILES)
    if not form.is_valid():
        return _show(request, campaign, form=form)
    try:
        stored = import_post_editions(
            campaign=campaign,
            source=raw_files([form.cleaned_data["upload"]])[0],
            system=form.cleaned_data["system"],
            actor=user_of(request),
        )
    except PlatformError as refusal:
        return _show(request, campaign, form=_refused(form, refusal))
    messages.success(
        request,
        f"Imported {stored.n_post_editions:,} post-editions of {stored.n_outputs:,} texts "
        f"by {stored.n_editors:,} editors.",
    )
    return redirect("post_editions", campaign.code)


@require_POST
@for_campaign_admins
def check_post_editions(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Create a campaign in which other workers check the post-editions."""
    from hits.post_editing.checking import check_post_editions

    form = CheckForm(request.POST)
    if not form.is_valid():
        return _show(request, campaign, check_form=form)
    try:
        check = check_post_editions(
            campaign=campaign,
            name=form.cleaned_data["name"],
            shows=form.cleaned_data["shows"],
            asks_native=form.cleaned_data["asks_native"],
            actor=user_of(request),
        )
    except PlatformError as refusal:
        return _show(request, campaign, check_form=_refused(form, refusal))
    messages.success(request, f"Created {check.campaign}: {check.in_words}")
    return redirect("campaign_overview", check.campaign.code)


def _show(
    request: HttpRequest,
    campaign: Campaign,
    *,
    form: ImportForm | None = None,
    check_form: CheckForm | None = None,
) -> HttpResponse:
    # sacreBLEU is slow to import, and other pages do not need it.
    from ..post_editions.collected import rows_of

    search = request.GET.get("search", "").replace("\x00", "")
    page = Paginator(edits_of(campaign, search=search), EDITS_PER_PAGE).get_page(
        request.GET.get("page")
    )
    agreement = latest_agreement_of_editors(campaign)
    visible = campaigns_of(user_of(request))
    context = {
        "campaign": campaign,
        "page": page,
        "rows": rows_of(campaign, edited_outputs(campaign, list(page))),
        "agreement": agreement,
        "agreement_in_words": in_words(agreement.result or {}) if agreement else "",
        "measuring": Job.objects.unfinished().filter(campaign=campaign, kind=KIND).first(),
        "search": search,
        "table_formats": TABLE_FORMATS,
        "layouts": EDIT_LAYOUTS,
        "import_form": form or (ImportForm(campaign) if can_take_post_editions(campaign) else None),
        "checks": progress_of_checks(campaign, visible),
        "checked_campaign": visible.filter(checked_in=campaign).first(),
        "check_form": check_form or (CheckForm() if page.paginator.count else None),
    }
    status = 422 if form or check_form else 200
    return render(request, "analysis/post_editions.html", context, status=status)


# Separate references ----------------------------------------------------------------------


@takes_files
@require_http_methods(["GET", "POST"])
@for_campaign_admins
def own_references(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Create a campaign that rates each output against its own reference."""
    user = user_of(request)
    if request.method == "GET":
        return _show_own_references(request, campaign)
    form = OwnReferencesForm(campaign, user, request.POST, request.FILES)
    if not form.is_valid():
        return _show_own_references(request, campaign, own_form=form)
    # Reading tables is slow to import, and other pages do not need it.
    from ..post_editions.own_references import rate_against

    upload = form.cleaned_data["upload"]
    try:
        rated = rate_against(
            campaign=campaign,
            name=form.cleaned_data["name"],
            references=raw_files([upload])[0] if upload else None,
            post_editions_of=form.cleaned_data["post_editions_of"],
            even_from_reference=form.cleaned_data["even_from_reference"],
            actor=user,
        )
    except PlatformError as refusal:
        return _show_own_references(request, campaign, own_form=_refused(form, refusal))
    messages.success(
        request,
        f"Created {rated.campaign}: {rated.n_outputs:,} outputs, each with its own reference.",
    )
    return redirect("campaign_overview", rated.campaign.code)


@require_POST
@for_campaign_admins
def bring_back_gold(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Store the newest gold of a campaign with own references as gold of this one."""
    from ..post_editions.own_references import bring_back_newest_gold

    form = BringBackForm(campaign, user_of(request), request.POST)
    if not form.is_valid():
        return _show_own_references(request, campaign, back_form=form)
    try:
        gold = bring_back_newest_gold(
            rated=form.cleaned_data["rated"], campaign=campaign, actor=user_of(request)
        )
    except PlatformError as refusal:
        return _show_own_references(request, campaign, back_form=_refused(form, refusal))
    messages.success(request, f"Stored gold {gold.name}: {gold.n_scores:,} scores.")
    return redirect("campaign_metrics", campaign.code)


def _refused(form: Any, refusal: PlatformError) -> Any:
    form.add_error(None, str(refusal))
    return form


def _show_own_references(
    request: HttpRequest,
    campaign: Campaign,
    *,
    own_form: Form | None = None,
    back_form: Form | None = None,
) -> HttpResponse:
    user = user_of(request)
    context = {
        "campaign": campaign,
        "own_form": own_form or OwnReferencesForm(campaign, user),
        "back_form": back_form or BringBackForm(campaign, user),
    }
    status = 422 if own_form or back_form else 200
    return render(request, "analysis/own_references.html", context, status=status)
