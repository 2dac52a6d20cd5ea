"""The sizes of the models behind scores, as submissions to WMT's quality estimation tasks state them."""

from collections.abc import Sequence

from ..scores.parsers import MODEL_FIGURES
from ..tables.table import Cell, Column, Table, count, text
from .results import EvaluationResult, Input

NAME = "models"


def facts_of(source: Input) -> list[tuple[str, str]]:
    """Return the facts of an input's signature, by name."""
    pairs = (fact.partition(":") for fact in source.signature.split("|") if fact)
    return [(name, value) for name, _, value in pairs]


def model_sizes_table(result: EvaluationResult) -> Table | None:
    """Return parameters, models in the ensemble and bytes on disk of each metric, or None if no file says so."""
    sizes = {
        source.name: {name: value for name, value in facts_of(source) if name in MODEL_FIGURES}
        for source in result.inputs
        if source.role == "metric"
    }
    rows = [
        [text(metric), *(_figure(figures.get(name, "")) for name in _COLUMNS)]
        for metric, figures in sizes.items()
        if figures
    ]
    if not rows:
        return None
    return Table(
        name=NAME,
        caption="Models behind the scores",
        columns=[Column("metric", is_number=False), *map(Column, _COLUMNS)],
        rows=rows,
        note="As the files of the scores state: parameters, models in an ensemble, and bytes on disk.",
    )


_COLUMNS: Sequence[str] = ("parameters", "models", "bytes")
assert {*_COLUMNS} == {*MODEL_FIGURES}


def _figure(value: str) -> Cell:
    return count(int(value)) if value.isdigit() else text(value)


def in_words(name: str, value: str) -> str:
    """Return a fact such as `583,891,109 parameters`; others stay as they are."""
    if name in MODEL_FIGURES:
        return f"{_figure(value).text} {name}"
    return f"{name}:{value}" if value else name
