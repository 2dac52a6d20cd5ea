"""The kinds of jobs there are: thin, each around one service."""

import math
from dataclasses import asdict
from pathlib import Path
from typing import Any

from hits.archives import Judgement, import_collection
from hits.building import build_hits
from hits.importing import import_campaign
from hits.models import Assignment, Campaign
from hits.services import release_expired
from hits.trust import update_evidence

from .evaluation import MetricFile, evaluate_metrics
from .exporting import export
from .gold import build_gold, rank_systems
from .jobs import JobRefused, job_kind
from .models import GoldRun, Job
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


@job_kind("import_collection")
def import_collection_job(job: Job, report: Report) -> dict[str, Any]:
    """Make an archive from files on this machine; the arguments are those of `import_collection`."""
    name = job.arguments["name"]
    stored = Campaign.objects.filter(name=name, created_at__gte=job.created_at).first()
    if job.attempt > 1 and stored:
        # As above.
        return {"campaign": str(stored.code), "name": name}
    paths = [Path(path) for path in job.arguments["paths"]]
    judgement = Judgement(**job.arguments.get("judgement", {}))
    arguments = job.arguments | {"paths": paths, "judgement": judgement}
    summary = import_collection(progress=report.advance, actor=job.started_by, **arguments)
    for note in summary.notes:
        report.log(note)
    return {"campaign": str(summary.campaign.code), "name": name}


@job_kind("build_gold", needs_campaign=True)
def build_gold_job(job: Job, report: Report) -> dict[str, Any]:
    """Build gold; the arguments may name `method` and `minimum`."""
    assert job.campaign is not None
    run = GoldRun.objects.filter(job=job).first()
    if run is None:
        run = build_gold(campaign=job.campaign, job=job, progress=report.progress, **job.arguments)
    counts = {name: getattr(run, name) for name in ("n_ratings", "n_scored", "n_incomplete")}
    return {"run": run.number, "signature": run.signature} | counts


@job_kind("rank_systems", needs_campaign=True)
def rank_systems_job(job: Job, report: Report) -> dict[str, Any]:
    """Rank the systems by the latest gold, or by the run that the arguments number."""
    assert job.campaign is not None
    ranking = rank_systems(_run_of(job))
    scores = ranking.scores
    columns = (scores.systems, scores.z, scores.raw, ranking.clusters, scores.n_segments)
    names = ("system", "z", "raw", "cluster", "n_segments")
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return {
        "systems": [dict(zip(names, row, strict=True)) for row in rows],
        "signature": ranking.signature,
    }


@job_kind("evaluate_metrics", needs_campaign=True)
def evaluate_metrics_job(job: Job, report: Report) -> dict[str, Any]:
    """Evaluate metrics; the argument `files` has pairs of a path and `higher` or `lower`."""
    assert job.campaign is not None
    directions = {"higher": True, "lower": False}
    files = [MetricFile(Path(path), directions[way]) for path, way in job.arguments["files"]]
    found = evaluate_metrics(run=_run_of(job), files=files)
    report.progress(1, 1)
    columns = {"pearson": found.pearson, "spearman": found.spearman, "kendall": found.kendall}
    return {
        "metrics": list(found.metrics),
        # A constant metric correlates with nothing, and JSON has no word for that but null.
        **{name: [_known(one.estimate) for one in column] for name, column in columns.items()},
        "winners": list(found.winners),
        "n": found.n,
        "signature": found.signature,
    }


def _known(value: float) -> float | None:
    return value if math.isfinite(value) else None


@job_kind("export", needs_campaign=True)
def export_job(job: Job, report: Report) -> dict[str, Any]:
    """Write an export; the arguments are those of `export`, `run` being a number."""
    assert job.campaign is not None
    arguments = job.arguments | {"path": Path(job.arguments["path"])}
    if "run" in arguments:
        arguments["run"] = _run_of(job)
    # An earlier attempt may have finished the file: it is written anew, whole or not at all.
    arguments["force"] = arguments.get("force", False) or job.attempt > 1
    summary = export(
        campaign=job.campaign, actor=job.started_by, progress=report.advance, **arguments
    )
    return {"path": str(summary.path), "n_rows": summary.n_rows, "sha256": summary.sha256}


def _run_of(job: Job) -> GoldRun:
    runs = GoldRun.objects.filter(campaign=job.campaign)
    if number := job.arguments.get("run"):
        runs = runs.filter(number=number)
    run = runs.order_by("-number").first()
    if run is None:
        raise JobRefused(f"{job.campaign} has no such gold yet. Build it first.")
    return run
