"""Names of files: everything that can be made of a result has one, and no two share one."""

import re
from collections.abc import Iterator

from .results import EvaluationResult

# What a thing is, and what it is of: ("scatter", metric, gold).
Parts = tuple[str, ...]


def stem(*parts: str) -> str:
    """Return a name for files made of names from elsewhere: letters, digits, points and hyphens."""
    plain = "-".join(parts).casefold()
    return re.sub(r"[^\w.-]+", "-", plain).strip("-.") or "unnamed"


def file_names(result: EvaluationResult) -> dict[Parts, str]:
    """Name the file of every table and picture that a result can have, always in the same way.

    Parameters
    ----------
    result : EvaluationResult

    Returns
    -------
    dict
        The stem by what it is of. Of several that would be equal, as those of BLEU and bleu, the later
        ones end in a number.
    """
    names: dict[Parts, str] = {}
    taken: set[str] = set()
    for parts in _things(result):
        names[parts] = _free(stem(*parts), taken)
        taken.add(names[parts])
    return names


def _free(name: str, taken: set[str]) -> str:
    tried, number = name, 1
    while tried in taken:
        number += 1
        tried = f"{name}-{number}"
    return tried


def _things(result: EvaluationResult) -> Iterator[Parts]:
    for gold in result.golds:
        name = gold.gold.name
        for kind in ("segment", "prediction", "system", "significance", "densities"):
            yield kind, name
        for one in gold.breakdowns:
            yield "by", one.by, name
            yield "groups", one.by, name
        for metric in gold.segment:
            yield "scatter", metric.metric, name
    for compared in result.comparisons:
        for kind in ("compared", "rank-changes"):
            yield kind, compared.level, compared.first, compared.second
