"""Read annotations of Pearmut: a row for each document that a user scored, as JSONL or as its download in JSON.

A row has the scores of every model for every item of the document, when the user did what, and the items themselves.
"""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analysis.stats.roles import Role
from da_platform.files.problems import Problems
from da_platform.files.reading import CampaignFolder
from da_platform.files.texts import fault_in_text

from ..campaigns.importing.pearmut import MAX_FILE_BYTES, document_of
from .reading import LATEST, MAX_ELAPSED_MS, as_datetime, file_name, read_lines
from .records import (
    ArchivedAssignment,
    ArchivedHIT,
    ArchivedItem,
    ArchivedRating,
    Collection,
    LanguagePair,
    Names,
)


@dataclass(frozen=True, slots=True)
class _Row:
    """The scores of one document by one user, by item and model, and its items."""

    file: str
    line: int
    user: str
    place: str
    items: list[dict[str, Any]]
    scores: list[dict[str, int]]
    start: float
    end: float


def read_pearmut_annotations(
    paths: Sequence[Path], pair: LanguagePair, problems: Problems
) -> Collection:
    """Read annotations; they do not name languages, so there is nothing to compare with `pair`."""
    reader = _Annotations(problems)
    for path in paths:
        for line, row in _rows(path, problems):
            reader.add(file_name(path), line, row)
    return reader.finished()


def _rows(path: Path, problems: Problems) -> Iterator[tuple[int, Any]]:
    """Yield the rows of a file, with their lines, or their numbers in a download."""
    if path.suffix.lower() != ".json":
        for line, text in read_lines(path, problems):
            try:
                yield line, json.loads(text)
            except (ValueError, RecursionError) as error:
                problems.add(file_name(path), line, f"is not JSON: {error}")
        return
    with CampaignFolder(path).opened(path, problems) as file:
        raw = file.read(MAX_FILE_BYTES + 1) if file else b""
    if not raw:
        return
    try:
        content = json.loads(raw) if len(raw) <= MAX_FILE_BYTES else None
    except (ValueError, RecursionError) as error:
        problems.add(file_name(path), None, f"is not JSON: {error}")
        return
    if isinstance(content, dict) and all(isinstance(rows, list) for rows in content.values()):
        yield from enumerate((row for rows in content.values() for row in rows), start=1)
    else:
        problems.add(file_name(path), None, "is not a download of annotations by campaign")


class _Annotations:
    """Each user's rows become one HIT, in the order in which they were submitted."""

    def __init__(self, problems: Problems) -> None:
        self._problems = problems
        self._names = Names(problems)
        # The last row of each user and document counts, as in Pearmut.
        self._rows: dict[tuple[str, str], _Row] = {}
        self._collection = Collection()
        self.n_left_out: Counter[str] = Counter()

    def add(self, file: str, line: int, row: Any) -> None:
        if not isinstance(row, dict) or not isinstance(row.get("user_id"), str):
            self._problems.add(file, line, "has no user_id")
            return
        user, place = row["user_id"], row.get("item_i")
        key = user, str(place)
        if not isinstance(row.get("annotation"), list | dict):
            # The user did the document again.
            self._rows.pop(key, None)
            self.n_left_out["documents that were reset"] += 1
        elif isinstance(place, str):
            self.n_left_out["tutorials, forms and attention checks"] += 1
        else:
            self._replace(key, self._read(file, line, row))

    def _replace(self, key: tuple[str, str], row: _Row | None) -> None:
        if row is None:
            return
        self.n_left_out["earlier scores of documents scored again"] += key in self._rows
        self._rows[key] = row

    def _read(self, file: str, line: int, row: dict[str, Any]) -> _Row | None:
        annotation, items = row["annotation"], row.get("item")
        if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
            reason = "has no items; export the annotations with Pearmut 1.0 or later"
            self._problems.add(file, line, reason)
            return None
        parts = annotation if isinstance(annotation, list) else [annotation]
        if len(parts) != len(items) or not all(isinstance(part, dict) for part in parts):
            self._problems.add(file, line, f"has {len(parts)} annotations of {len(items)} items")
            return None
        span = _span(row.get("actions"))
        if span is None:
            self._problems.add(file, line, "has no actions with times in seconds since 1970")
            return None
        scores = [self._scores(file, line, part) for part in parts]
        return _Row(file, line, row["user_id"], str(row["item_i"]), items, scores, *span)

    def _scores(self, file: str, line: int, part: dict[str, Any]) -> dict[str, int]:
        scores = {}
        for model, answer in part.items():
            score = answer.get("score") if isinstance(answer, dict) else None
            if score is None:
                self.n_left_out["outputs without a score"] += 1
            elif type(score) not in (int, float) or score != int(score) or not 0 <= score <= 100:
                reason = f"the score {score!r} of {model!r} is not a whole number from 0 to 100"
                self._problems.add(file, line, reason)
            else:
                scores[model] = int(score)
        return scores

    def finished(self) -> Collection:
        collection = self._collection
        rows_of: dict[str, list[_Row]] = {}
        for row in sorted(self._rows.values(), key=lambda row: (row.end, row.file, row.line)):
            rows_of.setdefault(row.user, []).append(row)
        for user, rows in rows_of.items():
            self._add_user(user, rows)
        left_out = [f"{what} ({n:,})" for what, n in self.n_left_out.items() if n]
        if left_out:
            collection.notes.append(f"left out: {', '.join(left_out)}")
        if rows_of:
            collection.notes.append(
                "Pearmut does not say which outputs were degraded: there is no evidence about workers"
            )
        return collection

    def _add_user(self, user: str, rows: list[_Row]) -> None:
        items: list[ArchivedItem] = []
        ratings: list[ArchivedRating] = []
        rated: set[tuple[str, str]] = set()
        for row in rows:
            n_scores = sum(map(len, row.scores))
            elapsed = round(1_000 * (row.end - row.start) / max(1, n_scores))
            elapsed = min(elapsed, MAX_ELAPSED_MS)
            for number, (item, scores) in enumerate(zip(row.items, row.scores, strict=True)):
                segment = str(item.get("item_id") or f"document {row.place}_#_{number}")
                for model, score in scores.items():
                    names = {"user": user, "model": model, "segment": segment}
                    if not self._names.are_good(row.file, row.line, names):
                        continue
                    self._keep_texts(row, item, model, segment)
                    role = Role.REPEAT if (model, segment) in rated else Role.GENUINE
                    rated.add((model, segment))
                    items.append(ArchivedItem(model, segment, role))
                    moment = as_datetime(row.end)
                    ratings.append(ArchivedRating(len(items) - 1, score, moment, elapsed))
        if not items:
            return
        hits = self._collection.hits
        start, end = min(row.start for row in rows), max(row.end for row in rows)
        self._collection.assignments.append(
            ArchivedAssignment(len(hits), user, as_datetime(start), as_datetime(end), ratings)
        )
        hits.append(ArchivedHIT(items))

    def _keep_texts(self, row: _Row, item: dict[str, Any], model: str, segment: str) -> None:
        """Keep the texts that can be stored; the others are as if the file had none."""
        texts, outputs = self._collection.texts, item.get("tgt")
        if text := _storable(item.get("src")):
            texts.sources.setdefault(segment, text)
        if text := _storable(item.get("ref")):
            texts.references.setdefault(segment, text)
        if text := _storable(outputs.get(model) if isinstance(outputs, dict) else None):
            texts.outputs.setdefault((model, segment), text)
        texts.documents.setdefault(segment, document_of(segment) or f"document {row.place}")


def _storable(text: Any) -> str:
    """Return the text on one line, or an empty one if it cannot be stored."""
    line = " ".join(text.splitlines()) if isinstance(text, str) else ""
    return "" if fault_in_text(line) else line


def _span(actions: Any) -> tuple[float, float] | None:
    """Return the times of the first and the last action."""
    listed = actions if isinstance(actions, list) else []
    times = [_time(action) for action in listed]
    known = [time for time in times if time is not None]
    return (min(known), max(known)) if known and len(known) == len(times) else None


def _time(action: Any) -> float | None:
    time = action.get("time") if isinstance(action, dict) else None
    return float(time) if isinstance(time, int | float) and 0 <= time <= LATEST else None
