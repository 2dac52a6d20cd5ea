"""Pictures as answers to requests."""

from collections.abc import Callable
from hashlib import sha256
from typing import cast

from django.core.cache import cache
from django.http import Http404, HttpResponse
from django.utils.http import content_disposition_header

from .. import __version__
from .rendering import CONTENT_TYPES, Format, Picture

# A day: the picture of a run never changes, but nobody looks at it for ever.
PICTURE_SECONDS = 86_400


def picture_file(picture: Picture, fmt: str, *, key: str = "") -> HttpResponse:
    """Answer with a picture, or with its data as CSV; 404 for another format.

    `key` names what the picture is of if that never changes: it is then drawn once.
    """
    return drawn_file(picture.name, fmt, lambda: picture, key=key)


def drawn_file(name: str, fmt: str, make: Callable[[], Picture], *, key: str = "") -> HttpResponse:
    """Answer with a picture that is made only if it was not drawn before; otherwise as `picture_file`."""
    if fmt not in CONTENT_TYPES:
        raise Http404("There is no such format.")

    def draw() -> bytes:
        picture = make()
        return picture.csv() if fmt == "csv" else picture.render(cast(Format, fmt))

    # Names may hold what not every cache takes.
    hashed = sha256(name.encode()).hexdigest()[:32]
    cached = f"picture-{key}-{hashed}-{fmt}-{__version__}"
    content = cache.get_or_set(cached, draw, PICTURE_SECONDS) if key else draw()
    answer = HttpResponse(content, content_type=CONTENT_TYPES[fmt])
    # An SVG is shown on a page; this is its name when saved.
    header = content_disposition_header(False, f"{name}.{fmt}")
    assert header is not None
    answer["Content-Disposition"] = header
    return answer
