"""The sentences of an experiment on automatic post-editing: improved, deteriorated and others, word by word."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.core.paginator import Paginator

from hits.languages import is_spaced
from hits.post_editing.changes import changed_spans

from ..tables.table import Column, Table, count, text
from .base import Result

# What can become of a sentence, and the titles of the lists.
OUTCOMES = {
    "deteriorated": "Deteriorated",
    "improved": "Improved",
    "same": "Modified, as far from the post-edition as before",
    "unmodified": "Not modified",
}
SENTENCES_PER_PAGE = 20

# What happened to some words (`equal`, `delete`, `insert` or `replace`), and both wordings.
Parts = list[tuple[str, str, str]]


def outcome_of(n_before: float, n_after: float, *, is_modified: bool) -> str:
    """Return what became of a sentence, by the edits to its post-edition before and after."""
    if not is_modified:
        return "unmodified"
    if n_before == n_after:
        return "same"
    return "improved" if n_after < n_before else "deteriorated"


@dataclass(frozen=True, slots=True)
class EditedSentence:
    """A sentence for the page: from before to after, and from after to the post-edition."""

    number: int
    source: str
    n_before: int
    n_after: int
    by_system: Parts
    by_people: Parts


def context(result: Result, query: Mapping[str, str]) -> dict[str, Any]:
    """Return a page of one list of one system, the sentences that changed most first."""
    names = result["systems"][1:]
    system, outcome = query.get("system", ""), query.get("list", "")
    system = system if system in names else names[0]
    if outcome not in OUTCOMES:
        found = {row["after"][system]["outcome"] for row in result["sentences"]}
        outcome = next(name for name in OUTCOMES if name in found)
    rows = [row for row in result["sentences"] if row["after"][system]["outcome"] == outcome]
    rows.sort(
        key=lambda row: (-abs(row["after"][system]["n_edits"] - row["n_edits"]), row["number"])
    )
    page = Paginator(rows, SENTENCES_PER_PAGE).get_page(query.get("page"))
    spaced = is_spaced(result["options"]["language"])
    return {
        "language": result["options"]["language"],
        "systems": names,
        "system": system,
        "outcomes": OUTCOMES.items(),
        "outcome": outcome,
        "n_listed": len(rows),
        "page": page,
        "sentences": [_shown(row, system, spaced=spaced) for row in page],
    }


def list_of_sentences(result: Result) -> Table:
    """Return every sentence and system with both versions and what became of it."""
    columns = ("line", "edits before", "edits after")
    texts = ("system", "outcome", "source", "before", "after", "post-edition")
    rows = [
        [
            *map(count, (row["number"], row["n_edits"], after["n_edits"])),
            *map(
                text,
                (
                    system,
                    after["outcome"],
                    row["source"],
                    row["before"],
                    after["text"],
                    row["post_edition"],
                ),
            ),
        ]
        for row in result["sentences"]
        for system, after in row["after"].items()
    ]
    return Table(
        name="ape-list",
        caption="Sentences before and after",
        columns=[*map(Column, columns), *(Column(title, is_number=False) for title in texts)],
        rows=rows,
    )


def _shown(row: dict[str, Any], system: str, *, spaced: bool) -> EditedSentence:
    after = row["after"][system]
    return EditedSentence(
        number=row["number"],
        source=row["source"],
        n_before=row["n_edits"],
        n_after=after["n_edits"],
        by_system=changed_spans(row["before"], after["text"], spaced=spaced),
        by_people=changed_spans(after["text"], row["post_edition"], spaced=spaced),
    )
