"""One table of metrics over several evaluations, such as those of several language pairs."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from ..models import Evaluation
from ..tables.table import Column, Table, correlation, text
from .results import EvaluationResult, GoldEvaluation, SegmentResult
from .stored_evaluations import result_of
from .wording import level_and_correction, name_of_test

NAME = "metrics-by-evaluation"


@dataclass(frozen=True, slots=True)
class TitledResult:
    """An evaluation and the title of its column."""

    title: str
    result: EvaluationResult


def table_across(results: Sequence[TitledResult], *, name: str = NAME) -> Table:
    """Return the r of every metric, with a column for each evaluation and gold.

    Parameters
    ----------
    results : sequence of TitledResult
    name : str
        Of the table's files.

    Returns
    -------
    Table
        The best mean r first; metrics that some column does not have are last. Winners of each column are in bold.
    """
    columns = [
        (_title(each, gold), gold) for each in results for gold in each.result.golds if gold.segment
    ]
    rows_by_column = [{row.metric: row for row in gold.segment} for _, gold in columns]
    metrics = dict.fromkeys(metric for rows in rows_by_column for metric in rows)
    means = {metric: _mean(metric, rows_by_column) for metric in metrics}
    order = sorted(metrics, key=lambda metric: (means[metric] is None, -(means[metric] or 0)))
    return Table(
        name=name,
        caption="Pearson correlations of metrics with gold",
        columns=[
            Column("metric", is_number=False),
            *(Column(title) for title, _ in columns),
            Column("mean"),
        ],
        rows=[
            [
                text(metric),
                *(
                    correlation(row.pearson.estimate, bold=row.is_winner)
                    if (row := rows.get(metric))
                    else correlation(None)
                    for rows in rows_by_column
                ),
                correlation(means[metric]),
            ]
            for metric in order
        ],
        note=_note(results, columns),
    )


def titled(evaluations: Sequence[Evaluation]) -> list[TitledResult]:
    """Title stored evaluations by their language pair if all differ, otherwise by their full name."""
    pairs = [_language_pair(evaluation) for evaluation in evaluations]
    are_pairs = None not in pairs and len(set(pairs)) == len(pairs)
    return [
        TitledResult(pair if are_pairs and pair else str(evaluation), result_of(evaluation))
        for evaluation, pair in zip(evaluations, pairs, strict=True)
    ]


def _language_pair(evaluation: Evaluation) -> str | None:
    campaign = evaluation.campaign
    return f"{campaign.source_language}-{campaign.target_language}" if campaign else None


def _title(each: TitledResult, gold: GoldEvaluation) -> str:
    n_golds = sum(bool(other.segment) for other in each.result.golds)
    return f"{each.title}, {gold.gold.name}" if n_golds > 1 else each.title


def _mean(metric: str, rows_by_column: Sequence[dict[str, SegmentResult]]) -> float | None:
    """Return the mean r; None if a column has none."""
    values = [rows[metric].pearson.estimate if metric in rows else None for rows in rows_by_column]
    known_values = [value for value in values if value is not None]
    return fmean(known_values) if len(known_values) == len(values) else None


def _note(results: Sequence[TitledResult], columns: Sequence[tuple[str, GoldEvaluation]]) -> str:
    sizes = ", ".join(f"{title} {gold.gold.n:,}" for title, gold in columns)
    tests = dict.fromkeys(
        f"{name_of_test(gold.comparison)}, one-sided, {level_and_correction(gold.comparison, each.result.options)}"
        for each in results
        for gold in each.result.golds
        if gold.comparison is not None
    )
    note = f"Translations: {sizes}. Bold: not significantly outperformed by any other metric of its column"
    note += f" ({'; '.join(tests)})." if tests else "."
    if any(not row.higher_is_better for _, gold in columns for row in gold.segment):
        note += " Metrics where lower is better have their signs reversed."
    return note
