"""Read Mechanical Turk's batch result files for direct assessment HITs.

A row is an assignment. `Input.sys_id_0`, `Input.sid_0`, `Input.tst_0` and `Input.rid_0` describe the first
item, and `Answer.Q1` is `0_rid_score|1_rid_score|...`.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from analysis.stats.roles import Role
from da_platform.files.problems import Problems

from .reading import file_name, read_csv, score_of
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
    "system": Role.GENUINE,
    "cal": Role.BAD_REFERENCE,
    "repeat": Role.REPEAT,
    "ref": Role.REFERENCE,
}
# Whether payment was refused. Work that is not reviewed yet is `Submitted`.
IS_REJECTED = {"Approved": False, "Submitted": False, "Rejected": True}
# Approving pays at once.
PAID = "Approved"
# The time zones that Mechanical Turk prints, in hours from UTC.
ZONES = {"UTC": 0, "GMT": 0, "PST": -8, "PDT": -7}

# Mechanical Turk opened in 2005. The upper bound keeps date arithmetic from overflowing.
YEARS = range(2005, 2100)
# No HIT has that many items.
MAX_PLACE_DIGITS = 6

COLUMNS = ("HITId", "AssignmentId", "WorkerId", "AssignmentStatus", "AcceptTime", "SubmitTime")
ANSWERS, COMMENT = "Answer.Q1", "Answer.comments"
LANGUAGES = ("Input.src", "Input.trg")


def read_mturk(paths: Sequence[Path], pair: LanguagePair, problems: Problems) -> Collection:
    batches = _Batches(pair, problems)
    for path in paths:
        batches.read(path)
    return batches.finished()


@dataclass(frozen=True, slots=True)
class _Layout:
    """A file's columns, the number of items per HIT, and the fewest cells a row may have."""

    header: list[str]
    n_items: int
    n_needed: int


@dataclass(frozen=True, slots=True)
class _Row:
    """One assignment as the file has it; `items` holds the cells of each item."""

    file: str
    line: int
    cells: dict[str, str]
    items: list[dict[str, str]]

    @property
    def place(self) -> tuple[str, int]:
        return self.file, self.line


class _Batches:
    """Collects rows, and checks each against earlier rows of the same HIT."""

    def __init__(self, pair: LanguagePair, problems: Problems) -> None:
        self._collection = Collection()
        self._pair = pair
        self._problems = problems
        self._names = Names(problems)
        self._n_empty = 0
        # Where each HIT and each assignment first appeared.
        self._first_rows: dict[str, _Row] = {}
        self._assignments: dict[str, tuple[str, int]] = {}
        # If a worker did a HIT twice, the second time is stored as another HIT with the same items.
        self._hits: dict[tuple[str, int], int] = {}
        self._n_done: Counter[tuple[str, str]] = Counter()

    def read(self, path: Path) -> None:
        rows = read_csv(path, self._problems)
        file = file_name(path)
        _, header = next(rows, (0, None))
        if header is None:
            return
        layout = _layout_of(header, file, self._problems)
        if layout is None:
            return
        n_rows = 0
        for line, cells in rows:
            n_rows += 1
            row = self._row(file, line, cells, layout)
            if row is not None:
                self._add(row)
        if not n_rows:
            self._problems.add(file, None, "has no rows below its header")

    def finished(self) -> Collection:
        if self._n_empty:
            self._collection.notes.append(
                f"assignments without any answers were skipped: {self._n_empty:,}"
            )
        return self._collection

    def _row(self, file: str, line: int, cells: list[str], layout: _Layout) -> _Row | None:
        n_columns = len(layout.header)
        # The last columns are for the requester to fill in, and rows often leave them out.
        if not layout.n_needed <= len(cells) <= n_columns:
            self._problems.add(
                file, line, f"has {len(cells)} cells, but the header has {n_columns}"
            )
            return None
        by_name = dict(zip(layout.header, cells, strict=False))
        items = [
            {
                part: by_name.get(f"Input.{part}_{place}", "")
                for part in ("sys_id", "sid", "tst", "rid")
            }
            for place in range(layout.n_items)
        ]
        return _Row(file, line, by_name, items)

    def _add(self, row: _Row) -> None:
        if not self._is_new(row):
            return
        if not row.cells[ANSWERS]:
            self._n_empty += 1
            return
        hit = self._hit(row)
        span = self._span(row)
        status = row.cells["AssignmentStatus"]
        if status not in IS_REJECTED:
            self._report(row, f"AssignmentStatus {status!r} is not one of {', '.join(IS_REJECTED)}")
        if hit is None or span is None or status not in IS_REJECTED:
            return
        self._collection.assignments.append(
            ArchivedAssignment(
                hit=hit,
                worker=row.cells["WorkerId"],
                started_at=span[0],
                submitted_at=span[1],
                ratings=self._ratings(row, span[1]),
                is_rejected=IS_REJECTED[status],
                comment=row.cells.get(COMMENT, "").replace("\x00", ""),
                reference=row.cells["AssignmentId"],
                is_paid=status == PAID,
            )
        )

    def _is_new(self, row: _Row) -> bool:
        """Check that the assignment is new, its language pair right, and its names valid."""
        assignment = row.cells["AssignmentId"]
        if first := self._assignments.get(assignment):
            self._report(
                row, f"assignment {assignment!r} is already in {first[0]}, line {first[1]}"
            )
            return False
        self._assignments[assignment] = row.place
        source, target = (row.cells.get(name) for name in LANGUAGES)
        fault = self._pair.fault(source, target) if source and target else None
        if fault:
            self._report(row, fault)
        names = {"worker": row.cells["WorkerId"], "HIT": row.cells["HITId"]}
        return self._names.are_good(*row.place, names) and fault is None

    def _hit(self, row: _Row) -> int | None:
        """Return the index of the row's HIT in the collection; report a bad one and return None."""
        name = row.cells["HITId"]
        first = self._first_rows.setdefault(name, row)
        if row.items != first.items:
            self._report(
                row, f"HIT {name!r} has different items in {first.file}, line {first.line}"
            )
            return None
        done = (name, row.cells["WorkerId"])
        key = (name, self._n_done[done])
        self._n_done[done] += 1
        if key not in self._hits:
            items = self._items(first)
            if items is None:
                return None
            self._hits[key] = len(self._collection.hits)
            self._collection.hits.append(ArchivedHIT(items))
        return self._hits[key]

    def _items(self, row: _Row) -> list[ArchivedItem] | None:
        items = []
        for place, cells in enumerate(row.items):
            role = ROLES.get(cells["tst"])
            if role is None:
                self._report(
                    row, f"Input.tst_{place} {cells['tst']!r} is not one of {', '.join(ROLES)}"
                )
            names = {"system": cells["sys_id"], "segment": cells["sid"]}
            if self._names.are_good(*row.place, names) and role is not None:
                items.append(ArchivedItem(cells["sys_id"], cells["sid"], role))
        return items if len(items) == len(row.items) else None

    def _span(self, row: _Row) -> tuple[datetime, datetime] | None:
        moments = []
        for name in ("AcceptTime", "SubmitTime"):
            moment = _moment(row.cells[name])
            if moment is None:
                self._report(
                    row, f"{name} {row.cells[name]!r} is not like Fri Jun 06 18:52:03 GMT 2014"
                )
                return None
            moments.append(moment)
        if moments[1] < moments[0]:
            self._report(row, "SubmitTime is before AcceptTime")
            return None
        return moments[0], moments[1]

    def _ratings(self, row: _Row, submitted_at: datetime) -> list[ArchivedRating]:
        ratings: dict[int, ArchivedRating] = {}
        for answer in row.cells[ANSWERS].split("|"):
            rating = _rating(answer, row.items, submitted_at)
            if isinstance(rating, str):
                self._report(row, f"{ANSWERS}: {answer!r} {rating}")
            elif rating.item in ratings:
                self._report(row, f"{ANSWERS}: item {rating.item} is rated twice")
            else:
                ratings[rating.item] = rating
        return list(ratings.values())

    def _report(self, row: _Row, reason: str) -> None:
        self._problems.add(row.file, row.line, reason)


def _needed(n_items: int) -> list[str]:
    inputs = [f"Input.{part}_{i}" for i in range(n_items) for part in ("sys_id", "sid", "tst")]
    return [*COLUMNS, ANSWERS, *inputs]


def _layout_of(header: list[str], file: str, problems: Problems) -> _Layout | None:
    """Interpret a header; report missing or duplicate columns and return None."""
    names = Counter(header)
    n_items = 0
    while names[f"Input.sys_id_{n_items}"]:
        n_items += 1
    missing = [name for name in _needed(max(1, n_items)) if name not in names]
    # Columns that are not read may appear twice.
    doubled = [
        name
        for name, count in names.items()
        if count > 1 and (name in COLUMNS or name.startswith(("Input.", "Answer.")))
    ]
    if missing:
        problems.add(file, 1, f"has no column {' and no column '.join(map(repr, missing[:5]))}")
    if doubled:
        problems.add(file, 1, f"has column {doubled[0]!r} {names[doubled[0]]} times")
    if missing or doubled:
        return None
    places = {name: place for place, name in enumerate(header)}
    return _Layout(header, n_items, 1 + max(places[name] for name in _needed(n_items)))


def _moment(text: str) -> datetime | None:
    parts = text.split()
    if len(parts) != 6 or parts[4] not in ZONES:
        return None
    zone = parts.pop(4)
    try:
        local = datetime.strptime(" ".join(parts[1:]), "%b %d %H:%M:%S %Y")
    except ValueError:
        return None
    if local.year not in YEARS:
        return None
    return local.replace(tzinfo=UTC) - timedelta(hours=ZONES[zone])


def _rating(answer: str, items: list[dict[str, str]], at: datetime) -> ArchivedRating | str:
    """Return the rating in an answer, or what is wrong with it."""
    place, _, rid_and_score = answer.partition("_")
    rid, _, score_text = rid_and_score.rpartition("_")
    is_number = place.isascii() and place.isdecimal() and len(place) <= MAX_PLACE_DIGITS
    if not rid or not is_number:
        return "is not place_rid_score"
    if int(place) >= len(items):
        return f"is about item {place}, but the HIT has {len(items)} items, from 0"
    item_rid = items[int(place)]["rid"]
    if item_rid and rid != item_rid:
        return f"has rid {rid}, but the item has {item_rid}"
    score = score_of(score_text)
    if score is None:
        return "has a score that is not a whole number from 0 to 100"
    return ArchivedRating(int(place), score, at)
