"""Make a campaign of the outputs of an experiment, so that people rate or rank them."""

from pathlib import Path
from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile

from da_platform.jobs.models import Job
from hits.campaigns.drafts import import_uploads, storable
from hits.campaigns.forms import BasicsForm
from hits.campaigns.uploads import Upload, keep_files
from hits.models import Campaign, CampaignDraft
from hits.task_facts import facts_of, usual_settings

from ..models import Experiment
from .base import ExperimentRefused, Result
from .catalogue import kind_named
from .reporting import campaign_files
from .storing import stored_inputs

TASKS = (
    Campaign.Task.REFERENCE_ADEQUACY,
    Campaign.Task.SOURCE_ADEQUACY,
    Campaign.Task.FLUENCY,
    Campaign.Task.RANK,
)


class CampaignForm(BasicsForm):
    """What a campaign of the outputs of an experiment needs besides its files."""

    class Meta(BasicsForm.Meta):
        fields: tuple[str, ...] = ("name", "source_language", "task")  # type: ignore[assignment]

    def __init__(self, *args: Any, experiment: Experiment, **kwargs: Any) -> None:
        super().__init__(
            *args,
            instance=Campaign(target_language=experiment.options["language"]),
            initial={
                "name": experiment.name,
                "source_language": experiment.options["source_language"],
                "task": Campaign.Task.REFERENCE_ADEQUACY,
            },
            **kwargs,
        )
        self.has_sources = has_sources(experiment.result or {})
        task = self.fields["task"]
        assert isinstance(task, forms.ChoiceField)
        task.choices = [
            (value, facts_of(value).label)
            for value in TASKS
            if self.has_sources or value != Campaign.Task.SOURCE_ADEQUACY
        ]

    def basics(self) -> dict[str, Any]:
        """Return the basics of a draft."""
        is_blind = self.cleaned_data["task"] == Campaign.Task.RANK and not self.has_sources
        return self.cleaned_data | {
            "target_language": self.instance.target_language,
            # A ranking shows the source too, if there is one.
            "shows": Campaign.Shows.REFERENCE if is_blind else "",
        }


def has_sources(result: Result) -> bool:
    return any(file["role"] == "sources" for file in result.get("inputs", []))


def can_be_rated(experiment: Experiment) -> bool:
    """Whether the experiment is finished and has outputs that people can rate."""
    kind = kind_named(experiment.kind)
    return experiment.result is not None and kind.outputs_to_rate is not None


def prepare_campaign(
    *, experiment: Experiment, basics: dict[str, Any], actor: User
) -> CampaignDraft:
    """Store a draft of a campaign of the outputs, ready to be checked and imported."""
    files, options = _files(experiment)
    draft = CampaignDraft.objects.create(
        owner=actor,
        basics=basics,
        options=options,
        settings=storable(usual_settings(basics["task"])),
    )
    keep_files(draft=draft, uploads=files)
    return draft


def create_campaign(
    *, experiment: Experiment, basics: dict[str, Any], actor: User
) -> Campaign | Job:
    """Import the outputs as a campaign; return it or, for large files, the job that imports it."""
    files, options = _files(experiment)
    settings = storable(usual_settings(basics["task"]))
    return import_uploads(
        actor=actor, basics=basics, uploads=files, options=options, settings=settings
    )


def _files(experiment: Experiment) -> tuple[list[Upload], dict[str, Any]]:
    """Return the files of the campaign, and how to read them."""
    kind = kind_named(experiment.kind)
    if not can_be_rated(experiment):
        raise ExperimentRefused("This experiment has no outputs that people could rate.")
    assert kind.outputs_to_rate is not None
    outputs = kind.outputs_to_rate(kind.read(stored_inputs(experiment), experiment.options))
    files = [
        Upload(path, SimpleUploadedFile(Path(path).name, text.encode()))
        for path, text in campaign_files(outputs).items()
    ]
    has_gaps = any(not line.strip() for lines in outputs.systems.values() for line in lines)
    return files, {"allow_missing_translations": True} if has_gaps else {}
