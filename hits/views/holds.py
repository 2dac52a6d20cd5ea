"""HITs on hold for impossible times: the list, and decisions about them."""

from functools import partial
from typing import TYPE_CHECKING
from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from analysis.stats.timing import BURST
from da_platform.plots.responses import drawn_file

from ..exceptions import DecisionRefused
from ..models import Assignment, Campaign
from ..people.access import for_campaign_admins, user_of
from ..task_kinds import kind_of
from ..workers import held_hits as holding
from ..workers.forms import DecisionForm, HoldForm
from ..workers.held_hits import HoldChoice, HoldPreview

if TYPE_CHECKING:
    from da_platform.plots.rendering import Picture

HITS_PER_PAGE = 50


@require_GET
@for_campaign_admins
def held_hits(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    page = Paginator(holding.held_hits(campaign), HITS_PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "campaign": campaign,
        "page": page,
        "rows": holding.with_times(list(page)),
        "choices": HoldChoice.choices,
        "burst": BURST,
        "hold_hours": holding.HOLD_HOURS,
        "kind": kind_of(campaign),
    }
    return render(request, "hits/held_hits.html", context)


@require_GET
@for_campaign_admins
def held_picture(
    request: HttpRequest, campaign: Campaign, assignment: UUID, format: str
) -> HttpResponse:
    """The seconds between the ratings of a held HIT, as SVG, PNG or PDF, or as CSV."""
    held = get_object_or_404(holding.held_hits(campaign), code=assignment)
    # The ratings of a submitted HIT never change.
    return drawn_file(
        "seconds-per-item",
        format,
        partial(_picture, held),
        key=f"held-{assignment.hex}",
        use=request.GET.get("for", ""),
    )


def _picture(held: Assignment) -> "Picture":
    # Imported here because it loads Matplotlib, which most requests do not need.
    from ..workers.pictures import picture_of_hit

    return picture_of_hit(held)


@require_http_methods(["GET", "POST"])
@for_campaign_admins
def decide_holds(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Preview a decision about held HITs, and apply it once it is confirmed with a reason."""
    choice_form = HoldForm(request.GET)
    if not choice_form.is_valid():
        for error in choice_form.errors.get("hit", ["Choose a decision."]):
            messages.warning(request, str(error))
        return redirect("held_hits", campaign.code)
    hits = holding.held_hits_with(campaign, choice_form.cleaned_data["hit"])
    if not hits:
        raise Http404("No such HIT.")
    choice = HoldChoice(choice_form.cleaned_data["choice"])
    preview = holding.preview_hold(campaign=campaign, hits=hits, choice=choice)
    form = DecisionForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            return _confirm(request, campaign, preview, form.cleaned_data)
        except DecisionRefused as refusal:
            form.add_error(None, str(refusal))
    context = {"campaign": campaign, "preview": preview, "form": form, "n_hits": len(hits)}
    return render(request, "hits/decide_holds.html", context)


def _confirm(
    request: HttpRequest, campaign: Campaign, preview: HoldPreview, confirmation: dict[str, str]
) -> HttpResponse:
    """Apply the decision; `confirmation` has the reason and the fingerprint of the preview seen."""
    decided = holding.decide_holds_as_seen(preview=preview, actor=user_of(request), **confirmation)
    messages.success(
        request, f"Decision applied to {_hits(decided.n_decided)}: {preview.choice.label.lower()}."
    )
    if decided.n_changed:
        messages.warning(
            request,
            f"Not applied to {_hits(decided.n_changed)} that someone else decided about at the same time.",
        )
    return redirect("held_hits", campaign.code)


def _hits(n: int) -> str:
    return "1 HIT" if n == 1 else f"{n} HITs"
