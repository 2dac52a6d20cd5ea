"""Security headers in addition to Django's, and HTTPS for API clients."""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse

# Our pages use none of these, so injected scripts cannot either.
_UNUSED = ("camera", "microphone", "geolocation", "payment", "usb", "display-capture")
PERMISSIONS_POLICY = ", ".join(f"{feature}=()" for feature in _UNUSED)


# Requested by machines with an IP address as host; the responses do not depend on the host.
FOR_MACHINES = ("/healthz", "/readyz", "/metrics")


def answer_machines(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware before the host check, since Prometheus and load balancers cannot always send a host name."""

    def middleware(request: HttpRequest) -> HttpResponse:
        name = next(iter(settings.ALLOWED_HOSTS), "").lstrip(".*")
        if request.path_info in FOR_MACHINES and name:
            request.META["HTTP_HOST"] = name
        return get_response(request)

    return middleware


_PLAIN = "Use HTTPS. If you sent a token, others may have read it: revoke it."


def refuse_plain_calls(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware before the redirect to HTTPS: a client that follows redirects would never notice its mistake."""

    def middleware(request: HttpRequest) -> HttpResponse:
        is_call = request.path_info.startswith("/api/v1/")
        if is_call and settings.SECURE_SSL_REDIRECT and not request.is_secure():
            return JsonResponse({"detail": _PLAIN}, status=403)
        return get_response(request)

    return middleware


def guard_answers(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware after the one for static files, which are public and may be cached."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        response.setdefault("Permissions-Policy", PERMISSIONS_POLICY)
        # Keep other sites from embedding private responses as images or scripts.
        response.setdefault("Cross-Origin-Resource-Policy", "same-origin")
        # Pages with a rule from `hits.people.access` set this themselves; this is for Django's pages, errors and the API.
        response.setdefault("Cache-Control", "no-store, private")
        return response

    return middleware
