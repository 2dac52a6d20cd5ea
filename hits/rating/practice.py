"""What a worker reads before the first HIT: the statement to rate, worked examples, practice and a check.

The texts are in `hits/guidance/`, by target language, each in that language. The adequacy items are a free
wording, a reversed meaning and half the meaning, and say the same in every language. The fluency items are a
fluent text, a garbled one and one with two mistakes. No text mentions left, right or a number on the slider,
so all of them work for right-to-left languages too.

The editing items are a free wording that needs no change, a reversed meaning, and two mistakes of grammar, each with
the right edit. Where no gray text is shown, only those are used whose fault shows without one (`alone`).
"""

from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from hits.languages import closest_language, name_of

from ..guidance_files import (
    FALLBACK_LANGUAGE,
    Guidance,
    guidance_in,
    guidance_languages,
    wording_language,
)

# The texts each task uses. Adequacy reads the same whether the gray text is a reference or a source.
SECTIONS = {
    "reference": "adequacy",
    "source": "adequacy",
    "fluency": "fluency",
    "edit": "editing",
}
# What is gray in the texts of a task that always shows the same.
GRAY = {"reference": "reference", "source": "source", "fluency": "nothing"}

Verdict = Literal["too_low", "too_high", "fine"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownTexts:
    """What the page shows. The gray text and its language are empty if there is none."""

    translation: str
    language: str
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
class EditedText(ShownTexts):
    """A text to correct, as an example or for practice, with the right edit and why it is right."""

    edited: str
    why: str

    @property
    def is_right(self) -> bool:
        """Whether nothing has to be changed."""
        return self.edited == self.translation


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
    """Everything that comes before the first HIT, in `language`, with the matching statement if there is one.

    For a target language without its own texts this is English, and the texts are about English. The texts of
    post-editing are `EditedText`; those of rating are `WorkedExample` and `PracticeItem`.
    """

    language: str
    statement: str
    examples: tuple[Any, ...]
    items: tuple[Any, ...]
    check: Check


def statement_for(language_code: str, task: str) -> str:
    """Return the statement that workers agree or disagree with, in `wording_language(language_code)`.

    It is empty for a task without one.
    """
    statement: str = guidance_in(wording_language(language_code))["statements"].get(task, "")
    if closest_language(language_code, guidance_languages()):
        return statement
    return statement.replace(name_of(FALLBACK_LANGUAGE), name_of(language_code))


@dataclass(frozen=True, slots=True)
class _Texts:
    """The texts of a task in a language, and what is gray in them."""

    section: Guidance
    language: str
    task: str
    gray: str
    source_language_code: str | None

    def _gray_texts(self, part: str) -> list[tuple[str, str]]:
        """Return the gray text of each entry, and its language."""
        section, language = self.section, self.language
        if self.gray == "nothing":
            return [("", "")] * len(section[part])
        source = closest_language(self.source_language_code or "", guidance_languages())
        if self.gray == "source" and source and SECTIONS[self.task] in guidance_in(source):
            # The references of all languages say the same, so each can be the source of the others.
            section, language = guidance_in(source)[SECTIONS[self.task]], source
        return [(entry["reference"], language) for entry in section[part]]

    def entries(self, part: str) -> list[dict[str, Any]]:
        """Return the fields of the examples or of the practice items, with the gray text in its language."""
        gray_texts = self._gray_texts(part)
        return [
            {field: value for field, value in entry.items() if field not in ("reference", "alone")}
            | {"gray_text": text, "gray_language": code, "language": self.language}
            for entry, (text, code) in zip(self.section[part], gray_texts, strict=True)
            if self.gray != "nothing" or entry.get("alone", True)
        ]


@cache
def practice_for(
    language_code: str, task: str, *, source_language_code: str | None = None, shows: str = ""
) -> Practice:
    """Return what to read and try before the first HIT of a campaign into this language.

    Where the source is gray, the gray texts are in the campaign's source language if it has texts. Otherwise
    they are in the language of the practice itself, which the worker can read. `shows` says what is gray where
    the task leaves that open.
    """
    language = wording_language(language_code, SECTIONS[task])
    section = guidance_in(language)[SECTIONS[task]]
    statement = statement_for(language, task)
    return practice_from(section, language, task, statement, source_language_code, shows)


def practice_from(
    section: Guidance,
    language: str,
    task: str,
    statement: str,
    source_language_code: str | None,
    shows: str = "",
) -> Practice:
    """Return the practice that these texts, which are in `language`, make up."""
    gray = GRAY.get(task) or shows or "reference"
    texts, check = _Texts(section, language, task, gray, source_language_code), section["check"]
    example, item = (EditedText, EditedText) if task == "edit" else (WorkedExample, PracticeItem)
    return Practice(
        language=language,
        statement=statement,
        examples=tuple(example(**entry) for entry in texts.entries("examples")),
        items=tuple(item(**entry) for entry in texts.entries("practice")),
        check=Check(**check | {"options": tuple(check["options"])}),
    )
