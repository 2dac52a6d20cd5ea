"""Pages of admins: who rates in a campaign, how far they can be trusted, and what to do about it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from analysis.downloads import picture_file

from ..access import for_campaign_admins
from ..exceptions import DecisionRefused
from ..models import Campaign, Evidence, Participation
from ..workers.deciding import Choice, Preview, decide_as_seen, preview_decision
from ..workers.forms import ChoiceForm, DecisionForm, WorkersForm
from ..workers.reading import (
    DEFAULT_SORT,
    SORTS,
    assignments_of,
    decisions_about,
    flags_in_words,
    participation_of,
    participations_of,
    worker_rows,
    workers_page,
)
from ..workers.wording import pairs_in_words, repeats_in_words, window_in_words

if TYPE_CHECKING:
    from analysis.plots.rendering import Picture

# Lines of a worker's history that a page shows; a worker with more has them in the exports.
MAX_LINES = 200


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the table of workers; `sort` is what its heading links to."""

    label: str
    sort: str
    aria_sort: str
    is_number: bool


# Columns of numbers, and those that people want falling first.
_NUMBERS = {"hits", "pairs", "p", "difference", "repeats", "time"}
_FALLING_FIRST = {"hits", "pairs", "repeats", "flags", "active"}


@require_GET
@for_campaign_admins
def campaign_workers(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """The table of workers, narrowed down and sorted by its address."""
    form = WorkersForm({"sort": DEFAULT_SORT} | request.GET.dict())
    filters = form.filters
    found = workers_page(campaign, filters, request.GET.get("page"))
    context = {
        "campaign": campaign,
        "form": form,
        "found": found,
        "page": found.page,
        "columns": _columns(filters.sort),
        "choices": Choice.choices,
        "is_narrowed": any([filters.search, filters.state, filters.flag, filters.decision]),
    }
    return render(request, "hits/campaign_workers.html", context)


def _columns(sort: str) -> list[Column]:
    """Say for each heading where it leads: a second click turns the order round."""
    columns = []
    direction = "descending" if sort.startswith("-") else "ascending"
    for name, label in SORTS.items():
        is_current = sort.removeprefix("-") == name
        ways = [name, f"-{name}"]
        first, second = reversed(ways) if name in _FALLING_FIRST else ways
        leads_to = second if sort == first else first
        columns.append(Column(label, leads_to, direction if is_current else "", name in _NUMBERS))
    return columns


@require_GET
@for_campaign_admins
def campaign_worker(request: HttpRequest, campaign: Campaign, worker: UUID) -> HttpResponse:
    """Everything that is known of one worker in the campaign."""
    participation = participation_of(campaign, worker)
    row = worker_rows(campaign, [participation])[0]
    evidence = row.evidence
    context = {
        "campaign": campaign,
        "row": row,
        "participation": participation,
        "evidence": evidence,
        "sentences": _sentences(evidence) if evidence else [],
        "flags": flags_in_words(evidence) if evidence else [],
        "pictures": _pictures(participation) if evidence else [],
        "assignments": assignments_of(participation)[:MAX_LINES],
        "history": participation.evidence.select_related("assignment__hit").order_by("-pk")[
            :MAX_LINES
        ],
        "entries": decisions_about(participation)[:MAX_LINES],
        "choices": Choice.choices,
    }
    return render(request, "hits/campaign_worker.html", context)


def _sentences(evidence: Evidence) -> list[str]:
    sentences = [pairs_in_words(evidence), window_in_words(evidence), repeats_in_words(evidence)]
    return [sentence for sentence in sentences if sentence]


@require_GET
@for_campaign_admins
def worker_picture(
    request: HttpRequest, campaign: Campaign, worker: UUID, name: str, format: str
) -> HttpResponse:
    """One picture of a worker as SVG, PNG or PDF, or its numbers as CSV."""
    participation = participation_of(campaign, worker)
    picture = next((one for one in _pictures(participation) if one.name == name), None)
    if picture is None:
        raise Http404("No such picture.")
    return picture_file(picture, format)


def _pictures(participation: Participation) -> "list[Picture]":
    # Not above, as it brings Matplotlib along: most processes of the web server never draw.
    from ..workers.pictures import pictures_of

    return pictures_of(participation)


@require_http_methods(["GET", "POST"])
@for_campaign_admins
def decide_workers(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Show what a decision would do, and do it once it is confirmed with a reason."""
    asked = ChoiceForm(request.GET)
    if not asked.is_valid():
        for error in asked.errors.get("worker", ["Choose what to decide."]):
            messages.warning(request, str(error))
        return redirect("campaign_workers", campaign.code)
    participations = participations_of(campaign, asked.cleaned_data["worker"])
    if not participations:
        raise Http404("No such worker.")
    choice = Choice(asked.cleaned_data["choice"])
    preview = preview_decision(campaign=campaign, participations=participations, choice=choice)
    form = DecisionForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            return _confirm(request, campaign, preview, form.cleaned_data)
        except DecisionRefused as refusal:
            form.add_error(None, str(refusal))
    context = {
        "campaign": campaign,
        "preview": preview,
        "form": form,
        "n_workers": len(participations),
    }
    return render(request, "hits/decide_workers.html", context)


def _confirm(
    request: HttpRequest, campaign: Campaign, preview: Preview, given: dict[str, str]
) -> HttpResponse:
    """Decide; `given` are the reason and what the person saw."""
    assert isinstance(request.user, User)
    participations = [change.participation for change in preview.changes]
    decided = decide_as_seen(campaign=campaign, preview=preview, actor=request.user, **given)
    label = preview.choice.label.lower()
    messages.success(request, f"Decided about {_workers(decided.n_decided)}: {label}.")
    if decided.n_changed:
        messages.warning(
            request,
            f"{_workers(decided.n_changed)} changed at the same moment and were left alone. "
            "Look at them again.",
        )
    if len(participations) == 1:
        return redirect("campaign_worker", campaign.code, participations[0].worker.code)
    return redirect("campaign_workers", campaign.code)


def _workers(n: int) -> str:
    return "1 worker" if n == 1 else f"{n} workers"
