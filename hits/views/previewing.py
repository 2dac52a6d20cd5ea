"""The very pages that workers will see, for an admin to look at. Nothing is stored, and no role is shown."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import translation
from django.views.decorators.http import require_GET

from .. import desk
from ..access import for_campaign_admins
from ..models import Assignment, Campaign
from .working import SCORES, look, practice_of


@require_GET
@for_campaign_admins
def start(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Go to the beginning, or to the HIT and item that a form asks for."""
    number, position = request.GET.get("hit", ""), request.GET.get("item", "1")
    if number.isdecimal() and position.isdecimal():
        return redirect("preview_item", campaign.code, int(number), int(position))
    return redirect("preview_landing", campaign.code)


@require_GET
@for_campaign_admins
def landing(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    first = campaign.hits.order_by("number").first()
    size = first.size if first else campaign.hit_size
    context = {"size": size, "minutes": desk.minutes_needed(size)}
    return _show(request, campaign, "landing", then=_address(campaign, "instructions"), **context)


@require_GET
@for_campaign_admins
def instructions(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    then = reverse("preview_item", args=[campaign.code, 1, 1])
    practice = practice_of(campaign)
    return _show(request, campaign, "instructions", then=then, practice=practice)


@require_GET
@for_campaign_admins
def item(request: HttpRequest, campaign: Campaign, number: int, position: int) -> HttpResponse:
    """Show any item of any HIT, through the same door as to workers."""
    hit = get_object_or_404(campaign.hits, number=number)
    # Never stored: an assignment is how the desk knows whose HIT it is.
    items = desk.shown_items(Assignment(hit=hit), first=position, last=position)
    if not items:
        raise Http404
    is_last = position >= hit.size
    then = (number, position + 1) if not is_last else (number + 1, 1)
    exists = not is_last or campaign.hits.filter(number=number + 1).exists()
    after = reverse("preview_item", args=[campaign.code, *then]) if exists else ""
    return _show(
        request,
        campaign,
        "rate",
        then=after or _address(campaign, "landing"),
        place=desk.Place(n_rated=position - 1, size=hit.size),
        item=items[0],
        items=[],
        scores=SCORES,
        hit=hit,
    )


def _address(campaign: Campaign, page: str) -> str:
    return reverse(f"preview_{page}", args=[campaign.code])


def _show(
    request: HttpRequest, campaign: Campaign, page: str, *, then: str, **context: Any
) -> HttpResponse:
    n_hits = campaign.hits.count()
    with translation.override(campaign.page_language):
        shown = look(campaign) | context | {"preview": {"then": then, "n_hits": n_hits}}
        return render(request, f"hits/{page}.html", shown)
