"""Validate API requests with the forms of the pages, so that each check is in one place."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from ninja import Schema

from da_platform.exceptions import PlatformError
from da_platform.files.problems import Problem


class FormRefused(PlatformError):
    """A request is invalid; `problems` has one entry per error."""

    def __init__(self, errors: dict[str, list[str]]) -> None:
        self.problems = [
            Problem("", None, f"{field}: {text}" if field != "__all__" else text)
            for field, texts in errors.items()
            for text in texts
        ]
        self.n_problems = len(self.problems)
        super().__init__(" ".join(problem.reason for problem in self.problems))


def checked(form: forms.BaseForm) -> dict[str, Any]:
    """Return the form's cleaned data, or raise `FormRefused`."""
    if not form.is_valid():
        raise FormRefused(
            {name: [str(text) for text in texts] for name, texts in form.errors.items()}
        )
    return form.cleaned_data


def refuse_unknown_fields(request: HttpRequest, form: type[Schema], *files: str) -> None:
    """Refuse fields of a multipart form that are neither in the schema nor among the files.

    Ninja checks JSON bodies itself (`field_types.Input`), but takes only what it knows from a form.
    """
    unknown = {*request.POST, *request.FILES} - {*form.model_fields, *files}
    if unknown:
        raise FormRefused({name: ["This field is not known."] for name in sorted(unknown)})


def refusal_of(error: ValidationError) -> FormRefused:
    """Turn a model's validation error into `FormRefused`."""
    by_field = hasattr(error, "error_dict")
    return FormRefused(error.message_dict if by_field else {"__all__": error.messages})
