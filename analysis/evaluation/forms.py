"""Forms for uploading scores and gold, confirming directions and starting evaluations."""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict

from da_platform.files.texts import fault_in_name
from hits.campaigns.forms import SeveralFilesField

from ..metrics import DEFAULT_METRICS, METRIC_NAMES, TOKENISERS
from ..models import GoldUpload, Metric
from ..scores.formats import FORMATS
from ..scores.raw_files import MAX_FILE_BYTES
from ..scores.reading import CHOICES, suggestion_for
from ..stats.thresholds import ALPHA
from .prediction_tables import SORT_NAMES
from .results import Options
from .uploading import GoldReading, Reading

WAYS = {"higher": True, "lower": False}
WAY_CHOICES = [("higher", "Higher is better"), ("lower", "Lower is better")]
MOST_SEED = 2**31 - 1
MOST_RESAMPLES = 100_000
# Levels of significance and confidence lie between 0 and 1.
LEAST_SHARE = 1e-6
DEFAULTS = Options()
LEVEL_NAMES = {"segment": "segments", "system": "systems"}


class ReadingForm(forms.Form):
    """Details that a file may not contain."""

    format = forms.ChoiceField(
        choices=[("", "Detect automatically"), *((name, name) for name in FORMATS)],
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
        help_text="The system that was scored, if this file does not name systems but your other files do.",
    )

    @property
    def only(self) -> dict[str, str]:
        return {role: value for role in CHOICES if (value := self.cleaned_data[role])}


class ScoresForm(ReadingForm):
    uploads = SeveralFilesField(
        label="Score files",
        help_text="One or more files: tables with a header, WMT metrics or QE submissions, mt-metrics-eval files. "
        f"UTF-8, up to {MAX_FILE_BYTES // 2**20} MB in total.",
    )
    name = forms.CharField(
        required=False,
        max_length=200,
        label="Metric name",
        help_text="For files that do not name the metric. The default is the file name.",
    )
    ranks = forms.BooleanField(required=False, label="Also keep rankings submitted with the scores")
    replace = forms.BooleanField(required=False, label="Replace existing scores of the same name")

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
        label="Gold files",
        help_text="Any format supported for scores. Segment and system gold of the same name belong together.",
    )
    kind = forms.ChoiceField(choices=GoldUpload.Kind.choices, label="What it measures")
    direction = forms.ChoiceField(
        choices=WAY_CHOICES,
        widget=forms.RadioSelect,
        label="Direction",
        help_text="For HTER and sums of MQM penalties, lower is better unless their sign was reversed.",
    )
    name = forms.CharField(required=False, max_length=200, label="Gold name")
    column = forms.CharField(
        required=False,
        max_length=200,
        label="Column",
        help_text="For tables with several columns of gold.",
    )
    documents = forms.FileField(
        required=False,
        label="Documents",
        widget=forms.FileInput,
        help_text="The document of each segment, one per line, for results by document.",
    )
    texts = forms.FileField(
        required=False,
        label="Texts",
        widget=forms.FileInput,
        help_text="The source of each segment, one per line, for results by length.",
    )
    replace = forms.BooleanField(required=False, label="Replace existing gold of the same name")

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
        initial=DEFAULT_METRICS,
        widget=forms.CheckboxSelectMultiple,
        label="Metrics",
        help_text="TER ignores case; TER-cased does not. TER-Moses makes the same shifts as Moses.",
    )
    tokenise = forms.ChoiceField(
        choices=[("", "By language"), *((name, name) for name in TOKENISERS)],
        required=False,
        label="Tokeniser",
        help_text="Choose none if the texts are tokenised.",
    )

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments of the job."""
        tokenise = self.cleaned_data["tokenise"]
        return {"names": self.cleaned_data["names"]} | ({"tokenise": tokenise} if tokenise else {})


class CollectionForm(forms.Form):
    name = forms.CharField(
        max_length=100, label="Name", help_text="For example, WMT14 QE task 1.2."
    )

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"].strip()
        if fault := fault_in_name(name):
            raise ValidationError(f"This name {fault}.")
        return name


def submitted_directions(post: QueryDict, metrics: Sequence[Metric]) -> dict[Metric, bool]:
    """Return each metric's submitted direction; `rest` applies to metrics without their own.

    With `rest=suggested`, that is what a metric's name or format suggests; without a suggestion it stays open.
    """
    directions = {}
    for metric in metrics:
        word = post.get(f"way-{metric.code}") or post.get("rest", "")
        if word == "suggested" and (hint := suggestion_for(metric.name, metric.format)):
            word = hint.word
        if word in WAYS:
            directions[metric] = WAYS[word]
    return directions


class OptionsForm(forms.Form):
    """Options of every kind of evaluation."""

    qe = forms.BooleanField(
        required=False,
        label="Quality estimation: the scores predict the gold, so measure errors too",
    )
    preference_points = forms.FloatField(
        required=False,
        min_value=0,
        label="Preferences: points",
        help_text="Also evaluate preferences between translations of a segment whose gold scores are this far apart. "
        "WMT used 25 points on the scale from 0 to 100.",
    )
    per_word = forms.BooleanField(
        required=False,
        label="Seconds per word: scores and gold are times, to be divided by the words of each output (from files: of each segment)",
    )
    good_enough = forms.FloatField(
        required=False,
        label="Good enough from",
        help_text="A score on the scale of the gold. How well do metrics find worse translations, and how many must be read?",
    )
    level = forms.ChoiceField(
        choices=[
            ("segment", "Segments"),
            (
                "document",
                "Documents: scores and gold are averaged over the segments of each document",
            ),
        ],
        initial="segment",
        required=False,
        widget=forms.RadioSelect,
        label="Evaluate",
        help_text="Documents must be known: from the campaign, or given with the gold.",
    )
    baseline = forms.CharField(
        required=False,
        max_length=200,
        label="Baseline",
        help_text="For quality estimation: shade what does not significantly differ from these predictions.",
    )
    sort = forms.ChoiceField(
        choices=list(SORT_NAMES.items()),
        required=False,
        label="Sort predictions by",
    )
    without = forms.CharField(
        required=False,
        max_length=5_000,
        label="Systems to leave out",
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="One per line, such as a reference among the outputs.",
    )
    ignore_extra = forms.BooleanField(
        required=False, label="Ignore scores for translations that are not in the gold"
    )
    uncertainty = forms.ChoiceField(
        choices=[
            (
                "segments",
                "By segment: translations of one segment are not independent. Williams for r where each has one",
            ),
            ("robust", "By segment, t everywhere: also where noise grows with the gold"),
            ("resampling", "By segment, resampled: bootstrap intervals and permutation tests"),
            (
                "published",
                "As published: Fisher's intervals and Williams tests over all translations",
            ),
        ],
        initial="segments",
        required=False,
        widget=forms.RadioSelect,
        label="Intervals and tests",
    )
    correction = forms.ChoiceField(
        choices=[
            ("holm", "Holm: all significant differences of a table hold together"),
            ("none", "None"),
        ],
        initial="holm",
        required=False,
        label="Correction for many tests",
        help_text="Published tests are never corrected.",
    )
    tie_threshold = forms.ChoiceField(
        choices=[
            ("calibrated", "Calibrated on the same translations"),
            ("cross-validated", "Cross-validated by halves of the segments"),
        ],
        initial="calibrated",
        required=False,
        label="Tie threshold of acc_eq",
    )
    alpha = forms.FloatField(
        required=False,
        min_value=LEAST_SHARE,
        max_value=1 - LEAST_SHARE,
        initial=ALPHA,
        label="Significance level",
    )
    confidence = forms.FloatField(
        required=False,
        min_value=LEAST_SHARE,
        max_value=1 - LEAST_SHARE,
        initial=DEFAULTS.confidence,
        label="Confidence level of intervals",
    )
    n_resamples = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=MOST_RESAMPLES,
        initial=DEFAULTS.n_resamples,
        label="Random draws",
        help_text="For measures at system level, soft pairwise accuracy and the intervals of errors.",
    )
    seed = forms.IntegerField(
        min_value=0,
        max_value=MOST_SEED,
        initial=1,
        label="Seed",
        help_text="The same seed gives the same random draws and so the same numbers.",
    )

    @property
    def options(self) -> dict[str, Any]:
        chosen = self.cleaned_data
        names = [line.strip() for line in chosen["without"].splitlines()]
        return {
            "qe": chosen["qe"],
            "without_systems": list(dict.fromkeys(name for name in names if name)),
            "ignore_extra": chosen["ignore_extra"],
            "uncertainty": chosen["uncertainty"] or "segments",
            "correction": chosen["correction"] or "holm",
            "tie_threshold": chosen["tie_threshold"] or "calibrated",
            "alpha": chosen["alpha"] or ALPHA,
            "confidence": chosen["confidence"] or DEFAULTS.confidence,
            "n_resamples": chosen["n_resamples"] or DEFAULTS.n_resamples,
            "seed": chosen["seed"],
            "per_word": chosen["per_word"],
            "preference_points": chosen["preference_points"],
            "good_enough": chosen["good_enough"],
            "level": chosen["level"] or "segment",
            "baseline": chosen["baseline"],
            "sort": chosen["sort"] or "r",
        }

    def clean(self) -> dict[str, Any] | None:
        if self.cleaned_data.get("baseline") and not self.cleaned_data.get("qe"):
            self.add_error("baseline", "A baseline needs quality estimation.")
        return super().clean()


class EvaluateForm(OptionsForm):
    """Choose gold and metrics of a campaign or a collection."""

    golds = forms.MultipleChoiceField(
        widget=forms.CheckboxSelectMultiple,
        label="Gold",
        help_text="Choose two or more to see how the ranks of metrics change between them.",
        error_messages={"required": "Choose at least one gold."},
    )
    metrics = forms.MultipleChoiceField(
        widget=forms.CheckboxSelectMultiple,
        label="Metrics",
        error_messages={"required": "Choose at least one metric."},
    )
    judgements = forms.FileField(
        required=False,
        label="Judgements",
        widget=forms.FileInput,
        help_text="Also evaluate which of two translations people preferred: a table (TSV, CSV or JSONL) with the "
        "columns segment, better and worse, one judgement per row, without ties.",
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
        labels = {
            str(metric.code): f"{metric.name} ({LEVEL_NAMES[metric.level]})" for metric in metrics
        }
        _offer(self.fields["metrics"], labels, list(labels))


@dataclass(frozen=True, slots=True)
class PoolOffer:
    """What can be pooled: names and labels of campaigns by code, labels of golds by form value, and who has each gold."""

    names: Mapping[str, str]
    campaigns: Mapping[str, str]
    uses: Mapping[str, str]
    having: Mapping[str, Container[str]]


class PoolForm(OptionsForm):
    """Choose campaigns whose gold is pooled, and which gold: the latest from ratings, or gold of the same name."""

    campaigns = forms.MultipleChoiceField(
        widget=forms.CheckboxSelectMultiple,
        label="Campaigns",
        help_text="Their gold is pooled without rescaling: from ratings, the latest of each.",
        error_messages={"required": "Choose at least two campaigns."},
    )
    uses = forms.MultipleChoiceField(
        widget=forms.CheckboxSelectMultiple,
        label="Gold",
        error_messages={"required": "Choose at least one gold."},
    )

    def __init__(self, *args: Any, offered: PoolOffer, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.offered = offered
        _offer(self.fields["campaigns"], offered.campaigns, ())
        _offer(self.fields["uses"], offered.uses, list(offered.uses)[:1])

    def clean_campaigns(self) -> list[str]:
        chosen: list[str] = list(dict.fromkeys(self.cleaned_data["campaigns"]))
        if len(chosen) < 2:
            raise ValidationError("Choose at least two campaigns.")
        return chosen

    def clean(self) -> dict[str, Any] | None:
        for use in self.cleaned_data.get("uses", []):
            having = self.offered.having[use]
            for code in self.cleaned_data.get("campaigns", []):
                if code not in having:
                    name, gold = self.offered.names[code], self.offered.uses[use]
                    self.add_error("uses", f"{name} has no such gold: {gold}.")
        return super().clean()


def _offer(field: forms.Field, choices: Mapping[str, str], initial: Sequence[str]) -> None:
    assert isinstance(field, forms.MultipleChoiceField)
    field.choices = list(choices.items())
    field.initial = list(initial)
