"""From rows to `Rankings`: the only way from stored ranks to arrays."""

from collections import defaultdict
from collections.abc import Collection
from typing import Any

from django.db.models import QuerySet

from analysis.stats.judgements import SKIPPED, Rankings, rankings
from analysis.stats.roles import Role

from ..models import Assignment, Campaign, Rank, SystemOutput
from ..rating.places import with_standing

# Degraded outputs are nobody's.
RANKED_ROLES = (Role.GENUINE.value, Role.REPEAT.value)
SEVERAL_SCREENS = 1_000


def load_rankings(campaign: Campaign, *, trusted_only: bool = True) -> Rankings:
    """Return the counted rankings of a campaign, a row for each system behind an output.

    Segments, judges and systems are primary keys.
    """
    assignments = Assignment.objects.counted().filter(hit__campaign=campaign)
    if trusted_only:
        trusted = with_standing(assignments).filter(is_trusted=True)
        assignments = Assignment.objects.filter(pk__in=trusted.values("pk"))
    return _expand(
        campaign, Rank.objects.filter(assignment__in=assignments, item__role__in=RANKED_ROLES)
    )


def _expand(campaign: Campaign, ranks: QuerySet[Rank]) -> Rankings:
    systems: dict[int, list[int]] = defaultdict(list)
    outputs = SystemOutput.objects.filter(segment__campaign=campaign).order_by("system")
    for translation, system in outputs.values_list("translation_id", "system_id"):
        systems[translation].append(system)
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
