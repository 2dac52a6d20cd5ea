"""What is owed to each worker: it depends on assignments and pay rules, never on how good the ratings are."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import ROUND_DOWN, Decimal
from functools import cached_property
from hashlib import sha256
from typing import NamedTuple
from uuid import UUID

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet

from ..models import (
    Assignment,
    Campaign,
    Payment,
    PaymentRun,
    PayRule,
    Recruitment,
    Submission,
    Worker,
)
from ..recruiting.providers import provider_class
from ..task_kinds import kind_of

Kind = PaymentRun.Kind
CENT = Decimal("0.01")
NOTHING = Decimal("0.00")


WORK_COLUMNS = (
    "pk",
    "code",
    "status",
    "worker_id",
    "worker__provider",
    "worker__external_id",
    "submission__status",
)


class Work(NamedTuple):
    """The columns of an assignment that paying needs. Not a model, because a campaign may owe for 100,000 of them."""

    pk: int
    code: UUID
    status: str
    worker_id: int
    worker_provider: str
    worker_external_id: str
    # None if the campaign's provider does not know the worker.
    submission_status: str | None

    @property
    def worker(self) -> str:
        """The same text as `str(Worker)`."""
        return f"{self.worker_provider}:{self.worker_external_id}"

    @classmethod
    def of(cls, assignment: Assignment) -> "Work":
        return next(works(Assignment.objects.filter(pk=assignment.pk)))


def works(assignments: QuerySet[Assignment]) -> Iterator[Work]:
    return (Work._make(row) for row in assignments.values_list(*WORK_COLUMNS))


class Due(NamedTuple):
    """One payment that is owed and not started."""

    work: Work
    kind: Kind
    amount: Decimal
    message: str = ""
    rule: PayRule | None = None

    @property
    def key(self) -> str:
        """Identify a payment by what it is for, so that planning it again gives the same key."""
        parts = (self.kind, str(self.work.code), str(self.rule.code) if self.rule else "")
        return sha256(":".join(parts).encode()).hexdigest()


@dataclass(frozen=True)
class Plan:
    """What a run would pay, as shown to the person who confirms it."""

    campaign: Campaign
    kind: Kind
    is_by_hand: bool
    dues: list[Due]

    @cached_property
    def total(self) -> Decimal:
        return sum((due.amount for due in self.dues), NOTHING)

    @property
    def n_payments(self) -> int:
        return len(self.dues)

    @cached_property
    def digest(self) -> str:
        """Identify this exact list: who is paid, for what, and how much."""
        lines = sorted(
            f"{due.work.pk} {due.rule.pk if due.rule else ''} {due.amount:.2f}" for due in self.dues
        )
        head = f"{self.campaign.code} {self.kind} {self.is_by_hand} {self.campaign.currency}"
        return sha256("\n".join([head, *lines]).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Owed:
    """The number and sum of what a plan would list, added up by the database."""

    kind: Kind
    is_by_hand: bool
    n_payments: int
    total: Decimal


def totals_owed(campaign: Campaign) -> list[Owed]:
    """The totals of `plans`, without a list that may have 100,000 rows."""
    has_api = provider_can_pay(campaign)
    assignments = _assignments(campaign)
    partial = PayRule.objects.filter(campaign=campaign, kind=PayRule.Kind.PARTIAL)
    has_parts = partial.exists()
    parts = Payment.objects.filter(assignment=OuterRef("pk"), rule__in=partial)
    whole = _unpaid(assignments).filter(~Exists(parts)) if has_parts else _unpaid(assignments)
    rules = list(campaign.pay_rules.filter(withdrawn_at=None).order_by("pk"))
    flat = [rule for rule in rules if rule.kind == PayRule.Kind.FLAT]
    sums: dict[tuple[Kind, bool], tuple[int, Decimal]] = defaultdict(lambda: (0, NOTHING))

    def add(kind: Kind, status: str | None, amount: Decimal, n: int = 1) -> None:
        is_by_hand = _is_by_hand(status, kind, has_api)
        if n and (amount or not is_by_hand):
            before, total = sums[kind, is_by_hand]
            sums[kind, is_by_hand] = before + n, total + n * amount

    for status, n in _by_submission(whole, has_api):
        add(Kind.APPROVE, status, campaign.pay_per_hit, n)
    submitted = assignments.filter(status=Assignment.Status.SUBMITTED)
    n_submitted = _by_submission(submitted, has_api) if flat else []
    n_rewarded = _rewarded(flat, submitted, has_api)
    for rule in flat:
        for status, n in n_submitted:
            n_left = n - n_rewarded[rule.pk, status]
            add(Kind.BONUS, status, rule.amount or NOTHING, n_left)
    # Few: work that was paid in part, adjustments, and unfinished work.
    others = [rule for rule in rules if rule.kind != PayRule.Kind.FLAT]
    single: Iterable[Due] = ()
    if has_parts:
        single = _pay_per_hit(assignments.filter(Exists(parts)), campaign, has_api)
    for due in (*single, *_bonuses(assignments, campaign, others)):
        add(due.kind, due.work.submission_status, due.amount)
    order = [(kind, way) for kind in (Kind.APPROVE, Kind.BONUS) for way in (False, True)]
    return [Owed(*run, *sums[run]) for run in order if sums[run][0]]


def _by_submission(work: QuerySet[Assignment], has_api: bool) -> list[tuple[str | None, int]]:
    """Count work by its status at the provider, if that matters."""
    if not has_api:
        return [(None, work.count())]
    return list(work.order_by().values_list("submission__status").annotate(n=Count("pk")))


def _rewarded(
    rules: list[PayRule], submitted: QuerySet[Assignment], has_api: bool
) -> Counter[tuple[int, str | None]]:
    """How much submitted work has got each bonus, by rule and status as above."""
    rewarded: Counter[tuple[int, str | None]] = Counter()
    paid = Payment.objects.live().filter(rule__in=rules, assignment__in=submitted.order_by())
    counts = paid.order_by().values_list("rule", "assignment__submission__status")
    for rule, status, n in counts.annotate(n=Count("pk")) if rules else []:
        rewarded[rule, status if has_api else None] += n
    return rewarded


def plan_run(campaign: Campaign, kind: Kind, *, is_by_hand: bool) -> Plan:
    return _split(campaign, kind, provider_can_pay(campaign))[is_by_hand]


def plans(campaign: Campaign, worker: Worker | None = None) -> list[Plan]:
    """Everything owed, or owed to one worker, grouped into the runs that would pay it. Empty runs are left out."""
    has_api = provider_can_pay(campaign)
    splits = [_split(campaign, kind, has_api, worker) for kind in (Kind.APPROVE, Kind.BONUS)]
    return [plan for split in splits for plan in split if plan.dues]


def _split(
    campaign: Campaign, kind: Kind, has_api: bool, worker: Worker | None = None
) -> tuple[Plan, Plan]:
    """What is owed through the provider, and what is paid by hand."""
    assignments = _assignments(campaign)
    if worker:
        assignments = assignments.filter(worker=worker)
    is_pay = kind == Kind.APPROVE
    if is_pay:
        dues = list(_pay_per_hit(assignments, campaign, has_api))
    else:
        rules = list(campaign.pay_rules.filter(withdrawn_at=None).order_by("pk"))
        dues = _bonuses(assignments, campaign, rules)
    by_api, by_hand = [], []
    for due in dues:
        if not _is_by_hand(due.work.submission_status, kind, has_api):
            by_api.append(due)
        elif due.amount:
            # A provider must approve work that pays nothing; a list of people to pay does not need it.
            by_hand.append(due)
    return Plan(campaign, kind, False, by_api), Plan(campaign, kind, True, by_hand)


def provider_can_pay(campaign: Campaign) -> bool:
    recruitment = Recruitment.objects.filter(campaign=campaign).first()
    return recruitment is not None and provider_class(recruitment.provider).can_pay


def is_paid_by_hand(assignment: Assignment) -> bool:
    """Whether a HIT is paid or rejected outside the provider."""
    has_api = provider_can_pay(assignment.hit.campaign)
    return _is_by_hand(Work.of(assignment).submission_status, Kind.APPROVE, has_api)


def _is_by_hand(submission_status: str | None, kind: Kind, has_api: bool) -> bool:
    if not has_api or submission_status is None:
        # The provider does not know workers who came another way.
        return True
    # The provider cannot approve or reject work that was returned or timed out there, but it can pay a bonus.
    return kind != Kind.BONUS and submission_status in Submission.GIVEN_UP


def _assignments(campaign: Campaign) -> QuerySet[Assignment]:
    if campaign.is_archive:
        # The original collector has already paid.
        return Assignment.objects.none()
    # Forgotten workers cannot be paid, so workers who are owed money are kept unless an admin insists.
    assignments = Assignment.objects.filter(hit__campaign=campaign, worker__forgotten_at=None)
    return assignments.filter(is_rejected=False).order_by("pk")


def _pay_per_hit(
    assignments: QuerySet[Assignment], campaign: Campaign, has_api: bool
) -> Iterable[Due]:
    """Submitted work, late or not, minus any share already paid for it as unfinished work."""
    shares = _shares_paid(campaign)
    full = campaign.pay_per_hit
    for work in works(_unpaid(assignments)):
        if not _is_by_hand(work.submission_status, Kind.APPROVE, has_api):
            # A provider always pays the full reward; we cannot deduct anything.
            yield Due(work, Kind.APPROVE, full)
        elif (share := shares.get(work.pk, NOTHING)) is not None:
            yield Due(work, Kind.APPROVE, max(full - share, NOTHING))


def _unpaid(assignments: QuerySet[Assignment]) -> QuerySet[Assignment]:
    """Submitted work without a payment that is made, begun or written off."""
    begun = Payment.objects.live().filter(assignment=OuterRef("pk"), kind=Kind.APPROVE)
    return assignments.filter(~Exists(begun), status=Assignment.Status.SUBMITTED)


def _shares_paid(campaign: Campaign) -> dict[int, Decimal | None]:
    """What was paid for unfinished work, by assignment. None while the outcome is still open."""
    rows = Payment.objects.filter(rule__campaign=campaign, rule__kind=PayRule.Kind.PARTIAL)
    shares: dict[int, Decimal | None] = {}
    for assignment, state, amount in rows.values_list("assignment", "state", "amount"):
        before = shares.get(assignment, NOTHING)
        if state in Payment.OPEN or before is None:
            shares[assignment] = None
        elif state == Payment.State.SENT:
            shares[assignment] = before + amount
    return shares


def _bonuses(
    assignments: QuerySet[Assignment], campaign: Campaign, rules: list[PayRule]
) -> list[Due]:
    if not rules:
        return []
    paid = Payment.objects.live().filter(
        rule__campaign=campaign, assignment__in=assignments.order_by()
    )
    begun = set(paid.values_list("assignment", "rule"))
    work = _work_of(rules, assignments)
    return [
        due
        for rule in rules
        for due in _due_by(rule, assignments, campaign, work)
        if (due.work.pk, rule.pk) not in begun
    ]


def _work_of(rules: list[PayRule], assignments: QuerySet[Assignment]) -> dict[int, Work]:
    """The assignments the rules refer to, fetched in one query."""
    is_meant = Q(pk__in=[rule.assignment_id for rule in rules if rule.assignment_id])
    if any(rule.kind == PayRule.Kind.FLAT for rule in rules):
        is_meant |= Q(status=Assignment.Status.SUBMITTED)
    return {work.pk: work for work in works(assignments.filter(is_meant))}


def _due_by(
    rule: PayRule, assignments: QuerySet[Assignment], campaign: Campaign, work: dict[int, Work]
) -> Iterable[Due]:
    if rule.kind == PayRule.Kind.PARTIAL:
        return _shares(rule, assignments, campaign)
    assert rule.amount is not None
    if rule.kind == PayRule.Kind.FLAT:
        rewarded = [
            assignment
            for assignment in work.values()
            if assignment.status == Assignment.Status.SUBMITTED
        ]
    else:
        # Paid whatever became of the HIT: the promise was for this assignment.
        assert rule.assignment_id is not None
        rewarded = [work[rule.assignment_id]] if rule.assignment_id in work else []
    return [Due(assignment, Kind.BONUS, rule.amount, rule.reason, rule) for assignment in rewarded]


def _shares(rule: PayRule, assignments: QuerySet[Assignment], campaign: Campaign) -> Iterable[Due]:
    # Under any rule: replacing a withdrawn rule must not pay the same share again.
    earlier_shares = Payment.objects.live().filter(
        assignment=OuterRef("pk"), rule__kind=PayRule.Kind.PARTIAL
    )
    abandoned = _abandoned(assignments.filter(~Exists(earlier_shares)), campaign)
    answers = kind_of(campaign).answers._meta.get_field("assignment").related_query_name()
    done = abandoned.annotate(n_done=Count(f"{answers}__item"), size=F("hit__size"))
    for *row, n_done, size in done.values_list(*WORK_COLUMNS, "n_done", "size"):
        share = campaign.pay_per_hit * n_done / size
        amount = share.quantize(CENT, rounding=ROUND_DOWN)
        if amount:
            yield Due(Work._make(row), Kind.BONUS, amount, rule.reason, rule)


def _abandoned(work: QuerySet[Assignment], campaign: Campaign) -> QuerySet[Assignment]:
    """Unfinished work that nobody is likely to finish: returned, or expired in a closed campaign."""
    statuses = [Assignment.Status.RETURNED]
    if campaign.status == Campaign.Status.CLOSED:
        statuses.append(Assignment.Status.EXPIRED)
    return work.filter(status__in=statuses)


# By worker -----------------------------------------------------------------------------------


def creditors(campaign: Campaign, worker: Worker | None = None) -> dict[int, Decimal]:
    """How much a campaign owes, by worker key. Some workers are owed an approval of 0.00."""
    owed: dict[int, Decimal] = defaultdict(Decimal)
    for due in (due for plan in plans(campaign, worker) for due in plan.dues):
        owed[due.work.worker_id] += due.amount
    return dict(owed)


def owed_to(worker: Worker) -> dict[Campaign, Decimal]:
    """How much each campaign owes a worker. Campaigns that owe nothing are left out."""
    campaigns = Campaign.objects.filter(hits__assignments__worker=worker).distinct()
    owed = {campaign: creditors(campaign, worker).get(worker.pk) for campaign in campaigns}
    return {campaign: amount for campaign, amount in owed.items() if amount is not None}
