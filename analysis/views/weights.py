"""The page about what each worker's ratings are worth in weighted gold."""

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from hits.models import Campaign
from hits.people.access import for_campaign_admins

from ..gold.results import run_of
from ..gold.weights import newest_weighted, weights_of

WORKERS_PER_PAGE = 50


@require_GET
@for_campaign_admins
def worker_weights(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Show the weights of a run, by default the newest one that has any."""
    number = request.GET.get("run")
    run = run_of(campaign, number) if number else newest_weighted(campaign)
    context = {
        "campaign": campaign,
        "run": run,
        "page": Paginator(weights_of(run), WORKERS_PER_PAGE).get_page(request.GET.get("page")),
    }
    return render(request, "analysis/worker_weights.html", context)
