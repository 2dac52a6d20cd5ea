"""A campaign's texts, as read from its files and not yet stored.

Texts are read once, checked, and kept in a temporary file. What is stored is exactly what was checked, even if
the files change meanwhile, and the rows of a table can be sorted by segment without keeping them in memory.
"""

import tempfile
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from django.conf import settings

from da_platform.exceptions import TooMuch
from da_platform.files.mending import Mender
from da_platform.files.problems import Fix, Problems
from da_platform.files.texts import fault_in_name, fault_in_text, has_c1_control, is_mendable

from ...media.detecting import FileType
from ...models import Campaign
from ...task_facts import facts_of

# Up to this many bytes of text stay in memory.
SPOOL_BYTES = 16_000_000

# The place of a missing text.
NO_TEXT = -1

ALLOWED_IF_EMPTY = Fix("allow_empty_translations", (), "empty translations")
ALLOWED_IF_MISSING = Fix("allow_missing_translations", (), "missing translations")
MENDED_BY_CLEANING = Fix("clean", (), "texts with control characters or line breaks")

NEEDS_REFERENCES = "has second references, but there are no references"


@dataclass(frozen=True, slots=True)
class ReadingOptions:
    """What a reader needs to know besides the path."""

    source_language: str
    target_language: str
    task: str
    reference: str | None = None
    allow_empty_translations: bool = False
    second_reference: str | None = None
    allow_missing_translations: bool = False
    # Columns of a table that are not read.
    ignore_columns: frozenset[str] = frozenset()
    mender: Mender = field(default_factory=Mender)
    shows: str = ""

    @property
    def may_leave_gaps(self) -> bool:
        """Whether an empty line of a text file means that there is no translation."""
        return self.allow_missing_translations and not self.allow_empty_translations

    @property
    def needs_source(self) -> bool:
        return self._shown in (Campaign.Shows.SOURCE, Campaign.Shows.BOTH)

    @property
    def needs_reference(self) -> bool:
        return self._shown in (Campaign.Shows.REFERENCE, Campaign.Shows.BOTH)

    @property
    def _shown(self) -> str:
        # An unknown task needs nothing; it is refused with the other settings.
        return self.shows or facts_of(self.task).shows


def checked_text(
    text: str,
    what: str,
    *,
    file: str,
    line: int | None,
    options: ReadingOptions,
    problems: Problems,
    may_be_empty: bool = False,
) -> str:
    """Return a text, mended if the options allow it, and add a problem if it cannot be used."""
    text = options.mender.text(text, file, line)
    if fault := fault_in_text(text, may_be_empty=may_be_empty):
        fix = None
        if not text and what.startswith("the translation"):
            fix = ALLOWED_IF_EMPTY
        elif is_mendable(text):
            fix = MENDED_BY_CLEANING
        problems.add(file, line, f"{what} {fault}", fix)
    return text


def checked_name(
    name: str, what: str, *, file: str, line: int, options: ReadingOptions, problems: Problems
) -> str:
    """Return a name, mended if the options allow it, and add a problem if it cannot be used."""
    name = options.mender.text(name, file, line)
    if fault := fault_in_name(name):
        problems.add(
            file, line, f"{what} {fault}", MENDED_BY_CLEANING if is_mendable(name) else None
        )
    return name


@dataclass(frozen=True, slots=True)
class SegmentTexts:
    """One segment with the output of every system, in the order of the systems; None if there is none."""

    name: str
    document: str
    source: str
    reference: str
    second_reference: str
    outputs: list[str | None]
    media: str = ""
    captions: str = ""


class TextStore:
    """Texts in a temporary file, by their offset. Add all of them before reading any."""

    def __init__(self) -> None:
        # Closed with the draft.
        self._file = tempfile.SpooledTemporaryFile(max_size=SPOOL_BYTES)  # noqa: SIM115
        self._size = 0

    def add(self, text: str) -> int:
        # Texts with half a surrogate pair have been reported, and are never read back.
        encoded = text.encode(errors="replace")
        place = self._size
        self._file.write(len(encoded).to_bytes(4, "little"))
        self._file.write(encoded)
        self._size += 4 + len(encoded)
        return place

    def get(self, place: int) -> str:
        if place == NO_TEXT:
            return ""
        self._file.seek(place)
        length = int.from_bytes(self._file.read(4), "little")
        return self._file.read(length).decode()

    def close(self) -> None:
        self._file.close()


class Grid:
    """A number per system and segment, in 8 bytes each: campaigns may have millions of outputs."""

    def __init__(self) -> None:
        self._columns: list[array[int]] = []

    def get(self, system: int, segment: int) -> int:
        """Return what was set, or NO_TEXT."""
        if system >= len(self._columns) or segment >= len(self._columns[system]):
            return NO_TEXT
        return self._columns[system][segment]

    def count(self) -> int:
        """Return how many numbers were set."""
        return sum(len(column) - column.count(NO_TEXT) for column in self._columns)

    def set(self, system: int, segment: int, number: int) -> None:
        while system >= len(self._columns):
            self._columns.append(array("q"))
        column = self._columns[system]
        if (n_missing := segment + 1 - len(column)) > 0:
            column.extend([NO_TEXT] * n_missing)
        column[segment] = number


class Draft:
    """Systems, segments and outputs as read from the files."""

    def __init__(self) -> None:
        self.systems: list[str] = []
        self.names: list[str] = []
        self.documents: list[str] = []
        self.notes: list[str] = []
        self.n_with_c1_controls = 0
        # What a file says besides texts; settings of the campaign come first.
        self.instructions = ""
        self.questionnaire: dict[str, Any] = {}
        # The files that tables name for each segment, what they are, and where they were uploaded.
        self.media: list[str] = []
        self.captions: list[str] = []
        self.media_types: dict[str, FileType] = {}
        self.media_root: Path | None = None
        self._texts = TextStore()
        self._sources = array("q")
        self._references = array("q")
        self._second_references = array("q")
        self._outputs = Grid()

    def close(self) -> None:
        self._texts.close()

    @property
    def n_segments(self) -> int:
        return len(self.names)

    @property
    def n_outputs(self) -> int:
        return self._outputs.count()

    def add_system(self, name: str) -> int:
        self.systems.append(name)
        self._check_size()
        return len(self.systems) - 1

    def add_segment(
        self,
        name: str,
        *,
        document: str = "",
        source: int = NO_TEXT,
        reference: int = NO_TEXT,
        second_reference: int = NO_TEXT,
    ) -> int:
        self.names.append(name)
        self._check_size()
        self.documents.append(document)
        self._sources.append(source)
        self._references.append(reference)
        self._second_references.append(second_reference)
        return len(self.names) - 1

    def _check_size(self) -> None:
        # Checked before the grid grows: even a short file could make it larger than memory.
        if len(self.systems) * len(self.names) > settings.MAX_OUTPUTS:
            self.give_up(
                f"holds more than {settings.MAX_OUTPUTS:,} outputs (systems times segments); "
                "the rest was not read"
            )

    def give_up(self, reason: str) -> NoReturn:
        """Stop reading, and close the draft, since the reader will not return it."""
        self.close()
        raise TooMuch(reason)

    def add_text(self, text: str) -> int:
        self.n_with_c1_controls += has_c1_control(text)
        return self._texts.add(text)

    def set_output(self, system: int, segment: int, place: int) -> None:
        self._outputs.set(system, segment, place)

    def report_missing_outputs(
        self, file: str, options: ReadingOptions, problems: Problems
    ) -> None:
        """Note the missing outputs, or add a problem for each unless they are allowed."""
        n_missing = 0
        for system, name in enumerate(self.systems):
            for segment in range(self.n_segments):
                if self._outputs.get(system, segment) != NO_TEXT:
                    continue
                n_missing += 1
                if not options.allow_missing_translations:
                    reason = (
                        f"system {name!r} has no translation of segment {self.names[segment]!r}"
                    )
                    problems.add(file, None, reason, ALLOWED_IF_MISSING)
        if n_missing:
            n_all = len(self.systems) * self.n_segments
            self.notes.append(
                f"{n_missing:,} of {n_all:,} outputs (systems times segments) are missing; the "
                "others are rated"
            )

    @property
    def has_second_references(self) -> bool:
        return any(place != NO_TEXT for place in self._second_references)

    def without_second_reference(self) -> list[int]:
        """Return the segments that have no second reference, if any segment has one."""
        if not self.has_second_references:
            return []
        return [i for i, place in enumerate(self._second_references) if place == NO_TEXT]

    def drop_second_references(self) -> None:
        self._second_references = array("q", [NO_TEXT] * self.n_segments)

    def note_equal_references(self) -> None:
        """Note second references that equal the reference, once all texts are read."""
        text = self._texts.get
        places = zip(self._references, self._second_references, strict=True)
        n_equal = sum(text(first) == text(second) for first, second in places if second != NO_TEXT)
        if n_equal:
            verb = "equals" if n_equal == 1 else "equal"
            self.notes.append(
                f"{n_equal:,} of {self.n_segments:,} second references {verb} the reference, so a "
                "script that compares texts recognises them"
            )

    def segments(self) -> Iterator[SegmentTexts]:
        text, place = self._texts.get, self._outputs.get
        systems = range(len(self.systems))
        for index, name in enumerate(self.names):
            yield SegmentTexts(
                name=name,
                document=self.documents[index],
                source=text(self._sources[index]),
                reference=text(self._references[index]),
                second_reference=text(self._second_references[index]),
                media=self.media[index] if self.media else "",
                captions=self.captions[index] if self.captions else "",
                outputs=[
                    None if (output := place(system, index)) == NO_TEXT else text(output)
                    for system in systems
                ],
            )
