"""What Mechanical Turk shows in its page: a preview to everyone, and the task to whoever accepted it."""

from functools import wraps
from typing import Any

from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET

from ..access import View
from ..exceptions import ArrivalRefused
from ..guards import check_arrival
from ..models import Assignment, Campaign, Recruitment, Submission, Worker
from ..providers.base import INVALID, Arrival
from ..providers.mturk import MTurkProvider, is_preview, submit_origin
from ..recruiting.arrivals import recruitment_of
from ..recruiting.framing import allow_framing, framed_address
from ..services import find_or_make_worker
from .arriving import SeeOther
from .joining import campaign_page
from .looks import look, work_ahead


def framed_page(view: View) -> View:
    """Let Mechanical Turk show a page in its own, whatever the page says."""

    @wraps(view)
    def inner(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        return allow_framing(view(request, *args, **kwargs))

    return inner


@require_GET
@framed_page
@campaign_page
def external_question(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """The address of an ExternalQuestion. Nothing can be rated in a preview."""
    recruitment = recruitment_of(campaign)
    if recruitment.provider != Recruitment.Provider.MTURK:
        raise Http404("No such page.")
    parameters = request.GET.dict()
    if is_preview(parameters):
        return render(request, "hits/preview.html", look(campaign) | work_ahead(campaign))
    arrival = MTurkProvider(recruitment).recognise(parameters, url=request.build_absolute_uri())
    assert arrival is not None
    origin = submit_origin(parameters)
    check_arrival(request)
    submission = admit_turker(recruitment=recruitment, arrival=arrival)
    address = framed_address(
        _next_page(campaign, submission),
        worker=submission.worker,
        campaign=campaign,
        assignment_id=submission.reference,
        submit_origin=origin,
    )
    return SeeOther(address)


def _next_page(campaign: Campaign, submission: Submission) -> str:
    finished = submission.assignment
    if finished and finished.status == Assignment.Status.SUBMITTED:
        return reverse("done", args=[finished.code])
    return reverse("landing", args=[campaign.code])


@transaction.atomic
def admit_turker(*, recruitment: Recruitment, arrival: Arrival) -> Submission:
    """Note an accepted assignment as the one its worker is at now.

    A worker may give one back at Mechanical Turk, which tells nobody, and accept another: a HIT they
    have in hand here then goes on under the new one.
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
    """Move a HIT in hand over, unless another tab has given this visit one meanwhile."""
    earlier = Submission.objects.filter(
        recruitment=submission.recruitment_id,
        worker=worker,
        assignment__status__in=Assignment.OPEN_STATUSES,
    ).first()
    if earlier is None or earlier.pk == submission.pk:
        return
    # The earlier visit first: an assignment is of one.
    left = Submission.objects.filter(pk=earlier.pk)
    left.update(assignment=None)
    if not Submission.objects.filter(pk=submission.pk, assignment=None).update(
        assignment=earlier.assignment
    ):
        left.update(assignment=earlier.assignment)
