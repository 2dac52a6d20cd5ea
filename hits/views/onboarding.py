"""A worker's way to a HIT: landing page, consent, instructions, practice, check question."""

import secrets
from functools import wraps
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods

from hits.rating.joining import answer_check, find_or_make_worker, take_part

from ..exceptions import WorkerIsBusy
from ..models import Assignment, Campaign, Participation, Worker
from ..people.access import View, for_workers
from ..people.guards import check_arrival, check_claim, note_device
from ..questionnaires.answering import is_due, questionnaire_of, store_reply
from ..questionnaires.forms import QuestionsForm
from ..questionnaires.questions import BEFORE
from ..rating.interface import speaking
from ..recruiting.arrivals import (
    current_submission,
    exit_of,
    may_take_part,
    recruitment_of,
    take_hit,
)
from ..recruiting.invites import accept_invite
from ..recruiting.providers.base import Ending
from ..recruiting.visitors import (
    INVITE_COOKIE,
    invite_of,
    is_believed,
    remember_worker,
    signed_arrivals,
    worker_code,
    worker_of,
)
from ..task_kinds import kind_of
from .arrivals import SeeOther, arrive, show_refusals
from .worker_context import (
    campaign_context,
    check_context,
    is_right_answer,
    landing_context,
    practice_context,
    practice_of,
    privacy_context,
)


def campaign_page(view: View) -> View:
    """Fetch the campaign and activate its interface language."""
    view = show_refusals(view)

    @for_workers
    @wraps(view)
    def inner(request: HttpRequest, code: UUID, *args: Any, **kwargs: Any) -> HttpResponse:
        public = Campaign.objects.exclude(status=Campaign.Status.DRAFT)
        campaign = get_object_or_404(public.select_related("recruitment"), code=code)
        with speaking(campaign):
            return view(request, campaign, *args, **kwargs)

    return inner


def participant_page(view: View) -> View:
    """Admit only workers who have agreed to take part; redirect others to the landing page."""

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
        worker = participation.worker
        if not is_believed(request, recruitment_of(campaign), worker):
            return redirect(campaign)
        participation.campaign = campaign
        return view(request, participation, *args, **kwargs)

    return inner


def ready_page(view: View) -> View:
    """Admit only participants who have answered the questions before the task, and are not screened out by them."""

    @participant_page
    @wraps(view)
    def inner(
        request: HttpRequest, participation: Participation, *args: Any, **kwargs: Any
    ) -> HttpResponse:
        if is_due(participation, BEFORE) and not _has_work(participation):
            return redirect("questions", participation.campaign.code)
        if participation.screened_out_at and not _has_work(participation):
            return _screened_out(request, participation)
        return view(request, participation, *args, **kwargs)

    return inner


def _has_work(participation: Participation) -> bool:
    """Whether the worker has a HIT to finish, which questions that were added later must not prevent."""
    work = Assignment.objects.open().filter(worker=participation.worker)
    return work.filter(hit__campaign=participation.campaign).exists()


def _screened_out(request: HttpRequest, participation: Participation) -> HttpResponse:
    """Say that the campaign looks for other people, whichever answer decided."""
    return _unavailable(request, participation.campaign, "not_sought", worker=participation.worker)


@require_http_methods(["GET", "POST"])
@campaign_page
def landing(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Admit a worker sent by a provider, describe the task, and ask for consent unless they have given it."""
    recruitment = recruitment_of(campaign)
    if request.method == "GET" and (response := arrive(request, recruitment)):
        return response
    worker, invite = worker_of(request, campaign), invite_of(request, campaign)
    in_hand = worker.assignments.open().filter(hit__campaign=campaign).first() if worker else None
    if campaign.status != Campaign.Status.OPEN and in_hand is None:
        return _unavailable(request, campaign, campaign.status, worker=worker)
    if not may_take_part(recruitment=recruitment, worker=worker, invite=invite):
        return _unavailable(request, campaign, "not_invited")
    if request.method == "POST":
        return _agree(request, campaign, worker)
    if in_hand is None and worker and _has_consented(campaign, worker):
        return redirect("next_hit", campaign.code)
    context = campaign_context(campaign) | landing_context(campaign) | {"in_hand": in_hand}
    return render(request, "hits/landing.html", context)


def _has_consented(campaign: Campaign, worker: Worker) -> bool:
    participations = Participation.objects.filter(campaign=campaign, worker=worker)
    return participations.exclude(consented_at=None).exists()


@require_GET
@campaign_page
def privacy(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    context = (
        campaign_context(campaign)
        | privacy_context(campaign)
        | {"worker": worker_of(request, campaign)}
    )
    return render(request, "hits/privacy.html", context)


def _agree(request: HttpRequest, campaign: Campaign, worker: Worker | None) -> HttpResponse:
    invite = invite_of(request, campaign)
    if invite:
        check_arrival(request)
        worker = accept_invite(invite=invite, worker=worker)
    elif worker is None:
        # A volunteer who does not come from a provider gets a random id.
        check_arrival(request)
        worker = find_or_make_worker(provider="link", external_id=secrets.token_urlsafe(16))
    participation = take_part(campaign=campaign, worker=worker, invite=invite)
    if participation.qualified_at:
        response = redirect("next_hit", campaign.code)
    else:
        response = redirect("instructions", campaign.code)
    remember_worker(response, worker, signed_arrivals=signed_arrivals(request, worker))
    response.delete_cookie(INVITE_COOKIE, samesite="Lax")
    return response


@require_GET
@campaign_page
def decline(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    worker = worker_of(request, campaign)
    way_out = exit_of(campaign=campaign, worker=worker, ending=Ending.NO_CONSENT)
    if way_out.url:
        return SeeOther(way_out.url)
    return _unavailable(request, campaign, "declined")


@require_http_methods(["GET", "POST"])
@participant_page
def questions(request: HttpRequest, participation: Participation) -> HttpResponse:
    """Ask about the worker before the task. Answers are stored once."""
    campaign = participation.campaign
    if not is_due(participation, BEFORE):
        return redirect("next_hit", campaign.code)
    posted = request.POST if request.method == "POST" else None
    form = QuestionsForm(questionnaire_of(campaign), BEFORE, posted)
    if form.is_valid():
        participation = store_reply(
            participation=participation, moment=BEFORE, answers=form.answers
        )
        if participation.screened_out_at:
            return _screened_out(request, participation)
        return redirect("next_hit", campaign.code)
    context = campaign_context(campaign) | {"questions": form}
    return render(request, "hits/questions.html", context, status=422 if posted else 200)


@require_GET
@ready_page
def instructions(request: HttpRequest, participation: Participation) -> HttpResponse:
    campaign = participation.campaign
    context = campaign_context(campaign) | {"practice": practice_of(campaign)}
    return render(request, "hits/instructions.html", context)


@require_http_methods(["GET", "POST"])
@ready_page
def practice(request: HttpRequest, participation: Participation, step: int) -> HttpResponse:
    """Show a practice item, then feedback on the score given. Nothing is stored."""
    campaign = participation.campaign
    posted = request.POST if request.method == "POST" else None
    context = campaign_context(campaign) | practice_context(campaign, step, posted)
    context["then"] = (
        reverse("check", args=[campaign.code])
        if context["is_last"]
        else reverse("practice", args=[campaign.code, step + 1])
    )
    return render(request, kind_of(campaign).practice_template, context)


@require_http_methods(["GET", "POST"])
@ready_page
def check(request: HttpRequest, participation: Participation) -> HttpResponse:
    """Ask whether the instructions were understood; workers have two tries."""
    campaign = participation.campaign
    if participation.qualified_at or participation.is_screened_out:
        return redirect("next_hit", campaign.code)
    is_right = is_right_answer(campaign, request.POST)
    if is_right is not None:
        participation = answer_check(participation=participation, is_right=is_right)
        if participation.qualified_at:
            return redirect("next_hit", campaign.code)
        if participation.is_screened_out:
            return _unavailable(request, campaign, "screened_out", worker=participation.worker)
    context = campaign_context(campaign)
    context |= check_context(campaign, order=participation.worker.code.int)
    return render(request, "hits/check.html", context | {"is_wrong": is_right is False})


@require_http_methods(["GET", "POST"])
@ready_page
def next_hit(request: HttpRequest, participation: Participation) -> HttpResponse:
    """Take the next HIT, or say that there is none, without saying why."""
    campaign, worker = participation.campaign, participation.worker
    if participation.qualified_at is None and not participation.is_screened_out:
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
    """Say that there is no HIT; a worker whose submission is done sees its last page again.

    The reason must not show: from it, a script could read whether its ratings passed.
    """
    submission = current_submission(recruitment_of(campaign), worker)
    finished = submission.assignment if submission else None
    if finished and finished.status == Assignment.Status.SUBMITTED:
        return redirect("done", finished.code)
    if campaign.status != Campaign.Status.OPEN:
        return _unavailable(request, campaign, campaign.status, worker=worker)
    return _unavailable(request, campaign, "no_hit", worker=worker)


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
        # Sent by a provider, but with nothing to do: they can end their submission there.
        ending = Ending.SCREENED_OUT
        exit_url = exit_of(campaign=campaign, worker=worker, ending=ending).url
    context = {"reason": reason, "in_hand": in_hand, "exit_url": exit_url}
    return render(request, "hits/unavailable.html", campaign_context(campaign) | context)
