"""What the templates of the worker's pages are given: for workers, and for an admin's preview of the same."""

import random
from typing import Any

from django.conf import settings
from django.http import Http404, QueryDict

from .. import desk
from ..forms import ScoreForm
from ..languages import direction
from ..models import SCORE_MAX, SCORE_MIN, Campaign
from ..practice import Practice, practice_for, statement_for, wording_language

# The places of the slider, for browsers without scripts.
SCORES = range(SCORE_MIN, SCORE_MAX + 1)


def language_as(name: str, code: str) -> dict[str, str]:
    return {f"{name}_language": code, f"{name}_direction": direction(code)}


def practice_of(campaign: Campaign) -> Practice:
    return practice_for(
        campaign.target_language, campaign.task, source_language_code=campaign.source_language
    )


def practice_page(campaign: Campaign, step: int, given: QueryDict | None) -> dict[str, Any]:
    """A practice item, and what to say to the score if one was given."""
    tasks = practice_of(campaign)
    if not 1 <= step <= len(tasks.items):
        raise Http404
    item = tasks.items[step - 1]
    form = ScoreForm(given)
    verdict = feedback = None
    if form.is_valid():
        verdict, feedback = item.feedback(form.cleaned_data["score"])
    return {
        "practice": tasks,
        "item": item,
        "step": step,
        "n_steps": len(tasks.items),
        "is_last": step == len(tasks.items),
        "verdict": verdict,
        "feedback": feedback,
        "is_unset": form.is_bound and not verdict,
        "scores": SCORES,
        "statement": tasks.statement,
        **language_as("statement", tasks.language),
        **language_as("text", tasks.language),
        **language_as("above", item.gray_language or tasks.language),
    }


def check_page(campaign: Campaign, *, order: int) -> dict[str, Any]:
    """The question about the task. The same order again for the same number, so that nothing moves."""
    tasks = practice_of(campaign)
    options = list(tasks.check.options)
    # The right answer has no place of its own, and no number: it is known by its words only.
    random.Random(order).shuffle(options)
    return {"check": tasks.check, "options": options, **language_as("text", tasks.language)}


def is_right_answer(campaign: Campaign, given: QueryDict) -> bool | None:
    """Whether the question was answered rightly; None as long as it was not answered."""
    check, answer = practice_of(campaign).check, given.get("answer")
    return answer == check.right if answer in check.options else None


def work_ahead(campaign: Campaign) -> dict[str, int]:
    """How much a worker is asked for: the items of a HIT, and the minutes they take."""
    first_hit = campaign.hits.order_by("number").first()
    size = first_hit.size if first_hit else campaign.hit_size
    return {"size": size, "minutes": desk.minutes_needed(size)}


def privacy_page() -> dict[str, Any]:
    return {"days": settings.FORGET_WORKERS_AFTER_DAYS, "contact": settings.PRIVACY_CONTACT}


def look(campaign: Campaign) -> dict[str, Any]:
    """What every page of a campaign shows in its own language and direction."""
    return {
        "campaign": campaign,
        "statement": statement_for(campaign.target_language, campaign.task),
        **language_as("statement", wording_language(campaign.target_language)),
        **language_as("page", campaign.page_language),
        **language_as("text", campaign.target_language),
        **language_as("above", desk.language_above(campaign)),
    }
