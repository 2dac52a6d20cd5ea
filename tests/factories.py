"""Makers of rows with defaults that a test can override."""

import itertools
from typing import Any

from hits.models import Campaign, Segment, System, SystemOutput, Translation, Worker

_numbers = itertools.count(1)
WORDS = [
    "the",
    "old",
    "bridge",
    "over",
    "a",
    "quiet",
    "river",
    "was",
    "closed",
    "for",
    "repairs",
    "until",
    "late",
    "spring",
]


def make_campaign(**fields: Any) -> Campaign:
    defaults = {
        "name": f"campaign {next(_numbers)}",
        "source_language": "de",
        "target_language": "en",
        "hit_size": 40,
        "seed": 7,
    }
    return Campaign.objects.create(**defaults | fields)


def make_worker(name: str = "") -> Worker:
    return Worker.objects.create(provider="link", external_id=name or f"worker-{next(_numbers)}")


def make_translations(
    campaign: Campaign, *, n_segments: int = 14, n_systems: int = 2
) -> list[Translation]:
    """Fill a campaign with texts, all different; the defaults make one HIT of 40 items."""
    systems = [
        System.objects.create(campaign=campaign, name=f"system-{chr(97 + i)}")
        for i in range(n_systems)
    ]
    translations = []
    for number in range(1, n_segments + 1):
        segment = Segment.objects.create(
            campaign=campaign,
            position=number,
            name=f"segment-{number}",
            source=f"Quelle {number} {sentence(number)}",
            reference=f"Reference {number} {sentence(number + 3)}.",
        )
        for system in systems:
            text = f"Text {number} of {system.name} {sentence(number + system.pk)}."
            translation = Translation.objects.create(
                segment=segment, text=text, fingerprint=text.encode()[:16]
            )
            SystemOutput.objects.create(system=system, segment=segment, translation=translation)
            translations.append(translation)
    return translations


def sentence(number: int) -> str:
    turn = number % len(WORDS)
    return " ".join(WORDS[turn:] + WORDS[:turn])
