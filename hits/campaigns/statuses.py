"""The status of campaigns, in a fixed number of queries."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Count, F, Max, Q, QuerySet, Sum

from ..models import (
    HIT,
    Assignment,
    Campaign,
    KeptCounts,
    Rating,
    Segment,
    System,
    Translation,
)
from ..rating.places import with_standing
from ..task_facts import facts_of


@dataclass(frozen=True, slots=True)
class CampaignStatus:
    code: UUID
    name: str
    status: str
    source_language: str
    target_language: str
    task: str
    seed: int
    n_systems: int
    n_segments: int
    n_translations: int
    n_hits: int
    hit_size: int | None
    n_places_left: int
    n_in_progress: int
    n_expired: int
    n_returned: int
    n_submitted: int
    n_workers: int
    n_ratings: int
    # Trusted assignments, without those beyond what their HIT wants, and how many all HITs want.
    n_counting: int
    n_wanted: int
    # None if the campaign was counted just now.
    counted_at: datetime | None = None

    @property
    def share_done(self) -> float:
        return self.n_counting / self.n_wanted if self.n_wanted else 0.0

    @property
    def status_label(self) -> str:
        return str(Campaign.Status(self.status).label)

    @property
    def task_label(self) -> str:
        return facts_of(self.task).label

    @property
    def is_public(self) -> bool:
        return self.status != Campaign.Status.DRAFT


def campaign_status(campaign: Campaign) -> CampaignStatus:
    """Count a campaign now, even if it is large and takes long."""
    return _status(campaign, count_rows([campaign.pk])[campaign.pk])


def campaign_statuses(campaigns: Iterable[Campaign]) -> list[CampaignStatus]:
    """Return the status of each campaign; large ones have their stored counts."""
    campaigns = list(campaigns)
    stored = KeptCounts.objects.filter(campaign__in=campaigns).defer("overview")
    counts = {row.pk: row.status | {"counted_at": row.counted_at} for row in stored}
    counts |= count_rows([campaign.pk for campaign in campaigns if campaign.pk not in counts])
    return [_status(campaign, counts[campaign.pk]) for campaign in campaigns]


def count_rows(pks: list[int]) -> dict[int, dict[str, Any]]:
    """Count the rows of campaigns, in a fixed number of queries."""
    counts: dict[int, dict[str, Any]] = {pk: {} for pk in pks}
    for rows in _counting_queries(pks):
        for row in rows:
            counts[row.pop("of")].update(row)
    for row in _trusted_per_hit(pks):
        facts = counts[row["of"]]
        facts["n_counting"] = facts.get("n_counting", 0) + min(row["n"], row["min_ratings"])
    return counts


def _trusted_per_hit(pks: list[int]) -> QuerySet[Any, dict[str, Any]]:
    """Count each HIT's trusted assignments, by the rule of `expected_outcome`."""
    submitted = Assignment.objects.submitted().filter(hit__campaign__in=pks)
    trusted = with_standing(submitted.exclude(hold__in=Assignment.NOT_COUNTED)).filter(
        is_trusted=True, is_discarded=False
    )
    rows = trusted.order_by().values(
        "hit", of=F("hit__campaign"), min_ratings=F("hit__campaign__min_ratings")
    )
    return rows.annotate(n=Count("pk"))


def _counting_queries(pks: list[int]) -> list[QuerySet[Any, dict[str, Any]]]:
    hits = HIT.objects.filter(campaign__in=pks)
    assignments = Assignment.objects.filter(hit__campaign__in=pks)
    is_whole = Q(status=Assignment.Status.SUBMITTED, hit__is_archived=False)
    partial = Rating.objects.filter(assignment__hit__campaign__in=pks).exclude(
        assignment__status=Assignment.Status.SUBMITTED, assignment__hit__is_archived=False
    )
    by_status = {
        f"n_{status.value}": Count("pk", filter=Q(status=status)) for status in Assignment.Status
    }
    return [
        _per_campaign(System.objects.filter(campaign__in=pks), "campaign", n_systems=Count("pk")),
        _per_campaign(Segment.objects.filter(campaign__in=pks), "campaign", n_segments=Count("pk")),
        _per_campaign(
            Translation.objects.filter(segment__campaign__in=pks),
            "segment__campaign",
            n_translations=Count("pk"),
        ),
        _per_campaign(
            hits,
            "campaign",
            n_hits=Count("pk"),
            hit_size=Max("size"),
            n_places_left=Sum("places_left"),
        ),
        _per_campaign(
            assignments,
            "hit__campaign",
            n_workers=Count("worker", distinct=True),
            # A submitted assignment has a rating for every item: no need to count millions.
            n_whole_ratings=Sum("hit__size", filter=is_whole),
            **by_status,
        ),
        _per_campaign(partial, "assignment__hit__campaign", n_partial_ratings=Count("item")),
    ]


def _per_campaign(
    rows: QuerySet[Any], path: str, **aggregates: Any
) -> QuerySet[Any, dict[str, Any]]:
    return rows.order_by().values(of=F(path)).annotate(**aggregates)


def _status(campaign: Campaign, counts: dict[str, Any]) -> CampaignStatus:
    n_ratings = (counts.pop("n_whole_ratings", 0) or 0) + counts.pop("n_partial_ratings", 0)
    zeros = {name: 0 for name in CampaignStatus.__dataclass_fields__ if name.startswith("n_")}
    return CampaignStatus(
        code=campaign.code,
        name=campaign.name,
        status=campaign.status,
        source_language=campaign.source_language,
        target_language=campaign.target_language,
        task=campaign.task,
        seed=campaign.seed,
        **zeros
        | {"hit_size": None}
        | counts
        | {
            "n_ratings": n_ratings,
            "n_wanted": (counts.get("n_hits") or 0) * campaign.min_ratings,
        },
    )
