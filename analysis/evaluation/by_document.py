"""Average the segments of each document, so that documents are evaluated as segments are otherwise."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from da_platform.files.problems import Problems

from ..scores.errors import refuse_if_any
from ..scores.fixes import NOT_BY_DOCUMENT
from ..scores.gold_tables import with_fact
from ..scores.score_tables import GoldTable, Key, ScoreTable, align
from .aligned_rows import Floats, Texts
from .results import Options


def by_document(
    tables: Sequence[ScoreTable], gold: GoldTable, options: Options
) -> tuple[list[ScoreTable], GoldTable]:
    """Average scores and one gold over the segments of each document.

    Parameters
    ----------
    tables : sequence of ScoreTable
        Scores of segments are averaged over those segments of a document that have gold, as the gold is, or over all of
        them if the gold is of documents and the scores come with theirs; scores of documents stay as they are.
    gold : GoldTable
        At segment level, with documents. Documents themselves are its segments if the gold is of documents.
    options : Options

    Returns
    -------
    tables, gold
        The segments of their keys are documents. A document without any gold has none (NaN).

    Raises
    ------
    ScoresRefused
        If a document is unknown, or scores do not fit.
    """
    document_of = documents_of(gold)
    names = set(document_of.values())
    are_documents = gold.documents is None or all(name == key for key, name in document_of.items())
    if are_documents:
        tables = [_over_own_documents(each, names) for each in tables]
    given = [each for each in tables if are_documents or _is_of_documents(each, document_of, names)]
    averaged = [each for each in tables if each not in given]
    _refuse_segments(given, gold, names, options)
    if are_documents:
        return list(tables), replace(gold, documents=None)
    documents = _Documents.of(gold, document_of, options)
    new_tables = {id(each): each for each in given}
    if averaged:
        # Every row counts as having gold here, so that documents without gold have scores too.
        rows = replace(gold, scores=np.nan_to_num(gold.scores))
        without = [name for name in options.without_systems if name in gold.systems]
        alignment = align(
            averaged, rows, without_systems=without, ignore_extra=options.ignore_extra
        )
        new_tables |= {
            id(each): replace(
                each,
                keys=documents.keys,
                scores=documents.means(scores),
                signature=_averaged(each.signature),
            )
            for each, scores in zip(averaged, alignment.scores, strict=True)
        }
    return [new_tables[id(each)] for each in tables], documents.gold(gold)


def documents_of(gold: GoldTable) -> dict[str, str]:
    """Return the document of each segment, or refuse gold whose documents are not known."""
    problems = Problems()
    if gold.documents is None:
        reason = "has no documents; give them in a column 'document', or in a file with one line for each segment"
        problems.add(gold.name, None, reason, NOT_BY_DOCUMENT)
    document_of: dict[str, str] = {}
    for (_, segment), document in zip(gold.keys, gold.documents or (), strict=False):
        first = document_of.setdefault(segment, document)
        if not document:
            problems.add(gold.name, None, f"segment {segment} has no document", NOT_BY_DOCUMENT)
        elif first != document:
            reason = f"segment {segment} is in two documents, {first} and {document}"
            problems.add(gold.name, None, reason, NOT_BY_DOCUMENT)
    refuse_if_any(problems)
    return document_of


def lengths_by_document(texts: Texts, document_of: Mapping[str, str]) -> Texts:
    """Add up the lengths of each document's segments; leave out documents with an unknown one."""
    lengths: dict[str, int] = {}
    for segment, document in document_of.items():
        if segment in texts.lengths:
            lengths[document] = lengths.get(document, 0) + texts.lengths[segment]
    for segment, document in document_of.items():
        if segment not in texts.lengths:
            lengths.pop(document, None)
    return Texts(lengths, texts.unit)


def _is_of_documents(table: ScoreTable, document_of: Mapping[str, str], names: set[str]) -> bool:
    """Return whether scores name documents, where these could not also be segments."""
    segments = {segment for _, segment in table.keys}
    return segments <= names and not segments <= document_of.keys()


def _over_own_documents(table: ScoreTable, names: set[str]) -> ScoreTable:
    """Average scores of segments over the documents they come with; others stay as they are."""
    if table.document_of is None or any(segment in names for _, segment in table.keys):
        return table
    keys = [(system, table.document_of.get(segment, "")) for system, segment in table.keys]
    numbers = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    places = np.array([numbers[key] for key in keys], dtype=np.int64)
    means = np.bincount(places, table.scores) / np.bincount(places)
    return replace(table, keys=tuple(numbers), scores=means, signature=_averaged(table.signature))


def _refuse_segments(
    tables: Sequence[ScoreTable], gold: GoldTable, names: set[str], options: Options
) -> None:
    """Refuse scores of segments for gold of documents: which segments make a document is not known."""
    problems = Problems()
    for table in tables:
        segments = {segment for _, segment in table.keys}
        if not segments & names:
            reason = (
                f"has no scores of the documents in {gold.name}, but of {next(iter(sorted(segments)), '')!r} and "
                "others; give scores of documents, add a column 'document' to these, or give gold of segments with their documents"
            )
            problems.add(table.name, None, reason, NOT_BY_DOCUMENT)
    refuse_if_any(problems)


@dataclass(frozen=True, slots=True)
class _Documents:
    """The documents of the gold, and the rows that each is the mean of.

    `rows` are rows of the gold, `places` the document of each, and `counts` whether it is in the mean: it has
    gold, or nothing in its document has.
    """

    keys: tuple[Key, ...]
    rows: NDArray[np.int64]
    places: NDArray[np.int64]
    counts: NDArray[np.bool_]
    has_gold: NDArray[np.bool_]

    @classmethod
    def of(cls, gold: GoldTable, document_of: Mapping[str, str], options: Options) -> "_Documents":
        rows = [row for row, key in enumerate(gold.keys) if key[0] not in options.without_systems]
        row_keys = [(gold.keys[row][0], document_of[gold.keys[row][1]]) for row in rows]
        numbers = {key: number for number, key in enumerate(dict.fromkeys(row_keys))}
        places = np.array([numbers[key] for key in row_keys], dtype=np.int64)
        is_scored = ~np.isnan(gold.scores[rows])
        has_gold = np.bincount(places, is_scored, len(numbers)) > 0
        return cls(
            keys=tuple(numbers),
            rows=np.array(rows, dtype=np.int64),
            places=places,
            counts=is_scored | ~has_gold[places],
            has_gold=has_gold,
        )

    def means(self, scores: Floats) -> Floats:
        """Return the mean score of each document, from a score for each of the rows."""
        chosen = self.places[self.counts]
        n = np.bincount(chosen, minlength=len(self.keys))
        return np.bincount(chosen, scores[self.counts], len(self.keys)) / n

    def gold(self, gold: GoldTable) -> GoldTable:
        """Return the mean gold of each document."""
        scores = gold.scores[self.rows]
        n_scored = int((~np.isnan(scores)).sum())
        note = f"Documents in {gold.name} are means over their {n_scored:,} translations with gold."
        return replace(
            gold,
            keys=self.keys,
            scores=np.where(self.has_gold, self.means(scores), np.nan),
            signature=_averaged(gold.signature),
            documents=None,
            origins=None,
            n_ratings=None,
            translations=None,
            notes=(note, *gold.notes),
        )


def _averaged(signature: str) -> str:
    return with_fact(signature, "doc:mean") if signature else "doc:mean"
