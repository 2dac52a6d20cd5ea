"""The worker's way to a HIT: the link, consent, practice, the question, and the HIT itself."""

import secrets
from functools import wraps
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import translation
from django.views.decorators.http import require_GET, require_http_methods

from ..access import View, for_workers
from ..exceptions import WorkerIsBusy
from ..guards import check_arrival, check_claim, note_device
from ..models import Assignment, Campaign, Participation, Worker
from ..providers.base import Ending
from ..recruiting.arrivals import (
    current_submission,
    exit_of,
    may_take_part,
    recruitment_of,
    take_hit,
)
from ..recruiting.invites import accept_invite
from ..services import answer_check, find_or_make_worker, take_part
from ..visitors import (
    INVITE_COOKIE,
    invite_of,
    is_believed,
    remember_worker,
    signed_arrivals,
    worker_code,
    worker_of,
)
from .arriving import SeeOther, arrive, refuses_kindly
from .looks import (
    check_page,
    is_right_answer,
    look,
    practice_of,
    practice_page,
    privacy_page,
    work_ahead,
)


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
        worker = participation.worker
        if not is_believed(request, recruitment_of(campaign), worker):
            return redirect(campaign)
        participation.campaign = campaign
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
    worker, invite = worker_of(request, campaign), invite_of(request, campaign)
    in_hand = worker.assignments.open().filter(hit__campaign=campaign).first() if worker else None
    if campaign.status != Campaign.Status.OPEN and in_hand is None:
        return _unavailable(request, campaign, campaign.status, worker=worker)
    if not may_take_part(recruitment=recruitment, worker=worker, invite=invite):
        return _unavailable(request, campaign, "not_invited")
    if request.method == "POST":
        return _agree(request, campaign, worker)
    context = look(campaign) | work_ahead(campaign) | {"in_hand": in_hand}
    return render(request, "hits/landing.html", context)


@require_GET
@campaign_page
def privacy(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Say what is stored, how long, and how to have it removed."""
    context = look(campaign) | privacy_page() | {"worker": worker_of(request, campaign)}
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
    remember_worker(response, worker, signed_arrivals=signed_arrivals(request, worker))
    response.delete_cookie(INVITE_COOKIE, samesite="Lax")
    return response


@require_GET
@campaign_page
def decline(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Let someone go who does not want to take part."""
    worker = worker_of(request, campaign)
    found = exit_of(campaign=campaign, worker=worker, ending=Ending.NO_CONSENT)
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
