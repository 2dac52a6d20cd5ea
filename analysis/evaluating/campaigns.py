"""Stored evaluations: made from what the database holds, and made again to the same numbers."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from hashlib import sha256
from typing import Any

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import Max

from hits.models import Campaign

from ..models import Evaluation, Job, Metric, ScoreCollection
from .engine import Evaluated, Progress, evaluate, without_systems
from .results import EvaluationResult, Input, Options
from .rows import Rows
from .sources import (
    EvaluationRefused,
    GoldChoice,
    PooledChoice,
    Sources,
    UploadChoice,
    campaigns_coded,
    choice_as_json,
    golds_from,
    load_sources,
)

__all__ = [
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

# Two who store at once may reach for one number; whoever comes second takes the next.
_TRIES = 5


def _quietly(n_done: int, n_total: int) -> None:
    """Report no progress."""


def evaluate_campaign(
    *,
    campaign: Campaign,
    golds: Sequence[GoldChoice | UploadChoice] = (),
    metrics: Sequence[Metric] | None = None,
    options: Options | None = None,
    job: Job | None = None,
    created_by: User | None = None,
    progress: Progress = _quietly,
) -> Evaluation:
    """Hold a campaign's metrics against its gold and store what was found.

    Parameters
    ----------
    campaign : Campaign
    golds : sequence of GoldChoice or UploadChoice
        One or more; the z-scores of the latest run if there is none.
    metrics : sequence of Metric, optional
        All of the campaign's if not given. Each must have a confirmed direction.
    options : Options, optional
    job : Job, optional
        At most one evaluation is stored for it, however often it is started.
    created_by : User, optional
    progress : callable

    Returns
    -------
    Evaluation

    Raises
    ------
    EvaluationRefused, ScoresRefused
    """
    picked = list(golds) or [_latest(campaign)]
    used = list(campaign.metrics.all() if metrics is None else metrics)
    if not used:
        raise EvaluationRefused(
            f"{campaign} has no metric scores yet. Upload some, or compute the built-in ones."
        )
    evaluation = Evaluation(
        campaign=campaign,
        golds=[choice_as_json(one) for one in picked],
        job=job,
        created_by=created_by,
    )
    return _made(evaluation, used, options, progress)


def evaluate_collection(
    *,
    collection: ScoreCollection,
    golds: Sequence[UploadChoice] = (),
    metrics: Sequence[Metric] | None = None,
    options: Options | None = None,
    job: Job | None = None,
    created_by: User | None = None,
    progress: Progress = _quietly,
) -> Evaluation:
    """Hold scores from elsewhere against gold from elsewhere; no campaign is needed.

    Parameters
    ----------
    collection : ScoreCollection
    golds : sequence of UploadChoice
        All of the collection's gold if there is none.
    metrics, options, job, created_by, progress
        As in `evaluate_campaign`.

    Returns
    -------
    Evaluation
    """
    codes = collection.gold_uploads.order_by("pk").values_list("code", flat=True)
    picked = list(golds) or [UploadChoice(str(code)) for code in codes]
    used = list(collection.metrics.all() if metrics is None else metrics)
    if not picked or not used:
        missing = "gold" if used else "metric scores"
        raise EvaluationRefused(f"{collection} has no {missing} yet. Upload some first.")
    evaluation = Evaluation(
        collection=collection,
        golds=[choice_as_json(one) for one in picked],
        job=job,
        created_by=created_by,
    )
    return _made(evaluation, used, options, progress)


def evaluate_pooled(
    *,
    golds: Sequence[PooledChoice],
    names: Sequence[str] | None = None,
    options: Options | None = None,
    job: Job | None = None,
    created_by: User | None = None,
    progress: Progress = _quietly,
) -> Evaluation:
    """Hold metrics against the gold of several campaigns put together.

    Parameters
    ----------
    golds : sequence of PooledChoice
        All of the same campaigns.
    names : sequence of str, optional
        Metrics to evaluate; all that every one of the campaigns has scores of segments for otherwise.
    options, job, created_by, progress
        As in `evaluate_campaign`.

    Returns
    -------
    Evaluation
    """
    if not golds:
        raise EvaluationRefused("Choose the campaigns to pool.")
    codes = [code for code, _ in golds[0].pooled]
    if any([code for code, _ in one.pooled] != codes for one in golds):
        raise EvaluationRefused("Every gold must pool the same campaigns.")
    campaigns = campaigns_coded(codes)
    used = _shared_metrics(campaigns)
    if names is not None:
        used = [metric for metric in used if metric.name in names]
    if not used:
        raise EvaluationRefused("These campaigns have no metric in common. Upload or compute some.")
    evaluation = Evaluation(
        golds=[choice_as_json(one) for one in golds], job=job, created_by=created_by
    )
    return _made(evaluation, used, options, progress, pooled=campaigns)


def _shared_metrics(campaigns: Sequence[Campaign]) -> list[Metric]:
    """Return the segment metrics that every campaign has."""
    found = list(Metric.objects.at_level("segment").filter(campaign__in=campaigns))
    homes: dict[str, set[int | None]] = {}
    for metric in found:
        homes.setdefault(metric.name, set()).add(metric.campaign_id)
    return [metric for metric in found if len(homes[metric.name]) == len(campaigns)]


def evaluate_again(evaluation: Evaluation, progress: Progress = _quietly) -> Evaluated:
    """Compute an evaluation anew from what it was made of; nothing is stored.

    Parameters
    ----------
    evaluation : Evaluation
    progress : callable

    Returns
    -------
    Evaluated
        With the same result, unless metrics were replaced since: then `EvaluationRefused` is raised.
    """
    found = _evaluated(
        load_sources(evaluation, list(evaluation.metrics.all())),
        options_from(evaluation.options),
        progress,
    )
    if _digest(found.result) != evaluation.input_digest:
        raise EvaluationRefused(
            "Metrics or gold of this evaluation were replaced or removed since. Evaluate again."
        )
    return found


def rows_of(evaluation: Evaluation, gold: str, metrics: Sequence[str]) -> Rows:
    """Return the very rows that some metrics were held against a gold in, without the rest of the work.

    Parameters
    ----------
    evaluation : Evaluation
    gold : str
    metrics : sequence of str

    Returns
    -------
    Rows
        Of the metrics that are still there; `EvaluationRefused` if anything was replaced since.
    """
    wanted = evaluation.metrics.at_level("segment").filter(name__in=metrics)
    sources = load_sources(evaluation, list(wanted))
    options = options_from(evaluation.options)
    inputs = {(one.role, one.name, one.level): one for one in result_of(evaluation).inputs}
    table = next((one for one in sources.golds if (one.name, one.level) == (gold, "segment")), None)
    is_same = table is not None and _is_input(inputs.get(("gold", gold, "segment")), table.sha256)
    for one in sources.tables:
        is_same &= _is_input(inputs.get(("metric", one.name, "segment")), one.sha256)
    if table is None or not is_same or not sources.tables:
        raise EvaluationRefused(
            "Metrics or gold of this evaluation were replaced or removed since."
        )
    tables = [without_systems(one, options.without_systems) for one in sources.tables]
    return Rows.of(tables, table, options)


def _is_input(known: Input | None, digest: str) -> bool:
    return known is not None and known.sha256 == digest


def result_of(evaluation: Evaluation) -> EvaluationResult:
    """Return what was stored as what it was."""
    return EvaluationResult.from_dict(evaluation.result)


def options_from(facts: Mapping[str, Any]) -> Options:
    """Return options as they come from JSON; a name that is none of them is refused."""
    known = asdict(Options())
    if unknown := sorted(set(facts) - set(known)):
        listed = ", ".join(known)
        raise EvaluationRefused(f"There is no option {', '.join(unknown)}; there are: {listed}.")
    chosen = dict(facts)
    if "without_systems" in chosen:
        chosen["without_systems"] = tuple(chosen["without_systems"])
    found = replace(Options(), **chosen)
    if not (0 < found.alpha < 1 and 0 < found.confidence < 1):
        raise EvaluationRefused("`alpha` and `confidence` must lie between 0 and 1.")
    if found.n_resamples < 1 or found.seed < 0:
        raise EvaluationRefused("`n_resamples` must be at least 1 and `seed` not negative.")
    return found


def _latest(campaign: Campaign) -> GoldChoice:
    run = campaign.gold_runs.newest()
    if run is None:
        raise EvaluationRefused(f"{campaign} has no gold yet. Build it first.")
    return GoldChoice(run.number)


def _made(
    evaluation: Evaluation,
    metrics: Sequence[Metric],
    options: Options | None,
    progress: Progress,
    pooled: Sequence[Campaign] = (),
) -> Evaluation:
    """Evaluate and store; what was stored for the same job before is returned as it is."""
    if evaluation.job and (stored := Evaluation.objects.filter(job=evaluation.job).first()):
        return stored
    chosen = options or Options()
    found = _evaluated(load_sources(evaluation, metrics), chosen, progress)
    evaluation.options = asdict(chosen)
    evaluation.input_digest = _digest(found.result)
    evaluation.signature = found.result.signature
    evaluation.result = found.result.to_dict()
    return _store(evaluation, metrics, pooled)


def _evaluated(sources: Sources, options: Options, progress: Progress) -> Evaluated:
    return evaluate(
        sources.tables, sources.golds, options=options, texts=sources.texts, progress=progress
    )


def _digest(result: EvaluationResult) -> str:
    """Return a fingerprint of what went in: names, directions and fingerprints of scores and gold."""
    inputs = [asdict(one) for one in result.inputs]
    inputs.sort(key=lambda one: (one["role"], one["name"], one["level"]))
    return sha256(json.dumps(inputs, sort_keys=True).encode()).hexdigest()


def _store(
    evaluation: Evaluation, metrics: Sequence[Metric], pooled: Sequence[Campaign]
) -> Evaluation:
    """Store an evaluation under the next number of its home, once for its job."""
    for tries_left in reversed(range(_TRIES)):
        others = Evaluation.objects.filter(
            campaign=evaluation.campaign, collection=evaluation.collection
        )
        evaluation.number = (others.aggregate(last=Max("number"))["last"] or 0) + 1
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
