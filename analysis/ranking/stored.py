"""The latest ranking of a campaign, which is kept as the result of its job."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from da_platform.jobs.models import Job
from da_platform.numbers import known
from hits.models import Campaign

from ..gold.ranking import rank_systems
from ..models import GoldRun
from ..stats.correlation import Method, correlate
from .results import Facts

# How the scores of systems are compared with those of direct assessment.
METHODS: dict[str, Method] = {
    "pearson": "pearson",
    "spearman": "spearman",
    "kendall": "kendall_b",
}
# A job with more would take hours.
MOST_RUNS = 10_000
MOST_SEED = 2**31 - 1


def latest_ranking(campaign: Campaign) -> Facts | None:
    """Return the facts of the latest ranking; None if there is none."""
    done = Job.objects.filter(campaign=campaign, kind="rank_judgements", state=Job.State.DONE)
    job = done.order_by("-pk").first()
    return job.result if job else None


def keep_ranking(campaign: Campaign, facts: Facts, arguments: dict[str, Any]) -> Job:
    """Store a ranking made by a command, as if a job had made it."""
    now = timezone.now()
    return Job.objects.create(
        kind="rank_judgements",
        campaign=campaign,
        arguments=arguments,
        state=Job.State.DONE,
        created_at=now,
        started_at=now,
        finished_at=now,
        attempt=1,
        result=facts,
    )


def golds_next_to(campaign: Campaign, facts: Facts, campaigns: QuerySet[Campaign]) -> list[GoldRun]:
    """Return the newest gold of each of these campaigns that has these languages and two of the systems.

    Campaigns that share more of the systems come first, then newer gold.
    """
    names = [row["system"] for row in facts["systems"]]
    shared = (
        campaigns.exclude(pk=campaign.pk)
        .filter(source_language=campaign.source_language, target_language=campaign.target_language)
        .annotate(n_shared=Count("systems", filter=Q(systems__name__in=names), distinct=True))
        .filter(n_shared__gt=1)
    )
    n_shared = dict(shared.values_list("pk", "n_shared"))
    runs = GoldRun.objects.filter(campaign__in=list(n_shared), n_scored__gt=0)
    newest: dict[int, GoldRun] = {}
    for run in runs.select_related("campaign").order_by("-pk"):
        newest.setdefault(run.campaign_id, run)
    return sorted(newest.values(), key=lambda run: (-n_shared[run.campaign_id], -run.pk))


def gold_of(golds: Sequence[GoldRun], code: object) -> GoldRun | None:
    """Return the gold of the campaign with this code, or without a code the first; None if there is none."""
    if not code:
        return golds[0] if golds else None
    return next((run for run in golds if str(run.campaign.code) == str(code)), None)


def with_direct_assessment(facts: Facts, run: GoldRun | None) -> Facts:
    """Return a ranking with the scores of the same systems in this gold."""
    if run is None:
        return facts
    ranking = rank_systems(run)
    scored = {row["system"]: row for row in ranking.rows if row["z"] is not None}
    rows = [
        {name: row[name] for name in ("system", "score", "best", "worst", "cluster")}
        | {
            "z": scored[row["system"]]["z"] if row["system"] in scored else None,
            "z_cluster": scored[row["system"]]["cluster"] if row["system"] in scored else None,
        }
        for row in facts["systems"]
    ]
    both = np.array([(row["score"], row["z"]) for row in rows if row["z"] is not None])
    return facts | {
        "direct_assessment": {
            "campaign": run.campaign.name,
            "code": str(run.campaign.code),
            "run": run.number,
            "n": len(both),
            **{
                name: known(correlate(*both.T, method=method).estimate) if len(both) > 1 else None
                for name, method in METHODS.items()
            },
            "rows": rows,
            "signature": ranking.signature,
        }
    }
