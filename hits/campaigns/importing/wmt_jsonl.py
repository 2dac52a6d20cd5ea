"""Read the JSONL files of WMT since 2024: sources, outputs and references, often of several language pairs.

A row holds one segment, or one document in paragraphs, with the outputs of all systems (`src_text`,
`tgt_text`) or of one system (`src`, `tgt`, `system`).
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from da_platform.files.mending import Mender
from da_platform.files.problems import Problems
from da_platform.files.reading import CampaignFolder, read_lines
from da_platform.files.texts import fault_in_name

from .languages import agree
from .plain_text import choose_reference, choose_second_reference, second_reference_note
from .records import ALLOWED_IF_MISSING, NO_TEXT, Draft, ReadingOptions, checked_text
from .tables import json_pairs

# Between a document's name and the number of the segment in it.
_SEPARATOR = "_#_"
_PARAGRAPHS = "\n\n"
_MARKED = re.compile(r"<p>\s*(.*?)\s*</p>", re.S)
_REFERENCE = re.compile("ref[A-Z]?")
_PAIR = re.compile(r"([a-z]{2,3})-([a-z]{2,3}(?:[_-][A-Za-z]+)*)")


@dataclass(frozen=True, slots=True)
class _Row:
    """A segment of a document, with one or more outputs and references by name."""

    line: int
    document: str
    name: str
    source: str
    texts: dict[str, str]


def is_wmt_jsonl(path: Path) -> bool:
    """Return whether the first row looks like WMT's."""
    with path.open("rb") as file:
        first = file.readline(1_000_000)
    try:
        row = json.loads(first.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return False
    return (
        isinstance(row, dict) and "doc_id" in row and bool(row.keys() & {"tgt_text", "tgt", "refs"})
    )


def read_wmt_jsonl(path: Path, options: ReadingOptions, problems: Problems) -> Draft:
    return WMTReader(path, options, problems).read()


class WMTReader:
    """Reads a test set; `outputs` are those of systems in files of their own, by document."""

    def __init__(
        self,
        path: Path,
        options: ReadingOptions,
        problems: Problems,
        outputs: Mapping[str, dict[str, str]] | None = None,
    ) -> None:
        self.outputs_elsewhere = outputs or {}
        self.path = path
        self.options = options
        self.problems = problems
        self.draft = Draft()
        self.systems: dict[str, int] = {}
        # The segment and the first line of each name, and its source.
        self.segments: dict[str, tuple[int, int, str]] = {}
        self.outputs: set[tuple[int, int]] = set()
        self.n_elsewhere: Counter[str] = Counter()

    def read(self) -> Draft:
        # References are named in the rows, so a first pass collects their names.
        scout = self.options.mender.scout()
        names = {name for row in self._rows(Problems(), scout) for name in row.texts}
        if not names and self.n_elsewhere:
            self._report_other_languages()
            return self.draft
        references = sorted(filter(_is_reference, names))
        self.n_elsewhere.clear()
        file = self.path.name
        chosen = choose_reference(references, self.options, self.problems, file=file)
        second = choose_second_reference(references, chosen, self.options, self.problems, file=file)
        for row in self._rows(self.problems, self.options.mender):
            self._add(row, chosen, second)
        self._finish(second)
        return self.draft

    # Rows -----------------------------------------------------------------------------------

    def _rows(self, problems: Problems, mender: Mender) -> Iterator[_Row]:
        folder = CampaignFolder(self.path)
        for number, line in read_lines(folder, self.path, problems, mender=mender):
            pairs = None if line is None else json_pairs(line, self.path.name, number, problems)
            if pairs is not None:
                yield from self._rows_of(number, dict(pairs), problems)

    def _rows_of(self, line: int, cells: dict[str, Any], problems: Problems) -> Iterator[_Row]:
        pair = language_pair(cells)
        if pair and not is_wanted(pair, self.options):
            self.n_elsewhere["-".join(pair)] += 1
            return
        source, texts, document = _source(cells), _texts(cells), cells.get("doc_id")
        if source is None or texts is None or not isinstance(document, str):
            reason = "has no doc_id, src_text and tgt_text (or src, tgt and system) that are texts"
            problems.add(self.path.name, line, reason)
            return
        texts |= self.outputs_elsewhere.get(document, {})
        if "line_id" in cells:
            yield _Row(line, document, f"{document}{_SEPARATOR}{cells['line_id']}", source, texts)
            return
        start, separator, number = document.rpartition(_SEPARATOR)
        if separator and number.isdecimal():
            yield _Row(line, start, document, source, texts)
        else:
            yield from self._paragraphs(line, document, source, texts, problems)

    def _paragraphs(
        self, line: int, document: str, source: str, texts: dict[str, str], problems: Problems
    ) -> Iterator[_Row]:
        """Split a document into its paragraphs, if all versions have as many."""
        sources = _split(source)
        split = {name: _split(text) for name, text in texts.items()}
        for name, paragraphs in split.items():
            may_be_missing = self.options.allow_missing_translations and not _is_reference(name)
            if len(paragraphs) != len(sources) and not may_be_missing:
                reason = (
                    f"{name} has {len(paragraphs)} paragraphs, but the source has {len(sources)}"
                )
                fix = None if _is_reference(name) else ALLOWED_IF_MISSING
                problems.add(self.path.name, line, reason, fix)
        # An output with other paragraphs is missing: which belongs to which would be a guess.
        fitting = {name: parts for name, parts in split.items() if len(parts) == len(sources)}
        for index, paragraph in enumerate(sources):
            parts = {name: paragraphs[index] for name, paragraphs in fitting.items()}
            yield _Row(line, document, f"{document}{_SEPARATOR}{index}", paragraph, parts)

    # From rows to a draft -------------------------------------------------------------------

    def _add(self, row: _Row, chosen: str | None, second: str | None) -> None:
        segment = self._segment(row, chosen, second)
        for name, text in row.texts.items():
            if _is_reference(name) or (not text and self.options.may_leave_gaps):
                continue
            system = self._system(name, row.line)
            if (system, segment) in self.outputs:
                # Several people judged the same output.
                continue
            self.outputs.add((system, segment))
            place = self._text(text, f"the translation by {name!r}", row.line, is_output=True)
            self.draft.set_output(system, segment, place)

    def _segment(self, row: _Row, chosen: str | None, second: str | None) -> int:
        if row.name in self.segments:
            segment, line, source = self.segments[row.name]
            if source != row.source:
                reason = f"the source of segment {row.name!r} is not the same as on line {line}"
                self.problems.add(self.path.name, row.line, reason)
            return segment
        for what, name in (("document", row.document), ("segment", row.name)):
            if fault := fault_in_name(name):
                self.problems.add(self.path.name, row.line, f"the {what}'s name {fault}")
        segment = self.draft.add_segment(
            row.name,
            document=row.document,
            source=self._text(row.source, "the source", row.line),
            reference=self._reference(row, chosen, "reference"),
            second_reference=self._reference(row, second, "second reference"),
        )
        self.segments[row.name] = segment, row.line, row.source
        return segment

    def _reference(self, row: _Row, name: str | None, what: str) -> int:
        if name is None:
            return NO_TEXT
        if name not in row.texts:
            self.problems.add(
                self.path.name, row.line, f"segment {row.name!r} has no {what} {name}"
            )
            return NO_TEXT
        return self._text(row.texts[name], f"the {what}", row.line)

    def _system(self, name: str, line: int) -> int:
        if name not in self.systems:
            if fault := fault_in_name(name):
                self.problems.add(self.path.name, line, f"the system's name {fault}")
            self.systems[name] = self.draft.add_system(name)
        return self.systems[name]

    def _text(self, text: str, what: str, line: int, *, is_output: bool = False) -> int:
        text = checked_text(
            text,
            what,
            file=self.path.name,
            line=line,
            options=self.options,
            problems=self.problems,
            may_be_empty=is_output and self.options.allow_empty_translations,
        )
        return self.draft.add_text(text)

    def _report_other_languages(self) -> None:
        pair = f"{self.options.source_language}-{self.options.target_language}"
        reason = f"has no rows of {pair}, only of {', '.join(self.n_elsewhere)}"
        self.problems.add(self.path.name, None, reason)

    def _finish(self, second: str | None) -> None:
        if not self.systems and not self.problems.total:
            self.problems.add(self.path.name, None, "has no translations by any system")
        if n := sum(self.n_elsewhere.values()):
            rows = "1 row" if n == 1 else f"{n:,} rows"
            verb = "is" if n == 1 else "are"
            listed = ", ".join(self.n_elsewhere)
            self.draft.notes.append(f"{rows} of other languages {verb} left out: {listed}")
        if second is not None:
            self.draft.notes.append(second_reference_note(second))
        if not self.problems.total:
            self.draft.report_missing_outputs(self.path.name, self.options, self.problems)


def _split(document: str) -> list[str]:
    """Split a document into paragraphs: marked as in HTML, or with an empty line between them."""
    marked = _MARKED.findall(document)
    return (
        marked if marked and not _MARKED.sub("", document).strip() else document.split(_PARAGRAPHS)
    )


def _is_reference(name: str) -> bool:
    return _REFERENCE.fullmatch(name) is not None


def is_wanted(pair: tuple[str, str], options: ReadingOptions) -> bool:
    """Return whether rows of these languages belong to the campaign."""
    return agree(pair[0], options.source_language) and agree(pair[1], options.target_language)


def language_pair(cells: dict[str, Any]) -> tuple[str, str] | None:
    """Find the languages in their own fields, or at the beginning of the document's name."""
    source, target = cells.get("src_lang"), cells.get("tgt_lang")
    if isinstance(source, str) and isinstance(target, str):
        return source, target
    for text in (cells.get("langs"), str(cells.get("doc_id", "")).partition(_SEPARATOR)[0]):
        if isinstance(text, str) and (match := _PAIR.fullmatch(text)):
            return match[1], match[2]
    return None


def _source(cells: dict[str, Any]) -> str | None:
    source = cells.get("src_text", cells.get("src"))
    return source if isinstance(source, str) else None


def _texts(cells: dict[str, Any]) -> dict[str, str] | None:
    """Return outputs and references by name; None if they are not texts."""
    if isinstance(cells.get("tgt"), str) and isinstance(cells.get("system"), str):
        return {cells["system"]: cells["tgt"]}
    outputs, references = _object(cells.get("tgt_text")), _object(cells.get("refs"))
    if outputs is None or references is None:
        return None
    # A reference may be an object with the text and who made it.
    texts = {
        name: _object(reference).get("ref") if not isinstance(reference, str) else reference  # type: ignore[union-attr]
        for name, reference in references.items()
        if isinstance(reference, str) or _object(reference) is not None
    }
    # A system without an output for this segment has null.
    texts |= {name: text for name, text in outputs.items() if text is not None}
    return texts if all(isinstance(text, str) for text in texts.values()) else None  # type: ignore[return-value]


def _object(value: Any) -> dict[str, Any] | None:
    """Return a JSON object, which `json_pairs` keeps as pairs; None for anything else."""
    if value is None:
        return {}
    try:
        return dict(value) if isinstance(value, list) else None
    except (TypeError, ValueError):
        return None
