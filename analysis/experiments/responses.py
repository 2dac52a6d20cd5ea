"""Tables and figures of experiments as responses, for pages and API."""

from itertools import chain

from django.http import Http404, HttpResponse
from django.utils.http import content_disposition_header

from da_platform.plots.rendering import Picture
from da_platform.plots.responses import cached

from ..evaluation.file_names import stem
from ..evaluation.result_page import TABLE_TYPES
from ..models import Experiment
from ..tables.writing import content_of
from .base import ExperimentKind, Result
from .catalogue import kind_named
from .reporting import zipped
from .storing import stored_inputs


def table_response(kind: ExperimentKind, result: Result, name: str, fmt: str) -> HttpResponse:
    """Return a table of a result as a file, or raise a 404."""
    tables = [*kind.tables(result), *kind.long_tables(result)]
    table = next((table for table in tables if table.name == name), None)
    if table is None or fmt not in TABLE_TYPES:
        raise Http404("Table not found.")
    return _file(content_of(table, fmt), TABLE_TYPES[fmt], f"{name}.{fmt}")


def report_response(experiment: Experiment) -> HttpResponse:
    """Return the folder that the command writes about a finished experiment, as a zip made once."""
    kind = kind_named(experiment.kind)

    def make() -> bytes:
        outputs = None
        if kind.outputs_to_rate is not None:
            outputs = kind.outputs_to_rate(kind.read(stored_inputs(experiment), experiment.options))
        return zipped(kind, experiment.result or {}, outputs)

    content = cached("report", "zip", make, key=experiment.code.hex)
    return _file(content, "application/zip", f"{stem(experiment.name)}.zip")


def _file(content: bytes | str, content_type: str, name: str) -> HttpResponse:
    response = HttpResponse(content, content_type=content_type)
    header = content_disposition_header(True, name)
    assert header is not None
    response["Content-Disposition"] = header
    return response


def pictures_of(kind: ExperimentKind, result: Result) -> list[Picture]:
    """Return all pictures of a result, each name once."""
    pictures = chain(kind.pictures(result), kind.more_pictures(result))
    return [*{picture.name: picture for picture in pictures}.values()]


def picture_named(kind: ExperimentKind, result: Result, name: str) -> Picture:
    """Return a picture of a result, or raise a 404."""
    found = next((each for each in pictures_of(kind, result) if each.name == name), None)
    if found is None:
        raise Http404("Figure not found.")
    return found
