"""From rows to `Rankings`: the only way from stored ranks to arrays."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from django.db.models import QuerySet
from numpy.typing import NDArray

from analysis.stats.judgements import SKIPPED, Rankings, rankings
from analysis.stats.quality_control import NO_PARTNER
from analysis.stats.roles import Role

from ..campaigns.importing.storing import fingerprint
from ..models import (
    MOST_OUTPUTS,
    Assignment,
    Campaign,
    Participation,
    Rank,
    SystemOutput,
    Translation,
)
from ..rating.places import with_standing

# Degraded outputs are nobody's.
RANKED_ROLES = (Role.GENUINE.value, Role.REPEAT.value)
SEVERAL_SCREENS = 1_000


def load_rankings(campaign: Campaign, *, trusted_only: bool = True) -> Rankings:
    """Return the counted rankings of a campaign, a row for each system behind an output.

    Segments, judges and systems are primary keys.
    """
    everyone = Assignment.objects.counted().filter(hit__campaign=campaign)
    assignments = trusted_assignments(campaign) if trusted_only else everyone
    return _expand(
        campaign, Rank.objects.filter(assignment__in=assignments, item__role__in=RANKED_ROLES)
    )


def trusted_assignments(campaign: Campaign) -> QuerySet[Assignment]:
    """Return the counted assignments of trusted workers."""
    counted = Assignment.objects.counted().filter(hit__campaign=campaign)
    trusted = with_standing(counted).filter(is_trusted=True)
    return Assignment.objects.filter(pk__in=trusted.values("pk"))


def _expand(campaign: Campaign, ranks: QuerySet[Rank]) -> Rankings:
    systems = systems_by_translation(campaign)
    stored = ranks.order_by("assignment", "item__screen", "place").values_list(
        "assignment_id",
        "item__screen",
        "item__translation__segment_id",
        "assignment__worker_id",
        "item__translation_id",
        "place",
        "rank",
    )
    rows = [
        (
            assignment * SEVERAL_SCREENS + screen,
            *(segment, worker, system, place),
            SKIPPED if rank is None else rank,
        )
        for assignment, screen, segment, worker, translation, place, rank in stored.iterator()
        for system in systems[translation]
    ]
    return rankings(*(zip(*rows, strict=True) if rows else [[]] * 6))


def systems_by_translation(campaign: Campaign) -> dict[int, list[int]]:
    """Return the keys of the systems that each translation stands for.

    Outputs of a segment that are equal but for case, punctuation and white space are shown once, for all their systems.
    """
    own: dict[int, list[int]] = defaultdict(list)
    outputs = SystemOutput.objects.filter(segment__campaign=campaign).order_by("system")
    for translation, system in outputs.values_list("translation_id", "system_id"):
        own[translation].append(system)
    if campaign.is_archive or campaign.merges_near_identical:
        # Those who collected an archive decided what was shown once.
        return own
    equal: dict[tuple[int, bytes], list[int]] = defaultdict(list)
    texts = Translation.objects.filter(segment__campaign=campaign).order_by()
    for pk, segment, text in texts.values_list("pk", "segment_id", "text").iterator():
        equal[segment, fingerprint(text, near=True)].append(pk)
    shared = [(pks, sorted(system for pk in pks for system in own[pk])) for pks in equal.values()]
    return {pk: systems for pks, systems in shared for pk in pks}


def load_shown(assignments: Collection[int]) -> list[dict[str, Any]]:
    """Return the ranks of these assignments with what each output is, screen by screen."""
    ranks = Rank.objects.filter(assignment__in=list(assignments))
    rows = ranks.order_by("assignment", "item__screen", "place").values(
        "assignment_id",
        "item_id",
        "item__screen",
        "item__role",
        "item__translation_id",
        "item__translation__segment_id",
        "assignment__worker_id",
        "place",
        "rank",
    )
    return [dict(row) for row in rows]


def score_of(rank: int | None) -> int:
    """Return a rank as a score from 0 to 100, for what all kinds of task share; a skipped output is in the middle."""
    return 50 if rank is None else round(100 * (MOST_OUTPUTS - rank) / (MOST_OUTPUTS - 1))


def load_worker_ranks(participation: Participation) -> NDArray[Any]:
    """Load one worker's counted ranks as scores, as `rating.arrays.load_worker_ratings` loads ratings."""
    counted = Assignment.objects.counted().of(participation)
    rows = Rank.objects.filter(assignment__in=counted).values_list(
        "assignment_id",
        "item__position",
        "item_id",
        "item__partner_id",
        "item__role",
        "rank",
        "received_at",
        "active_ms",
    )
    ints = ("assignment", "position", "item", "partner", "role", "score")
    return np.array(
        sorted(
            (
                *keys,
                NO_PARTNER if partner is None else partner,
                role,
                score_of(rank),
                received.timestamp(),
                np.nan if active_ms is None else active_ms / 1000,
            )
            for *keys, partner, role, rank, received, active_ms in rows
        ),
        dtype=[*((name, "i8") for name in ints), ("received", "f8"), ("claimed", "f8")],
    )


def load_scores(assignments: Mapping[int, int]) -> NDArray[Any]:
    """Load the ranks of these assignments, given with their workers, as scores."""
    rows = Rank.objects.filter(assignment__in=list(assignments)).values_list(
        "assignment_id", "item_id", "rank"
    )
    return np.array(
        [(pk, item, score_of(rank), assignments[pk]) for pk, item, rank in rows],
        dtype=[("assignment", "i8"), ("item", "i8"), ("score", "i8"), ("worker", "i8")],
    )
