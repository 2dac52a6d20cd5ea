"""Read a post-edition from a request, and save it exactly once."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django import forms
from django.core.validators import ProhibitNullCharactersValidator

from ..exceptions import AnswerNotUnderstood
from ..hit_sizes import MAX_HIT_SIZE
from ..models import Assignment, PostEdition
from ..rating.forms import MAX_MS, first_error
from ..rating.saving import check_may_answer, insert_answer, stored_answer

MAX_LENGTH = 20_000
# Counts beyond this tell nothing more.
MAX_COUNT = 100_000

_SPACE = re.compile(r"\s+")


def as_one_line(text: str) -> str:
    """Return a text as a segment is stored: on one line, without space at its ends."""
    return _SPACE.sub(" ", text).strip() if "\n" in text or "\r" in text else text.strip()


class EditForm(forms.Form):
    """What our page sends. The counts are hints: the form of a browser without scripts has none."""

    text = forms.CharField(
        required=False, max_length=MAX_LENGTH, validators=[ProhibitNullCharactersValidator()]
    )
    position = forms.IntegerField(min_value=1, max_value=MAX_HIT_SIZE)
    item = forms.UUIDField()
    elapsed_ms = forms.IntegerField(min_value=0, max_value=MAX_MS, required=False)
    active_ms = forms.IntegerField(min_value=0, max_value=MAX_MS, required=False)
    field_ms = forms.IntegerField(min_value=0, max_value=MAX_MS, required=False)
    keys = forms.IntegerField(min_value=0, max_value=MAX_COUNT, required=False)
    pastes = forms.IntegerField(min_value=0, max_value=MAX_COUNT, required=False)
    pasted = forms.IntegerField(min_value=0, max_value=MAX_COUNT, required=False)

    def clean(self) -> None:
        elapsed, active = self.cleaned_data.get("elapsed_ms"), self.cleaned_data.get("active_ms")
        # The time in the field may be longer: a draft brings that of an earlier visit along.
        if active is not None and (elapsed is None or active > elapsed):
            self.add_error("active_ms", "Active time cannot exceed elapsed time.")


_WHOLE = re.compile("[0-9]{1,9}", re.ASCII)
_CODE = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII)
_LIMITS = {
    "position": MAX_HIT_SIZE,
    "elapsed_ms": MAX_MS,
    "active_ms": MAX_MS,
    "field_ms": MAX_MS,
    "keys": MAX_COUNT,
    "pastes": MAX_COUNT,
    "pasted": MAX_COUNT,
}


def read_edit(sent: Mapping[str, str]) -> dict[str, Any]:
    """Return an answer as `save_edit` takes it, or raise `AnswerNotUnderstood`."""
    answer = _read_usual(sent)
    if answer is None:
        form = EditForm(sent)
        if "text" not in sent or not form.is_valid():
            raise AnswerNotUnderstood(first_error(form) if form.errors else "text: missing")
        answer = dict(form.cleaned_data)
    answer["item_code"] = answer.pop("item")
    answer["text"] = as_one_line(answer["text"])
    return answer


def _read_usual(sent: Mapping[str, str]) -> dict[str, Any] | None:
    """What the form would return for what our script sends; building the form takes longer than saving."""
    numbers = {name: sent.get(name, "") for name in _LIMITS}
    code, text = sent.get("item", ""), sent.get("text")
    if text is None or len(text) > MAX_LENGTH or "\x00" in text or not _CODE.fullmatch(code):
        return None
    if not all(map(_WHOLE.fullmatch, numbers.values())):
        return None
    answer: dict[str, Any] = {name: int(number) for name, number in numbers.items()}
    if any(answer[name] > limit for name, limit in _LIMITS.items()) or not answer["position"]:
        return None
    if answer["active_ms"] > answer["elapsed_ms"]:
        return None
    return answer | {"item": UUID(code), "text": text}


@dataclass(frozen=True, slots=True)
class SavedEdit:
    """What the database holds for an item now. `is_new` is False if it had already been edited."""

    text: str
    is_new: bool

    def facts(self) -> dict[str, Any]:
        return {"text": self.text}


def save_edit(
    *,
    assignment: Assignment,
    position: int,
    item_code: UUID,
    text: str,
    elapsed_ms: int | None = None,
    active_ms: int | None = None,
    field_ms: int | None = None,
    keys: int | None = None,
    pastes: int | None = None,
    pasted: int | None = None,
    at: datetime | None = None,
) -> SavedEdit:
    """Store the text of the assignment's next item and return what is stored; the first text wins."""
    check_may_answer(assignment)
    values = {
        "text": text,
        "elapsed_ms": elapsed_ms,
        "active_ms": active_ms,
        "field_ms": field_ms,
        "keys": keys,
        "pastes": pastes,
        "pasted": pasted,
    }
    if insert_answer(PostEdition, assignment, position, item_code, values, at=at):
        return SavedEdit(text, is_new=True)
    stored = stored_answer(PostEdition, assignment, position, item_code)
    return SavedEdit(stored.text, is_new=False)
