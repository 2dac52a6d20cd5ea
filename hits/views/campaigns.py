"""The home page with the list of campaigns, and a campaign's dashboard."""

from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.formats import date_format
from django.views.decorators.http import require_GET

from da_platform.jobs.models import Job
from da_platform.sessions import asked_by_a_script

from ..campaigns import charts
from ..campaigns.costs import usual_estimate
from ..campaigns.demo import EXAMPLES_JOB, TASK_EXAMPLES_JOB
from ..campaigns.events import recent_events
from ..campaigns.first_steps import first_steps, steps_of_campaign
from ..campaigns.kept_counts import overview_of
from ..campaigns.progress import Column, Counts
from ..campaigns.statuses import campaign_statuses
from ..models import Campaign, CampaignDraft
from ..people.access import (
    Level,
    campaigns_of,
    for_anyone,
    for_campaign_researchers,
    has_level,
    is_member,
)
from ..people.job_access import visible_jobs
from ..rating.places import Forecast
from ..recruiting.arrivals import recruitment_of
from .worker_context import organiser_of

CAMPAIGNS_PER_PAGE = 50
HIT_STATES = {
    "complete": "Complete",
    "promised": "All places taken",
    "begun": "Started",
    "untouched": "Not started",
}


@require_GET
@for_anyone
def home(request: HttpRequest) -> HttpResponse:
    """Welcome visitors; show members their campaigns, filtered by name and status."""
    campaigns = campaigns_of(request.user)
    words, status = request.GET.get("q", "").strip(), request.GET.get("status", "")
    if words:
        campaigns = campaigns.filter(name__icontains=words)
    if status in Campaign.Status.values:
        campaigns = campaigns.filter(status=status)
    page = Paginator(campaigns, CAMPAIGNS_PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "page": page,
        "campaigns": campaign_statuses(page.object_list),
        "examples": {campaign.code for campaign in page.object_list if campaign.is_example},
        "words": words,
        "status": status,
        "statuses": Campaign.Status.choices,
        "is_filtered": bool(words or status),
    }
    if not context["is_filtered"] and has_level(request.user, Level.ADMIN):
        context |= {
            "drafts": CampaignDraft.objects.filter(owner=request.user.pk)[:CAMPAIGNS_PER_PAGE],
            "steps": first_steps(request.user),
            "making_examples": Job.objects.unfinished().filter(kind=EXAMPLES_JOB).first(),
            "offers_examples": not Job.objects.filter(kind=TASK_EXAMPLES_JOB)
            .exclude(state__in=[Job.State.FAILED, Job.State.CANCELLED])
            .exists(),
        }
    if not is_member(request.user):
        open_examples = Campaign.objects.examples().filter(status=Campaign.Status.OPEN)
        context["demo"] = open_examples.filter(recruitment__is_open=True).first()
    return render(request, "hits/home.html", context)


@require_GET
@for_campaign_researchers
def campaign_overview(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    context = _dashboard(request, campaign)
    [context["status"]] = campaign_statuses([campaign])
    context["recruitment"] = recruitment_of(campaign)
    context["organiser"] = organiser_of(campaign)
    if campaign.status == Campaign.Status.DRAFT:
        context["steps"] = steps_of_campaign(campaign)
        if context["runs_it"]:
            context["cost_ahead"] = usual_estimate(campaign, context["forecast"])
    if campaign.n_looks:
        context["latest_look"] = campaign.looks.concluded().order_by("-number").first()
    context["jobs"] = visible_jobs(request.user).unfinished().filter(campaign=campaign)
    return render(request, "hits/campaign_overview.html", context)


@require_GET
@asked_by_a_script
@for_campaign_researchers
def campaign_live(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """The part of the dashboard that its script refreshes."""
    return render(request, "hits/_dashboard.html", _dashboard(request, campaign))


def _dashboard(request: HttpRequest, campaign: Campaign) -> dict[str, Any]:
    overview = overview_of(campaign)
    progress, forecast = overview.progress, overview.forecast
    is_admin = has_level(request.user, Level.ADMIN, campaign)
    spent = [("accent", float(forecast.spent))]
    return {
        "campaign": campaign,
        "forecast": forecast,
        # Only admins see money.
        "runs_it": is_admin,
        "spending": charts.stacked(spent, float(forecast.spending_cap or 0)),
        "progress": progress,
        "counts": progress.counts,
        "bar": _bar(progress.counts, forecast),
        "n_missing_ratings": forecast.n_missing * progress.n_genuine,
        "pace": _pace_chart(progress.pace),
        "coverage": _coverage_chart(progress.counts),
        "worker_states": progress.worker_states.items(),
        "hit_states": [(HIT_STATES[state], n) for state, n in progress.counts.hit_states.items()],
        # Researchers see events, but not which worker they concern.
        "events": recent_events(campaign, overview.submissions, names_workers=is_admin),
    }


def _bar(counts: Counts, forecast: Forecast) -> list[charts.Part]:
    n_promised = counts.n_wanted - counts.n_counting - forecast.n_missing
    parts = [("good", counts.n_counting), ("wait", n_promised)]
    return charts.stacked(parts, counts.n_wanted)


def _pace_chart(pace: list[Column]) -> charts.ColumnChart | None:
    if not pace:
        return None
    values = [(_moment(column.start), column.n) for column in pace]
    return charts.columns(values, labels=(_moment(pace[0].start), "now"))


def _moment(at: Any) -> str:
    return date_format(at, "j M H:i" if at.hour or at.minute else "j M Y")


def _coverage_chart(counts: Counts) -> charts.ColumnChart | None:
    """Chart HITs by their number of trusted ratings, up to the number wanted."""
    if not counts.n_hits:
        return None
    n_wanted = counts.min_ratings
    heights = [0] * (n_wanted + 1)
    for n, hits in counts.hits_by_trusted.items():
        heights[min(n, n_wanted)] += hits
    values = [(f"{n} of {n_wanted} ratings", hits) for n, hits in enumerate(heights)]
    kinds = [*["wait"] * n_wanted, "good"]
    return charts.columns(values, labels=("0", f"{n_wanted} or more"), kinds=kinds)
