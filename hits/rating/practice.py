"""What a worker reads before the first HIT: the statement to rate, worked examples, practice and a check.

The texts are in `hits/guidance/`, by target language, each in that language. The adequacy items are a free
wording, a reversed meaning and half the meaning, and say the same in every language. The fluency items are a
fluent text, a garbled one and one with two mistakes. No text mentions left, right or a number on the slider,
so all of them work for right-to-left languages too.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from hits.languages import closest_language, name_of

from .guidance import (
    FALLBACK_LANGUAGE,
    Guidance,
    guidance_in,
    guidance_languages,
    wording_language,
)

# The texts each task uses. Adequacy reads the same whether the gray text is a reference or a source.
SECTIONS = {"reference": "adequacy", "source": "adequacy", "fluency": "fluency"}

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
    """One question about the task; `answer` is the index of the right option.

    The language is that of the practice, if it is empty.
    """

    question: str
    options: tuple[str, ...]
    answer: int
    language: str = ""

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


def statement_for(language_code: str, task: str) -> str:
    """Return the statement that workers agree or disagree with, in `wording_language(language_code)`."""
    statement: str = guidance_in(wording_language(language_code))["statements"][task]
    if closest_language(language_code, guidance_languages()):
        return statement
    return statement.replace(name_of(FALLBACK_LANGUAGE), name_of(language_code))


def _gray_texts(
    section: Guidance, language: str, task: str, source_language_code: str | None, part: str
) -> list[tuple[str, str]]:
    """Return the gray text of each entry, and its language."""
    if task == "fluency":
        return [("", "")] * len(section[part])
    source = closest_language(source_language_code or "", guidance_languages())
    if task == "source" and source:
        # The references of all languages say the same, so each can be the source of the others.
        section, language = guidance_in(source)["adequacy"], source
    return [(entry["reference"], language) for entry in section[part]]


def _entries(
    section: Guidance, language: str, task: str, source_language_code: str | None, part: str
) -> list[dict[str, Any]]:
    """Return the fields of the examples or of the practice items, with the gray text in its language."""
    entries = section[part]
    gray_texts = _gray_texts(section, language, task, source_language_code, part)
    return [
        {field: value for field, value in entry.items() if field != "reference"}
        | {"gray_text": text, "gray_language": code}
        for entry, (text, code) in zip(entries, gray_texts, strict=True)
    ]


@cache
def practice_for(
    language_code: str, task: str, *, source_language_code: str | None = None
) -> Practice:
    """Return what to read and try before the first HIT of a campaign into this language.

    The task `source` takes its gray texts from the campaign's source language if it has texts. Otherwise
    they are in the language of the practice itself, which the worker can read.
    """
    language = wording_language(language_code, SECTIONS[task])
    section = guidance_in(language)[SECTIONS[task]]
    statement = statement_for(language, task)
    return practice_from(section, language, task, statement, source_language_code)


def practice_from(
    section: Guidance, language: str, task: str, statement: str, source_language_code: str | None
) -> Practice:
    """Return the practice that these texts, which are in `language`, make up."""
    check = section["check"]
    examples = _entries(section, language, task, source_language_code, "examples")
    items = _entries(section, language, task, source_language_code, "practice")
    return Practice(
        language=language,
        statement=statement,
        examples=tuple(WorkedExample(**entry) for entry in examples),
        items=tuple(PracticeItem(**entry) for entry in items),
        check=Check(**check | {"options": tuple(check["options"])}),
    )
