"""The columns of a system ranking."""

from django.db.models import Count

from analysis.gold.ranking import SystemRanking, rank_systems
from analysis.models import GoldRun
from da_platform.numbers import known
from hits.models import System

from .batches import Batch
from .queries import Column, Kind

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
    Column("z_rated", Kind.NUMBER),
    Column("n_segments", Kind.INTEGER),
    Column("n_incomplete", Kind.INTEGER),
    Column("n_ratings", Kind.INTEGER),
    Column("wins", Kind.INTEGER),
    Column("test", Kind.TEXT),
)


def rank(run: GoldRun) -> SystemRanking | None:
    """Rank the systems by their complete segments; None if there are none."""
    return rank_systems(run) if run.scores.filter(is_complete=True).exists() else None


def ranking_rows(run: GoldRun) -> Batch:
    """Return the columns of the ranking; systems without complete segments come last, unranked."""
    ranking = rank(run)
    rows = _ranked_rows(run, ranking) if ranking else []
    ranked = {row[3] for row in rows}
    systems = System.objects.filter(campaign=run.campaign_id).order_by("pk")
    for name, n_outputs in systems.annotate(n=Count("outputs")).values_list("name", "n"):
        if name not in ranked:
            no_scores = (*[None] * 6, 0, n_outputs, 0, 0, "")
            rows.append((run.campaign.name, None, None, name, *no_scores))
    return [list(cells) for cells in zip(*rows, strict=True)]


def _ranked_rows(run: GoldRun, ranking: SystemRanking) -> list[tuple]:
    scores, comparison = ranking.scores, ranking.comparison
    clusters, wins = ranking.clusters.tolist(), comparison.wins.tolist()
    test = f"{comparison.test}, {comparison.correction}"
    rows = []
    for place, name in enumerate(scores.systems.tolist()):
        rows.append(
            (
                run.campaign.name,
                place + 1,
                clusters[place],
                name,
                # Some cannot be computed from a single segment.
                *(
                    known(column[place])
                    for column in (scores.raw, scores.z, scores.z_se, scores.z_low, scores.z_high)
                ),
                ranking.rated_means.get(name),
                int(scores.n_segments[place]),
                int(ranking.n_incomplete[place]),
                int(scores.n_ratings[place]),
                wins[place],
                test,
            )
        )
    return rows
