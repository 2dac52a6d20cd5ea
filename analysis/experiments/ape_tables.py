"""The tables of automatic post-editing."""

from typing import Any

from ..stats.thresholds import bare
from ..tables.table import Cell, Column, Table, correlation, count, interval, number, text
from .base import Result
from .comparing import correction_note

# The system that leaves every output as it is. Its name has brackets, unlike those of files.
NOTHING_DONE = "(do nothing)"
TEST = "bootstrap"
EDIT_KINDS = ("insertions", "deletions", "substitutions", "shifts")


def tables(result: Result) -> list[Table]:
    """Return the scores, the tests against doing nothing and between systems, and what was changed."""
    found = [_scores(result), _against_nothing(result)]
    if len(result["systems"]) > 2:
        found.append(_between_systems(result))
    return [*found, _sentences(result), _edits(result)]


def main_row(result: Result) -> dict[str, Any]:
    return next(row for row in result["rows"] if row["metric"] == result["options"]["main"])


def verdict(result: Result, row: dict[str, Any], place: int) -> str:
    """Say how a system compares with doing nothing."""
    p = row["adjusted"][TEST]
    if p[place][0] < result["options"]["alpha"]:
        return "significantly better than"
    if p[0][place] < result["options"]["alpha"]:
        return "significantly worse than"
    return "not significantly different from"


def _scores(result: Result) -> Table:
    main = main_row(result)
    rows = []
    for place in main["order"]:
        cells = [text(result["systems"][place])]
        for row in result["rows"]:
            cells.append(number(row["estimates"][place], 2))
            if row is main:
                cells.append(interval(row["low"][place], row["high"][place], 2))
        rows.append(cells)
    columns = [Column("system", is_number=False)]
    for row in result["rows"]:
        columns.append(Column(row["metric"]))
        if row is main:
            columns.append(Column(f"{row['metric']} interval", parts=("low", "high")))
    left_out = f", {result['n_left_out']:,} without one left out" if result["n_left_out"] else ""
    return Table(
        name="ape-scores",
        caption="Automatic post-editing",
        columns=columns,
        rows=rows,
        note=f"{result['n_segments']:,} sentences with post-editions{left_out}. TER: edits for each 100 words of the post-editions; -lc "
        "ignores case, -mean averages over sentences; lower is better. Interval: percentile bootstrap over sentences, "
        f"{result['options']['confidence']:.0%}.",
    )


def _against_nothing(result: Result) -> Table:
    rows = []
    for row in result["rows"]:
        p = row["adjusted"][TEST]
        for place, difference in enumerate(row["differences"], start=1):
            rows.append(
                [
                    text(row["metric"]),
                    text(result["systems"][place]),
                    number(difference["estimate"], 2),
                    interval(difference["low"], difference["high"], 2),
                    _p(result, p[place][0]),
                    _p(result, p[0][place]),
                ]
            )
    return Table(
        name="ape-tests",
        caption="Automatic post-editing compared with doing nothing",
        columns=[
            Column("measure", is_number=False),
            Column("system", is_number=False),
            Column("difference"),
            Column("interval", parts=("low", "high")),
            Column("p, better"),
            Column("p, worse"),
        ],
        rows=rows,
        note=f"The difference is after minus before. {_test_note(result)}",
    )


def _between_systems(result: Result) -> Table:
    rows = []
    for row in result["rows"]:
        order = [place for place in row["order"] if place]
        for first, i in enumerate(order):
            for j in order[first + 1 :]:
                rows.append(
                    [
                        text(row["metric"]),
                        text(result["systems"][i]),
                        text(result["systems"][j]),
                        number(row["estimates"][i] - row["estimates"][j], 2),
                        _p(result, row["adjusted"][TEST][i][j]),
                    ]
                )
    return Table(
        name="ape-pairs",
        caption="Tests between systems for automatic post-editing",
        columns=[
            *(Column(title, is_number=False) for title in ("measure", "better", "worse")),
            Column("difference"),
            Column("p"),
        ],
        rows=rows,
        note=_test_note(result),
    )


def _p(result: Result, value: float) -> Cell:
    return number(value, 4, bold=value < result["options"]["alpha"])


def _test_note(result: Result) -> str:
    options = result["options"]
    return (
        f"One-sided p-values of the paired bootstrap, {correction_note(options)} for all pairs in a measure. Bold: p < "
        f"{bare(options['alpha'])}."
    )


def _sentences(result: Result) -> Table:
    n = result["n_segments"]
    rows = []
    for row in result["changes"]:
        share = row["precision"]
        rows.append(
            [
                text(row["name"]),
                count(row["modified"]),
                correlation(row["modified"] / n),
                count(row["improved"]),
                count(row["deteriorated"]),
                count(row["same"]),
                correlation(share["n_right"] / share["n"] if share else None),
                interval(*(share["low"], share["high"]) if share else (None, None)),
            ]
        )
    return Table(
        name="ape-sentences",
        caption="Sentences after automatic post-editing",
        columns=[
            Column("system", is_number=False),
            Column("modified"),
            Column("share modified"),
            Column("improved"),
            Column("deteriorated"),
            Column("as far as before"),
            Column("precision"),
            Column("precision interval", parts=("low", "high")),
        ],
        rows=rows,
        note=f"Of {n:,} sentences. Improved: fewer edits to the post-edition than before (TER with case). Precision: the share of modified "
        "sentences that were improved, with its exact interval.",
    )


def _edits(result: Result) -> Table:
    people = {"name": "(people)", "edits": result["edits_of_people"]}
    rows = []
    for row in [*result["changes"], people]:
        total = sum(row["edits"].values())
        cells = [text(row["name"]), count(total)]
        for kind in EDIT_KINDS:
            n_edits = row["edits"][kind]
            share = correlation(n_edits / total if total else None)
            cells.append(Cell(f"{n_edits:,} ({share.text})", (n_edits, share.value)))
        rows.append(cells)
    columns = [Column("system", is_number=False), Column("edits")]
    columns += [Column(kind, parts=("number", "share")) for kind in EDIT_KINDS]
    return Table(
        name="ape-edits",
        caption="Kinds of edits",
        columns=columns,
        rows=rows,
        note="Numbers and shares of the edits, counted by TER with case, from the output before to the output after; in the last row, to the post-edition.",
        lines_after=frozenset({len(rows) - 2}),
    )
