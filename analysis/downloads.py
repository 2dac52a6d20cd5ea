"""HTTP responses with exports and reports."""

import tempfile
from pathlib import Path
from typing import Any

from django.http import FileResponse, HttpResponse
from django.utils.text import slugify

from hits.models import Campaign

from .exporting import default_file_name, export
from .models import GoldRun

# Not guessed from the file name: the MIME types known to machines differ.
EXPORT_TYPES = {
    "csv": "text/csv; charset=utf-8",
    "tsv": "text/tab-separated-values; charset=utf-8",
    "jsonl": "application/jsonl; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
}


def exported(*, kind: str, campaign: Campaign, format: str, **options: Any) -> FileResponse:
    """Return an export as a download. The options are those of `export`."""
    name = default_file_name(kind=kind, campaign=campaign, format=format)
    with tempfile.TemporaryDirectory(prefix="export-") as folder:
        path = Path(folder) / name
        export(kind=kind, campaign=campaign, path=path, format=format, **options)
        # The open file outlives its folder.
        return FileResponse(
            path.open("rb"),
            as_attachment=True,
            filename=name,
            content_type=EXPORT_TYPES[format],
        )


def report_file(run: GoldRun) -> HttpResponse:
    """Return the report of a run as PDF."""
    # Imported here: most responses do not need the typesetter.
    from .gold.report import make_report, report_as_pdf

    name = f"{slugify(run.campaign.name) or 'campaign'}-gold-{run.number}.pdf"
    response = HttpResponse(report_as_pdf(make_report(run)), content_type="application/pdf")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
