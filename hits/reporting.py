"""Where a campaign stands, in a fixed number of queries."""

from dataclasses import dataclass

from django.db.models import Count, Q, Sum

from .models import Assignment, Campaign, Rating, Translation


@dataclass(frozen=True, slots=True)
class CampaignStatus:
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

    @property
    def n_places(self) -> int:
        """Places there are in all: still free, taken, and done."""
        return self.n_places_left + self.n_in_progress + self.n_submitted

    @property
    def share_submitted(self) -> float:
        return self.n_submitted / self.n_places if self.n_places else 0.0


def campaign_status(campaign: Campaign) -> CampaignStatus:
    hits = campaign.hits.aggregate(n=Count("pk"), places=Sum("places_left"))
    first_hit = campaign.hits.order_by("number").first()
    assignments = Assignment.objects.filter(hit__campaign=campaign)
    states = assignments.aggregate(
        n_workers=Count("worker", distinct=True),
        **{
            f"n_{status.value}": Count("pk", filter=Q(status=status))
            for status in Assignment.Status
        },
    )
    return CampaignStatus(
        name=campaign.name,
        status=campaign.status,
        source_language=campaign.source_language,
        target_language=campaign.target_language,
        task=campaign.task,
        seed=campaign.seed,
        n_systems=campaign.systems.count(),
        n_segments=campaign.segments.count(),
        n_translations=Translation.objects.filter(segment__campaign=campaign).count(),
        n_hits=hits["n"],
        hit_size=first_hit.size if first_hit else None,
        n_places_left=hits["places"] or 0,
        n_ratings=Rating.objects.filter(assignment__hit__campaign=campaign).count(),
        **states,
    )
