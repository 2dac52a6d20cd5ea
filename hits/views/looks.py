"""The page of a campaign that stops when its ranking is decided."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from da_platform.jobs.models import Job
from da_platform.jobs.running import start_job

from ..campaigns.looks import JOB, waiting_for
from ..models import Campaign
from ..people.access import (
    Level,
    for_campaign_admins,
    for_campaign_researchers,
    has_level,
    user_of,
)


@require_GET
@for_campaign_researchers
def looks(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Show the rule, the looks so far, and what is known about every pair of systems."""
    taken = list(campaign.looks.concluded().order_by("number"))
    context = {
        "campaign": campaign,
        "looks": taken,
        "latest": taken[-1] if taken else None,
        "waiting": waiting_for(campaign) if campaign.n_looks and not campaign.stopped_at else None,
        "runs_it": has_level(request.user, Level.ADMIN, campaign),
        "job": Job.objects.unfinished().filter(kind=JOB, campaign=campaign).first(),
    }
    return render(request, "hits/looks.html", context)


@require_POST
@for_campaign_admins
def take_look(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Look now, in a job; it is refused there if no look is due."""
    job = start_job(kind=JOB, campaign=campaign, started_by=user_of(request))
    return redirect("job", job.code)
