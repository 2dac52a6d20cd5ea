"""The pictures of an evaluation. Some need the result alone, and can be drawn again from its JSON."""

from collections.abc import Collection

from ..plots.densities import densities
from ..plots.heat_maps import correlation_map, significance_map
from ..plots.rank_changes import rank_changes
from ..plots.rendering import Picture
from ..plots.scatter import scatter
from ..scores.table import shown
from .engine import Evaluated
from .naming import file_names
from .results import EvaluationResult, GoldComparison, GoldEvaluation, numbers
from .rows import Rows

# Scatter plots that are drawn unasked: of the best metrics under each gold.
SCATTERS = 2


def pictures_of_result(result: EvaluationResult) -> list[Picture]:
    """Return the pictures that need no more than the result."""
    names = file_names(result)
    compared = [gold for gold in result.golds if gold.comparison is not None]
    found = [_significance(gold, names["significance", gold.gold.name]) for gold in compared]
    # Under another gold it is over other rows, and looks the same.
    found += [_between(gold) for gold in compared[:1]]
    found += [
        _changes(one, names["rank-changes", one.level, one.first, one.second])
        for one in result.comparisons
    ]
    return found


def _significance(gold: GoldEvaluation, name: str) -> Picture:
    compared = gold.comparison
    assert compared is not None
    return significance_map(
        compared.metrics,
        compared.r,
        numbers(compared.pvalue),
        winners=gold.winners,
        name=name,
        against=gold.gold.name,
    )


def _between(gold: GoldEvaluation) -> Picture:
    compared = gold.comparison
    assert compared is not None
    return correlation_map(compared.metrics, numbers(compared.between))


def _changes(found: GoldComparison, name: str) -> Picture:
    return rank_changes(found.changes, golds=(found.first, found.second), name=name)


def pictures_of(evaluated: Evaluated, *, scatters: Collection[str] = ()) -> list[Picture]:
    """Return all pictures of an evaluation.

    Parameters
    ----------
    evaluated : Evaluated
    scatters : collection of str
        Metrics to show against gold; the best `SCATTERS` under each gold if there are none.

    Returns
    -------
    list of Picture
    """
    found, names = pictures_of_result(evaluated.result), file_names(evaluated.result)
    for gold in evaluated.result.golds:
        own = gold.gold.name
        rows = evaluated.rows.get(own)
        if rows is None:
            continue
        if gold.predictions:
            found.append(densities_of(gold, rows, names["densities", own]))
        chosen = scatters or [one.metric for one in gold.segment[:SCATTERS]]
        found += [
            scatter_of(gold, rows, metric, names["scatter", metric, own])
            for metric in rows.metrics
            if metric in chosen
        ]
    return found


def densities_of(gold: GoldEvaluation, rows: Rows, name: str) -> Picture:
    """Return how predictions and gold are distributed."""
    names = [one.metric for one in gold.predictions]
    return densities(
        names,
        [rows.scores[rows.metrics.index(name)] for name in names],
        rows.gold,
        errors=[one.mae.estimate for one in gold.predictions],
        gold_name=gold.gold.name,
        name=name,
    )


def scatter_of(gold: GoldEvaluation, rows: Rows, metric: str, name: str) -> Picture:
    """Return one metric against gold, its points named by their segments."""
    found = next(one for one in gold.segment if one.metric == metric)
    return scatter(
        metric,
        rows.scores[rows.metrics.index(metric)],
        rows.gold,
        [shown(key) for key in rows.alignment.keys],
        gold_name=gold.gold.name,
        r=found.pearson.estimate,
        name=name,
    )
