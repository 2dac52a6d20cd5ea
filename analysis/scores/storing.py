"""Scores into the database, whole and once, and back into tables."""

from collections.abc import Iterable, Sequence

import numpy as np
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils import timezone

from hits.audit import record
from hits.importing.problems import Problems
from hits.models import Campaign, SystemOutput

from ..models import Metric, MetricScore, ScoreCollection
from .errors import ScoresRefused, refuse_if_any
from .reading import ScoreFile
from .table import Key, Level, ScoreTable, shown

_CHUNK_ROWS = 5_000


def store_score_file(
    *,
    file: ScoreFile,
    file_name: str,
    campaign: Campaign | None = None,
    collection: ScoreCollection | None = None,
    uploaded_by: User | None = None,
    replace: bool = False,
) -> list[Metric]:
    """Store every metric of a file, or none.

    Parameters
    ----------
    file : ScoreFile
    file_name, campaign, collection, uploaded_by, replace
        As in `store_scores`.

    Returns
    -------
    list of Metric
        In the order of the file.
    """
    with transaction.atomic():
        return [
            store_scores(
                table=table,
                campaign=campaign,
                collection=collection,
                uploaded_by=uploaded_by,
                file_name=file_name,
                format=file.format,
                replace=replace,
            )
            for table in file.tables
        ]


def store_scores(
    *,
    table: ScoreTable,
    campaign: Campaign | None = None,
    collection: ScoreCollection | None = None,
    uploaded_by: User | None = None,
    file_name: str = "",
    format: str = "",
    origin: str = Metric.Origin.UPLOADED,
    replace: bool = False,
) -> Metric:
    """Store one metric's scores, exactly once.

    Parameters
    ----------
    table : ScoreTable
        For a campaign: a score for each of its outputs (or systems), no more and no fewer. Its
        direction may be unknown; it counts as confirmed by the uploader otherwise.
    campaign : Campaign, optional
    collection : ScoreCollection, optional
        What the scores are of, where that is no campaign.
    uploaded_by : User, optional
    file_name, format : str
    origin : {"uploaded", "computed"}
    replace : bool
        Whether other scores of this metric may be put in place of those there are.

    Returns
    -------
    Metric
        The one there is already if it was made from the very same file in the same way.

    Raises
    ------
    ScoresRefused
        If scores are missing, extra or doubled, or others are there and not to be replaced.
    """
    _check_home(campaign, collection)
    _check_keys(table, campaign)
    try:
        with transaction.atomic():
            return _store(
                Metric(
                    campaign=campaign,
                    collection=collection,
                    name=table.name,
                    level=table.level,
                    origin=origin,
                    higher_is_better=table.higher_is_better,
                    direction_confirmed_by=None if table.higher_is_better is None else uploaded_by,
                    direction_confirmed_at=None
                    if table.higher_is_better is None
                    else timezone.now(),
                    file_name=file_name[:255],
                    format=format,
                    sha256=table.sha256,
                    signature=table.signature,
                    n_scores=len(table.keys),
                    uploaded_by=uploaded_by,
                ),
                table,
                replace=replace,
            )
    except IntegrityError:
        # Somebody stored this metric at the same moment: look at what they stored.
        there = _namesake(table, campaign, collection)
        if there is None:
            raise
        if _is_same(there, table):
            return there
        raise _name_is_taken(table) from None


def _store(metric: Metric, table: ScoreTable, *, replace: bool) -> Metric:
    there = _namesake(table, metric.campaign, metric.collection)
    if there is not None:
        if _is_same(there, table):
            return there
        if not replace or there.origin != metric.origin:
            raise _name_is_taken(table)
        there.delete()
    metric.save(force_insert=True)
    rows = (
        MetricScore(metric=metric, system=system, segment=segment, position=position, score=score)
        for position, ((system, segment), score) in enumerate(
            zip(table.keys, table.scores.tolist(), strict=True)
        )
    )
    MetricScore.objects.bulk_create(rows, batch_size=_CHUNK_ROWS)
    record(
        "scores_stored",
        actor=metric.uploaded_by,
        campaign=metric.campaign,
        metric=metric.name,
        level=metric.level,
        origin=str(metric.origin),
        sha256=metric.sha256,
        replaced=there is not None,
    )
    return metric


def _namesake(
    table: ScoreTable, campaign: Campaign | None, collection: ScoreCollection | None
) -> Metric | None:
    return Metric.objects.filter(
        campaign=campaign, collection=collection, name=table.name, level=table.level
    ).first()


def _is_same(metric: Metric, table: ScoreTable) -> bool:
    has_same_direction = table.higher_is_better in (None, metric.higher_is_better)
    has_same_source = (metric.sha256, metric.signature) == (table.sha256, table.signature)
    return has_same_source and has_same_direction and _has_same_scores(metric, table)


def _has_same_scores(metric: Metric, table: ScoreTable) -> bool:
    """Say whether the same was read: a file may hold several language pairs, or name no system."""
    stored = stored_table(metric)
    return stored.keys == table.keys and np.array_equal(stored.scores, table.scores)


def _name_is_taken(table: ScoreTable) -> ScoresRefused:
    problems = Problems()
    problems.add(
        "",
        None,
        f"there are other {table.level} scores of {table.name} already; replace them, or give these "
        "another name",
    )
    return ScoresRefused(problems.listed, problems.total)


def _check_home(campaign: Campaign | None, collection: ScoreCollection | None) -> None:
    if (campaign is None) == (collection is None):
        raise ValueError("`campaign` or `collection` must be given, and not both.")


def _check_keys(table: ScoreTable, campaign: Campaign | None) -> None:
    problems = Problems()
    seen: set[Key] = set()
    for key in table.keys:
        if key in seen:
            problems.add(table.name, None, f"has a second score for {shown(key)}")
        seen.add(key)
    if campaign is not None:
        wanted = dict.fromkeys(campaign_keys(campaign, table.level))
        for key in wanted:
            if key not in seen:
                problems.add(table.name, None, f"has no score for {shown(key)}")
        for key in table.keys:
            if key not in wanted:
                problems.add(table.name, None, f"the campaign has no {shown(key)}")
    refuse_if_any(problems)


def campaign_keys(campaign: Campaign, level: Level) -> Iterable[Key]:
    """Name every output of a campaign in the order of segments, or every system."""
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
    """Say which way a metric goes; saying the same again changes nothing.

    Parameters
    ----------
    metric : Metric
    higher_is_better : bool
    actor : User or None
        None for a person at the command line.

    Returns
    -------
    Metric
        As it is stored now.
    """
    # One statement that settles who was first; only a change is written down.
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


# Back into tables -----------------------------------------------------------------------------


def stored_table(metric: Metric) -> ScoreTable:
    """Return a stored metric's scores as they were given."""
    return stored_tables([metric])[0]


def stored_tables(metrics: Sequence[Metric]) -> list[ScoreTable]:
    """Return the scores of several metrics with one query.

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
