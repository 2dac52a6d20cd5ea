"""How many workers each HIT still needs, and what that will cost.

A campaign wants a number of trusted ratings for each translation, so each HIT wants that many assignments
by trusted workers. Work in progress counts as promised, and so does work by unproven workers who may
still prove themselves. If work is discarded, or its worker does not come back, its place opens again.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.db.models import (
    BooleanField,
    Case,
    Count,
    Exists,
    F,
    FilteredRelation,
    Min,
    OuterRef,
    Q,
    QuerySet,
    Sum,
    Value,
    When,
)
from django.utils import timezone

from ..models import HIT, Assignment, Campaign, Participation, Payment, PaymentRun, PayRule, Worker
from ..task_facts import sizes_of
from ..task_kinds import kind_of

# The pass rate to assume before anyone has been judged: about half the workers of WMT13 passed.
ASSUMED_PASS_RATE = 0.5
# The lowest pass rate to plan with, in percent.
LOWEST_PASSING = 5
# The pace is that of the last day, or of the whole campaign if it is younger.
PACE_WINDOW = timedelta(days=1)

NOTHING = Decimal(0)

# Statuses in which an assignment may keep a place; not to be confused with `Assignment.Hold`.
HELD = (Assignment.Status.IN_PROGRESS, Assignment.Status.SUBMITTED)


# The promise rule ----------------------------------------------------------------------------

# Outcomes of a held assignment that provide, or may still provide, a trusted rating of each item.
PROMISED = frozenset({"trusted", "unproven", "in_progress", "on_hold"})


def expected_outcome(
    status: str, *, is_trusted: bool, is_discarded: bool, may_prove: bool, hold: str = ""
) -> str | None:
    """What a held assignment counts as, or None if it does not count.

    Discarded work in progress may be finished and is paid, but its place is offered again. A HIT on
    hold for impossible times keeps its place until it is decided about.
    """
    if status == Assignment.Status.IN_PROGRESS:
        return None if is_discarded else "in_progress"
    if is_discarded or hold == Assignment.Hold.DISCARDED:
        return "discarded"
    if hold == Assignment.Hold.HELD:
        return "on_hold"
    if is_trusted:
        return "trusted"
    return "unproven" if may_prove else "stalled"


def places_wanted(campaign: Campaign, n_promised: int) -> int:
    """How many places a HIT offers when this many assignments are promised; none once looks have ended it."""
    if campaign.stopped_at is not None:
        return 0
    return max(0, campaign.min_ratings - n_promised)


def with_prospects(
    assignments: QuerySet[Assignment],
    campaign: Campaign,
    now: datetime,
    *,
    n_hits: int | None = None,
) -> QuerySet[Any]:
    """Annotate held assignments with what `expected_outcome` needs. Pass `n_hits` to save a query."""
    may_prove = (
        _may_prove_themselves(campaign, now)
        if can_prove_workers(campaign, n_hits)
        else Value(True, output_field=BooleanField())
    )
    return with_standing(assignments).annotate(may_prove=may_prove)


def with_standing(assignments: QuerySet[Assignment]) -> QuerySet[Any]:
    """Annotate assignments with whether they count: their worker is trusted or discarded in their campaign.

    A drifting worker may be trusted in earlier assignments and discarded in later ones.
    """
    participations = Participation.objects.filter(
        campaign=OuterRef("hit__campaign"), worker=OuterRef("worker")
    )
    since = participations.left_out_since()
    is_left_out = Exists(since.filter(drifted_at__lte=OuterRef("submitted_at"))) | (
        Q(submitted_at=None) & Exists(since)
    )
    return assignments.annotate(
        is_trusted=Q(Exists(participations.trusted())) & ~is_left_out,
        is_discarded=Q(Exists(participations.discarded())) | is_left_out,
    )


def left_out_assignments(campaign: Campaign) -> list[int]:
    """Return submitted assignments whose ratings do not count although their worker may be trusted.

    They are held or discarded for impossible times, or were submitted after the worker drifted.
    """
    submitted = Assignment.objects.submitted().filter(hit__campaign=campaign)
    not_counted = Q(hold__in=Assignment.NOT_COUNTED)
    if campaign.drift == Campaign.Drift.LEAVE_OUT_SINCE:
        drifting = Participation.objects.filter(
            campaign=campaign, worker=OuterRef("worker"), drifted_at__lte=OuterRef("submitted_at")
        )
        not_counted |= Q(Exists(drifting.left_out_since()))
    return list(submitted.filter(not_counted).order_by("pk").values_list("pk", flat=True))


def can_prove_workers(campaign: Campaign, n_hits: int | None = None) -> bool:
    """Whether someone who does every HIT has enough pairs to be judged.

    If nobody can, opening places for lack of proof would only collect more unproven work. The places
    stay closed, and a person has to decide.
    """
    n_hits = campaign.hits.count() if n_hits is None else n_hits
    needed = kind_of(campaign).fewest_sets(campaign)
    return n_hits * (campaign.hit_size // sizes_of(campaign.task).set_size) >= needed


def _may_prove_themselves(campaign: Campaign, now: datetime) -> Exists:
    """Whether more evidence may come: from a HIT in progress, on hold, not yet weighed, or still to be taken.

    A worker who was active within the time a HIT may take is expected back. It does not matter
    whether a place is open right now: otherwise two workers waiting for each other's places would
    open and close them in turn. A worker who has done every HIT, or as many as one worker may do, is not
    expected back.
    """
    own_assignments = Assignment.objects.filter(
        hit__campaign=campaign, worker=OuterRef("worker")
    ).order_by()
    untaken = HIT.objects.filter(campaign=campaign).exclude(
        Exists(Assignment.objects.filter(hit=OuterRef("pk"), worker=OuterRef(OuterRef("worker"))))
    )
    may_take_another = Q(Exists(untaken))
    if limit := campaign.max_hits_per_worker:
        taken = own_assignments.exclude(status=Assignment.Status.RETURNED)
        may_take_another &= ~Q(Exists(taken[limit - 1 : limit]))
    patience = now - timedelta(minutes=campaign.lease_minutes)
    is_unweighed = Q(status=Assignment.Status.SUBMITTED, evidence_at=None)
    is_recent = Q(status=Assignment.Status.SUBMITTED, submitted_at__gt=patience)
    return Exists(
        own_assignments.annotate(may_take_another=may_take_another).filter(
            Q(status=Assignment.Status.IN_PROGRESS)
            | is_unweighed
            | Q(hold=Assignment.Hold.HELD)
            | (is_recent & Q(may_take_another=True))
        )
    )


# Settling ------------------------------------------------------------------------------------


def settle_places(*, campaign: Campaign, hits: Iterable[int], at: datetime | None = None) -> None:
    """Set how many places these HITs offer, from what is wanted and what is promised."""
    if campaign.is_archive:
        return
    # Always in the same order, to avoid deadlocks.
    for pk in sorted(set(hits)):
        _settle(campaign, pk, at or timezone.now())


@transaction.atomic
def _settle(campaign: Campaign, pk: int, now: datetime) -> None:
    # Taking a place updates this row first, so with the row locked nobody can take one in between.
    HIT.objects.select_for_update(no_key=True).get(pk=pk)
    # A separate query after the lock: PostgreSQL rereads only the locked row after waiting, not what
    # is joined to it.
    campaign = _reread(campaign)
    held = with_prospects(Assignment.objects.filter(hit=pk, status__in=HELD), campaign, now)
    facts = held.values("status", "hold", "is_trusted", "is_discarded", "may_prove")
    n_promised = sum(expected_outcome(**fact) in PROMISED for fact in facts)
    places = places_wanted(campaign, n_promised)
    HIT.objects.filter(pk=pk).exclude(places_left=places).update(places_left=places)


def _reread(campaign: Campaign) -> Campaign:
    """Reread the campaign: a job may hold an instance for an hour while its settings change."""
    return Campaign.objects.get(pk=campaign.pk)


def settle_after_return(*, campaign: Campaign, worker: Worker) -> None:
    """Close places that were opened because this worker, who is now back, was not expected."""
    hits = worker.assignments.submitted().filter(hit__campaign=campaign, hit__places_left__gt=0)
    settle_places(campaign=campaign, hits=hits.values_list("hit", flat=True))


def settle_unproven(*, at: datetime | None = None) -> int:
    """Open the places of unproven workers who have not come back. Return how many HITs changed."""
    now = at or timezone.now()
    n_changed = 0
    for campaign in Campaign.objects.filter(status=Campaign.Status.OPEN):
        unproven = campaign.participations.filter(decision="", trust=Participation.Trust.UNPROVEN)
        unproven_work = Assignment.objects.submitted().filter(
            hit__campaign=campaign, worker__in=unproven.values("worker")
        )
        hits = campaign.hits.filter(pk__in=unproven_work.values("hit"))
        changed = unsettled_hits(campaign, hits, now)
        settle_places(campaign=campaign, hits=changed, at=now)
        n_changed += len(changed)
    return n_changed


def unsettled_hits(campaign: Campaign, hits: QuerySet[HIT], now: datetime) -> list[int]:
    """Return the HITs that offer a wrong number of places."""
    campaign = _reread(campaign)
    work = work_by_hit(campaign, hits, now)
    return [
        pk
        for pk, places in hits.order_by().values_list("pk", "places_left")
        if places != places_wanted(campaign, work[pk].n_promised if pk in work else 0)
    ]


@dataclass(slots=True)
class Work:
    """The assignments of one or more HITs, counted by expected outcome."""

    n_trusted: int = 0
    n_unproven: int = 0
    n_stalled: int = 0
    n_in_progress: int = 0
    n_discarded: int = 0
    n_on_hold: int = 0

    @property
    def n_promised(self) -> int:
        return sum(getattr(self, f"n_{outcome}") for outcome in PROMISED)

    def add(self, outcome: str | None, n: int) -> None:
        if outcome:
            setattr(self, f"n_{outcome}", getattr(self, f"n_{outcome}") + n)


def work_by_hit(
    campaign: Campaign, hits: QuerySet[HIT], now: datetime, *, n_hits: int | None = None
) -> dict[int, Work]:
    """Count the held assignments of these HITs by expected outcome, always in two queries."""
    standing = FilteredRelation(
        "worker__participations", condition=Q(worker__participations__campaign=campaign)
    )
    held = Assignment.objects.filter(hit__in=hits.order_by(), status__in=HELD).order_by()
    held = held.annotate(standing=standing)
    # Whether it was submitted after its worker drifted; work in progress will be.
    is_late = Case(
        When(standing__drifted_at=None, then=Value(False)),
        When(submitted_at__lt=F("standing__drifted_at"), then=Value(False)),
        default=Value(True),
    )
    groups = held.annotate(is_after_drift=is_late).values_list(
        "hit", "status", "hold", "standing__trust", "standing__decision", "is_after_drift"
    )
    work: dict[int, Work] = defaultdict(Work)
    for hit, status, hold, trust, decision, is_after_drift, n in groups.annotate(n=Count("pk")):
        # A worker whose first HIT is not weighed yet may have no participation.
        worker = Participation(
            campaign=campaign,
            trust=trust or Participation.Trust.UNPROVEN,
            decision=decision or "",
            drifted_at=now if is_after_drift else None,
        )
        is_left_out = worker.left_out_since is not None
        outcome = expected_outcome(
            status,
            is_trusted=worker.is_trusted and not is_left_out,
            is_discarded=worker.is_discarded or is_left_out,
            # Set below, where it matters.
            may_prove=False,
            hold=hold,
        )
        work[hit].add(outcome, n)
    unproven = held.filter(
        Q(standing=None) | Q(standing__trust=Participation.Trust.UNPROVEN, standing__decision=""),
        status=Assignment.Status.SUBMITTED,
    ).exclude(hold__in=Assignment.NOT_COUNTED)
    waited_for = with_prospects(unproven, campaign, now, n_hits=n_hits).filter(may_prove=True)
    for hit, n in waited_for.values_list("hit").annotate(n=Count("pk")):
        work[hit].add("stalled", -n)
        work[hit].add("unproven", n)
    return work


# Money ---------------------------------------------------------------------------------------


def cost_per_hit(campaign: Campaign) -> Decimal:
    """What one more HIT costs: its pay, and the bonuses for every submitted HIT."""
    flat = campaign.pay_rules.filter(kind=PayRule.Kind.FLAT, withdrawn_at=None)
    return campaign.pay_per_hit + (flat.aggregate(total=Sum("amount"))["total"] or NOTHING)


def amount_owed(campaign: Campaign, per_hit: Decimal | None = None) -> Decimal:
    """The cost of submitted HITs, HITs in progress, and other payments: what the spending cap limits.

    It does not depend on whether ratings count. Pass `per_hit` to save a query.
    """
    held = Assignment.objects.filter(hit__campaign=campaign, status__in=HELD, is_rejected=False)
    per_hit = cost_per_hit(campaign) if per_hit is None else per_hit
    return held.count() * per_hit + _other_payments(campaign)


def _other_payments(campaign: Campaign) -> Decimal:
    """Payments made or due beyond the cost of HITs, minus what was written off."""
    is_of_hits = Q(kind=PaymentRun.Kind.APPROVE) | Q(
        rule__kind=PayRule.Kind.FLAT, rule__withdrawn_at=None
    )
    # A share paid by hand is deducted from the pay once the work is submitted.
    is_of_pay = Q(
        rule__kind=PayRule.Kind.PARTIAL, run__is_by_hand=True, assignment__status__in=HELD
    )
    is_paid = Q(state__in=[*Payment.OPEN, Payment.State.SENT])
    sums = Payment.objects.filter(run__campaign=campaign).aggregate(
        other=Sum("amount", filter=is_paid & ~is_of_hits & ~is_of_pay),
        written_off=Sum("amount", filter=is_of_hits & Q(state=Payment.State.WRITTEN_OFF)),
    )
    return (sums["other"] or NOTHING) - (sums["written_off"] or NOTHING)


def n_affordable(campaign: Campaign, n: int) -> int:
    """How many of `n` more HITs stay within the spending cap."""
    if campaign.spending_cap is None:
        return n
    per_hit = cost_per_hit(campaign)
    budget = campaign.spending_cap - amount_owed(campaign, per_hit)
    if budget < 0:
        return 0
    return min(n, int(budget // per_hit)) if per_hit else n


def is_affordable(campaign: Campaign) -> bool:
    """Whether one more HIT stays within the spending cap. Call it with the campaign locked."""
    return n_affordable(campaign, 1) == 1


def still_to_collect(n_missing: int, n_promised: int, pass_percent: int) -> int:
    """Return how many more assignments will be paid, including those that will not pass.

    Some of the promised ones, unproven or in progress, will fail as well and be asked for again.
    """
    lacking = 100 * n_missing + (100 - pass_percent) * n_promised
    return -(-lacking // pass_percent)


@dataclass(frozen=True, slots=True)
class Forecast:
    """What a campaign has, what it lacks, and what it will probably cost to complete.

    Counts are of assignments, each of which rates every genuine item of its HIT. `n_unproven` may still
    become trusted; `n_stalled` are unproven too, but not expected to. `n_on_hold` wait for a decision about
    their impossible times. `n_surplus` are trusted beyond what their HIT wanted, by workers who proved
    reliable after their place was given away.
    """

    n_wanted: int
    n_trusted: int
    n_unproven: int
    n_stalled: int
    n_in_progress: int
    n_discarded: int
    n_missing: int
    n_surplus: int
    can_prove_workers: bool
    pass_rate: float
    is_pass_rate_measured: bool
    cost_per_hit: Decimal
    currency: str
    spent: Decimal
    spending_cap: Decimal | None
    per_day: float
    at: datetime
    # With a default, because counts stored before there were holds lack it.
    n_on_hold: int = 0

    @property
    def pass_percent(self) -> int:
        """The pass rate as pages show it and as costs are calculated with it."""
        return max(LOWEST_PASSING, round(100 * self.pass_rate))

    @property
    def n_undecided(self) -> int:
        """Promised assignments that are not trusted yet."""
        return self.n_unproven + self.n_in_progress + self.n_on_hold

    @property
    def n_so_far(self) -> int:
        """Assignments that are paid whatever becomes of them."""
        return self.n_trusted + self.n_undecided + self.n_stalled + self.n_discarded

    @property
    def n_counting(self) -> int:
        """Trusted assignments, without those beyond what their HIT wanted."""
        return self.n_trusted - self.n_surplus

    @property
    def n_expected(self) -> int:
        return still_to_collect(self.n_missing, self.n_undecided, self.pass_percent)

    @property
    def expected_cost(self) -> Decimal:
        return self.n_expected * self.cost_per_hit

    @property
    def total_cost(self) -> Decimal:
        """What workers will have got once the campaign is complete."""
        return self.spent + self.expected_cost

    @property
    def is_stopped_by_cap(self) -> bool:
        return (
            self.spending_cap is not None
            and self.n_missing > 0
            and self.spent + self.cost_per_hit > self.spending_cap
        )

    @property
    def is_complete(self) -> bool:
        return self.n_missing + self.n_undecided == 0

    @property
    def done_at(self) -> datetime | None:
        """When it will be complete at the current pace, or None if there is no pace."""
        n_left = self.n_expected + self.n_in_progress
        return self.at + timedelta(days=n_left / self.per_day) if self.per_day else None


def forecast(
    campaign: Campaign,
    *,
    at: datetime | None = None,
    by_hit: dict[int, Work] | None = None,
) -> Forecast:
    """Forecast the campaign. Pass `by_hit`, the result of `work_by_hit` for all HITs, to save queries."""
    now = at or timezone.now()
    n_hits = campaign.hits.count()
    if by_hit is None:
        by_hit = work_by_hit(campaign, campaign.hits.all(), now, n_hits=n_hits)
    work = list(by_hit.values())
    names = ("n_trusted", "n_unproven", "n_stalled", "n_in_progress", "n_discarded", "n_on_hold")
    counts = {name: sum(getattr(hit_work, name) for hit_work in work) for name in names}
    n_judged = counts["n_trusted"] + counts["n_discarded"]
    # Per HIT, because the surplus of one does not help another.
    n_promised = sum(min(hit_work.n_promised, campaign.min_ratings) for hit_work in work)
    n_surplus = sum(max(0, hit_work.n_trusted - campaign.min_ratings) for hit_work in work)
    per_hit = cost_per_hit(campaign)
    return Forecast(
        n_wanted=n_hits * campaign.min_ratings,
        n_missing=0 if campaign.stopped_at else n_hits * campaign.min_ratings - n_promised,
        n_surplus=n_surplus,
        can_prove_workers=can_prove_workers(campaign, n_hits),
        # Above 0, because the expected number of assignments is divided by it.
        pass_rate=max(counts["n_trusted"], 0.5) / n_judged if n_judged else ASSUMED_PASS_RATE,
        is_pass_rate_measured=bool(n_judged),
        cost_per_hit=per_hit,
        currency=campaign.currency,
        spent=amount_owed(campaign, per_hit),
        spending_cap=campaign.spending_cap,
        per_day=_submitted_per_day(campaign, now),
        at=now,
        **counts,
    )


def _submitted_per_day(campaign: Campaign, now: datetime) -> float:
    recent = Assignment.objects.submitted().filter(
        hit__campaign=campaign, submitted_at__gt=now - PACE_WINDOW, submitted_at__lte=now
    )
    facts = recent.aggregate(n=Count("pk"), first=Min("started_at"))
    if not facts["n"]:
        return 0.0
    span = min(now - facts["first"], PACE_WINDOW)
    return float(facts["n"] * (timedelta(days=1) / max(span, timedelta(minutes=1))))
