"""The kinds of jobs that hits can run, each a thin wrapper around a service."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from da_platform.jobs.kinds import job_kind
from da_platform.jobs.models import Job
from da_platform.jobs.reports import Report
from hits.rating.assignments import release_expired

from . import job_outcomes as outcomes
from .archives import Judgement, import_collection
from .campaigns.building import build_hits
from .campaigns.importing import import_campaign
from .campaigns.importing.mending import mended_import
from .models import ApiToken, Assignment, Campaign, PaymentRun
from .payments.sending import pay_run
from .people.audit import record
from .recruiting.arrivals import recruitment_of, sync_submissions
from .recruiting.studies import raise_places
from .workers.recomputing import recompute_workers
from .workers.trust import try_to_weigh


@job_kind("weigh_evidence", title="Compute missing evidence", outcome=outcomes.evidence_weighed)
def weigh_evidence_job(job: Job, report: Report) -> dict[str, Any]:
    """Compute missing evidence for submitted assignments, in one campaign or in all."""
    pending = Assignment.objects.submitted().filter(evidence_at=None)
    if job.campaign:
        pending = pending.filter(hit__campaign=job.campaign)
    pks = list(pending.order_by("pk").values_list("pk", flat=True))
    n_weighed = 0
    for n_done, pk in enumerate(pks):
        report.progress(n_done, len(pks))
        assignment = Assignment.objects.select_related("hit__campaign").get(pk=pk)
        n_weighed += try_to_weigh(assignment)
    report.progress(len(pks), len(pks))
    return {"n_weighed": n_weighed, "n_failed": len(pks) - n_weighed}


@job_kind(
    "recompute_workers",
    title="Recompute all workers",
    outcome=outcomes.workers_recomputed,
    needs_campaign=True,
    scope=ApiToken.Scope.DECIDE,
)
def recompute_workers_job(job: Job, report: Report) -> dict[str, Any]:
    """Recompute the evidence and trust of all workers in a campaign from their ratings."""
    assert job.campaign is not None
    summary = recompute_workers(campaign=job.campaign, progress=report.progress)
    return asdict(summary)


@job_kind("release_expired", title="Release expired assignments", outcome=outcomes.expired_released)
def release_expired_job(job: Job, report: Report) -> dict[str, Any]:
    return {"n_released": release_expired()}


@job_kind(
    "sync_submissions",
    title="Fetch submissions from the provider",
    outcome=outcomes.submissions_synced,
    needs_campaign=True,
)
def sync_submissions_job(job: Job, report: Report) -> dict[str, Any]:
    """Fetch the state of the campaign's submissions from its provider."""
    assert job.campaign is not None
    return {"n_changed": sync_submissions(recruitment=recruitment_of(job.campaign))}


@job_kind(
    "raise_places",
    title="Raise the places of the study",
    outcome=outcomes.places_raised,
    needs_campaign=True,
)
def raise_places_job(job: Job, report: Report) -> dict[str, Any]:
    """Raise the number of places at Prolific to what the campaign now needs."""
    assert job.campaign is not None
    return {"n_places": raise_places(recruitment=recruitment_of(job.campaign))}


@job_kind("build_hits", title="Build HITs", outcome=outcomes.hits_built, needs_campaign=True)
def build_hits_job(job: Job, report: Report) -> dict[str, Any]:
    assert job.campaign is not None
    rebuild = bool(job.arguments.get("rebuild", False))
    if job.was_cut_off and not rebuild and job.campaign.hits.exists():
        # An earlier attempt stored all HITs and was interrupted before it could finish.
        return {"n_hits": job.campaign.hits.count()}
    summary = build_hits(
        campaign=job.campaign, rebuild=rebuild, actor=job.started_by, progress=report.advance
    )
    for note in summary.notes:
        report.log(note)
    return asdict(summary)


@job_kind(
    "add_round", title="Add HITs to a ranking", outcome=outcomes.round_added, needs_campaign=True
)
def add_round_job(job: Job, report: Report) -> dict[str, Any]:
    """Add HITs for pairs of systems that lack judgements. Optional argument: `n_hits`, at most so many."""
    from .ranking.rounds import add_round

    assert job.campaign is not None
    summary = add_round(
        campaign=job.campaign,
        n_hits=job.arguments.get("n_hits"),
        actor=job.started_by,
        progress=report.advance,
    )
    return asdict(summary)


@job_kind(
    "import_campaign",
    title="Import a campaign",
    outcome=outcomes.campaign_imported,
    mend=mended_import,
)
def import_campaign_job(job: Job, report: Report) -> dict[str, Any]:
    """Import a campaign from local files; the arguments are those of `import_campaign`."""
    name = job.arguments["name"]
    stored = Campaign.objects.filter(name=name, created_at__gte=job.created_at).first()
    if job.was_cut_off and stored:
        # An earlier attempt finished the import, which is stored completely or not at all.
        return {"campaign": str(stored.code), "name": name}
    arguments = job.arguments | {"path": Path(job.arguments["path"])}
    summary = import_campaign(progress=report.advance, **arguments)
    record("campaign created", actor=job.started_by, campaign=summary.campaign)
    for note in summary.notes:
        report.log(note)
    counts = {key: getattr(summary, key) for key in ("n_systems", "n_segments", "n_outputs")}
    return {"campaign": str(summary.campaign.code), "name": name} | counts


@job_kind(
    "import_collection", title="Import a finished collection", outcome=outcomes.campaign_imported
)
def import_collection_job(job: Job, report: Report) -> dict[str, Any]:
    """Import a collection from local files; the arguments are those of `import_collection`."""
    name = job.arguments["name"]
    stored = Campaign.objects.filter(name=name, created_at__gte=job.created_at).first()
    if job.was_cut_off and stored:
        return {"campaign": str(stored.code), "name": name}
    paths = [Path(path) for path in job.arguments["paths"]]
    judged = dict(job.arguments.get("judgement", {}))
    if judged.get("trusted"):
        judged["trusted"] = Path(judged["trusted"])
    judgement = Judgement(**judged)
    arguments = job.arguments | {"paths": paths, "judgement": judgement}
    summary = import_collection(progress=report.advance, actor=job.started_by, **arguments)
    for note in summary.notes:
        report.log(note)
    return {"campaign": str(summary.campaign.code), "name": name}


@job_kind(
    "pay",
    title="Send payments",
    outcome=outcomes.payments_sent,
    needs_campaign=True,
    scope=ApiToken.Scope.PAY,
    is_confidential=True,
)
def pay_job(job: Job, report: Report) -> dict[str, Any]:
    """Send the payments of the run given as argument."""
    run = PaymentRun.objects.select_related("campaign__recruitment").get(
        code=job.arguments["run"], campaign=job.campaign
    )
    return pay_run(run=run, progress=report.progress)
