"""Store the counts of large campaigns, so that pages need not count them.

A campaign of ten million ratings has a hundred thousand assignments, and counting those takes seconds. The chores
count them every minute while somebody is watching, and four times an hour otherwise. Small campaigns are counted on
each request, so their pages are always up to date.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING

from django.db.models import Count, F, Q, QuerySet
from django.utils import timezone

from ..models import Campaign, KeptCounts
from ..rating.places import Forecast, forecast, work_by_hit
from .events import latest_submissions
from .progress import Progress, progress_of
from .statuses import count_rows

if TYPE_CHECKING:
    from pydantic import TypeAdapter

# A campaign that needs this many assignments is large.
LARGE = 5_000
# For how long after a request somebody may still be watching.
WATCHING = timedelta(minutes=10)
# The age at which the chores count again, with and without somebody watching.
STALE, OLD = timedelta(seconds=45), timedelta(minutes=15)
# At this age the chores do not seem to run, so the request counts.
TOO_OLD = timedelta(minutes=3)
# Campaigns that the chores count per run.
MOST_AT_ONCE = 20


@dataclass(frozen=True)
class Overview:
    """What a campaign's dashboard shows; `forecast.at` is when it was counted."""

    progress: Progress
    forecast: Forecast
    submissions: list[int]


def overview_of(campaign: Campaign, *, at: datetime | None = None) -> Overview:
    """Return the stored counts of a large campaign, or count a small one."""
    now = at or timezone.now()
    return _stored(campaign, now) or _count(campaign, now)


def forecast_of(campaign: Campaign, *, at: datetime | None = None) -> Forecast:
    """Return only the forecast, which takes fewer queries."""
    now = at or timezone.now()
    stored = _stored(campaign, now)
    return stored.forecast if stored else forecast(campaign, at=now)


def _stored(campaign: Campaign, now: datetime) -> Overview | None:
    """Return the stored counts, refreshed if they are too old; None for a small campaign."""
    counts = KeptCounts.objects.filter(campaign=campaign).first()
    if counts is None:
        return None
    if counts.asked_at is None or counts.asked_at < now - WATCHING / 2:
        KeptCounts.objects.filter(pk=counts.pk).update(asked_at=now)
    if counts.counted_at < now - TOO_OLD:
        return _keep(campaign, now)
    return _adapter().validate_python(counts.overview)


def keep_counts(*, at: datetime | None = None) -> int:
    """Count the large campaigns whose counts are missing or old; return how many there were."""
    now = at or timezone.now()
    due = [*_newly_large()[:MOST_AT_ONCE], *_behind(now)[:MOST_AT_ONCE]][:MOST_AT_ONCE]
    for campaign in due:
        _keep(campaign, now)
    return len(due)


def _newly_large() -> QuerySet[Campaign]:
    uncounted = Campaign.objects.filter(kept_counts=None)
    n_wanted = Count("hits") * F("min_ratings")
    return uncounted.annotate(n_wanted=n_wanted).filter(n_wanted__gte=LARGE).order_by("pk")


def _behind(now: datetime) -> QuerySet[Campaign]:
    is_watched = Q(
        kept_counts__asked_at__gt=now - WATCHING, kept_counts__counted_at__lt=now - STALE
    )
    is_old = Q(kept_counts__counted_at__lt=now - OLD)
    return Campaign.objects.filter(is_watched | is_old).order_by("kept_counts__counted_at")


def _count(campaign: Campaign, now: datetime) -> Overview:
    by_hit = work_by_hit(campaign, campaign.hits.all(), now)
    return Overview(
        progress=progress_of(campaign, at=now, by_hit=by_hit),
        forecast=forecast(campaign, at=now, by_hit=by_hit),
        submissions=latest_submissions(campaign),
    )


def _keep(campaign: Campaign, now: datetime) -> Overview:
    overview = _count(campaign, now)
    facts = {
        "counted_at": now,
        "status": count_rows([campaign.pk])[campaign.pk],
        "overview": _adapter().dump_python(overview, mode="json"),
    }
    KeptCounts.objects.update_or_create(campaign=campaign, defaults=facts)
    return overview


@cache
def _adapter() -> "TypeAdapter[Overview]":
    # Imported here because most processes never need it.
    from pydantic import TypeAdapter

    return TypeAdapter(Overview)
