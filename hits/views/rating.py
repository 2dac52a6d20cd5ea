"""A HIT in a worker's hand: rate it item by item, hand it in, and get the code."""

import logging
from functools import wraps
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils import timezone, translation
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_http_methods

from da_platform.counting import RATINGS

from .. import desk
from ..access import View, for_workers
from ..exceptions import NotFinished, RatingRefused
from ..forms import CommentForm, RatingForm, read_rating
from ..guards import exit_origins
from ..models import Assignment, Campaign, Worker
from ..payments.runs import rejection_of
from ..providers.base import Ending
from ..recruiting.arrivals import exit_of, provider_of, recruitment_of
from ..recruiting.framing import framed_exit
from ..services import save_rating, submit_assignment
from ..visitors import is_believed, worker_code
from .arriving import SeeOther
from .looks import SCORES, language_as, look

logger = logging.getLogger(__name__)

# A browser's stopwatch may run a little ahead of the server's clock; not more.
CLOCK_SLACK_MS = 60_000


def assignment_page(view: View) -> View:
    """Fetch the worker's own assignment and speak its campaign's language."""

    @for_workers
    @wraps(view)
    def inner(request: HttpRequest, code: UUID, *args: Any, **kwargs: Any) -> HttpResponse:
        assignment = _own_assignment(request, code)
        if assignment is None:
            return _refuse_visitor(request, code)
        with translation.override(assignment.hit.campaign.page_language):
            return view(request, assignment, *args, **kwargs)

    return inner


def _own_assignment(request: HttpRequest, code: UUID) -> Assignment | None:
    own = Assignment.objects.filter(code=code, worker__code=worker_code(request))
    assignment = own.select_related("hit__campaign__recruitment", "worker").first()
    if assignment is None:
        return None
    recruitment = recruitment_of(assignment.hit.campaign)
    return assignment if is_believed(request, recruitment, assignment.worker) else None


def _refuse_visitor(request: HttpRequest, code: UUID) -> HttpResponse:
    logger.warning("Refused: assignment %s is not the visitor's.", code)
    # There is no campaign to choose the language: the browser does.
    with translation.override(translation.get_language_from_request(request)):
        return _answer_error(request, gettext("This task is not yours."), status=404)


def _wants_json(request: HttpRequest) -> bool:
    return request.headers.get("Accept") == "application/json"


def _answer_error(request: HttpRequest, message: str, *, status: int) -> HttpResponse:
    if _wants_json(request):
        return JsonResponse({"error": message}, status=status)
    context = {"message": message, **language_as("page", translation.get_language())}
    return render(request, "hits/refused.html", context, status=status)


@require_http_methods(["GET", "POST"])
@for_workers
def rate(request: HttpRequest, code: UUID) -> HttpResponse:
    """Show the next item; take a rating, from a script or from a plain form."""
    if request.method == "POST":
        return _take_rating(request, code)
    return _show_item(request, code)


@assignment_page
def _show_item(
    request: HttpRequest, assignment: Assignment, *, is_unset: bool = False
) -> HttpResponse:
    if assignment.status == Assignment.Status.RETURNED:
        return redirect(assignment.hit.campaign)
    place = desk.place_of(assignment)
    if place.is_finished:
        return redirect("finish", assignment.code)
    last = place.n_rated + desk.n_ahead(place.size)
    items = desk.shown_items(assignment, first=place.position, last=last)
    context = look(assignment.hit.campaign) | {
        "assignment": assignment,
        "place": place,
        "item": items[0],
        "items": items,
        "scores": SCORES,
        "is_unset": is_unset,
    }
    return render(request, "hits/rate.html", context, status=422 if is_unset else 200)


def _take_rating(request: HttpRequest, code: UUID) -> HttpResponse:
    rating, error = read_rating(request.POST), ""
    if rating is None:
        form = RatingForm(request.POST)
        if form.is_valid():
            rating = form.cleaned_data
        else:
            error = _first_error(form)
    position = rating["position"] if rating else 0
    own = desk.own_desk(code, worker_code=worker_code(request), position=position)
    if own is None or (
        own.sent_by and not is_believed(request, own.sent_by, own.assignment.worker)
    ):
        return _refuse_visitor(request, code)
    if rating is None:
        if not _wants_json(request) and "score" not in request.POST:
            return _show_item(request, code, is_unset=True)
        return _refuse_rating(request, own.assignment, error, status=400)
    return _save(request, own, rating)


def _save(request: HttpRequest, own: desk.OwnDesk, rating: dict[str, Any]) -> HttpResponse:
    assignment, position = own.assignment, rating["position"]
    if _is_impossible(assignment, rating["elapsed_ms"]):
        return _refuse_rating(
            request, assignment, "Longer than the HIT has been in hand.", status=400
        )
    try:
        saved = save_rating(
            assignment=assignment,
            position=position,
            item_code=rating["item"],
            score=rating["score"],
            elapsed_ms=rating["elapsed_ms"],
            active_ms=rating["active_ms"],
        )
    except RatingRefused as error:
        return _refuse_rating(request, assignment, str(error), status=409)
    if not _wants_json(request):
        return redirect("rate", assignment.code)
    return JsonResponse(
        {
            "saved": position,
            "score": saved.score,
            "next": _next_position(assignment, position, is_new=saved.is_new),
            "items": own.items_ahead,
        }
    )


def _next_position(assignment: Assignment, position: int, *, is_new: bool) -> int:
    """Where the assignment goes on. After a second rating of an item that may be further ahead."""
    return position + 1 if is_new else desk.place_of(assignment).position


def _is_impossible(assignment: Assignment, elapsed_ms: int | None) -> bool:
    in_hand = timezone.now() - assignment.started_at
    return elapsed_ms is not None and elapsed_ms > in_hand.total_seconds() * 1000 + CLOCK_SLACK_MS


def _refuse_rating(
    request: HttpRequest, assignment: Assignment, message: str, *, status: int
) -> HttpResponse:
    RATINGS.labels("refused").inc()
    logger.warning("Refused a rating of assignment %s: %s", assignment.code, message)
    with translation.override(assignment.hit.campaign.page_language):
        return _answer_error(request, message, status=status)


def _first_error(form: RatingForm) -> str:
    name, messages = next(iter(form.errors.items()))
    return f"{name}: {messages[0]}"


@require_http_methods(["GET", "POST"])
@assignment_page
def finish(request: HttpRequest, assignment: Assignment) -> HttpResponse:
    """Ask for a comment, then freeze the ratings and show the code."""
    if assignment.status == Assignment.Status.SUBMITTED:
        return redirect("done", assignment.code)
    if not desk.place_of(assignment).is_finished:
        return redirect("rate", assignment.code)
    # A form with nothing in it is one too: the comment is optional.
    form = CommentForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        try:
            submit_assignment(assignment=assignment, comment=form.cleaned_data["comment"])
        except NotFinished as error:
            return _answer_error(request, str(error), status=409)
        return redirect("done", assignment.code)
    context = look(assignment.hit.campaign) | {"assignment": assignment, "form": form}
    response = render(request, "hits/finish.html", context)
    # Where the form leads on to the provider by itself, the browser must let it.
    response._csp_update = {"form-action": sorted(exit_origins())}  # type: ignore[attr-defined]
    return response


@require_GET
@assignment_page
def done(request: HttpRequest, assignment: Assignment) -> HttpResponse:
    if assignment.status != Assignment.Status.SUBMITTED:
        return redirect("rate", assignment.code)
    campaign, worker = assignment.hit.campaign, assignment.worker
    found = exit_of(
        campaign=campaign, worker=worker, ending=Ending.COMPLETED, assignment=assignment
    )
    if found.url and found.is_automatic and not assignment.is_rejected:
        return SeeOther(found.url)
    context = look(campaign) | {
        "exit": found,
        "has_more": _has_more(campaign, worker),
        "rejection": rejection_of(assignment),
        "framed_exit": framed_exit(request, assignment),
    }
    return render(request, "hits/done.html", context)


def _has_more(campaign: Campaign, worker: Worker) -> bool:
    """Whether there is another HIT to take up now. A provider's visit is for one."""
    if provider_of(recruitment_of(campaign), worker).has_submissions:
        return False
    return campaign.hits.open().not_taken_by(worker).exists()
