"""The tables, pictures and findings of word-level quality estimation."""

import json
from typing import Any

from da_platform.plots.rendering import Picture

from ..metrics.word_tags import spans_from_tags
from ..tables.table import Cell, Column, Table, correlation, count, interval, number, text
from . import tag_pictures
from .base import Result
from .comparing import correction_note

TITLES = {
    "matthews": "Matthews",
    "f1_bad": "F1-BAD",
    "f1_ok": "F1-OK",
    "f1_product": "F1 product",
    "f1_weighted": "weighted F1",
    "sequence": "sequence correlation",
}
# What the gold is called in the table of error spans; no submission can have this name.
GOLD = "(gold)"


def tables(result: Result) -> list[Table]:
    """Return the measures, their intervals, the p-values, and the calibration if systems gave probabilities."""
    found = [_measures_table(result), _intervals_table(result)]
    if len(result["rows"]) > 1:
        found.append(_tests_table(result))
    if result["calibration"]:
        found.append(_calibration_table(result))
    return found


def _measures_table(result: Result) -> Table:
    main, names = result["options"]["main"], [*TITLES]
    place = names.index(main)
    rows: list[list[Cell]] = [
        [
            text(row["name"], bold=row["is_winner"]),
            *(correlation(value) for value in row["estimates"]),
            interval(row["low"][place], row["high"][place]),
            _figure(row, "parameters"),
            _figure(row, "models"),
        ]
        for row in result["rows"]
    ]
    rows += [
        [
            text(row["name"]),
            *(correlation(value) for value in row["estimates"]),
            interval(None, None),
            *(number(None), number(None)),
        ]
        for row in result["baselines"]
    ]
    options = result["options"]
    left_out = result.get("n_left_out", 0)
    note = (
        f"{result['n_sentences']:,} sentences{f', {left_out:,} without a post-edition left out' if left_out else ''}, "
        f"{result['n_words']:,} {UNITS[options['part']]}, of which {result['share_bad']:.1%} are "
        f"BAD. Bold: the best and those it does not significantly outperform in {TITLES[main]} (approximate "
        f"randomisation, p < {options['alpha']:g}"
        f"{', Holm' if options['correction'] == 'holm' else ''}). The interval is that of {TITLES[main]}."
    )
    return Table(
        name="word-tags",
        caption="Word-level quality estimation",
        columns=[
            Column("submission", is_number=False),
            *(Column(title) for title in TITLES.values()),
            Column(f"{options['confidence']:.0%} interval", parts=("low", "high")),
            Column("parameters"),
            Column("models"),
        ],
        rows=rows,
        note=note,
        lines_after=frozenset({len(result["rows"]) - 1}),
    )


# What is tagged.
UNITS = {"words": "words", "gaps": "gaps", "source": "words of the source"}


def _figure(row: dict[str, Any], name: str) -> Cell:
    value = row["figures"].get(name, "")
    return count(int(value)) if value.isdigit() else number(None)


def _intervals_table(result: Result) -> Table:
    options = result["options"]
    return Table(
        name="word-tag-intervals",
        caption=f"{options['confidence']:.0%} intervals of all measures",
        columns=[
            Column("submission", is_number=False),
            *(Column(title, parts=("low", "high")) for title in TITLES.values()),
        ],
        rows=[
            [text(row["name"]), *map(interval, row["low"], row["high"])] for row in result["rows"]
        ],
        note=f"Percentile bootstrap over sentences, {options['resamples']:,} resamples.",
    )


def _tests_table(result: Result) -> Table:
    names = [row["name"] for row in result["rows"]]
    return Table(
        name="word-tag-tests",
        caption=f"Is the row better than the column in {TITLES[result['options']['main']]}?",
        columns=[Column("submission", is_number=False), *(Column(name) for name in names)],
        rows=[
            [text(name), *(number(value, 4) for value in row)]
            for name, row in zip(names, result["adjusted"], strict=True)
        ],
        note=f"p-values of approximate randomisation, one-sided, {correction_note(result['options'])}.",
    )


def _calibration_table(result: Result) -> Table:
    return Table(
        name="calibration",
        caption="Calibration of the probabilities of BAD",
        columns=[Column("submission", is_number=False), Column("Brier"), Column("expected error")],
        rows=[
            [text(row["name"]), correlation(row["brier"]), correlation(row["error"])]
            for row in result["calibration"]
        ],
        note="Lower is better. The expected error is the mean distance between probability and share of BAD in ten bins.",
    )


def long_tables(result: Result) -> list[Table]:
    """Return the error spans of gold and submissions, if the words of the outputs are known."""
    return [_spans_table(result)] if result.get("has_words") else []


def _spans_table(result: Result) -> Table:
    rows = []
    for sentence in result["sentences"]:
        output = " ".join(sentence["words"])
        for name, tags in {GOLD: sentence["gold"], **sentence["tags"]}.items():
            spans = spans_from_tags(output, [tag == "B" for tag in tags])
            listed = json.dumps([list(span) for span in spans])
            rows.append([count(sentence["number"]), text(name), text(listed), text(output)])
    return Table(
        name="error-spans",
        caption="Error spans: runs of BAD words",
        columns=[
            Column("sentence"),
            *(Column(title, is_number=False) for title in ("submission", "spans", "output")),
        ],
        rows=rows,
    )


def findings(result: Result) -> list[str]:
    """Say who wins, and how far tagging everything BAD comes."""
    main, unit = result["options"]["main"], UNITS[result["options"]["part"]]
    place = [*TITLES].index(main)
    winners = ", ".join(row["name"] for row in result["rows"] if row["is_winner"])
    best, all_bad = result["rows"][0], result["baselines"][0]
    f1_bad = all_bad["estimates"][[*TITLES].index("f1_bad")]
    sentences = [
        f"{best['name']} has the highest {TITLES[main]} ({best['estimates'][place]:.3f}). Winning group: {winners}.",
        f"Tagging everything BAD has an F1-BAD of {f1_bad:.3f}, because {result['share_bad']:.1%} of the {unit} are BAD.",
    ]
    if left_out := result.get("n_left_out"):
        sentences.append(f"Sentences left out because they have no post-edition: {left_out:,}.")
    return sentences


def pictures(result: Result) -> list[Picture]:
    """Return the calibration of each submission with probabilities."""
    return [
        tag_pictures.reliability(row, place)
        for place, row in enumerate(result["calibration"], start=1)
    ]
