"""The latest ranking of a campaign, which is kept as the result of its job."""

from da_platform.jobs.models import Job
from hits.models import Campaign
from hits.people.access import Visitor, campaigns_of

from ..gold.ranking import rank_systems
from ..models import GoldRun
from .results import Facts


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
    runs = GoldRun.objects.filter(
        campaign__in=campaigns_of(visitor).filter(
            source_language=campaign.source_language, target_language=campaign.target_language
        ),
        n_scored__gt=0,
    ).exclude(campaign=campaign)
    for run in runs.order_by("-pk")[:5]:
        scored = {row["system"]: row for row in rank_systems(run).rows}
        if len(scored.keys() & set(names)) > 1:
            rows = [(row, scored.get(row["system"])) for row in facts["systems"]]
            return {"run": run, "rows": rows}
    return None
