"""How simulated workers rank: by the scores that they would give, which are equal if they are close."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import groupby

from analysis.stats.roles import Role

from ..campaigns.behaviours import Shown, SimulatedWorker
from ..models import MOST_OUTPUTS, Assignment, Item
from .saving import save_ranking

# Texts next to each other are compared with less noise than one text is scored. With half of it, simulated judges
# agree about as well as those of WMT15 did.
SIDE_BY_SIDE = 0.5
# Scores (0-100) in the same band get the same rank.
BAND = 10


def rank_screens(
    assignment: Assignment,
    person: SimulatedWorker,
    qualities: Mapping[int, float],
    *,
    at: datetime,
) -> datetime:
    """Rank every screen of a HIT, from this time on; return when the last one was ranked."""
    clock, judge = at, replace(person, noise_sd=SIDE_BY_SIDE * person.noise_sd)
    items = assignment.hit.items.select_related("translation__segment").order_by("position")
    for screen, outputs in groupby(items, key=lambda item: item.screen):
        shown = list(outputs)
        seconds = sum(person.seconds() for _ in shown)
        clock += timedelta(seconds=seconds)
        scores = [_score(assignment, judge, qualities, item) for item in shown]
        claimed_ms = round(1000 * seconds)
        save_ranking(
            assignment=assignment,
            position=screen,
            ranks=dict(zip([item.code for item in shown], ranks_of(scores), strict=True)),
            elapsed_ms=claimed_ms,
            active_ms=claimed_ms,
            at=clock,
        )
    return clock


def _score(
    assignment: Assignment, person: SimulatedWorker, qualities: Mapping[int, float], item: Item
) -> int:
    gray = assignment.hit.campaign.gray_text(item.translation.segment)
    quality = qualities[item.translation_id]
    return person.score(Role(item.role), item.translation_id, quality, Shown(item.text, gray))


def ranks_of(scores: list[int]) -> list[int]:
    """Return ranks from 1 for the best, equal within a band."""
    bands = [score // BAND for score in scores]
    order = sorted(set(bands), reverse=True)
    return [min(order.index(band) + 1, MOST_OUTPUTS) for band in bands]
