"""Read WMT test sets in XML: documents with their sources, references and outputs."""

from dataclasses import dataclass, field
from pathlib import Path
from xml.sax import SAXParseException
from xml.sax.handler import ContentHandler
from xml.sax.xmlreader import AttributesImpl, Locator

from defusedxml.common import DefusedXmlException
from defusedxml.expatreader import create_parser

from da_platform.files.problems import Problems
from da_platform.files.reading import CampaignFolder, ReadingLimits
from da_platform.files.texts import MAX_NAME_LENGTH, MAX_TEXT_LENGTH, fault_in_name

from .languages import agree
from .plain_text import choose_reference, choose_second_reference, second_reference_note
from .records import NO_TEXT, Draft, ReadingOptions, checked_text

BLOCK_BYTES = 65_536
# A longer comment or tag is refused: the parser keeps all of it in memory until it ends.
MAX_MARKUP_BYTES = 10_000_000
# Enough to see that a text is too long, without keeping all of it.
_KEPT_LENGTH = MAX_TEXT_LENGTH + 1

# Test sets need six levels: set, collection, document, part, paragraph and segment.
MAX_DEPTH = 10
# Systems and references in all languages: far more than any test set has.
MAX_PARTS = 1_000

_NAMING_ATTRIBUTE = {"src": "translator", "ref": "translator", "hyp": "system"}


def read_wmt_xml(path: Path, options: ReadingOptions, problems: Problems) -> Draft:
    handler = _TestSet(path.name, options, problems)
    with CampaignFolder(path).opened(path, problems) as file:
        if file is None:
            return handler.draft
        # Entities are declared in a document type; test sets have neither.
        parser = create_parser(forbid_dtd=True)
        parser.setContentHandler(handler)
        # `parse` would do this, but it reads the file itself.
        handler.setDocumentLocator(parser)
        try:
            n_read = n_pending = 0
            # The parser begins again at the start of an unfinished comment or tag whenever it is fed, so it
            # is fed at least as much as is pending. Otherwise the time would grow with the square of its length.
            while block := file.read(
                max(BLOCK_BYTES, min(n_pending, MAX_MARKUP_BYTES - n_pending + 1))
            ):
                parser.feed(block)
                n_read += len(block)
                n_pending = n_read - parser._parser.CurrentByteIndex  # type: ignore[attr-defined]
                handler.check_markup(n_pending)
                handler.check_time()
            parser.close()
        except SAXParseException as error:
            reason = (
                f"is not XML: {error.getMessage()} at column {(error.getColumnNumber() or 0) + 1}"
            )
            problems.add(path.name, error.getLineNumber(), f"{reason}; the rest was not read")
            return handler.draft
        except DefusedXmlException:
            problems.add(
                path.name,
                handler.line,
                "declares a document type or an entity, which is not allowed",
            )
            return handler.draft
        except (LookupError, ValueError):
            # The parser supports UTF-8, UTF-16 and single-byte encodings.
            problems.add(
                path.name, 1, "declares an encoding that cannot be read; save the file as UTF-8"
            )
            return handler.draft
    handler.finish()
    return handler.draft


@dataclass
class _Part:
    """The segments of a document in one language: its source, a reference or an output."""

    kind: str
    name: str
    line: int
    # The line and the place of the text, by segment id.
    places: dict[str, tuple[int, int]] = field(default_factory=dict)


@dataclass
class _Document:
    name: str
    line: int
    is_doubled: bool
    parts: list[_Part] = field(default_factory=list)
    # The kind and name of each part, to find duplicates.
    part_keys: set[tuple[str, str]] = field(default_factory=set)

    def of_kind(self, kind: str) -> list[_Part]:
        return [part for part in self.parts if part.kind == kind]


class _TestSet(ContentHandler):
    """Handles the parser's events, with one document in memory at a time."""

    def __init__(self, file: str, options: ReadingOptions, problems: Problems) -> None:
        super().__init__()
        self.draft = Draft()
        self._file = file
        self._options = options
        self._problems = problems
        self._locator: Locator | None = None
        self._document_lines: dict[str, int] = {}
        self._segment_names: set[str] = set()
        self._systems: dict[str, int] = {}
        self._reference_names: dict[str, None] = {}
        # The name of the second reference, if there is one.
        self._second_name = options.second_reference
        self._is_second_chosen = options.second_reference is not None
        self._document: _Document | None = None
        self._part: _Part | None = None
        self._segment: tuple[str, int] | None = None
        self._chunks: list[str] = []
        self._n_characters = 0
        self._n_elements = 0
        self._depth = 0
        self._parts: set[tuple[str, str]] = set()
        self._limits = ReadingLimits()

    def setDocumentLocator(self, locator: Locator) -> None:
        self._locator = locator

    @property
    def line(self) -> int:
        return (self._locator.getLineNumber() if self._locator else None) or 1

    # Parser events --------------------------------------------------------------------------

    def startElement(self, tag: str, attributes: AttributesImpl) -> None:
        self._count_element()
        if self._segment is not None:
            reason = f"has an element {tag[:MAX_NAME_LENGTH]!r} inside a segment, which must be plain text"
            self._report(self.line, reason)
        elif tag == "doc":
            self._begin_document(attributes)
        elif tag in _NAMING_ATTRIBUTE:
            self._begin_part(tag, attributes)
        elif tag == "seg" and self._part is not None:
            self._segment = (attributes.get("id", ""), self.line)
            self._chunks, self._n_characters = [], 0

    def characters(self, content: str) -> None:
        if self._segment is not None and self._n_characters <= _KEPT_LENGTH:
            self._chunks.append(content)
            self._n_characters += len(content)

    def endElement(self, tag: str) -> None:
        self._depth -= 1
        if self._segment is not None:
            # Other elements were reported when they began.
            if tag == "seg":
                self._end_segment()
        elif tag in _NAMING_ATTRIBUTE:
            self._part = None
        elif tag == "doc":
            self._end_document()

    def check_time(self) -> None:
        """Give up after too long. Counting elements is not enough: one may be as long as the file."""
        if fault := self._limits.fault_in_time():
            self.draft.give_up(f"line {self.line:,} {fault}")

    def check_markup(self, n_bytes: int) -> None:
        """Give up on a comment or tag that does not end."""
        if n_bytes > MAX_MARKUP_BYTES:
            self.draft.give_up(
                f"line {self.line:,} has a comment or tag longer than {MAX_MARKUP_BYTES:,} bytes; "
                "the rest was not read"
            )

    def _count_element(self) -> None:
        """Give up on too many elements, or elements nested too deep."""
        self._n_elements += 1
        self._depth += 1
        if fault := self._limits.fault_at(self._n_elements):
            self.draft.give_up(f"element {self._n_elements:,} {fault}")
        if self._depth > MAX_DEPTH:
            self.draft.give_up(
                f"line {self.line:,} has elements nested more than {MAX_DEPTH} deep; "
                "the rest was not read"
            )

    def _begin_document(self, attributes: AttributesImpl) -> None:
        name = attributes.get("id", "")
        if fault := fault_in_name(name):
            self._report(self.line, f"the document's id {fault}")
        elif name in self._document_lines:
            first = self._document_lines[name]
            self._report(self.line, f"document {name!r} is already on line {first}")
        elif self._document is not None:
            outer = self._document.name
            self._report(self.line, f"document {name!r} begins inside document {outer!r}")
        self._document = _Document(name, self.line, is_doubled=name in self._document_lines)
        self._document_lines.setdefault(name, self.line)

    def _begin_part(self, tag: str, attributes: AttributesImpl) -> None:
        if self._document is None:
            self._report(self.line, f"has an element {tag!r} outside of a document")
            return
        language = attributes.get("lang") or attributes.get("language") or ""
        expected = self._options.source_language if tag == "src" else self._options.target_language
        if not agree(language, expected):
            if tag != "src":
                return
            language = language[:MAX_NAME_LENGTH]
            self._report(self.line, f"the source is in {language!r}, not in {expected!r}")
        name = attributes.get(_NAMING_ATTRIBUTE[tag], "")
        part = _Part(tag, name, self.line)
        if tag == "hyp":
            self._check_system(name)
        elif tag == "ref":
            self._reference_names.setdefault(name)
        if (tag, name) in self._document.part_keys:
            # Its segments are checked but not kept.
            self._report(self.line, f"document {self._document.name!r} has {_what(part)} twice")
        else:
            self._keep(part, self._document)
        self._part = part

    def _keep(self, part: _Part, document: _Document) -> None:
        self._parts.add((part.kind, part.name))
        if len(self._parts) > MAX_PARTS:
            self.draft.give_up(
                f"has more than {MAX_PARTS:,} systems and references; the rest was not read"
            )
        document.part_keys.add((part.kind, part.name))
        document.parts.append(part)

    def _check_system(self, name: str) -> None:
        if name not in self._systems:
            if fault := fault_in_name(name):
                self._report(self.line, f"the system's name {fault}")
            self._systems[name] = self.draft.add_system(name)

    def _end_segment(self) -> None:
        assert self._segment is not None and self._part is not None
        (name, line), text, part = self._segment, "".join(self._chunks), self._part
        self._segment = None
        if fault := fault_in_name(name):
            self._report(line, f"the segment's id {fault}")
        elif name in part.places:
            self._report(line, f"segment {name!r} is already on line {part.places[name][0]}")
        text = checked_text(
            text,
            _what(part),
            file=self._file,
            line=line,
            options=self._options,
            problems=self._problems,
            may_be_empty=part.kind == "hyp" and self._options.allow_empty_translations,
        )
        part.places[name] = (line, self.draft.add_text(text))

    # From a document to the draft -----------------------------------------------------------

    def _end_document(self) -> None:
        document, self._document = self._document, None
        if document is None or document.is_doubled:
            return
        sources = document.of_kind("src")
        if not sources or not sources[0].places:
            self._report(document.line, f"document {document.name!r} has no source segments")
            return
        source = sources[0]
        reference = self._reference_of(document)
        second = self._second_reference_of(document, reference)
        indices = {
            name: self._add_segment(document, name, source, reference, second)
            for name in source.places
        }
        for part in document.parts:
            self._report_unknown_segments(part, source)
        for part in document.of_kind("hyp"):
            for name, (_, place) in part.places.items():
                if name in indices:
                    self.draft.set_output(self._systems[part.name], indices[name], place)

    def _reference_of(self, document: _Document) -> _Part | None:
        chosen = self._options.reference
        references = document.of_kind("ref")
        if chosen is not None:
            references = [part for part in references if part.name == chosen]
        if references:
            return references[0]
        if self._options.needs_reference:
            which = "reference" if chosen is None else f"reference {chosen!r}"
            self._report(document.line, f"document {document.name!r} has no {which}")
        return None

    def _second_reference_of(self, document: _Document, reference: _Part | None) -> _Part | None:
        references = document.of_kind("ref")
        if not self._is_second_chosen and references:
            # The first document with references decides, since texts are not kept until the end.
            self._is_second_chosen = True
            self._second_name = choose_second_reference(
                [part.name for part in references],
                reference.name if reference else None,
                self._options,
                self._problems,
                file=self._file,
            )
        named = [part for part in references if part.name == self._second_name]
        if named:
            return named[0]
        if self._options.second_reference is not None:
            reason = f"document {document.name!r} has no reference {self._second_name!r}"
            self._report(document.line, reason)
        return None

    def _add_segment(
        self,
        document: _Document,
        name: str,
        source: _Part,
        reference: _Part | None,
        second: _Part | None,
    ) -> int:
        line, place = source.places[name]
        # Segment ids start again in each document, so the document is part of the name.
        full_name = f"{document.name}:{name}"
        if full_name in self._segment_names:
            self._report(line, f"segment {full_name!r} appears twice")
        elif len(full_name) > MAX_NAME_LENGTH:
            self._report(line, f"the combined document and segment id {fault_in_name(full_name)}")
        self._segment_names.add(full_name)
        reference_place = NO_TEXT
        if reference is not None:
            if name in reference.places:
                reference_place = reference.places[name][1]
            else:
                self._report(line, f"segment {name!r} has no reference")
        second_place = NO_TEXT
        if second is not None and name in second.places:
            second_place = second.places[name][1]
        elif second is not None and self._options.second_reference is not None:
            self._report(line, f"segment {name!r} has no reference {second.name!r}")
        return self.draft.add_segment(
            full_name,
            document=document.name,
            source=place,
            reference=reference_place,
            second_reference=second_place,
        )

    def _report_unknown_segments(self, part: _Part, source: _Part) -> None:
        for name, (line, _) in part.places.items():
            if name not in source.places:
                self._report(line, f"{_what(part)} has segment {name!r}, but the source does not")

    def finish(self) -> None:
        """Report problems that only show at the end."""
        if not self._document_lines:
            self._problems.add(self._file, None, "has no documents (elements 'doc')")
            return
        if not self._systems:
            target = self._options.target_language
            self._problems.add(self._file, None, f"has no systems (elements 'hyp') in {target!r}")
        if self._reference_names or self._options.reference is not None:
            reference = choose_reference(
                self._reference_names, self._options, self._problems, file=self._file
            )
            self._finish_second_references(reference)
        self.draft.report_missing_outputs(self._file, self._options, self._problems)

    def _finish_second_references(self, reference: str | None) -> None:
        name = self._second_name
        if name is None:
            return
        if name == reference:
            reason = f"reference {name!r} cannot be the second reference too"
            self._problems.add(self._file, None, reason)
        elif missing := self.draft.without_second_reference():
            # Only if nobody asked for it: otherwise each segment without it was reported.
            self.draft.drop_second_references()
            self.draft.notes.append(
                f"reference {name} is not the second reference, because it is missing in "
                f"{len(missing):,} of {self.draft.n_segments:,} segments"
            )
        else:
            self.draft.notes.append(second_reference_note(name))

    def _report(self, line: int, reason: str) -> None:
        self._problems.add(self._file, line, reason)


def _what(part: _Part) -> str:
    if part.kind == "src":
        return "the source"
    if part.kind == "ref":
        return f"reference {part.name!r}" if part.name else "the reference"
    return f"the translation by {part.name!r}"
