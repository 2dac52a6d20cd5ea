"""The form of a questionnaire, in the worker's interface language and the campaign's own wording."""

from functools import cache
from typing import Any

from django import forms
from django.utils.translation import get_language, gettext, gettext_lazy

from ..languages import direction, name_of
from ..rating.forms import LinesField
from .questions import CHOICE, MAX_NUMBER, NATIVE, NUMBER, PROFICIENCY, Question, Questionnaire

MAX_ANSWER_LENGTH = 1_000
OTHER_LANGUAGE = "other"
# Wide enough for nearly everyone; others choose `OTHER_LANGUAGE`.
LANGUAGES = [
    "af",
    "am",
    "ar",
    "as",
    "az",
    "be",
    "bg",
    "bn",
    "bo",
    "bs",
    "ca",
    "ceb",
    "cs",
    "cy",
    "da",
    "de",
    "el",
    "en",
    "eo",
    "es",
    "et",
    "eu",
    "fa",
    "fi",
    "fil",
    "fo",
    "fr",
    "fy",
    "ga",
    "gd",
    "gl",
    "gu",
    "ha",
    "he",
    "hi",
    "hr",
    "ht",
    "hu",
    "hy",
    "id",
    "ig",
    "is",
    "it",
    "ja",
    "jv",
    "ka",
    "kk",
    "km",
    "kn",
    "ko",
    "ku",
    "ky",
    "lb",
    "ln",
    "lo",
    "lt",
    "lv",
    "mai",
    "mg",
    "mi",
    "mk",
    "ml",
    "mn",
    "mr",
    "ms",
    "mt",
    "my",
    "nb",
    "ne",
    "nl",
    "nn",
    "om",
    "or",
    "pa",
    "pl",
    "ps",
    "pt",
    "ro",
    "ru",
    "rw",
    "sa",
    "sd",
    "si",
    "sk",
    "sl",
    "sm",
    "sn",
    "so",
    "sq",
    "sr",
    "st",
    "su",
    "sv",
    "sw",
    "ta",
    "te",
    "tg",
    "th",
    "ti",
    "tk",
    "tn",
    "tr",
    "ts",
    "tt",
    "ug",
    "uk",
    "ur",
    "uz",
    "vi",
    "wo",
    "xh",
    "yi",
    "yo",
    "yue",
    "zh",
    "zu",
]

LEVEL_NAMES = {
    "native": gettext_lazy("It is my native language"),
    "fluent": gettext_lazy("Fluently"),
    "good": gettext_lazy("Well"),
    "basic": gettext_lazy("A little"),
    "none": gettext_lazy("Not at all"),
}


@cache
def _languages_in(language: str) -> tuple[tuple[str, str], ...]:
    """Return the languages to choose from, by their names in this language."""
    named = [(code, name_of(code, language)) for code in LANGUAGES]
    return tuple(sorted(named, key=lambda choice: choice[1].casefold()))


def language_choices(question: Question) -> list[tuple[str, str]]:
    """Return the native languages to choose from, with those that the campaign asks for."""
    language = get_language() or "en"
    known = _languages_in(language)
    missing = [(code, name_of(code, language)) for code in question.accept if code not in LANGUAGES]
    other = (OTHER_LANGUAGE, gettext("Another language"))
    return [*sorted([*known, *missing], key=lambda choice: choice[1].casefold()), other]


def wording_of(question: Question) -> str:
    """Return what a question asks."""
    if question.kind == NATIVE:
        return gettext("What is your native language?")
    if question.kind == PROFICIENCY:
        language = name_of(question.language, get_language() or "en")
        return gettext("How well do you know this language: %(language)s?") % {"language": language}
    return question.text


def answer_in_words(question: Question | None, answer: Any) -> str:
    """Return an answer as people read it; without the question, as it is stored."""
    if question and question.kind == NATIVE and answer != OTHER_LANGUAGE:
        return name_of(str(answer), get_language() or "en")
    if question and question.kind == NATIVE:
        return gettext("Another language")
    if question and question.kind == PROFICIENCY:
        return str(LEVEL_NAMES.get(answer, answer))
    return str(answer)


class QuestionsForm(forms.Form):
    """The questions of one moment. `answers` has what was answered, by the keys of the questions."""

    def __init__(self, questionnaire: Questionnaire, moment: str, data: Any = None) -> None:
        super().__init__(data)
        self.questions = questionnaire.at(moment)
        self._language = questionnaire.language
        for question in self.questions:
            self.fields[f"question-{question.key}"] = _field(question)

    @property
    def rows(self) -> list[dict[str, Any]]:
        """Each question with its field, and the language and direction of its wording if it is the campaign's own."""
        own = {"language": self._language, "direction": direction(self._language)}
        return [
            {
                "field": self[f"question-{question.key}"],
                "is_group": question.kind in (CHOICE, PROFICIENCY),
                **(own if question.is_own else {}),
            }
            for question in self.questions
        ]

    @property
    def answers(self) -> dict[str, Any]:
        given = {
            question.key: self.cleaned_data.get(f"question-{question.key}")
            for question in self.questions
        }
        return {key: answer for key, answer in given.items() if answer not in (None, "")}


def _field(question: Question) -> forms.Field:
    common: dict[str, Any] = {"label": wording_of(question), "required": question.required}
    if question.kind == NATIVE:
        return forms.ChoiceField(choices=[("", "–"), *language_choices(question)], **common)
    if question.kind == PROFICIENCY:
        return _radios(list(LEVEL_NAMES.items()), common)
    if question.kind == CHOICE:
        return _radios([(option, option) for option in question.options], common)
    if question.kind == NUMBER:
        low, high = question.minimum, question.maximum
        return forms.IntegerField(
            min_value=-MAX_NUMBER if low is None else low,
            max_value=MAX_NUMBER if high is None else high,
            widget=forms.NumberInput(attrs={"inputmode": "numeric"}),
            **common,
        )
    rows = forms.Textarea(attrs={"rows": 3, "dir": "auto"})
    return LinesField(max_length=MAX_ANSWER_LENGTH, widget=rows, **common)


def _radios(choices: list[tuple[str, Any]], common: dict[str, Any]) -> forms.Field:
    return forms.ChoiceField(choices=choices, widget=forms.RadioSelect, **common)
