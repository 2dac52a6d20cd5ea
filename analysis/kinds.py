"""The kinds of jobs there are: thin, each around one service."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.db.models import QuerySet

from hits.access import Level, campaigns_of
from hits.archives import Judgement, import_collection
from hits.audit import record
from hits.building import build_hits
from hits.importing import import_campaign
from hits.models import ApiToken, Assignment, Campaign
from hits.recruiting.arrivals import recruitment_of, sync_submissions
from hits.recruiting.studies import raise_places
from hits.services import release_expired
from hits.trust import update_evidence
from hits.workers.recomputing import recompute_workers

from .agreement import measure_agreement
from .evaluating.campaigns import (
    PooledChoice,
    UploadChoice,
    evaluate_again,
    evaluate_campaign,
    evaluate_collection,
    evaluate_pooled,
    golds_from,
    options_from,
    result_of,
)
from .evaluating.visible import visible_collections, visible_evaluations
from .exporting import export
from .gold import build_gold, rank_systems
from .jobs import JobRefused, job_kind
from .models import Evaluation, GoldRun, Job, Metric, ScoreCollection
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


@job_kind("recompute_workers", needs_campaign=True, scope=ApiToken.Scope.DECIDE)
def recompute_workers_job(job: Job, report: Report) -> dict[str, Any]:
    """Judge all workers of a campaign anew, from their ratings alone."""
    assert job.campaign is not None
    summary = recompute_workers(campaign=job.campaign, progress=report.progress)
    return asdict(summary)


@job_kind("release_expired")
def release_expired_job(job: Job, report: Report) -> dict[str, Any]:
    return {"n_released": release_expired()}


@job_kind("sync_submissions", needs_campaign=True)
def sync_submissions_job(job: Job, report: Report) -> dict[str, Any]:
    """Take over what the campaign's provider knows of its submissions."""
    assert job.campaign is not None
    return {"n_changed": sync_submissions(recruitment=recruitment_of(job.campaign))}


@job_kind("raise_places", needs_campaign=True)
def raise_places_job(job: Job, report: Report) -> dict[str, Any]:
    """Ask Prolific for the places that the campaign wants by now."""
    assert job.campaign is not None
    return {"n_places": raise_places(recruitment=recruitment_of(job.campaign))}


@job_kind("build_hits", needs_campaign=True)
def build_hits_job(job: Job, report: Report) -> dict[str, Any]:
    assert job.campaign is not None
    rebuild = bool(job.arguments.get("rebuild", False))
    if job.was_cut_off and not rebuild and job.campaign.hits.exists():
        # An earlier attempt stored them, all at once, and was stopped before it could say so.
        return {"n_hits": job.campaign.hits.count()}
    summary = build_hits(
        campaign=job.campaign, rebuild=rebuild, actor=job.started_by, progress=report.advance
    )
    for note in summary.notes:
        report.log(note)
    return asdict(summary)


@job_kind("import_campaign")
def import_campaign_job(job: Job, report: Report) -> dict[str, Any]:
    """Make a campaign from files on this machine; the arguments are those of `import_campaign`."""
    name = job.arguments["name"]
    stored = Campaign.objects.filter(name=name, created_at__gte=job.created_at).first()
    if job.was_cut_off and stored:
        # As above: an import is stored whole or not at all.
        return {"campaign": str(stored.code), "name": name}
    arguments = job.arguments | {"path": Path(job.arguments["path"])}
    summary = import_campaign(progress=report.advance, **arguments)
    record("campaign created", actor=job.started_by, campaign=summary.campaign)
    for note in summary.notes:
        report.log(note)
    counts = {key: getattr(summary, key) for key in ("n_systems", "n_segments", "n_outputs")}
    return {"campaign": str(summary.campaign.code), "name": name} | counts


@job_kind("import_collection")
def import_collection_job(job: Job, report: Report) -> dict[str, Any]:
    """Make an archive from files on this machine; the arguments are those of `import_collection`."""
    name = job.arguments["name"]
    stored = Campaign.objects.filter(name=name, created_at__gte=job.created_at).first()
    if job.was_cut_off and stored:
        # As above.
        return {"campaign": str(stored.code), "name": name}
    paths = [Path(path) for path in job.arguments["paths"]]
    judgement = Judgement(**job.arguments.get("judgement", {}))
    arguments = job.arguments | {"paths": paths, "judgement": judgement}
    summary = import_collection(progress=report.advance, actor=job.started_by, **arguments)
    for note in summary.notes:
        report.log(note)
    return {"campaign": str(summary.campaign.code), "name": name}


@job_kind("build_gold", needs_campaign=True, needs=Level.RESEARCHER)
def build_gold_job(job: Job, report: Report) -> dict[str, Any]:
    """Build gold; the arguments may name `method` and `minimum`."""
    assert job.campaign is not None
    run = GoldRun.objects.filter(job=job).first()
    if run is None:
        run = build_gold(campaign=job.campaign, job=job, progress=report.progress, **job.arguments)
    counts = {name: getattr(run, name) for name in ("n_ratings", "n_scored", "n_incomplete")}
    return {"run": run.number, "signature": run.signature} | counts


@job_kind("measure_agreement", needs_campaign=True, needs=Level.RESEARCHER)
def measure_agreement_job(job: Job, report: Report) -> dict[str, Any]:
    assert job.campaign is not None
    return measure_agreement(job.campaign, progress=report.progress).as_json()


@job_kind("rank_systems", needs_campaign=True, needs=Level.RESEARCHER)
def rank_systems_job(job: Job, report: Report) -> dict[str, Any]:
    """Rank the systems by the latest gold, or by the run that the arguments number."""
    assert job.campaign is not None
    ranking = rank_systems(_run_of(job))
    names = ("system", "z", "raw", "cluster", "n_segments")
    return {
        "systems": [{name: row[name] for name in names} for row in ranking.rows],
        "signature": ranking.signature,
    }


@job_kind("evaluate", needs_campaign=True, needs=Level.RESEARCHER)
def evaluate_job(job: Job, report: Report) -> dict[str, Any]:
    """Evaluate metrics against gold.

    The arguments may name `golds` (numbers of runs with `use`, or codes of `upload`s), `metrics`
    (codes) and `options`.
    """
    assert job.campaign is not None
    evaluation = evaluate_campaign(
        campaign=job.campaign,
        golds=golds_from(job.arguments.get("golds", [])),
        metrics=_metrics_of(job),
        options=options_from(job.arguments.get("options", {})),
        job=job,
        created_by=job.started_by,
        progress=report.progress,
    )
    return _told(evaluation)


@job_kind("evaluate_collection", needs=Level.RESEARCHER)
def evaluate_collection_job(job: Job, report: Report) -> dict[str, Any]:
    """Evaluate scores from elsewhere; the arguments name the `collection`, otherwise as `evaluate`."""
    collections = ScoreCollection.objects.all()
    if job.started_by:
        collections = visible_collections(job.started_by)
    collection = collections.filter(code=job.arguments["collection"]).first()
    if collection is None:
        raise JobRefused("There is no such collection of scores.")
    golds = golds_from(job.arguments.get("golds", []))
    evaluation = evaluate_collection(
        collection=collection,
        golds=[one for one in golds if isinstance(one, UploadChoice)],
        metrics=_chosen(collection.metrics.all(), job),
        options=options_from(job.arguments.get("options", {})),
        job=job,
        created_by=job.started_by,
        progress=report.progress,
    )
    return _told(evaluation)


@job_kind("evaluate_pooled", needs=Level.RESEARCHER)
def evaluate_pooled_job(job: Job, report: Report) -> dict[str, Any]:
    """Evaluate against pooled gold.

    The arguments name `runs` (pairs of a campaign's code and the number of its run), and may name
    `uses` (z, raw), `metrics` (names) and `options`.
    """
    runs = tuple((str(code), int(number)) for code, number in job.arguments["runs"])
    if job.started_by:
        own = campaigns_of(job.started_by).filter(code__in=[code for code, _ in runs])
        if own.count() != len(runs):
            raise JobRefused("Not all of these campaigns are there for you.")
    evaluation = evaluate_pooled(
        golds=[PooledChoice(runs, use) for use in job.arguments.get("uses", ["z"])],
        names=job.arguments.get("metrics"),
        options=options_from(job.arguments.get("options", {})),
        job=job,
        created_by=job.started_by,
        progress=report.progress,
    )
    return _told(evaluation)


@job_kind("evaluate_again", needs=Level.RESEARCHER)
def evaluate_again_job(job: Job, report: Report) -> dict[str, Any]:
    """Make an evaluation anew and compare: the same numbers must come out, to the last bit."""
    evaluations = Evaluation.objects.all()
    if job.started_by:
        evaluations = visible_evaluations(job.started_by)
    evaluation = evaluations.filter(code=job.arguments["evaluation"]).first()
    if evaluation is None:
        raise JobRefused("There is no such evaluation.")
    found = evaluate_again(evaluation, report.progress).result
    return {
        "evaluation": str(evaluation.code),
        "is_same": found.to_dict() == evaluation.result,
        "signature": found.signature,
    }


def _told(evaluation: Evaluation) -> dict[str, Any]:
    winners = {gold.gold.name: list(gold.winners) for gold in result_of(evaluation).golds}
    return {
        "evaluation": str(evaluation.code),
        "number": evaluation.number,
        "winners": winners,
        "signature": evaluation.signature,
    }


def _metrics_of(job: Job) -> list[Metric] | None:
    """Return the metrics the arguments name by code; None for all of the campaign."""
    return _chosen(Metric.objects.filter(campaign=job.campaign), job)


def _chosen(metrics: QuerySet[Metric], job: Job) -> list[Metric] | None:
    codes = job.arguments.get("metrics")
    if codes is None:
        return None
    found = list(metrics.filter(code__in=codes))
    if len(found) != len(set(codes)):
        raise JobRefused(f"{job.campaign or 'It'} does not have all of these metrics.")
    return found


@job_kind("compute_metrics", needs_campaign=True, needs=Level.RESEARCHER)
def compute_metrics_job(job: Job, report: Report) -> dict[str, Any]:
    """Compute built-in metrics; the arguments may be `names`, `levels`, `tokenise`, `post_editions`."""
    # sacreBLEU takes its time to load, and the pages do not need it.
    from .metrics.computing import compute_metrics

    assert job.campaign is not None
    arguments = dict(job.arguments)
    if path := arguments.get("post_editions"):
        arguments["post_editions"] = Path(path)
    metrics = compute_metrics(
        campaign=job.campaign, actor=job.started_by, progress=report.progress, **arguments
    )
    return {"metrics": [{"name": one.name, "level": one.level} for one in metrics]}


@job_kind("export", needs_campaign=True)
def export_job(job: Job, report: Report) -> dict[str, Any]:
    """Write an export; the arguments are those of `export`, `run` being a number."""
    assert job.campaign is not None
    arguments = job.arguments | {"path": Path(job.arguments["path"])}
    if "run" in arguments:
        arguments["run"] = _run_of(job)
    # An earlier attempt may have finished the file: it is written anew, whole or not at all.
    arguments["force"] = arguments.get("force", False) or job.was_cut_off
    summary = export(
        campaign=job.campaign, actor=job.started_by, progress=report.advance, **arguments
    )
    return {"path": str(summary.path), "n_rows": summary.n_rows, "sha256": summary.sha256}


def _run_of(job: Job) -> GoldRun:
    runs = GoldRun.objects.filter(campaign=job.campaign)
    run = runs.numbered_or_newest(job.arguments.get("run") or None)
    if run is None:
        raise JobRefused(f"{job.campaign} has no such gold yet. Build it first.")
    return run
