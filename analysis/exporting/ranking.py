"""The ranking of systems by a gold run, as columns."""

from dataclasses import dataclass

import numpy as np
from django.db.models import Count

from analysis.models import GoldRun, GoldScore
from analysis.stats.systems import (
    SystemComparison,
    SystemScores,
    compare_systems,
    expand_to_systems,
    system_scores,
)
from hits.models import System, SystemOutput

from .reading import Batch
from .tables import Column, Kind

COLUMNS = (
    Column("campaign", Kind.TEXT),
    Column("rank", Kind.INTEGER),
    Column("cluster", Kind.INTEGER),
    Column("system", Kind.TEXT),
    Column("raw", Kind.NUMBER),
    Column("z", Kind.NUMBER),
    Column("z_se", Kind.NUMBER),
    Column("z_low", Kind.NUMBER),
    Column("z_high", Kind.NUMBER),
    Column("n_segments", Kind.INTEGER),
    Column("n_incomplete", Kind.INTEGER),
    Column("n_ratings", Kind.INTEGER),
    Column("wins", Kind.INTEGER),
)


@dataclass(frozen=True, slots=True)
class Ranking:
    """Systems with their scores, best first, and which of them beat which."""

    scores: SystemScores
    comparison: SystemComparison

    @property
    def signature(self) -> str:
        return f"{self.scores.signature}|{self.comparison.signature}"


def rank(run: GoldRun) -> Ranking | None:
    """Rank the systems by their complete segments; None when there is no complete segment at all."""
    scored = np.array(
        GoldScore.objects.filter(run=run, is_complete=True)
        .order_by("translation_id")
        .values_list("translation_id", "raw", "z", "n_ratings"),
        dtype=[("translation", "i8"), ("raw", "f8"), ("z", "f8"), ("n_ratings", "i8")],
    )
    if not len(scored):
        return None
    outputs = np.array(
        SystemOutput.objects.filter(system__campaign=run.campaign_id)
        .order_by("system_id", "segment_id")
        .values_list("translation_id", "system_id"),
        dtype=[("translation", "i8"), ("system", "i8")],
    )
    rows, systems = expand_to_systems(
        scored["translation"], outputs["translation"], outputs["system"]
    )
    own = scored[rows]
    return Ranking(
        system_scores(own["raw"], own["z"], own["n_ratings"], systems),
        compare_systems(own["z"], systems),
    )


def ranking_rows(run: GoldRun) -> Batch:
    """Return the columns of the ranking; systems without any complete segment stand last, unranked."""
    names = dict(System.objects.filter(campaign=run.campaign_id).values_list("pk", "name"))
    n_outputs = dict(
        System.objects.filter(campaign=run.campaign_id)
        .annotate(n_outputs=Count("outputs"))
        .values_list("pk", "n_outputs")
    )
    ranking = rank(run)
    rows = _ranked_rows(run, ranking, names, n_outputs) if ranking else []
    ranked = {row[3] for row in rows}
    for pk, name in names.items():
        if name not in ranked:
            rest = (None, None, None, None, None, 0, n_outputs[pk], 0, 0)
            rows.append((run.campaign.name, None, None, name, *rest))
    return [list(cells) for cells in zip(*rows, strict=True)]


def _ranked_rows(
    run: GoldRun, ranking: Ranking, names: dict[int, str], n_outputs: dict[int, int]
) -> list[tuple]:
    scores, comparison = ranking.scores, ranking.comparison
    clusters, wins = comparison.clusters.tolist(), comparison.wins.tolist()
    rows = []
    for place, pk in enumerate(scores.systems.tolist()):
        n_segments = int(scores.n_segments[place])
        rows.append(
            (
                run.campaign.name,
                place + 1,
                clusters[place],
                names[pk],
                *(
                    _number(column[place])
                    for column in (scores.raw, scores.z, scores.z_se, scores.z_low, scores.z_high)
                ),
                n_segments,
                n_outputs[pk] - n_segments,
                int(scores.n_ratings[place]),
                wins[place],
            )
        )
    return rows


def _number(value: float) -> float | None:
    """Leave empty what one segment alone does not tell, such as an interval."""
    return float(value) if np.isfinite(value) else None
