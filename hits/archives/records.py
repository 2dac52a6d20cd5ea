"""A finished collection between reading and storing."""

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import NamedTuple

from langcodes import Language
from langcodes.tag_parser import LanguageTagError

from analysis.stats.roles import Role
from da_platform.files.problems import Problems
from da_platform.files.texts import fault_in_name

# The database counts a HIT's items in two bytes.
MAX_ITEMS = 32_767


class ArchivedItem(NamedTuple):
    """A place in a HIT: whose translation of what, in which role."""

    system: str
    segment: str
    role: Role


class ArchivedRating(NamedTuple):
    """`item` is the place in the HIT, from 0."""

    item: int
    score: int
    received_at: datetime
    elapsed_ms: int | None = None


@dataclass(slots=True)
class ArchivedHIT:
    """The items of a HIT, in the order shown where that is known."""

    items: list[ArchivedItem] = field(default_factory=list)

    def partners(self) -> list[int | None]:
        """Return for each item the place of the genuine one it is compared with.

        Where a translation is genuine more than once, the first repeat belongs to the first, the
        second to the second. None for genuine items, and where the partner is not in the HIT.
        """
        genuine: dict[tuple[str, str], list[int]] = defaultdict(list)
        for place, item in enumerate(self.items):
            if item.role == Role.GENUINE:
                genuine[item.system, item.segment].append(place)
        n_met: dict[ArchivedItem, int] = defaultdict(int)
        partners: list[int | None] = []
        for item in self.items:
            candidates = genuine.get((item.system, item.segment))
            if item.role == Role.GENUINE or not candidates:
                partners.append(None)
            else:
                partners.append(candidates[min(n_met[item], len(candidates) - 1)])
                n_met[item] += 1
        return partners


@dataclass(slots=True)
class ArchivedAssignment:
    """One worker's ratings of one HIT; `hit` is its place in the collection, from 0."""

    hit: int
    worker: str
    started_at: datetime
    submitted_at: datetime
    ratings: list[ArchivedRating]
    is_rejected: bool = False
    comment: str = ""
    # What the provider calls it, and whether it has paid for it; archives have no use for either.
    reference: str = ""
    is_paid: bool = False


@dataclass(slots=True)
class Collection:
    """HITs and assignments as the files give them.

    Some files do not say in which order items were shown, or when a HIT was done. What would need
    that is then not computed.
    """

    knows_order: bool = True
    knows_dates: bool = True
    hits: list[ArchivedHIT] = field(default_factory=list)
    assignments: list[ArchivedAssignment] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def n_ratings(self) -> int:
        return sum(len(assignment.ratings) for assignment in self.assignments)

    @property
    def workers(self) -> list[str]:
        return sorted({assignment.worker for assignment in self.assignments})


@dataclass(frozen=True, slots=True)
class LanguagePair:
    """What the collection is said to be of, to hold its rows against."""

    source: str
    target: str

    def fault(self, source: str, target: str) -> str | None:
        """Say how a row's languages differ; `ces` and `cs` are the same one."""
        if _same_language(source, self.source) and _same_language(target, self.target):
            return None
        return f"is of {source}-{target}, but the collection is of {self.source}-{self.target}"


@cache
def _same_language(one: str, other: str) -> bool:
    try:
        return Language.get(one).language == Language.get(other).language
    except LanguageTagError:
        return False


class Names:
    """Checks the names of systems, segments and workers, each of them once."""

    def __init__(self, problems: Problems) -> None:
        self._problems = problems
        self._known: dict[tuple[str, str], bool] = {}

    def are_good(self, file: str, line: int, names: dict[str, str]) -> bool:
        """Report each name, here by its kind, that cannot be stored; say whether all can."""
        n_bad = sum(not self._is_good(file, line, kind, name) for kind, name in names.items())
        return n_bad == 0

    def _is_good(self, file: str, line: int, kind: str, name: str) -> bool:
        if (known := self._known.get((kind, name))) is not None:
            return known
        fault = fault_in_name(name)
        if fault:
            self._problems.add(file, line, f"the {kind}'s name {fault}")
        self._known[kind, name] = fault is None
        return fault is None
