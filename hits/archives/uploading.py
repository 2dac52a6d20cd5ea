"""Uploaded files of a finished collection, which a job imports."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction

from analysis.stats.thresholds import MINIMUM_RATINGS
from da_platform.files.texts import fault_in_name
from da_platform.jobs.models import Job
from da_platform.jobs.running import start_job

from ..campaigns.forms import SeveralFilesField
from ..campaigns.uploads import Upload, folder_of, keep_files
from ..models import Campaign, CampaignDraft, Rating
from ..task_facts import known_tasks
from ..task_kinds import kind_of_task
from .service import FORMATS, RANKING_READERS

FORMAT_LABELS = {
    "mturk": "Mechanical Turk: result files (CSV)",
    "wmt-da": "WMT direct assessment (CSV)",
    "appraise": "Appraise: scores (CSV)",
    "pearmut": "Pearmut: annotations of DA (JSONL or JSON)",
    "appraise-rankings": "Appraise: rankings of WMT13 to WMT16 (XML, also .gz)",
    "wmt-rankings": "WMT rankings of two or five systems a row (CSV)",
}
# Who counts: as the evidence says, everyone, or those in a file.
EVIDENCE, EVERYONE, LISTED = "evidence", "all", "listed"
# The folder, and the name in it, of the workers who were judged reliable elsewhere.
TRUSTED = "trusted/workers.txt"
FILES = "files"


class CollectionForm(forms.Form):
    """A finished collection: its files, what they are, and whose work counts."""

    name = forms.CharField(max_length=100)
    source_language = forms.CharField(
        max_length=35, help_text="A code such as de, en, zh or pt-BR."
    )
    target_language = forms.CharField(max_length=35)
    format = forms.ChoiceField(choices=[(name, FORMAT_LABELS[name]) for name in FORMATS])
    collection = SeveralFilesField(
        label="Files", help_text="One or more files of this format, or a .zip of them."
    )
    task = forms.ChoiceField(
        choices=[
            (task, facts.label)
            for task, facts in known_tasks().items()
            if kind_of_task(task).answers is Rating
        ],
        required=False,
        help_text="For ratings: what workers were asked. Ignored for rankings.",
    )
    min_ratings = forms.IntegerField(
        min_value=1,
        max_value=32_767,
        required=False,
        label="Trusted ratings per translation",
        help_text=f"What gold needs. Leave blank for {MINIMUM_RATINGS}.",
    )
    workers_of = forms.CharField(
        max_length=100,
        required=False,
        label="Worker ids of",
        help_text="Collections of one effort share their workers. Leave blank for the collection's name.",
    )
    trust = forms.ChoiceField(
        choices=[
            (EVIDENCE, "As the evidence says; for rankings, everyone"),
            (EVERYONE, "Everyone: they were judged reliable elsewhere"),
            (LISTED, "The workers in a file"),
        ],
        required=False,
        label="Whose work counts",
    )
    trusted = forms.FileField(
        required=False,
        label="File of workers",
        help_text="One per line, with the name first. All others are excluded.",
        widget=forms.FileInput,
    )
    exclude_rejected = forms.BooleanField(
        required=False, label="Exclude workers with a rejected assignment"
    )
    reason = forms.CharField(
        max_length=500,
        required=False,
        help_text="For the audit log: who judged the workers, and how.",
    )

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"].strip()
        if fault := fault_in_name(name):
            raise ValidationError(f"This name {fault}.")
        if Campaign.objects.filter(name=name).exists():
            raise ValidationError("There is a campaign with this name.")
        return name

    def clean(self) -> None:
        is_listed = self.cleaned_data.get("trust") == LISTED
        if is_listed != bool(self.cleaned_data.get("trusted")):
            self.add_error("trusted", "Choose this file and “The workers in a file”, or neither.")

    def uploads(self) -> list[Upload]:
        files: Sequence[UploadedFile] = self.cleaned_data["collection"]
        uploads = [Upload(f"{FILES}/{file.name}", file) for file in files]
        if trusted := self.cleaned_data.get("trusted"):
            uploads.append(Upload(TRUSTED, trusted))
        return uploads

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of `import_collection` besides the files."""
        values = self.cleaned_data
        arguments = {
            name: values[name] for name in ("name", "source_language", "target_language", "format")
        }
        if values["format"] not in RANKING_READERS and values["task"]:
            arguments["task"] = values["task"]
        if values["min_ratings"]:
            arguments["min_ratings"] = values["min_ratings"]
        if values["workers_of"]:
            arguments["worker_namespace"] = values["workers_of"]
        arguments["judgement"] = {
            "trusts_all": values["trust"] == EVERYONE,
            "excludes_rejected": values["exclude_rejected"],
            "reason": values["reason"],
        }
        return arguments


def import_uploaded(*, form: CollectionForm, actor: User) -> Job:
    """Keep the files of a valid form and start a job that imports them, or raise `ImportRefused`.

    The files stay for a week, like those of drafts, so that the job can be started again.
    """
    draft = CampaignDraft.objects.create(owner=actor, basics={"name": form.cleaned_data["name"]})
    try:
        keep_files(draft=draft, uploads=form.uploads())
        folder = folder_of(draft)
        arguments = form.arguments()
        if (folder / TRUSTED).exists():
            arguments["judgement"]["trusted"] = str(folder / TRUSTED)
        paths = sorted(
            str(path) for path in folder.rglob("*") if path.is_file() and path != folder / TRUSTED
        )
        with transaction.atomic():
            return start_job(
                kind="import_collection", arguments=arguments | {"paths": paths}, started_by=actor
            )
    finally:
        # Only the row: the job needs the files.
        draft.delete()
