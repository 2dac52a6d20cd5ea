"""The figures of an evaluation. Some need only the stored result, others the scores."""

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from da_platform.plots.rendering import Picture

from ..plots.densities import densities
from ..plots.flagging import flagging
from ..plots.heat_maps import correlation_map, significance_map
from ..plots.scatter import scatter, standardised_scatter
from ..scores.score_tables import shown
from ..stats.quality_estimation import rescale_predictions
from ..stats.thresholds import ALPHA
from .aligned_rows import Rows
from .contrasts import Scored, paired
from .engine import Evaluated
from .file_names import Parts, file_names
from .good_enough import SHARES
from .rank_changes import rank_changes
from .results import (
    Comparison,
    EvaluationResult,
    GoldComparison,
    GoldEvaluation,
    Options,
    numbers,
)
from .wording import MEASURE_NAMES, level_and_correction, level_name, name_of_test

# Scatter plots drawn by default, of the best metrics under each gold.
SCATTERS = 2


def pictures_of_result(result: EvaluationResult) -> list[Picture]:
    """Return the figures that need only the result."""
    names = file_names(result)
    pictures = significance_maps(result)
    # Once is enough: under another gold, the correlations between metrics look the same.
    compared = [gold for gold in result.golds if gold.comparison is not None]
    pictures += [_between(gold) for gold in compared[:1]]
    pictures += [
        flagging_of(gold, names["flagging", gold.gold.name])
        for gold in result.golds
        if gold.good_enough
    ]
    pictures += [
        rank_changes(
            pair.changes,
            golds=(pair.first, pair.second),
            level=level_name(pair.level, result.options),
            name=names["rank-changes", pair.level, pair.first, pair.second],
        )
        for pair in result.comparisons
    ]
    return pictures


def significance_maps(result: EvaluationResult) -> list[Picture]:
    """Return the significance map of every measure under every gold."""
    names = file_names(result)
    return [
        significance_of(gold, test, result.options, names[map_parts(gold, test)])
        for gold in result.golds
        for test in gold.shown_tests(result.options)
    ]


def main_maps(result: EvaluationResult) -> set[str]:
    """Return the names of the maps of r: enough for a report, whose data has all of them."""
    names = file_names(result)
    return {
        names[map_parts(gold, test)]
        for gold in result.golds
        for test in gold.shown_tests(result.options)
        if test.measure == "pearson"
    }


def map_parts(gold: GoldEvaluation, test: Comparison) -> Parts:
    """Return what the file of a significance map is named after; r at segment level needs no more words."""
    if (test.level, test.measure) == ("segment", "pearson"):
        return "significance", gold.gold.name
    return "significance", test.level, test.measure, gold.gold.name


def significance_of(gold: GoldEvaluation, test: Comparison, options: Options, name: str) -> Picture:
    """Plot which metrics significantly outperform which in one measure."""
    return significance_map(
        test.metrics,
        test.estimates,
        numbers(test.pvalue),
        adjusted=None if test.correction == "none" else test.adjusted,
        winners=gold.winners if test is gold.comparison else test.winners,
        name=name,
        gold_name=gold.gold.name,
        measure=f"{MEASURE_NAMES[test.measure]}, {level_name(test.level, options)}",
        test=f"{name_of_test(test)}, {level_and_correction(test, replace(options, alpha=ALPHA))}",
    )


def _between(gold: GoldEvaluation) -> Picture:
    compared = gold.comparison
    assert compared is not None
    return correlation_map(compared.metrics, numbers(compared.between))


def pictures_of(evaluated: Evaluated, *, scatters: Collection[str] = ()) -> list[Picture]:
    """Return all figures of an evaluation.

    Parameters
    ----------
    evaluated : Evaluated
    scatters : collection of str
        Metrics to plot against gold; by default, the best `SCATTERS` under each gold.

    Returns
    -------
    list of Picture
    """
    pictures, names = pictures_of_result(evaluated.result), file_names(evaluated.result)
    for gold in evaluated.result.golds:
        gold_name = gold.gold.name
        rows = evaluated.rows.get(gold_name)
        if rows is None:
            continue
        if gold.predictions:
            pictures.append(densities_of(gold, rows, names["densities", gold_name]))
        chosen = scatters or [row.metric for row in gold.segment[:SCATTERS]]
        pictures += [
            scatter_of(gold, rows, metric, names["scatter", metric, gold_name])
            for metric in rows.metrics
            if metric in chosen
        ]
        pictures += [
            standardised_of(gold, rows, metric, names["standardised", metric, gold_name])
            for metric in standardised_metrics(gold)
            if metric in chosen
        ]
    pictures += [
        scatter_of_golds(pair, evaluated.rows[pair.first], evaluated.rows[pair.second], name)
        for pair in evaluated.result.comparisons
        if pair.contrast is not None
        for name in [names["golds", pair.level, pair.first, pair.second]]
    ]
    return pictures


def scatter_of_golds(pair: GoldComparison, first: Rows, second: Rows, name: str) -> Picture:
    """Plot one gold against another, with segments as hover texts."""
    pairs = paired(Scored.gold_of(first), Scored.gold_of(second))
    assert pairs is not None
    return scatter(
        pair.first,
        *pairs.scores,
        [shown(key) for key in pairs.keys],
        directions=pairs.directions,
        gold_name=pair.second,
        r=None if pair.between is None else pair.between.estimate,
        name=name,
    )


def flagging_of(gold: GoldEvaluation, name: str) -> Picture:
    """Plot how well metrics find what is not good enough."""
    found = gold.good_enough
    assert found is not None
    return flagging(
        [row.metric for row in found.rows],
        np.array([row.found for row in found.rows], dtype=np.float64),
        SHARES,
        share_bad=found.share_bad,
        gold_name=gold.gold.name,
        name=name,
    )


def densities_of(gold: GoldEvaluation, rows: Rows, name: str) -> Picture:
    """Plot the distributions of predictions and gold."""
    metrics = [row.metric for row in gold.predictions]
    predictions = [rows.scores[rows.metrics.index(metric)] for metric in metrics]
    return densities(
        metrics,
        predictions,
        rows.gold,
        rescaled=[rescale_predictions(values, rows.gold) for values in predictions],
        errors=[row.mae.estimate for row in gold.predictions],
        rescaled_errors=[row.rescaled_mae.estimate for row in gold.predictions],
        higher_is_better=gold.gold.higher_is_better,
        gold_name=gold.gold.name,
        name=name,
    )


def scatter_of(gold: GoldEvaluation, rows: Rows, metric: str, name: str) -> Picture:
    """Plot one metric against gold, with segments as hover texts."""
    result = next(row for row in gold.segment if row.metric == metric)
    return scatter(
        metric,
        rows.scores[rows.metrics.index(metric)],
        rows.gold,
        [shown(key) for key in rows.alignment.keys],
        directions=(result.higher_is_better, gold.gold.higher_is_better),
        gold_name=gold.gold.name,
        r=result.pearson.estimate,
        name=name,
    )


def standardised_metrics(gold: GoldEvaluation) -> list[str]:
    """Return the predictions that can be standardised: all that are not constant."""
    return [row.metric for row in gold.predictions if row.rescaled_mae.estimate is not None]


def standardised_of(gold: GoldEvaluation, rows: Rows, metric: str, name: str) -> Picture:
    """Plot one system's standardised predictions against standardised gold."""
    higher_is_better = gold.gold.higher_is_better
    return standardised_scatter(
        metric,
        rows.scores[rows.metrics.index(metric)],
        rows.gold,
        [shown(key) for key in rows.alignment.keys],
        directions=(higher_is_better, higher_is_better),
        gold_name=gold.gold.name,
        name=name,
    )
