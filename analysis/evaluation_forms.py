"""What researchers send: files of scores and gold, directions, and what is to be held against what."""

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict

from hits.campaigns.forms import SeveralFilesField
from hits.importing.texts import fault_in_name

from .metrics import METRIC_NAMES
from .models import GoldUpload, Metric
from .scores.formats import FORMATS
from .scores.reading import CHOICES
from .scores.uploading import GoldReading, Reading

WAYS = {"higher": True, "lower": False}
WAY_CHOICES = [("higher", "Higher is better"), ("lower", "Lower is better")]
MOST_SEED = 2**31 - 1
LEVEL_NAMES = {"segment": "segments", "system": "systems"}


class ReadingForm(forms.Form):
    """What a file may leave open."""

    format = forms.ChoiceField(
        choices=[("", "told by the content"), *((name, name) for name in FORMATS)],
        required=False,
        label="Format",
    )
    language_pair = forms.CharField(required=False, max_length=100, label="Language pair")
    testset = forms.CharField(required=False, max_length=100, label="Test set")
    reference = forms.CharField(required=False, max_length=100, label="Reference")
    system = forms.CharField(
        required=False,
        max_length=200,
        label="System",
        help_text="Whose translations these are, where the file does not name systems but your other files do.",
    )

    @property
    def only(self) -> dict[str, str]:
        return {role: value for role in CHOICES if (value := self.cleaned_data[role])}


class ScoresForm(ReadingForm):
    uploads = SeveralFilesField(
        label="Files of scores",
        help_text="One or several: tables with a header, WMT metrics and QE submissions, files of mt-metrics-eval. UTF-8, 64 MB together.",
    )
    name = forms.CharField(
        required=False,
        max_length=200,
        label="Name of the metric",
        help_text="For files that do not name it; the file's own name otherwise.",
    )
    ranks = forms.BooleanField(required=False, label="Keep rankings too that stand beside scores")
    replace = forms.BooleanField(
        required=False, label="Put them in place of other scores of the same name"
    )

    @property
    def reading(self) -> Reading:
        chosen = self.cleaned_data
        return Reading(
            format=chosen["format"] or None,
            name=chosen["name"] or None,
            system=chosen["system"],
            only=self.only,
            ranks=chosen["ranks"],
        )


class GoldUploadForm(ReadingForm):
    prefix = "gold"

    uploads = SeveralFilesField(
        label="Files of gold",
        help_text="In any format in which scores are read. Gold of segments and of systems under one name belongs together.",
    )
    kind = forms.ChoiceField(choices=GoldUpload.Kind.choices, label="What it measures")
    direction = forms.ChoiceField(
        choices=WAY_CHOICES,
        widget=forms.RadioSelect,
        label="Which gold is better?",
        help_text="HTER and sums of MQM penalties are better lower, unless their sign was turned.",
    )
    name = forms.CharField(required=False, max_length=200, label="Name of the gold")
    column = forms.CharField(
        required=False, max_length=200, label="Column", help_text="In a table with several."
    )
    documents = forms.FileField(
        required=False,
        label="Documents",
        widget=forms.FileInput,
        help_text="The document of each segment, a line each: for results by document.",
    )
    texts = forms.FileField(
        required=False,
        label="Texts",
        widget=forms.FileInput,
        help_text="The source of each segment, a line each: for results by length.",
    )
    replace = forms.BooleanField(
        required=False, label="Put it in place of other gold of the same name"
    )

    @property
    def reading(self) -> GoldReading:
        chosen = self.cleaned_data
        return GoldReading(
            kind=chosen["kind"],
            higher_is_better=WAYS[chosen["direction"]],
            format=chosen["format"] or None,
            name=chosen["name"] or None,
            column=chosen["column"] or None,
            system=chosen["system"],
            only=self.only,
        )


class ComputeForm(forms.Form):
    names = forms.MultipleChoiceField(
        choices=[(name, name) for name in METRIC_NAMES],
        initial=METRIC_NAMES,
        widget=forms.CheckboxSelectMultiple,
        label="Metrics",
    )


class CollectionForm(forms.Form):
    name = forms.CharField(
        max_length=100, label="Name", help_text="For you, such as WMT14 QE task 1.2."
    )

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"].strip()
        if fault := fault_in_name(name):
            raise ValidationError(f"This name {fault}.")
        return name


def said_directions(post: QueryDict, metrics: Sequence[Metric]) -> dict[Metric, bool]:
    """Return what somebody said of metrics: of each by its own mark, or of all that they left unmarked."""
    said = {}
    for metric in metrics:
        word = post.get(f"way-{metric.code}") or post.get("rest", "")
        if word in WAYS:
            said[metric] = WAYS[word]
    return said


class OptionsForm(forms.Form):
    """What all evaluations let people choose."""

    qe = forms.BooleanField(
        required=False,
        label="The scores predict the gold itself (quality estimation): measure errors too",
    )
    without = forms.CharField(
        required=False,
        max_length=5_000,
        label="Systems to leave out",
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="One a line, such as a reference among the outputs.",
    )
    ignore_extra = forms.BooleanField(
        required=False, label="Ignore scores of translations that the gold does not know"
    )
    seed = forms.IntegerField(
        min_value=0,
        max_value=MOST_SEED,
        initial=1,
        label="Seed",
        help_text="For what is drawn at random: the same seed, the same numbers.",
    )

    @property
    def options(self) -> dict[str, Any]:
        chosen = self.cleaned_data
        names = [line.strip() for line in chosen["without"].splitlines()]
        return {
            "qe": chosen["qe"],
            "without_systems": list(dict.fromkeys(name for name in names if name)),
            "ignore_extra": chosen["ignore_extra"],
            "seed": chosen["seed"],
        }


class EvaluateForm(OptionsForm):
    """Gold and metrics of a campaign or a collection."""

    golds = forms.MultipleChoiceField(
        widget=forms.CheckboxSelectMultiple,
        label="Gold",
        help_text="Two stand side by side, with the ranks that change.",
        error_messages={"required": "Choose what to hold the metrics against."},
    )
    metrics = forms.MultipleChoiceField(
        widget=forms.CheckboxSelectMultiple,
        label="Metrics",
        error_messages={"required": "Choose at least one metric."},
    )

    def __init__(
        self,
        *args: Any,
        golds: Mapping[str, str],
        first: Sequence[str],
        metrics: Sequence[Metric],
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        _offer(self.fields["golds"], golds, first)
        named = {str(one.code): f"{one.name} ({LEVEL_NAMES[one.level]})" for one in metrics}
        _offer(self.fields["metrics"], named, list(named))


class PoolForm(OptionsForm):
    """Campaigns to pool, with the latest gold of each."""

    campaigns = forms.MultipleChoiceField(
        widget=forms.CheckboxSelectMultiple,
        label="Campaigns",
        help_text="Their latest gold is put together as it is.",
        error_messages={"required": "Choose at least two campaigns."},
    )
    uses = forms.MultipleChoiceField(
        choices=[("z", "Standardised scores (z)"), ("raw", "Raw scores, 0 to 100")],
        initial=["z"],
        widget=forms.CheckboxSelectMultiple,
        label="Scores",
    )

    def __init__(self, *args: Any, campaigns: Mapping[str, str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _offer(self.fields["campaigns"], campaigns, ())

    def clean_campaigns(self) -> list[str]:
        chosen: list[str] = list(dict.fromkeys(self.cleaned_data["campaigns"]))
        if len(chosen) < 2:
            raise ValidationError("Choose at least two campaigns.")
        return chosen


def _offer(field: forms.Field, choices: Mapping[str, str], initial: Sequence[str]) -> None:
    assert isinstance(field, forms.MultipleChoiceField)
    field.choices = list(choices.items())
    field.initial = list(initial)
