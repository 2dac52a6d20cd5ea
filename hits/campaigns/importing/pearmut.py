"""Read the campaign files of Pearmut: JSON with documents, each item with the outputs of some models.

Texts, documents, instructions and forms are taken over. Who rates what, attention checks and tutorials are not: HITs,
hidden items and practice are the platform's own.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from da_platform.files.problems import Problems
from da_platform.files.reading import CampaignFolder
from da_platform.files.texts import fault_in_name, fault_in_text

from ...questionnaires.questions import CHOICE, MAX_QUESTIONS, NUMBER, TEXT
from .records import NO_TEXT, Draft, ReadingOptions, checked_text

MAX_FILE_BYTES = 200_000_000
# What other protocols need that we do not ask for.
MISSING = {
    "esa": "error spans",
    "cesa": "error spans",
    "esaai": "error spans",
    "mqm": "error spans with categories",
}
DA = "da"
_FORMS = {"string": TEXT, "number": NUMBER, "choices": CHOICE}
# Between a document's name and the number of the item in it, as WMT writes it.
_IN_DOCUMENT = re.compile(r"(.+)_#{1,3}_[0-9]+")
_MEDIA = re.compile(r"\s*<(img|audio|video)\b", re.I)


def read_pearmut(path: Path, options: ReadingOptions, problems: Problems) -> Draft:
    reader = _Reader(path.name, options, problems)
    content = _load(path, problems)
    if content is not None:
        reader.read(content)
    return reader.draft


def _load(path: Path, problems: Problems) -> dict[str, Any] | None:
    with CampaignFolder(path).opened(path, problems) as file:
        if file is None:
            return None
        raw = file.read(MAX_FILE_BYTES + 1)
    try:
        if len(raw) > MAX_FILE_BYTES:
            problems.add(path.name, None, f"is larger than {MAX_FILE_BYTES:,} bytes")
            return None
        content = json.loads(raw.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        problems.add(path.name, None, f"is not UTF-8 at byte {error.start:,}")
    except json.JSONDecodeError as error:
        problems.add(path.name, error.lineno, f"is not JSON: {error.msg} at column {error.colno}")
    except (ValueError, RecursionError):
        problems.add(path.name, None, "cannot be read as JSON")
    else:
        missing = [key for key in ("info", "campaign_id", "data") if not _has(content, key)]
        if not missing:
            return dict(content)
        problems.add(path.name, None, f"is not a campaign of Pearmut: it has no {missing[0]!r}")
    return None


def _has(content: Any, key: str) -> bool:
    return isinstance(content, dict) and key in content


class _Reader:
    def __init__(self, file: str, options: ReadingOptions, problems: Problems) -> None:
        self.file = file
        self.options = options
        self.problems = problems
        self.draft = Draft()
        self.systems: dict[str, int] = {}
        # The number, the source and the reference of each segment.
        self.segments: dict[str, tuple[int, str, str]] = {}
        self.outputs: dict[tuple[int, int], str] = {}
        self.instructions: dict[str, None] = {}
        self.n_left_out: Counter[str] = Counter()

    def read(self, content: dict[str, Any]) -> None:
        info = content["info"] if isinstance(content["info"], dict) else {}
        self._check_info(info)
        self._add_instructions(info.get("instructions"))
        for place, document in self._documents(content["data"], info.get("assignment")):
            self._add_document(place, document)
        self._read_welcome(content.get("data_welcome") or [])
        random = content.get("data_random") or []
        self.n_left_out["documents of attention checks"] += len(random)
        self._finish()

    # What is asked ---------------------------------------------------------------------------

    def _check_info(self, info: dict[str, Any]) -> None:
        protocol = info.get("protocol")
        known = str(protocol).lower()
        if protocol is None:
            self._fault("info", "has no protocol; only DA can be imported")
        elif known in MISSING:
            self._fault(
                "info",
                f"the protocol {protocol} needs {MISSING[known]}, which this platform does not ask for; "
                "only DA can be imported",
            )
        elif known != DA:
            self._fault("info", f"the protocol {protocol!r} is not known; only DA can be imported")
        if info.get("sliders"):
            self._fault("info", "has its own sliders; here there is only one, from 0 to 100")
        if info.get("textfield") == "prefilled":
            self._fault("info", "asks for post-editions; import its texts with the task edit")
        if info.get("show_model_names"):
            self.draft.notes.append("names of models are never shown to workers")

    def _add_instructions(self, text: Any) -> None:
        if not isinstance(text, str) or not (plain := plain_text(text)):
            return
        faults = filter(None, map(fault_in_text, plain.split("\n")))
        for fault in faults if plain not in self.instructions else ():
            self._fault("instructions", fault)
        self.instructions[plain] = None

    # Documents -------------------------------------------------------------------------------

    def _documents(self, data: Any, assignment: Any) -> Iterator[tuple[str, list[Any]]]:
        """Yield each document with its place, whichever way they are handed out."""
        tasks = list(data.values()) if isinstance(data, dict) else data
        if not isinstance(tasks, list):
            self._fault("data", "is not a list")
            return
        if assignment == "task-based":
            for number, task in enumerate(tasks, start=1):
                if isinstance(task, list):
                    yield from self._in_pool(task, f"task {number}, ")
                else:
                    self._fault(f"task {number}", "is not a list of documents")
        elif assignment in ("single-stream", "dynamic"):
            yield from self._in_pool(tasks, "")
        else:
            self._fault(
                "info",
                f"the assignment {assignment!r} is not task-based, single-stream or dynamic",
            )

    def _in_pool(self, documents: list[Any], where: str) -> Iterator[tuple[str, list[Any]]]:
        for number, document in enumerate(documents, start=1):
            place = f"{where}document {number}"
            if isinstance(document, list) and document:
                yield place, document
            else:
                self._fault(place, "is not a list of items")

    def _add_document(self, place: str, items: list[Any]) -> None:
        for number, item in enumerate(items, start=1):
            if isinstance(item, dict) and "form" in item and "tgt" not in item:
                self.n_left_out["forms among the documents"] += 1
            elif isinstance(item, dict) and ("validation" in item or item.get("skippable")):
                self.n_left_out["tutorial items and attention checks"] += 1
            elif fault := _fault_in_item(item):
                self._fault(f"{place}, item {number}", fault)
            else:
                self._add_item(item, f"{place}, item {number}", place, number)

    def _add_item(self, item: dict[str, Any], where: str, place: str, number: int) -> None:
        self._add_instructions(item.get("instructions"))
        if item.get("error_spans"):
            self.n_left_out["items' error spans"] += 1
        name = str(item.get("item_id") or f"{place}_#_{number}")
        source, reference = item.get("src", ""), item.get("ref", "")
        segment = self._segment(name, place, source, reference, where)
        for model, text in item["tgt"].items():
            system = self._system(model, where)
            if self.outputs.setdefault((system, segment), text) != text:
                self._fault(where, f"has another output of {model!r} than earlier for {name!r}")
            else:
                kept = self._text(text, f"the translation by {model!r}", where, is_output=True)
                self.draft.set_output(system, segment, kept)

    def _segment(self, name: str, place: str, source: str, reference: str, where: str) -> int:
        if name in self.segments:
            segment, *texts = self.segments[name]
            if texts != [source, reference]:
                self._fault(where, f"has another source or reference than earlier for {name!r}")
            return segment
        document = document_of(name) or place
        for what, value in (("item_id", name), ("document", document)):
            if fault := fault_in_name(value):
                self._fault(where, f"its {what} {fault}")
        if _MEDIA.match(source):
            self._fault(
                where,
                "its source is a picture, sound or video; put the texts into a table with a column media",
            )
        segment = self.draft.add_segment(
            name,
            document=document,
            source=self._text(source, "the source", where) if source else NO_TEXT,
            reference=self._text(reference, "the reference", where) if reference else NO_TEXT,
        )
        self.segments[name] = segment, source, reference
        if self.options.needs_source and not source:
            self._fault(where, "has no src, which workers would see")
        if self.options.needs_reference and not reference:
            self._fault(where, "has no ref, which workers would see; try the task source")
        return segment

    def _system(self, name: str, where: str) -> int:
        if name not in self.systems:
            if fault := fault_in_name(name):
                self._fault(where, f"the model's name {fault}")
            self.systems[name] = self.draft.add_system(name)
        return self.systems[name]

    def _text(self, text: str, what: str, where: str, *, is_output: bool = False) -> int:
        text = checked_text(
            text,
            f"{what} ({where})",
            file=self.file,
            line=None,
            options=self.options,
            problems=self.problems,
            may_be_empty=is_output and self.options.allow_empty_translations,
        )
        return self.draft.add_text(text)

    # Forms -----------------------------------------------------------------------------------

    def _read_welcome(self, documents: Any) -> None:
        questions: list[dict[str, Any]] = []
        for document in documents if isinstance(documents, list) else []:
            for item in document if isinstance(document, list) else []:
                if isinstance(item, dict) and "form" in item:
                    questions += self._question(item, len(questions) + 1)
                else:
                    self.n_left_out["tutorial items and attention checks"] += 1
        if len(questions) > MAX_QUESTIONS:
            self._fault("data_welcome", f"has more than {MAX_QUESTIONS} questions")
        elif questions:
            # Pearmut does not say which language they are in.
            self.draft.questionnaire = {"language": "en", "questions": questions}
            self.draft.notes.append(
                f"{len(questions)} questions about workers, from data_welcome; check their language"
            )

    def _question(self, item: dict[str, Any], number: int) -> list[dict[str, Any]]:
        text, form = plain_text(str(item.get("text", ""))).replace("\n", " "), item["form"]
        if form is None:
            self.n_left_out["texts between the questions"] += 1
            return []
        if form == "script":
            self.n_left_out["scripts that collect data about devices"] += 1
            return []
        if form not in _FORMS:
            self._fault("data_welcome", f"the form {form!r} is not string, number or choices")
            return []
        question = {"key": f"form_{number}", "kind": _FORMS[form], "text": text, "required": True}
        if form == "choices":
            choices = item.get("choices")
            question["options"] = choices if isinstance(choices, list) else []
        return [question]

    # The end ---------------------------------------------------------------------------------

    def _finish(self) -> None:
        self.draft.instructions = "\n\n".join(self.instructions)
        listed = [f"{what} ({n:,})" for what, n in self.n_left_out.items() if n]
        if listed:
            self.draft.notes.append(f"left out: {', '.join(listed)}")
        if not self.systems and not self.problems.total:
            self.problems.add(self.file, None, "has no translations by any model")
        if not self.problems.total:
            # Each document usually has the outputs of one model, or of a few.
            options = replace(self.options, allow_missing_translations=True)
            self.draft.report_missing_outputs(self.file, options, self.problems)

    def _fault(self, where: str, reason: str) -> None:
        self.problems.add(self.file, None, f"{where}: {reason}")


def document_of(item: str) -> str:
    """Return the document that an item's id names, or an empty string."""
    match = _IN_DOCUMENT.fullmatch(item)
    return match[1] if match else ""


def _fault_in_item(item: Any) -> str | None:
    if not isinstance(item, dict):
        return "is not an object"
    outputs = item.get("tgt")
    if not isinstance(outputs, dict) or not outputs:
        return "tgt is not an object with the output of each model"
    if not all(isinstance(text, str) for text in outputs.values()):
        return "tgt has an output that is not a text"
    for field in ("src", "ref"):
        if not isinstance(item.get(field, ""), str):
            return f"{field} is not a text"
    if not item.get("src") and not item.get("ref"):
        return "has neither src nor ref"
    return None


class _PlainText(HTMLParser):
    """Collects the text of instructions, which may be HTML."""

    BREAKS = frozenset({"p", "br", "div", "li", "ul", "ol", "h1", "h2", "h3"})
    HIDDEN = frozenset({"style", "script"})

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self._n_hidden = 0

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self._n_hidden += tag in self.HIDDEN
        if tag in self.BREAKS:
            self.parts.append("\n")

    def handle_endtag(self, tag: str) -> None:
        self._n_hidden -= tag in self.HIDDEN and self._n_hidden > 0
        if tag in self.BREAKS:
            self.parts.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._n_hidden:
            self.parts.append(re.sub(r"[ \t]+", " ", data))


def plain_text(html: str) -> str:
    """Return the text of a piece of HTML, one line for each paragraph."""
    parser = _PlainText()
    parser.feed(html)
    parser.close()
    lines = (line.strip() for line in "".join(parser.parts).splitlines())
    return "\n".join(line for line in lines if line)
