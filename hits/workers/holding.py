"""Hold submitted HITs whose times are impossible, so that they count only if a person says so."""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from django.utils import timezone

from analysis.stats.timing import BURST, ObservedTimes, observed_times

from ..models import Assignment, Campaign, Rating
from ..people.audit import record
from ..task_kinds import kind_of

# Audit log actions.
PUT_ON_HOLD = "HIT put on hold"
COUNTED, DISCARDED = "held HIT counted", "held HIT discarded"
HOLD_ACTIONS = (PUT_ON_HOLD, COUNTED, DISCARDED)


def hold_if_impossible(*, assignment: Assignment) -> bool:
    """Hold a submitted HIT that nobody can have done in its time, or not by hand; return whether this call did.

    Only under the guarded rule, and once: a HIT that was decided about is not held again.
    """
    campaign = assignment.hit.campaign
    if campaign.trust_rule != Campaign.TrustRule.GUARDED:
        return False
    times = times_of(assignment)
    reason = reason_in_words(times) if times.is_impossible else ""
    reason = f"{reason} {kind_of(campaign).reason_to_hold(assignment)}".strip()
    if not reason:
        return False
    not_held = Assignment.objects.submitted().filter(pk=assignment.pk, hold="")
    if not not_held.update(hold=Assignment.Hold.HELD, hold_reason=reason, held_at=timezone.now()):
        return False
    record(
        PUT_ON_HOLD,
        campaign=campaign,
        worker=assignment.worker,
        reason=reason,
        hit=assignment.hit.number,
        assignment=str(assignment.code),
    )
    return True


def times_of(assignment: Assignment) -> ObservedTimes:
    """Measure the pace of a HIT from when its ratings reached the server."""
    return times_of_all([assignment])[assignment.pk]


def times_of_all(assignments: Sequence[Assignment]) -> dict[int, ObservedTimes]:
    """Measure the pace of several HITs in one query; return it by their keys."""
    tables = {kind_of(assignment.hit.campaign).answers for assignment in assignments}
    # All items of a screen are answered at once.
    names = ("assignment_id", "item__screen", "received_at", "active_ms")
    rows = [
        (*row, table is Rating)
        for table in tables
        for row in table._default_manager.filter(assignment__in=assignments).values_list(*names)
    ]
    ratings: dict[int, dict[tuple[int, float], float]] = defaultdict(dict)
    for pk, position, received, active_ms, is_share in rows:
        claimed = np.nan if active_ms is None else active_ms / 1000
        screen = (position, received.timestamp())
        # Of ranks, each has the time of its screen; of ratings, its share of it.
        ratings[pk][screen] = claimed + (ratings[pk].get(screen, 0.0) if is_share else 0.0)
    times = {}
    for assignment in assignments:
        screens = sorted((*screen, claim) for screen, claim in ratings[assignment.pk].items())
        columns = np.array(screens, dtype=np.float64).reshape(-1, 3)
        positions, received_at, claims = columns.T
        started = assignment.started_at.timestamp()
        times[assignment.pk] = observed_times(
            positions.astype(np.int64), received_at, claims, started=started
        )
    return times


def reason_in_words(times: ObservedTimes) -> str:
    """Say why these times are impossible."""
    reasons = []
    if times.is_too_fast:
        reasons.append(
            f"{BURST} ratings in a row reached the server within {times.fastest_burst:.1f} seconds."
        )
    if times.claims_too_much:
        reasons.append(
            f"The browser reported {times.claimed:.0f} seconds of reading, but only "
            f"{times.passed:.0f} seconds passed."
        )
    return " ".join(reasons)
