"""API: a campaign's own texts for workers, and what workers reported about the texts they rate."""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpRequest
from ninja import Field, Router, Schema
from ninja.pagination import paginate

from ..campaigns.worker_texts import progress_of, set_texts, texts_file
from ..models import Campaign, TextReport
from ..people.access import user_of
from .auth import Needs, Scope, own_campaign
from .field_types import Input

router = Router(tags=["Campaigns"])


class WorkerTextsIn(Input):
    """Texts in the format of a language's file; an empty object removes the campaign's own."""

    texts: dict[str, Any]


class WorkerTextsOut(Schema):
    """The texts, with empty strings for what is missing. Workers read them once nothing of `missing` is left."""

    texts: dict[str, Any]
    is_shown: bool
    missing: list[str]
    n_missing_in_interface: int


def _texts_of(campaign: Campaign) -> dict[str, Any]:
    progress = progress_of(campaign)
    return {
        "texts": texts_file(campaign),
        "is_shown": not progress.missing,
        "missing": progress.missing,
        "n_missing_in_interface": progress.n_missing_in_interface,
    }


@router.get("/{uuid:code}/worker-texts", response=WorkerTextsOut, auth=Needs(Scope.RUN))
def get_worker_texts(request: HttpRequest, code: UUID) -> dict[str, Any]:
    """Get the campaign's own statement, examples, practice, question and buttons."""
    return _texts_of(own_campaign(request, code))


@router.put("/{uuid:code}/worker-texts", response=WorkerTextsOut, auth=Needs(Scope.RUN))
def set_worker_texts(request: HttpRequest, code: UUID, payload: WorkerTextsIn) -> dict[str, Any]:
    """Replace the campaign's own texts. Texts that are left out are missing, not kept."""
    campaign = own_campaign(request, code)
    set_texts(campaign=campaign, actor=user_of(request), texts=payload.texts)
    return _texts_of(campaign)


class TextReportOut(Schema):
    """One worker's report about one item; `n_reports` counts the reports of its translation."""

    worker: UUID = Field(alias="assignment.worker.code")
    hit: int = Field(alias="item.hit.number")
    item: int = Field(alias="item.position")
    segment: str = Field(alias="item.translation.segment.name")
    text: str = Field(alias="item.text")
    reason: str
    n_reports: int
    reported_at: datetime


@router.get("/{uuid:code}/text-reports", response=list[TextReportOut], auth=Needs(Scope.RUN))
@paginate
def list_text_reports(request: HttpRequest, code: UUID) -> QuerySet[TextReport]:
    """List the texts that workers reported, those reported most often first."""
    return TextReport.objects.of(own_campaign(request, code))
