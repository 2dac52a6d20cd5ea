"""Looks at a campaign that stops when its ranking is decided: when one is due, on which work, and what follows.

What the work says is computed by `analysis.gold.looks`. This module only stores it, and acts on it: it adds the next
part of HITs for the systems or translations that the look names, or closes all places.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from da_platform.jobs.models import Job
from da_platform.jobs.running import start_job

from ..exceptions import CannotBuildHITs, LookRefused
from ..models import Assignment, Campaign, Look, SystemOutput
from ..people.audit import record
from ..rating.places import places_wanted, settle_places, with_standing, work_by_hit

JOB = "take_look"


@dataclass(frozen=True, slots=True)
class Waiting:
    """What a part still lacks before the next look."""

    n_places: int
    n_in_progress: int
    n_unproven: int
    n_on_hold: int

    def __bool__(self) -> bool:
        return any((self.n_places, self.n_in_progress, self.n_unproven, self.n_on_hold))

    def __str__(self) -> str:
        parts = (
            (self.n_places, "to be started"),
            (self.n_in_progress, "in progress"),
            (self.n_unproven, "by unproven workers"),
            (self.n_on_hold, "on hold"),
        )
        return ", ".join(f"{n:,} {what}" for n, what in parts if n)


def waiting_for(campaign: Campaign) -> Waiting:
    """Count the assignments that are still expected."""
    work = work_by_hit(campaign, campaign.hits.all(), timezone.now())
    unweighed = Assignment.objects.submitted().filter(hit__campaign=campaign, evidence_at=None)
    places = campaign.hits.order_by().values_list("pk", "places_left")
    return Waiting(
        # A place that an unproven worker did not come back for may not be offered again yet.
        n_places=sum(
            max(n, places_wanted(campaign, work[pk].n_promised if pk in work else 0))
            for pk, n in places
        ),
        n_in_progress=sum(each.n_in_progress for each in work.values()),
        n_unproven=max(sum(each.n_unproven for each in work.values()), unweighed.count()),
        n_on_hold=sum(each.n_on_hold for each in work.values()),
    )


def start_looks_where_due() -> int:
    """Start a job for each open campaign whose current part is done. Return how many were started.

    A job under way, or one that failed since the latest work, is not started again.
    """
    n_started = 0
    watched = Campaign.objects.filter(
        status=Campaign.Status.OPEN, n_looks__isnull=False, stopped_at=None
    )
    for campaign in watched:
        if not waiting_for(campaign) and _is_news(campaign):
            start_job(kind=JOB, campaign=campaign)
            n_started += 1
    return n_started


def _is_news(campaign: Campaign) -> bool:
    job = Job.objects.filter(campaign=campaign, kind=JOB).order_by("-pk").first()
    if job is None:
        return True
    work = Assignment.objects.filter(hit__campaign=campaign, evidence_at__gt=job.created_at)
    return job.finished_at is not None and work.exists()


@transaction.atomic
def begin_look(*, campaign: Campaign) -> Look:
    """Fix the work that the next look is about, or return the look that has begun; raise `LookRefused` if none is due.

    Every submitted assignment that counts at this moment is in it, and no other, whatever happens afterwards.
    """
    # Locked, so that only one look begins.
    locked = Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
    if locked.n_looks is None:
        raise LookRefused(f"{locked.name} has no looks: all its translations are rated.")
    if locked.stopped_at is not None:
        raise LookRefused(f"{locked.name} has had its last look.")
    if begun := locked.looks.filter(concluded_at=None).first():
        return begun
    number = locked.looks.count() + 1
    share = _share(locked, number)
    look = Look.objects.create(campaign=locked, number=number, share=share)
    submitted = Assignment.objects.submitted().filter(hit__campaign=locked)
    counted = with_standing(submitted.exclude(hold__in=Assignment.NOT_COUNTED))
    look.assignments.set(counted.filter(is_trusted=True).exclude(evidence_at=None))
    return look


def _share(campaign: Campaign, number: int) -> float:
    """Return how much of the planned work is done: whole parts, or less where a closed campaign was cut short."""
    assert campaign.n_looks is not None
    latest = campaign.hits.aggregate(latest=Max("part"))["latest"]
    if latest is None:
        raise LookRefused(f"{campaign.name} has no HITs yet. Build them first.")
    if latest < number:
        raise LookRefused(f"The HITs of part {number} are not built yet.")
    waiting = waiting_for(campaign)
    if not waiting:
        return number / campaign.n_looks
    if campaign.status != Campaign.Status.CLOSED:
        raise LookRefused(
            f"Look {number} of {campaign.name} is not due yet. Assignments it waits for: {waiting}."
        )
    hits = campaign.hits.filter(part=number)
    work = work_by_hit(campaign, hits, timezone.now())
    n_done = sum(each.n_trusted >= campaign.min_ratings for each in work.values())
    if not n_done:
        raise LookRefused(f"No HIT of part {number} is complete, so there is nothing to look at.")
    return (number - 1 + n_done / hits.count()) / campaign.n_looks


@transaction.atomic
def conclude_look(
    *, look: Look, result: dict[str, Any], is_last: bool, actor: User | None = None
) -> Look:
    """Store what a look found, once; a second call changes nothing. The last look closes all places.

    Workers who have a HIT may finish it: it is paid, and it counts in all gold that is built afterwards.
    """
    locked = Campaign.objects.select_for_update(no_key=True).get(pk=look.campaign_id)
    is_last = is_last or locked.status == Campaign.Status.CLOSED
    concluded = Look.objects.filter(pk=look.pk, concluded_at=None).update(
        concluded_at=timezone.now(), result=result, is_last=is_last
    )
    if concluded and is_last:
        locked.stopped_at = timezone.now()
        locked.save(update_fields=["stopped_at"])
        settle_places(campaign=locked, hits=locked.hits.values_list("pk", flat=True))
    if concluded:
        record(
            "look taken",
            actor=actor,
            campaign=locked,
            number=look.number,
            is_last=is_last,
            n_undecided=result["n_undecided"],
        )
    look.refresh_from_db()
    return look


def add_part(
    *,
    look: Look,
    actor: User | None = None,
    progress: Callable[[int], None] | None = None,
) -> int:
    """Add the HITs that follow a look, for the systems it names, and return how many; 0 if they are there already."""
    # Loads NumPy and SciPy, which web processes do without.
    from .building import store_hits
    from .composition import CannotCompose
    from .parts import plan_part

    campaign, part = Campaign.objects.get(pk=look.campaign_id), look.number + 1
    if look.is_last or look.concluded_at is None or _has_part(campaign, part):
        return 0
    try:
        plan = plan_part(campaign, part, wanted=_wanted(look), progress=progress)
    except CannotCompose as error:
        raise CannotBuildHITs(f"{campaign.name}: {error}") from error
    with transaction.atomic():
        locked = Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
        if _has_part(locked, part):
            return 0
        store_hits(locked, plan, first_number=locked.hits.count() + 1, part=part)
        record(
            "HITs added",
            actor=actor,
            campaign=locked,
            n_hits=len(plan.hits),
            n_undecided=look.result["n_undecided"],
        )
    return len(plan.hits)


def _wanted(look: Look) -> set[int]:
    """Return the keys of the translations that need more ratings after a look."""
    if look.campaign.looks_at_gold:
        return set(look.result["open_translations"])
    outputs = SystemOutput.objects.filter(
        system__campaign=look.campaign, system__name__in=look.result["open_systems"]
    )
    return set(outputs.values_list("translation_id", flat=True))


def _has_part(campaign: Campaign, part: int) -> bool:
    return campaign.hits.filter(part=part).exists()
