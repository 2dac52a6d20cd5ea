"""HITs rated at a human pace, or faster than anyone can read."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.utils import timezone

from hits.models import Assignment, Campaign, Worker
from hits.rating.assignments import submit_assignment, take_assignment
from hits.workers.trust import update_evidence
from tests.factories import make_hits, rate

SCRIPT_SECONDS = 0.01
READER_SECONDS = 9.0


def make_guarded_hits(**fields: object) -> Campaign:
    return make_hits(**{"trust_rule": Campaign.TrustRule.GUARDED} | fields)


def rate_at(
    assignment: Assignment, moments: Sequence[datetime], *, active_ms: int | None = None
) -> Assignment:
    """Rate the items so that they reach the server at these moments, and submit the HIT.

    Degraded items are scored lower, as an attentive reader would.
    """
    items = assignment.hit.items.order_by("position")
    for item, moment in zip(items, moments, strict=True):
        score = 20 + item.position % 7 if item.role == item.Role.BAD_REFERENCE.value else 70
        rate(assignment, item, score=score + item.position % 11, active_ms=active_ms, at=moment)
    return submit_assignment(assignment=assignment, at=moments[-1])


def do_hit(
    campaign: Campaign, worker: Worker, *, seconds: float = READER_SECONDS, is_weighed: bool = True
) -> Assignment:
    """Let the worker do the next HIT with this many seconds for each item, and weigh it."""
    start = timezone.now() - timedelta(hours=2)
    assignment = take_assignment(campaign=campaign, worker=worker, at=start)
    assert assignment is not None
    moments = [start + timedelta(seconds=seconds * n) for n in range(1, assignment.hit.size + 1)]
    rate_at(assignment, moments, active_ms=round(1000 * seconds))
    if is_weighed:
        update_evidence(assignment=assignment)
        assignment.refresh_from_db()
    return assignment


def do_held_hit(campaign: Campaign, worker: Worker) -> Assignment:
    """Let the worker do a HIT as fast as a script, so that it is held."""
    assignment = do_hit(campaign, worker, seconds=SCRIPT_SECONDS)
    assert assignment.hold == Assignment.Hold.HELD
    return assignment
