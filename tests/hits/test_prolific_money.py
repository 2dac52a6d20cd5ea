"""Approvals, rejections and bonuses through Prolific."""

from decimal import Decimal
from typing import Any

import pytest

from hits.exceptions import ProviderFailed
from hits.models import Submission
from hits.recruiting.arrivals import sync_submissions
from hits.recruiting.providers import provider_for
from hits.recruiting.providers.base import Bonus
from tests.recruits import at_work, hand_in, make_prolific_campaign, recruitment_in
from tests.simulators.prolific import ProlificSimulator, Session

pytestmark = pytest.mark.django_db

REASON = "Nearly all of the ratings are the same number, so they cannot be used. " * 2


@pytest.fixture
def reviewed(prolific: ProlificSimulator) -> tuple[Any, Submission, Session]:
    """A provider, a submission that awaits review, and its session."""
    campaign = make_prolific_campaign(prolific)
    client, session, assignment = at_work(prolific, campaign)
    hand_in(client, assignment)
    prolific.complete(session, "DONE1")
    sync_submissions(recruitment=recruitment_in(campaign))
    submission = Submission.objects.get()
    assert submission.status == Submission.Status.AWAITING_REVIEW
    return provider_for(recruitment_in(campaign)), submission, session


def test_approving_twice_approves_once(reviewed):
    provider, submission, session = reviewed
    for _ in range(2):
        provider.approve(submission)
    assert session.status == "APPROVED"
    assert provider.status_of(submission) == Submission.Status.APPROVED


def test_a_rejection_has_a_category_and_a_reason(reviewed):
    provider, submission, session = reviewed
    provider.reject(submission, category="LOW_EFFORT", message=REASON)
    assert session.status == "REJECTED"


@pytest.mark.parametrize(
    ("category", "message"), [("LOW_EFFORT", "Too short."), ("UGLY", REASON), ("", REASON)]
)
def test_a_rejection_that_prolific_would_refuse_is_not_sent(reviewed, prolific, category, message):
    provider, submission, session = reviewed
    n_requests = len(prolific.requests)
    with pytest.raises(ProviderFailed):
        provider.reject(submission, category=category, message=message)
    assert session.status == "AWAITING REVIEW" and len(prolific.requests) == n_requests


def bonus_for(submission: Submission, amount: str = "1.25") -> Bonus:
    return Bonus("key-1", submission, Decimal(amount), "GBP", "Thank you.")


def test_after_a_crash_it_is_known_whether_a_bonus_was_paid(reviewed):
    provider, submission, session = reviewed
    bonus = bonus_for(submission)
    prepared = provider.prepare_bonus(bonus)
    assert session.bonuses == []
    # If the process dies here, the bonus is known not to be paid.
    assert not provider.is_bonus_paid(bonus, prepared=prepared)
    provider.pay_bonus(bonus, prepared=prepared)
    # If it dies here, the bonus is known to be paid.
    assert provider.is_bonus_paid(bonus, prepared=prepared)
    assert session.bonuses == [125]


def test_two_bonuses_of_the_same_amount_are_not_confused(reviewed):
    provider, submission, session = reviewed
    bonus = bonus_for(submission)
    provider.pay_bonus(bonus, prepared=provider.prepare_bonus(bonus))
    second = provider.prepare_bonus(bonus)
    assert not provider.is_bonus_paid(bonus, prepared=second)
    provider.pay_bonus(bonus, prepared=second)
    assert provider.is_bonus_paid(bonus, prepared=second)


def test_prolifics_error_message_is_passed_on(reviewed, prolific):
    provider, submission, _ = reviewed
    submission.reference = "unknown"
    with pytest.raises(ProviderFailed, match="no such submission"):
        provider.approve(submission)
    prolific.violations.clear()
