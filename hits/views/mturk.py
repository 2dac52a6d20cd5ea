"""Pages that Mechanical Turk shows in a frame: a preview, and the task once it is accepted."""

from functools import wraps
from typing import Any

from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET

from hits.rating.joining import find_or_make_worker

from ..exceptions import ArrivalRefused
from ..models import Assignment, Campaign, Recruitment, Submission, Worker
from ..people.access import View
from ..people.guards import check_arrival
from ..recruiting.arrivals import recruitment_of
from ..recruiting.framing import allow_framing, framed_address
from ..recruiting.providers.base import INVALID, Arrival
from ..recruiting.providers.mturk import MTurkProvider, is_preview, submit_origin
from .arrivals import SeeOther
from .onboarding import campaign_page
from .worker_context import campaign_context, facts_context


def framed_page(view: View) -> View:
    """Let Mechanical Turk show the page in a frame."""

    @wraps(view)
    def inner(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        return allow_framing(view(request, *args, **kwargs))

    return inner


@require_GET
@framed_page
@campaign_page
def external_question(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """The page behind an ExternalQuestion; a preview has nothing to rate."""
    recruitment = recruitment_of(campaign)
    if recruitment.provider != Recruitment.Provider.MTURK:
        raise Http404("No such page.")
    parameters = request.GET.dict()
    if is_preview(parameters):
        return render(
            request, "hits/preview.html", campaign_context(campaign) | facts_context(campaign)
        )
    arrival = MTurkProvider(recruitment).recognise(parameters, url=request.build_absolute_uri())
    assert arrival is not None
    origin = submit_origin(parameters)
    check_arrival(request)
    submission = admit_turker(recruitment=recruitment, arrival=arrival)
    url = framed_address(
        _next_page(campaign, submission),
        worker=submission.worker,
        campaign=campaign,
        assignment_id=submission.reference,
        submit_origin=origin,
    )
    return SeeOther(url)


def _next_page(campaign: Campaign, submission: Submission) -> str:
    finished = submission.assignment
    if finished and finished.status == Assignment.Status.SUBMITTED:
        return reverse("done", args=[finished.code])
    return reverse("landing", args=[campaign.code])


@transaction.atomic
def admit_turker(*, recruitment: Recruitment, arrival: Arrival) -> Submission:
    """Record an accepted assignment as the one that its worker is doing now.

    A worker may return an assignment at Mechanical Turk, which does not notify us, and accept another:
    their unfinished HIT then continues under the new one.
    """
    worker = find_or_make_worker(provider=recruitment.provider, external_id=arrival.external_id)
    submission = Submission.objects.get_or_create(
        recruitment=recruitment, reference=arrival.reference, defaults={"worker": worker}
    )[0]
    if submission.worker_id != worker.pk:
        raise ArrivalRefused(INVALID)
    if submission.assignment is None:
        _take_over(submission, worker)
    Submission.objects.filter(pk=submission.pk).update(arrived_at=timezone.now())
    submission.refresh_from_db()
    return submission


def _take_over(submission: Submission, worker: Worker) -> None:
    """Move an unfinished HIT to this submission, unless another tab has given it one meanwhile."""
    earlier = Submission.objects.filter(
        recruitment=submission.recruitment_id,
        worker=worker,
        assignment__status__in=Assignment.OPEN_STATUSES,
    ).first()
    if earlier is None or earlier.pk == submission.pk:
        return
    # The earlier submission first: an assignment belongs to only one.
    previous = Submission.objects.filter(pk=earlier.pk)
    previous.update(assignment=None)
    if not Submission.objects.filter(pk=submission.pk, assignment=None).update(
        assignment=earlier.assignment
    ):
        previous.update(assignment=earlier.assignment)
