"""Unique file names for the tables and figures of a result."""

import re
from collections.abc import Iterator

from .results import EvaluationResult

# What a file shows, such as ("scatter", metric, gold).
Parts = tuple[str, ...]


def stem(*parts: str) -> str:
    """Join names from users into a file name of letters, digits, points and hyphens."""
    plain = "-".join(parts).casefold()
    return re.sub(r"[^\w.-]+", "-", plain).strip("-.") or "unnamed"


def file_names(result: EvaluationResult) -> dict[Parts, str]:
    """Name the file of every table and figure that a result can have.

    Parameters
    ----------
    result : EvaluationResult

    Returns
    -------
    dict
        File names without a suffix. Where two would be equal, as for BLEU and bleu, the second ends
        in a number.
    """
    names: dict[Parts, str] = {}
    used_names: set[str] = set()
    for parts in _all_parts(result):
        names[parts] = _unused(stem(*parts), used_names)
        used_names.add(names[parts])
    return names


def _unused(name: str, used_names: set[str]) -> str:
    candidate, number = name, 1
    while candidate in used_names:
        number += 1
        candidate = f"{name}-{number}"
    return candidate


def _all_parts(result: EvaluationResult) -> Iterator[Parts]:
    yield ("judgements",)
    yield ("models",)
    for gold in result.golds:
        name = gold.gold.name
        kinds = (
            "segment",
            "people",
            "prediction",
            "preference",
            "system",
            "tests",
            "significance",
            "densities",
            "good-enough",
            "flagging",
        )
        for kind in kinds:
            yield kind, name
        for test in gold.tests:
            yield "significance", test.level, test.measure, name
        for prediction_test in gold.prediction_comparisons:
            yield "significance", "segment", prediction_test.measure, name
        for breakdown in gold.breakdowns:
            yield "by", breakdown.by, name
            yield "groups", breakdown.by, name
        for metric in gold.segment:
            yield "scatter", metric.metric, name
            yield "standardised", metric.metric, name
    for comparison in result.comparisons:
        for kind in ("compared", "rank-changes", "golds", "contradictions"):
            yield kind, comparison.level, comparison.first, comparison.second
