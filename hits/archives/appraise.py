"""Read score exports of Appraise: CSV without a header, one rating per row.

The columns are user, system, item, type, source language, target language, score, start and end. Exports with
batch information add two more: the batch and Appraise's item number.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from analysis.stats.roles import Role
from da_platform.files.problems import Problems

from .reading import LATEST, MAX_ELAPSED_MS, as_datetime, file_name, read_csv, score_of
from .records import (
    ArchivedAssignment,
    ArchivedHIT,
    ArchivedItem,
    ArchivedRating,
    Collection,
    LanguagePair,
    Names,
)

ROLES = {
    "TGT": Role.GENUINE,
    "BAD": Role.BAD_REFERENCE,
    "CHK": Role.REPEAT,
    "REF": Role.REFERENCE,
}
N_COLUMNS, N_WITH_BATCH = 9, 11


def read_appraise(paths: Sequence[Path], pair: LanguagePair, problems: Problems) -> Collection:
    export = _Export(pair, problems)
    for path in paths:
        export.read(path)
    return export.finished()


@dataclass(frozen=True, slots=True)
class _Rated:
    item: ArchivedItem
    score: int
    start: float
    end: float


class _Export:
    """Groups rows by user and, if known, by batch; each group becomes a HIT."""

    def __init__(self, pair: LanguagePair, problems: Problems) -> None:
        self._pair = pair
        self._problems = problems
        self._names = Names(problems)
        self._rated: dict[tuple[str, str], list[_Rated]] = {}
        # Where each row first appeared, to report duplicates.
        self._first_places: dict[tuple[str, ...], tuple[str, int]] = {}

    def read(self, path: Path) -> None:
        file = file_name(path)
        n_columns = None
        for line, cells in read_csv(path, self._problems):
            n_columns = n_columns or len(cells)
            if len(cells) not in (N_COLUMNS, N_WITH_BATCH):
                self._problems.add(
                    file,
                    line,
                    f"has {len(cells)} cells; expected {N_COLUMNS}, "
                    f"or {N_WITH_BATCH} with batch information",
                )
            elif len(cells) != n_columns:
                self._problems.add(
                    file, line, f"has {len(cells)} cells, but earlier rows have {n_columns}"
                )
            else:
                self._add(file, line, cells)

    def _add(self, file: str, line: int, cells: list[str]) -> None:
        user, system, segment, kind, source, target, score_text, start_text, end_text = cells[:9]
        batch = cells[N_COLUMNS] if len(cells) == N_WITH_BATCH else ""
        role, score = ROLES.get(kind), score_of(score_text)
        start, end = _moment(start_text), _moment(end_text)
        faults = [
            self._pair.fault(source, target),
            None if role is not None else f"type {kind!r} is not one of {', '.join(ROLES)}",
            None
            if score is not None
            else f"score {score_text!r} is not a whole number from 0 to 100",
            _fault_in_span(start, end, start_text, end_text),
            self._fault_in_repetition(file, line, cells),
        ]
        for fault in filter(None, faults):
            self._problems.add(file, line, fault)
        names = {"user": user, "system": system, "segment": segment}
        if not self._names.are_good(file, line, names) or any(faults):
            return
        assert role is not None and score is not None and start is not None and end is not None
        rated = _Rated(ArchivedItem(system, segment, role), score, start, end)
        self._rated.setdefault((user, batch), []).append(rated)

    def _fault_in_repetition(self, file: str, line: int, cells: list[str]) -> str | None:
        first = self._first_places.setdefault(tuple(cells), (file, line))
        if first == (file, line):
            return None
        return f"is the same as {first[0]}, line {first[1]}"

    def finished(self) -> Collection:
        collection = Collection()
        for (user, _), rated in self._rated.items():
            # Appraise does not export ratings in the order they were given.
            rated.sort(key=lambda rating: (rating.start, rating.end))
            collection.assignments.append(_assignment(len(collection.hits), user, rated))
            collection.hits.append(ArchivedHIT([rating.item for rating in rated]))
        if any(batch == "" for _, batch in self._rated):
            collection.notes.append(
                "the export does not say which ratings belong to one task: each user's become one HIT"
            )
        return collection


def _assignment(hit: int, user: str, rated: list[_Rated]) -> ArchivedAssignment:
    return ArchivedAssignment(
        hit=hit,
        worker=user,
        started_at=as_datetime(rated[0].start),
        submitted_at=as_datetime(max(rating.end for rating in rated)),
        ratings=[
            ArchivedRating(
                place,
                rating.score,
                as_datetime(rating.end),
                min(round(1_000 * (rating.end - rating.start)), MAX_ELAPSED_MS),
            )
            for place, rating in enumerate(rated)
        ],
    )


def _moment(text: str) -> float | None:
    try:
        seconds = float(text)
    except ValueError:
        return None
    return seconds if 0 <= seconds <= LATEST else None


def _fault_in_span(
    start: float | None, end: float | None, start_text: str, end_text: str
) -> str | None:
    for moment, text in ((start, start_text), (end, end_text)):
        if moment is None:
            return f"time {text!r} is not in seconds since 1970"
    if start is not None and end is not None and end < start:
        return f"ends at {end_text}, before it starts"
    return None
