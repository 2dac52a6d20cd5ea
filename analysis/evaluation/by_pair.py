"""Files of several language pairs, evaluated pair by pair, and the tables of their means."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from da_platform.files.problems import Problems

from ..scores.errors import refuse_if_any
from ..scores.reading import open_raw, parse
from ..tables.writing import to_latex, to_markdown
from .across import ACROSS_MEASURES, NAME, TitledResult, table_across
from .from_files import GoldFile, paths_of
from .results import EvaluationResult


def inputs_by_pair(
    scores: Sequence[str | Path],
    golds: Sequence[str],
    *,
    format: str | None = None,
    gold_format: str | None = None,
) -> dict[str, tuple[list[Path], list[str]]]:
    """Return the score files and the golds of each language pair in the score files.

    Gold belongs to the pairs in its column of language pairs or, without one, to the pair in the name of its file.

    Raises
    ------
    ScoresRefused
        Listing score files without language pairs, and pairs without gold.
    """
    problems = Problems()
    found: dict[str, tuple[list[Path], list[str]]] = {}
    paths = paths_of(scores, problems)
    refuse_if_any(problems)
    for path in paths:
        pairs = _pairs_in(path, format)
        if not pairs:
            problems.add(path.name, None, "has no column for the language pair")
        for pair in pairs:
            found.setdefault(pair, ([], []))[0].append(path)
    for gold in golds:
        path = GoldFile.parse(gold).path
        columns = _pairs_in(path, gold_format)
        for pair, (_, of_pair) in found.items():
            if pair in columns or (not columns and _is_named(path, pair)):
                of_pair.append(gold)
    for pair, (_, of_pair) in found.items():
        if not of_pair:
            problems.add("", None, f"there is no gold whose file is named after {pair}")
    refuse_if_any(problems)
    return dict(sorted(found.items()))


def _pairs_in(path: Path, format: str | None) -> list[str]:
    """Return the language pairs in a file, or none if it does not name any."""
    problems = Problems()
    _, sheet = parse(open_raw(path, problems), format, problems)
    refuse_if_any(problems)
    if "language_pair" not in sheet.roles:
        return []
    return [*dict.fromkeys(cells["language_pair"] for _, cells in sheet.rows)]


def _is_named(path: Path, pair: str) -> bool:
    return re.search(rf"(?<![A-Za-z]){re.escape(pair)}(?![A-Za-z])", path.name) is not None


def files_over_pairs(results: Mapping[str, EvaluationResult]) -> Iterator[tuple[str, bytes]]:
    """Return the tables over all pairs with the means of metrics, as files, for every measure that was computed."""
    titled = [TitledResult(pair, result) for pair, result in results.items()]
    for measure in ACROSS_MEASURES:
        table = table_across(titled, measure=measure, name=f"{NAME}-{measure}")
        if table.rows:
            yield f"{table.name}.md", to_markdown(table).encode()
            yield f"{table.name}.tex", to_latex(table).encode()
            yield f"{table.name}.csv", table.csv()
