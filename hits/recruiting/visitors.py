"""Who the visitor is: a worker is recognised by a signed cookie.

It holds only a random code and the campaigns that the worker came to by a signed arrival.
"""

from collections.abc import Iterable
from uuid import UUID

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from ..models import Campaign, Invite, Recruitment, Worker
from ..people.guards import COOKIE_AGE_SECONDS
from .arrivals import provider_of, recruitment_of
from .framing import visit_of

COOKIE = f"{settings.COOKIE_PREFIX}worker"
# An invite that was followed but not accepted yet.
INVITE_COOKIE = f"{settings.COOKIE_PREFIX}invite"
INVITE_AGE_SECONDS = 24 * 60 * 60
# Only the latest, to keep the cookie small.
MAX_SIGNED_ARRIVALS = 20


# The code of an unknown visitor: no worker has it.
NOBODY = UUID(int=0)


def worker_code(request: HttpRequest) -> UUID:
    """Return the visitor's code without a database query."""
    if visit := visit_of(request):
        return visit.worker
    return _read_cookie(request)[0]


def worker_of(request: HttpRequest, campaign: Campaign) -> Worker | None:
    """Who the visitor is in a campaign."""
    worker = Worker.objects.filter(code=worker_code(request)).first()
    return worker if worker and is_believed(request, recruitment_of(campaign), worker) else None


def is_believed(request: HttpRequest, recruitment: Recruitment, worker: Worker) -> bool:
    """Whether to trust that the visitor is their cookie's worker in this campaign too.

    In another campaign anyone may have arrived with this worker's id. If the provider signs
    arrivals, only a signed arrival at this campaign proves who the visitor is.
    """
    if not provider_of(recruitment, worker).is_signed_only:
        return True
    return recruitment.campaign.code in _read_cookie(request)[1]


def signed_arrivals(request: HttpRequest, worker: Worker) -> list[UUID]:
    """The campaigns that this worker came to, in this browser, by a signed arrival."""
    code, campaigns = _read_cookie(request)
    return campaigns if code == worker.code else []


def admitted_as(request: HttpRequest, campaign: Campaign) -> UUID | None:
    """The worker as whom this browser came to the campaign by a signed arrival, if it did."""
    code, campaigns = _read_cookie(request)
    return code if campaign.code in campaigns else None


def _read_cookie(request: HttpRequest) -> tuple[UUID, list[UUID]]:
    value = request.get_signed_cookie(COOKIE, default=None, max_age=COOKIE_AGE_SECONDS)
    if not value:
        return NOBODY, []
    code, *campaigns = value.split(".")
    return UUID(code), [UUID(campaign) for campaign in campaigns]


def remember_worker(
    response: HttpResponse, worker: Worker, *, signed_arrivals: Iterable[UUID] = ()
) -> None:
    latest = list(dict.fromkeys(signed_arrivals))[-MAX_SIGNED_ARRIVALS:]
    response.set_signed_cookie(
        COOKIE,
        ".".join([str(worker.code), *(campaign.hex for campaign in latest)]),
        max_age=COOKIE_AGE_SECONDS,
        httponly=True,
        samesite="Lax",
        secure=settings.SESSION_COOKIE_SECURE,
    )


def remember_invite(response: HttpResponse, invite: Invite) -> None:
    """Remember the invite while its visitor reads about the task, before they agree."""
    response.set_signed_cookie(
        INVITE_COOKIE,
        str(invite.pk),
        max_age=INVITE_AGE_SECONDS,
        httponly=True,
        samesite="Lax",
        secure=settings.SESSION_COOKIE_SECURE,
    )


def invite_of(request: HttpRequest, campaign: Campaign) -> Invite | None:
    """The invite to this campaign that the visitor has followed, if it is still valid."""
    value = request.get_signed_cookie(INVITE_COOKIE, default=None, max_age=INVITE_AGE_SECONDS)
    if not value:
        return None
    return Invite.objects.usable().filter(pk=value, campaign=campaign).first()
