"""The table of predictions: errors, as submitted and rescaled, and who wins."""

from dataclasses import replace
from typing import Literal

from ..stats.quality_estimation import RESCALED_SPREAD
from ..tables.table import Cell, Column, Table, correlation, number, text
from .results import GoldEvaluation, Options, PredictionComparison, PredictionResult
from .wording import bold_sentence, level_and_correction, rows_name, sample

SORT_NAMES = {"r": "r", "mae": "MAE", "rmse": "RMSE", "delta_avg": "DeltaAvg"}


def prediction_table(gold: GoldEvaluation, options: Options) -> Table:
    """Return the errors of predictions, as submitted and rescaled, with the winners of each measure."""
    titles = ["r", "MAE", "RMSE", "MAE rescaled", "RMSE rescaled", "DeltaAvg", "Spearman"]
    segment_results = {row.metric: row for row in gold.segment}
    by_measure = {test.measure: test for test in gold.prediction_comparisons}
    names = [row.metric for row in gold.predictions]
    winners = {name: test.winners(options.alpha) for name, test in by_measure.items()}
    like = {name: test.like(options.baseline, options.alpha) for name, test in by_measure.items()}

    def tested(row: PredictionResult, measure: Literal["mae", "delta_avg"]) -> Cell:
        cell = number(getattr(row, measure).estimate, bold=row.metric in winners.get(measure, ()))
        return replace(cell, shaded=row.metric in like.get(measure, ()))

    rows = []
    for row in sorted_predictions(gold, options):
        segment = segment_results[row.metric]
        rows.append(
            [
                text(row.metric),
                correlation(segment.pearson.estimate, bold=segment.is_winner),
                tested(row, "mae"),
                number(row.rmse.estimate),
                number(row.rescaled_mae.estimate),
                number(row.rescaled_rmse.estimate),
                tested(row, "delta_avg"),
                correlation(segment.spearman.estimate),
            ]
        )
    if constant := gold.constant:
        errors = [number(constant.mae.estimate), number(constant.rmse.estimate)]
        rest = [number(None), number(None), number(constant.delta_avg.estimate), number(None)]
        rows.append([text(constant.metric), correlation(None), *errors, *rest])
    return Table(
        name=f"prediction-{gold.gold.name}",
        caption=f"Predictions of {gold.gold.name}",
        columns=[Column("system", is_number=False), *map(Column, titles)],
        rows=rows,
        note=_prediction_note(gold, options, options.baseline in names),
        lines_after=frozenset({len(rows) - 2} if gold.constant else ()),
    )


def sorted_predictions(gold: GoldEvaluation, options: Options) -> list[PredictionResult]:
    """Return the predictions in the order that was chosen, best first; those without a value last."""
    if options.sort == "r":
        return list(gold.predictions)
    sign = -1 if options.sort == "delta_avg" else 1

    def place(row: PredictionResult) -> float:
        value = getattr(row, options.sort).estimate
        return float("inf") if value is None else sign * value

    return sorted(gold.predictions, key=place)


def _prediction_note(gold: GoldEvaluation, options: Options, has_baseline: bool) -> str:
    n_gamed = sum(
        _estimate(row, "rescaled_mae") < _estimate(row, "mae") for row in gold.predictions
    )
    least = min((_estimate(row, "mae") for row in gold.predictions), default=None)
    note = f"{sample(gold, options)} Sorted by {SORT_NAMES[options.sort]}. {bold_sentence(gold.comparison, options)}"
    if gold.prediction_comparisons:
        sentence = _prediction_sentence(gold.prediction_comparisons[0], options)
        note += f" In the columns MAE and DeltaAvg: the best and those not significantly worse; {sentence}"
    if has_baseline and gold.prediction_comparisons:
        note += (
            f" Shaded (°): not significantly different from {options.baseline} by the same test."
        )
    note += _constant_sentence(gold)
    return note + (
        f" Errors can be gamed: rescaling predictions to the mean of "
        f"the gold and {RESCALED_SPREAD:g} of its standard deviation does not change r, but lowers "
        f"the MAE of {n_gamed} of {len(gold.predictions)} systems. The smallest MAE as submitted is "
        f"{number(least).text}."
    )


def _constant_sentence(gold: GoldEvaluation) -> str:
    """Say how many systems have no smaller errors than a prediction that never changes."""
    if gold.constant is None:
        return ""
    mean = _estimate(gold.constant, "mae")
    n_worse = sum(_estimate(row, "mae") >= mean for row in gold.predictions)
    return (
        f" {gold.constant.metric}: the mean of {gold.gold.name}, predicted everywhere. The MAE of {n_worse} of "
        f"{len(gold.predictions)} systems is not below it."
    )


def _prediction_sentence(test: PredictionComparison, options: Options) -> str:
    """Explain which test decides which errors are in bold."""
    how = f"{'paired bootstrap' if test.is_bootstrap else 't test'} by {test.unit}"
    if test.unit == "translation":
        how = f"paired bootstrap over {rows_name(options)}"
    return f"{how}, one-sided, {level_and_correction(test, options)}."


def _estimate(result: PredictionResult, name: str) -> float:
    value = getattr(result, name).estimate
    return float("inf") if value is None else value
