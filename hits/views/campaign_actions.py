"""What admins do with a campaign: build, open, pause, close, edit, copy, and estimate its cost."""

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from da_platform.jobs.running import start_job
from hits.campaigns.lifecycle import STATUS_CHANGES, STATUS_DEEDS, change_status

from ..campaigns.building import build_hits
from ..campaigns.costs import estimate, usual_numbers
from ..campaigns.editing import duplicate_campaign, edit_campaign, editable_fields
from ..campaigns.forms import CostForm, EditForm, InstructionsForm, NameForm
from ..campaigns.kept_counts import forecast_of
from ..campaigns.samples import n_to_rate
from ..exceptions import CannotBuildHITs, EditRefused, RecruitmentRefused, StatusRefused
from ..models import Campaign
from ..people.access import for_campaign_admins, user_of
from ..recruiting.arrivals import open_link
from .worker_context import organiser_of

# Up to this many translations, HITs are built within the request (about a second); above, by a job.
BUILT_AT_ONCE = 5_000


@require_POST
@for_campaign_admins
def change(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    try:
        to = Campaign.Status(request.POST.get("to", ""))
        with transaction.atomic():
            if request.POST.get("join") == "link" and to == Campaign.Status.OPEN:
                open_link(campaign=campaign, actor=user_of(request))
            change_status(campaign=campaign, to=to, actor=user_of(request))
    except ValueError:
        messages.error(request, "A campaign can be opened, paused or closed.")
    except (StatusRefused, RecruitmentRefused) as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(request, f"The campaign is {STATUS_DEEDS[to]}.")
    return redirect("campaign_overview", campaign.code)


@require_POST
@for_campaign_admins
def build(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Build the HITs, in a job if the campaign is large."""
    rebuild = request.POST.get("rebuild") == "1"
    if n_to_rate(campaign) > BUILT_AT_ONCE:
        job = start_job(
            kind="build_hits",
            campaign=campaign,
            arguments={"rebuild": rebuild},
            started_by=user_of(request),
        )
        return redirect("job", job.code)
    try:
        summary = build_hits(campaign=campaign, rebuild=rebuild, actor=user_of(request))
    except CannotBuildHITs as refusal:
        messages.error(request, str(refusal))
    else:
        hits = "1 HIT" if summary.n_hits == 1 else f"{summary.n_hits:,} HITs"
        messages.success(request, f"Built {hits} of {summary.hit_size} items.")
        for note in summary.notes:
            messages.info(request, note)
    return redirect("campaign_overview", campaign.code)


@require_POST
@for_campaign_admins
def add_round(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Add HITs to a ranking, in a job."""
    job = start_job(kind="add_round", campaign=campaign, started_by=user_of(request))
    return redirect("job", job.code)


@require_http_methods(["GET", "POST"])
@for_campaign_admins
def settings(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    editable = editable_fields(campaign)
    # A separate instance, because even an invalid form changes it, and the page shows stored values.
    instance = Campaign.objects.get(pk=campaign.pk)
    form = EditForm(request.POST or None, instance=instance, editable=editable)
    if form.is_valid():
        changes = {name: form.cleaned_data[name] for name in editable if name in form.fields}
        try:
            changed = edit_campaign(campaign=campaign, actor=user_of(request), changes=changes)
        except EditRefused as refusal:
            messages.error(request, str(refusal))
        else:
            messages.success(request, "Saved." if changed else "Nothing was changed.")
        return redirect("campaign_settings", campaign.code)
    statuses = [] if campaign.is_archive else STATUS_CHANGES[Campaign.Status(campaign.status)]
    context = {
        "campaign": campaign,
        "form": form,
        "copy_form": NameForm(initial={"name": f"{campaign.name} (copy)"[:100]}, auto_id="copy_%s"),
        "can_close": Campaign.Status.CLOSED in statuses,
        "organiser": organiser_of(campaign),
        "can_open": Campaign.Status.OPEN in statuses and campaign.hits.exists(),
    }
    return render(request, "hits/campaign_settings.html", context)


@require_http_methods(["GET", "POST"])
@for_campaign_admins
def instructions(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Edit the instructions; the button `preview` shows them without saving."""
    form = InstructionsForm(
        request.POST if request.method == "POST" else None,
        initial={"instructions": campaign.instructions},
    )
    text = campaign.instructions
    if form.is_valid():
        text = form.cleaned_data["instructions"]
        if "preview" not in request.POST:
            edit_campaign(campaign=campaign, actor=user_of(request), changes={"instructions": text})
            messages.success(request, "Instructions saved.")
            return redirect("campaign_instructions", campaign.code)
    context = {"campaign": campaign, "form": form, "text": text}
    return render(request, "hits/campaign_instructions.html", context)


@require_POST
@for_campaign_admins
def duplicate(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    form = NameForm(request.POST)
    if not form.is_valid():
        messages.error(request, f"The campaign was not copied. Name: {form.errors['name'][0]}")
        return redirect("campaign_settings", campaign.code)
    try:
        copy = duplicate_campaign(
            campaign=campaign, name=form.cleaned_data["name"], actor=user_of(request)
        )
    except EditRefused as refusal:
        messages.error(request, str(refusal))
        return redirect("campaign_settings", campaign.code)
    messages.success(request, f"This is a copy of {campaign.name} with a new seed.")
    return redirect("campaign_overview", copy.code)


@require_GET
@for_campaign_admins
def cost(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Estimate the total cost for the given numbers, next to what has been spent."""
    forecast = forecast_of(campaign)
    form = CostForm(request.GET)
    form.is_valid()
    chosen = usual_numbers(campaign, forecast) | form.cleaned_data
    context = {
        "campaign": campaign,
        "forecast": forecast,
        "form": form if request.GET else None,
        "fields": form.fields,
        "chosen": chosen,
        "cost": estimate(campaign, forecast, **chosen),
    }
    return render(request, "hits/campaign_cost.html", context)
