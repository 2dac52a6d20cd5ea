"""Change the arguments of a refused evaluation so that its problems do not come back."""

from collections.abc import Collection, Sequence
from itertools import chain
from typing import Any

from django.db.models import QuerySet

from da_platform.files.problems import Fix
from da_platform.jobs.kinds import JobRefused
from da_platform.jobs.models import Job

from ..models import Metric


def mended(job: Job, fixes: Sequence[Fix]) -> dict[str, Any]:
    """Return the arguments of an evaluation job with these fixes (see `analysis.scores.fixes`)."""
    arguments = dict(job.arguments)
    options = dict(arguments.get("options", {}))
    left_out = dict.fromkeys(options.get("without_systems", []))
    metrics: list[str] = []
    for fix in fixes:
        if fix.option == "without_systems":
            left_out |= dict.fromkeys(fix.values)
        elif fix.option == "keep_systems":
            left_out = {name: None for name in left_out if name not in fix.values}
        elif fix.option == "without_metrics":
            metrics += fix.values
        elif fix.option == "baseline":
            options["baseline"] = ""
        elif fix.option == "good_enough":
            options["good_enough"] = None
        elif fix.option == "level":
            (options["level"],) = fix.values
        else:
            options[fix.option] = fix.option == "ignore_extra"
    options["without_systems"] = list(left_out)
    if metrics:
        arguments["metrics"] = _remaining_metrics(job, metrics)
    return arguments | {"options": options}


def _remaining_metrics(job: Job, names: Collection[str]) -> list[str]:
    """Return the metrics of a job without some: codes, or names if campaigns are pooled."""
    pooled = [*job.arguments.get("runs", []), *chain(*job.arguments.get("uploads", []))]
    if pooled:
        metrics = Metric.objects.filter(campaign__code__in={code for code, _ in pooled})
        remaining = _chosen(metrics, job, "name").exclude(name__in=names)
        kept = sorted(set(remaining.values_list("name", flat=True)))
    else:
        if collection := job.arguments.get("collection"):
            metrics = Metric.objects.filter(collection__code=collection)
        else:
            metrics = Metric.objects.filter(campaign=job.campaign)
        remaining = _chosen(metrics, job, "code").exclude(name__in=names)
        kept = [str(code) for code in remaining.values_list("code", flat=True)]
    if not kept:
        raise JobRefused(
            "No metric would be left. Upload complete scores, or choose other metrics."
        )
    return kept


def _chosen(metrics: QuerySet[Metric], job: Job, field: str) -> QuerySet[Metric]:
    chosen = job.arguments.get("metrics")
    return metrics if chosen is None else metrics.filter(**{f"{field}__in": chosen})
