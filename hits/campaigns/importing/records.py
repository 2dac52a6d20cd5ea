"""A campaign's texts, as read from its files and not yet stored.

Texts are read once, checked, and kept in a temporary file. What is stored is exactly what was checked, even if
the files change meanwhile, and the rows of a table can be sorted by segment without keeping them in memory.
"""

import tempfile
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NoReturn

from django.conf import settings

from da_platform.exceptions import TooMuch
from da_platform.files.problems import Problems
from da_platform.files.texts import has_c1_control

from ...models import SHOWN_BY_TASK, Campaign

# Up to this many bytes of text stay in memory.
SPOOL_BYTES = 16_000_000

# The place of a missing text.
NO_TEXT = -1

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
    shows: str = ""

    @property
    def needs_source(self) -> bool:
        return self._shown in (Campaign.Shows.SOURCE, Campaign.Shows.BOTH)

    @property
    def needs_reference(self) -> bool:
        return self._shown in (Campaign.Shows.REFERENCE, Campaign.Shows.BOTH)

    @property
    def _shown(self) -> str:
        return self.shows or SHOWN_BY_TASK[self.task]


@dataclass(frozen=True, slots=True)
class SegmentTexts:
    """One segment with the output of every system, in the order of the systems."""

    name: str
    document: str
    source: str
    reference: str
    second_reference: str
    outputs: list[str]


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

    def report_missing_outputs(self, file: str, problems: Problems) -> None:
        for system, name in enumerate(self.systems):
            for segment in range(self.n_segments):
                if self._outputs.get(system, segment) == NO_TEXT:
                    problems.add(
                        file,
                        None,
                        f"system {name!r} has no translation of segment {self.names[segment]!r}",
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
                outputs=[text(place(system, index)) for system in systems],
            )
