"""Campaigns with unpaid work."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

from django.contrib.auth.models import User
from django.utils import timezone

from hits.models import (
    Assignment,
    Campaign,
    PaymentRun,
    PayRule,
    Recruitment,
    Submission,
    Worker,
)
from hits.payments.owing import Kind, plan_run
from hits.payments.runs import add_rule, confirm_run
from hits.rating.assignments import new_completion_code
from tests.factories import make_hits

PAY = Decimal("1.50")


def make_paid_campaign(
    provider: str = "mturk", *, names: tuple[str, ...] = ("alice", "bob"), **fields: Any
) -> Campaign:
    """A campaign in which workers with these names have each submitted a HIT."""
    campaign = make_hits(**{"pay_per_hit": PAY, "currency": "USD"} | fields)
    defaults = {"provider": provider, "study": "study1"}
    campaign.recruitment = Recruitment.objects.update_or_create(
        campaign=campaign, defaults=defaults
    )[0]
    for name in names:
        hand_in(campaign, name)
    return campaign


def hand_in(
    campaign: Campaign, name: str, *, status: str = "submitted", **fields: Any
) -> Assignment:
    """Let a worker with this name submit the campaign's first HIT."""
    provider = campaign.recruitment.provider
    worker = Worker.objects.get_or_create(provider=provider, external_id=name)[0]
    now = timezone.now()
    submission = {"submitted_at": now, "completion_code": new_completion_code()}
    assignment = Assignment.objects.create(
        hit=fields.pop("hit", None) or campaign.hits.first(),
        worker=worker,
        status=status,
        expires_at=now + timedelta(hours=1),
        **(submission if status == "submitted" else {}) | fields,
    )
    if provider in ("mturk", "prolific"):
        Submission.objects.create(
            recruitment=campaign.recruitment,
            worker=worker,
            reference=f"visit{name}",
            assignment=assignment,
            status=Submission.Status.AWAITING_REVIEW,
        )
    return assignment


def add_bonus(campaign: Campaign, amount: str = "0.25") -> PayRule:
    """Promise a bonus for every HIT."""
    rule = {"campaign": campaign, "kind": "flat", "reason": "Thank you", "actor": make_admin()}
    return add_rule(amount=Decimal(amount), **rule)


def make_admin() -> User:
    return User.objects.get_or_create(username="paymaster", is_superuser=True)[0]


def confirm(
    campaign: Campaign, kind: Kind = Kind.APPROVE, *, is_by_hand: bool = False
) -> PaymentRun:
    """Confirm a payment run of everything that is owed."""
    plan = plan_run(campaign, kind, is_by_hand=is_by_hand)
    return confirm_run(
        campaign=campaign,
        kind=kind,
        is_by_hand=is_by_hand,
        digest=plan.digest,
        total=plan.total,
        actor=make_admin(),
    )
