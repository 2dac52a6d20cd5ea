"""API: effects of how translations were shown."""

from typing import Annotated, Any, Literal
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from ninja import Query, Router, Status
from pydantic import Field

from da_platform.jobs.models import Job
from da_platform.jobs.running import start_job
from da_platform.plots.rendering import CONTENT_TYPES
from da_platform.plots.responses import picture_file
from hits.api.auth import Needs, Scope
from hits.api.field_types import Input, Name, file_response
from hits.api.jobs import JobOut
from hits.people.access import Level, campaign_for, user_of

from ..downloads import table_file
from ..evaluation.result_page import TABLE_TYPES
from ..gold.presentation_effects import Facts, latest_effects
from ..gold.presentation_pictures import pictures_of
from ..gold.presentation_tables import tables_of
from .results import PictureFormat

router = Router(tags=["Gold"])


class EffectsIn(Input):
    against: Annotated[
        UUID | None,
        Field(description="A campaign with gold of the same texts, shown in another way."),
    ] = None
    seed: Annotated[
        int, Field(ge=0, le=2**31 - 1, description="Of permutations and resamples.")
    ] = 0


@router.post("/{uuid:code}/presentation", response={202: JobOut}, auth=Needs(Scope.RUN))
def measure_presentation(request: HttpRequest, code: UUID, body: EffectsIn) -> Status[Job]:
    """Start a job that measures how places on a screen or in a document, and context, affect scores."""
    campaign = campaign_for(request.user, code, Level.RESEARCHER)
    arguments: dict[str, Any] = {"seed": body.seed}
    if body.against:
        other = campaign_for(request.user, body.against, Level.RESEARCHER)
        arguments["against"] = str(other.code)
    job = start_job(
        kind="measure_presentation",
        campaign=campaign,
        arguments=arguments,
        started_by=user_of(request),
    )
    return Status(202, job)


@router.get("/{uuid:code}/presentation", response=dict[str, Any], auth=Needs(Scope.READ))
def get_presentation_effects(request: HttpRequest, code: UUID) -> Facts:
    """Return the latest effects, or 404 if there are none: `screens`, `documents` and `context`."""
    return _effects(request, code)


@router.get(
    "/{uuid:code}/presentation/tables/{name}",
    auth=Needs(Scope.READ),
    openapi_extra=file_response(*TABLE_TYPES.values()),
)
def download_presentation_table(
    request: HttpRequest,
    code: UUID,
    name: Name,
    format: Query[Literal["tex", "md", "csv"]] = "tex",
) -> HttpResponse:
    """Download a table of the latest effects: `screen-places`, `document-places` or `context`."""
    table = tables_of(_effects(request, code)).get(name)
    if table is None:
        raise Http404("Table not found.")
    return table_file(table, format)


@router.get(
    "/{uuid:code}/presentation/pictures/{name}",
    auth=Needs(Scope.READ),
    openapi_extra=file_response(*CONTENT_TYPES.values()),
)
def download_presentation_picture(
    request: HttpRequest, code: UUID, name: Name, format: Query[PictureFormat] = "svg"
) -> HttpResponse:
    """Download a figure of the latest effects, or its data as CSV. Figures have the names of their tables."""
    picture = pictures_of(_effects(request, code)).get(name)
    if picture is None:
        raise Http404("Figure not found.")
    return picture_file(picture, format)


def _effects(request: HttpRequest, code: UUID) -> Facts:
    facts = latest_effects(campaign_for(request.user, code, Level.RESEARCHER))
    if facts is None:
        raise Http404("The effects have not been measured yet.")
    return facts
