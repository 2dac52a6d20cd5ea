"""The form of an experiment, made from its file roles and options."""

from typing import Any

from django import forms

from hits.campaigns.forms import SeveralFilesField
from hits.models import Campaign
from hits.people.access import Visitor, campaigns_of

from ..evaluation.uploading import raw_files
from .base import ExperimentKind, Inputs, Option
from .storing import LONGEST_NAME

# The prefix of the fields of options, which could be named like a file role.
OPTION = "option_"


class ExperimentForm(forms.Form):
    """A name, the files by role, and the options."""

    name = forms.CharField(max_length=LONGEST_NAME, label="Name")

    def __init__(self, *args: Any, kind: ExperimentKind, user: Visitor, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.kind = kind
        for role in kind.roles:
            required = kind.needs_upload(role)
            about = {"label": role.label, "help_text": role.help_text, "required": required}
            field = SeveralFilesField if role.many else forms.FileField
            widget = {} if role.many else {"widget": forms.FileInput}
            self.fields[role.name] = field(**about, **widget)  # type: ignore[arg-type]
        for campaign in kind.campaigns:
            self.fields[campaign.name] = forms.ModelChoiceField(
                campaigns_of(user).filter(task__in=campaign.tasks),
                to_field_name="code",
                required=False,
                empty_label="None: use files",
                label=campaign.label,
                help_text=campaign.help_text,
            )
        for option in kind.options:
            self.fields[OPTION + option.name] = _field(option)

    @property
    def file_fields(self) -> list[forms.BoundField]:
        names = [role.name for role in self.kind.roles]
        return [self[name] for name in names + [role.name for role in self.kind.campaigns]]

    @property
    def option_fields(self) -> list[forms.BoundField]:
        return [self[OPTION + option.name] for option in self.kind.options]

    @property
    def given(self) -> dict[str, Any]:
        return {
            option.name: self.cleaned_data[OPTION + option.name] for option in self.kind.options
        }

    @property
    def campaigns(self) -> dict[str, Campaign]:
        chosen = {role.name: self.cleaned_data[role.name] for role in self.kind.campaigns}
        return {name: campaign for name, campaign in chosen.items() if campaign}

    def inputs(self) -> Inputs:
        """Read the uploaded files."""
        chosen = [
            (role.name, file)
            for role in self.kind.roles
            for file in _several(self.cleaned_data[role.name])
        ]
        # All at once, because their total size is limited.
        files = raw_files([file for _, file in chosen])
        inputs: dict[str, list[Any]] = {role.name: [] for role in self.kind.roles}
        for (role_name, _), file in zip(chosen, files, strict=True):
            inputs[role_name].append(file)
        return inputs


def _several(files: Any) -> list[Any]:
    if not files:
        return []
    return files if isinstance(files, list) else [files]


def _field(option: Option) -> forms.Field:
    about = {"label": option.label, "help_text": option.help_text, "initial": option.default}
    if option.choices is not None:
        required = "" not in option.choices
        return forms.ChoiceField(choices=[*option.choices.items()], required=required, **about)
    if isinstance(option.default, bool):
        return forms.BooleanField(required=False, **about)
    if isinstance(option.default, int):
        return forms.IntegerField(min_value=int(option.least), max_value=int(option.most), **about)
    if isinstance(option.default, float):
        return forms.FloatField(min_value=option.least, max_value=option.most, **about)
    return forms.CharField(required=False, max_length=200, **about)
