"""A campaign's workers, for its admins: the table, a worker's page, and decisions."""

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods

from analysis.stats.thresholds import RELIABLE_P
from da_platform.plots.responses import picture_file

from ..exceptions import DecisionRefused
from ..models import Campaign, Participation, Rank
from ..people.access import for_campaign_admins, user_of
from ..questionnaires.counting import answers_of
from ..task_kinds import kind_of
from ..workers.deciding import (
    BATCH,
    Choice,
    Preview,
    decide_as_seen,
    preview_decision,
    undecided,
)
from ..workers.forms import ChoiceForm, DecisionForm, WorkersForm
from ..workers.groups import groups_of
from ..workers.held_hits import n_waiting
from ..workers.reading import (
    DEFAULT_SORT,
    FLAG_LABELS,
    SORTS,
    WITHOUT_COLUMN,
    assignments_of,
    decisions_about,
    flags_in_words,
    found_workers,
    participation_of,
    participations_of,
    worker_rows,
    workers_page,
)
from ..workers.sides import OTHER_FLAGS, rule_in_words, sides_of, trusted_signs
from ..workers.signals import advice_about

if TYPE_CHECKING:
    from da_platform.plots.rendering import Picture

# Rows of a worker's history on their page; the exports have them all.
MAX_ROWS = 200
GROUPS_PER_PAGE = 50


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the table; `sort` is the order that its heading links to."""

    label: str
    sort: str
    aria_sort: str
    is_number: bool


_NUMBERS = {"hits", "pairs", "p", "difference", "repeats", "agreement", "time"}
_DESCENDING_FIRST = {"hits", "pairs", "repeats", "flags", "active"}


@require_GET
@for_campaign_admins
def campaign_workers(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    form = WorkersForm({"sort": DEFAULT_SORT} | request.GET.dict())
    filters = form.filters
    table = workers_page(campaign, filters, request.GET.get("page"))
    context = {
        "campaign": campaign,
        "form": form,
        "found": table,
        "page": table.page,
        "columns": _columns(filters.sort),
        "choices": Choice.choices,
        "reliable_p": RELIABLE_P,
        "flag_labels": FLAG_LABELS,
        "n_held": n_waiting(campaign),
        "is_narrowed": any([filters.search, filters.state, filters.flag, filters.decision]),
    }
    return render(request, "hits/campaign_workers.html", context)


def _columns(sort: str) -> list[Column]:
    """Describe the headings; clicking the current one reverses the order."""
    columns = []
    direction = "descending" if sort.startswith("-") else "ascending"
    for name, label in SORTS.items():
        if name in WITHOUT_COLUMN:
            continue
        is_current = sort.removeprefix("-") == name
        orders = [name, f"-{name}"]
        first, second = reversed(orders) if name in _DESCENDING_FIRST else orders
        next_sort = second if sort == first else first
        columns.append(Column(label, next_sort, direction if is_current else "", name in _NUMBERS))
    return columns


@require_GET
@for_campaign_admins
def campaign_worker(request: HttpRequest, campaign: Campaign, worker: UUID) -> HttpResponse:
    participation = participation_of(campaign, worker)
    row = worker_rows(campaign, [participation])[0]
    evidence = row.evidence
    kind = kind_of(campaign)
    signs = trusted_signs(campaign) if evidence else None
    flags = flags_in_words(evidence, signs) if evidence else []
    context = {
        "campaign": campaign,
        "kind": kind,
        "row": row,
        "participation": participation,
        "evidence": evidence,
        "rule": rule_in_words(campaign.trust_rule, kind),
        "sides": sides_of(evidence, campaign.trust_rule, signs) if evidence else [],
        # The others are sides of the evidence.
        "flags": [
            flag
            for flag in flags
            if flag.name in OTHER_FLAGS
            # Ranks have no mean.
            and (flag.name != "scrs" or kind.answers is not Rank)
        ],
        "pictures": _pictures(participation) if evidence else [],
        "assignments": assignments_of(participation)[:MAX_ROWS],
        "history": participation.evidence.select_related("assignment__hit").order_by("-pk")[
            :MAX_ROWS
        ],
        "entries": decisions_about(participation)[:MAX_ROWS],
        "choices": Choice.choices,
        "advice": advice_about(participation),
        "answers": answers_of(participation),
    }
    return render(request, "hits/campaign_worker.html", context)


@require_GET
@for_campaign_admins
def worker_groups(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Show workers who seem to move together, and what they share."""
    found = groups_of(campaign)
    context = {
        "campaign": campaign,
        "rates": found.rates,
        "page": Paginator(found.groups, GROUPS_PER_PAGE).get_page(request.GET.get("page")),
    }
    return render(request, "hits/worker_groups.html", context)


@require_GET
@for_campaign_admins
def worker_picture(
    request: HttpRequest, campaign: Campaign, worker: UUID, name: str, format: str
) -> HttpResponse:
    """A plot of the worker as SVG, PNG or PDF, or its data as CSV."""
    participation = participation_of(campaign, worker)
    for picture in _pictures(participation, only=name):
        if picture.name == name:
            return picture_file(picture, format, use=request.GET.get("for", ""))
    raise Http404("No such picture.")


def _pictures(participation: Participation, *, only: str = "") -> "list[Picture]":
    # Imported here because it loads Matplotlib, which most requests do not need.
    from ..workers.pictures import pictures_of

    return pictures_of(participation, only=only)


@require_http_methods(["GET", "POST"])
@for_campaign_admins
def decide_workers(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Preview a decision, and apply it once it is confirmed with a reason."""
    choice_form = ChoiceForm(request.GET)
    if not choice_form.is_valid():
        for error in choice_form.errors.get("worker", ["Choose a decision."]):
            messages.warning(request, str(error))
        return redirect("campaign_workers", campaign.code)
    choice = Choice(choice_form.cleaned_data["choice"])
    participations, n_later = _chosen(request, campaign, choice, choice_form)
    if not participations and choice_form.cleaned_data["all"]:
        messages.info(request, "This has already been decided for all of these workers.")
        return redirect("campaign_workers", campaign.code)
    if not participations:
        raise Http404("No such worker.")
    preview = preview_decision(campaign=campaign, participations=participations, choice=choice)
    form = DecisionForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            _apply(request, campaign, preview, form.cleaned_data)
            return _after_decision(request, campaign, participations, n_later)
        except DecisionRefused as refusal:
            form.add_error(None, str(refusal))
    context = {
        "campaign": campaign,
        "preview": preview,
        "form": form,
        "n_workers": len(participations),
        "n_later": n_later,
    }
    return render(request, "hits/decide_workers.html", context)


def _chosen(
    request: HttpRequest, campaign: Campaign, choice: Choice, form: ChoiceForm
) -> tuple[list[Participation], int]:
    """The workers to decide about now, and the number of those who are left for later."""
    if not form.cleaned_data["all"]:
        return participations_of(campaign, form.cleaned_data["worker"]), 0
    matching = undecided(found_workers(campaign, WorkersForm(request.GET).filters), choice)
    return list(matching[:BATCH]), max(0, matching.count() - BATCH)


def _after_decision(
    request: HttpRequest, campaign: Campaign, participations: list[Participation], n_later: int
) -> HttpResponse:
    """The next batch, the worker, or the table with its filters."""
    if n_later:
        return redirect(request.get_full_path())
    if "all" in request.GET:
        given = request.GET.dict()
        filters = {name: given[name] for name in WorkersForm.base_fields if given.get(name)}
        table = reverse("campaign_workers", args=[campaign.code])
        return redirect(f"{table}?{urlencode(filters)}")
    if len(participations) == 1:
        return redirect("campaign_worker", campaign.code, participations[0].worker.code)
    return redirect("campaign_workers", campaign.code)


def _apply(
    request: HttpRequest, campaign: Campaign, preview: Preview, confirmation: dict[str, str]
) -> None:
    """Apply the decision; `confirmation` has the reason and the fingerprint of the preview seen."""
    actor = user_of(request)
    decided = decide_as_seen(campaign=campaign, preview=preview, actor=actor, **confirmation)
    label = preview.choice.label.lower()
    messages.success(request, f"Decision applied to {_workers(decided.n_decided)}: {label}.")
    if decided.n_changed:
        messages.warning(
            request,
            f"Not applied to {_workers(decided.n_changed)} changed by someone else at the same time. "
            "Please check again.",
        )


def _workers(n: int) -> str:
    return "1 worker" if n == 1 else f"{n} workers"
