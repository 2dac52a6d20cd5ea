"""Scores as other projects lay them out: mt-metrics-eval, and the tables of the published DA scripts."""

from collections.abc import Generator
from dataclasses import replace

from analysis.models import GoldRun
from hits.models import Campaign, System

from .ranking import rank
from .reading import Batch, one_batch, read_batches
from .tables import Column, Kind, complete_segments, every_cell

# Which of our scores each format holds, and what mt-metrics-eval then calls the kind of human score.
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
    """One score for each system and segment, or each system, in the order of systems and segments."""
    if kind == "segments":
        query = every_cell(run, score)
        return query.columns, read_batches(query)
    return _SCORE_COLUMNS, one_batch(_system_scores(run, score))


def mtme_file_name(kind: str, campaign: Campaign, format: str) -> str:
    pair = f"{campaign.source_language}-{campaign.target_language}"
    level = "seg" if kind == "segments" else "sys"
    return f"human-scores/{pair}.{MTME_SCORES[format][1]}.{level}.score"


def published_rows(kind: str, run: GoldRun) -> Rows:
    """Complete scores only: that layout has no word for a missing one."""
    if kind == "systems":
        return _PUBLISHED_SYSTEMS, one_batch(_published_systems(run))
    query = complete_segments(run)
    named = zip(query.columns, _PUBLISHED_SEGMENTS, strict=True)
    return tuple(replace(column, name=name) for column, name in named), read_batches(query)


def _systems(run: GoldRun) -> list[str]:
    systems = System.objects.filter(campaign=run.campaign_id).order_by("pk")
    return list(systems.values_list("name", flat=True))


def _system_scores(run: GoldRun, score: str) -> Batch:
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
    own = ranking.scores
    place = {name: row for row, name in enumerate(own.systems.tolist())}
    systems = [name for name in _systems(run) if name in place]
    rows = [place[name] for name in systems]
    return [
        own.raw[rows].tolist(),
        own.z[rows].tolist(),
        own.n_segments[rows].tolist(),
        systems,
        own.n_ratings[rows].tolist(),
    ]
