"""A campaign's report, to read, print and keep."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET

from hits.access import for_campaign_researchers
from hits.models import Campaign

from ..downloads import report_file
from ..models import GoldRun
from ..report import make_report
from ..results import run_of


@require_GET
@for_campaign_researchers
def report(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    run = _run(request, campaign)
    if run is None:
        return redirect("campaign_results", campaign.code)
    made = make_report(run)
    context = {"campaign": campaign, "run": run, "report": made}
    return render(request, "analysis/report.html", context)


@require_GET
@for_campaign_researchers
def report_pdf(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    run = _run(request, campaign)
    if run is None:
        raise Http404("There is no gold yet.")
    return report_file(run)


def _run(request: HttpRequest, campaign: Campaign) -> GoldRun | None:
    run = run_of(campaign, request.GET.get("run"))
    if run is None and request.GET.get("run"):
        raise Http404("There is no such run.")
    return run
