"""Numbers of large campaigns are kept, not counted by whoever looks at them.

A campaign of ten million ratings has a hundred thousand assignments, and counting those takes seconds. The chores
count them every minute while somebody looks, and four times an hour otherwise. Small campaigns are counted on the spot:
their pages are never behind.
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

# So many assignments wanted make a campaign large.
LARGE = 5_000
# Somebody who looked so lately may be looking still.
LOOKING = timedelta(minutes=10)
# What the chores count again while somebody looks, and while nobody does.
STALE, OLD = timedelta(seconds=45), timedelta(minutes=15)
# Beyond this nobody seems to do the chores: whoever looks counts.
TOO_OLD = timedelta(minutes=3)
# The rest waits for the next minute.
MOST_AT_ONCE = 20


@dataclass(frozen=True)
class Overview:
    """What a dashboard shows of a campaign; `forecast.at` is when it was counted."""

    progress: Progress
    forecast: Forecast
    submissions: list[int]


def overview_of(campaign: Campaign, *, at: datetime | None = None) -> Overview:
    """What was kept of a large campaign if that is recent, and what is counted now if not."""
    now = at or timezone.now()
    return _kept(campaign, now) or _count(campaign, now)


def forecast_of(campaign: Campaign, *, at: datetime | None = None) -> Forecast:
    """The forecast alone, which takes fewer questions."""
    now = at or timezone.now()
    kept = _kept(campaign, now)
    return kept.forecast if kept else forecast(campaign, at=now)


def _kept(campaign: Campaign, now: datetime) -> Overview | None:
    """What is kept of the campaign, counted anew if it is too old; None for a small one."""
    kept = KeptCounts.objects.filter(campaign=campaign).first()
    if kept is None:
        return None
    if kept.asked_at is None or kept.asked_at < now - LOOKING / 2:
        KeptCounts.objects.filter(pk=kept.pk).update(asked_at=now)
    if kept.counted_at < now - TOO_OLD:
        return _keep(campaign, now)
    return _adapter().validate_python(kept.overview)


def keep_counts(*, at: datetime | None = None) -> int:
    """Count the large campaigns whose numbers are missing or behind. Return how many those were."""
    now = at or timezone.now()
    due = [*_newly_large()[:MOST_AT_ONCE], *_behind(now)[:MOST_AT_ONCE]][:MOST_AT_ONCE]
    for campaign in due:
        _keep(campaign, now)
    return len(due)


def _newly_large() -> QuerySet[Campaign]:
    small = Campaign.objects.filter(kept_counts=None)
    wanted = Count("hits") * F("min_ratings")
    return small.annotate(n_wanted=wanted).filter(n_wanted__gte=LARGE).order_by("pk")


def _behind(now: datetime) -> QuerySet[Campaign]:
    is_watched = Q(kept_counts__asked_at__gt=now - LOOKING, kept_counts__counted_at__lt=now - STALE)
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
    # Loaded where it is needed: most processes never are asked.
    from pydantic import TypeAdapter

    return TypeAdapter(Overview)
