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


def picture_file(picture: Picture, fmt: str, *, key: str = "") -> HttpResponse:
    """Respond with a plot or its data as CSV, or raise a 404 for another format.

    If what the plot shows never changes, pass a `key` that identifies it: it is then drawn once.
    """
    return drawn_file(picture.name, fmt, lambda: picture, key=key)


def drawn_file(name: str, fmt: str, make: Callable[[], Picture], *, key: str = "") -> HttpResponse:
    """Respond with a plot that is created only if it is not cached; otherwise like `picture_file`."""
    if fmt not in CONTENT_TYPES:
        raise Http404("There is no such format.")

    def draw() -> bytes:
        picture = make()
        return picture.csv() if fmt == "csv" else picture.render(cast(Format, fmt))

    # Hashed, because not every cache accepts any character in keys.
    hashed = sha256(name.encode()).hexdigest()[:32]
    cached = f"picture-{key}-{hashed}-{fmt}-{__version__}"
    content = cache.get_or_set(cached, draw, PICTURE_SECONDS) if key else draw()
    answer = HttpResponse(content, content_type=CONTENT_TYPES[fmt])
    # Pages show an SVG inline; this is its name when saved.
    header = content_disposition_header(False, f"{name}.{fmt}")
    assert header is not None
    answer["Content-Disposition"] = header
    return answer
