"""Answering a questionnaire: stored once, and the answers may screen the worker out."""

from typing import Any

from django.db import transaction
from django.utils import timezone

from ..models import Campaign, Participation, QuestionnaireReply
from .questions import BEFORE, Questionnaire, questionnaire_from


def questionnaire_of(campaign: Campaign) -> Questionnaire:
    return questionnaire_from(campaign.questionnaire, target_language=campaign.target_language)


def is_due(participation: Participation, moment: str) -> bool:
    """Whether the worker still has to see the questions of this moment."""
    if not questionnaire_of(participation.campaign).at(moment):
        return False
    return not participation.replies.filter(moment=moment).exists()


@transaction.atomic
def store_reply(
    *, participation: Participation, moment: str, answers: dict[str, Any]
) -> Participation:
    """Store the worker's answers, unless there are some already, and screen out workers who do not qualify.

    Only the first answers count: workers who are screened out cannot try others.
    """
    reply, is_new = QuestionnaireReply.objects.get_or_create(
        participation=participation, moment=moment, defaults={"answers": answers}
    )
    questions = questionnaire_of(participation.campaign).at(moment)
    fits = all(question.accepts(reply.answers.get(question.key)) for question in questions)
    if is_new and moment == BEFORE and not fits:
        unscreened = Participation.objects.filter(pk=participation.pk, screened_out_at=None)
        unscreened.update(screened_out_at=timezone.now())
    participation.refresh_from_db(fields=["screened_out_at"])
    return participation
