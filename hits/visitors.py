"""Who is asking: a worker is known by a signed cookie that carries a random code and nothing else."""

from uuid import UUID

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from .models import Campaign, Invite, Worker
from .recruiting.framing import visit_of

COOKIE = f"{settings.COOKIE_PREFIX}worker"
COOKIE_AGE_SECONDS = 180 * 24 * 60 * 60
# An invite that was followed and not accepted yet.
INVITE_COOKIE = f"{settings.COOKIE_PREFIX}invite"
INVITE_AGE_SECONDS = 24 * 60 * 60


# The code of someone we do not know: no worker has it.
NOBODY = UUID(int=0)


def worker_code(request: HttpRequest) -> UUID:
    """Return the visitor's code without a look at the database."""
    if visit := visit_of(request):
        return visit.worker
    value = request.get_signed_cookie(COOKIE, default=None, max_age=COOKIE_AGE_SECONDS)
    return UUID(value) if value else NOBODY


def worker_of(request: HttpRequest) -> Worker | None:
    return Worker.objects.filter(code=worker_code(request)).first()


def remember_worker(response: HttpResponse, worker: Worker) -> None:
    response.set_signed_cookie(
        COOKIE,
        str(worker.code),
        max_age=COOKIE_AGE_SECONDS,
        httponly=True,
        samesite="Lax",
        secure=settings.SESSION_COOKIE_SECURE,
    )


def remember_invite(response: HttpResponse, invite: Invite) -> None:
    """Let someone read what they were invited to before they say yes."""
    response.set_signed_cookie(
        INVITE_COOKIE,
        str(invite.pk),
        max_age=INVITE_AGE_SECONDS,
        httponly=True,
        samesite="Lax",
        secure=settings.SESSION_COOKIE_SECURE,
    )


def invite_of(request: HttpRequest, campaign: Campaign) -> Invite | None:
    """The invite to this campaign that the visitor has followed, if it still holds."""
    value = request.get_signed_cookie(INVITE_COOKIE, default=None, max_age=INVITE_AGE_SECONDS)
    if not value:
        return None
    return Invite.objects.usable().filter(pk=value, campaign=campaign).first()
