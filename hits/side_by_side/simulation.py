"""How simulated workers rate side by side: each output as if it stood alone."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from itertools import groupby

from analysis.stats.roles import Role

from ..campaigns.behaviours import Shown, SimulatedWorker
from ..models import Assignment
from .saving import save_screen


def rate_screens(
    assignment: Assignment,
    person: SimulatedWorker,
    qualities: Mapping[int, float],
    *,
    at: datetime,
) -> datetime:
    """Rate every screen of a HIT, from this time on; return when the last one was rated."""
    clock, campaign = at, assignment.hit.campaign
    items = assignment.hit.items.select_related("translation__segment").order_by("position")
    for screen, outputs in groupby(items, key=lambda item: item.screen):
        shown = list(outputs)
        seconds = sum(person.seconds() for _ in shown)
        clock += timedelta(seconds=seconds)
        claimed = person.pace.claimed
        claimed_ms = round(1000 * (claimed * len(shown) if claimed else seconds))
        save_screen(
            assignment=assignment,
            position=screen,
            scores={
                item.code: person.score(
                    Role(item.role),
                    item.translation_id,
                    qualities[item.translation_id],
                    Shown(item.text, campaign.gray_text(item.translation.segment)),
                )
                for item in shown
            },
            elapsed_ms=claimed_ms,
            active_ms=claimed_ms,
            at=clock,
        )
    return clock
