"""Send a run's payments, each exactly once, even if the process dies between any two lines.

A payment is marked as being sent, and that is committed, before the provider is asked. A process that finds such
a mark does not know whether the payment happened, so it asks the provider first. If it did happen, the ledger
records it; if not, it is sent again under the same key; if the provider cannot tell, a person decides.
"""

import logging
import time
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from ..exceptions import NotOffered, PaymentsHalted, ProviderFailed, ProviderRefused
from ..models import Assignment, Payment, PaymentRun, Submission
from ..recruiting.providers import provider_for
from ..recruiting.providers.base import Bonus, Provider
from .owing import Kind
from .runs import close_run, receipt, record_payment

logger = logging.getLogger(__name__)

State = Payment.State

# This many refusals in a row are not about the workers: the account is empty or the key has expired.
MAX_FAILURES_IN_A_ROW = 5
LOOK_SECONDS = 0.5

Progress = Callable[[int, int], None]


def pay_run(*, run: PaymentRun, progress: Progress | None = None) -> dict[str, Any]:
    """Send the rest of a run's payments and return its receipt. It can be stopped and called again."""
    provider = provider_for(run.campaign.recruitment)
    pks = list(run.payments.to_do().order_by("pk").values_list("pk", flat=True))
    n_failures = 0
    for n_done, pk in enumerate(pks, start=run.n_payments - len(pks)):
        state = _settle(pk, provider, partial(_report, progress, n_done, run))
        n_failures = n_failures + 1 if state == State.FAILED else 0
        if n_failures >= MAX_FAILURES_IN_A_ROW:
            raise PaymentsHalted(
                f"{provider.label} refused {n_failures} payments in a row, so the run was stopped. "
                "The ledger shows the reasons; the remaining payments were not tried."
            )
    _report(progress, run.n_payments, run)
    close_run(run)
    return receipt(run)


def _report(progress: Progress | None, n_done: int, run: PaymentRun) -> None:
    if progress:
        progress(n_done, run.n_payments)


def _settle(pk: int, provider: Provider, report: Callable[[], None]) -> str:
    """Finish one payment and return its state."""
    report()
    payment = _wait_for_others(pk, report)
    if payment.state not in (State.PLANNED, State.SENDING) or not _claim(payment):
        return payment.state
    deed = Deed(payment, provider)
    # Started by a process that died, or in an earlier run: it may have been paid.
    if payment.n_sends > 1 and (answer := _ask(deed)) is not State.PLANNED:
        doubt = deed.doubt if answer == State.UNKNOWN else ""
        return _finish(payment, answer, reference=deed.reference, problem=doubt)
    try:
        deed.do()
    except ProviderFailed as error:
        return _after_failure(payment, deed, error)
    return _finish(payment, State.SENT, reference=deed.reference)


def _wait_for_others(pk: int, report: Callable[[], None]) -> Payment:
    """Fetch a payment. If another process may be sending it right now, wait for it."""
    grace = timedelta(seconds=settings.PAYMENT_GRACE_SECONDS)
    while True:
        payment = _fetch(pk)
        is_fresh = payment.sending_at and payment.sending_at > timezone.now() - grace
        if payment.state != State.SENDING or not is_fresh:
            return payment
        report()
        time.sleep(LOOK_SECONDS)


def _fetch(pk: int) -> Payment:
    return Payment.objects.select_related(
        "run__campaign", "run__confirmed_by", "rule", "assignment__worker", "assignment__submission"
    ).get(pk=pk)


def _claim(payment: Payment) -> bool:
    """Mark a payment as being sent, before anything is sent. Only one of two processes can."""
    as_seen = Payment.objects.filter(pk=payment.pk, state=payment.state, n_sends=payment.n_sends)
    payment.n_sends, payment.sending_at = payment.n_sends + 1, timezone.now()
    return bool(
        as_seen.update(state=State.SENDING, n_sends=payment.n_sends, sending_at=payment.sending_at)
    )


def ask_again(*, payment: Payment) -> str:
    """Ask the provider again about an unclear payment. Only a yes changes anything."""
    payment = _fetch(payment.pk)
    if payment.state != State.UNKNOWN:
        # A provider knows nothing about payments made by hand.
        return payment.state
    deed = Deed(payment, provider_for(payment.run.campaign.recruitment))
    if _ask(deed) != State.SENT:
        return payment.state
    return _finish(payment, State.SENT, reference=deed.reference, was=State.UNKNOWN)


def _ask(deed: "Deed") -> State:
    """Ask the provider what became of a payment: paid, safe to send, or for a person to decide."""
    try:
        happened = deed.has_happened()
    except NotOffered:
        return State.UNKNOWN
    except ProviderRefused:
        # The provider responds but does not know the work, so it has not paid for it.
        happened = False
    except ProviderFailed as silence:
        raise PaymentsHalted(
            f"{deed.provider.label} does not respond: {silence} One payment is open, and those after it "
            "were not tried. Continue later; nothing is paid twice."
        ) from silence
    if happened:
        return State.SENT
    return State.PLANNED if deed.is_repeatable else State.UNKNOWN


def _after_failure(payment: Payment, deed: "Deed", error: ProviderFailed) -> str:
    """Handle a refusal or a missing response. A lost response may have been a yes, so ask."""
    answer = _ask(deed)
    if answer == State.SENT:
        return _finish(payment, State.SENT, reference=deed.reference)
    if isinstance(error, ProviderRefused):
        # A clear no: nothing is pending, so a later attempt starts from scratch.
        return _finish(payment, State.FAILED, problem=str(error), n_sends=0, prepared="")
    if answer == State.UNKNOWN:
        return _finish(payment, State.UNKNOWN, problem=f"{error} {deed.doubt}")
    return _finish(payment, State.FAILED, problem=str(error))


@transaction.atomic
def _finish(
    payment: Payment,
    state: State,
    *,
    reference: str = "",
    problem: str = "",
    was: State = State.SENDING,
    **fields: Any,
) -> str:
    """Store how a payment ended, with an audit log entry."""
    # Match the exact attempt: another attempt has another start time.
    sending = Payment.objects.filter(pk=payment.pk, state=was, sending_at=payment.sending_at)
    ended = sending.update(
        state=state, reference=reference, problem=problem, settled_at=timezone.now(), **fields
    )
    if not ended:
        # Another process has taken over and will hear the provider's answer.
        logger.warning("Payment %s was taken over by another process.", payment.code)
        return _fetch(payment.pk).state
    if state == State.SENT:
        _note_at_submission(payment)
    elif state == State.FAILED and payment.kind == Kind.REJECT:
        # The rejection failed, so the work is owed.
        Assignment.objects.filter(pk=payment.assignment_id).update(is_rejected=False)
    # Use only our own code: log entries are permanent, and a provider's ids and messages identify people.
    record_payment(f"payment_{state}", payment, actor=payment.run.confirmed_by)
    return state


def _note_at_submission(payment: Payment) -> None:
    statuses = {
        Kind.APPROVE: Submission.Status.APPROVED,
        Kind.REJECT: Submission.Status.REJECTED,
    }
    if status := statuses.get(Kind(payment.kind)):
        Submission.objects.filter(assignment=payment.assignment_id).update(status=status)


class Deed:
    """What a payment asks of its provider: to do it, and to say whether it was done."""

    def __init__(self, payment: Payment, provider: Provider) -> None:
        self.payment = payment
        self.provider = provider
        self.submission: Submission = payment.assignment.submission

    @property
    def reference(self) -> str:
        return self.payment.prepared or self.submission.reference

    @property
    def is_repeatable(self) -> bool:
        """Whether repeating it is harmless, or it cannot have happened yet."""
        return (
            self.payment.kind != Kind.BONUS
            or self.provider.pays_bonus_once
            or not self.payment.prepared
        )

    @property
    def doubt(self) -> str:
        """Why only a person can tell. Empty if there is no doubt."""
        if self.is_repeatable:
            return ""
        return (
            f"{self.provider.label} does not show this bonus, but may still be about to pay it, and "
            "would pay it again if asked again. Check there, then record what happened."
        )

    def do(self) -> None:
        payment = self.payment
        if payment.kind == Kind.APPROVE:
            self.provider.approve(self.submission)
        elif payment.kind == Kind.REJECT:
            self.provider.reject(
                self.submission, category=payment.category, message=payment.message
            )
        else:
            self._pay_bonus()

    def has_happened(self) -> bool:
        """Ask the provider, whose answer is final."""
        kind = self.payment.kind
        if kind == Kind.BONUS:
            # A bonus is paid only after it was announced and the announcement saved.
            return bool(self.payment.prepared) and self.provider.is_bonus_paid(
                self._bonus, prepared=self.payment.prepared
            )
        status = self.provider.status_of(self.submission)
        if status in Submission.GIVEN_UP:
            # Saved at once: the provider will never pay this, so the next list is paid by hand.
            Submission.objects.filter(pk=self.submission.pk).update(status=status)
        done = Submission.Status.APPROVED if kind == Kind.APPROVE else Submission.Status.REJECTED
        return status == done

    def _pay_bonus(self) -> None:
        payment = self.payment
        if not payment.prepared:
            payment.prepared = self.provider.prepare_bonus(self._bonus)
            Payment.objects.filter(pk=payment.pk).update(prepared=payment.prepared)
        self.provider.pay_bonus(self._bonus, prepared=payment.prepared)

    @property
    def _bonus(self) -> Bonus:
        payment = self.payment
        return Bonus(
            key=payment.key,
            submission=self.submission,
            amount=payment.amount,
            currency=payment.currency,
            reason=payment.message,
        )
