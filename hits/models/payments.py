"""What workers are owed and what they were paid: rules, runs, and a ledger that pays nothing twice."""

import uuid

from django.conf import settings
from django.core.validators import MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils import timezone

from .assignments import Assignment
from .campaigns import Campaign


class PayRule(models.Model):
    """A bonus or adjustment. It depends on who did the work, never on how good the ratings are."""

    class Kind(models.TextChoices):
        FLAT = "flat", "Bonus for every submitted HIT"
        ADJUSTMENT = "adjustment", "Adjustment for one HIT"
        PARTIAL = "partial", "Share of the pay for HITs left unfinished"

    code = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    campaign = models.ForeignKey(Campaign, models.PROTECT, related_name="pay_rules")
    kind = models.CharField(max_length=10, choices=Kind.choices)
    # Empty for a share, which depends on how far the worker got.
    amount = models.DecimalField(
        max_digits=8, decimal_places=2, null=True, blank=True, validators=[MinValueValidator(0)]
    )
    reason = models.CharField(max_length=500, help_text="Shown to the worker.")
    assignment = models.ForeignKey(
        Assignment, models.PROTECT, null=True, blank=True, related_name="pay_rules"
    )
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.CheckConstraint(
                name="pay_rule_has_what_its_kind_needs",
                # Checked explicitly, because a check constraint passes if its condition is null.
                condition=Q(kind="flat", amount__isnull=False, amount__gt=0, assignment=None)
                | Q(
                    kind="adjustment",
                    amount__isnull=False,
                    amount__gt=0,
                    assignment__isnull=False,
                )
                | Q(kind="partial", amount=None, assignment=None),
            ),
            models.CheckConstraint(name="pay_rule_has_a_reason", condition=~Q(reason="")),
            models.UniqueConstraint(
                "campaign",
                condition=Q(kind="partial", withdrawn_at=None),
                name="pay_rule_is_partial_once",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()}: {self.reason}"


class PaymentRun(models.Model):
    """Payments that a person confirmed together, by their total and exact list."""

    class Kind(models.TextChoices):
        APPROVE = "approve", "Pay per HIT"
        BONUS = "bonus", "Bonuses"
        REJECT = "reject", "Rejection"

    code = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    campaign = models.ForeignKey(Campaign, models.PROTECT, related_name="payment_runs")
    kind = models.CharField(max_length=7, choices=Kind.choices)
    is_by_hand = models.BooleanField(
        default=False, help_text="Paid outside the platform, from a list, and marked here."
    )
    n_payments = models.PositiveIntegerField()
    total = models.DecimalField(max_digits=12, decimal_places=2)
    currency = models.CharField(max_length=3)
    digest = models.CharField(max_length=64, help_text="Of the list that was confirmed.")
    # None for payments that a command recorded as made elsewhere.
    confirmed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+"
    )
    confirmed_at = models.DateTimeField(default=timezone.now)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(
                name="payment_run_kind_is_known",
                condition=Q(kind__in=["approve", "bonus", "reject"]),
            ),
            models.CheckConstraint(
                name="payment_run_total_is_not_negative", condition=Q(total__gte=0)
            ),
            models.CheckConstraint(name="payment_run_has_payments", condition=Q(n_payments__gte=1)),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()}, {self.total} {self.currency}"


class PaymentQuerySet(models.QuerySet["Payment"]):
    def live(self) -> "PaymentQuerySet":
        """Paid, pending, possibly paid, or written off: no longer owed."""
        return self.exclude(state__in=Payment.DEAD)

    def to_do(self) -> "PaymentQuerySet":
        return self.filter(state__in=[Payment.State.PLANNED, Payment.State.SENDING])

    def unsettled(self) -> "PaymentQuerySet":
        """Pending or unclear: it is not certain whether they are paid."""
        return self.to_do() | self.unsure()

    def unsure(self) -> "PaymentQuerySet":
        return self.filter(state=Payment.State.UNKNOWN)


class Payment(models.Model):
    """A line of the ledger: one assignment approved, rejected, or given one bonus.

    `key` follows from what is paid for, so there cannot be two lines for the same thing. A failed
    line is owed again and is reused, with the same key.
    """

    class State(models.TextChoices):
        PLANNED = "planned", "Planned"
        # Saved before the provider is asked: from here on it may have happened.
        SENDING = "sending", "Being sent"
        SENT = "sent", "Paid"
        FAILED = "failed", "Failed"
        UNKNOWN = "unknown", "Unknown"
        WITHDRAWN = "withdrawn", "Withdrawn"
        # Not paid and no longer owed, by a person's decision.
        WRITTEN_OFF = "written_off", "Written off"

    # The outcome is not certain yet.
    OPEN = (State.PLANNED, State.SENDING, State.UNKNOWN)
    # Certainly not paid, so it is owed again.
    DEAD = (State.FAILED, State.WITHDRAWN)

    code = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    key = models.CharField(max_length=64, unique=True)
    run = models.ForeignKey(PaymentRun, models.PROTECT, related_name="payments")
    assignment = models.ForeignKey(Assignment, models.PROTECT, related_name="payments")
    kind = models.CharField(max_length=7, choices=PaymentRun.Kind.choices)
    rule = models.ForeignKey(
        PayRule, models.PROTECT, null=True, blank=True, related_name="payments"
    )
    amount = models.DecimalField(max_digits=8, decimal_places=2)
    currency = models.CharField(max_length=3)
    message = models.TextField(blank=True, help_text="Shown to the worker.")
    category = models.CharField(max_length=40, blank=True)
    state = models.CharField(max_length=11, choices=State.choices, default=State.PLANNED)
    n_sends = models.PositiveSmallIntegerField(default=0)
    # The provider's id, if the payment has to be announced before it is made.
    prepared = models.CharField(max_length=200, blank=True)
    reference = models.CharField(max_length=200, blank=True)
    problem = models.TextField(blank=True)
    sending_at = models.DateTimeField(null=True, blank=True)
    settled_at = models.DateTimeField(null=True, blank=True)

    objects = PaymentQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        indexes = [models.Index(fields=["run", "state"], name="payment_of_run_by_state")]
        constraints = [
            models.UniqueConstraint(
                "assignment",
                condition=Q(kind__in=["approve", "reject"]) & ~Q(state__in=["failed", "withdrawn"]),
                name="payment_approves_or_rejects_once",
            ),
            models.UniqueConstraint(
                "assignment",
                "rule",
                condition=~Q(rule=None),
                name="payment_follows_a_rule_once",
            ),
            models.CheckConstraint(
                name="payment_state_is_known",
                condition=Q(
                    state__in=[
                        "planned",
                        "sending",
                        "sent",
                        "failed",
                        "unknown",
                        "withdrawn",
                        "written_off",
                    ]
                ),
            ),
            models.CheckConstraint(
                name="payment_has_what_its_kind_needs",
                condition=Q(kind="approve", rule=None, amount__gte=0)
                | Q(kind="bonus", rule__isnull=False, amount__gt=0)
                | (Q(kind="reject", rule=None, amount=0) & ~Q(message="")),
            ),
            models.CheckConstraint(
                name="payment_is_sending_since_a_moment",
                condition=~Q(state="sending") | Q(sending_at__isnull=False),
            ),
            models.CheckConstraint(
                name="payment_is_settled_with_a_time",
                condition=(Q(state__in=["planned", "sending"]) & Q(settled_at=None))
                | (~Q(state__in=["planned", "sending"]) & Q(settled_at__isnull=False)),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.assignment_id}: {self.amount} {self.currency} ({self.state})"
