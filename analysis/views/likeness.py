"""Pages about how closely workers follow the scores of a model."""

from typing import TYPE_CHECKING
from uuid import UUID

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET

from da_platform.plots.responses import picture_file
from hits.models import Campaign
from hits.people.access import for_campaign_admins

from ..models import Metric
from ..workers.likeness import MetricLikeness, likeness_of

if TYPE_CHECKING:
    from da_platform.plots.rendering import Picture

WORKERS_PER_PAGE = 50
PICTURE_FORMATS = ("svg", "png", "pdf", "csv")


@require_GET
@for_campaign_admins
def worker_likeness(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Show every metric's spread among trusted workers, and all workers for one metric."""
    found = likeness_of(campaign)
    shown = _chosen(found, request.GET.get("metric", ""))
    rows = shown.rows if shown else []
    context = {
        "campaign": campaign,
        "found": found,
        "shown": shown,
        "picture": _picture(shown) if shown else None,
        "formats": PICTURE_FORMATS,
        "page": Paginator(rows, WORKERS_PER_PAGE).get_page(request.GET.get("page")),
    }
    return render(request, "analysis/worker_likeness.html", context)


def _chosen(found: list[MetricLikeness], code: str) -> MetricLikeness | None:
    """The metric with this code, or else the one that some worker follows most closely."""
    for likeness in found:
        if str(likeness.metric.code) == code:
            return likeness

    def closest(likeness: MetricLikeness) -> float:
        top = likeness.rows[0].r if likeness.rows else None
        return -2.0 if top is None else top

    return max(found, key=closest, default=None)


@require_GET
@for_campaign_admins
def likeness_picture(
    request: HttpRequest, campaign: Campaign, metric: UUID, fmt: str
) -> HttpResponse:
    """The picture of one metric as SVG, PNG or PDF, or its data as CSV."""
    metrics = campaign.metrics.at_level(Metric.Level.SEGMENT)
    [likeness] = likeness_of(campaign, [get_object_or_404(metrics, code=metric)])
    return picture_file(_picture(likeness), fmt, use=request.GET.get("for", ""))


def _picture(likeness: MetricLikeness) -> "Picture":
    # Imported here because it loads Matplotlib, which most requests do not need.
    from ..workers.pictures import likeness_histogram

    return likeness_histogram(likeness)
