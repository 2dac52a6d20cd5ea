"""What every page and answer of the API carries beside Django's own security headers."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

# Our pages use none of these, so no script that got in may either.
_UNUSED = ("camera", "microphone", "geolocation", "payment", "usb", "display-capture")
PERMISSIONS_POLICY = ", ".join(f"{feature}=()" for feature in _UNUSED)


def guard_answers(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """A middleware behind the one for static files, which are everybody's and may be kept."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        response.setdefault("Permissions-Policy", PERMISSIONS_POLICY)
        # Other sites cannot load what is for a person of ours as a picture or script of theirs.
        response.setdefault("Cross-Origin-Resource-Policy", "same-origin")
        # Pages with a rule of `hits.access` say so themselves; this is for Django's own, errors and the API.
        response.setdefault("Cache-Control", "no-store, private")
        return response

    return middleware
