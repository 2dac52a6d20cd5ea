"""A campaign's own texts for workers: storing them, and the form with the English next to each."""

from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User

from ..guidance_files import Guidance
from ..languages import direction
from ..models import Campaign
from ..rating.own_texts import (
    TextPath,
    english_texts,
    in_words,
    interface_paths,
    leaves,
    merged,
    missing_texts,
    n_missing_in_interface,
    paths_of,
    read_texts,
)
from ..task_kinds import kind_of
from .editing import edit_campaign


def set_texts(*, campaign: Campaign, actor: User | None, texts: Any, name: str = "") -> Guidance:
    """Check and store a campaign's own texts, or raise `TextsRefused`; an empty object removes them."""
    guidance = read_texts(texts, target_language=campaign.target_language, name=name)
    edit_campaign(campaign=campaign, actor=actor, changes={"guidance": guidance})
    return guidance


def task_of(campaign: Campaign) -> str:
    """Return the task whose examples and practice the campaign's workers read."""
    return kind_of(campaign).practice_task(campaign)


def texts_file(campaign: Campaign) -> Guidance:
    """Return the campaign's own texts as a file to fill in, download and upload again."""
    return {"language": campaign.target_language} | merged(campaign.guidance, {})


@dataclass(frozen=True, slots=True)
class Progress:
    """What a campaign's own texts still lack. Nothing is shown to workers until `missing` is empty."""

    missing: list[str]
    n_needed: int
    n_missing_in_interface: int
    n_in_interface: int

    @property
    def n_written(self) -> int:
        return self.n_needed - len(self.missing)


def progress_of(campaign: Campaign) -> Progress:
    return Progress(
        missing=missing_texts(campaign.guidance, task_of(campaign)),
        n_needed=len(paths_of(task_of(campaign))),
        n_missing_in_interface=n_missing_in_interface(campaign.guidance),
        n_in_interface=len(interface_paths()),
    )


@dataclass(frozen=True, slots=True)
class Row:
    """A text of the form: its field, where it is used, the English, and the campaign's own."""

    field: str
    place: str
    english: str
    text: str


def rows_of(campaign: Campaign, paths: list[TextPath], prefix: str) -> list[Row]:
    english, own = dict(leaves(english_texts())), dict(leaves(campaign.guidance))
    return [
        Row(f"{prefix}{number}", in_words(path[1:]), english[path], own.get(path, ""))
        for number, path in enumerate(paths)
    ]


def form_rows(campaign: Campaign) -> dict[str, Any]:
    return {
        "guidance": rows_of(campaign, paths_of(task_of(campaign)), "text-"),
        "interface": rows_of(campaign, interface_paths(), "string-"),
        "direction": direction(campaign.target_language),
    }


def texts_sent(campaign: Campaign, sent: Any) -> Guidance:
    """Return the campaign's own texts with what the form sent."""
    fields = {
        **{f"text-{i}": path for i, path in enumerate(paths_of(task_of(campaign)))},
        **{f"string-{i}": path for i, path in enumerate(interface_paths())},
    }
    changes = {path: sent[field].strip() for field, path in fields.items() if field in sent}
    return merged(campaign.guidance, changes)
