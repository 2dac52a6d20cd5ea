"""What a questionnaire asks, read from a campaign's JSON or from a file, with every problem at once.

A file has a list of `questions` and, if their wording is not in the target language, its `language`. Each question has

* `kind`: `native_language` and `proficiency` have wording and answers in every language of the interface;
  `choice`, `number` and `text` are a campaign's own and need a `text`;
* `when`: `before` the task (the default) or `after` it; `required`: whether it must be answered;
* `options` of a choice; `minimum` and `maximum` of a number; the `language` that a proficiency is about;
* `accept`: the answers that let a worker take part: languages, levels, options, or the smallest and largest number.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from langcodes import Language

from da_platform.files.problems import Problems
from da_platform.files.texts import fault_in_text

from ..exceptions import QuestionsRefused
from ..languages import is_language_code

NATIVE, PROFICIENCY, CHOICE, NUMBER, TEXT = KINDS = (
    "native_language",
    "proficiency",
    "choice",
    "number",
    "text",
)
BEFORE, AFTER = MOMENTS = ("before", "after")
# Best first. Their names are translated: see `wording`.
LEVELS = ("native", "fluent", "good", "basic", "none")

MAX_QUESTIONS = 30
MAX_OPTIONS = 50
MAX_LENGTH = 500
# Fits in the JSON numbers of every program that reads an export.
MAX_NUMBER = 10**9

_KEY = re.compile("[a-z][a-z0-9_]{0,39}", re.ASCII)
_FIELDS = {
    NATIVE: {"accept"},
    PROFICIENCY: {"accept", "language"},
    CHOICE: {"accept", "text", "options"},
    NUMBER: {"accept", "text", "minimum", "maximum"},
    TEXT: {"text"},
}
_COMMON = {"key", "kind", "when", "required"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question; what does not apply to its kind is empty."""

    key: str
    kind: str
    when: str = BEFORE
    required: bool = False
    text: str = ""
    language: str = ""
    options: tuple[str, ...] = ()
    minimum: int | None = None
    maximum: int | None = None
    accept: tuple[Any, ...] = ()

    @property
    def is_own(self) -> bool:
        """Whether the campaign wrote its wording."""
        return self.kind in (CHOICE, NUMBER, TEXT)

    @property
    def asked(self) -> tuple[Any, ...]:
        """What an answer depends on. It must not change once somebody has answered."""
        return self.kind, self.when, self.text, self.language, self.options

    def accepts(self, answer: Any) -> bool:
        """Whether a worker who gives this answer may take part."""
        if not self.accept:
            return True
        if self.kind != NUMBER:
            return answer in self.accept
        low, high = self.accept
        return (
            answer is not None
            and (low is None or answer >= low)
            and (high is None or answer <= high)
        )

    def as_json(self) -> dict[str, Any]:
        """Return the question as a file has it, without what is empty."""
        values = {
            "key": self.key,
            "kind": self.kind,
            "when": self.when,
            "required": self.required,
            "text": self.text,
            "language": self.language,
            "options": list(self.options),
            "minimum": self.minimum,
            "maximum": self.maximum,
            "accept": list(self.accept),
        }
        return {name: value for name, value in values.items() if value not in ("", [], None)}


@dataclass(frozen=True, slots=True)
class Questionnaire:
    """The questions of a campaign, and the language of its own wording."""

    language: str = ""
    questions: tuple[Question, ...] = field(default=())

    def at(self, moment: str) -> tuple[Question, ...]:
        return tuple(question for question in self.questions if question.when == moment)

    @property
    def screens(self) -> bool:
        """Whether answers decide who takes part."""
        return any(question.accept for question in self.questions)

    def as_json(self) -> dict[str, Any]:
        if not self.questions:
            return {}
        questions = [question.as_json() for question in self.questions]
        return {"language": self.language, "questions": questions}


def questionnaire_from(stored: dict[str, Any], *, target_language: str) -> Questionnaire:
    """Return the questionnaire that a campaign has stored, which was checked when it was stored."""
    questions = tuple(
        Question(
            **question
            | {name: tuple(question[name]) for name in ("options", "accept") if name in question}
        )
        for question in stored.get("questions", [])
    )
    return Questionnaire(stored.get("language") or target_language, questions)


def native_language_question(target_language: str) -> dict[str, Any]:
    """Return a questionnaire, as campaigns store it, that only native speakers of a language pass."""
    # People name their language, whatever its variety.
    codes = dict.fromkeys([target_language, str(Language.get(target_language).language)])
    question = Question(key=NATIVE, kind=NATIVE, required=True, accept=tuple(codes))
    return Questionnaire(target_language, (question,)).as_json()


# Reading -------------------------------------------------------------------------------------


def read_questionnaire(given: Any, *, target_language: str, name: str = "") -> Questionnaire:
    """Return a checked questionnaire, or raise `QuestionsRefused` with every problem; an empty object is none."""
    problems = Problems()
    if not isinstance(given, dict) or not isinstance(given.get("questions", []), list):
        problems.add(name, None, 'is not a JSON object with a list of "questions"')
        problems.refuse_if_any(QuestionsRefused)
    for unknown in sorted(given.keys() - {"language", "questions"}):
        problems.add(name, None, f'{unknown!r} is not known; there are "language" and "questions"')
    language = given.get("language") or target_language
    if not isinstance(language, str) or not is_language_code(language):
        problems.add(name, None, f"language: {language!r} is not a known language code")
    questions = given.get("questions", [])
    if len(questions) > MAX_QUESTIONS:
        problems.add(
            name, None, f"has {len(questions)} questions; at most {MAX_QUESTIONS} can be asked"
        )
    read = []
    for number, question in enumerate(questions[:MAX_QUESTIONS], start=1):
        faults = list(_faults(question))
        for fault in faults:
            problems.add(name, None, f"question {number}: {fault}")
        if not faults:
            read.append(_question(question, number, target_language))
    keys = [question.key for question in read]
    for key in sorted({key for key in keys if keys.count(key) > 1}):
        problems.add(name, None, f"two questions have the key {key!r}")
    problems.refuse_if_any(QuestionsRefused)
    return Questionnaire(language, tuple(read))


def _question(given: dict[str, Any], number: int, target_language: str) -> Question:
    kind = given["kind"]
    values = {name: value for name, value in given.items() if value not in ("", None, [])}
    if kind == PROFICIENCY:
        values.setdefault("language", target_language)
    default = NATIVE if kind == NATIVE else f"question_{number}"
    if kind == PROFICIENCY:
        default = "proficiency_" + re.sub("[^a-z0-9]", "_", values["language"].lower())
    values.setdefault("key", default)
    for name in ("options", "accept"):
        if name in values:
            values[name] = tuple(
                value.strip() if isinstance(value, str) else value for value in values[name]
            )
    if "text" in values:
        values["text"] = values["text"].strip()
    return Question(**values)


def _faults(given: Any) -> Iterator[str]:
    """Yield what is wrong with a question."""
    if not isinstance(given, dict):
        yield "is not a JSON object"
        return
    kind = given.get("kind")
    if kind not in KINDS:
        yield f"kind: {kind!r} is not one of {', '.join(KINDS)}"
        return
    for unknown in sorted(given.keys() - _COMMON - _FIELDS[kind]):
        if given[unknown] not in ("", None, []):
            yield f"{unknown}: a question of the kind {kind} has no such field"
    key = given.get("key") or "key"
    if not isinstance(key, str) or not _KEY.fullmatch(key):
        yield f"key: {key!r} must be up to 40 small letters, digits and underscores, starting with a letter"
    if given.get("when", BEFORE) not in MOMENTS:
        yield f"when: {given['when']!r} is neither before nor after"
    if not isinstance(given.get("required", False), bool):
        yield "required: must be true or false"
    if kind in (CHOICE, NUMBER, TEXT):
        yield from _faults_in_wording("text", given.get("text", ""))
    yield from _KIND_FAULTS[kind](given)
    if given.get("accept"):
        if given.get("when") == AFTER:
            yield "accept: only questions before the task can decide who takes part"
        if not given.get("required", False):
            yield "accept: the question must be required"


def _faults_in_wording(name: str, text: Any) -> Iterator[str]:
    if not isinstance(text, str) or not text.strip():
        yield f"{name}: must be a text"
    elif len(text) > MAX_LENGTH:
        yield f"{name}: is longer than {MAX_LENGTH} characters"
    elif fault := fault_in_text(text.strip()):
        yield f"{name}: {fault}"


def _list_fault(name: str, given: dict[str, Any]) -> str:
    return "" if isinstance(given.get(name) or [], list) else f"{name}: must be a list"


def _faults_of_languages(given: dict[str, Any]) -> Iterator[str]:
    if fault := _list_fault("accept", given):
        yield fault
        return
    for code in given.get("accept") or []:
        if not isinstance(code, str) or not is_language_code(code):
            yield f"accept: {code!r} is not a known language code, such as de"


def _faults_of_levels(given: dict[str, Any]) -> Iterator[str]:
    language = given.get("language") or "en"
    if not isinstance(language, str) or not is_language_code(language):
        yield f"language: {language!r} is not a known language code"
    if fault := _list_fault("accept", given):
        yield fault
        return
    for level in given.get("accept") or []:
        if level not in LEVELS:
            yield f"accept: {level!r} is not one of {', '.join(LEVELS)}"


def _faults_of_options(given: dict[str, Any]) -> Iterator[str]:
    options = given.get("options") or []
    if not isinstance(options, list) or not 2 <= len(options) <= MAX_OPTIONS:
        yield f"options: must be a list of 2 to {MAX_OPTIONS} texts"
        return
    for option in options:
        yield from _faults_in_wording("options", option)
    if len({str(option).strip() for option in options}) < len(options):
        yield "options: two are the same"
    if fault := _list_fault("accept", given):
        yield fault
        return
    for answer in given.get("accept") or []:
        if answer not in options:
            yield f"accept: {answer!r} is not one of the options"


def _is_bound(value: Any) -> bool:
    return value is None or (type(value) is int and abs(value) <= MAX_NUMBER)


def _faults_of_numbers(given: dict[str, Any]) -> Iterator[str]:
    accept = given.get("accept") or [None, None]
    if not isinstance(accept, list) or len(accept) != 2 or not all(map(_is_bound, accept)):
        yield "accept: must be the smallest and the largest number, such as [18, 65] or [18, null]"
        accept = [None, None]
    for name, (low, high) in {
        "minimum and maximum": (given.get("minimum"), given.get("maximum")),
        "accept": accept,
    }.items():
        if not _is_bound(low) or not _is_bound(high):
            yield f"{name}: must be whole numbers up to {MAX_NUMBER:,}"
        elif low is not None and high is not None and low > high:
            yield f"{name}: {low} is larger than {high}"


_KIND_FAULTS = {
    NATIVE: _faults_of_languages,
    PROFICIENCY: _faults_of_levels,
    CHOICE: _faults_of_options,
    NUMBER: _faults_of_numbers,
    TEXT: lambda given: iter(()),
}
