"""Background jobs for gold, metrics, evaluations and exports. Each calls one service."""

from pathlib import Path
from typing import Any

from django.db.models import QuerySet

from da_platform.jobs.kinds import JobRefused, job_kind
from da_platform.jobs.models import Job
from da_platform.jobs.reports import Report
from hits.campaigns.demo import EXAMPLES_JOB, TASK_EXAMPLES_JOB
from hits.exceptions import LookRefused
from hits.models import Campaign
from hits.people.access import Level, campaigns_of

from . import job_outcomes as outcomes
from .evaluation.access import visible_collections, visible_evaluations
from .evaluation.mending import mended
from .evaluation.stored_evaluations import (
    UPLOAD,
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
from .experiments.catalogue import kind_named
from .experiments.storing import run_stored, visible_experiments
from .exporting import export
from .gold.agreement import measure_agreement
from .gold.looks import look_summary, take_look
from .gold.named_workers import WorkersRefused, keys_of
from .gold.presentation import PresentationRefused
from .gold.presentation_effects import has_effects, measure_presentation
from .gold.ranking import rank_systems
from .gold.runs import build_gold
from .models import Evaluation, Experiment, GoldRun, JudgementUpload, Metric, ScoreCollection
from .post_editions import agreement
from .ranking.results import NothingRanked, rank_by_judgements


@job_kind(
    "build_gold",
    title="Build gold",
    outcome=outcomes.gold_built,
    needs_campaign=True,
    needs=Level.RESEARCHER,
)
def build_gold_job(job: Job, report: Report) -> dict[str, Any]:
    """Build gold. Optional arguments: `method`, `minimum`, `test`, pseudonyms of the `workers` to count, and a `helper` metric."""
    assert job.campaign is not None
    run = GoldRun.objects.filter(job=job).first()
    if run is None:
        arguments = dict(job.arguments)
        if names := arguments.pop("workers", None):
            arguments["workers"] = keys_of(job.campaign, names)
        run = build_gold(campaign=job.campaign, job=job, progress=report.progress, **arguments)
    counts = {name: getattr(run, name) for name in ("n_ratings", "n_scored", "n_incomplete")}
    return {"run": run.number, "signature": run.signature} | counts


@job_kind(
    "measure_agreement",
    title="Measure agreement between workers",
    outcome=outcomes.agreement_measured,
    needs_campaign=True,
    needs=Level.RESEARCHER,
)
def measure_agreement_job(job: Job, report: Report) -> dict[str, Any]:
    """Measure agreement. Optional argument: `replicate`, the code of a campaign with the same translations."""
    assert job.campaign is not None
    replicate = _second_campaign(job, "replicate")
    agreement = measure_agreement(job.campaign, replicate=replicate, progress=report.progress)
    return agreement.as_json()


@job_kind(
    agreement.KIND,
    title="Measure agreement between editors",
    outcome=outcomes.editor_agreement_measured,
    needs_campaign=True,
    needs=Level.RESEARCHER,
)
def measure_editor_agreement_job(job: Job, report: Report) -> dict[str, Any]:
    """Compare the post-editions of outputs that several trusted editors have edited."""
    from .post_editions.collected import agreement_of_editors

    assert job.campaign is not None
    return agreement_of_editors(job.campaign).as_json()


def _second_campaign(job: Job, argument: str) -> Campaign | None:
    """Return the campaign whose code this argument holds; None without it."""
    if not (code := job.arguments.get(argument)):
        return None
    visible = campaigns_of(job.started_by) if job.started_by else Campaign.objects.all()
    campaign = visible.filter(code=code).first()
    if campaign is None:
        raise JobRefused("The second campaign does not exist, or you may not see it.")
    return campaign


@job_kind(
    "measure_presentation",
    title="Measure effects of how translations were shown",
    outcome=outcomes.presentation_measured,
    needs_campaign=True,
    needs=Level.RESEARCHER,
)
def measure_presentation_job(job: Job, report: Report) -> dict[str, Any]:
    """Measure effects of places and of the context.

    Optional arguments: `against`, the code of a campaign with gold of the same texts, and `seed`.
    """
    assert job.campaign is not None
    arguments = dict(job.arguments) | {"against": _second_campaign(job, "against")}
    try:
        facts = measure_presentation(job.campaign, progress=report.progress, **arguments)
    except PresentationRefused as refusal:
        raise JobRefused(str(refusal)) from refusal
    if not has_effects(facts):
        raise JobRefused(
            "Every text was shown alone. Choose a campaign for comparison that showed the same texts in another way."
        )
    return facts


@job_kind(
    "take_look",
    title="Test whether the ranking is decided",
    outcome=outcomes.look_taken,
    needs_campaign=True,
)
def take_look_job(job: Job, report: Report) -> dict[str, Any]:
    """Test all pairs of systems in between, and add HITs for those that need more ratings, or stop."""
    assert job.campaign is not None
    try:
        look = take_look(
            campaign=job.campaign, job=job, actor=job.started_by, progress=report.progress
        )
    except LookRefused as refusal:
        raise JobRefused(str(refusal)) from refusal
    return look_summary(look)


@job_kind(
    "rank_systems",
    title="Rank systems",
    outcome=outcomes.systems_ranked,
    needs_campaign=True,
    needs=Level.RESEARCHER,
)
def rank_systems_job(job: Job, report: Report) -> dict[str, Any]:
    """Rank the systems by the latest gold, or by the gold run numbered `run`. Optional argument: `test`."""
    assert job.campaign is not None
    ranking = rank_systems(_run_of(job), test=job.arguments.get("test"))
    names = ("system", "z", "low", "high", "raw", "cluster", "n_segments")
    return {
        "systems": [{name: row[name] for name in names} for row in ranking.rows],
        "signature": ranking.signature,
    }


@job_kind(
    "rank_judgements",
    title="Rank systems by judgements",
    outcome=outcomes.judgements_ranked,
    needs_campaign=True,
    needs=Level.RESEARCHER,
)
def rank_judgements_job(job: Job, report: Report) -> dict[str, Any]:
    """Rank the systems by the rankings of workers.

    Optional arguments: `runs`, `seed`, `trusted_only`, `lookup`, and `groups` of judges by pseudonym.
    """
    assert job.campaign is not None
    try:
        return rank_by_judgements(job.campaign, progress=report.progress, **job.arguments)
    except (NothingRanked, WorkersRefused, ValueError) as error:
        raise JobRefused(str(error)) from error


@job_kind(
    "evaluate",
    title="Evaluate metrics",
    outcome=outcomes.evaluated,
    mend=mended,
    needs_campaign=True,
    needs=Level.RESEARCHER,
)
def evaluate_job(job: Job, report: Report) -> dict[str, Any]:
    """Evaluate metrics against gold.

    Optional arguments: `golds` (numbers of runs with `use`, or codes of `upload`s), `metrics`
    (codes), `judgements` (the code of an upload) and `options`.
    """
    assert job.campaign is not None
    evaluation = evaluate_campaign(
        campaign=job.campaign,
        golds=golds_from(job.arguments.get("golds", [])),
        metrics=_chosen(Metric.objects.filter(campaign=job.campaign), job),
        judgements=_judgements(job.campaign.judgement_uploads.all(), job),
        options=options_from(job.arguments.get("options", {})),
        job=job,
        created_by=job.started_by,
        progress=report.progress,
    )
    return _summary(evaluation)


@job_kind(
    "evaluate_collection",
    title="Evaluate metrics from files",
    outcome=outcomes.evaluated,
    mend=mended,
    needs=Level.RESEARCHER,
)
def evaluate_collection_job(job: Job, report: Report) -> dict[str, Any]:
    """Evaluate the scores in a `collection`. The other arguments are those of `evaluate`."""
    collections = ScoreCollection.objects.all()
    if job.started_by:
        collections = visible_collections(job.started_by)
    collection = collections.filter(code=job.arguments["collection"]).first()
    if collection is None:
        raise JobRefused("This collection does not exist, or you may not see it.")
    golds = golds_from(job.arguments.get("golds", []))
    evaluation = evaluate_collection(
        collection=collection,
        golds=[gold for gold in golds if isinstance(gold, UploadChoice)],
        metrics=_chosen(collection.metrics.all(), job),
        judgements=_judgements(collection.judgement_uploads.all(), job),
        options=options_from(job.arguments.get("options", {})),
        job=job,
        created_by=job.started_by,
        progress=report.progress,
    )
    return _summary(evaluation)


@job_kind(
    "evaluate_pooled",
    title="Evaluate metrics over several campaigns",
    outcome=outcomes.evaluated,
    mend=mended,
    needs=Level.RESEARCHER,
)
def evaluate_pooled_job(job: Job, report: Report) -> dict[str, Any]:
    """Evaluate against pooled gold.

    Arguments: `runs` (pairs of a campaign's code and the number of its run) with `uses` (z, raw), or `uploads` (for
    each gold, pairs of a campaign's code and the code of its gold), or both; optionally `metrics` (names) and `options`.
    """
    golds = []
    if runs := job.arguments.get("runs"):
        numbers = tuple((str(code), int(number)) for code, number in runs)
        golds = [PooledChoice(numbers, use) for use in job.arguments.get("uses", ["z"])]
    for pairs in job.arguments.get("uploads", []):
        codes = tuple((str(code), str(upload)) for code, upload in pairs)
        golds.append(PooledChoice(codes, UPLOAD))
    wanted = {code for gold in golds for code, _ in gold.pooled}
    if job.started_by:
        visible = campaigns_of(job.started_by).filter(code__in=wanted)
        if visible.count() != len(wanted):
            raise JobRefused("Some of these campaigns do not exist, or you may not see them.")
    evaluation = evaluate_pooled(
        golds=golds,
        names=job.arguments.get("metrics"),
        options=options_from(job.arguments.get("options", {})),
        job=job,
        created_by=job.started_by,
        progress=report.progress,
    )
    return _summary(evaluation)


@job_kind(
    "evaluate_again",
    title="Repeat an evaluation",
    outcome=outcomes.evaluated_again,
    needs=Level.RESEARCHER,
)
def evaluate_again_job(job: Job, report: Report) -> dict[str, Any]:
    """Repeat an evaluation and compare the results, which must be equal to the last bit."""
    evaluations = Evaluation.objects.all()
    if job.started_by:
        evaluations = visible_evaluations(job.started_by)
    evaluation = evaluations.filter(code=job.arguments["evaluation"]).first()
    if evaluation is None:
        raise JobRefused("This evaluation does not exist, or you may not see it.")
    repeated = evaluate_again(evaluation, report.progress).result
    return {
        "evaluation": str(evaluation.code),
        "is_same": repeated.to_dict() == evaluation.result,
        "signature": repeated.signature,
    }


@job_kind(
    "run_experiment",
    title="Run an experiment",
    outcome=outcomes.experiment_run,
    needs=Level.RESEARCHER,
)
def run_experiment_job(job: Job, report: Report) -> dict[str, Any]:
    """Run an experiment, whose code is in `experiment`, on its stored files."""
    experiments = Experiment.objects.all()
    if job.started_by:
        experiments = visible_experiments(job.started_by)
    experiment = experiments.filter(code=job.arguments["experiment"]).first()
    if experiment is None:
        raise JobRefused("This experiment does not exist, or you may not see it.")
    result = run_stored(experiment, report.progress)
    findings = kind_named(experiment.kind).findings(result)
    return {
        "experiment": str(experiment.code),
        "findings": findings,
        "signature": result["signature"],
    }


def _summary(evaluation: Evaluation) -> dict[str, Any]:
    winners = {gold.gold.name: list(gold.winners) for gold in result_of(evaluation).golds}
    return {
        "evaluation": str(evaluation.code),
        "number": evaluation.number,
        "winners": winners,
        "signature": evaluation.signature,
    }


def _chosen(metrics: QuerySet[Metric], job: Job) -> list[Metric] | None:
    """Return the metrics that the arguments name by code; None for all of them."""
    codes = job.arguments.get("metrics")
    if codes is None:
        return None
    chosen = list(metrics.filter(code__in=codes))
    if len(chosen) != len(set(codes)):
        raise JobRefused(f"{job.campaign or 'The collection'} does not have all of these metrics.")
    return chosen


def _judgements(uploads: QuerySet[JudgementUpload], job: Job) -> JudgementUpload | None:
    code = job.arguments.get("judgements")
    if code is None:
        return None
    upload = uploads.filter(code=code).first()
    if upload is None:
        raise JobRefused("These judgements do not exist. Upload them again.")
    return upload


@job_kind(
    "compute_metrics",
    title="Compute metrics",
    outcome=outcomes.metrics_computed,
    needs_campaign=True,
    needs=Level.RESEARCHER,
)
def compute_metrics_job(job: Job, report: Report) -> dict[str, Any]:
    """Compute built-in metrics. Optional arguments: `names`, `levels`, `tokenise`."""
    # sacreBLEU is slow to import, and web pages do not need it.
    from .metrics.computing import compute_metrics

    assert job.campaign is not None
    metrics = compute_metrics(
        campaign=job.campaign, actor=job.started_by, progress=report.progress, **job.arguments
    )
    return {"metrics": [{"name": metric.name, "level": metric.level} for metric in metrics]}


@job_kind(
    "compute_targeted",
    title="Compute human-targeted metrics",
    outcome=outcomes.targeted_computed,
    needs_campaign=True,
    needs=Level.RESEARCHER,
)
def compute_targeted_job(job: Job, report: Report) -> dict[str, Any]:
    """Compute human-targeted metrics from post-editions collected in the campaign, or in another one.

    Optional arguments: `names`, `use` (metric or gold), `tokenise`, `ignore_case`, `cap`, `as_edited`, `partial` and
    `post_editions_of` (the code of a campaign).
    """
    from .post_editions.measures import compute_targeted

    assert job.campaign is not None
    arguments = dict(job.arguments)
    arguments["post_editions_of"] = _second_campaign(job, "post_editions_of")
    stored = compute_targeted(
        campaign=job.campaign, actor=job.started_by, progress=report.progress, **arguments
    )
    return {
        "stored": list(dict.fromkeys(row.name for row in stored)),
        "n_scores": {row.name: row.n_scores for row in stored if row.level == Metric.Level.SEGMENT},
    }


@job_kind("export", title="Export a table", outcome=outcomes.exported, needs_campaign=True)
def export_job(job: Job, report: Report) -> dict[str, Any]:
    """Write an export. The arguments are those of `export`, with `run` as a number."""
    assert job.campaign is not None
    arguments = job.arguments | {"path": Path(job.arguments["path"])}
    if "run" in arguments:
        arguments["run"] = _run_of(job)
    # An earlier attempt may have finished the file, which is then replaced.
    arguments["force"] = arguments.get("force", False) or job.was_cut_off
    summary = export(
        campaign=job.campaign, actor=job.started_by, progress=report.advance, **arguments
    )
    return {"path": str(summary.path), "n_rows": summary.n_rows, "sha256": summary.sha256}


def _run_of(job: Job) -> GoldRun:
    runs = GoldRun.objects.filter(campaign=job.campaign)
    run = runs.numbered_or_newest(job.arguments.get("run") or None)
    if run is None:
        raise JobRefused(f"{job.campaign} does not have this gold yet. Build it first.")
    return run


@job_kind(EXAMPLES_JOB, title="Make example campaigns", outcome=outcomes.examples_made)
def make_examples_job(job: Job, report: Report) -> dict[str, Any]:
    """Make the example campaigns that a fresh platform shows; with `again` also those that were removed."""
    # Needed once in the life of a platform.
    from .examples.making import make_examples

    if job.started_by is None:
        raise JobRefused("The examples need an admin who owns them.")
    campaigns = make_examples(
        actor=job.started_by,
        again=bool(job.arguments.get("again")),
        progress=report.progress,
    )
    return {"campaigns": [str(campaign.code) for campaign in campaigns]}


@job_kind(TASK_EXAMPLES_JOB, title="Make examples of other tasks", outcome=outcomes.examples_made)
def make_task_examples_job(job: Job, report: Report) -> dict[str, Any]:
    """Make a small finished campaign of each task that the first examples do not show."""
    from .examples.other_tasks import make_task_examples

    if job.started_by is None:
        raise JobRefused("The examples need an admin who owns them.")
    campaigns = make_task_examples(actor=job.started_by, progress=report.progress)
    return {"campaigns": [str(campaign.code) for campaign in campaigns]}
