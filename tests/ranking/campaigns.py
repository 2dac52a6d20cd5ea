"""Ranking campaigns for tests."""

from collections.abc import Callable, Mapping
from typing import Any

from hits.campaigns.building import build_hits
from hits.campaigns.importing.storing import fingerprint
from hits.campaigns.lifecycle import change_status
from hits.models import (
    Assignment,
    Campaign,
    Recruitment,
    Segment,
    System,
    SystemOutput,
    Translation,
    Worker,
)
from hits.rating.assignments import take_assignment
from hits.rating.joining import find_or_make_worker
from tests.factories import make_campaign, sentence

SYSTEMS = ("A", "B", "C", "D", "E", "F")


def ranking_campaign(
    *,
    n_segments: int = 8,
    systems: tuple[str, ...] = SYSTEMS,
    is_open: bool = False,
    equals: Mapping[str, Callable[[str, int], str]] | None = None,
    **settings: Any,
) -> Campaign:
    """Return an open campaign with HITs of three screens; `is_open` if anyone with its link can take part.

    `equals` makes texts of a system from those of the first one and the number of the segment.
    """
    campaign = make_campaign(
        is_open=False,
        **{
            "task": Campaign.Task.RANK,
            "hit_size": 3,
            "min_ratings": 2,
            "degradation": "published",
            "seed": 5,
        }
        | settings,
    )
    rows = System.objects.bulk_create(System(campaign=campaign, name=name) for name in systems)
    for number in range(1, n_segments + 1):
        segment = Segment.objects.create(
            campaign=campaign,
            position=number,
            name=str(number),
            source=f"Quelle {number}",
            reference=sentence(number),
        )
        for place, system in enumerate(rows):
            text = f"{sentence(number * 10 + place)} {system.name}"
            if change := (equals or {}).get(system.name):
                text = change(f"{sentence(number * 10)} {systems[0]}", number)
            translation = Translation.objects.create(
                segment=segment, text=text, fingerprint=fingerprint(text)
            )
            SystemOutput.objects.create(system=system, segment=segment, translation=translation)
    build_hits(campaign=campaign)
    Recruitment.objects.create(campaign=campaign, is_open=is_open)
    return change_status(campaign=campaign, to=Campaign.Status.OPEN)


def taken_by(campaign: Campaign, name: str = "alice") -> Assignment:
    """Return the next HIT of this worker."""
    assignment = take_assignment(campaign=campaign, worker=worker_named(name))
    assert assignment
    return assignment


def worker_named(name: str) -> Worker:
    return find_or_make_worker(provider="link", external_id=name)
