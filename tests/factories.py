"""Factories for rows, with defaults that a test can override."""

import itertools
from hashlib import sha256
from typing import Any

from django.db.models import QuerySet

from hits.campaigns.building import build_hits
from hits.campaigns.lifecycle import change_status
from hits.models import (
    Assignment,
    AuditEntry,
    Campaign,
    Item,
    Recruitment,
    Segment,
    System,
    SystemOutput,
    Translation,
    Worker,
)
from hits.rating.saving import SavedRating, save_rating

_numbers = itertools.count(1)
SENTENCE = "the old bridge over a quiet river was closed for repairs until late spring"


def make_campaign(*, is_open: bool = True, **fields: Any) -> Campaign:
    """Make a campaign; by default, anyone with its link can take part."""
    defaults = {
        "name": f"campaign {next(_numbers)}",
        "source_language": "de",
        "target_language": "en",
        "hit_size": 40,
        "seed": 7,
        # Tests of the published method; those of balanced texts and the guarded rule choose them.
        "degradation": Campaign.Degradation.PUBLISHED,
        "trust_rule": Campaign.TrustRule.PUBLISHED,
    }
    campaign = Campaign.objects.create(**defaults | fields)
    if is_open:
        Recruitment.objects.create(campaign=campaign, is_open=True)
    return campaign


def make_worker(name: str = "") -> Worker:
    return Worker.objects.create(provider="link", external_id=name or f"worker-{next(_numbers)}")


def make_translations(
    campaign: Campaign, *, n_segments: int = 14, n_systems: int = 2
) -> list[Translation]:
    """Fill a campaign with different texts, by default enough for one HIT of 40 items."""
    systems = System.objects.bulk_create(
        System(campaign=campaign, name=f"system-{chr(97 + i)}") for i in range(n_systems)
    )
    segments = Segment.objects.bulk_create(
        Segment(
            campaign=campaign,
            position=number,
            name=f"segment-{number}",
            source=f"Quelle {number} {sentence(number)}",
            reference=f"Reference {number} {sentence(number + 3)}.",
        )
        for number in range(1, n_segments + 1)
    )
    pairs = [
        (segment, place, system)
        for segment in segments
        for place, system in enumerate(systems, start=1)
    ]
    translations = Translation.objects.bulk_create(
        _translation(
            segment,
            f"Text {segment.position} of {system.name} {sentence(segment.position + place)}.",
        )
        for segment, place, system in pairs
    )
    SystemOutput.objects.bulk_create(
        SystemOutput(system=system, segment=segment, translation=translation)
        for (segment, _, system), translation in zip(pairs, translations, strict=True)
    )
    return translations


def _translation(segment: Segment, text: str) -> Translation:
    return Translation(segment=segment, text=text, fingerprint=sha256(text.encode()).digest()[:16])


def sentence(number: int) -> str:
    words = SENTENCE.split()
    turn = number % len(words)
    return " ".join(words[turn:] + words[:turn])


def make_hits(*, n_segments: int = 14, **fields: Any) -> Campaign:
    """Make an open campaign with HITs, by default one of 40 items."""
    campaign = make_campaign(**fields)
    make_translations(campaign, n_segments=n_segments)
    build_hits(campaign=campaign)
    return change_status(campaign=campaign, to=Campaign.Status.OPEN)


def log_lines() -> QuerySet[AuditEntry]:
    """The audit log without the entries of `make_hits`."""
    return AuditEntry.objects.exclude(actor=None, action__in=["HITs built", "campaign opened"])


def rate_items(assignment: Assignment, *, n_items: int | None = None) -> None:
    """Rate the first items of the assignment, or all of them."""
    for item in assignment.hit.items.order_by("position")[:n_items]:
        rate(assignment, item, score=item.position % 101)


def rate(assignment: Assignment, item: Item, *, score: Any = 50, **fields: Any) -> SavedRating:
    return save_rating(
        assignment=assignment, position=item.position, item_code=item.code, score=score, **fields
    )
