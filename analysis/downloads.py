"""HTTP responses with exports and reports."""

import tempfile
from pathlib import Path
from typing import Any

from django.http import FileResponse, HttpResponse
from django.utils.text import slugify

from hits.models import Campaign

from .evaluation.result_page import TABLE_TYPES
from .exporting import default_file_name, export
from .models import GoldRun
from .tables.table import Table
from .tables.writing import content_of

# Not guessed from the file name: the MIME types known to machines differ.
EXPORT_TYPES = {
    "csv": "text/csv; charset=utf-8",
    "tsv": "text/tab-separated-values; charset=utf-8",
    "jsonl": "application/jsonl; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
    "wmt-qe": "application/zip",
    "wmt-ape": "application/zip",
    "mtme-folder": "application/zip",
    "pearmut": "application/jsonl; charset=utf-8",
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


def table_file(table: Table, format: str) -> HttpResponse:
    """Return a table as a download: `tex`, `md` or `csv`."""
    return _file(content_of(table, format), f"{table.name}.{format}", TABLE_TYPES[format])


def report_file(run: GoldRun) -> HttpResponse:
    """Return the report of a run as PDF."""
    # Imported here: most responses do not need the typesetter.
    from .gold.report import make_report, report_as_pdf

    name = f"{slugify(run.campaign.name) or 'campaign'}-gold-{run.number}.pdf"
    return _file(report_as_pdf(make_report(run)), name, "application/pdf")


def ranking_report_file(campaign: Campaign, facts: dict[str, Any]) -> HttpResponse:
    """Return the report of a ranking by judgements as PDF."""
    from .ranking.report import make_report, report_as_pdf

    name = f"{slugify(campaign.name) or 'campaign'}-ranking.pdf"
    return _file(report_as_pdf(make_report(campaign, facts)), name, "application/pdf")


def _file(content: bytes, name: str, content_type: str) -> HttpResponse:
    response = HttpResponse(content, content_type=content_type)
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
