"""Which media a screen shows, at addresses that name only the assignment and the item: both are random."""

from uuid import UUID

from ..models import Assignment, Campaign, Item, MediaFile, Segment
from ..task_kinds import kind_of

SOURCE, CAPTIONS = PARTS = ("source", "captions")


def media_of_screen(assignment: Assignment, item: UUID, part: str) -> MediaFile | None:
    """Return the file of an item that is on the worker's screen or was sent ahead; None for any other.

    What was answered is no longer shown, except earlier in the same document; what comes later was not sent yet.
    """
    campaign = assignment.hit.campaign
    if assignment.status not in Assignment.OPEN_STATUSES or not shows_media(campaign):
        return None
    kind = kind_of(campaign)
    n_done = kind.place_of(assignment).n_done
    sent = Item.objects.filter(hit=assignment.hit_id, screen__lte=n_done + kind.n_ahead(assignment))
    current = sent.filter(screen__gt=n_done)
    # Items outside documents have no run.
    shown = current | sent.filter(run__in=current.order_by("screen").values("run")[:1])
    return _file_of(shown.filter(code=item).first(), part)


def media_of_item(campaign: Campaign, item: UUID, part: str) -> MediaFile | None:
    """Return the file of any item of a campaign, for its admins."""
    return _file_of(Item.objects.filter(hit__campaign=campaign, code=item).first(), part)


def _file_of(item: Item | None, part: str) -> MediaFile | None:
    if item is None or part not in PARTS:
        return None
    files = MediaFile.objects.select_related("campaign")
    if part == CAPTIONS:
        return files.filter(captioned_segments__translations__items=item).first()
    return files.filter(segments__translations__items=item).first()


def media_fields(segment: Segment) -> dict[str, object]:
    """Return what the browser learns about the media of a segment; nothing if its source is a text."""
    if segment.media is None:
        return {}
    return {"media": segment.media.kind, "has_captions": segment.captions_id is not None}


def shows_media(campaign: Campaign) -> bool:
    """Whether workers see sources, and so the media."""
    shown = (Campaign.Shows.SOURCE, Campaign.Shows.BOTH)
    return campaign.has_media and campaign.effective_shows in shown
