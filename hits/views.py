"""The worker's way through, page by page, and the front door."""

import logging
import random
import secrets
from collections import Counter
from collections.abc import Callable
from functools import wraps
from typing import Any
from uuid import UUID

from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import PermissionDenied
from django.db.models import Count, QuerySet
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    JsonResponse,
)
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone, translation
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods

from . import desk
from .exceptions import NotFinished, RatingRefused, WorkerIsBusy
from .forms import CheckForm, CommentForm, RatingForm, ScoreForm
from .languages import direction
from .models import SCORE_MAX, SCORE_MIN, Assignment, Campaign, Participation
from .places import forecast
from .practice import Practice, practice_for, statement_for, wording_language
from .reporting import campaign_status, campaign_statuses
from .services import (
    answer_check,
    find_or_make_worker,
    save_rating,
    submit_assignment,
    take_assignment,
    take_part,
)
from .visitors import remember_worker, worker_code, worker_of

logger = logging.getLogger(__name__)

# A browser's stopwatch may run a little ahead of the server's clock; not more.
CLOCK_SLACK_MS = 60_000

# The places of the slider, for browsers without scripts.
SCORES = range(SCORE_MIN, SCORE_MAX + 1)

View = Callable[..., HttpResponse]


def staff_page(view: View) -> View:
    """Let only staff read this page; others are told that they may not."""

    @require_GET
    @wraps(view)
    def inner(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not request.user.is_staff:
            raise PermissionDenied
        return view(request, *args, **kwargs)

    return inner


@login_not_required
@require_GET
def home(request: HttpRequest) -> HttpResponse:
    campaigns = []
    if request.user.is_authenticated and request.user.is_staff:
        campaigns = campaign_statuses(Campaign.objects.all())
    return render(request, "hits/home.html", {"campaigns": campaigns})


@staff_page
def campaign_overview(request: HttpRequest, code: UUID) -> HttpResponse:
    """Say how far a campaign is, what it lacks, and what that will take."""
    campaign = get_object_or_404(Campaign, code=code)
    rows = campaign.participations.values("trust", "decision").annotate(n=Count("pk"))
    states: Counter[str] = Counter()
    for row in rows:
        # What a person decided holds; otherwise the evidence does.
        states[row["decision"] or row["trust"]] += row["n"]
    context = {
        "campaign": campaign,
        "status": campaign_status(campaign),
        "forecast": forecast(campaign),
        "states": sorted(states.items()),
    }
    return render(request, "hits/campaign_overview.html", context)


# Getting in ----------------------------------------------------------------------------------


def worker_page(view: View) -> View:
    """Mark a page as open to workers: no login, never cached."""
    return login_not_required(never_cache(view))


def campaign_page(view: View) -> View:
    """Fetch the campaign of a page and speak its language."""

    @worker_page
    @wraps(view)
    def inner(request: HttpRequest, code: UUID, *args: Any, **kwargs: Any) -> HttpResponse:
        campaign = get_object_or_404(
            Campaign.objects.exclude(status=Campaign.Status.DRAFT), code=code
        )
        with translation.override(campaign.page_language):
            return view(request, campaign, *args, **kwargs)

    return inner


def participant_page(view: View) -> View:
    """Let only those in who agreed to take part; send others to the beginning."""

    @campaign_page
    @wraps(view)
    def inner(request: HttpRequest, campaign: Campaign, *args: Any, **kwargs: Any) -> HttpResponse:
        participation = (
            Participation.objects.filter(campaign=campaign, worker__code=worker_code(request))
            .select_related("worker")
            .first()
        )
        if participation is None:
            return redirect(campaign)
        participation.campaign = campaign
        if participation.is_excluded:
            return _unavailable(request, campaign, "excluded")
        if participation.is_screened_out:
            return _unavailable(request, campaign, "screened_out")
        return view(request, participation, *args, **kwargs)

    return inner


@require_http_methods(["GET", "POST"])
@campaign_page
def landing(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    worker = worker_of(request)
    in_hand = worker.assignments.open().filter(hit__campaign=campaign).first() if worker else None
    if campaign.status != Campaign.Status.OPEN and in_hand is None:
        return _unavailable(request, campaign, campaign.status)
    if request.method == "POST":
        return _agree(request, campaign)
    first_hit = campaign.hits.order_by("number").first()
    size = first_hit.size if first_hit else campaign.hit_size
    context = _look(campaign) | {
        "in_hand": in_hand,
        "size": size,
        "minutes": desk.minutes_needed(size),
    }
    return render(request, "hits/landing.html", context)


def _agree(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    # A volunteer without an id from elsewhere gets a random one.
    worker = worker_of(request) or find_or_make_worker(
        provider="link", external_id=secrets.token_urlsafe(16)
    )
    participation = take_part(campaign=campaign, worker=worker)
    if participation.qualified_at:
        response = redirect("next_hit", campaign.code)
    else:
        response = redirect("instructions", campaign.code)
    remember_worker(response, worker)
    return response


@require_GET
@participant_page
def instructions(request: HttpRequest, participation: Participation) -> HttpResponse:
    campaign = participation.campaign
    context = _look(campaign) | {"practice": _practice(campaign)}
    return render(request, "hits/instructions.html", context)


@require_http_methods(["GET", "POST"])
@participant_page
def practice(request: HttpRequest, participation: Participation, step: int) -> HttpResponse:
    """Show a practice item, and once it is rated say how close that was. Nothing is stored."""
    campaign = participation.campaign
    tasks = _practice(campaign)
    if not 1 <= step <= len(tasks.items):
        raise Http404
    item = tasks.items[step - 1]
    form = ScoreForm(request.POST or None)
    verdict = feedback = None
    if form.is_valid():
        verdict, feedback = item.feedback(form.cleaned_data["score"])
    context = _look(campaign) | {
        "practice": tasks,
        "item": item,
        "step": step,
        "n_steps": len(tasks.items),
        "next_step": step + 1 if step < len(tasks.items) else None,
        "verdict": verdict,
        "feedback": feedback,
        "score": form.cleaned_data["score"] if verdict else None,
        "is_unset": request.method == "POST" and not verdict,
        "scores": SCORES,
        "statement": tasks.statement,
        **_language("statement", tasks.language),
        **_language("text", tasks.language),
        **_language("above", item.gray_language or tasks.language),
    }
    return render(request, "hits/practice.html", context)


@require_http_methods(["GET", "POST"])
@participant_page
def check(request: HttpRequest, participation: Participation) -> HttpResponse:
    """Ask whether the instructions were understood; there are two tries."""
    campaign = participation.campaign
    if participation.qualified_at:
        return redirect("next_hit", campaign.code)
    tasks = _practice(campaign)
    question = tasks.check
    form = CheckForm(request.POST or None)
    is_wrong = False
    if form.is_valid():
        is_right = form.cleaned_data["answer"] == question.answer
        participation = answer_check(participation=participation, is_right=is_right)
        if participation.qualified_at:
            return redirect("next_hit", campaign.code)
        if participation.is_screened_out:
            return _unavailable(request, campaign, "screened_out")
        is_wrong = True
    options = list(enumerate(question.options))
    # The same worker sees the same order again; the right answer has no place of its own.
    random.Random(participation.worker.code.int).shuffle(options)
    context = _look(campaign) | {"check": question, "options": options, "is_wrong": is_wrong}
    context |= _language("text", tasks.language)
    return render(request, "hits/check.html", context)


@require_http_methods(["GET", "POST"])
@participant_page
def next_hit(request: HttpRequest, participation: Participation) -> HttpResponse:
    """Take the next HIT, or say kindly why there is none."""
    campaign, worker = participation.campaign, participation.worker
    if participation.qualified_at is None:
        return redirect("instructions", campaign.code)
    try:
        assignment = take_assignment(campaign=campaign, worker=worker)
    except WorkerIsBusy:
        in_hand = worker.assignments.in_progress().first()
        return _unavailable(request, campaign, "busy", in_hand=in_hand)
    if assignment:
        return redirect("rate", assignment.code)
    if campaign.status != Campaign.Status.OPEN:
        return _unavailable(request, campaign, campaign.status)
    has_done_all = not campaign.hits.not_taken_by(worker).exists()
    return _unavailable(request, campaign, "done" if has_done_all else "none_left")


def _unavailable(
    request: HttpRequest, campaign: Campaign, reason: str, *, in_hand: Assignment | None = None
) -> HttpResponse:
    context = _look(campaign) | {"reason": reason, "in_hand": in_hand}
    return render(request, "hits/unavailable.html", context)


# Rating --------------------------------------------------------------------------------------


def assignment_page(view: View) -> View:
    """Fetch the worker's own assignment and speak its campaign's language."""

    @worker_page
    @wraps(view)
    def inner(request: HttpRequest, code: UUID, *args: Any, **kwargs: Any) -> HttpResponse:
        assignment = _own_assignments(request).filter(code=code).first()
        if assignment is None:
            return _refuse_visitor(request, code)
        with translation.override(assignment.hit.campaign.page_language):
            return view(request, assignment, *args, **kwargs)

    return inner


def _own_assignments(request: HttpRequest) -> QuerySet[Assignment]:
    return Assignment.objects.filter(worker__code=worker_code(request)).select_related(
        "hit__campaign"
    )


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
    context = {"message": message, **_language("page", translation.get_language())}
    return render(request, "hits/refused.html", context, status=status)


@require_http_methods(["GET", "POST"])
@worker_page
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
    context = _look(assignment.hit.campaign) | {
        "assignment": assignment,
        "place": place,
        "item": items[0],
        "items": items,
        "scores": SCORES,
        "is_unset": is_unset,
    }
    return render(request, "hits/rate.html", context, status=422 if is_unset else 200)


def _take_rating(request: HttpRequest, code: UUID) -> HttpResponse:
    assignment = desk.own_assignment(code, worker_code=worker_code(request))
    if assignment is None:
        return _refuse_visitor(request, code)
    form = RatingForm(request.POST)
    if not form.is_valid():
        if not _wants_json(request) and "score" not in request.POST:
            return _show_item(request, code, is_unset=True)
        return _refuse_rating(request, assignment, _first_error(form), status=400)
    if _is_impossible(assignment, form.cleaned_data["elapsed_ms"]):
        return _refuse_rating(
            request, assignment, "Longer than the HIT has been in hand.", status=400
        )
    rating = form.cleaned_data
    try:
        saved = save_rating(
            assignment=assignment,
            position=rating["position"],
            item_code=rating["item"],
            score=rating["score"],
            elapsed_ms=rating["elapsed_ms"],
            active_ms=rating["active_ms"],
        )
    except RatingRefused as error:
        return _refuse_rating(request, assignment, str(error), status=409)
    if not _wants_json(request):
        return redirect("rate", code)
    ahead = rating["position"] + desk.n_ahead(assignment.hit.size)
    return JsonResponse(
        {
            "saved": rating["position"],
            "score": saved.score,
            "next": _next_position(assignment, rating["position"], is_new=saved.is_new),
            "items": desk.shown_items(assignment, first=ahead, last=ahead),
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
    context = _look(assignment.hit.campaign) | {"assignment": assignment, "form": form}
    return render(request, "hits/finish.html", context)


@require_GET
@assignment_page
def done(request: HttpRequest, assignment: Assignment) -> HttpResponse:
    if assignment.status != Assignment.Status.SUBMITTED:
        return redirect("rate", assignment.code)
    campaign = assignment.hit.campaign
    has_more = campaign.hits.open().not_taken_by(assignment.worker).exists()
    context = _look(campaign) | {"assignment": assignment, "has_more": has_more}
    return render(request, "hits/done.html", context)


# What templates share ------------------------------------------------------------------------


def _language(name: str, code: str) -> dict[str, str]:
    return {f"{name}_language": code, f"{name}_direction": direction(code)}


def _practice(campaign: Campaign) -> Practice:
    return practice_for(
        campaign.target_language, campaign.task, source_language_code=campaign.source_language
    )


def _look(campaign: Campaign) -> dict[str, Any]:
    """What every page of a campaign shows in its own language and direction."""
    return {
        "campaign": campaign,
        "statement": statement_for(campaign.target_language, campaign.task),
        **_language("statement", wording_language(campaign.target_language)),
        **_language("page", campaign.page_language),
        **_language("text", campaign.target_language),
        **_language("above", desk.language_above(campaign)),
    }
