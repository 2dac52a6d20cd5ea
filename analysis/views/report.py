"""A campaign's report, as a page and as PDF."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET

from da_platform.extras import ExtraMissing
from hits.models import Campaign
from hits.people.access import for_campaign_researchers

from ..downloads import report_file
from ..gold.report import make_report
from ..gold.results import run_of
from ..models import GoldRun


@require_GET
@for_campaign_researchers
def report(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    run = _run(request, campaign)
    if run is None:
        return redirect("campaign_results", campaign.code)
    context = {"campaign": campaign, "run": run, "report": make_report(run)}
    return render(request, "analysis/report.html", context)


@require_GET
@for_campaign_researchers
def report_pdf(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    run = _run(request, campaign)
    if run is None:
        raise Http404("This campaign has no gold yet.")
    try:
        return report_file(run)
    except ExtraMissing as error:
        messages.error(request, str(error))
        return redirect("campaign_report", campaign.code)


def _run(request: HttpRequest, campaign: Campaign) -> GoldRun | None:
    run = run_of(campaign, request.GET.get("run"))
    if run is None and request.GET.get("run"):
        raise Http404("Gold run not found.")
    return run
