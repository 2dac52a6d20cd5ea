"""Store scores in the database, and load them back into tables."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils import timezone

from da_platform.files.problems import Problems
from hits.models import Campaign, SystemOutput
from hits.people.audit import record

from ..models import Metric, MetricScore, ScoreCollection
from .errors import ScoresRefused, refuse_if_any
from .reading import ScoreFile
from .score_tables import Key, Level, ScoreTable, shown

# What scores and gold belong to.
Home = Campaign | ScoreCollection

_CHUNK_ROWS = 5_000


@dataclass(frozen=True, slots=True)
class ScoreSource:
    """Where scores come from: the uploader and the file, or a computation."""

    uploaded_by: User | None = None
    file_name: str = ""
    format: str = ""
    origin: str = Metric.Origin.UPLOADED


def home_fields(home: Home) -> dict[str, Any]:
    """Return the model fields that link a row to its campaign or collection."""
    return {
        "campaign": home if isinstance(home, Campaign) else None,
        "collection": home if isinstance(home, ScoreCollection) else None,
    }


def store_score_file(
    *,
    file: ScoreFile,
    file_name: str,
    home: Home,
    uploaded_by: User | None = None,
    replace: bool = False,
) -> list[Metric]:
    """Store all metrics of a file, or none of them.

    Parameters
    ----------
    file : ScoreFile
    file_name : str
    home : Campaign or ScoreCollection
    uploaded_by : User, optional
    replace : bool
        As in `store_scores`.

    Returns
    -------
    list of Metric
        In the order of the file.
    """
    source = ScoreSource(uploaded_by, file_name, file.format)
    with transaction.atomic():
        return [
            store_scores(table=table, home=home, source=source, replace=replace)
            for table in file.tables
        ]


def store_scores(
    *,
    table: ScoreTable,
    home: Home,
    source: ScoreSource,
    replace: bool = False,
    partial: bool = False,
) -> Metric:
    """Store one metric's scores, exactly once.

    Parameters
    ----------
    table : ScoreTable
        For a campaign: exactly one score for each of its outputs or systems. A direction, if
        there is one, counts as confirmed by the uploader.
    home : Campaign or ScoreCollection
    source : ScoreSource
    replace : bool
        Whether existing scores of this metric may be replaced.
    partial : bool
        Whether outputs of a campaign may have no score.

    Returns
    -------
    Metric
        The existing one if it was read from the same file in the same way.

    Raises
    ------
    ScoresRefused
        If scores are missing, extra or duplicated, or would replace others without `replace`.
    """
    _check_keys(table, home, partial=partial)
    try:
        with transaction.atomic():
            return _store(table, home, source, replace=replace)
    except IntegrityError:
        existing = _stored_meanwhile(table, home)
        if existing is None:
            raise
        return existing


def _store(table: ScoreTable, home: Home, source: ScoreSource, *, replace: bool) -> Metric:
    existing = _namesake(table, home)
    if existing is not None:
        if _is_same(existing, table):
            return existing
        if not replace or existing.origin != source.origin:
            raise _name_is_taken(table)
        existing.delete()
    metric = _unsaved_metric(table, home, source)
    metric.save(force_insert=True)
    _insert_scores(metric, table)
    _record_stored(metric, replaced=existing is not None)
    return metric


def _unsaved_metric(table: ScoreTable, home: Home, source: ScoreSource) -> Metric:
    is_confirmed = table.higher_is_better is not None
    return Metric(
        **home_fields(home),
        name=table.name,
        level=table.level,
        origin=source.origin,
        higher_is_better=table.higher_is_better,
        direction_confirmed_by=source.uploaded_by if is_confirmed else None,
        direction_confirmed_at=timezone.now() if is_confirmed else None,
        file_name=source.file_name[:255],
        format=source.format,
        sha256=table.sha256,
        signature=table.signature,
        n_scores=len(table.keys),
        uploaded_by=source.uploaded_by,
    )


def _insert_scores(metric: Metric, table: ScoreTable) -> None:
    rows = (
        MetricScore(metric=metric, system=system, segment=segment, position=position, score=score)
        for position, ((system, segment), score) in enumerate(
            zip(table.keys, table.scores.tolist(), strict=True)
        )
    )
    MetricScore.objects.bulk_create(rows, batch_size=_CHUNK_ROWS)


def _record_stored(metric: Metric, *, replaced: bool) -> None:
    record(
        "scores_stored",
        actor=metric.uploaded_by,
        campaign=metric.campaign,
        metric=metric.name,
        level=metric.level,
        origin=str(metric.origin),
        sha256=metric.sha256,
        replaced=replaced,
    )


def _stored_meanwhile(table: ScoreTable, home: Home) -> Metric | None:
    """Return the same scores if another request just stored them; refuse if those are different."""
    existing = _namesake(table, home)
    if existing is None or _is_same(existing, table):
        return existing
    raise _name_is_taken(table) from None


def _namesake(table: ScoreTable, home: Home) -> Metric | None:
    return Metric.objects.filter(**home_fields(home), name=table.name, level=table.level).first()


def _is_same(metric: Metric, table: ScoreTable) -> bool:
    has_same_direction = table.higher_is_better in (None, metric.higher_is_better)
    has_same_source = (metric.sha256, metric.signature) == (table.sha256, table.signature)
    return has_same_source and has_same_direction and _has_same_scores(metric, table)


def _has_same_scores(metric: Metric, table: ScoreTable) -> bool:
    """Compare the scores: one file can be read for different language pairs or systems."""
    stored = stored_table(metric)
    return stored.keys == table.keys and np.array_equal(stored.scores, table.scores)


def _name_is_taken(table: ScoreTable) -> ScoresRefused:
    problems = Problems()
    problems.add(
        "",
        None,
        f"different {table.level} scores of {table.name} already exist; replace them, or give these "
        "another name",
    )
    return ScoresRefused(problems.listed, problems.total)


def _check_keys(table: ScoreTable, home: Home, *, partial: bool) -> None:
    problems = Problems()
    scored: set[Key] = set()
    for key in table.keys:
        if key in scored:
            problems.add(table.name, None, f"has a second score for {shown(key)}")
        scored.add(key)
    if isinstance(home, Campaign):
        expected_keys = dict.fromkeys(campaign_keys(home, table.level))
        for key in expected_keys:
            if key not in scored and not partial:
                problems.add(table.name, None, f"has no score for {shown(key)}")
        for key in table.keys:
            if key not in expected_keys:
                problems.add(table.name, None, f"the campaign has no {shown(key)}")
    refuse_if_any(problems)


def campaign_keys(campaign: Campaign, level: Level) -> Iterable[Key]:
    """Return the keys of a campaign's outputs in the order of segments, or of its systems."""
    if level == "system":
        return [(name, "") for name in campaign.systems.values_list("name", flat=True)]
    return list(
        SystemOutput.objects.filter(system__campaign=campaign)
        .order_by("segment__position", "system")
        .values_list("system__name", "segment__name")
    )


# Directions -----------------------------------------------------------------------------------


@transaction.atomic
def confirm_direction(*, metric: Metric, higher_is_better: bool, actor: User | None) -> Metric:
    """Store the direction of a metric. Confirming it again changes nothing.

    Parameters
    ----------
    metric : Metric
    higher_is_better : bool
    actor : User or None
        None on the command line.

    Returns
    -------
    Metric
        Refreshed from the database.
    """
    # A conditional UPDATE: of simultaneous requests, only the one that changes the row is logged.
    changed = (
        Metric.objects.filter(pk=metric.pk)
        .exclude(higher_is_better__isnull=False, higher_is_better=higher_is_better)
        .update(
            higher_is_better=higher_is_better,
            direction_confirmed_by=actor,
            direction_confirmed_at=timezone.now(),
        )
    )
    if changed:
        record(
            "metric_direction_confirmed",
            actor=actor,
            campaign=metric.campaign,
            metric=metric.name,
            level=metric.level,
            higher_is_better=higher_is_better,
        )
    metric.refresh_from_db()
    return metric


# Loading --------------------------------------------------------------------------------------


def stored_table(metric: Metric) -> ScoreTable:
    """Load a stored metric's scores."""
    return stored_tables([metric])[0]


def stored_tables(metrics: Sequence[Metric]) -> list[ScoreTable]:
    """Load the scores of several metrics with one query.

    Parameters
    ----------
    metrics : sequence of Metric

    Returns
    -------
    list of ScoreTable
        In the order of the metrics.
    """
    keys: dict[int, list[Key]] = {metric.pk: [] for metric in metrics}
    scores: dict[int, list[float]] = {metric.pk: [] for metric in metrics}
    rows = MetricScore.objects.filter(metric__in=list(keys)).order_by("metric", "position")
    for pk, system, segment, score in rows.values_list(
        "metric_id", "system", "segment", "score"
    ).iterator(_CHUNK_ROWS):
        keys[pk].append((system, segment))
        scores[pk].append(score)
    return [
        ScoreTable(
            name=metric.name,
            level="segment" if metric.level == Metric.Level.SEGMENT else "system",
            keys=tuple(keys[metric.pk]),
            scores=np.array(scores[metric.pk], dtype=np.float64),
            higher_is_better=metric.higher_is_better,
            sha256=metric.sha256,
            signature=metric.signature,
        )
        for metric in metrics
    ]
