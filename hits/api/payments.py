"""Payments over the API: what is owed, runs that are confirmed by list and total, and the ledger."""

from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Literal
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from ninja import Query, Router, Schema, Status
from ninja.pagination import paginate
from pydantic import Field

from analysis.api.jobs import JobOut
from analysis.models import Job

from ..exceptions import PaymentRefused
from ..models import Assignment, Payment, PaymentRun, PayRule
from ..payments import runs
from ..payments.owing import Due, Kind, Plan, plan_run, plans
from ..payments.reporting import payments_csv, standing
from ..payments.sending import ask_again
from ..recruiting.arrivals import recruitment_of
from .auth import Needs, Scope
from .texts import Money, Reason, Text, Total, a_file, caller_of, own_campaign

router = Router(tags=["Payments"])

What = Literal["approve", "bonus"]
# Through the provider, or outside the platform from a list.
Way = Literal["provider", "hand"]
Short = Annotated[Reason, Field(max_length=500)]
# Above nothing, to the cent.
Amount = Annotated[Money, Field(gt=0)]


class PlanOut(Schema):
    """What a run would pay. To confirm it, send its digest and its total back."""

    kind: str
    way: Way
    n_payments: int
    total: Decimal
    currency: str
    digest: str

    @staticmethod
    def resolve_way(plan: Plan) -> str:
        return "hand" if plan.is_by_hand else "provider"

    @staticmethod
    def resolve_currency(plan: Plan) -> str:
        return plan.campaign.currency


class StandingOut(Schema):
    """Where the money is. `open` is confirmed and under way, `unknown` waits for a person."""

    provider: str
    currency: str
    owed: Decimal
    open: Decimal
    paid: Decimal
    failed: Decimal
    unknown: Decimal
    n_open: int
    n_paid: int
    n_failed: int
    n_unknown: int
    n_rejected: int
    committed: Decimal
    spending_cap: Decimal | None
    left: Decimal | None
    plans: list[PlanOut]


class DueOut(Schema):
    assignment: UUID
    worker: str
    amount: Decimal
    message: str
    rule: UUID | None

    @staticmethod
    def resolve_assignment(due: Due) -> UUID:
        return due.work.code

    @staticmethod
    def resolve_worker(due: Due) -> str:
        return due.work.worker

    @staticmethod
    def resolve_rule(due: Due) -> UUID | None:
        return due.rule.code if due.rule else None


class ConfirmIn(Schema):
    """The plan that was looked at: its kind, its way, and its digest and total once more."""

    kind: What
    way: Way
    digest: Annotated[Text, Field(min_length=64, max_length=64)]
    total: Total


class RunOut(Schema):
    code: UUID
    kind: str
    is_by_hand: bool
    n_payments: int
    total: Decimal
    currency: str
    digest: str
    confirmed_by: str | None
    confirmed_at: datetime
    finished_at: datetime | None

    @staticmethod
    def resolve_confirmed_by(run: PaymentRun) -> str | None:
        return run.confirmed_by.get_username() if run.confirmed_by else None


class ReceiptOut(RunOut):
    """A run, what of it was paid, and how many payments are in which state."""

    paid: Decimal
    states: dict[str, int]

    @staticmethod
    def resolve_paid(run: PaymentRun) -> Decimal:
        return Decimal(runs.receipt(run)["paid"])

    @staticmethod
    def resolve_states(run: PaymentRun) -> dict[str, int]:
        states: dict[str, int] = runs.receipt(run)["states"]
        return states


class PaymentOut(Schema):
    """A line of the ledger."""

    code: UUID
    run: UUID
    assignment: UUID
    worker: str
    kind: str
    amount: Decimal
    currency: str
    state: str
    message: str
    reference: str
    problem: str
    settled_at: datetime | None

    @staticmethod
    def resolve_run(payment: Payment) -> UUID:
        return payment.run.code

    @staticmethod
    def resolve_assignment(payment: Payment) -> UUID:
        return payment.assignment.code

    @staticmethod
    def resolve_worker(payment: Payment) -> str:
        return str(payment.assignment.worker)


class LedgerFilter(Schema):
    state: Payment.State | None = None
    run: UUID | None = None


class PaidIn(Schema):
    """The list's total once more, and how the payment can be found, such as a number of a transfer."""

    total: Total
    reference: Annotated[Reason, Field(max_length=200)]


class RejectionIn(Schema):
    """The worker reads the message; some providers want a category and so many characters."""

    message: Annotated[Reason, Field(max_length=1_000)]
    category: Annotated[Text, Field(max_length=40)] = ""


class ReasonIn(Schema):
    reason: Short


class SettleIn(Schema):
    """A person's word with how they know, or the wish to ask the provider once more.

    `write_off` is for a payment that failed: it is owed no more.
    """

    answer: Literal["paid", "not_paid", "ask", "write_off"]
    reason: Annotated[Text, Field(max_length=500)] = ""


class RuleIn(Schema):
    """A bonus for every HIT, an adjustment for one, or a share for unfinished ones (without an amount)."""

    kind: PayRule.Kind
    reason: Short
    amount: Amount | None = None
    assignment: UUID | None = None


class RuleOut(Schema):
    code: UUID
    kind: str
    amount: Decimal | None
    reason: str
    assignment: UUID | None
    created_at: datetime
    withdrawn_at: datetime | None

    @staticmethod
    def resolve_assignment(rule: PayRule) -> UUID | None:
        return rule.assignment.code if rule.assignment else None


# What is owed --------------------------------------------------------------------------------


@router.get("/{uuid:code}/payments", response=StandingOut, auth=Needs(Scope.PAY))
def get_standing(request: HttpRequest, code: UUID) -> dict[str, Any]:
    """Where a campaign's money is, and what could be paid now."""
    campaign = own_campaign(request, code)
    owed = plans(campaign)
    found = standing(campaign, owed)
    names = [name for name in StandingOut.model_fields if hasattr(found, name)]
    return {
        "provider": recruitment_of(campaign).provider,
        "currency": campaign.currency,
        "plans": owed,
    } | {name: getattr(found, name) for name in names}


@router.get("/{uuid:code}/payments/plan/{kind}/{way}", response=PlanOut, auth=Needs(Scope.PAY))
def get_plan(request: HttpRequest, code: UUID, kind: What, way: Way) -> Plan:
    """What a run would pay now: how many, how much, and the digest that names the very list."""
    return plan_run(own_campaign(request, code), Kind(kind), is_by_hand=way == "hand")


@router.get(
    "/{uuid:code}/payments/plan/{kind}/{way}/dues", response=list[DueOut], auth=Needs(Scope.PAY)
)
@paginate
def list_dues(request: HttpRequest, code: UUID, kind: What, way: Way) -> list[Due]:
    """The very payments of that plan."""
    return get_plan(request, code, kind, way).dues


# Runs ----------------------------------------------------------------------------------------


@router.get("/{uuid:code}/payments/runs", response=list[RunOut], auth=Needs(Scope.PAY))
@paginate
def list_runs(request: HttpRequest, code: UUID) -> QuerySet[PaymentRun]:
    """The runs that people confirmed, newest first."""
    return own_campaign(request, code).payment_runs.select_related("confirmed_by").order_by("-pk")


@router.post(
    "/{uuid:code}/payments/runs", response={201: RunOut, 200: RunOut}, auth=Needs(Scope.PAY)
)
def confirm(request: HttpRequest, code: UUID, wanted: ConfirmIn) -> Status[PaymentRun]:
    """Confirm what was looked at. If anything changed since, nothing is paid (409).

    The same list a second time is paid once: the run that it was confirmed as is answered (200).
    """
    run, is_new = runs.confirm_once(
        campaign=own_campaign(request, code),
        kind=wanted.kind,
        is_by_hand=wanted.way == "hand",
        digest=wanted.digest,
        total=wanted.total,
        actor=caller_of(request),
    )
    return Status(201 if is_new else 200, run)


@router.get("/{uuid:code}/payments/runs/{uuid:run}", response=ReceiptOut, auth=Needs(Scope.PAY))
def get_run(request: HttpRequest, code: UUID, run: UUID) -> PaymentRun:
    """A run and its receipt."""
    return _run(request, code, run)


@router.post(
    "/{uuid:code}/payments/runs/{uuid:run}/paid", response=ReceiptOut, auth=Needs(Scope.PAY)
)
def mark_as_paid(request: HttpRequest, code: UUID, run: UUID, wanted: PaidIn) -> PaymentRun:
    """Note that a list was paid outside the platform."""
    found = _run(request, code, run)
    runs.mark_as_paid(run=found, actor=caller_of(request), **wanted.model_dump())
    return _run(request, code, run)


@router.post(
    "/{uuid:code}/payments/runs/{uuid:run}/go-on", response={202: JobOut}, auth=Needs(Scope.PAY)
)
def go_on(request: HttpRequest, code: UUID, run: UUID) -> Status[Job]:
    """Go on with a run that stopped on its way; one that is under way is not started twice."""
    return Status(202, runs.go_on(run=_run(request, code, run), actor=caller_of(request)))


@router.post(
    "/{uuid:code}/payments/runs/{uuid:run}/cancel", response=ReceiptOut, auth=Needs(Scope.PAY)
)
def cancel_run(request: HttpRequest, code: UUID, run: UUID) -> PaymentRun:
    """Take back what has not been begun: it is owed again."""
    runs.cancel_run(run=_run(request, code, run), actor=caller_of(request))
    return _run(request, code, run)


# The ledger ----------------------------------------------------------------------------------


@router.get("/{uuid:code}/payments/ledger", response=list[PaymentOut], auth=Needs(Scope.PAY))
@paginate
def list_ledger(
    request: HttpRequest, code: UUID, filters: Query[LedgerFilter]
) -> QuerySet[Payment]:
    """Every payment there is, in the order they were planned."""
    lines = Payment.objects.filter(run__campaign=own_campaign(request, code))
    if filters.state:
        lines = lines.filter(state=filters.state)
    if filters.run:
        lines = lines.filter(run__code=filters.run)
    return lines.select_related("run", "assignment__worker").order_by("pk")


@router.get(
    "/{uuid:code}/payments/ledger.csv", auth=Needs(Scope.PAY), openapi_extra=a_file("text/csv")
)
def download_ledger(request: HttpRequest, code: UUID) -> HttpResponse:
    """The ledger as a file."""
    campaign = own_campaign(request, code)
    text = payments_csv(Payment.objects.filter(run__campaign=campaign))
    answer = HttpResponse(text, content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="payments-of-{campaign.code}.csv"'
    return answer


@router.post(
    "/{uuid:code}/payments/ledger/{uuid:payment}/settle",
    response=PaymentOut,
    auth=Needs(Scope.PAY),
)
def settle(request: HttpRequest, code: UUID, payment: UUID, wanted: SettleIn) -> Payment:
    """Say what became of a payment that the provider could not tell about, or write one off."""
    own = Payment.objects.filter(run__campaign=own_campaign(request, code))
    found = get_object_or_404(
        own.select_related("assignment__worker", "run__campaign"), code=payment
    )
    if wanted.answer == "ask":
        ask_again(payment=found)
        found.refresh_from_db()
        return found
    if wanted.answer == "write_off":
        return runs.write_off(payment=found, reason=wanted.reason, actor=caller_of(request))
    return runs.settle_unknown(
        payment=found,
        was_paid=wanted.answer == "paid",
        reason=wanted.reason,
        actor=caller_of(request),
    )


# Rejections and rules ------------------------------------------------------------------------


@router.post(
    "/{uuid:code}/payments/assignments/{uuid:assignment}/reject",
    response={201: RunOut},
    auth=Needs(Scope.PAY),
)
def reject(
    request: HttpRequest, code: UUID, assignment: UUID, wanted: RejectionIn
) -> Status[PaymentRun]:
    """Refuse payment for work handed in. The ratings count as before: that is another decision."""
    work = _work(request, code, assignment)
    run = runs.reject_assignment(assignment=work, actor=caller_of(request), **wanted.model_dump())
    return Status(201, run)


@router.post(
    "/{uuid:code}/payments/assignments/{uuid:assignment}/withdraw-rejection",
    response=PaymentOut,
    auth=Needs(Scope.PAY),
)
def withdraw_rejection(
    request: HttpRequest, code: UUID, assignment: UUID, wanted: ReasonIn
) -> Payment:
    """Take a rejection back: the work is owed again."""
    rejection = runs.rejection_of(_work(request, code, assignment))
    if rejection is None:
        raise PaymentRefused("This work was not rejected.")
    return runs.withdraw_rejection(
        payment=rejection, reason=wanted.reason, actor=caller_of(request)
    )


@router.get("/{uuid:code}/payments/rules", response=list[RuleOut], auth=Needs(Scope.PAY))
@paginate
def list_rules(request: HttpRequest, code: UUID) -> QuerySet[PayRule]:
    """What was promised beside the pay per HIT, newest first."""
    return own_campaign(request, code).pay_rules.select_related("assignment").order_by("-pk")


@router.post("/{uuid:code}/payments/rules", response={201: RuleOut}, auth=Needs(Scope.PAY))
def add_rule(request: HttpRequest, code: UUID, wanted: RuleIn) -> Status[PayRule]:
    """Promise money beside the pay per HIT. It is owed from now on, and paid by a run."""
    work = _work(request, code, wanted.assignment) if wanted.assignment else None
    rule = runs.add_rule(
        campaign=own_campaign(request, code),
        kind=wanted.kind.value,
        reason=wanted.reason,
        amount=wanted.amount,
        assignment=work,
        actor=caller_of(request),
    )
    return Status(201, rule)


@router.post(
    "/{uuid:code}/payments/rules/{uuid:rule}/withdraw", response=RuleOut, auth=Needs(Scope.PAY)
)
def withdraw_rule(request: HttpRequest, code: UUID, rule: UUID) -> PayRule:
    """Promise no more by this rule. What was paid, or is in a run, stays."""
    found = get_object_or_404(
        own_campaign(request, code).pay_rules.select_related("campaign"), code=rule
    )
    return runs.withdraw_rule(rule=found, actor=caller_of(request))


def _run(request: HttpRequest, code: UUID, run: UUID) -> PaymentRun:
    own = own_campaign(request, code).payment_runs.select_related("confirmed_by", "campaign")
    return get_object_or_404(own, code=run)


def _work(request: HttpRequest, code: UUID, assignment: UUID) -> Assignment:
    own = Assignment.objects.filter(hit__campaign=own_campaign(request, code))
    own = own.select_related("hit__campaign", "worker", "submission")
    return get_object_or_404(own, code=assignment)
