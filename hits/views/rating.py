"""Doing a HIT: answer it screen by screen, submit it, and get the completion code."""

import logging
from functools import wraps
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils import translation
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_http_methods

from da_platform.counting import RATINGS
from hits.rating.assignments import submit_assignment

from ..exceptions import AnswerNotUnderstood, AnswerRefused, NotFinished
from ..models import HIT, Assignment, Campaign, Participation, Worker
from ..payments.runs import rejection_of
from ..people.access import View, for_workers
from ..people.guards import exit_origins
from ..questionnaires.answering import is_due, questionnaire_of, store_reply
from ..questionnaires.forms import QuestionsForm
from ..questionnaires.questions import AFTER
from ..rating import desk
from ..rating.canary import canary_of
from ..rating.forms import CommentForm, read_position
from ..rating.interface import speaking
from ..rating.reports import read_report, report_text
from ..rating.signals import SentSignals
from ..recruiting.arrivals import exit_of, provider_of, recruitment_of
from ..recruiting.framing import framed_exit
from ..recruiting.providers.base import Ending
from ..recruiting.visitors import is_believed, worker_code
from ..task_kinds import kind_of
from .arrivals import SeeOther
from .worker_context import (
    campaign_context,
    language_context,
    pay_of,
    text_problems,
    time_left,
)

logger = logging.getLogger(__name__)


def assignment_page(view: View) -> View:
    """Fetch the worker's own assignment and activate the campaign's interface language."""

    @for_workers
    @wraps(view)
    def inner(request: HttpRequest, code: UUID, *args: Any, **kwargs: Any) -> HttpResponse:
        assignment = _own_assignment(request, code)
        if assignment is None:
            return _refuse_visitor(request, code)
        with speaking(assignment.hit.campaign):
            return view(request, assignment, *args, **kwargs)

    return inner


def _own_assignment(request: HttpRequest, code: UUID) -> Assignment | None:
    assignments = Assignment.objects.filter(code=code, worker__code=worker_code(request))
    assignment = assignments.select_related("hit__campaign__recruitment", "worker").first()
    if assignment is None:
        return None
    recruitment = recruitment_of(assignment.hit.campaign)
    return assignment if is_believed(request, recruitment, assignment.worker) else None


def _refuse_visitor(request: HttpRequest, code: UUID) -> HttpResponse:
    logger.warning("Refused: assignment %s belongs to another worker.", code)
    # Without a campaign, the browser decides the language.
    with translation.override(translation.get_language_from_request(request)):
        return _answer_error(
            request, gettext("We could not find your task in this browser."), status=404
        )


def _wants_json(request: HttpRequest) -> bool:
    return request.headers.get("Accept") == "application/json"


def _answer_error(request: HttpRequest, message: str, *, status: int) -> HttpResponse:
    if _wants_json(request):
        return JsonResponse({"error": message}, status=status)
    context = {"message": message, **language_context("page", translation.get_language())}
    return render(request, "hits/refused.html", context, status=status)


@require_http_methods(["GET", "POST"])
@for_workers
def rate(request: HttpRequest, code: UUID) -> HttpResponse:
    """Show the next screen, or save an answer sent by the script or by a plain form."""
    if request.method == "POST":
        return _take_answer(request, code)
    return _show_item(request, code)


@assignment_page
def _show_item(
    request: HttpRequest, assignment: Assignment, *, is_unset: bool = False
) -> HttpResponse:
    if assignment.status == Assignment.Status.RETURNED:
        return redirect(assignment.hit.campaign)
    campaign = assignment.hit.campaign
    kind = kind_of(campaign)
    place = kind.place_of(assignment)
    if place.is_finished:
        return redirect("finish", assignment.code)
    last = place.n_done + kind.n_ahead(assignment)
    items = kind.screens(assignment, first=place.position, last=last)
    context = campaign_context(campaign) | {
        **kind.screen_context(campaign),
        **kind.page_context(assignment, items[0]),
        "assignment": assignment,
        "place": place,
        "item": items[0],
        "items": items,
        "is_unset": is_unset,
        "time_left": time_left(assignment),
        "text_problems": text_problems(campaign),
        "canary": canary_of(assignment) if campaign.has_canary else None,
    }
    return render(request, kind.template, context, status=422 if is_unset else 200)


def _take_answer(request: HttpRequest, code: UUID) -> HttpResponse:
    position = read_position(request.POST)
    current = desk.own_desk(code, worker_code=worker_code(request), position=position)
    if current is None or (
        current.sent_by and not is_believed(request, current.sent_by, current.assignment.worker)
    ):
        return _refuse_visitor(request, code)
    try:
        answer = current.kind.read(request.POST)
    except AnswerNotUnderstood as error:
        if not _wants_json(request) and current.kind.is_unanswered(request.POST):
            return _show_item(request, code, is_unset=True)
        return _refuse_answer(request, current.assignment, str(error), status=400)
    return _save(request, current, answer)


def _save(request: HttpRequest, current: desk.OwnDesk, answer: dict[str, Any]) -> HttpResponse:
    assignment, kind, position = current.assignment, current.kind, answer["position"]
    # Times are not checked here: the clock may have been set, and the browser would drop a refused answer.
    try:
        saved = kind.save(assignment=assignment, **answer)
    except AnswerRefused as error:
        return _refuse_answer(request, assignment, str(error), status=409)
    if report := read_report(request.POST):
        report_text(assignment=assignment, screen=position, report=report)
    if not _wants_json(request):
        return redirect("rate", assignment.code)
    # After a repeated answer, the next position may be further ahead.
    following = position + 1 if saved.is_new else kind.place_of(assignment).position
    facts = {"saved": position, "next": following, "items": current.items_ahead}
    return JsonResponse(facts | saved.facts())


def _refuse_answer(
    request: HttpRequest, assignment: Assignment, message: str, *, status: int
) -> HttpResponse:
    RATINGS.labels("refused").inc()
    logger.warning("Refused an answer of assignment %s: %s", assignment.code, message)
    with speaking(assignment.hit.campaign):
        return _answer_error(request, message, status=status)


@require_GET
@assignment_page
def stop(request: HttpRequest, assignment: Assignment) -> HttpResponse:
    """Say that the work is saved, and until when it can be continued."""
    if assignment.status == Assignment.Status.SUBMITTED:
        return redirect("done", assignment.code)
    place = desk.place_of(assignment)
    context = {
        "assignment": assignment,
        "n_done": place.position - 1,
        "size": place.size,
        "time_left": time_left(assignment),
    }
    return render(request, "hits/stop.html", campaign_context(assignment.hit.campaign) | context)


@require_http_methods(["GET", "POST"])
@assignment_page
def finish(request: HttpRequest, assignment: Assignment) -> HttpResponse:
    """Ask for a comment, then submit the assignment."""
    if assignment.status == Assignment.Status.SUBMITTED:
        return redirect("done", assignment.code)
    if not desk.place_of(assignment).is_finished:
        return redirect("rate", assignment.code)
    # Not `request.POST or None`: the form may be sent empty.
    posted = request.POST if request.method == "POST" else None
    form, questions = CommentForm(posted), _questions_after(assignment, posted)
    if form.is_valid() and (questions is None or questions.is_valid()):
        if questions:
            _store_answers(assignment, questions)
        try:
            submit_assignment(
                assignment=assignment,
                comment=form.cleaned_data["comment"],
                signals=SentSignals(
                    request.POST.get("signals", ""), request.POST.get("comment_pastes", "")
                ),
            )
        except NotFinished as error:
            return _answer_error(request, str(error), status=409)
        return redirect("done", assignment.code)
    context = campaign_context(assignment.hit.campaign)
    context |= {"assignment": assignment, "form": form, "questions": questions}
    is_refused = bool(questions and questions.errors)
    response = render(request, "hits/finish.html", context, status=422 if is_refused else 200)
    # The response to the form may redirect to the provider, which the CSP must allow.
    response._csp_update = {"form-action": sorted(exit_origins())}  # type: ignore[attr-defined]
    return response


def _questions_after(assignment: Assignment, posted: QueryDict | None) -> QuestionsForm | None:
    """The questions after the task, which are asked with a worker's first HIT."""
    campaign = assignment.hit.campaign
    if not campaign.questionnaire:
        return None
    participation = _participation_of(assignment)
    if participation is None or not is_due(participation, AFTER):
        return None
    return QuestionsForm(questionnaire_of(campaign), AFTER, posted)


def _store_answers(assignment: Assignment, questions: QuestionsForm) -> None:
    if participation := _participation_of(assignment):
        store_reply(participation=participation, moment=AFTER, answers=questions.answers)


def _participation_of(assignment: Assignment) -> Participation | None:
    participations = assignment.hit.campaign.participations
    return participations.filter(worker=assignment.worker_id).first()


@require_GET
@assignment_page
def done(request: HttpRequest, assignment: Assignment) -> HttpResponse:
    if assignment.status != Assignment.Status.SUBMITTED:
        return redirect("rate", assignment.code)
    campaign, worker = assignment.hit.campaign, assignment.worker
    way_out = exit_of(
        campaign=campaign, worker=worker, ending=Ending.COMPLETED, assignment=assignment
    )
    if way_out.url and way_out.is_automatic and not assignment.is_rejected:
        return SeeOther(way_out.url)
    context = campaign_context(campaign) | {
        "exit": way_out,
        "pay": pay_of(campaign),
        "has_more": _has_more(campaign, worker),
        "rejection": rejection_of(assignment),
        "framed_exit": framed_exit(request, assignment),
    }
    return render(request, "hits/done.html", context)


def _has_more(campaign: Campaign, worker: Worker) -> bool:
    """Return whether the worker can take another HIT now; a provider's submission is for one."""
    if provider_of(recruitment_of(campaign), worker).has_submissions:
        return False
    return HIT.objects.open().for_worker(campaign, worker).exists()
