"""The sentences of a word-level experiment with gold and predicted tags, worst first."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.core.paginator import Paginator

from .base import Result

SENTENCES_PER_PAGE = 20
# What a word is, by gold and predicted tag: the style of its mark, and what is said about it.
KINDS = {
    ("O", "O"): ("right", ""),
    ("B", "B"): ("found", "BAD, found"),
    ("B", "O"): ("missed", "BAD, missed"),
    ("O", "B"): ("alarm", "OK, tagged BAD"),
}


@dataclass(frozen=True, slots=True)
class TaggedWord:
    """A word and how its tags agree."""

    text: str
    kind: str
    label: str


@dataclass(frozen=True, slots=True)
class TaggedSentence:
    """A sentence by its number from 0, with the number of wrong tags."""

    number: int
    source: str
    words: list[TaggedWord]
    n_wrong: int


def worst_first(result: Result, submission: str) -> list[dict[str, Any]]:
    """Return the sentences with their numbers, those with the largest share of wrong tags first."""
    rows = [
        # Results of before sentences were left out have no numbers.
        {"number": number, "source": ""} | sentence | {"n_wrong": _wrong(sentence, submission)}
        for number, sentence in enumerate(result["sentences"])
    ]
    return sorted(
        rows,
        key=lambda row: (
            -row["n_wrong"] / max(1, len(row["gold"])),
            -row["n_wrong"],
            row["number"],
        ),
    )


def _wrong(sentence: dict[str, Any], submission: str) -> int:
    tags = zip(sentence["gold"], sentence["tags"][submission], strict=True)
    return sum(truth != tag for truth, tag in tags)


def tagged(row: dict[str, Any], submission: str) -> TaggedSentence:
    """Return a sentence for the page."""
    words = [
        TaggedWord(word, *KINDS[truth, tag])
        for word, truth, tag in zip(row["words"], row["gold"], row["tags"][submission], strict=True)
    ]
    return TaggedSentence(row["number"], row["source"], words, row["n_wrong"])


def context(result: Result, query: Mapping[str, str]) -> dict[str, Any]:
    """Return a page of sentences with the tags of one submission."""
    names = [row["name"] for row in result["rows"]]
    submission = query.get("submission", "")
    submission = submission if submission in names else names[0]
    rows = Paginator(worst_first(result, submission), SENTENCES_PER_PAGE)
    page = rows.get_page(query.get("page"))
    return {
        "submissions": names,
        "submission": submission,
        "page": page,
        "sentences": [tagged(row, submission) for row in page],
    }
