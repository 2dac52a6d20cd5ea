"""Read WMT's direct assessment files: standardised scores, and each worker's mean and sd.

The ratings are tab-separated below a header separated by spaces. The other file, printed by R, has three lines
for each worker: id, mean, sd. The scores were standardised with these numbers, so score * sd + mean gives the
original rating.
"""

import math
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from analysis.stats.roles import Role
from da_platform.files.problems import Problems

from .reading import file_name, read_lines
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
    "SYSTEM": Role.GENUINE,
    "BAD_REF": Role.BAD_REFERENCE,
    "REPEAT": Role.REPEAT,
    "REF": Role.REFERENCE,
}
COLUMNS = (
    "HITId",
    "WorkerId",
    "Input.src",
    "Input.trg",
    "sys_id",
    "type",
    "sid",
    "score",
    "time",
)
# A recovered rating is a whole number, except for rounding in the sixteenth digit. If it is further off, the
# scores were standardised with another mean and sd.
WHOLE_WITHIN = 0.001
# The files say how long a HIT took, but not when it was done.
NO_DATE = datetime(1970, 1, 1, tzinfo=UTC)
MAX_SECONDS = 30 * 24 * 3600

_PRINTED_NAME = re.compile(r'\[1\] "(.+)"')
_PRINTED_NUMBER = re.compile(r"\[1\] (NA|-?[0-9]+(?:\.[0-9]+)?(?:e[-+]?[0-9]+)?)")

Scales = dict[str, tuple[float, float]]


def read_wmt_da(paths: Sequence[Path], pair: LanguagePair, problems: Problems) -> Collection:
    of_means = [path for path in paths if _has_means(path)]
    of_ratings = [path for path in paths if path not in of_means]
    if len(of_means) != 1 or len(of_ratings) != 1:
        problems.add(
            "",
            None,
            "a WMT collection needs one file of ratings and one of the workers' means and sds; "
            f"there are {len(of_ratings)} and {len(of_means)}",
        )
        return Collection()
    scales = _read_scales(of_means[0], problems)
    return _Ratings(of_ratings[0], scales, pair, problems).read()


def _has_means(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(4) == b"[1] "


# Means and sds ---------------------------------------------------------------------------------


def _read_scales(path: Path, problems: Problems) -> Scales:
    file = file_name(path)
    scales: Scales = {}
    lines = list(read_lines(path, problems))
    for i in range(0, len(lines) - 2, 3):
        (number, name), mean, sd = lines[i : i + 3]
        match = _PRINTED_NAME.fullmatch(name.rstrip())
        if match is None:
            problems.add(file, number, 'is not a worker such as [1] "M0190"; the rest was not read')
            return scales
        numbers = [_printed_number(file, *line, problems) for line in (mean, sd)]
        if match[1] in scales:
            problems.add(file, number, f"worker {match[1]!r} appears twice")
        scales[match[1]] = numbers[0], numbers[1]
    if len(lines) % 3:
        problems.add(
            file,
            lines[-1][0],
            "is the last line, but the last worker does not have all three lines",
        )
    return scales


def _printed_number(file: str, number: int, line: str, problems: Problems) -> float:
    match = _PRINTED_NUMBER.fullmatch(line.rstrip())
    if match is None:
        problems.add(file, number, "is not a number such as [1] 65.55914")
        return math.nan
    return math.nan if match[1] == "NA" else float(match[1])


# Ratings ---------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Assignment:
    """One worker's rows of one HIT so far."""

    first_line: int
    time: str
    seconds: float
    scores: dict[ArchivedItem, tuple[int, int]]


class _Ratings:
    def __init__(self, path: Path, scales: Scales, pair: LanguagePair, problems: Problems) -> None:
        self._path = path
        self._file = file_name(path)
        self._scales = scales
        self._pair = pair
        self._problems = problems
        self._names = Names(problems)
        self._assignments: dict[tuple[str, str], _Assignment] = {}

    def read(self) -> Collection:
        n_rows = 0
        for line, cells in self._rows():
            n_rows += 1
            self._add(line, cells)
        if not n_rows and not self._problems.total:
            self._report(None, "has no rows below its header")
        return self._collection()

    def _rows(self) -> Iterator[tuple[int, dict[str, str]]]:
        lines = read_lines(self._path, self._problems)
        _, first = next(lines, (0, None))
        if first is None:
            return
        header = first.split()
        missing = [name for name in COLUMNS if header.count(name) != 1]
        if missing:
            self._report(
                1, f"should name these columns exactly once: {', '.join(map(repr, missing))}"
            )
            return
        for line, text in lines:
            cells = text.split("\t")
            if len(cells) == len(header):
                yield line, dict(zip(header, cells, strict=True))
            else:
                self._report(
                    line,
                    f"has {len(cells)} tab-separated cells, but the header has {len(header)} columns",
                )

    def _add(self, line: int, cells: dict[str, str]) -> None:
        if fault := self._pair.fault(cells["Input.src"], cells["Input.trg"]):
            self._report(line, fault)
            return
        role = ROLES.get(cells["type"])
        if role is None:
            self._report(line, f"type {cells['type']!r} is not one of {', '.join(ROLES)}")
        names = {"HIT": "HITId", "worker": "WorkerId", "system": "sys_id", "segment": "sid"}
        are_good = self._names.are_good(
            self._file, line, {kind: cells[column] for kind, column in names.items()}
        )
        score = self._score(line, cells)
        if role is None or not are_good or score is None:
            return
        assignment = self._assignment(line, cells)
        item = ArchivedItem(cells["sys_id"], cells["sid"], role)
        if assignment is not None and item in assignment.scores:
            first = assignment.scores[item][1]
            self._report(line, f"the worker already rated this item on line {first}")
        elif assignment is not None:
            assignment.scores[item] = score, line

    def _assignment(self, line: int, cells: dict[str, str]) -> _Assignment | None:
        key = cells["HITId"], cells["WorkerId"]
        assignment = self._assignments.get(key)
        if assignment is None:
            seconds = _seconds(cells["time"])
            if seconds is None:
                self._report(line, f"time {cells['time']!r} is not a number of seconds")
                return None
            assignment = self._assignments[key] = _Assignment(line, cells["time"], seconds, {})
        elif cells["time"] != assignment.time:
            self._report(
                line,
                f"time {cells['time']!r} differs from line {assignment.first_line}, "
                "which has the same worker and HIT",
            )
        return assignment

    def _score(self, line: int, cells: dict[str, str]) -> int | None:
        """Recover the rating; report a problem and return None if that is impossible."""
        worker = cells["WorkerId"]
        if worker not in self._scales:
            self._report(line, f"worker {worker!r} has no mean and sd in the other file")
            return None
        mean, sd = self._scales[worker]
        try:
            rating = float(cells["score"]) * sd + mean
        except ValueError:
            rating = math.nan
        if not math.isfinite(rating):
            self._report(
                line, f"score {cells['score']!r} with mean {mean:g} and sd {sd:g} gives no rating"
            )
            return None
        if abs(rating - round(rating)) > WHOLE_WITHIN or not 0 <= round(rating) <= 100:
            self._report(
                line,
                f"score {cells['score']} with mean {mean:g} and sd {sd:g} gives {rating:.4g}, "
                "which is not a whole number from 0 to 100; do the two files belong together?",
            )
            return None
        return round(rating)

    def _collection(self) -> Collection:
        collection = Collection(knows_order=False, knows_dates=False)
        # The index of each HIT in the collection, and of each item in its HIT. A worker may have
        # rated only part of a HIT.
        hits: dict[str, int] = {}
        items: list[dict[ArchivedItem, int]] = []
        # A worker's HITs follow one another, so that they never overlap.
        clocks: dict[str, datetime] = defaultdict(lambda: NO_DATE)
        for (hit, worker), assignment in self._assignments.items():
            if hit not in hits:
                hits[hit] = len(items)
                items.append({})
            places = items[hits[hit]]
            for item in assignment.scores:
                places.setdefault(item, len(places))
            begin, end = clocks[worker], clocks[worker] + timedelta(seconds=assignment.seconds)
            clocks[worker] = end
            collection.assignments.append(
                ArchivedAssignment(
                    hit=hits[hit],
                    worker=worker,
                    started_at=begin,
                    submitted_at=end,
                    ratings=[
                        ArchivedRating(places[item], score, end)
                        for item, (score, _) in assignment.scores.items()
                    ],
                )
            )
        collection.hits = [ArchivedHIT(list(places)) for places in items]
        return collection

    def _report(self, line: int | None, reason: str) -> None:
        self._problems.add(self._file, line, reason)


def _seconds(text: str) -> float | None:
    try:
        seconds = float(text)
    except ValueError:
        return None
    return seconds if 0 <= seconds <= MAX_SECONDS else None
