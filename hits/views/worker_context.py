"""Template context of the worker's pages, shared with the admin's preview of them."""

import random
from typing import Any

from django.conf import settings
from django.http import Http404, QueryDict
from django.utils import timezone
from django.utils.html import format_html
from django.utils.translation import gettext

from ..guidance_files import wording_language
from ..languages import direction, name_of
from ..models import Assignment, Campaign, TextReport
from ..questionnaires.answering import questionnaire_of
from ..questionnaires.forms import QuestionsForm
from ..rating import desk
from ..rating.interface import page_language_of, speaking
from ..rating.own_texts import has_own_texts
from ..rating.practice import SECTIONS, Practice, practice_for, practice_from, statement_for
from ..task_kinds import kind_of


def language_context(name: str, code: str) -> dict[str, str]:
    return {f"{name}_language": code, f"{name}_direction": direction(code)}


def practice_of(campaign: Campaign) -> Practice:
    """The campaign's own examples, practice and question, or those we have in its language."""
    target, source = campaign.target_language, campaign.source_language
    task = kind_of(campaign).practice_task(campaign)
    shows = campaign.effective_shows
    if has_own_texts(campaign.guidance, task):
        section = campaign.guidance[SECTIONS[task]]
        statement, _ = statement_of(campaign)
        return practice_from(section, target, task, statement, source, shows)
    return practice_for(target, task, source_language_code=source, shows=shows)


def statement_of(campaign: Campaign) -> tuple[str, str]:
    """The statement that workers agree or disagree with, and its language."""
    target, task = campaign.target_language, kind_of(campaign).practice_task(campaign)
    if has_own_texts(campaign.guidance, task):
        return campaign.guidance.get("statements", {}).get(task, ""), target
    return statement_for(target, task), wording_language(target)


def practice_context(campaign: Campaign, step: int, posted: QueryDict | None) -> dict[str, Any]:
    """A practice item, with feedback if a score was posted."""
    practice = practice_of(campaign)
    if not 1 <= step <= len(practice.items):
        raise Http404
    item = practice.items[step - 1]
    kind = kind_of(campaign)
    judged = None if posted is None else kind.judge_practice(campaign, item, posted)
    return {
        **kind.screen_context(campaign),
        **kind.practice_context(item, judged),
        "practice": practice,
        "item": item,
        "step": step,
        "n_steps": len(practice.items),
        "is_last": step == len(practice.items),
        "verdict": judged.verdict if judged else None,
        "feedback": judged.feedback if judged else None,
        "given": judged.given if judged else None,
        "is_unset": posted is not None and judged is None,
        "statement": practice.statement,
        **language_context("statement", practice.language),
        **language_context("text", practice.language),
        **language_context("above", item.gray_language or practice.language),
    }


def check_context(campaign: Campaign, *, order: int) -> dict[str, Any]:
    """The question about the task; `order` seeds the order of its answers."""
    practice = practice_of(campaign)
    check = practice.check
    options = list(check.options)
    random.Random(order).shuffle(options)
    return {
        "check": check,
        "options": options,
        **language_context("text", practice.language),
    }


def is_right_answer(campaign: Campaign, query: QueryDict) -> bool | None:
    """Return whether the question was answered correctly; None if it was not answered."""
    check, answer = practice_of(campaign).check, query.get("answer")
    return answer == check.right if answer in check.options else None


def workload(campaign: Campaign) -> dict[str, Any]:
    """The number of screens of a HIT, also in words, and the minutes they take."""
    first_hit = campaign.hits.order_by("number").first()
    kind = kind_of(campaign)
    size = kind.n_screens(first_hit) if first_hit else campaign.hit_size
    seconds = kind.seconds_per_screen
    return {
        "size": size,
        "size_in_words": kind.size_in_words(campaign, size),
        "minutes": desk.minutes_needed(size, seconds_per_screen=seconds),
    }


def languages_needed(campaign: Campaign) -> list[str]:
    """The names, in the language of the page, of the languages that a worker must read."""
    codes = dict.fromkeys([desk.language_above(campaign), campaign.target_language])
    if campaign.effective_shows == Campaign.Shows.BOTH:
        codes = dict.fromkeys([campaign.source_language, *codes])
    return [name_of(code, page_language_of(campaign)) for code in codes]


def native_language_of(campaign: Campaign) -> str:
    """The name of the language that a worker must have grown up with; empty if it does not matter."""
    if campaign.checks_id is None:
        return ""
    return name_of(campaign.target_language, page_language_of(campaign))


def organiser_of(campaign: Campaign) -> dict[str, str]:
    """Who runs the campaign, and where workers can write to."""
    return {
        "name": campaign.run_by or settings.ORGANISER,
        "contact": campaign.contact or settings.PRIVACY_CONTACT,
    }


def facts_context(campaign: Campaign) -> dict[str, Any]:
    """What a worker should know before taking part, also on a page that only shows the task."""
    return workload(campaign) | {
        "languages": languages_needed(campaign),
        "organiser": organiser_of(campaign),
    }


def landing_context(campaign: Campaign) -> dict[str, Any]:
    return facts_context(campaign) | {"native_language": native_language_of(campaign)}


def privacy_context(campaign: Campaign) -> dict[str, Any]:
    return {
        "days": settings.FORGET_WORKERS_AFTER_DAYS,
        "contact": organiser_of(campaign)["contact"],
    }


def questions_context(campaign: Campaign, moment: str) -> dict[str, Any]:
    """The blank form of a questionnaire, in the language of the page; None if nothing is asked then."""
    questionnaire = questionnaire_of(campaign)
    if not questionnaire.at(moment):
        return {"questions": None}
    with speaking(campaign):
        return {"questions": QuestionsForm(questionnaire, moment)}


def time_left(assignment: Assignment) -> dict[str, Any]:
    """The time until the assignment's place is offered again, for the page and in words."""
    seconds = max(0, int((assignment.expires_at - timezone.now()).total_seconds()))
    hours, minutes = divmod(seconds // 60, 60)
    pattern = gettext("Time is up, but you can still finish")
    if hours:
        pattern = gettext("{hours} h {minutes} min left")
    elif minutes:
        pattern = gettext("{minutes} min left")
    return {"seconds": seconds, "text": pattern.format(hours=hours, minutes=minutes)}


def has_gray(campaign: Campaign) -> bool:
    """Whether workers see a text or more in gray next to the translations."""
    return campaign.effective_shows != Campaign.Shows.NOTHING


def text_problems(campaign: Campaign) -> list[tuple[str, Any]]:
    """What a worker can report about a text; without a gray text, nothing about that."""
    return [
        choice
        for choice in TextReport.Reason.choices
        if has_gray(campaign) or choice[0] != TextReport.Reason.GRAY
    ]


def pay_of(campaign: Campaign) -> str:
    # Isolated, so that it reads the same within right-to-left text.
    return format_html("<bdi>{} {}</bdi>", campaign.pay_per_hit, campaign.currency)


def campaign_context(campaign: Campaign) -> dict[str, Any]:
    """The campaign with the words of its kind of task, and the language and direction of each part of its pages."""
    statement, statement_language = statement_of(campaign)
    kind = kind_of(campaign)
    return {
        "campaign": campaign,
        "kind": kind,
        "words": kind.words(campaign),
        "has_gray": has_gray(campaign),
        "statement": statement,
        **language_context("statement", statement_language),
        **language_context("page", page_language_of(campaign)),
        **language_context("text", campaign.target_language),
        **language_context("above", desk.language_above(campaign)),
    }
