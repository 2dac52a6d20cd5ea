"""The media of a screen: for the worker who sees it, and for admins in the preview."""

from uuid import UUID

from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.views.decorators.http import require_safe

from da_platform.files.ranges import ranged_file

from ..media.serving import media_of_item, media_of_screen
from ..models import Assignment, Campaign, MediaFile
from ..people.access import for_campaign_admins
from .rating import assignment_page


@require_safe
@assignment_page
def item_media(
    request: HttpRequest, assignment: Assignment, part: str, item: UUID
) -> HttpResponseBase:
    return _sent(request, media_of_screen(assignment, item, part))


@require_safe
@for_campaign_admins
def preview_media(
    request: HttpRequest, campaign: Campaign, part: str, item: UUID
) -> HttpResponseBase:
    return _sent(request, media_of_item(campaign, item, part))


def _sent(request: HttpRequest, media: MediaFile | None) -> HttpResponseBase:
    if media is None or not media.path.is_file():
        raise Http404("There is no such file.")
    return ranged_file(request, media.path, content_type=media.content_type)
