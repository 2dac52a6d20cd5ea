"""The worker's way through, page by page."""

import logging
import random
import secrets
from functools import wraps
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import QuerySet
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    JsonResponse,
    QueryDict,
)
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_http_methods

from da_platform.counting import RATINGS

from .. import desk
from ..access import View, for_workers
from ..exceptions import NotFinished, RatingRefused, WorkerIsBusy
from ..forms import CheckForm, CommentForm, RatingForm, ScoreForm, read_rating
from ..guards import check_arrival, check_claim, exit_origins, note_device
from ..languages import direction
from ..models import SCORE_MAX, SCORE_MIN, Assignment, Campaign, Participation, Worker
from ..payments.runs import rejection_of
from ..practice import Practice, practice_for, statement_for, wording_language
from ..providers.base import Ending
from ..recruiting.arrivals import (
    current_submission,
    exit_of,
    may_take_part,
    provider_of,
    recruitment_of,
    take_hit,
)
from ..recruiting.framing import framed_exit
from ..recruiting.invites import accept_invite
from ..services import (
    answer_check,
    find_or_make_worker,
    save_rating,
    submit_assignment,
    take_part,
)
from ..visitors import INVITE_COOKIE, invite_of, remember_worker, worker_code, worker_of
from .arriving import SeeOther, arrive, refuses_kindly

logger = logging.getLogger(__name__)

# A browser's stopwatch may run a little ahead of the server's clock; not more.
CLOCK_SLACK_MS = 60_000

# The places of the slider, for browsers without scripts.
SCORES = range(SCORE_MIN, SCORE_MAX + 1)

# Getting in ----------------------------------------------------------------------------------


def campaign_page(view: View) -> View:
    """Fetch the campaign of a page and speak its language."""

    shown = refuses_kindly(view)

    @for_workers
    @wraps(view)
    def inner(request: HttpRequest, code: UUID, *args: Any, **kwargs: Any) -> HttpResponse:
        shown_campaigns = Campaign.objects.exclude(status=Campaign.Status.DRAFT)
        campaign = get_object_or_404(shown_campaigns.select_related("recruitment"), code=code)
        with translation.override(campaign.page_language):
            return shown(request, campaign, *args, **kwargs)

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
        worker = participation.worker
        if participation.is_excluded:
            return _unavailable(request, campaign, "excluded", worker=worker)
        if participation.is_screened_out:
            return _unavailable(request, campaign, "screened_out", worker=worker)
        return view(request, participation, *args, **kwargs)

    return inner


@require_http_methods(["GET", "POST"])
@campaign_page
def landing(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Where everyone begins: bring an arrival in, say what awaits them, and take their consent."""
    recruitment = recruitment_of(campaign)
    if request.method == "GET" and (arrived := arrive(request, recruitment)):
        return arrived
    worker, invite = worker_of(request), invite_of(request, campaign)
    in_hand = worker.assignments.open().filter(hit__campaign=campaign).first() if worker else None
    if campaign.status != Campaign.Status.OPEN and in_hand is None:
        return _unavailable(request, campaign, campaign.status, worker=worker)
    if not may_take_part(recruitment=recruitment, worker=worker, invite=invite):
        return _unavailable(request, campaign, "not_invited")
    if request.method == "POST":
        return _agree(request, campaign, worker)
    first_hit = campaign.hits.order_by("number").first()
    size = first_hit.size if first_hit else campaign.hit_size
    context = look(campaign) | {
        "in_hand": in_hand,
        "size": size,
        "minutes": desk.minutes_needed(size),
    }
    return render(request, "hits/landing.html", context)


@require_GET
@campaign_page
def privacy(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Say what is stored, how long, and how to have it removed."""
    context = look(campaign) | privacy_page() | {"worker": worker_of(request)}
    return render(request, "hits/privacy.html", context)


def _agree(request: HttpRequest, campaign: Campaign, worker: Worker | None) -> HttpResponse:
    if invite := invite_of(request, campaign):
        check_arrival(request)
        worker = accept_invite(invite=invite, worker=worker)
    elif worker is None:
        # A volunteer without an id from elsewhere gets a random one.
        check_arrival(request)
        worker = find_or_make_worker(provider="link", external_id=secrets.token_urlsafe(16))
    participation = take_part(campaign=campaign, worker=worker)
    if participation.qualified_at:
        response = redirect("next_hit", campaign.code)
    else:
        response = redirect("instructions", campaign.code)
    remember_worker(response, worker)
    response.delete_cookie(INVITE_COOKIE, samesite="Lax")
    return response


@require_GET
@campaign_page
def decline(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Let someone go who does not want to take part."""
    found = exit_of(campaign=campaign, worker=worker_of(request), ending=Ending.NO_CONSENT)
    if found.url:
        return SeeOther(found.url)
    return _unavailable(request, campaign, "declined")


@require_GET
@participant_page
def instructions(request: HttpRequest, participation: Participation) -> HttpResponse:
    campaign = participation.campaign
    context = look(campaign) | {"practice": practice_of(campaign)}
    return render(request, "hits/instructions.html", context)


@require_http_methods(["GET", "POST"])
@participant_page
def practice(request: HttpRequest, participation: Participation, step: int) -> HttpResponse:
    """Show a practice item, and once it is rated say how close that was. Nothing is stored."""
    campaign = participation.campaign
    given = request.POST if request.method == "POST" else None
    shown = look(campaign) | practice_page(campaign, step, given)
    shown["again"] = reverse("practice", args=[campaign.code, step])
    shown["then"] = (
        reverse("check", args=[campaign.code])
        if shown["is_last"]
        else reverse("practice", args=[campaign.code, step + 1])
    )
    return render(request, "hits/practice.html", shown)


@require_http_methods(["GET", "POST"])
@participant_page
def check(request: HttpRequest, participation: Participation) -> HttpResponse:
    """Ask whether the instructions were understood; there are two tries."""
    campaign = participation.campaign
    if participation.qualified_at:
        return redirect("next_hit", campaign.code)
    is_right = is_right_answer(campaign, request.POST)
    if is_right is not None:
        participation = answer_check(participation=participation, is_right=is_right)
        if participation.qualified_at:
            return redirect("next_hit", campaign.code)
        if participation.is_screened_out:
            return _unavailable(request, campaign, "screened_out", worker=participation.worker)
    shown = look(campaign) | check_page(campaign, order=participation.worker.code.int)
    return render(request, "hits/check.html", shown | {"is_wrong": is_right is False})


@require_http_methods(["GET", "POST"])
@participant_page
def next_hit(request: HttpRequest, participation: Participation) -> HttpResponse:
    """Take the next HIT, or say kindly why there is none."""
    campaign, worker = participation.campaign, participation.worker
    if participation.qualified_at is None:
        return redirect("instructions", campaign.code)
    check_claim(worker)
    try:
        assignment = take_hit(campaign=campaign, worker=worker)
    except WorkerIsBusy:
        in_hand = worker.assignments.in_progress().first()
        return _unavailable(request, campaign, "busy", in_hand=in_hand)
    if assignment:
        response = redirect("rate", assignment.code)
        note_device(request, response, worker=worker, campaign=campaign)
        return response
    return _no_hit(request, campaign, worker)


def _no_hit(request: HttpRequest, campaign: Campaign, worker: Worker) -> HttpResponse:
    """Say why there is no HIT; whoever has done the one of their visit sees its end again."""
    submission = current_submission(recruitment_of(campaign), worker)
    finished = submission.assignment if submission else None
    if finished and finished.status == Assignment.Status.SUBMITTED:
        return redirect("done", finished.code)
    if campaign.status != Campaign.Status.OPEN:
        return _unavailable(request, campaign, campaign.status, worker=worker)
    has_done_all = not campaign.hits.not_taken_by(worker).exists()
    reason = "done" if has_done_all else "none_left"
    return _unavailable(request, campaign, reason, worker=worker)


def _unavailable(
    request: HttpRequest,
    campaign: Campaign,
    reason: str,
    *,
    in_hand: Assignment | None = None,
    worker: Worker | None = None,
) -> HttpResponse:
    exit_url = ""
    submission = current_submission(recruitment_of(campaign), worker) if worker else None
    if submission and submission.assignment is None:
        # Sent by a provider in vain: they can end their visit there.
        ending = Ending.SCREENED_OUT
        exit_url = exit_of(campaign=campaign, worker=worker, ending=ending).url
    context = look(campaign) | {"reason": reason, "in_hand": in_hand, "exit_url": exit_url}
    return render(request, "hits/unavailable.html", context)


# Rating --------------------------------------------------------------------------------------


def assignment_page(view: View) -> View:
    """Fetch the worker's own assignment and speak its campaign's language."""

    @for_workers
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
        "hit__campaign__recruitment"
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
    if own is None:
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


# What templates share ------------------------------------------------------------------------


def _language(name: str, code: str) -> dict[str, str]:
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
        **_language("statement", tasks.language),
        **_language("text", tasks.language),
        **_language("above", item.gray_language or tasks.language),
    }


def check_page(campaign: Campaign, *, order: int) -> dict[str, Any]:
    """The question about the task. The same order again for the same number, so that nothing moves."""
    tasks = practice_of(campaign)
    options = list(enumerate(tasks.check.options))
    # The right answer has no place of its own.
    random.Random(order).shuffle(options)
    return {"check": tasks.check, "options": options, **_language("text", tasks.language)}


def is_right_answer(campaign: Campaign, given: QueryDict) -> bool | None:
    """Whether the question was answered rightly; None as long as it was not answered."""
    form = CheckForm(given or None)
    if not form.is_valid():
        return None
    return bool(form.cleaned_data["answer"] == practice_of(campaign).check.answer)


def privacy_page() -> dict[str, Any]:
    return {"days": settings.FORGET_WORKERS_AFTER_DAYS, "contact": settings.PRIVACY_CONTACT}


def look(campaign: Campaign) -> dict[str, Any]:
    """What every page of a campaign shows in its own language and direction."""
    return {
        "campaign": campaign,
        "statement": statement_for(campaign.target_language, campaign.task),
        **_language("statement", wording_language(campaign.target_language)),
        **_language("page", campaign.page_language),
        **_language("text", campaign.target_language),
        **_language("above", desk.language_above(campaign)),
    }
