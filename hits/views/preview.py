"""An admin's preview of the worker's pages. Nothing is stored, and item roles stay hidden."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET

from ..hit_sizes import MAX_HIT_SIZE
from ..models import Assignment, Campaign
from ..people.access import for_campaign_admins
from ..questionnaires.answering import questionnaire_of
from ..questionnaires.questions import AFTER, BEFORE
from ..rating.forms import CommentForm
from ..rating.interface import speaking
from ..recruiting.providers.base import Exit
from ..task_kinds import Place, kind_of
from .worker_context import (
    campaign_context,
    check_context,
    is_right_answer,
    landing_context,
    pay_of,
    practice_context,
    practice_of,
    privacy_context,
    questions_context,
    text_problems,
)

# Of a HIT or item number typed by the user.
MAX_DIGITS = 9
EXAMPLE_CODE = "EXAMPLE"


@require_GET
@for_campaign_admins
def start(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Redirect to the landing page, or to the HIT and item given in the query."""
    number, position = request.GET.get("hit", ""), request.GET.get("item", "1")
    if all(text.isdecimal() and len(text) <= MAX_DIGITS for text in (number, position)):
        return redirect("preview_item", campaign.code, int(number), int(position))
    return redirect("preview_landing", campaign.code)


@require_GET
@for_campaign_admins
def landing(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    is_asked = bool(questionnaire_of(campaign).at(BEFORE))
    then = _url(campaign, "questions" if is_asked else "instructions")
    return _show(request, campaign, "hits/landing.html", then=then, **landing_context(campaign))


@require_GET
@for_campaign_admins
def questions(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """The questions before the task. Nobody is screened out."""
    then = _url(campaign, "instructions")
    return _show(
        request, campaign, "hits/questions.html", then=then, **questions_context(campaign, BEFORE)
    )


@require_GET
@for_campaign_admins
def privacy(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    then = _url(campaign, "landing")
    return _show(request, campaign, "hits/privacy.html", then=then, **privacy_context(campaign))


@require_GET
@for_campaign_admins
def instructions(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    then, practice = _url(campaign, "practice", 1), practice_of(campaign)
    return _show(request, campaign, "hits/instructions.html", then=then, practice=practice)


@require_GET
@for_campaign_admins
def practice(request: HttpRequest, campaign: Campaign, step: int) -> HttpResponse:
    """A practice item; the score is in the query."""
    context = practice_context(campaign, step, request.GET or None)
    is_last = context["is_last"]
    then = _url(campaign, "check") if is_last else _url(campaign, "practice", step + 1)
    return _show(request, campaign, kind_of(campaign).practice_template, then=then, **context)


@require_GET
@for_campaign_admins
def check(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """The question about the task, with any number of tries."""
    is_right = is_right_answer(campaign, request.GET)
    if is_right:
        return redirect(_first_item(campaign, 1) or _url(campaign, "landing"))
    context = check_context(campaign, order=campaign.code.int)
    return _show(
        request, campaign, "hits/check.html", then="", is_wrong=is_right is False, **context
    )


@require_GET
@for_campaign_admins
def item(request: HttpRequest, campaign: Campaign, number: int, position: int) -> HttpResponse:
    """Any item of any HIT, loaded by the same code as for workers."""
    hit = get_object_or_404(campaign.hits, number=number)
    kind = kind_of(campaign)
    size = kind.n_screens(hit)
    if not 1 <= position <= size:
        raise Http404
    # An unsaved assignment, since `screens` expects one.
    assignment = Assignment(hit=hit)
    [shown_item] = kind.screens(assignment, first=position, last=position)
    is_last = position >= size
    then = (
        _url(campaign, "finish", number)
        if is_last
        else _url(campaign, "item", number, position + 1)
    )
    return _show(
        request,
        campaign,
        kind.template,
        then=then,
        place=Place(n_done=position - 1, size=size),
        item=shown_item,
        items=[],
        hit=hit,
        text_problems=text_problems(campaign),
        **kind.screen_context(campaign),
        **kind.page_context(assignment, shown_item),
    )


@require_GET
@for_campaign_admins
def finish(request: HttpRequest, campaign: Campaign, number: int) -> HttpResponse:
    hit = get_object_or_404(campaign.hits, number=number)
    then = _url(campaign, "done", number)
    return _show(
        request,
        campaign,
        "hits/finish.html",
        then=then,
        hit=hit,
        form=CommentForm(),
        **questions_context(campaign, AFTER),
    )


@require_GET
@for_campaign_admins
def done(request: HttpRequest, campaign: Campaign, number: int) -> HttpResponse:
    """The last page, with an example code and a link to the next HIT if there is one."""
    hit = get_object_or_404(campaign.hits, number=number)
    then = _first_item(campaign, number + 1)
    way_out = Exit(code=EXAMPLE_CODE)
    return _show(
        request,
        campaign,
        "hits/done.html",
        then=then,
        hit=hit,
        exit=way_out,
        has_more=bool(then),
        pay=pay_of(campaign),
    )


def _first_item(campaign: Campaign, number: int) -> str:
    """Return the URL of a HIT's first item, or an empty string if there is no such HIT."""
    exists = campaign.hits.filter(number=number).exists()
    return _url(campaign, "item", number, 1) if exists else ""


def _url(campaign: Campaign, page: str, *numbers: int) -> str:
    return reverse(f"preview_{page}", args=[campaign.code, *numbers])


def _show(
    request: HttpRequest, campaign: Campaign, template: str, *, then: str, **context: Any
) -> HttpResponse:
    """Render a worker's page whose forms and links lead to `then`."""
    n_hits = campaign.hits.count()
    with speaking(campaign):
        preview = {"then": then, "n_hits": n_hits, "max_hit_size": MAX_HIT_SIZE}
        context |= {"preview": preview, "then": then}
        return render(request, template, campaign_context(campaign) | context)
