"""Storing a campaign's questionnaire, and its form for admins."""

from typing import Any

from django.contrib.auth.models import User

from ..exceptions import QuestionsRefused
from ..models import Campaign, QuestionnaireReply
from ..questionnaires.answering import questionnaire_of
from ..questionnaires.questions import (
    CHOICE,
    NATIVE,
    NUMBER,
    PROFICIENCY,
    Questionnaire,
    read_questionnaire,
)
from .editing import edit_campaign

# Empty rows below the questions. Save to get more.
N_BLANK = 3
_LINES = ("options", "accept")
# A line of the form in place of a smallest or largest number.
OPEN_END = "-"


def set_questionnaire(
    *, campaign: Campaign, actor: User | None, given: Any, name: str = ""
) -> Questionnaire:
    """Check and store a campaign's questions, or raise `QuestionsRefused`; an empty object removes them."""
    new = read_questionnaire(given, target_language=campaign.target_language, name=name)
    _refuse_other_meanings(campaign, new)
    edit_campaign(campaign=campaign, actor=actor, changes={"questionnaire": new.as_json()})
    return new


def _refuse_other_meanings(campaign: Campaign, new: Questionnaire) -> None:
    """Refuse to ask something else under the key of a question that somebody has answered."""
    replies = QuestionnaireReply.objects.filter(participation__campaign=campaign)
    if not replies.exists():
        return
    old = {question.key: question.asked for question in questionnaire_of(campaign).questions}
    for question in new.questions:
        is_same = old.get(question.key) == question.asked
        if not is_same and replies.filter(answers__has_key=question.key).exists():
            raise QuestionsRefused.of(
                f"{question.key}: workers have already answered this question, so it cannot "
                "change. Remove it, and ask the new one under another key."
            )


# The form ------------------------------------------------------------------------------------


def rows_of(questionnaire: Questionnaire) -> list[dict[str, Any]]:
    """Return the questions as rows of the form, with blank ones to add more."""
    rows = [_row(question.as_json()) for question in questionnaire.questions]
    return numbered([*rows, *({} for _ in range(N_BLANK))])


def numbered(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**row, "number": number} for number, row in enumerate(rows, start=1)]


def _row(question: dict[str, Any]) -> dict[str, Any]:
    texts = {name: question.get(name, []) for name in _LINES}
    if question["kind"] == NUMBER:
        texts["accept"] = [OPEN_END if bound is None else bound for bound in texts["accept"]]
    return question | {name: "\n".join(map(str, lines)) for name, lines in texts.items()}


def rows_sent(sent: Any) -> list[dict[str, Any]]:
    """Return the rows that the form sent, as they were typed; those without a kind or marked as removed are left out."""
    names = ("key", "kind", "when", "text", "language", "minimum", "maximum", *_LINES)
    rows = []
    for number in range(1, 100):
        if f"{number}-kind" not in sent:
            break
        row = {name: sent.get(f"{number}-{name}", "").strip() for name in names}
        row["required"] = f"{number}-required" in sent
        if row["kind"] and f"{number}-remove" not in sent:
            rows.append(row)
    return rows


def questions_from(rows: list[dict[str, Any]], *, language: str) -> dict[str, Any]:
    """Return typed rows in the format of a file. What does not apply to the kind is left out."""
    return {"language": language, "questions": [_typed(row) for row in rows]}


def _typed(row: dict[str, Any]) -> dict[str, Any]:
    kind = row["kind"]
    question: dict[str, Any] = {name: row[name] for name in ("key", "kind", "when", "required")}
    accept = [line.strip() for line in row["accept"].splitlines() if line.strip()]
    if kind not in (NATIVE, PROFICIENCY):
        question["text"] = row["text"]
    if kind == PROFICIENCY:
        question["language"] = row["language"]
        accept = [level.lower() for level in accept]
    if kind == CHOICE:
        question["options"] = [line.strip() for line in row["options"].splitlines() if line.strip()]
    if kind == NUMBER:
        question |= {name: _number(row[name]) for name in ("minimum", "maximum")}
        bounds = [None if line == OPEN_END else _number(line) for line in accept]
        question["accept"] = [*bounds, None] if len(bounds) == 1 else bounds
    elif accept:
        question["accept"] = accept
    return {name: value for name, value in question.items() if value not in ("", None, [])}


def _number(typed: str) -> int | str | None:
    """Return a typed number, or the text itself, which is then refused with its position."""
    try:
        return int(typed) if typed else None
    except ValueError:
        return typed
