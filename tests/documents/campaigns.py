"""Campaigns whose translations are rated in their documents, for tests."""

from typing import Any

from hits.campaigns.building import build_hits
from hits.campaigns.lifecycle import change_status
from hits.models import Assignment, Campaign, Segment
from hits.rating.assignments import take_assignment
from hits.rating.joining import find_or_make_worker
from tests.factories import make_campaign, make_translations


def document_campaign(
    *, n_segments: int = 20, document_length: int = 5, n_systems: int = 2, **settings: Any
) -> Campaign:
    """Return an open campaign with HITs of 40 items, of documents of five segments."""
    campaign = make_campaign(**{"presentation": "document", "min_ratings": 2} | settings)
    make_translations(campaign, n_segments=n_segments, n_systems=n_systems)
    segments = list(Segment.objects.filter(campaign=campaign))
    for segment in segments:
        segment.document = f"article-{(segment.position - 1) // document_length}"
    Segment.objects.bulk_update(segments, ["document"])
    build_hits(campaign=campaign)
    return change_status(campaign=campaign, to=Campaign.Status.OPEN)


def taken_by(campaign: Campaign, name: str = "alice") -> Assignment:
    """Return the next HIT of this worker."""
    worker = find_or_make_worker(provider="link", external_id=name)
    assignment = take_assignment(campaign=campaign, worker=worker)
    assert assignment
    return assignment


def last_of_runs(assignment: Assignment) -> list[int]:
    """Return the positions with which a whole document is scored."""
    runs = list(assignment.hit.items.order_by("position").values_list("run", flat=True))
    return [
        place + 1
        for place, run in enumerate(runs)
        if runs[place + 1 : place + 2] != [run] and place and runs[place - 1] == run
    ]
