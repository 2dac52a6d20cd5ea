"""What workers reported about texts."""

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from ..models import Campaign, TextReport
from ..people.access import for_campaign_admins
from ..rating.reports import MOST_EXCUSED, skipped_screens

REPORTS_PER_PAGE = 50
# Of the screens that were skipped, the latest.
MOST_SKIPPED = 100


@require_GET
@for_campaign_admins
def text_reports(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """The reports, most often reported texts first."""
    reports = TextReport.objects.of(campaign)
    page = Paginator(reports, REPORTS_PER_PAGE).get_page(request.GET.get("page"))
    rows = [(report, campaign.gray_text(report.item.translation.segment)) for report in page]
    context = {
        "campaign": campaign,
        "page": page,
        "rows": rows,
        "most_excused": MOST_EXCUSED,
        "skipped": skipped_screens(campaign)[:MOST_SKIPPED],
        "n_skipped": skipped_screens(campaign).count(),
    }
    return render(request, "hits/text_reports.html", context)
