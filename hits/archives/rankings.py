"""Read finished rankings: Appraise's XML of WMT13 to WMT16, and WMT's CSV files of two or five systems a row."""

import gzip
import re
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, NamedTuple
from xml.etree.ElementTree import Element, ParseError

import langcodes
from defusedxml import DefusedXmlException
from defusedxml.ElementTree import iterparse

from analysis.stats.judgements import SKIPPED
from da_platform.files.problems import Problems

from .reading import file_name, read_csv
from .records import ArchivedAssignment, LanguagePair, Names

# A system that is the reference, which WMT left out of its rankings.
REFERENCE = re.compile("ref")
_DURATION = re.compile(r"(\d+):(\d\d):(\d\d)(\.\d+)?")
_SYSTEM = re.compile(r"system(\d)Id")
_MOST_RANK = 100
# Of XML: the rankings of all ten language pairs of WMT15 have 20 million.
MAX_BYTES = 1_000_000_000


class RankedOutput(NamedTuple):
    """An output on a screen, the systems that share it, and its rank or `SKIPPED`."""

    systems: tuple[str, ...]
    rank: int


@dataclass(frozen=True, slots=True)
class RankedScreen:
    """One judge's ranking of outputs of a segment, in the order shown."""

    segment: str
    outputs: tuple[RankedOutput, ...]
    seconds: float = 0.0


@dataclass(slots=True)
class RankedCollection:
    """The screens that each judge ranked in each HIT, by HIT and then by judge."""

    hits: dict[str, dict[str, list[RankedScreen]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(list))
    )
    notes: list[str] = field(default_factory=list)
    n_hits: int = 0
    n_tasks: int = 0
    n_empty: int = 0
    n_other_languages: int = 0

    @property
    def assignments(self) -> list[ArchivedAssignment]:
        """None that could have been rejected."""
        return []

    @property
    def workers(self) -> list[str]:
        return sorted({worker for judged in self.hits.values() for worker in judged})


class _Reader:
    """Collects screens, and reports what is wrong with them."""

    def __init__(self, pair: LanguagePair, problems: Problems) -> None:
        self.collection = RankedCollection()
        self.problems = problems
        self._pair = pair
        self._names = Names(problems)
        self._sharing: dict[tuple[str, str], tuple[str, ...]] = {}

    def is_of_pair(self, source: str, target: str) -> bool:
        return self._pair.fault(_code(source), _code(target)) is None

    def add(self, file: str, line: int, hit: str, judge: str, screen: RankedScreen) -> None:
        """Keep a screen if it is in order; one without outputs is only counted."""
        self.collection.n_tasks += 1
        if not screen.outputs:
            self.collection.n_empty += 1
            return
        fault = self._fault_in(screen)
        names = {"judge": judge, "segment": screen.segment}
        if fault:
            self.problems.add(file, line, fault)
        elif self._names.are_good(file, line, names) and all(
            self._names.are_good(file, line, {"system": system})
            for output in screen.outputs
            for system in output.systems
        ):
            self.collection.hits[hit][judge].append(screen)

    def _fault_in(self, screen: RankedScreen) -> str | None:
        systems = [system for output in screen.outputs for system in output.systems]
        if len(set(systems)) < len(systems):
            return f"segment {screen.segment} has a system twice on one screen"
        for output in screen.outputs:
            if output.rank != SKIPPED and not 1 <= output.rank <= _MOST_RANK:
                return (
                    f"rank {output.rank} is neither {SKIPPED} (skipped) nor from 1 to {_MOST_RANK}"
                )
            for system in output.systems:
                shared = self._sharing.setdefault((screen.segment, system), output.systems)
                if set(shared) != set(output.systems):
                    return (
                        f"system {system} shares its output for segment {screen.segment} with other "
                        "systems than before"
                    )
        return None


# Appraise's XML ------------------------------------------------------------------------------


def read_appraise_rankings(
    paths: Sequence[Path], pair: LanguagePair, problems: Problems
) -> RankedCollection:
    """Read `<HIT>` elements with their `<ranking-task>` and `<ranking-result>`; gzip is accepted."""
    reader = _Reader(pair, problems)
    for path in paths:
        try:
            with _opened(path) as file:
                _read_hits(file, file_name(path), reader)
        except (ParseError, DefusedXmlException, zlib.error, EOFError, gzip.BadGzipFile) as error:
            problems.add(file_name(path), None, f"is not XML that can be read: {error}")
    return reader.collection


class _Bounded:
    """Read at most as much as any collection needs, however small the compressed file is."""

    def __init__(self, file: "IO[bytes] | gzip.GzipFile") -> None:
        self._file = file
        self._n_left = MAX_BYTES

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        self._n_left -= len(data)
        if self._n_left < 0:
            raise ParseError(f"it has more than {MAX_BYTES:,} bytes, unpacked")
        return data

    def __enter__(self) -> "_Bounded":
        return self

    def __exit__(self, *exception: object) -> None:
        self._file.close()


def _opened(path: Path) -> _Bounded:
    return _Bounded(gzip.open(path) if path.suffix == ".gz" else path.open("rb"))


def _read_hits(file: _Bounded, name: str, reader: _Reader) -> None:
    with file:
        for number, element in enumerate(_hits(file), start=1):
            languages = element.get("source-language", ""), element.get("target-language", "")
            if not reader.is_of_pair(*languages):
                reader.collection.n_other_languages += 1
                continue
            reader.collection.n_hits += 1
            hit = element.get("hit-id") or str(number)
            for place, task in enumerate(element.iter("ranking-task")):
                for result in task.iter("ranking-result"):
                    screen = _screen(task.get("id") or str(place), result)
                    if screen is None:
                        reader.problems.add(name, None, f"HIT {hit}: a rank is not a whole number")
                    else:
                        reader.add(name, number, hit, result.get("user", ""), screen)


def _hits(file: _Bounded) -> Iterator[Element]:
    for _, element in iterparse(file):
        if element.tag == "HIT":
            yield element
            element.clear()


def _screen(segment: str, result: Element) -> RankedScreen | None:
    try:
        outputs = [
            (translation.get("system", "").split(","), int(translation.get("rank", "")))
            for translation in result.iter("translation")
        ]
    except ValueError:
        return None
    return RankedScreen(segment, _without_references(outputs), _seconds(result.get("duration", "")))


def _without_references(outputs: Iterable[tuple[list[str], int]]) -> tuple[RankedOutput, ...]:
    kept = (
        (tuple(name.strip() for name in names if not REFERENCE.match(name.strip())), rank)
        for names, rank in outputs
    )
    return tuple(RankedOutput(systems, rank) for systems, rank in kept if systems)


def _seconds(duration: str) -> float:
    match = _DURATION.fullmatch(duration)
    if not match:
        return 0.0
    hours, minutes, seconds = (int(part) for part in match.groups()[:3])
    return 3600 * hours + 60 * minutes + seconds + float(match[4] or 0)


# WMT's CSV -----------------------------------------------------------------------------------


def read_wmt_rankings(
    paths: Sequence[Path], pair: LanguagePair, problems: Problems
) -> RankedCollection:
    """Read rows of two systems, which `rankingID` joins to screens, or of up to five."""
    reader = _Reader(pair, problems)
    for path in paths:
        for line, hit, judge, screen in _rows(path, reader):
            reader.add(file_name(path), line, hit, judge, screen)
    return reader.collection


def _rows(path: Path, reader: _Reader) -> Iterator[tuple[int, str, str, RankedScreen]]:
    """Yield each screen with the line that it begins on."""
    rows = read_csv(path, reader.problems)
    first = next(rows, None)
    if first is None:
        return
    titles = first[1]
    numbers = [match[1] for title in titles if (match := _SYSTEM.fullmatch(title))]
    needed = {"srclang", "trglang", "segmentId", *(f"system{n}rank" for n in numbers)}
    if missing := sorted(needed - set(titles)):
        reader.problems.add(file_name(path), 1, f"has no column {', '.join(missing)}")
        return
    if len(numbers) < 2:
        reader.problems.add(file_name(path), 1, "has no columns system1Id and system2Id")
        return
    screens: dict[str, tuple[int, str, str, dict[tuple[str, ...], int]]] = {}
    for line, cells in rows:
        row = dict(zip(titles, cells, strict=False))
        if len(cells) != len(titles):
            reader.problems.add(
                file_name(path), line, f"has {len(cells)} cells; expected {len(titles)}"
            )
        elif not reader.is_of_pair(row["srclang"], row["trglang"]):
            reader.collection.n_other_languages += 1
        else:
            _add_row(file_name(path), line, row, numbers, screens, reader)
    for key, (line, judge, segment, outputs) in screens.items():
        ranked = _without_references((list(names), rank) for names, rank in outputs.items())
        yield line, key, judge, RankedScreen(segment, ranked)


def _add_row(
    file: str,
    line: int,
    row: dict[str, str],
    numbers: list[str],
    screens: dict[str, tuple[int, str, str, dict[tuple[str, ...], int]]],
    reader: _Reader,
) -> None:
    judge = row.get("judgeID") or row.get("judgeId") or ""
    key = row.get("rankingID") or f"line {line}"
    _, _, segment, outputs = screens.setdefault(key, (line, judge, row["segmentId"], {}))
    if segment != row["segmentId"]:
        reader.problems.add(file, line, f"ranking {key} has another segment than before")
    for number in numbers:
        names, text = tuple(row[f"system{number}Id"].split("+")), row[f"system{number}rank"]
        if not any(names):
            continue
        try:
            rank = int(text)
        except ValueError:
            reader.problems.add(file, line, f"rank {text!r} is not a whole number")
            continue
        if outputs.setdefault(names, rank) != rank:
            reader.problems.add(file, line, f"ranking {key} gives {'+'.join(names)} two ranks")


def _code(language: str) -> str:
    """Return a code for a language that may be written out, as in WMT's older files."""
    if len(language) <= 3:
        return language
    try:
        return str(langcodes.find(language))
    except LookupError:
        return language
