"""Say which metrics are as good as workers."""

from dataclasses import replace

from ..scores.human_rows import ROW_NAMES, row_name
from ..stats.thresholds import bare
from ..tables.table import ENDS, Cell, Column, Table, correlation, interval, number, text
from .results import AgainstWorker, GoldEvaluation, HumanComparison, Options
from .wording import MEASURE_NAMES

# A metric is as good as one worker if the whole interval of its difference is above minus this margin.
MARGIN = 0.05


def human_sentence(gold: GoldEvaluation, options: Options) -> str:
    """Return how the metrics compare with each row of workers in r; empty without such rows.

    "No significant difference" does not mean equal: with few translations, no test can tell.
    """
    tests = gold.comparison
    if tests is None:
        return ""
    adjusted = tests.adjusted
    sentences = []
    for row in ROW_NAMES:
        if row not in tests.metrics:
            continue
        at_row = tests.metrics.index(row)
        groups: dict[str, list[str]] = {"better": [], "worse": [], "no significant difference": []}
        for place, metric in enumerate(tests.metrics):
            if metric in ROW_NAMES:
                continue
            if adjusted[place, at_row] < options.alpha:
                groups["better"].append(metric)
            elif adjusted[at_row, place] < options.alpha:
                groups["worse"].append(metric)
            else:
                groups["no significant difference"].append(metric)
        found = "; ".join(
            f"{group}: {', '.join(names)}" for group, names in groups.items() if names
        )
        sentences.append(f" Against {row} (p < {bare(options.alpha)}): {found}.")
    return "".join(sentences)


# Metrics next to one worker, in a table of their own ---------------------------------------------


def human_table(gold: GoldEvaluation, options: Options) -> Table:
    """Return the r of metrics and people, and how all measures differ from those of one worker."""
    by_r, *others = gold.humans
    of_others = [{row.metric: row for row in each.rows} for each in others]
    rows = [
        [
            text(row.metric),
            correlation(row.estimate),
            _difference(row, options),
            interval(row.difference.low, row.difference.high),
            number(row.adjusted_better),
            number(row.adjusted_worse),
            *(_difference(found[row.metric], options) for found in of_others),
        ]
        for row in by_r.rows
    ]
    worker = [text(row_name(1)), correlation(by_r.worker.estimate), *[Cell("–")] * 4]
    n_better = sum((row.estimate or 0) > (by_r.worker.estimate or 0) for row in by_r.rows)
    rows.insert(n_better, [*worker, *[Cell("–")] * len(others)])
    name = gold.gold.name
    return Table(
        name=f"people-{name}",
        caption=f"Metrics next to one worker, against {name} without that worker",
        columns=[
            Column("metric", is_number=False),
            *map(Column, ("r", "r − one worker")),
            Column(f"{options.confidence * 100:g} % interval", parts=ENDS),
            *map(Column, ("p better", "p worse")),
            *(Column(f"{MEASURE_NAMES[each.measure]} − one worker") for each in others),
        ],
        rows=rows,
        note=_human_note(by_r, options),
    )


def _difference(row: AgainstWorker, options: Options) -> Cell:
    cell = correlation(row.difference.estimate, bold=row.verdict(options.alpha) == "better")
    return replace(cell, shaded=row.verdict(options.alpha) == "no significant difference")


def _human_note(comparison: HumanComparison, options: Options) -> str:
    adjusted = "adjusted by Holm's method" if comparison.correction == "holm" else "not adjusted"
    return (
        f"n = {comparison.worker.n:,} translations of {comparison.n_units:,} {comparison.unit}s. The ratings of a few workers for "
        "each translation, chosen at random, are held out of the gold; one of them is “one worker”, the mean of "
        f"several has its own row. One-sided t tests by {comparison.unit}, {adjusted}, that a row is better, or worse, than one worker. "
        f"Bold: better; shaded (°): no significant difference at {bare(options.alpha)}. "
        f"{sentence_of(comparison, options)} This gold has fewer ratings than the full one, so every r is a little lower."
    )


def sentence_about_people(gold: GoldEvaluation, options: Options) -> str:
    """Say which metrics are as good as one worker in r; empty if there are no workers."""
    return sentence_of(gold.humans[0], options) if gold.humans else ""


def sentence_of(comparison: HumanComparison, options: Options) -> str:
    """Say which metrics are better or worse than one worker, and which are as good but for a margin."""
    groups: dict[str, list[str]] = {"better": [], "no significant difference": [], "worse": []}
    as_good = []
    for row in comparison.rows:
        if row.metric in ROW_NAMES:
            continue
        groups[row.verdict(options.alpha)].append(row.metric)
        if row.is_not_worse_by(MARGIN):
            as_good.append(row.metric)
    found = "; ".join(f"{group}: {', '.join(names)}" for group, names in groups.items() if names)
    return (
        f"Next to one worker (r = {correlation(comparison.worker.estimate).text}): {found}. As good as one worker, that is "
        f"with an r that is at most {MARGIN:g} lower over the whole interval: {', '.join(as_good) or 'none'}."
    )
