"""Limit the size of request bodies: large only where files are accepted, from people who may upload."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from django.conf import settings
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse, JsonResponse, UnreadablePostError

CHUNK_BYTES = 64 * 1024


class BoundedBodies:
    """Middleware before anything that reads a body, including the CSRF check. It relies on the announced length.

    A view accepts files if `hits.people.access.takes_files` marks it. The API checks the token before it reads.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if _announced_length(request) <= settings.MAX_REQUEST_BYTES:
            _read_to_the_end(request)
        return response

    def process_view(
        self, request: HttpRequest, view: Callable[..., Any], *_: Any
    ) -> HttpResponse | None:
        length = _announced_length(request)
        if length <= settings.MAX_SMALL_REQUEST_BYTES:
            return None
        takes_files = getattr(view, "takes_files", False)
        if length > (
            settings.MAX_REQUEST_BYTES if takes_files else settings.MAX_SMALL_REQUEST_BYTES
        ):
            return _refusal(request)
        is_of_api = getattr(view, "access_rule", "") == "tokens"
        if is_of_api or request.user.is_authenticated:
            return None
        return redirect_to_login(request.get_full_path())


def _announced_length(request: HttpRequest) -> int:
    # A body without a length is not read, and Django treats an invalid length as 0.
    length = request.META.get("CONTENT_LENGTH") or "0"
    return int(length) if length.isdecimal() else 0


def _read_to_the_end(request: HttpRequest) -> None:
    """Read the rest of a body that no view read.

    Otherwise the connection of a refused upload would be closed while a proxy is still sending, and the
    visitor would see a bad gateway instead of the refusal.
    """
    with suppress(UnreadablePostError):
        while request.read(CHUNK_BYTES):
            pass


def _refusal(request: HttpRequest) -> HttpResponse:
    reason = "The request is too large."
    if request.path_info.startswith("/api/v1/"):
        return JsonResponse({"detail": reason}, status=413)
    return HttpResponse(reason, status=413, content_type="text/plain; charset=utf-8")
