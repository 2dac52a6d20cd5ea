"""Tables and figures of experiments as responses, for pages and API."""

from itertools import chain

from django.http import Http404, HttpResponse
from django.utils.http import content_disposition_header

from da_platform.plots.rendering import Picture

from ..evaluation.result_page import TABLE_TYPES
from ..tables.writing import content_of
from .base import ExperimentKind, Result


def table_response(kind: ExperimentKind, result: Result, name: str, fmt: str) -> HttpResponse:
    """Return a table of a result as a file, or raise a 404."""
    tables = [*kind.tables(result), *kind.long_tables(result)]
    table = next((table for table in tables if table.name == name), None)
    if table is None or fmt not in TABLE_TYPES:
        raise Http404("Table not found.")
    response = HttpResponse(content_of(table, fmt), content_type=TABLE_TYPES[fmt])
    header = content_disposition_header(True, f"{name}.{fmt}")
    assert header is not None
    response["Content-Disposition"] = header
    return response


def picture_named(kind: ExperimentKind, result: Result, name: str) -> Picture:
    """Return a picture of a result, or raise a 404."""
    pictures = chain(kind.pictures(result), kind.more_pictures(result))
    found = next((picture for picture in pictures if picture.name == name), None)
    if found is None:
        raise Http404("Figure not found.")
    return found
