"""The kinds of jobs around collecting. Modules with kinds of their own stand in `settings.JOB_MODULES`."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from hits.building import build_hits
from hits.importing import import_campaign
from hits.models import Assignment, Campaign
from hits.services import release_expired
from hits.trust import update_evidence

from .jobs import job_kind
from .models import Job
from .reporting import Report


@job_kind("weigh_evidence")
def weigh_evidence_job(job: Job, report: Report) -> dict[str, Any]:
    """Weigh every submitted assignment that has no evidence yet, of a campaign or of all."""
    pending = Assignment.objects.submitted().filter(evidence_at=None)
    if job.campaign:
        pending = pending.filter(hit__campaign=job.campaign)
    pks = list(pending.order_by("pk").values_list("pk", flat=True))
    for n_done, pk in enumerate(pks):
        report.progress(n_done, len(pks))
        update_evidence(assignment=Assignment.objects.select_related("hit__campaign").get(pk=pk))
    report.progress(len(pks), len(pks))
    return {"n_weighed": len(pks)}


@job_kind("release_expired")
def release_expired_job(job: Job, report: Report) -> dict[str, Any]:
    return {"n_released": release_expired()}


@job_kind("build_hits", needs_campaign=True)
def build_hits_job(job: Job, report: Report) -> dict[str, Any]:
    assert job.campaign is not None
    rebuild = bool(job.arguments.get("rebuild", False))
    if job.attempt > 1 and not rebuild and job.campaign.hits.exists():
        # An earlier attempt stored them, all at once, and was stopped before it could say so.
        return {"n_hits": job.campaign.hits.count()}
    summary = build_hits(campaign=job.campaign, rebuild=rebuild, progress=report.advance)
    for note in summary.notes:
        report.log(note)
    return asdict(summary)


@job_kind("import_campaign")
def import_campaign_job(job: Job, report: Report) -> dict[str, Any]:
    """Make a campaign from files on this machine; the arguments are those of `import_campaign`."""
    name = job.arguments["name"]
    stored = Campaign.objects.filter(name=name, created_at__gte=job.created_at).first()
    if job.attempt > 1 and stored:
        # As above: an import is stored whole or not at all.
        return {"campaign": str(stored.code), "name": name}
    arguments = job.arguments | {"path": Path(job.arguments["path"])}
    summary = import_campaign(progress=report.advance, **arguments)
    for note in summary.notes:
        report.log(note)
    counts = {key: getattr(summary, key) for key in ("n_systems", "n_segments", "n_outputs")}
    return {"campaign": str(summary.campaign.code), "name": name} | counts
