"""API: what is owed, payment runs, the ledger, rejections and bonuses."""

from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Literal
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from ninja import Query, Router, Schema, Status
from ninja.pagination import paginate
from pydantic import Field, WithJsonSchema

from da_platform.jobs.models import Job

from ..exceptions import PaymentRefused
from ..models import Assignment, Payment, PaymentRun, PayRule
from ..payments import runs
from ..payments.owing import Due, Kind, Plan, plan_run, plans
from ..payments.people import people_csv, people_paid
from ..payments.reporting import payments_csv, standing
from ..payments.sending import ask_again
from ..people.access import user_of
from ..recruiting.arrivals import recruitment_of
from .auth import Needs, Scope, own_campaign
from .field_types import Input, Money, Reason, Text, Total, file_response
from .jobs import JobOut

router = Router(tags=["Payments"])

What = Literal["approve", "bonus"]
# Through the provider, or by hand outside the platform.
Way = Literal["provider", "hand"]
Short = Annotated[Reason, Field(max_length=500)]
Amount = Annotated[Money, Field(gt=0)]


class PlanOut(Schema):
    """What a run would pay. To confirm it, send back its digest and total."""

    kind: str
    way: Way
    n_payments: int
    total: Decimal
    currency: str = Field(alias="campaign.currency")
    digest: str

    @staticmethod
    def resolve_way(plan: Plan) -> str:
        return "hand" if plan.is_by_hand else "provider"


class StandingOut(Schema):
    """Totals by state. `open` is confirmed but not yet paid; `unknown` needs a person to settle it."""

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
    assignment: UUID = Field(alias="work.code")
    worker: str = Field(alias="work.worker")
    amount: Decimal
    message: str
    rule: UUID | None

    @staticmethod
    def resolve_rule(due: Due) -> UUID | None:
        return due.rule.code if due.rule else None


class ConfirmIn(Input):
    """The plan to confirm, with its digest and total."""

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
    """A run, the amount paid, and the number of payments in each state."""

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
    run: UUID = Field(alias="run.code")
    assignment: UUID = Field(alias="assignment.code")
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
    def resolve_worker(payment: Payment) -> str:
        return str(payment.assignment.worker)


class LedgerFilter(Schema):
    # Described in place: a job's states have the same name in the API's description.
    state: (
        Annotated[Payment.State, WithJsonSchema({"type": "string", "enum": Payment.State.values})]
        | None
    ) = None
    run: UUID | None = None


class PaidIn(Input):
    """The total of the list, and a reference such as a transaction number."""

    total: Total
    reference: Annotated[Reason, Field(max_length=200)]


class RejectionIn(Input):
    """The message is shown to the worker; some providers require a category and a minimum length."""

    message: Annotated[Reason, Field(max_length=1_000)]
    category: Annotated[Text, Field(max_length=40)] = ""


class ReasonIn(Input):
    reason: Short


class SettleIn(Input):
    """What became of the payment and how you know, or `ask` to query the provider again.

    `write_off` is for a failed payment, which is then no longer owed.
    """

    answer: Literal["paid", "not_paid", "ask", "write_off"]
    reason: Annotated[Text, Field(max_length=500)] = ""


class RuleIn(Input):
    """A bonus for every HIT, an adjustment for one, or partial pay for unfinished ones (no amount)."""

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
def get_payments(request: HttpRequest, code: UUID) -> dict[str, Any]:
    """Get a campaign's totals, and what could be paid now."""
    campaign = own_campaign(request, code)
    owed = plans(campaign)
    totals = standing(campaign, owed)
    names = [name for name in StandingOut.model_fields if hasattr(totals, name)]
    return {
        "provider": recruitment_of(campaign).provider,
        "currency": campaign.currency,
        "plans": owed,
    } | {name: getattr(totals, name) for name in names}


@router.get("/{uuid:code}/payments/plan/{kind}/{way}", response=PlanOut, auth=Needs(Scope.PAY))
def get_plan(request: HttpRequest, code: UUID, kind: What, way: Way) -> Plan:
    """Get what a run would pay now: count, total, and a digest of the payments."""
    return plan_run(own_campaign(request, code), Kind(kind), is_by_hand=way == "hand")


@router.get(
    "/{uuid:code}/payments/plan/{kind}/{way}/dues", response=list[DueOut], auth=Needs(Scope.PAY)
)
@paginate
def list_dues(request: HttpRequest, code: UUID, kind: What, way: Way) -> list[Due]:
    """List the payments of a plan."""
    return get_plan(request, code, kind, way).dues


# Runs ----------------------------------------------------------------------------------------


@router.get("/{uuid:code}/payments/runs", response=list[RunOut], auth=Needs(Scope.PAY))
@paginate
def list_payment_runs(request: HttpRequest, code: UUID) -> QuerySet[PaymentRun]:
    """List confirmed runs, newest first."""
    return own_campaign(request, code).payment_runs.select_related("confirmed_by").order_by("-pk")


@router.post(
    "/{uuid:code}/payments/runs", response={201: RunOut, 200: RunOut}, auth=Needs(Scope.PAY)
)
def confirm_plan(request: HttpRequest, code: UUID, payload: ConfirmIn) -> Status[PaymentRun]:
    """Confirm a plan. If it has changed since, nothing is paid (409).

    Confirming the same plan twice pays it once: the second time returns the existing run (200).
    """
    run, is_new = runs.confirm_once(
        campaign=own_campaign(request, code),
        kind=payload.kind,
        is_by_hand=payload.way == "hand",
        digest=payload.digest,
        total=payload.total,
        actor=user_of(request),
    )
    return Status(201 if is_new else 200, run)


@router.get("/{uuid:code}/payments/runs/{uuid:run}", response=ReceiptOut, auth=Needs(Scope.PAY))
def get_payment_run(request: HttpRequest, code: UUID, run: UUID) -> PaymentRun:
    """Get a run and its receipt."""
    return _run(request, code, run)


@router.post(
    "/{uuid:code}/payments/runs/{uuid:run}/paid", response=ReceiptOut, auth=Needs(Scope.PAY)
)
def mark_as_paid(request: HttpRequest, code: UUID, run: UUID, payload: PaidIn) -> PaymentRun:
    """Record that a run was paid outside the platform."""
    payment_run = _run(request, code, run)
    runs.mark_as_paid(run=payment_run, actor=user_of(request), **payload.model_dump())
    return _run(request, code, run)


@router.post(
    "/{uuid:code}/payments/runs/{uuid:run}/go-on", response={202: JobOut}, auth=Needs(Scope.PAY)
)
def continue_payment_run(request: HttpRequest, code: UUID, run: UUID) -> Status[Job]:
    """Resume a run that stopped early; a run in progress is not started twice."""
    return Status(202, runs.go_on(run=_run(request, code, run), actor=user_of(request)))


@router.post(
    "/{uuid:code}/payments/runs/{uuid:run}/cancel", response=ReceiptOut, auth=Needs(Scope.PAY)
)
def cancel_payment_run(request: HttpRequest, code: UUID, run: UUID) -> PaymentRun:
    """Cancel payments that have not been sent; they are owed again."""
    runs.cancel_run(run=_run(request, code, run), actor=user_of(request))
    return _run(request, code, run)


# The ledger ----------------------------------------------------------------------------------


@router.get("/{uuid:code}/payments/ledger", response=list[PaymentOut], auth=Needs(Scope.PAY))
@paginate
def list_ledger(
    request: HttpRequest, code: UUID, filters: Query[LedgerFilter]
) -> QuerySet[Payment]:
    """List all payments, in the order they were planned."""
    lines = Payment.objects.filter(run__campaign=own_campaign(request, code))
    if filters.state:
        lines = lines.filter(state=filters.state)
    if filters.run:
        lines = lines.filter(run__code=filters.run)
    return lines.select_related("run", "assignment__worker").order_by("pk")


@router.get(
    "/{uuid:code}/payments/ledger.csv",
    auth=Needs(Scope.PAY),
    openapi_extra=file_response("text/csv"),
)
def download_ledger(request: HttpRequest, code: UUID) -> HttpResponse:
    """Download the ledger as CSV."""
    campaign = own_campaign(request, code)
    text = payments_csv(Payment.objects.filter(run__campaign=campaign))
    return _csv(text, f"payments-of-{campaign.code}.csv")


@router.get(
    "/{uuid:code}/payments/runs/{uuid:run}/people.csv",
    auth=Needs(Scope.PAY),
    openapi_extra=file_response("text/csv"),
)
def download_people(request: HttpRequest, code: UUID, run: UUID) -> HttpResponse:
    """Download the list of a run as CSV: one row per person with the sum, completion codes and invite label."""
    campaign = own_campaign(request, code)
    payment_run = get_object_or_404(campaign.payment_runs, code=run)
    people = people_paid(campaign, payment_run.payments.all())
    return _csv(people_csv(people, payment_run.currency), f"people-{run}.csv")


def _csv(text: str, name: str) -> HttpResponse:
    response = HttpResponse(text, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


@router.post(
    "/{uuid:code}/payments/ledger/{uuid:payment}/settle",
    response=PaymentOut,
    auth=Needs(Scope.PAY),
)
def settle_payment(request: HttpRequest, code: UUID, payment: UUID, payload: SettleIn) -> Payment:
    """Settle a payment whose outcome is unknown, or write off a failed one."""
    ledger = Payment.objects.filter(run__campaign=own_campaign(request, code))
    ledger = ledger.select_related("assignment__worker", "run__campaign")
    line = get_object_or_404(ledger, code=payment)
    if payload.answer == "ask":
        ask_again(payment=line)
        line.refresh_from_db()
        return line
    if payload.answer == "write_off":
        return runs.write_off(payment=line, reason=payload.reason, actor=user_of(request))
    return runs.settle_unknown(
        payment=line,
        was_paid=payload.answer == "paid",
        reason=payload.reason,
        actor=user_of(request),
    )


# Rejections and rules ------------------------------------------------------------------------


@router.post(
    "/{uuid:code}/payments/assignments/{uuid:assignment}/reject",
    response={201: RunOut},
    auth=Needs(Scope.PAY),
)
def reject_assignment(
    request: HttpRequest, code: UUID, assignment: UUID, payload: RejectionIn
) -> Status[PaymentRun]:
    """Refuse payment for a submitted assignment. Its ratings still count unless decided otherwise."""
    work = _work(request, code, assignment)
    run = runs.reject_assignment(assignment=work, actor=user_of(request), **payload.model_dump())
    return Status(201, run)


@router.post(
    "/{uuid:code}/payments/assignments/{uuid:assignment}/withdraw-rejection",
    response=PaymentOut,
    auth=Needs(Scope.PAY),
)
def withdraw_rejection(
    request: HttpRequest, code: UUID, assignment: UUID, payload: ReasonIn
) -> Payment:
    """Withdraw a rejection; the assignment is owed again."""
    rejection = runs.rejection_of(_work(request, code, assignment))
    if rejection is None:
        raise PaymentRefused("This assignment was not rejected.")
    return runs.withdraw_rejection(payment=rejection, reason=payload.reason, actor=user_of(request))


@router.get("/{uuid:code}/payments/rules", response=list[RuleOut], auth=Needs(Scope.PAY))
@paginate
def list_rules(request: HttpRequest, code: UUID) -> QuerySet[PayRule]:
    """List bonuses and adjustments, newest first."""
    return own_campaign(request, code).pay_rules.select_related("assignment").order_by("-pk")


@router.post("/{uuid:code}/payments/rules", response={201: RuleOut}, auth=Needs(Scope.PAY))
def add_rule(request: HttpRequest, code: UUID, payload: RuleIn) -> Status[PayRule]:
    """Add a bonus or adjustment. It is owed at once, and paid by the next run."""
    work = _work(request, code, payload.assignment) if payload.assignment else None
    rule = runs.add_rule(
        campaign=own_campaign(request, code),
        kind=payload.kind.value,
        reason=payload.reason,
        amount=payload.amount,
        assignment=work,
        actor=user_of(request),
    )
    return Status(201, rule)


@router.post(
    "/{uuid:code}/payments/rules/{uuid:rule}/withdraw", response=RuleOut, auth=Needs(Scope.PAY)
)
def withdraw_rule(request: HttpRequest, code: UUID, rule: UUID) -> PayRule:
    """Withdraw a bonus or adjustment. Payments already made or confirmed are not affected."""
    rules = own_campaign(request, code).pay_rules.select_related("campaign")
    return runs.withdraw_rule(rule=get_object_or_404(rules, code=rule), actor=user_of(request))


def _run(request: HttpRequest, code: UUID, run: UUID) -> PaymentRun:
    payment_runs = own_campaign(request, code).payment_runs
    return get_object_or_404(payment_runs.select_related("confirmed_by", "campaign"), code=run)


def _work(request: HttpRequest, code: UUID, assignment: UUID) -> Assignment:
    assignments = Assignment.objects.filter(hit__campaign=own_campaign(request, code))
    assignments = assignments.select_related("hit__campaign", "worker", "submission")
    return get_object_or_404(assignments, code=assignment)
