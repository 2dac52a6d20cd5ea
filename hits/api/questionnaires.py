"""API: a campaign's questions about its workers, and what they answered."""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpRequest
from ninja import Field, Router, Schema
from ninja.pagination import paginate

from ..campaigns.questionnaires import set_questionnaire
from ..models import Campaign, QuestionnaireReply
from ..people.access import user_of
from ..questionnaires.answering import questionnaire_of
from ..questionnaires.counting import count_answers
from .auth import Needs, Scope, own_campaign
from .field_types import Input

router = Router(tags=["Campaigns"])


class QuestionnaireIn(Input):
    """Questions in the format of the file; an empty object removes them."""

    questionnaire: dict[str, Any]


class QuestionCounts(Schema):
    """How often each answer was given; of numbers and texts, a summary."""

    key: str
    question: str
    n: int
    counts: list[tuple[str, int]]
    summary: str


class QuestionnaireOut(Schema):
    questionnaire: dict[str, Any]
    n_replies: int
    n_screened_out: int
    counts: list[QuestionCounts]


def _questionnaire_of(campaign: Campaign) -> dict[str, Any]:
    counts = count_answers(campaign)
    return {
        "questionnaire": questionnaire_of(campaign).as_json(),
        "n_replies": counts.n_replies,
        "n_screened_out": counts.n_screened_out,
        "counts": counts.questions,
    }


@router.get("/{uuid:code}/questionnaire", response=QuestionnaireOut, auth=Needs(Scope.RUN))
def get_questionnaire(request: HttpRequest, code: UUID) -> dict[str, Any]:
    """Get the campaign's questions about its workers, and how often each answer was given."""
    return _questionnaire_of(own_campaign(request, code))


@router.put("/{uuid:code}/questionnaire", response=QuestionnaireOut, auth=Needs(Scope.RUN))
def save_questionnaire(
    request: HttpRequest, code: UUID, payload: QuestionnaireIn
) -> dict[str, Any]:
    """Replace the questions. A question that workers have answered can be removed, but not changed."""
    campaign = own_campaign(request, code)
    set_questionnaire(campaign=campaign, actor=user_of(request), given=payload.questionnaire)
    return _questionnaire_of(campaign)


class ReplyOut(Schema):
    """One worker's answers before or after the task, by the keys of the questions."""

    worker: UUID = Field(alias="participation.worker.code")
    moment: str
    answers: dict[str, Any]
    screened_out_at: datetime | None = Field(alias="participation.screened_out_at")
    answered_at: datetime


@router.get("/{uuid:code}/questionnaire/replies", response=list[ReplyOut], auth=Needs(Scope.RUN))
@paginate
def list_replies(request: HttpRequest, code: UUID) -> QuerySet[QuestionnaireReply]:
    """List the answers of workers, in the order in which they were given."""
    replies = QuestionnaireReply.objects.filter(participation__campaign=own_campaign(request, code))
    return replies.select_related("participation__worker").order_by("pk")
