"""Scores in the layouts of other projects: mt-metrics-eval and the published DA scripts."""

from collections.abc import Generator
from dataclasses import replace

from analysis.models import GoldRun
from hits.models import Campaign, System

from .batches import Batch, one_batch, read_batches
from .gold_ranking import rank
from .queries import Column, Kind, complete_segments, every_cell

# For each format, which of our scores it holds and what mt-metrics-eval calls them.
MTME_SCORES = {"mtme": ("z", "da"), "mtme-raw": ("raw", "da-raw")}

_SCORE_COLUMNS = (Column("system", Kind.TEXT), Column("score", Kind.NUMBER))
_PUBLISHED_SEGMENTS = ("SYS", "SID", "RAW.SCR", "Z.SCR", "N")
_PUBLISHED_SYSTEMS = (
    Column("RAW.SCR", Kind.NUMBER),
    Column("Z.SCR", Kind.NUMBER),
    Column("N", Kind.INTEGER),
    Column("SYS", Kind.TEXT),
    Column("N.ALL", Kind.INTEGER),
)

Rows = tuple[tuple[Column, ...], Generator[Batch, None, None]]


def mtme_rows(kind: str, run: GoldRun, score: str) -> Rows:
    """Return one score for each system and segment, or for each system, in their order."""
    if kind == "segments":
        query = every_cell(run, score)
        return query.columns, read_batches(query)
    return _SCORE_COLUMNS, one_batch(system_scores(run, score))


def mtme_file_name(kind: str, campaign: Campaign, format: str) -> str:
    pair = f"{campaign.source_language}-{campaign.target_language}"
    level = "seg" if kind == "segments" else "sys"
    return f"human-scores/{pair}.{MTME_SCORES[format][1]}.{level}.score"


def published_rows(kind: str, run: GoldRun) -> Rows:
    """Return complete scores only: the layout cannot express missing ones."""
    if kind == "systems":
        return _PUBLISHED_SYSTEMS, one_batch(_published_systems(run))
    query = complete_segments(run)
    renamed = zip(query.columns, _PUBLISHED_SEGMENTS, strict=True)
    return tuple(replace(column, name=name) for column, name in renamed), read_batches(query)


def _systems(run: GoldRun) -> list[str]:
    systems = System.objects.filter(campaign=run.campaign_id).order_by("pk")
    return list(systems.values_list("name", flat=True))


def system_scores(run: GoldRun, score: str) -> Batch:
    systems, ranking = _systems(run), rank(run)
    scores = {}
    if ranking is not None:
        column = ranking.scores.z if score == "z" else ranking.scores.raw
        scores = dict(zip(ranking.scores.systems.tolist(), column.tolist(), strict=True))
    return [systems, [scores.get(name) for name in systems]]


def _published_systems(run: GoldRun) -> Batch:
    ranking = rank(run)
    if ranking is None:
        return [[] for _ in _PUBLISHED_SYSTEMS]
    scores = ranking.scores
    row_of = {name: row for row, name in enumerate(scores.systems.tolist())}
    systems = [name for name in _systems(run) if name in row_of]
    rows = [row_of[name] for name in systems]
    return [
        scores.raw[rows].tolist(),
        scores.z[rows].tolist(),
        scores.n_segments[rows].tolist(),
        systems,
        scores.n_ratings[rows].tolist(),
    ]
