"""Forms for creating and editing campaigns."""

import re
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile
from django.http import QueryDict

from analysis.stats.thresholds import MINIMUM_PAIRS, MINIMUM_RATINGS
from da_platform.files.mending import ENCODINGS
from da_platform.files.problems import FilesRefused
from da_platform.files.texts import fault_in_name, fault_in_text

from ..hit_sizes import SET_SIZE
from ..models import SEED_LIMIT, Campaign
from ..task_facts import SOME_HAVE, facts_of, sizes_of, usual_settings
from .editing import EDITABLE, UNTIL_TAKEN_REBUILDS, why_fixed
from .importing.plain_text import without_common_parts
from .uploads import Upload

MAX_INSTRUCTIONS = 10_000
# Options of an import that need no further choice.
MENDING_OPTIONS = ("clean", "allow_empty_translations", "allow_missing_translations")

LABELS = {
    "hit_size": "Items per HIT",
    "presentation": "Translations are shown",
    "run_length": "Maximum segments of a document in a row",
    "scores_documents": "Ask for a score of the whole document",
    "outputs_per_screen": "Outputs on a screen",
    "output_choice": "Which outputs",
    "judgements_per_pair": "Judgements per pair of systems",
    "min_ratings": "Trusted ratings per translation",
    "sample_size": "Translations to rate",
    "sample_choice": "Which translations",
    "n_looks": "Stop when it is decided: looks",
    "looks_goal": "What looks decide",
    "looks_width": "Target standard error",
    "looks_alpha": "Chance of any wrong conclusion",
    "looks_spending": "How strict early looks are",
    "looks_least_chance": "Give up pairs with less chance than",
    "pay_per_hit": "Pay per HIT",
    "spending_cap": "Spending cap",
    "lease_minutes": "Minutes per HIT",
    "merges_near_identical": "Merge near-identical translations",
    "run_by": "Run by",
    "contact": "Contact for workers",
    "interface_language": "Interface language",
    "degradation": "Degraded texts",
    "shows_gray_references": "Rate references that equal the gray text",
    "trust_rule": "Who is trusted",
    "drift": "Workers who became unreliable",
    "max_hits_per_worker": "HITs per worker, at most",
    "records_signals": "Record signs of scripts",
    "has_canary": "Hidden instruction for programs",
}
HINTS = {
    "hit_size": (
        "Usually 100. Smaller HITs have fewer hidden checks: below "
        f"{MINIMUM_PAIRS * SET_SIZE}, a worker must do two HITs to be judged."
    ),
    "presentation": "In documents, earlier segments stay in view; side by side, each output has its own slider.",
    "run_length": "Only in documents.",
    "scores_documents": "Only in documents: asked with the last segment of each run.",
    "outputs_per_screen": "Two to five outputs of a segment, to be ranked or rated side by side. With two, workers choose between a pair.",
    "output_choice": "If undecided, HITs are added in rounds while rank ranges still overlap.",
    "judgements_per_pair": "The most trusted judgements that a pair gets. Leave blank to show each output once.",
    "min_ratings": f"With more than {MINIMUM_RATINGS} ratings, a mean hardly changes.",
    "sample_size": (
        "How many translations to rate, drawn from all systems and segments. "
        "The others are kept for metrics. Leave blank for all."
    ),
    "sample_choice": (
        "If not all. Random and evenly spread samples represent all translations. With the other "
        "two, some translations have a higher chance, so system scores weight each by 1 / "
        "chance: still unbiased, but less precise unless each has many ratings. Scores of single "
        "translations are then not representative. Metric scores are needed before HITs are "
        "built."
    ),
    "n_looks": (
        "Work is divided into this many parts, from 2 to 10. After each, the results are tested, "
        "and only what is undecided goes on. Leave blank to rate everything. Fixed once work "
        "begins."
    ),
    "looks_goal": (
        "Systems: each part is a share of the segments, and only systems with an undecided pair "
        "go on. Translations: each part rates those whose scores are still too uncertain, as "
        "often again as set above."
    ),
    "looks_width": "In z, for translations. Only with looks.",
    "looks_alpha": "Over all pairs of systems and all looks together. Only with looks.",
    "looks_spending": "Only with looks.",
    "looks_least_chance": "To be decided by the last look, from 0 (never give up) to 0.9. Only with looks.",
    "run_by": "Workers see it before they agree to take part. Leave blank for the name in the settings of the platform.",
    "contact": "An e-mail address or a link for workers' questions. Leave blank for the platform's.",
    "interface_language": "Leave blank for the target language, or English if it is not in the list.",
    "seed": "The same texts and seed give the same HITs.",
    "shows_gray_references": "A script recognises them, so they are never evidence about a worker.",
    "drift": "Their latest HITs fail the test that all their HITs together pass.",
    "max_hits_per_worker": "Leave blank for no limit.",
    "records_signals": "Counts of clicks, keys and touches, and keyed marks of devices. Named in the privacy notice.",
    "has_canary": "Workers cannot see or hear it; a program that reads the page may follow it. Advice only.",
}


# A form may leave these out.
OPTIONAL = (
    "presentation",
    "run_length",
    "outputs_per_screen",
    "output_choice",
    "sample_choice",
    "looks_goal",
    "looks_width",
    "looks_alpha",
    "looks_spending",
    "looks_least_chance",
)
# What most campaigns choose. The other settings are folded, because their defaults suit most.
OFTEN_CHOSEN = (
    "name",
    "presentation",
    "hit_size",
    "outputs_per_screen",
    "output_choice",
    "judgements_per_pair",
    "min_ratings",
    "sample_size",
    "sample_choice",
    "pay_per_hit",
    "currency",
    "spending_cap",
    "run_by",
    "contact",
)


class CampaignFields(forms.ModelForm):
    """Fields and checks that all campaign forms share."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in SOME_HAVE.difference(facts_of(self.instance.task).settings):
            self.fields.pop(name, None)
        if "hit_size" in self.fields:
            sizes = sizes_of(self.instance.task)
            unit = "screens" if sizes.has_large_screens else "items"
            self.fields["hit_size"] = forms.TypedChoiceField(
                coerce=int,
                choices=[(size, f"{size} {unit}") for size in sizes],
                initial=sizes.default,
                label=LABELS["hit_size"],
                help_text=HINTS["hit_size"],
            )
        if "interface_language" in self.fields:
            choices = Campaign._meta.get_field("interface_language").choices or ()
            self.fields["interface_language"] = forms.ChoiceField(
                choices=[("", "language of the translations"), *choices],
                required=False,
                label=LABELS["interface_language"],
                help_text=HINTS["interface_language"],
            )

        for name in OPTIONAL:
            if name in self.fields:
                self.fields[name].required = False

    def often_chosen(self) -> list[forms.BoundField]:
        return [field for field in self if field.name in OFTEN_CHOSEN]

    def seldom_chosen(self) -> list[forms.BoundField]:
        return [field for field in self if field.name not in OFTEN_CHOSEN]

    def has_folded_errors(self) -> bool:
        return any(field.errors for field in self.seldom_chosen())

    def _given_or_kept(self, name: str) -> Any:
        given = self.cleaned_data[name]
        return getattr(self.instance, name) if given in (None, "") else given

    def clean_outputs_per_screen(self) -> int:
        return int(self._given_or_kept("outputs_per_screen"))

    def clean_run_length(self) -> int:
        return int(self._given_or_kept("run_length"))

    def clean_output_choice(self) -> str:
        return str(self._given_or_kept("output_choice"))

    def clean_presentation(self) -> str:
        return str(self._given_or_kept("presentation"))

    def clean_sample_choice(self) -> str:
        return str(self._given_or_kept("sample_choice"))

    def clean_looks_goal(self) -> str:
        return str(self._given_or_kept("looks_goal"))

    def clean_looks_width(self) -> float:
        return float(self._given_or_kept("looks_width"))

    def clean_looks_alpha(self) -> float:
        return float(self._given_or_kept("looks_alpha"))

    def clean_looks_spending(self) -> str:
        return str(self._given_or_kept("looks_spending"))

    def clean_looks_least_chance(self) -> float:
        return float(self._given_or_kept("looks_least_chance"))

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"].strip()
        if fault := fault_in_name(name):
            raise ValidationError(f"This name {fault}.")
        return name

    def clean_currency(self) -> str:
        currency: str = self.cleaned_data["currency"].upper()
        if not re.fullmatch("[A-Z]{3}", currency):
            raise ValidationError("Enter three letters, such as EUR or USD.")
        return currency


class BasicsForm(CampaignFields):
    """The first step of a new campaign."""

    class Meta:
        model = Campaign
        fields = ("name", "source_language", "target_language", "task", "shows")
        widgets = {"task": forms.RadioSelect}
        labels = {"task": "What workers do", "shows": "What editors see"}
        help_texts = {
            "name": "For you and your colleagues; workers do not see it.",
            "source_language": "A code such as de, en, zh or pt-BR.",
            "target_language": "The language of the translations.",
            "shows": "Next to the text, for post-editing. Leave blank for the reference.",
        }

    def clean(self) -> None:
        super().clean()
        # The instance is checked as a whole; the settings come later.
        if task := self.cleaned_data.get("task"):
            self.instance.hit_size = usual_settings(task)["hit_size"]


class SeveralFilesInput(forms.ClearableFileInput):
    allow_multiple_selected = True


class SeveralFilesField(forms.FileField):
    widget = SeveralFilesInput

    def clean(self, data: Any, initial: Any = None) -> list[UploadedFile]:
        files = data if isinstance(data, list | tuple) else [data]
        return [super(SeveralFilesField, self).clean(file, initial) for file in files if file]


# The form fields of text files, and their names in the campaign's folder.
LINE_FILES = {
    "sources": "sources.txt",
    "references": "references.txt",
    "second_references": "second_references.txt",
    "documents": "documents.txt",
    "ids": "ids.txt",
}
PACKAGES = (".zip", ".tsv", ".csv", ".jsonl", ".ndjson", ".xml", ".json")
NO_FILES = "Choose one file, or the outputs of at least one system."


class FilesForm(forms.Form):
    """The second step: one package, or text files with one segment per line."""

    package = forms.FileField(
        required=False,
        label="One file",
        help_text=(
            "A table (.tsv, .csv, .jsonl), a WMT test set (.xml, .jsonl), a campaign of Pearmut (.json), or a .zip of a folder: text "
            "files, a WMT test set in .sgm files, or mt-metrics-eval."
        ),
        widget=forms.FileInput(attrs={"accept": ",".join(PACKAGES)}),
    )
    systems = SeveralFilesField(
        required=False,
        label="System outputs",
        help_text="Select one file per system. Each system is named after its file.",
    )
    sources = forms.FileField(required=False, label="Sources", widget=forms.FileInput)
    references = forms.FileField(required=False, label="References", widget=forms.FileInput)
    second_references = forms.FileField(
        required=False,
        label="Second references",
        help_text="Another reference or a paraphrase of each, to hide among the translations.",
        widget=forms.FileInput,
    )
    documents = forms.FileField(
        required=False, label="Document of each segment", widget=forms.FileInput
    )
    ids = forms.FileField(required=False, label="Id of each segment", widget=forms.FileInput)
    reference = forms.CharField(
        required=False,
        max_length=100,
        label="Which reference",
        help_text="The one to show in gray. Only needed if the files contain several.",
    )
    second_reference = forms.CharField(
        required=False,
        max_length=100,
        label="Which second reference",
        help_text="Hidden among the translations, never shown in gray. Leave blank for the first of the others.",
    )
    encoding = forms.ChoiceField(
        required=False,
        label="Encoding of what is not UTF-8",
        choices=[("", "none: everything must be UTF-8"), *((name, name) for name in ENCODINGS)],
    )
    ignore_columns = forms.CharField(
        required=False,
        max_length=1000,
        label="Columns to ignore",
        help_text="Names of columns in a table that are not needed, separated by commas.",
    )
    allow_empty_translations = forms.BooleanField(required=False, label="Allow empty translations")
    allow_missing_translations = forms.BooleanField(
        required=False,
        label="Allow missing translations",
        help_text="Not every system has every segment. In text files, an empty line means missing.",
    )

    def __init__(self, *args: Any, has_files: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._has_files = has_files
        # Not in the class: there, it would be the method of forms.
        self.fields["clean"] = forms.BooleanField(
            required=False,
            label="Clean the texts",
            help_text=(
                "Removes byte order marks, CR LF and control characters, and normalises texts to "
                "Unicode form NFC. Every change is listed and kept with the campaign."
            ),
        )

    def clean_package(self) -> UploadedFile | None:
        package: UploadedFile | None = self.cleaned_data["package"]
        if package and not (package.name or "").lower().endswith(PACKAGES):
            raise ValidationError(f"Choose one of {', '.join(PACKAGES)}. Text files go below.")
        return package

    def clean(self) -> None:
        lines = [name for name in ("systems", *LINE_FILES) if self.cleaned_data.get(name)]
        if self.cleaned_data.get("package") and lines:
            raise ValidationError("Choose either one file or several text files, not both.")
        if lines and not self.cleaned_data.get("systems"):
            self.add_error("systems", "Choose the outputs of at least one system.")
        if not lines and not self.files and not self._has_files:
            raise ValidationError(NO_FILES)

    def uploads(self) -> list[Upload]:
        """Return the files with their paths; none if the draft should keep its earlier files."""
        if package := self.cleaned_data["package"]:
            return [Upload(package.name, package)]
        systems = _system_uploads(self.cleaned_data["systems"])
        lines = [
            Upload(path, self.cleaned_data[name])
            for name, path in LINE_FILES.items()
            if self.cleaned_data[name]
        ]
        return [*lines, *systems]

    def options(self) -> dict[str, Any]:
        return {
            "reference": self.cleaned_data["reference"] or None,
            "second_reference": self.cleaned_data["second_reference"] or None,
            "ignore_columns": [
                name.strip()
                for name in self.cleaned_data["ignore_columns"].split(",")
                if name.strip()
            ],
            **{
                name: self.cleaned_data[name]
                for name in (
                    "clean",
                    "encoding",
                    "allow_empty_translations",
                    "allow_missing_translations",
                )
            },
        }


class RepairForm(forms.Form):
    """Only those options of an import that would help with refused files, already chosen where they can be."""

    def __init__(self, refusal: FilesRefused, options: dict[str, Any]) -> None:
        super().__init__(
            auto_id="repair_%s", initial=options | dict.fromkeys(MENDING_OPTIONS, True)
        )
        offered = FilesForm().fields
        for name, what in refusal.fixes_by_option.items():
            self.fields[name] = offered[name]
            self.fields[name].help_text = what
        names = [
            *options.get("ignore_columns", []),
            *refusal.values_by_option.get("ignore_columns", []),
        ]
        self.initial["ignore_columns"] = ", ".join(names)
        self.initial["encoding"] = options.get("encoding", "")


def chosen_repairs(posted: QueryDict) -> dict[str, Any]:
    """Return the options that a `RepairForm` was sent with."""
    form = FilesForm(posted, has_files=True)
    form.full_clean()
    return {name: value for name, value in form.options().items() if name in posted and value}


def _system_uploads(files: list[UploadedFile]) -> list[Upload]:
    """Name each system after its file, without the parts that all names have in common."""
    names = [file.name or "" for file in files]
    if len(set(names)) == len(names) > 1:
        names = [f"{name}.txt" for name in without_common_parts(names)]
    return [Upload(f"systems/{name}", file) for name, file in zip(names, files, strict=True)]


class SettingsForm(CampaignFields):
    """How a new campaign's HITs are built, and what they pay."""

    seed = forms.IntegerField(
        required=False,
        min_value=0,
        max_value=SEED_LIMIT - 1,
        help_text=f"Leave blank for a random seed. {HINTS['seed']}",
    )

    class Meta:
        model = Campaign
        fields = (
            "presentation",
            "run_length",
            "scores_documents",
            "hit_size",
            "outputs_per_screen",
            "output_choice",
            "judgements_per_pair",
            "min_ratings",
            "sample_size",
            "sample_choice",
            "n_looks",
            "looks_goal",
            "looks_width",
            "looks_alpha",
            "looks_spending",
            "looks_least_chance",
            "pay_per_hit",
            "currency",
            "spending_cap",
            "lease_minutes",
            "run_by",
            "contact",
            "interface_language",
            "seed",
            "degradation",
            "trust_rule",
            "drift",
            "max_hits_per_worker",
            "merges_near_identical",
            "shows_gray_references",
            "records_signals",
            "has_canary",
        )
        labels = LABELS
        help_texts = HINTS

    def __init__(
        self, *args: Any, task: str = Campaign.Task.REFERENCE_ADEQUACY, **kwargs: Any
    ) -> None:
        super().__init__(*args, instance=Campaign(task=task, **usual_settings(task)), **kwargs)


# Settings with a page of their own.
WITH_PAGES = ("instructions", "guidance", "questionnaire")


class EditForm(CampaignFields):
    """The settings of a campaign; those that can no longer be changed are disabled."""

    class Meta:
        model = Campaign
        fields = tuple(name for name in EDITABLE if name not in WITH_PAGES)
        labels = LABELS
        help_texts = HINTS

    def __init__(self, *args: Any, editable: tuple[str, ...], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, field in self.fields.items():
            if name not in editable:
                field.disabled = True
                field.help_text = f"Can no longer be changed: {why_fixed(self.instance, [name])}."
            elif name in UNTIL_TAKEN_REBUILDS and self.instance.hits.exists():
                field.help_text = (
                    "A change deletes the HITs built so far. You then have to build them again."
                )


class InstructionsForm(forms.Form):
    instructions = forms.CharField(
        required=False,
        max_length=MAX_INSTRUCTIONS,
        widget=forms.Textarea(attrs={"rows": 12, "dir": "auto"}),
        help_text="Plain text. A blank line starts a new paragraph; lines that start with “- ” or “1. ” become a list.",
    )

    def clean_instructions(self) -> str:
        text: str = self.cleaned_data["instructions"].replace("\r\n", "\n")
        for number, line in enumerate(text.split("\n"), start=1):
            if line.strip() and (fault := fault_in_text(line)):
                raise ValidationError(f"Line {number} {fault}.")
        return text


class NameForm(CampaignFields):
    class Meta:
        model = Campaign
        fields = ("name",)
        labels = {"name": "Name of the copy"}


class CostForm(forms.Form):
    """Numbers to try out; missing or invalid ones default to the campaign's."""

    pay = forms.DecimalField(min_value=0, max_value=100, max_digits=8, decimal_places=2)
    fee = forms.DecimalField(min_value=0, max_value=100, max_digits=5, decimal_places=2)
    passing = forms.IntegerField(min_value=5, max_value=100)
    ratings = forms.IntegerField(min_value=1, max_value=60)
