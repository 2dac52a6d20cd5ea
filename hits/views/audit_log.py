"""The audit log as a page and as CSV, for campaign admins."""

import csv
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any, cast

from django import forms
from django.contrib.auth.models import User
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_GET

from da_platform.files.cells import defuse

from ..models import AuditEntry, Campaign
from ..people.access import for_runners
from ..people.audit import visible_entries

ENTRIES_PER_PAGE = 50
COLUMNS = ("at", "action", "by", "campaign", "worker", "reason", "details")


class FilterForm(forms.Form):
    """Filters for the log; the choices come from the entries that the user may see."""

    campaign = forms.ModelChoiceField(
        Campaign.objects.none(), required=False, empty_label="any", to_field_name="code"
    )
    action = forms.ChoiceField(required=False)
    person = forms.ModelChoiceField(
        User.objects.none(), required=False, empty_label="anyone", to_field_name="username"
    )
    since = forms.DateField(required=False, widget=forms.DateInput(attrs={"type": "date"}))
    until = forms.DateField(required=False, widget=forms.DateInput(attrs={"type": "date"}))

    def __init__(self, *args: Any, entries: QuerySet[AuditEntry], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        actions = entries.order_by("action").values_list("action", flat=True).distinct()
        choices = [(name, name.replace("_", " ")) for name in actions]
        self.fields["action"].choices = [("", "any"), *choices]  # type: ignore[attr-defined]
        campaigns = Campaign.objects.filter(pk__in=entries.order_by().values("campaign"))
        self.fields["campaign"].queryset = campaigns.order_by("name")  # type: ignore[attr-defined]
        people = User.objects.filter(pk__in=entries.order_by().values("actor"))
        self.fields["person"].queryset = people.order_by("username")  # type: ignore[attr-defined]

    def filtered(self, entries: QuerySet[AuditEntry]) -> QuerySet[AuditEntry]:
        """Return the matching entries, or none if the form is invalid."""
        if not self.is_valid():
            return entries.none()
        filters = self.cleaned_data
        lookups = {
            "campaign": filters["campaign"],
            "action": filters["action"],
            "actor": filters["person"],
            "at__gte": filters["since"] and _midnight(filters["since"]),
            "at__lt": filters["until"] and _midnight(filters["until"]) + timedelta(days=1),
        }
        return entries.filter(**{name: value for name, value in lookups.items() if value})


def _midnight(day: Any) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=timezone.get_default_timezone())


@require_GET
@for_runners
def audit_log(request: HttpRequest) -> HttpResponse:
    visible = visible_entries(request.user)
    form = FilterForm(request.GET, entries=visible)
    entries = form.filtered(visible)
    if request.GET.get("format") == "csv":
        # Not a subclass of HttpResponse, but middleware treats it the same.
        return cast(HttpResponse, _as_csv(entries))
    page = Paginator(entries, ENTRIES_PER_PAGE).get_page(request.GET.get("page"))
    is_filtered = any(request.GET.get(name) for name in form.fields)
    context = {"page": page, "form": form, "is_filtered": is_filtered}
    return render(request, "hits/audit_log.html", context)


class _Echo:
    """A file for a CSV writer whose `write` returns the line."""

    def write(self, line: str) -> str:
        return line


def _as_csv(entries: QuerySet[AuditEntry]) -> StreamingHttpResponse:
    writer = csv.writer(_Echo())

    def lines() -> Iterator[str]:
        yield writer.writerow(COLUMNS)
        for entry in entries.iterator(chunk_size=2_000):
            yield writer.writerow(defuse(str(cell)) for cell in _cells(entry))

    response = StreamingHttpResponse(lines(), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = 'attachment; filename="audit-log.csv"'
    return response


def _cells(entry: AuditEntry) -> list[object]:
    return [
        entry.at.isoformat(timespec="seconds"),
        entry.action,
        entry.actor or "",
        entry.campaign or "",
        entry.worker or "",
        entry.reason,
        entry.details or "",
    ]
