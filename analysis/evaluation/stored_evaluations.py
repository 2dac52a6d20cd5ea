"""Evaluate scores and gold in the database, store the result, and repeat it later."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from hashlib import sha256
from typing import Any

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import Max

from da_platform.jobs.models import Job
from hits.models import Campaign

from ..models import Evaluation, JudgementUpload, Metric, ScoreCollection
from ..scores.whole_documents import WHOLE
from ..stats.multiple_tests import CORRECTIONS
from .aligned_rows import Rows
from .by_document import by_document
from .engine import Evaluated, Progress, evaluate, without_systems
from .per_word import per_word
from .results import (
    GRANULARITIES,
    PREDICTION_SORTS,
    TIE_THRESHOLDS,
    UNCERTAINTIES,
    EvaluationResult,
    Options,
)
from .stored_inputs import (
    UPLOAD,
    EvaluationRefused,
    GoldChoice,
    PooledChoice,
    Sources,
    UploadChoice,
    campaigns_coded,
    choice_as_json,
    choices_of,
    golds_from,
    load_sources,
    with_ceilings,
)

__all__ = [
    "UPLOAD",
    "EvaluationRefused",
    "GoldChoice",
    "PooledChoice",
    "UploadChoice",
    "evaluate_again",
    "evaluate_campaign",
    "evaluate_collection",
    "evaluate_pooled",
    "golds_from",
    "options_from",
    "result_of",
    "rows_of",
]

# Simultaneous evaluations may pick the same number; the second one then takes the next.
_TRIES = 5
_INPUTS_CHANGED = "Metrics, gold or judgements of this evaluation have been replaced or removed."


def _no_progress(n_done: int, n_total: int) -> None:
    pass


def evaluate_campaign(
    *,
    campaign: Campaign,
    golds: Sequence[GoldChoice | UploadChoice] = (),
    metrics: Sequence[Metric] | None = None,
    judgements: JudgementUpload | None = None,
    options: Options | None = None,
    job: Job | None = None,
    created_by: User | None = None,
    progress: Progress = _no_progress,
) -> Evaluation:
    """Evaluate a campaign's metrics against its gold, and store the result.

    Parameters
    ----------
    campaign : Campaign
    golds : sequence of GoldChoice or UploadChoice
        By default, the z-scores of the latest run.
    metrics : sequence of Metric, optional
        With confirmed directions; by default, all of the campaign.
    judgements : JudgementUpload, optional
        Of the campaign, to evaluate the metrics against them too.
    options : Options, optional
    job : Job, optional
        At most one evaluation is stored for a job, even if it is restarted.
    created_by : User, optional
    progress : callable

    Returns
    -------
    Evaluation

    Raises
    ------
    EvaluationRefused, ScoresRefused
    """
    choices = with_ceilings(list(golds) or [_latest(campaign)], campaign)
    chosen_metrics = list(campaign.metrics.all() if metrics is None else metrics)
    if not chosen_metrics:
        raise EvaluationRefused(
            f"{campaign} has no metric scores yet. Upload some, or compute the built-in ones."
        )
    evaluation = Evaluation(
        campaign=campaign,
        golds=[choice_as_json(choice) for choice in choices],
        judgements=judgements,
        job=job,
        created_by=created_by,
    )
    return _evaluate_and_store(evaluation, chosen_metrics, options, progress)


def evaluate_collection(
    *,
    collection: ScoreCollection,
    golds: Sequence[UploadChoice] = (),
    metrics: Sequence[Metric] | None = None,
    judgements: JudgementUpload | None = None,
    options: Options | None = None,
    job: Job | None = None,
    created_by: User | None = None,
    progress: Progress = _no_progress,
) -> Evaluation:
    """Evaluate the metrics in a collection against its gold, and store the result.

    Parameters
    ----------
    collection : ScoreCollection
    golds : sequence of UploadChoice
        By default, all gold of the collection.
    metrics, judgements, options, job, created_by, progress
        As in `evaluate_campaign`.

    Returns
    -------
    Evaluation
    """
    codes = collection.gold_uploads.order_by("pk").values_list("code", flat=True)
    choices = list(golds) or [UploadChoice(str(code)) for code in codes]
    chosen_metrics = list(collection.metrics.all() if metrics is None else metrics)
    if not choices or not chosen_metrics:
        missing = "gold" if chosen_metrics else "metric scores"
        raise EvaluationRefused(f"{collection} has no {missing} yet. Upload some first.")
    evaluation = Evaluation(
        collection=collection,
        golds=[choice_as_json(choice) for choice in choices],
        judgements=judgements,
        job=job,
        created_by=created_by,
    )
    return _evaluate_and_store(evaluation, chosen_metrics, options, progress)


def evaluate_pooled(
    *,
    golds: Sequence[PooledChoice],
    names: Sequence[str] | None = None,
    options: Options | None = None,
    job: Job | None = None,
    created_by: User | None = None,
    progress: Progress = _no_progress,
) -> Evaluation:
    """Evaluate metrics against the pooled gold of several campaigns, and store the result.

    Parameters
    ----------
    golds : sequence of PooledChoice
        All must pool the same campaigns.
    names : sequence of str, optional
        Metrics to evaluate; by default, those with segment scores in every campaign.
    options, job, created_by, progress
        As in `evaluate_campaign`.

    Returns
    -------
    Evaluation
    """
    if not golds:
        raise EvaluationRefused("Choose the campaigns to pool.")
    codes = [code for code, _ in golds[0].pooled]
    if any([code for code, _ in gold.pooled] != codes for gold in golds):
        raise EvaluationRefused("Every gold must pool the same campaigns.")
    campaigns = campaigns_coded(codes)
    metrics = _shared_metrics(campaigns)
    if names is not None:
        metrics = [metric for metric in metrics if metric.name in names]
    if not metrics:
        raise EvaluationRefused("These campaigns have no metric in common. Upload or compute some.")
    evaluation = Evaluation(
        golds=[choice_as_json(gold) for gold in with_ceilings(golds, None)],
        job=job,
        created_by=created_by,
    )
    return _evaluate_and_store(evaluation, metrics, options, progress, pooled=campaigns)


def _shared_metrics(campaigns: Sequence[Campaign]) -> list[Metric]:
    """Return the segment metrics that every campaign has."""
    metrics = list(Metric.objects.at_level("segment").filter(campaign__in=campaigns))
    campaigns_with: dict[str, set[int | None]] = {}
    for metric in metrics:
        campaigns_with.setdefault(metric.name, set()).add(metric.campaign_id)
    return [metric for metric in metrics if len(campaigns_with[metric.name]) == len(campaigns)]


def evaluate_again(evaluation: Evaluation, progress: Progress = _no_progress) -> Evaluated:
    """Repeat an evaluation from its inputs, without storing anything.

    Parameters
    ----------
    evaluation : Evaluation
    progress : callable

    Returns
    -------
    Evaluated

    Raises
    ------
    EvaluationRefused
        If metrics or gold have been replaced since.
    """
    options = options_from(evaluation.options)
    sources = load_sources(
        evaluation, list(evaluation.metrics.all()), counts_words=options.per_word
    )
    evaluated = _evaluate(sources, options, progress)
    if _digest(evaluated.result) != evaluation.input_digest:
        raise EvaluationRefused(f"{_INPUTS_CHANGED} Start a new evaluation.")
    return evaluated


def rows_of(evaluation: Evaluation, gold: str, metrics: Sequence[str]) -> Rows:
    """Return the rows of some metrics and one gold, without evaluating them.

    Parameters
    ----------
    evaluation : Evaluation
    gold : str
    metrics : sequence of str

    Returns
    -------
    Rows

    Raises
    ------
    EvaluationRefused
        If the gold or a metric has been replaced since.
    """
    chosen = evaluation.metrics.at_level("segment").filter(name__in=metrics)
    options = options_from(evaluation.options)
    sources = load_sources(
        evaluation, list(chosen), counts_words=options.per_word, wants_people=False
    )
    tables = [
        table for table in sources.tables if table.name in metrics and table.gold in ("", gold)
    ]
    inputs = {
        (source.role, source.name, source.level): source.sha256
        for source in result_of(evaluation).inputs
    }
    gold_table = next(
        (table for table in sources.golds if (table.name, table.level) == (gold, "segment")), None
    )
    if (
        gold_table is None
        or not tables
        or inputs.get(("gold", gold, "segment")) != gold_table.sha256
        or any(
            inputs.get(("human" if table.gold else "metric", table.name, "segment")) != table.sha256
            for table in tables
        )
    ):
        raise EvaluationRefused(_INPUTS_CHANGED)
    tables = [without_systems(table, options.without_systems) for table in tables]
    if options.per_word:
        tables, (gold_table,) = per_word(tables, [gold_table], sources.texts)
    if options.level == "document":
        tables, gold_table = by_document(tables, gold_table, options)
    return Rows.of(tables, gold_table, options)


def result_of(evaluation: Evaluation) -> EvaluationResult:
    """Return the stored result."""
    return EvaluationResult.from_dict(evaluation.result)


def options_from(facts: Mapping[str, Any]) -> Options:
    """Return the options in JSON arguments; refuse unknown names and values out of range."""
    defaults = asdict(Options())
    if unknown := sorted(set(facts) - set(defaults)):
        listed = ", ".join(defaults)
        raise EvaluationRefused(f"Unknown option: {', '.join(unknown)}. Choose from: {listed}.")
    chosen = dict(facts)
    if "without_systems" in chosen:
        chosen["without_systems"] = tuple(chosen["without_systems"])
    options = replace(Options(), **chosen)
    if not (0 < options.alpha < 1 and 0 < options.confidence < 1):
        raise EvaluationRefused("`alpha` and `confidence` must be between 0 and 1.")
    for name, choices in (
        ("uncertainty", UNCERTAINTIES),
        ("correction", CORRECTIONS),
        ("tie_threshold", TIE_THRESHOLDS),
        ("sort", PREDICTION_SORTS),
        ("level", GRANULARITIES),
    ):
        if getattr(options, name) not in choices:
            raise EvaluationRefused(f"`{name}` must be one of: {', '.join(choices)}.")
    if options.n_resamples < 1 or options.seed < 0:
        raise EvaluationRefused("`n_resamples` must be at least 1, and `seed` must be at least 0.")
    if (points := options.preference_points) is not None and not 0 <= points < math.inf:
        raise EvaluationRefused("`preference_points` must be at least 0.")
    if options.good_enough is not None and not math.isfinite(options.good_enough):
        raise EvaluationRefused("`good_enough` must be a finite number.")
    return options


def _latest(campaign: Campaign) -> GoldChoice:
    run = campaign.gold_runs.newest()
    if run is None:
        raise EvaluationRefused(f"{campaign} has no gold yet. Build it first.")
    return GoldChoice(run.number)


def _evaluate_and_store(
    evaluation: Evaluation,
    metrics: Sequence[Metric],
    options: Options | None,
    progress: Progress,
    pooled: Sequence[Campaign] = (),
) -> Evaluation:
    """Evaluate and store, or return what was already stored for the same job."""
    if evaluation.job and (stored := Evaluation.objects.filter(job=evaluation.job).first()):
        return stored
    options = options or Options()
    uses = {choice.use for choice in choices_of(evaluation) if isinstance(choice, GoldChoice)}
    if WHOLE in uses and options.level != "document":
        raise EvaluationRefused("Scores of whole documents need the level document.")
    sources = load_sources(evaluation, metrics, counts_words=options.per_word)
    result = _evaluate(sources, options, progress).result
    evaluation.options = asdict(options)
    evaluation.input_digest = _digest(result)
    evaluation.signature = result.signature
    evaluation.result = result.to_dict()
    return _store(evaluation, metrics, pooled)


def _evaluate(sources: Sources, options: Options, progress: Progress) -> Evaluated:
    return evaluate(
        sources.tables,
        sources.golds,
        options=options,
        texts=sources.texts,
        judgements=sources.judgements,
        ceilings=sources.ceilings,
        progress=progress,
    )


def _digest(result: EvaluationResult) -> str:
    """Hash the names, directions and digests of all scores and gold."""
    inputs = [asdict(source) for source in result.inputs]
    inputs.sort(key=lambda source: (source["role"], source["name"], source["level"]))
    return sha256(json.dumps(inputs, sort_keys=True).encode()).hexdigest()


def _store(
    evaluation: Evaluation, metrics: Sequence[Metric], pooled: Sequence[Campaign]
) -> Evaluation:
    """Store an evaluation under the next free number, once per job."""
    for tries_left in reversed(range(_TRIES)):
        siblings = Evaluation.objects.filter(
            campaign=evaluation.campaign, collection=evaluation.collection
        )
        evaluation.number = (siblings.aggregate(last=Max("number"))["last"] or 0) + 1
        try:
            with transaction.atomic():
                evaluation.save(force_insert=True)
                evaluation.metrics.set(metrics)
                evaluation.pooled.set(pooled)
                return evaluation
        except IntegrityError:
            if evaluation.job and (stored := Evaluation.objects.filter(job=evaluation.job).first()):
                return stored
            if not tries_left:
                raise
    raise AssertionError("unreachable")
