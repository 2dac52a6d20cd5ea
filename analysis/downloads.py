"""Exports and pictures as answers to requests."""

import tempfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

from django.core.cache import cache
from django.http import FileResponse, Http404, HttpResponse
from django.utils.http import content_disposition_header
from django.utils.text import slugify

from hits.models import Campaign

from .exporting import default_file_name, export
from .models import GoldRun
from .plots.rendering import CONTENT_TYPES, Format, Picture
from .stats import __version__

# A day: what a run shows never changes, but nobody looks at it for ever.
PICTURE_SECONDS = 86_400
# Said, not guessed from the name: what a machine knows of them differs.
EXPORT_TYPES = {
    "csv": "text/csv; charset=utf-8",
    "tsv": "text/tab-separated-values; charset=utf-8",
    "jsonl": "application/jsonl; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
}


def exported(*, kind: str, campaign: Campaign, format: str, **options: Any) -> FileResponse:
    """Write an export aside and answer with it; the options are those of `export`."""
    name = default_file_name(kind=kind, campaign=campaign, format=format)
    with tempfile.TemporaryDirectory(prefix="export-") as folder:
        path = Path(folder) / name
        export(kind=kind, campaign=campaign, path=path, format=format, **options)
        # The open file outlives its name.
        return FileResponse(
            path.open("rb"),
            as_attachment=True,
            filename=name,
            content_type=EXPORT_TYPES[format],
        )


def report_file(run: GoldRun) -> HttpResponse:
    """Answer with the report of a run as PDF."""
    # Not above: it brings a typesetter along that most answers do not need.
    from .report import make_report, report_as_pdf

    name = f"{slugify(run.campaign.name) or 'campaign'}-gold-{run.number}.pdf"
    answer = HttpResponse(report_as_pdf(make_report(run)), content_type="application/pdf")
    answer["Content-Disposition"] = f'attachment; filename="{name}"'
    return answer


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
    # An SVG is shown on a page; whoever saves it gets a name.
    header = content_disposition_header(False, f"{name}.{fmt}")
    assert header is not None
    answer["Content-Disposition"] = header
    return answer
