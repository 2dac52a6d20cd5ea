"""Security headers on top of Django's own, and HTTPS for programs."""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse

# Our pages use none of these, so no script that got in may either.
_UNUSED = ("camera", "microphone", "geolocation", "payment", "usb", "display-capture")
PERMISSIONS_POLICY = ", ".join(f"{feature}=()" for feature in _UNUSED)


# Asked by other machines under this one's address; no answer depends on the host name.
FOR_MACHINES = ("/healthz", "/readyz", "/metrics")


def answer_machines(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware before the host check: Prometheus and load balancers cannot all be given a host name."""

    def middleware(request: HttpRequest) -> HttpResponse:
        name = next(iter(settings.ALLOWED_HOSTS), "").lstrip(".*")
        if request.path_info in FOR_MACHINES and name:
            request.META["HTTP_HOST"] = name
        return get_response(request)

    return middleware


_PLAIN = "Come by https. If you sent a token, it could be read on its way: revoke it."


def refuse_plain_calls(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """A middleware before the one that sends browsers to https: a program sent on would never be set right."""

    def middleware(request: HttpRequest) -> HttpResponse:
        is_call = request.path_info.startswith("/api/v1/")
        if is_call and settings.SECURE_SSL_REDIRECT and not request.is_secure():
            return JsonResponse({"detail": _PLAIN}, status=403)
        return get_response(request)

    return middleware


def guard_answers(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """A middleware behind the one for static files, which are everybody's and may be kept."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        response.setdefault("Permissions-Policy", PERMISSIONS_POLICY)
        # Other sites cannot load what is for a person of ours as a picture or script of theirs.
        response.setdefault("Cross-Origin-Resource-Policy", "same-origin")
        # Pages with a rule of `hits.people.access` say so themselves; this is for Django's own, errors and the API.
        response.setdefault("Cache-Control", "no-store, private")
        return response

    return middleware
