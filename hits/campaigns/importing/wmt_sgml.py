"""Read folders of WMT test sets in SGML, as published until 2020: files of sources, references and outputs.

These files are not well-formed: texts contain bare ampersands and angle brackets.
"""

import re
from collections.abc import Container, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from da_platform.files.problems import Problems
from da_platform.files.reading import CampaignFolder, files_in, read_lines
from da_platform.files.texts import MAX_NAME_LENGTH, MAX_TEXT_LENGTH, fault_in_name

from .languages import agree, of_the_pair
from .plain_text import (
    by_name,
    choose_reference,
    choose_second_reference,
    folders_with_files,
    second_reference_note,
    without_common_parts,
)
from .records import NO_TEXT, Draft, ReadingOptions, checked_text

SUFFIXES = (".sgm", ".sgml")
# Enough for the tags before the first segment.
_HEADER_BYTES = 10_000
_KEPT_LENGTH = MAX_TEXT_LENGTH + 1
_MAX_TAG_LENGTH = 2_000

_TAG = re.compile(r"<(/?)(srcset|refset|tstset|doc|seg)\b([^<>]*)>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"""(\w+)\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_ENTITY = re.compile(r"&(amp|lt|gt|quot|apos|#\d{1,7}|#[xX][0-9a-fA-F]{1,6});")
_ENTITIES = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}
_PAIR = re.compile(r"(?<![a-z])([a-z]{2,3})-([a-z]{2,3})(?![a-z])")

# The document and the id of a segment.
Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class _SetFile:
    """A file and what its first tags say. `kind` is src, ref or tst."""

    path: Path
    kind: str
    source_language: str
    target_language: str
    system: str


@dataclass
class _Texts:
    """The texts of a file: line and place by document and segment."""

    file: str
    places: dict[Key, tuple[int, int]] = field(default_factory=dict)


def has_sgml(folder: Path) -> bool:
    return any(
        path.suffix.lower() in SUFFIXES
        for part in folders_with_files(folder)
        for path in files_in(part)
    )


def read_wmt_sgml(path: Path, options: ReadingOptions, problems: Problems) -> Draft:
    return _Reader(CampaignFolder(path), options, problems).read()


class _Reader:
    def __init__(self, folder: CampaignFolder, options: ReadingOptions, problems: Problems) -> None:
        self.folder = folder
        self.options = options
        self.problems = problems
        self.draft = Draft()
        self.name = folder.shown(folder.path)

    def read(self) -> Draft:
        files = [file for file in self._set_files() if self._is_of_the_languages(file)]
        sources = self._only([file for file in files if file.kind == "src"], "sources")
        references = self._named([file for file in files if file.kind == "ref"], "reference")
        systems = self._systems([file for file in files if file.kind == "tst"])
        chosen = choose_reference(references, self.options, self.problems, file=self.name)
        second = choose_second_reference(
            references, chosen, self.options, self.problems, file=self.name
        )
        if sources is None and (self.options.needs_source or chosen is None):
            language = self.options.source_language
            self.problems.add(self.name, None, f"has no sources (srcset) in {language!r}")
        if not systems:
            language = self.options.target_language
            self.problems.add(self.name, None, f"has no systems (tstset) in {language!r}")
        if self.problems.total:
            return self.draft
        if second is not None:
            self.draft.notes.append(second_reference_note(second))
        source_texts = self._texts(sources, "the source") if sources else None
        reference_texts = self._texts(references[chosen], "the reference") if chosen else None
        second_texts = self._texts(references[second], "the second reference") if second else None
        segments = self._add_segments(source_texts, reference_texts, second_texts)
        for name, path in systems.items():
            self._add_outputs(name, path, segments)
        if all(fix.option != "encoding" for fix in self.problems.fixes):
            # A line that cannot be read is not a missing translation.
            self.draft.report_missing_outputs(self.name, self.options, self.problems)
        return self.draft

    # Finding the files ----------------------------------------------------------------------

    def _set_files(self) -> Iterator[_SetFile]:
        for part in folders_with_files(self.folder.path):
            for path in files_in(part):
                if path.suffix.lower() in SUFFIXES and (file := self._set_file(path)):
                    yield file

    def _set_file(self, path: Path) -> _SetFile | None:
        with self.folder.opened(path, self.problems) as file:
            if file is None:
                return None
            header = file.read(_HEADER_BYTES).decode(errors="replace")
        tags = [
            (match[2].lower(), _attributes(match[3]))
            for match in _TAG.finditer(header)
            if not match[1]
        ]
        sets = [(tag, attributes) for tag, attributes in tags if tag.endswith("set")]
        if not sets:
            reason = "has no srcset, refset or tstset at its beginning"
            self.problems.add(self.folder.shown(path), None, reason)
            return None
        tag, attributes = sets[0]
        documents = [attributes for tag, attributes in tags if tag == "doc"]
        return _SetFile(
            path=path,
            kind=tag.removesuffix("set"),
            source_language=attributes.get("srclang", ""),
            target_language=attributes.get("trglang", ""),
            system=(documents or [{}])[0].get("sysid", "") or attributes.get("sysid", ""),
        )

    def _is_of_the_languages(self, file: _SetFile) -> bool:
        """Compare the languages in the tags, or else in the names of the file and its folder."""
        source, target = self.options.source_language, self.options.target_language
        in_name = _PAIR.search(f"{file.path.parent.name}/{file.path.name}")
        if file.kind == "tst" and in_name and not file.target_language:
            return agree(in_name[1], source) and agree(in_name[2], target)
        if file.kind == "tst" and in_name and not agree(in_name[1], source):
            return False
        stated = file.source_language if file.kind == "src" else file.target_language
        if stated in ("", "any"):
            # As in newstest2013-src.de.sgm.
            suffix = file.path.stem.rpartition(".")[2]
            stated = suffix if re.fullmatch("[a-z]{2,3}", suffix) else ""
        return agree(stated, source if file.kind == "src" else target)

    def _only(self, files: list[_SetFile], what: str) -> Path | None:
        paths = self._of_the_pair(files)
        if len(paths) > 1:
            listed = ", ".join(self.folder.shown(path) for path in paths)
            self.problems.add(self.name, None, f"has several files of {what}: {listed}")
        return paths[0] if paths else None

    def _of_the_pair(self, files: list[_SetFile]) -> list[Path]:
        source, target = self.options.source_language, self.options.target_language
        return of_the_pair([file.path for file in files], source, target)

    def _named(self, files: list[_SetFile], what: str) -> dict[str, Path]:
        paths = self._of_the_pair(files)
        names = without_common_parts([path.stem for path in paths]) if paths else []
        return by_name(self.folder, what, names, paths, self.problems)

    def _systems(self, files: list[_SetFile]) -> dict[str, Path]:
        """Name systems as the files say, or after the files if that does not tell them apart."""
        names = [file.system for file in files]
        if not all(names) or len(set(names)) < len(names):
            return self._named(files, "system")
        return by_name(self.folder, "system", names, [file.path for file in files], self.problems)

    # Reading the texts ----------------------------------------------------------------------

    def _texts(self, path: Path, what: str) -> _Texts:
        is_output = what == "the translation"
        texts = _Texts(self.folder.shown(path))
        for line, key, raw in self._segments(path, texts.file):
            if key in texts.places:
                first = texts.places[key][0]
                self._report(texts, line, f"segment {_shown(key)} is already on line {first}")
                continue
            if is_output and not raw and self.options.may_leave_gaps:
                continue
            text = checked_text(
                raw,
                what,
                file=texts.file,
                line=line,
                options=self.options,
                problems=self.problems,
                may_be_empty=is_output and self.options.allow_empty_translations,
            )
            texts.places[key] = (line, self.draft.add_text(text))
        if not texts.places:
            self.problems.add(texts.file, None, "has no segments (elements 'seg')")
        return texts

    def _segments(self, path: Path, file: str) -> Iterator[tuple[int, Key, str]]:
        """Yield the line, the document and id, and the text of each segment."""
        document = ""
        segment: tuple[int, str] | None = None
        chunks: list[str] = []
        n_characters = 0
        for number, line in read_lines(
            self.folder, path, self.problems, mender=self.options.mender
        ):
            end = 0
            for match in _TAG.finditer(line or ""):
                chunks.append((line or "")[end : match.start()])
                end = match.end()
                tag, is_end = match[2].lower(), bool(match[1])
                if segment is not None:
                    start, name = segment
                    if not (tag == "seg" and is_end):
                        self.problems.add(file, start, f"segment {name!r} does not end")
                    yield start, (document, name), _plain("".join(chunks))
                    segment = None
                if tag == "doc" and not is_end:
                    document = self._name(match[3], "docid", "document", file, number)
                elif tag == "seg" and not is_end:
                    segment = number, self._name(match[3], "id", "segment", file, number)
                chunks, n_characters = [], 0
            if segment is not None and n_characters < _KEPT_LENGTH:
                # The next line of the same segment.
                chunks += [(line or "")[end:], " "]
                n_characters += len(line or "") - end
        if segment is not None:
            self.problems.add(file, segment[0], f"segment {segment[1]!r} does not end")

    def _name(self, attributes: str, key: str, what: str, file: str, line: int) -> str:
        name = _attributes(attributes).get(key, "")
        if fault := fault_in_name(name):
            self.problems.add(file, line, f"the {what}'s id {fault}")
        return name

    def _add_segments(
        self, sources: _Texts | None, references: _Texts | None, second: _Texts | None
    ) -> dict[Key, int]:
        base = sources or references
        assert base is not None
        for texts in (references, second):
            self._compare(texts, base)
        indices = {}
        for key, (line, _) in base.places.items():
            name = _shown(key)
            if len(name) > MAX_NAME_LENGTH:
                self._report(
                    base, line, f"the combined document and segment id {fault_in_name(name)}"
                )
            indices[key] = self.draft.add_segment(
                name,
                document=key[0],
                source=_place(sources, key),
                reference=_place(references, key),
                second_reference=_place(second, key),
            )
        return indices

    def _compare(self, texts: _Texts | None, base: _Texts) -> None:
        if texts is None or texts is base:
            return
        for key in base.places:
            if key not in texts.places:
                self.problems.add(texts.file, None, f"has no segment {_shown(key)}")
        self._report_unknown(texts, base.places)

    def _add_outputs(self, name: str, path: Path, segments: dict[Key, int]) -> None:
        texts = self._texts(path, "the translation")
        system = self.draft.add_system(name)
        self._report_unknown(texts, segments)
        for key, (_, place) in texts.places.items():
            if key in segments:
                self.draft.set_output(system, segments[key], place)

    def _report_unknown(self, texts: _Texts, known: Container[Key]) -> None:
        for key, (line, _) in texts.places.items():
            if key not in known:
                self._report(texts, line, f"segment {_shown(key)} is not in the sources")

    def _report(self, texts: _Texts, line: int, reason: str) -> None:
        self.problems.add(texts.file, line, reason)


def _place(texts: _Texts | None, key: Key) -> int:
    return NO_TEXT if texts is None or key not in texts.places else texts.places[key][1]


def _shown(key: Key) -> str:
    return ":".join(key)


def _attributes(text: str) -> dict[str, str]:
    pairs = _ATTRIBUTE.findall(text) if len(text) <= _MAX_TAG_LENGTH else []
    return {name.lower(): _plain(double or single) for name, double, single in pairs}


def _plain(text: str) -> str:
    """Return a text without surrounding white space, with its entities decoded once."""
    return _ENTITY.sub(_character, text[: 10 * _KEPT_LENGTH].strip())


def _character(match: re.Match[str]) -> str:
    entity = match[1]
    if entity in _ENTITIES:
        return _ENTITIES[entity]
    code = int(entity[2:], 16) if entity[1] in "xX" else int(entity[1:])
    # Numbers that are not characters stay as they are.
    return chr(code) if code < 0x110000 else match[0]
