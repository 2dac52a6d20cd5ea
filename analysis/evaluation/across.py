"""One table of metrics over several evaluations, such as those of several language pairs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal, cast, get_args

from ..models import Evaluation
from ..tables.table import Column, Table, correlation, number, text
from .model_sizes import facts_of
from .results import EvaluationResult, GoldEvaluation, Measure, Value
from .stored_evaluations import result_of
from .wording import level_and_correction, name_of_test

NAME = "metrics-by-evaluation"

AcrossMeasure = Literal["pearson", "spearman", "kendall", "mae", "rmse", "roc", "precision"]
ACROSS_MEASURES: dict[AcrossMeasure, str] = {
    "pearson": "Pearson correlations of metrics with gold",
    "spearman": "Spearman correlations of metrics with gold",
    "kendall": "Kendall correlations of metrics with gold",
    "mae": "Mean absolute errors of predictions of gold",
    "rmse": "Root mean squared errors of predictions of gold",
    "roc": "Areas under the ROC curve for finding what is not good enough",
    "precision": "Average precision for finding what is not good enough",
}
# Only evaluations of quality predictions have these; lower is better.
ERRORS = ("mae", "rmse")
# Only evaluations that ask what is good enough have these.
FLAGGING = ("roc", "precision")
# There are no tests of these.
UNTESTED = ("rmse", *FLAGGING)

assert tuple(ACROSS_MEASURES) == get_args(AcrossMeasure)


@dataclass(frozen=True, slots=True)
class TitledResult:
    """An evaluation and the title of its column."""

    title: str
    result: EvaluationResult


def table_across(
    results: Sequence[TitledResult], *, measure: AcrossMeasure = "pearson", name: str = NAME
) -> Table:
    """Return one measure of every metric, with a column for each evaluation and gold, and the mean.

    Parameters
    ----------
    results : sequence of TitledResult
    measure : {"pearson", "spearman", "kendall", "mae", "rmse", "roc", "precision"}
        Errors are known only for evaluations of quality predictions, the last two only for those that ask what is
        good enough.
    name : str
        Of the table's files.

    Returns
    -------
    Table
        The best mean first; metrics that some column does not have are last. Winners of each column are in bold.
    """
    columns = [
        (_title(each, gold), gold) for each in results for gold in each.result.golds if gold.segment
    ]
    values = [_values(gold, measure) for _, gold in columns]
    winners = [
        _winners(gold, measure, each.result.options.alpha)
        for each in results
        for gold in each.result.golds
        if gold.segment
    ]
    metrics = dict.fromkeys(metric for column in values for metric in column)
    means = {metric: _mean(metric, values) for metric in metrics}
    sign = 1 if measure in ERRORS else -1
    order = sorted(metrics, key=lambda metric: (means[metric] is None, sign * (means[metric] or 0)))
    cell = number if measure in ERRORS else correlation
    return Table(
        name=name,
        caption=ACROSS_MEASURES[measure],
        columns=[
            Column("metric", is_number=False),
            *(Column(title) for title, _ in columns),
            Column("mean"),
        ],
        rows=[
            [
                text(metric),
                *(
                    cell(column.get(metric), bold=metric in best)
                    for column, best in zip(values, winners, strict=True)
                ),
                cell(means[metric]),
            ]
            for metric in order
        ],
        note=_note(results, columns, measure),
    )


def _values(gold: GoldEvaluation, measure: AcrossMeasure) -> dict[str, Value]:
    if measure in FLAGGING:
        flagging = gold.good_enough.rows if gold.good_enough else ()
        return {row.metric: getattr(row, measure).estimate for row in flagging}
    rows = gold.predictions if measure in ERRORS else gold.segment
    return {row.metric: getattr(row, measure).estimate for row in rows}


def _winners(gold: GoldEvaluation, measure: AcrossMeasure, alpha: float) -> tuple[str, ...]:
    """Return the metrics that no other significantly outperforms; empty if that was not tested."""
    if measure in UNTESTED:
        return ()
    if measure == "mae":
        tests = (test for test in gold.prediction_comparisons if test.measure == measure)
        return next((test.winners(alpha) for test in tests), ())
    return gold.winners_in("segment", cast(Measure, measure))


def titled(evaluations: Sequence[Evaluation]) -> list[TitledResult]:
    """Title stored evaluations by their language pair if all differ, otherwise by their full name."""
    results = [result_of(evaluation) for evaluation in evaluations]
    pairs = [_language_pair(*each) for each in zip(evaluations, results, strict=True)]
    are_pairs = None not in pairs and len(set(pairs)) == len(pairs)
    return [
        TitledResult(pair if are_pairs and pair else str(evaluation), result)
        for evaluation, result, pair in zip(evaluations, results, pairs, strict=True)
    ]


def _language_pair(evaluation: Evaluation, result: EvaluationResult) -> str | None:
    """Return the languages of a campaign, or those that were chosen from the files of a collection."""
    if campaign := evaluation.campaign:
        return f"{campaign.source_language}-{campaign.target_language}"
    chosen = {
        value
        for source in result.inputs
        for name, value in facts_of(source)
        if name == "language_pair"
    }
    return chosen.pop() if len(chosen) == 1 else None


def _title(each: TitledResult, gold: GoldEvaluation) -> str:
    n_golds = sum(bool(other.segment) for other in each.result.golds)
    return f"{each.title}, {gold.gold.name}" if n_golds > 1 else each.title


def _mean(metric: str, columns: Sequence[Mapping[str, Value]]) -> float | None:
    """Return the mean over all columns; None if a column has none."""
    values = [column.get(metric) for column in columns]
    known_values = [value for value in values if value is not None]
    return fmean(known_values) if len(known_values) == len(values) else None


def _note(
    results: Sequence[TitledResult],
    columns: Sequence[tuple[str, GoldEvaluation]],
    measure: AcrossMeasure,
) -> str:
    note = f"Translations: {', '.join(f'{title} {gold.gold.n:,}' for title, gold in columns)}."
    if measure in ERRORS:
        note += " Lower is better."
    if measure not in UNTESTED:
        tests = dict.fromkeys(
            test
            for each in results
            for gold in each.result.golds
            if (test := _test(gold, measure, each.result))
        )
        note += " Bold: not significantly outperformed by any other metric of its column"
        note += f" ({'; '.join(tests)})." if tests else "."
    if measure in ERRORS:
        return note
    if any(not row.higher_is_better for _, gold in columns for row in gold.segment):
        note += " Metrics where lower is better have their signs reversed."
    return note


def _test(gold: GoldEvaluation, measure: AcrossMeasure, result: EvaluationResult) -> str | None:
    """Describe the test behind the bold cells of a column."""
    if measure == "mae":
        errors = next((test for test in gold.prediction_comparisons if test.measure == "mae"), None)
        if errors is None:
            return None
        test = "paired bootstrap" if errors.unit == "translation" else f"t test by {errors.unit}"
        return f"{test}, one-sided, {level_and_correction(errors, result.options)}"
    if measure in UNTESTED or (test_of := gold.test_of("segment", cast(Measure, measure))) is None:
        return None
    return f"{name_of_test(test_of)}, one-sided, {level_and_correction(test_of, result.options)}"
