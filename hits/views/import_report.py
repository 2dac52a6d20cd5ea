"""How a campaign's files were read, as a page and as CSV."""

import csv
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET

from da_platform.files.cells import defuse

from ..campaigns.forms import FilesForm
from ..models import Campaign, ImportReport
from ..people.access import for_campaign_researchers

MENDS_ON_PAGE = 200


@require_GET
@for_campaign_researchers
def import_report(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    if request.GET.get("format") == "csv":
        return _as_csv(get_object_or_404(ImportReport, campaign=campaign))
    report = ImportReport.objects.filter(campaign=campaign).first()
    context: dict[str, Any] = {"campaign": campaign, "report": report}
    if report is not None:
        fields = FilesForm().fields
        context["options"] = [
            (fields[name].label, "yes" if value is True else value)
            for name, value in report.options.items()
        ]
        context["mends"] = report.mends[:MENDS_ON_PAGE]
    return render(request, "hits/import_report.html", context)


def _as_csv(report: ImportReport) -> HttpResponse:
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = 'attachment; filename="mended.csv"'
    writer = csv.writer(response)
    writer.writerow(["file", "line", "mended"])
    for file, line, what in report.mends:
        writer.writerow([defuse(file), "" if line is None else line, defuse(what)])
    return response
