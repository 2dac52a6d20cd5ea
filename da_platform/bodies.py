"""How much a request may bring: a little everywhere, and a lot where files are taken, from people who may upload."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from django.conf import settings
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse, JsonResponse, UnreadablePostError

CHUNK_BYTES = 64 * 1024


class BoundedBodies:
    """Middleware before whatever reads a body, the check for forged forms too: it goes by what was announced.

    A view takes files if `hits.people.access.takes_files` marks it. The API asks for a token before it reads.
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
    # What is not announced is not read, and Django takes other words for none.
    length = request.META.get("CONTENT_LENGTH") or "0"
    return int(length) if length.isdecimal() else 0


def _read_to_the_end(request: HttpRequest) -> None:
    """Read what no view wanted.

    The connection of a refused upload would else be closed while a proxy is still sending, which then tells
    its visitor of a bad gateway and not of the refusal.
    """
    with suppress(UnreadablePostError):
        while request.read(CHUNK_BYTES):
            pass


def _refusal(request: HttpRequest) -> HttpResponse:
    reason = "This request brings more than is taken here."
    if request.path_info.startswith("/api/v1/"):
        return JsonResponse({"detail": reason}, status=413)
    return HttpResponse(reason, status=413, content_type="text/plain; charset=utf-8")
