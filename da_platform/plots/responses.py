"""HTTP responses with plots."""

from collections.abc import Callable
from hashlib import sha256
from typing import cast

from django.core.cache import cache
from django.http import Http404, HttpResponse
from django.utils.http import content_disposition_header

from .. import __version__
from .rendering import CONTENT_TYPES, Format, Picture

# A day. The plot of a run never changes, but is rarely viewed for longer.
PICTURE_SECONDS = 86_400
# In `?for=screen`: an SVG that follows dark mode. Without it, a file for a paper.
SCREEN = "screen"


def picture_file(picture: Picture, fmt: str, *, key: str = "", use: str = "") -> HttpResponse:
    """Respond with a plot or its data as CSV, or raise a 404 for another format.

    If what the plot shows never changes, pass a `key` that identifies it: it is then drawn once.
    """
    return drawn_file(picture.name, fmt, lambda: picture, key=key, use=use)


def drawn_file(
    name: str, fmt: str, make: Callable[[], Picture], *, key: str = "", use: str = ""
) -> HttpResponse:
    """Respond with a plot that is created only if it is not cached; otherwise like `picture_file`."""
    if fmt not in CONTENT_TYPES:
        raise Http404("There is no such format.")

    def draw() -> bytes:
        picture = make()
        return picture.csv() if fmt == "csv" else picture.render(cast(Format, fmt))

    content = cached(name, fmt, draw, key=key)
    answer = HttpResponse(content, content_type=CONTENT_TYPES[fmt])
    if fmt == "svg" and use == SCREEN:
        # Imported here because it loads NumPy, which most requests do not need.
        from .dark import POLICY, follow_dark_mode

        answer.content = cached(name, SCREEN, lambda: follow_dark_mode(content), key=key)
        answer["Content-Security-Policy"] = POLICY
    # Pages show an SVG inline; this is its name when saved.
    header = content_disposition_header(False, f"{name}.{fmt}")
    assert header is not None
    answer["Content-Disposition"] = header
    return answer


def cached(name: str, kind: str, make: Callable[[], bytes], *, key: str) -> bytes:
    """Return something about a plot, made once if there is a key."""
    # Hashed, because not every cache accepts any character in keys.
    hashed = sha256(name.encode()).hexdigest()[:32]
    place = f"picture-{key}-{hashed}-{kind}-{__version__}"
    return cast(bytes, cache.get_or_set(place, make, PICTURE_SECONDS)) if key else make()
