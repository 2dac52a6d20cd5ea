"""Who is asking: a worker is known by a signed cookie that carries a random code and nothing else."""

from uuid import UUID

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from .models import Worker

COOKIE = "worker"
COOKIE_AGE_SECONDS = 180 * 24 * 60 * 60


def worker_code(request: HttpRequest) -> UUID | None:
    """Return the worker's code without a look at the database."""
    value = request.get_signed_cookie(COOKIE, default=None, max_age=COOKIE_AGE_SECONDS)
    return UUID(value) if value else None


def worker_of(request: HttpRequest) -> Worker | None:
    code = worker_code(request)
    return Worker.objects.filter(code=code).first() if code else None


def remember_worker(response: HttpResponse, worker: Worker) -> None:
    response.set_signed_cookie(
        COOKIE,
        str(worker.code),
        max_age=COOKIE_AGE_SECONDS,
        httponly=True,
        samesite="Lax",
        secure=settings.SESSION_COOKIE_SECURE,
    )
