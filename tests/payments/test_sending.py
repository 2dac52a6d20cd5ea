"""Payment runs through a provider: what is sent, what is checked, and what a person has to decide."""

import pytest

from hits.exceptions import PaymentRefused, PaymentsHalted
from hits.models import Assignment, AuditEntry, Payment, Recruitment, Submission
from hits.payments.owing import Kind, plan_run, plans
from hits.payments.reporting import standing
from hits.payments.runs import (
    cancel_run,
    mark_as_paid,
    reject_assignment,
    settle_unknown,
    withdraw_rejection,
    write_off,
)
from hits.payments.sending import ask_again, pay_run
from tests.paying import PAY, add_bonus, confirm, make_admin, make_paid_campaign
from tests.recruits import begin, hand_in, make_prolific_campaign, send

pytestmark = pytest.mark.django_db

ONCE = {("alice", "reward", PAY): 1, ("bob", "reward", PAY): 1}


def states(run):
    return dict(run.payments.values_list("assignment__worker__external_id", "state"))


def bonus_run(campaign):
    add_bonus(campaign)
    return confirm(campaign, Kind.BONUS)


def test_a_run_pays_everyone_once_and_logs_each_payment_and_a_receipt(mturk):
    run = confirm(make_paid_campaign())
    assert pay_run(run=run) == {"paid": "3.00", "states": {"sent": 2}}
    assert mturk.payments == ONCE
    assert set(Submission.objects.values_list("status", flat=True)) == {"approved"}
    mturk.calls.clear()
    pay_run(run=run)
    assert mturk.calls == []
    lines = AuditEntry.objects.filter(action="payment_sent")
    assert set(lines.values_list("worker__external_id", flat=True)) == {"alice", "bob"}
    receipt = AuditEntry.objects.get(action="finish_payments")
    assert receipt.details["paid"] == "3.00" and receipt.details["digest"] == run.digest


def test_work_approved_outside_the_platform_counts_as_paid(mturk):
    run = confirm(make_paid_campaign())
    mturk.assignments["visitalice"].status = "Approved"
    pay_run(run=run)
    assert states(run) == {"alice": "sent", "bob": "sent"}
    assert mturk.payments == {("bob", "reward", PAY): 1}


@pytest.mark.parametrize("n_lost", [1, 2])
def test_after_a_lost_response_the_provider_is_asked_for_the_status(mturk, n_lost):
    mturk.mishaps["ApproveAssignment"] = ["lose_answer"] * n_lost
    run = confirm(make_paid_campaign())
    pay_run(run=run)
    assert states(run) == {"alice": "sent", "bob": "sent"}
    assert mturk.payments == ONCE


def test_after_a_lost_request_the_payment_fails_and_the_next_run_pays_it(mturk):
    mturk.mishaps["ApproveAssignment"] = ["lose_request"]
    campaign = make_paid_campaign()
    first = confirm(campaign)
    pay_run(run=first)
    assert states(first) == {"alice": "failed", "bob": "sent"}
    second = confirm(campaign)
    assert second.total == PAY
    pay_run(run=second)
    assert states(second) == {"alice": "sent"} and mturk.payments == ONCE


def test_a_refused_payment_stores_the_reason_and_is_owed_again(mturk):
    mturk.mishaps["SendBonus"] = ["refuse"]
    campaign = make_paid_campaign(names=("alice",))
    pay_run(run=bonus_run(campaign))
    failed = Payment.objects.get()
    assert failed.state == "failed" and "no funds" in failed.problem
    pay_run(run=confirm(campaign, Kind.BONUS))
    assert [bonus["BonusAmount"] for bonus in mturk.bonuses] == ["0.25"]


def test_a_provider_that_is_down_halts_the_run_which_can_be_resumed(mturk):
    mturk.mishaps["ApproveAssignment"] = ["lose_answer"]
    mturk.mishaps["GetAssignment"] = ["lose_request", "lose_request"]
    run = confirm(make_paid_campaign())
    with pytest.raises(PaymentsHalted, match="does not respond"):
        pay_run(run=run)
    assert states(run) == {"alice": "sending", "bob": "planned"}
    pay_run(run=run)
    assert states(run) == {"alice": "sent", "bob": "sent"} and mturk.payments == ONCE


def test_many_refusals_in_a_row_halt_the_run(mturk):
    names = tuple(f"worker{number}" for number in range(7))
    run = confirm(make_paid_campaign(names=names))
    with pytest.raises(PaymentsHalted, match="5 payments in a row"):
        pay_run(run=run)
    assert list(states(run).values()).count("planned") == 2


def test_work_that_prolific_will_not_pay_is_paid_by_hand(prolific):
    campaign = make_prolific_campaign(prolific)
    session = prolific.join(Recruitment.objects.get(campaign=campaign).study)
    browser, _ = send(prolific, session)
    hand_in(browser, begin(browser, campaign))
    session.status = "TIMED-OUT"
    pay_run(run=confirm(campaign))
    prolific.violations.clear()
    assert plan_run(campaign, Kind.APPROVE, is_by_hand=False).dues == []
    by_hand = confirm(campaign, is_by_hand=True)
    mark_as_paid(run=by_hand, total=by_hand.total, reference="their page", actor=make_admin())
    assert plans(campaign) == []


def test_a_bonus_is_sent_with_its_reason_and_recognised_after_a_lost_response(mturk):
    mturk.mishaps["SendBonus"] = ["lose_answer"]
    run = bonus_run(make_paid_campaign())
    pay_run(run=run)
    assert states(run) == {"alice": "sent", "bob": "sent"}
    assert [bonus["WorkerId"] for bonus in mturk.bonuses] == ["alice", "bob"]
    assert mturk.bonuses[0]["Reason"].startswith("Thank you ")


def test_two_bonuses_of_the_same_amount_are_not_confused(mturk):
    campaign = make_paid_campaign(names=("alice",))
    pay_run(run=bonus_run(campaign))
    mturk.mishaps["SendBonus"] = ["lose_request"]
    second = bonus_run(campaign)
    pay_run(run=second)
    assert states(second) == {"alice": "failed"} and len(mturk.bonuses) == 1


def test_a_bonus_in_another_currency_is_refused_by_mechanical_turk(mturk):
    run = bonus_run(make_paid_campaign(currency="EUR", names=("alice",)))
    pay_run(run=run)
    assert states(run) == {"alice": "failed"} and mturk.bonuses == []


class TestWritingOff:
    def refused_by(self, mturk):
        """Return a campaign with a failed payment for work that Mechanical Turk does not know."""
        campaign = make_paid_campaign(names=("alice",))
        del mturk.assignments["visitalice"]
        pay_run(run=confirm(campaign))
        assert plan_run(campaign, Kind.APPROVE, is_by_hand=False).n_payments == 1
        return campaign

    def test_it_is_no_longer_owed_and_the_log_has_the_reason(self, mturk):
        campaign = self.refused_by(mturk)
        with pytest.raises(PaymentRefused, match="why"):
            write_off(payment=Payment.objects.get(), reason=" ", actor=make_admin())
        write_off(payment=Payment.objects.get(), reason="Made-up ids", actor=make_admin())
        assert plans(campaign) == [] and standing(campaign, []).committed == 0
        line = AuditEntry.objects.get(action="write_off_payment")
        assert (line.reason, line.details["amount"]) == ("Made-up ids", "1.50")

    def test_only_failed_payments_can_be_written_off(self, mturk):
        run = confirm(make_paid_campaign(names=("alice",)))
        with pytest.raises(PaymentRefused, match="failed"):
            write_off(payment=run.payments.get(), reason="Made-up ids", actor=make_admin())

    def test_a_payment_for_work_rejected_in_the_meantime_cannot_be_written_off(self, mturk):
        campaign = self.refused_by(mturk)
        Recruitment.objects.update(provider="link")
        campaign.refresh_from_db()
        failed = Payment.objects.get()
        alice = Assignment.objects.select_related("hit__campaign").get()
        reject_assignment(assignment=alice, message="Empty.", actor=make_admin())
        with pytest.raises(PaymentRefused, match="owed"):
            write_off(payment=failed, reason="Made-up ids", actor=make_admin())


class TestRejecting:
    def reject(self, campaign, message="You gave every text the same score."):
        alice = Assignment.objects.get(hit__campaign=campaign, worker__external_id="alice")
        return reject_assignment(assignment=alice, message=message, actor=make_admin())

    def test_the_worker_gets_the_reason_and_no_money(self, mturk):
        campaign = make_paid_campaign()
        pay_run(run=self.reject(campaign))
        pay_run(run=confirm(campaign))
        assert mturk.assignments["visitalice"].feedback == "You gave every text the same score."
        assert mturk.payments == {("bob", "reward", PAY): 1}

    def test_it_needs_a_reason(self):
        with pytest.raises(PaymentRefused, match="why"):
            self.reject(make_paid_campaign(), message="  ")

    def test_paid_work_cannot_be_rejected(self, mturk):
        campaign = make_paid_campaign()
        pay_run(run=confirm(campaign))
        with pytest.raises(PaymentRefused, match="neither paid"):
            self.reject(campaign)
        assert not Assignment.objects.filter(is_rejected=True).exists()

    def test_prolific_requires_a_category_and_a_hundred_characters(self):
        campaign = make_paid_campaign("prolific")
        with pytest.raises(PaymentRefused, match="at least 100"):
            self.reject(campaign)
        with pytest.raises(PaymentRefused, match="category"):
            self.reject(campaign, message="x" * 100)

    def test_work_is_still_owed_if_rejecting_it_fails(self, mturk):
        mturk.mishaps["RejectAssignment"] = ["refuse"]
        campaign = make_paid_campaign()
        pay_run(run=self.reject(campaign))
        assert not Assignment.objects.filter(is_rejected=True).exists()
        assert plan_run(campaign, Kind.APPROVE, is_by_hand=False).n_payments == 2

    def test_work_is_paid_after_its_rejection_is_withdrawn(self, mturk):
        campaign = make_paid_campaign()
        pay_run(run=self.reject(campaign))
        withdraw_rejection(
            payment=Payment.objects.get(), reason="She wrote to us.", actor=make_admin()
        )
        pay_run(run=confirm(campaign))
        assert mturk.payments == ONCE


class TestUnknownOutcome:
    def unknown_payment(self):
        run = bonus_run(make_paid_campaign(names=("alice",)))
        run.payments.update(
            state="unknown", settled_at=run.confirmed_at, sending_at=run.confirmed_at, n_sends=1
        )
        return run.payments.get()

    def test_it_is_not_owed_again_and_a_person_can_say_that_it_was_paid(self):
        payment = self.unknown_payment()
        assert plan_run(payment.run.campaign, Kind.BONUS, is_by_hand=False).dues == []
        settle_unknown(payment=payment, was_paid=True, reason="In the list", actor=make_admin())
        assert payment.state == "sent"
        with pytest.raises(PaymentRefused, match="already"):
            settle_unknown(payment=payment, was_paid=False, reason="No", actor=make_admin())

    def test_it_is_paid_once_if_a_person_says_that_it_was_not_paid(self, mturk):
        payment = self.unknown_payment()
        settle_unknown(payment=payment, was_paid=False, reason="Not there", actor=make_admin())
        pay_run(run=confirm(payment.run.campaign, Kind.BONUS))
        assert len(mturk.bonuses) == 1

    def test_the_provider_can_be_asked_again(self, mturk):
        payment = self.unknown_payment()
        Payment.objects.update(prepared=payment.key)
        assert ask_again(payment=payment) == "unknown"
        bonus = {"AssignmentId": "visitalice", "WorkerId": "alice", "BonusAmount": "0.25"}
        reason = f"Thank you [{payment.key[:16]}]"
        mturk.bonuses.append(bonus | {"Reason": reason, "GrantTime": 0})
        assert ask_again(payment=payment) == "sent"


def test_a_run_that_has_not_started_can_be_cancelled_and_its_payments_are_owed_again():
    campaign = make_paid_campaign()
    cancel_run(run=confirm(campaign), actor=make_admin())
    assert confirm(campaign).n_payments == 2
