"""The very pages that workers will see, for an admin to look at. Nothing is stored, and no role is shown."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import translation
from django.views.decorators.http import require_GET

from .. import desk
from ..access import for_campaign_admins
from ..forms import CommentForm
from ..models import Assignment, Campaign
from ..providers.base import Exit
from .looks import (
    SCORES,
    check_page,
    is_right_answer,
    look,
    practice_of,
    practice_page,
    privacy_page,
    work_ahead,
)

# Of the number of a HIT or an item, as somebody may type it.
MAX_DIGITS = 9
# Looks like a code and is none.
EXAMPLE_CODE = "EXAMPLE"


@require_GET
@for_campaign_admins
def start(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Go to the beginning, or to the HIT and item that a form asks for."""
    number, position = request.GET.get("hit", ""), request.GET.get("item", "1")
    if all(text.isdecimal() and len(text) <= MAX_DIGITS for text in (number, position)):
        return redirect("preview_item", campaign.code, int(number), int(position))
    return redirect("preview_landing", campaign.code)


@require_GET
@for_campaign_admins
def landing(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    then = _address(campaign, "instructions")
    return _show(request, campaign, "landing", then=then, **work_ahead(campaign))


@require_GET
@for_campaign_admins
def privacy(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    then = _address(campaign, "landing")
    return _show(request, campaign, "privacy", then=then, **privacy_page())


@require_GET
@for_campaign_admins
def instructions(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    then, practice = _address(campaign, "practice", 1), practice_of(campaign)
    return _show(request, campaign, "instructions", then=then, practice=practice)


@require_GET
@for_campaign_admins
def practice(request: HttpRequest, campaign: Campaign, step: int) -> HttpResponse:
    """A practice item; the score to try is in the address."""
    shown = practice_page(campaign, step, request.GET or None)
    is_last = shown["is_last"]
    then = _address(campaign, "check") if is_last else _address(campaign, "practice", step + 1)
    again = _address(campaign, "practice", step)
    return _show(request, campaign, "practice", then=then, again=again, **shown)


@require_GET
@for_campaign_admins
def check(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """The question about the task. Here there are as many tries as one likes."""
    is_right = is_right_answer(campaign, request.GET)
    if is_right:
        return redirect(_first_item(campaign, 1) or _address(campaign, "landing"))
    shown = check_page(campaign, order=campaign.code.int)
    return _show(request, campaign, "check", then="", is_wrong=is_right is False, **shown)


@require_GET
@for_campaign_admins
def item(request: HttpRequest, campaign: Campaign, number: int, position: int) -> HttpResponse:
    """Show any item of any HIT, through the same door as to workers."""
    hit = get_object_or_404(campaign.hits, number=number)
    # Asked first: a number that no database can hold is no position either.
    if not 1 <= position <= hit.size:
        raise Http404
    # Never stored: an assignment is how the desk knows whose HIT it is.
    [shown] = desk.shown_items(Assignment(hit=hit), first=position, last=position)
    is_last = position >= hit.size
    then = (
        _address(campaign, "finish", number)
        if is_last
        else _address(campaign, "item", number, position + 1)
    )
    return _show(
        request,
        campaign,
        "rate",
        then=then,
        place=desk.Place(n_rated=position - 1, size=hit.size),
        item=shown,
        items=[],
        scores=SCORES,
        hit=hit,
    )


@require_GET
@for_campaign_admins
def finish(request: HttpRequest, campaign: Campaign, number: int) -> HttpResponse:
    hit = get_object_or_404(campaign.hits, number=number)
    then = _address(campaign, "done", number)
    return _show(request, campaign, "finish", then=then, hit=hit, form=CommentForm())


@require_GET
@for_campaign_admins
def done(request: HttpRequest, campaign: Campaign, number: int) -> HttpResponse:
    """The last page, with a code that is nobody's; from there on to the next HIT, if there is one."""
    hit = get_object_or_404(campaign.hits, number=number)
    then = _first_item(campaign, number + 1)
    leave = Exit(code=EXAMPLE_CODE)
    return _show(request, campaign, "done", then=then, hit=hit, exit=leave, has_more=bool(then))


def _first_item(campaign: Campaign, number: int) -> str:
    """Where a HIT begins; empty if there is no such HIT."""
    exists = campaign.hits.filter(number=number).exists()
    return _address(campaign, "item", number, 1) if exists else ""


def _address(campaign: Campaign, page: str, *numbers: int) -> str:
    return reverse(f"preview_{page}", args=[campaign.code, *numbers])


def _show(
    request: HttpRequest, campaign: Campaign, page: str, *, then: str, **context: Any
) -> HttpResponse:
    """Show a worker's page whose forms and links lead to `then`."""
    n_hits = campaign.hits.count()
    with translation.override(campaign.page_language):
        preview = {"then": then, "n_hits": n_hits}
        shown = look(campaign) | context | {"preview": preview, "then": then}
        return render(request, f"hits/{page}.html", shown)
