"""A finished collection, as read from its files and not yet stored."""

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

# The size of a HIT is a small integer in the database.
MAX_ITEMS = 32_767


class ArchivedItem(NamedTuple):
    """An item of a HIT: the system and segment of its translation, and its role."""

    system: str
    segment: str
    role: Role


class ArchivedRating(NamedTuple):
    """`item` is the index of the item in its HIT."""

    item: int
    score: int
    received_at: datetime
    elapsed_ms: int | None = None


@dataclass(slots=True)
class ArchivedHIT:
    """The items of a HIT, in the order they were shown if that is known."""

    items: list[ArchivedItem] = field(default_factory=list)

    def partners(self) -> list[int | None]:
        """Return for each item the index of the genuine item it is compared with.

        If a translation is genuine more than once, its first repeat goes with the first, its second
        with the second. None for genuine items, and if the partner is not in the HIT.
        """
        genuine: dict[tuple[str, str], list[int]] = defaultdict(list)
        for place, item in enumerate(self.items):
            if item.role == Role.GENUINE:
                genuine[item.system, item.segment].append(place)
        n_before: dict[ArchivedItem, int] = defaultdict(int)
        partners: list[int | None] = []
        for item in self.items:
            candidates = genuine.get((item.system, item.segment))
            if item.role == Role.GENUINE or not candidates:
                partners.append(None)
            else:
                partners.append(candidates[min(n_before[item], len(candidates) - 1)])
                n_before[item] += 1
        return partners


@dataclass(slots=True)
class ArchivedAssignment:
    """One worker's ratings of one HIT; `hit` is its index in the collection."""

    hit: int
    worker: str
    started_at: datetime
    submitted_at: datetime
    ratings: list[ArchivedRating]
    is_rejected: bool = False
    comment: str = ""
    # The provider's id, and whether it has paid the worker. Archives use neither.
    reference: str = ""
    is_paid: bool = False


@dataclass(slots=True)
class CollectedTexts:
    """The texts of a collection, where its files have them: by segment, outputs by system and segment."""

    sources: dict[str, str] = field(default_factory=dict)
    references: dict[str, str] = field(default_factory=dict)
    documents: dict[str, str] = field(default_factory=dict)
    outputs: dict[tuple[str, str], str] = field(default_factory=dict)


@dataclass(slots=True)
class Collection:
    """HITs and assignments as read from the files.

    Some files do not say in which order items were shown, or when a HIT was done. Evidence that
    depends on it is then left out.
    """

    knows_order: bool = True
    knows_dates: bool = True
    hits: list[ArchivedHIT] = field(default_factory=list)
    assignments: list[ArchivedAssignment] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    texts: CollectedTexts = field(default_factory=CollectedTexts)

    @property
    def n_ratings(self) -> int:
        return sum(len(assignment.ratings) for assignment in self.assignments)

    @property
    def workers(self) -> list[str]:
        return sorted({assignment.worker for assignment in self.assignments})


@dataclass(frozen=True, slots=True)
class LanguagePair:
    """The collection's languages, to check its rows against."""

    source: str
    target: str

    def fault(self, source: str, target: str) -> str | None:
        """Return what is wrong with a row's languages; `ces` and `cs` are the same."""
        if _same_language(source, self.source) and _same_language(target, self.target):
            return None
        return f"is of {source}-{target}, but the collection is of {self.source}-{self.target}"


@cache
def _same_language(code: str, other: str) -> bool:
    try:
        return Language.get(code).language == Language.get(other).language
    except LanguageTagError:
        return False


class Names:
    """Checks the names of systems, segments and workers, each only once."""

    def __init__(self, problems: Problems) -> None:
        self._problems = problems
        self._checked: dict[tuple[str, str], bool] = {}

    def are_good(self, file: str, line: int, names: dict[str, str]) -> bool:
        """Report names that cannot be stored, and return whether all can; keys are the kinds of name."""
        n_bad = sum(not self._is_good(file, line, kind, name) for kind, name in names.items())
        return n_bad == 0

    def _is_good(self, file: str, line: int, kind: str, name: str) -> bool:
        if (is_good := self._checked.get((kind, name))) is not None:
            return is_good
        fault = fault_in_name(name)
        if fault:
            self._problems.add(file, line, f"the {kind}'s name {fault}")
        self._checked[kind, name] = fault is None
        return fault is None
