"""Forms that workers submit."""

import re
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django import forms

from ..exceptions import AnswerNotUnderstood
from ..hit_sizes import MAX_HIT_SIZE
from ..models import SCORE_MAX, SCORE_MIN

# PostgreSQL's largest integer. A larger value is not a time anyone spent.
MAX_MS = 2**31 - 1
MAX_COMMENT_LENGTH = 2_000


class ScoreForm(forms.Form):
    score = forms.IntegerField(min_value=SCORE_MIN, max_value=SCORE_MAX)


class ScreenForm(forms.Form):
    """A screen with several texts: its number, and how long it took."""

    position = forms.IntegerField(min_value=1, max_value=MAX_HIT_SIZE)
    elapsed_ms = forms.IntegerField(min_value=0, max_value=MAX_MS, required=False)
    active_ms = forms.IntegerField(min_value=0, max_value=MAX_MS, required=False)

    def clean(self) -> None:
        elapsed, active = self.cleaned_data.get("elapsed_ms"), self.cleaned_data.get("active_ms")
        if active is not None and (elapsed is None or active > elapsed):
            self.add_error("active_ms", "Active time cannot exceed elapsed time.")


class RatingForm(ScoreForm):
    position = forms.IntegerField(min_value=1, max_value=MAX_HIT_SIZE)
    item = forms.UUIDField()
    elapsed_ms = forms.IntegerField(min_value=0, max_value=MAX_MS, required=False)
    active_ms = forms.IntegerField(min_value=0, max_value=MAX_MS, required=False)

    def clean(self) -> None:
        elapsed, active = self.cleaned_data.get("elapsed_ms"), self.cleaned_data.get("active_ms")
        if active is not None and (elapsed is None or active > elapsed):
            self.add_error("active_ms", "Active time cannot exceed elapsed time.")


_SHORT_NUMBER = re.compile("[0-9]{1,9}", re.ASCII)
# The field of one of several outputs is named by the output's code.
_BY_CODE = re.compile("([a-z]+)-([0-9a-f-]{36})", re.ASCII)
_USUAL_CODE = re.compile("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.ASCII)


def read_rating(sent: Mapping[str, str]) -> dict[str, Any] | None:
    """Return what `RatingForm` would clean if the input is written as our own pages write it; otherwise None.

    The form, which is slow to build for every rating, handles everything else.
    """
    numbers = {
        name: sent.get(name, "") for name in ("score", "position", "elapsed_ms", "active_ms")
    }
    code = sent.get("item", "")
    if not _USUAL_CODE.fullmatch(code) or not all(map(_SHORT_NUMBER.fullmatch, numbers.values())):
        return None
    rating: dict[str, Any] = {name: int(number) for name, number in numbers.items()}
    is_possible = (
        SCORE_MIN <= rating["score"] <= SCORE_MAX
        and 1 <= rating["position"] <= MAX_HIT_SIZE
        and rating["active_ms"] <= rating["elapsed_ms"] <= MAX_MS
    )
    return rating | {"item": UUID(code)} if is_possible else None


def read_position(sent: Mapping[str, str]) -> int:
    """Return the position of the screen that an answer is about, or 0 if there is none."""
    position = sent.get("position", "")
    return int(position) if _SHORT_NUMBER.fullmatch(position) else 0


def read_answer(sent: Mapping[str, str]) -> dict[str, Any]:
    """Return a rating as `save_rating` takes it, or raise `AnswerNotUnderstood`."""
    rating = read_rating(sent)
    if rating is None:
        form = RatingForm(sent)
        if not form.is_valid():
            raise AnswerNotUnderstood(first_error(form))
        rating = dict(form.cleaned_data)
    rating["item_code"] = rating.pop("item")
    return rating


def numbers_by_code(sent: Mapping[str, str], kind: str, numbers: range) -> dict[UUID, int]:
    """Return the numbers of fields such as `rank-CODE`, or raise `AnswerNotUnderstood` if one is none of `numbers`."""
    found = {}
    for name, number in sent.items():
        if match := _BY_CODE.fullmatch(name):
            if match[1] != kind:
                continue
            if not _SHORT_NUMBER.fullmatch(number) or int(number) not in numbers:
                raise AnswerNotUnderstood(
                    f"A {kind} is a number from {numbers[0]} to {numbers[-1]}."
                )
            found[_code(match[2])] = int(number)
    return found


def _code(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError as error:
        raise AnswerNotUnderstood("This is not the code of a text.") from error


def has_number_by_code(sent: Mapping[str, str], kind: str) -> bool:
    return any(name.startswith(f"{kind}-") for name in sent)


def read_document_score(sent: Mapping[str, str]) -> int | None:
    """Return the score of a whole document if one was sent, or raise `AnswerNotUnderstood`."""
    if "document_score" not in sent:
        return None
    form = ScoreForm({"score": sent["document_score"]})
    if not form.is_valid():
        raise AnswerNotUnderstood(f"document_{first_error(form)}")
    score: int = form.cleaned_data["score"]
    return score


def first_error(form: forms.Form) -> str:
    name, messages = next(iter(form.errors.items()))
    return f"{name}: {messages[0]}"


class LinesField(forms.CharField):
    """A multi-line text in which a line break counts as one character, as it does in the browser's box."""

    def to_python(self, value: Any) -> str | None:
        # Browsers send CR LF.
        return super().to_python(str(value or "").replace("\r\n", "\n"))


class CommentForm(forms.Form):
    comment = LinesField(max_length=MAX_COMMENT_LENGTH, required=False)
