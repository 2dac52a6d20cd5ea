"""Forms with which admins filter workers and decide about them."""

from typing import Any
from uuid import UUID

from django import forms

from .deciding import Choice
from .held_hits import HoldChoice
from .reading import DEFAULT_SORT, FLAG_LABELS, HELD, SORTS, STATES, WorkerFilters

MAX_REASON_LENGTH = 1_000
MAX_SEARCH_LENGTH = 200
# On the pages: as many as fit in a URL, and more than a page of the table.
MAX_WORKERS = 60
# In the API, where bodies can be larger.
MAX_WORKERS_OF_A_PROGRAM = 500


class UuidsField(forms.Field):
    """Any number of UUIDs under one name, from checkboxes."""

    widget = forms.MultipleHiddenInput
    default_error_messages = {
        "required": "Select at least one worker.",
        "invalid": "This is not a worker.",
        "too_many": f"Decide about at most {MAX_WORKERS} workers at once.",
    }

    def clean(self, value: Any) -> list[UUID]:
        codes: list[UUID] = []
        for text in value or []:
            try:
                codes.append(UUID(text))
            except ValueError as error:
                raise forms.ValidationError(self.error_messages["invalid"]) from error
        if not codes:
            raise forms.ValidationError(self.error_messages["required"])
        if len(codes) > MAX_WORKERS:
            raise forms.ValidationError(self.error_messages["too_many"])
        return codes


class WorkersForm(forms.Form):
    """Filters and order of the table, all of them in its URL."""

    search = forms.CharField(
        label="Worker, completion code or invite",
        max_length=MAX_SEARCH_LENGTH,
        required=False,
        strip=True,
    )
    state = forms.ChoiceField(choices=[("", "Any state"), *STATES.items()], required=False)
    flag = forms.ChoiceField(
        choices=[
            ("", "Any or none"),
            *FLAG_LABELS.items(),
            (HELD, "HITs held"),
            ("none", "No flags"),
        ],
        required=False,
    )
    decision = forms.ChoiceField(
        label="Decided by",
        choices=[("", "Anyone"), ("person", "A person"), ("evidence", "The evidence")],
        required=False,
    )
    sort = forms.ChoiceField(
        label="Sort by",
        choices=[
            (sign + name, f"{label}, {way}")
            for name, label in SORTS.items()
            for sign, way in (("", "ascending"), ("-", "descending"))
        ],
        required=False,
        initial=DEFAULT_SORT,
    )

    @property
    def filters(self) -> WorkerFilters:
        """The valid filters; invalid ones are ignored."""
        self.full_clean()
        values = {name: value for name, value in self.cleaned_data.items() if value}
        return WorkerFilters(**{"sort": DEFAULT_SORT} | values)


class ChoiceForm(forms.Form):
    """A choice, and the workers it is about: some, or `all` that match the filters."""

    choice = forms.ChoiceField(choices=Choice.choices)
    all = forms.BooleanField(required=False)
    worker = UuidsField()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.data.get("all"):
            del self.fields["worker"]


class HeldHitsField(UuidsField):
    default_error_messages = {
        "required": "Select at least one HIT.",
        "invalid": "This is not a HIT.",
        "too_many": f"Decide about at most {MAX_WORKERS} HITs at once.",
    }


class HoldForm(forms.Form):
    """A choice, and the held HITs it is about."""

    choice = forms.ChoiceField(choices=HoldChoice.choices)
    hit = HeldHitsField()


class DecisionForm(forms.Form):
    """The decision itself."""

    reason = forms.CharField(
        max_length=MAX_REASON_LENGTH,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Recorded in the audit log with your name. It cannot be changed there.",
    )
    seen = forms.CharField(max_length=16, widget=forms.HiddenInput)
