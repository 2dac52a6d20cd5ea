"""Decisions about money: confirm a run, mark a list as paid, reject work, settle unclear payments."""

from decimal import Decimal
from typing import Any

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils import timezone

from da_platform.jobs.models import Job
from da_platform.jobs.running import start_job

from ..exceptions import PaymentRefused
from ..models import Assignment, Campaign, Payment, PaymentRun, PayRule, Recruitment
from ..people.audit import record
from ..recruiting.providers import provider_class
from .owing import Due, Kind, Plan, Work, is_paid_by_hand, plan_run

State = Payment.State

CHANGED = (
    "What is owed has changed since this list was shown, so nothing was paid. "
    "Look at the new list and confirm that one."
)

# The reference of such payments in the ledger.
PAID_ELSEWHERE = "paid where the work was done"


# Runs ----------------------------------------------------------------------------------------


@transaction.atomic
def confirm_run(
    *,
    campaign: Campaign,
    kind: str,
    is_by_hand: bool,
    digest: str,
    total: Decimal,
    actor: User,
) -> PaymentRun:
    """Write a run and its payments to the ledger, if the list is the one the person saw.

    `digest` identifies that list and `total` is the amount the person typed. Nothing is sent here:
    a job sends payments to a provider, and people pay lists by hand.
    """
    campaign = _locked(campaign)
    plan = plan_run(campaign, Kind(kind), is_by_hand=is_by_hand)
    if not plan.dues or plan.digest != digest:
        raise PaymentRefused(CHANGED)
    if plan.total != total:
        raise PaymentRefused(
            f"The total is {plan.total} {campaign.currency}, not {total}. Nothing was paid."
        )
    run = _make_run(plan, actor)
    _write_payments(run, plan.dues)
    _record("confirm_payments", run, actor)
    if not run.is_by_hand:
        go_on(run=run, actor=actor)
    return run


def confirm_once(
    *, campaign: Campaign, kind: str, is_by_hand: bool, digest: str, total: Decimal, actor: User
) -> tuple[PaymentRun, bool]:
    """Confirm a run, or find the run confirmed earlier from the same list. Return whether it is new.

    For API clients, which may retry when they get no response.
    """
    choice = {"kind": kind, "is_by_hand": is_by_hand, "digest": digest, "total": total}
    try:
        return confirm_run(campaign=campaign, actor=actor, **choice), True  # type: ignore[arg-type]
    except PaymentRefused:
        earlier = PaymentRun.objects.filter(campaign=campaign, **choice).first()
        if earlier is None or not earlier.payments.live().exists():
            raise
        return earlier, False


def _locked(campaign: Campaign) -> Campaign:
    """Lock the campaign's money, so that a concurrent decision waits and then reads the new state."""
    return Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)


def go_on(*, run: PaymentRun, actor: User) -> Job:
    """Start the job that sends a run's payments, unless one is already running."""
    if run.is_by_hand or not run.payments.to_do().exists():
        raise PaymentRefused("There is nothing left in this run to send.")
    return latest_job(run, is_unfinished=True) or start_job(
        kind="pay", campaign=run.campaign, arguments={"run": str(run.code)}, started_by=actor
    )


def latest_job(run: PaymentRun, *, is_unfinished: bool = False) -> Job | None:
    jobs = Job.objects.unfinished() if is_unfinished else Job.objects.all()
    own_jobs = jobs.filter(kind="pay", campaign=run.campaign_id, arguments__run=str(run.code))
    return own_jobs.order_by("-pk").first()


@transaction.atomic
def note_paid_elsewhere(
    *, campaign: Campaign, references: dict[int, str], actor: User | None
) -> PaymentRun | None:
    """Record what was paid where the work was done, so that it is not paid again.

    `references` are the provider's, by assignment. Assignments already in a run are left alone.
    """
    if not references:
        return None
    campaign = _locked(campaign)
    owed = plan_run(campaign, Kind.APPROVE, is_by_hand=True).dues
    paid = [due for due in owed if due.work.pk in references]
    if not paid:
        return None
    run = _make_run(Plan(campaign, Kind.APPROVE, True, paid), actor)
    _write_payments(run, paid)
    lines = list(run.payments.all())
    for line in lines:
        line.state, line.settled_at = State.SENT, timezone.now()
        # The provider's id is removed when its worker is forgotten; what was paid, and where, stays.
        line.prepared = references[line.assignment_id]
        line.reference = PAID_ELSEWHERE
    settled = ["state", "settled_at", "prepared", "reference"]
    Payment.objects.bulk_update(lines, settled, batch_size=500)
    _record("note_payments_elsewhere", run, actor)
    close_run(run, actor=actor)
    return run


def _make_run(plan: Plan, actor: User | None) -> PaymentRun:
    return PaymentRun.objects.create(
        campaign=plan.campaign,
        kind=plan.kind,
        is_by_hand=plan.is_by_hand,
        n_payments=plan.n_payments,
        total=plan.total,
        currency=plan.campaign.currency,
        digest=plan.digest,
        confirmed_by=actor,
    )


def _write_payments(run: PaymentRun, dues: list[Due]) -> None:
    """Create one payment for each due. A payment that failed earlier moves to this run and keeps its key."""
    old = {
        payment.key: payment
        for payment in Payment.objects.filter(key__in=[due.key for due in dues])
    }
    for due in dues:
        if due.key in old:
            _plan_again(old[due.key], run, due)
    new = [_payment(run, due) for due in dues if due.key not in old]
    try:
        with transaction.atomic():
            Payment.objects.bulk_create(new)
    except IntegrityError as error:
        raise PaymentRefused(CHANGED) from error


def _payment(run: PaymentRun, due: Due, **fields: Any) -> Payment:
    return Payment(
        key=due.key,
        run=run,
        assignment_id=due.work.pk,
        kind=due.kind,
        rule=due.rule,
        amount=due.amount,
        currency=run.currency,
        message=due.message,
        **fields,
    )


def _plan_again(payment: Payment, run: PaymentRun, due: Due) -> None:
    # Keep what was announced to the provider, so that sending asks about it first.
    planned = Payment.objects.filter(pk=payment.pk, state__in=Payment.DEAD).update(
        state=State.PLANNED,
        run=run,
        amount=due.amount,
        currency=run.currency,
        message=due.message,
        problem="",
        settled_at=None,
    )
    if not planned:
        raise PaymentRefused(CHANGED)


@transaction.atomic
def mark_as_paid(*, run: PaymentRun, total: Decimal, reference: str, actor: User) -> PaymentRun:
    """Record that a list was paid outside the platform. This works once per run."""
    if not run.is_by_hand:
        raise PaymentRefused("This run is paid through its provider, not by hand.")
    if total != run.total:
        raise PaymentRefused(f"The total is {run.total} {run.currency}, not {total}.")
    planned = run.payments.filter(state=State.PLANNED)
    n_paid = planned.update(state=State.SENT, settled_at=timezone.now(), reference=reference)
    if not n_paid:
        raise PaymentRefused("This list is already marked as paid, or was cancelled.")
    close_run(run, actor=actor)
    return run


@transaction.atomic
def cancel_run(*, run: PaymentRun, actor: User) -> PaymentRun:
    """Cancel the payments that have not been started. They are owed again."""
    planned = run.payments.filter(state=State.PLANNED)
    n_cancelled = planned.update(state=State.WITHDRAWN, settled_at=timezone.now())
    if not n_cancelled:
        raise PaymentRefused("There is nothing left in this run to cancel.")
    record(
        "cancel_payments",
        actor=actor,
        campaign=run.campaign,
        run=str(run.code),
        n_cancelled=n_cancelled,
    )
    close_run(run, actor=actor)
    return run


def close_run(run: PaymentRun, *, actor: User | None = None) -> bool:
    """Write the receipt once nothing in the run is left to do. Return whether this call did."""
    if run.payments.to_do().exists():
        return False
    open_run = PaymentRun.objects.filter(pk=run.pk, finished_at=None)
    with transaction.atomic():
        if not open_run.update(finished_at=timezone.now()):
            return False
        _record("finish_payments", run, actor or run.confirmed_by, **receipt(run))
    return True


def receipt(run: PaymentRun) -> dict[str, Any]:
    """Count and sum a run's payments by state."""
    counts: dict[str, int] = {}
    paid = Decimal("0.00")
    for state, amount in run.payments.values_list("state", "amount"):
        counts[state] = counts.get(state, 0) + 1
        if state == State.SENT:
            paid += amount
    return {"paid": f"{paid:.2f}", "states": dict(sorted(counts.items()))}


def _record(action: str, run: PaymentRun, actor: User | None, **details: Any) -> None:
    record(
        action,
        actor=actor,
        campaign=run.campaign,
        run=str(run.code),
        kind=run.kind,
        n_payments=run.n_payments,
        total=f"{run.total:.2f}",
        currency=run.currency,
        digest=run.digest,
        **details,
    )


# Rejections ----------------------------------------------------------------------------------


@transaction.atomic
def reject_assignment(
    *, assignment: Assignment, message: str, category: str = "", actor: User
) -> PaymentRun:
    """Reject submitted work, with a reason that the worker can read.

    The ratings still count as before: that is a separate decision.
    """
    message = message.strip()
    campaign = _locked(assignment.hit.campaign)
    _check_rejection(assignment, message, category)
    rejected = Assignment.objects.submitted().filter(pk=assignment.pk, is_rejected=False)
    approved = Payment.objects.live().filter(assignment=assignment, kind=Kind.APPROVE)
    if not rejected.update(is_rejected=True) or approved.exists():
        raise PaymentRefused(
            "Only submitted work that has been neither paid nor rejected can be rejected."
        )
    due = Due(Work.of(assignment), Kind.REJECT, Decimal(0), message)
    plan = Plan(campaign, Kind.REJECT, is_paid_by_hand(assignment), [due])
    run = _make_run(plan, actor)
    _write_rejection(run, due, category)
    record(
        "reject_assignment",
        actor=actor,
        campaign=campaign,
        worker=assignment.worker,
        reason=message,
        assignment=str(assignment.code),
        category=category,
    )
    if run.is_by_hand:
        run.payments.update(state=State.SENT, settled_at=timezone.now())
        close_run(run)
    else:
        go_on(run=run, actor=actor)
    return run


def _write_rejection(run: PaymentRun, due: Due, category: str) -> None:
    """Reuse an earlier rejection that failed or was withdrawn, or create a new one."""
    old = Payment.objects.filter(key=due.key).first()
    if old is None:
        _payment(run, due, category=category).save()
    else:
        _plan_again(old, run, due)
        Payment.objects.filter(pk=old.pk).update(category=category)


def _check_rejection(assignment: Assignment, message: str, category: str) -> None:
    if not message:
        raise PaymentRefused("Say why: the worker will read it.")
    recruitment = Recruitment.objects.filter(campaign=assignment.hit.campaign).first()
    if recruitment is None or is_paid_by_hand(assignment):
        return
    provider = provider_class(recruitment.provider)
    if len(message) < provider.min_rejection_length:
        raise PaymentRefused(
            f"{provider.label} requires a reason of at least {provider.min_rejection_length} "
            f"characters; this one has {len(message)}."
        )
    categories = dict(provider.rejection_categories)
    if categories and category not in categories:
        raise PaymentRefused(
            f"{provider.label} requires a category: {', '.join(categories.values())}."
        )


@transaction.atomic
def withdraw_rejection(*, payment: Payment, reason: str, actor: User) -> Payment:
    """Withdraw a rejection. The work is owed again, and the provider learns of it on approval."""
    if not reason.strip():
        raise PaymentRefused("Say why the rejection is taken back.")
    sent = Payment.objects.filter(pk=payment.pk, kind=Kind.REJECT, state=State.SENT)
    if not sent.update(state=State.WITHDRAWN, settled_at=timezone.now()):
        raise PaymentRefused("Only a rejection that went through can be taken back.")
    Assignment.objects.filter(pk=payment.assignment_id).update(is_rejected=False)
    record_payment("withdraw_rejection", payment, actor=actor, reason=reason.strip())
    payment.refresh_from_db()
    return payment


def rejection_of(assignment: Assignment) -> Payment | None:
    """The rejection in force for an assignment, with the reason shown to the worker."""
    if not assignment.is_rejected:
        return None
    return Payment.objects.live().filter(assignment=assignment, kind=Kind.REJECT).first()


# Payments that only a person can settle ------------------------------------------------------


@transaction.atomic
def settle_unknown(*, payment: Payment, was_paid: bool, reason: str, actor: User) -> Payment:
    """Record what became of a payment when the provider could not say."""
    if not reason.strip():
        raise PaymentRefused("Say how you know.")
    state = State.SENT if was_paid else State.FAILED
    unsure = Payment.objects.filter(pk=payment.pk, state=State.UNKNOWN)
    # The provider is not asked again: a person's answer is final, even if the provider can never confirm it.
    reset = {} if was_paid else {"n_sends": 0, "prepared": ""}
    if not unsure.update(state=state, settled_at=timezone.now(), problem=reason.strip(), **reset):
        raise PaymentRefused("This payment is already settled.")
    if payment.kind == Kind.REJECT and not was_paid:
        Assignment.objects.filter(pk=payment.assignment_id).update(is_rejected=False)
    record_payment("settle_payment", payment, actor=actor, reason=reason.strip(), state=state)
    payment.refresh_from_db()
    return payment


@transaction.atomic
def write_off(*, payment: Payment, reason: str, actor: User) -> Payment:
    """Stop owing a payment that the provider refuses for good, for example for work under made-up ids."""
    if not reason.strip():
        raise PaymentRefused("Say why it is written off.")
    # Rejected work is owed nothing anyway.
    failed = Payment.objects.filter(
        pk=payment.pk, state=State.FAILED, assignment__is_rejected=False
    ).exclude(kind=Kind.REJECT)
    if not failed.update(
        state=State.WRITTEN_OFF, settled_at=timezone.now(), problem=reason.strip()
    ):
        raise PaymentRefused("Only a payment that is owed and has failed can be written off.")
    record_payment("write_off_payment", payment, actor=actor, reason=reason.strip())
    payment.refresh_from_db()
    return payment


def record_payment(
    action: str, payment: Payment, *, actor: User | None = None, reason: str = "", **details: Any
) -> None:
    record(
        action,
        actor=actor,
        campaign=payment.run.campaign,
        worker=payment.assignment.worker,
        reason=reason,
        run=str(payment.run.code),
        payment=str(payment.code),
        kind=payment.kind,
        amount=f"{payment.amount:.2f}",
        currency=payment.currency,
        **details,
    )


# Rules ---------------------------------------------------------------------------------------


@transaction.atomic
def add_rule(
    *,
    campaign: Campaign,
    kind: str,
    reason: str,
    actor: User,
    amount: Decimal | None = None,
    assignment: Assignment | None = None,
) -> PayRule:
    """Promise a bonus or adjustment. It is owed from now on and paid in a run."""
    if assignment and assignment.hit.campaign_id != campaign.pk:
        raise PaymentRefused("That work belongs to another campaign.")
    if assignment and assignment.is_rejected:
        raise PaymentRefused(
            "This work was rejected, and rejected work is not paid. Withdraw the rejection first."
        )
    try:
        with transaction.atomic():
            rule = PayRule.objects.create(
                campaign=campaign,
                kind=kind,
                amount=amount,
                reason=reason.strip(),
                assignment=assignment,
                created_by=actor,
            )
    except IntegrityError as error:
        raise PaymentRefused(
            "A bonus needs an amount above 0 and a reason; an adjustment also needs the HIT it is for. "
            "A share for unfinished work has no amount, and there can be only one such rule."
        ) from error
    details = {"amount": f"{amount:.2f}"} if amount else {}
    record(
        "add_pay_rule",
        actor=actor,
        campaign=campaign,
        worker=assignment.worker if assignment else None,
        reason=rule.reason,
        rule=str(rule.code),
        kind=kind,
        **details,
    )
    return rule


@transaction.atomic
def withdraw_rule(*, rule: PayRule, actor: User) -> PayRule:
    """Stop a rule. What it has paid, or has in a run, stays."""
    active = PayRule.objects.filter(pk=rule.pk, withdrawn_at=None)
    if not active.update(withdrawn_at=timezone.now()):
        raise PaymentRefused("This rule is already withdrawn.")
    record("withdraw_pay_rule", actor=actor, campaign=rule.campaign, rule=str(rule.code))
    rule.refresh_from_db()
    return rule
