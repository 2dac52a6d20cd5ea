"""Our pages in a frame at Mechanical Turk: who may frame them, and how the worker is identified.

In a frame our pages are a third party, to which browsers increasingly deny cookies. So the URL itself identifies
the visitor: it begins with a signed token for one worker and one campaign, and every link, form and redirect keeps
that prefix. All cookies of such a request are dropped. Nobody can forge one without knowing the token, so there is
nothing for a CSRF check to protect.
"""

from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

from django.conf import settings
from django.contrib.staticfiles.storage import staticfiles_storage
from django.core import signing
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import get_script_prefix, set_script_prefix

from ..models import Assignment, Campaign, Worker

PREFIX = "framed/"
SALT = "hits.framing"
# Longer than anyone may work on an assignment at Mechanical Turk.
MAX_AGE_SECONDS = 30 * 24 * 60 * 60


@dataclass(frozen=True, slots=True)
class FramedVisit:
    """Who works in a frame, on what, and where the finished work is posted."""

    worker: UUID
    campaign: UUID
    assignment_id: str
    submit_origin: str

    @property
    def submit_url(self) -> str:
        return f"{self.submit_origin}/mturk/externalSubmit"


def framed_address(
    path: str, *, worker: Worker, campaign: Campaign, assignment_id: str, submit_origin: str
) -> str:
    """Return one of our URLs, such as from `reverse`, for use in a frame."""
    visit = [worker.code.hex, campaign.code.hex, assignment_id, submit_origin]
    token = signing.dumps(visit, salt=SALT)
    root = get_script_prefix()
    return f"{root}{PREFIX}{token}/{path.removeprefix(root)}"


def read_visit(token: str) -> FramedVisit:
    try:
        worker, campaign, assignment_id, origin = signing.loads(
            token, salt=SALT, max_age=MAX_AGE_SECONDS
        )
    except signing.BadSignature as error:
        raise Http404("This page has expired. Please open the task again.") from error
    return FramedVisit(UUID(worker), UUID(campaign), assignment_id, origin)


def visit_of(request: HttpRequest) -> FramedVisit | None:
    return getattr(request, "framed_visit", None)


def framed_exit(request: HttpRequest, assignment: Assignment) -> FramedVisit | None:
    """Where a framed worker posts this assignment; None if the frame is for another one."""
    visit = visit_of(request)
    submission = getattr(assignment, "submission", None)
    return visit if visit and submission and submission.reference == visit.assignment_id else None


def allow_framing(response: HttpResponse) -> HttpResponse:
    """Let only the known hosts show this page in a frame."""
    response._csp_replace = {"frame-ancestors": settings.MTURK_FRAME_ORIGINS}  # type: ignore[attr-defined]
    response.xframe_options_exempt = True
    return response


class FramedPages:
    """Middleware: take the token out of the URL, and prefix every URL made during the request with it."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        path = request.path_info.removeprefix("/")
        if not path.startswith(PREFIX):
            return self._get_response(request)
        token, _, page = path.removeprefix(PREFIX).partition("/")
        return self._answer(request, token, page)

    def _answer(self, request: HttpRequest, token: str, page: str) -> HttpResponse:
        try:
            visit = read_visit(token)
        except Http404:
            # There is no such page, so it ends as a 404.
            return self._get_response(request)
        # Only worker pages can be framed. The view of an assignment checks its owner itself.
        if not page.startswith(("hit/", f"work/{visit.campaign}/")):
            return self._get_response(request)
        root = get_script_prefix()
        # Call it once with the real script prefix: the result is cached and must not contain a token.
        _ = staticfiles_storage.base_url  # type: ignore[attr-defined]
        request.framed_visit = visit  # type: ignore[attr-defined]
        request.COOKIES = {}
        request._dont_enforce_csrf_checks = True  # type: ignore[attr-defined]
        request.path_info = f"/{page}"
        set_script_prefix(f"{root}{PREFIX}{token}/")
        try:
            response = allow_framing(self._get_response(request))
        finally:
            set_script_prefix(root)
        response.cookies.clear()
        # In addition to our own host: the last page posts the finished work there.
        response._csp_update = {"form-action": [visit.submit_origin]}  # type: ignore[attr-defined]
        return response
