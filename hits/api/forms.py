"""The forms of the pages, for messages of the API: one place for each check."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from ..exceptions import HitsError
from ..importing.problems import Problem


class FormRefused(HitsError):
    """What was sent is not as it should be. Holds a problem for each field."""

    def __init__(self, errors: dict[str, list[str]]) -> None:
        self.problems = [
            Problem("", None, f"{field}: {text}" if field != "__all__" else text)
            for field, texts in errors.items()
            for text in texts
        ]
        self.n_problems = len(self.problems)
        super().__init__(" ".join(problem.reason for problem in self.problems))


def checked(form: forms.BaseForm) -> dict[str, Any]:
    """What a form makes of the values, or raise what it says against them."""
    if not form.is_valid():
        raise FormRefused(
            {name: [str(text) for text in texts] for name, texts in form.errors.items()}
        )
    return form.cleaned_data


def refusal_of(error: ValidationError) -> FormRefused:
    """The same for what a model says."""
    by_field = hasattr(error, "error_dict")
    return FormRefused(error.message_dict if by_field else {"__all__": error.messages})
