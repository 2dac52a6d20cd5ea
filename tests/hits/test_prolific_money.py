"""Approvals, rejections and bonuses through Prolific."""

from decimal import Decimal
from typing import Any

import pytest

from hits.exceptions import ProviderFailed
from hits.models import (
    Submission,
)
from hits.recruiting.arrivals import sync_submissions
from hits.recruiting.providers import provider_for
from hits.recruiting.providers.base import Bonus
from tests.recruits import (
    at_work,
    hand_in,
    make_prolific_campaign,
    recruitment_in,
)
from tests.simulators.prolific import ProlificSimulator, Session

pytestmark = pytest.mark.django_db

REASON = (
    "Nearly all of the ratings are the same number, whatever the text is, so they cannot be used. "
    * 2
)


@pytest.fixture
def reviewed(prolific: ProlificSimulator) -> tuple[Any, Submission, Session]:
    """A submission that waits for a decision, and its campaign's provider."""
    campaign = make_prolific_campaign(prolific)
    client, session, assignment = at_work(prolific, campaign)
    hand_in(client, assignment)
    prolific.complete(session, "DONE1")
    sync_submissions(recruitment=recruitment_in(campaign))
    submission = Submission.objects.get()
    assert submission.status == Submission.Status.AWAITING_REVIEW
    return provider_for(recruitment_in(campaign)), submission, session


def test_an_approval_arrives_and_a_second_one_does_no_harm(reviewed: Any):
    provider, submission, session = reviewed
    for _ in range(2):
        provider.approve(submission)
    assert session.status == "APPROVED"
    assert provider.status_of(submission) == Submission.Status.APPROVED


def test_a_rejection_has_a_category_and_a_reason(reviewed: Any):
    provider, submission, session = reviewed
    provider.reject(submission, category="LOW_EFFORT", message=REASON)
    assert session.status == "REJECTED"


@pytest.mark.parametrize(
    ("category", "message"), [("LOW_EFFORT", "Too short."), ("UGLY", REASON), ("", REASON)]
)
def test_a_rejection_that_prolific_would_refuse_is_not_sent(
    reviewed: Any, prolific: ProlificSimulator, category: str, message: str
):
    provider, submission, session = reviewed
    n_asked = len(prolific.requests)
    with pytest.raises(ProviderFailed):
        provider.reject(submission, category=category, message=message)
    assert session.status == "AWAITING REVIEW" and len(prolific.requests) == n_asked


def bonus_for(submission: Submission, amount: str = "1.25") -> Bonus:
    return Bonus("key-1", submission, Decimal(amount), "GBP", "Thank you.")


def test_a_bonus_is_prepared_then_paid_and_can_be_found_after_a_crash(reviewed: Any):
    provider, submission, session = reviewed
    bonus = bonus_for(submission)
    prepared = provider.prepare_bonus(bonus)
    assert session.bonuses == []
    # Here the process may die: nothing was paid, and that can be found out.
    assert not provider.is_bonus_paid(bonus, prepared=prepared)
    provider.pay_bonus(bonus, prepared=prepared)
    # And here: it was paid, and must not be paid again.
    assert provider.is_bonus_paid(bonus, prepared=prepared)
    assert session.bonuses == [125]


def test_a_second_bonus_of_the_same_amount_is_told_from_the_first(reviewed: Any):
    provider, submission, session = reviewed
    bonus = bonus_for(submission)
    provider.pay_bonus(bonus, prepared=provider.prepare_bonus(bonus))
    second = provider.prepare_bonus(bonus)
    assert not provider.is_bonus_paid(bonus, prepared=second)
    provider.pay_bonus(bonus, prepared=second)
    assert provider.is_bonus_paid(bonus, prepared=second)


def test_what_prolific_says_is_wrong_is_passed_on(reviewed: Any, prolific: ProlificSimulator):
    provider, submission, _ = reviewed
    submission.reference = "unknown"
    with pytest.raises(ProviderFailed, match="no such submission"):
        provider.approve(submission)
    prolific.violations.clear()
