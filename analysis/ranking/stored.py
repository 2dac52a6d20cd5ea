"""The latest ranking of a campaign, which is kept as the result of its job."""

from django.db.models import Count, Q

from da_platform.jobs.models import Job
from hits.models import Campaign
from hits.people.access import Visitor, campaigns_of

from ..gold.ranking import rank_systems
from ..models import GoldRun
from .results import Facts

# A job with more would take hours.
MOST_RUNS = 10_000


def latest_ranking(campaign: Campaign) -> Facts | None:
    """Return the facts of the latest ranking; None if there is none."""
    done = Job.objects.filter(campaign=campaign, kind="rank_judgements", state=Job.State.DONE)
    job = done.order_by("-pk").first()
    return job.result if job else None


def by_direct_assessment(campaign: Campaign, facts: Facts, visitor: Visitor) -> Facts | None:
    """Return the scores of the same systems by the newest gold of another campaign with these languages.

    None if the visitor may see no such campaign with at least two of the systems.
    """
    names = [row["system"] for row in facts["systems"]]
    others = (
        campaigns_of(visitor)
        .exclude(pk=campaign.pk)
        .filter(source_language=campaign.source_language, target_language=campaign.target_language)
        .annotate(n_shared=Count("systems", filter=Q(systems__name__in=names), distinct=True))
        .filter(n_shared__gt=1)
    )
    run = (
        GoldRun.objects.filter(campaign__in=others.values("pk"), n_scored__gt=0)
        .order_by("-pk")
        .first()
    )
    if run is None:
        return None
    scored = {row["system"]: row for row in rank_systems(run).rows}
    return {"run": run, "rows": [(row, scored.get(row["system"])) for row in facts["systems"]]}
