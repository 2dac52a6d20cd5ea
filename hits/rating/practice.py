"""What a worker reads before the first HIT: the statement to rate, worked examples, practice and a check.

The texts are in `practice.json`, by target language, each in that language. The adequacy items are a free
wording, a reversed meaning and half the meaning, and say the same in every language. The fluency items are a
fluent text, a garbled one and one with two mistakes. No text mentions left, right or a number on the slider,
so all of them work for right-to-left languages too.
"""

import json
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, Literal

from langcodes import Language

from hits.languages import name_of

PRACTICE_FILE = Path(__file__).with_name("practice.json")
FALLBACK_LANGUAGE = "en"
# The texts each task uses. Adequacy reads the same whether the gray text is a reference or a source.
SECTIONS = {"reference": "adequacy", "source": "adequacy", "fluency": "fluency"}
# Fields of an entry that are used only for the gray text.
GRAY_FIELDS = frozenset({"reference", "source", "source_language"})

Verdict = Literal["too_low", "too_high", "fine"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownTexts:
    """What the page shows. The gray text and its language are empty for fluency."""

    translation: str
    gray_text: str
    gray_language: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkedExample(ShownTexts):
    """A translation, where its score should lie (in words), and why."""

    score: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PracticeItem(ShownTexts):
    """A practice translation, the range of accepted scores, and the feedback for each score."""

    low: int
    high: int
    too_low: str
    too_high: str
    fine: str

    def feedback(self, score: int) -> tuple[Verdict, str]:
        if score < self.low:
            return "too_low", self.too_low
        if score > self.high:
            return "too_high", self.too_high
        return "fine", self.fine


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One question about the task; `answer` is the index of the right option."""

    question: str
    options: tuple[str, ...]
    answer: int

    @property
    def right(self) -> str:
        return self.options[self.answer]


@dataclass(frozen=True, slots=True, kw_only=True)
class Practice:
    """Everything that comes before the first HIT, in `language`, with the matching statement.

    For a target language without its own texts this is English, and the texts are about English.
    """

    language: str
    statement: str
    examples: tuple[WorkedExample, ...]
    items: tuple[PracticeItem, ...]
    check: Check


@cache
def _texts() -> dict[str, Any]:
    texts: dict[str, Any] = json.loads(PRACTICE_FILE.read_text(encoding="utf-8"))
    return texts


def _primary_language(language_code: str) -> str:
    """Return the language without script and region: `zh` for `zh-Hans`."""
    return Language.get(language_code).language or ""


def wording_language(language_code: str) -> str:
    """Return the language in which workers of this target language are addressed."""
    primary = _primary_language(language_code)
    return primary if primary in _texts() else FALLBACK_LANGUAGE


def statement_for(language_code: str, task: str) -> str:
    """Return the statement that workers agree or disagree with, in `wording_language(language_code)`."""
    language = wording_language(language_code)
    statement: str = _texts()[language]["statements"][task]
    if language == _primary_language(language_code):
        return statement
    return statement.replace(name_of(FALLBACK_LANGUAGE), name_of(language_code))


def _without_gray(entry: dict[str, Any]) -> dict[str, Any]:
    return {field: value for field, value in entry.items() if field not in GRAY_FIELDS}


def _gray_texts(
    language: str, task: str, source_language_code: str | None, part: str
) -> list[tuple[str, str]]:
    """Return the gray text of each practice item, and its language."""
    entries = _texts()[language][SECTIONS[task]][part]
    if task == "fluency":
        return [("", "")] * len(entries)
    if task == "source":
        if source_language_code is None:
            return [(entry["source"], entry["source_language"]) for entry in entries]
        # The references of all languages say the same, so each can be the source of the others.
        source_language = _primary_language(source_language_code)
        language = source_language if source_language in _texts() else language
    return [(entry["reference"], language) for entry in _texts()[language]["adequacy"][part]]


@cache
def practice_for(
    language_code: str, task: str, *, source_language_code: str | None = None
) -> Practice:
    """Return what to read and try before the first HIT of a campaign into this language.

    The task `source` takes its gray texts from the campaign's source language if it is given and has
    texts. Otherwise they are in the language of the practice itself, which the worker can read.
    """
    language = wording_language(language_code)
    section = _texts()[language][SECTIONS[task]]
    gray = partial(_gray_texts, language, task, source_language_code)
    return Practice(
        language=language,
        statement=statement_for(language, task),
        examples=tuple(
            WorkedExample(**_without_gray(entry), gray_text=text, gray_language=code)
            for entry, (text, code) in zip(section["examples"], gray("examples"), strict=True)
        ),
        items=tuple(
            PracticeItem(**_without_gray(entry), gray_text=text, gray_language=code)
            for entry, (text, code) in zip(section["practice"], gray("practice"), strict=True)
        ),
        check=Check(**section["check"] | {"options": tuple(section["check"]["options"])}),
    )
