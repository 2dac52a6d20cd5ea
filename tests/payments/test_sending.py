"""A run through a provider: what is sent, what is asked, and what is left to a person."""

from decimal import Decimal

import pytest

from hits.exceptions import PaymentRefused, PaymentsHalted
from hits.models import Assignment, AuditEntry, Payment, Recruitment, Submission
from hits.payments.owing import Kind, plan_run, plans
from hits.payments.reporting import standing
from hits.payments.runs import (
    add_rule,
    cancel_run,
    mark_as_paid,
    reject_assignment,
    settle_unknown,
    withdraw_rejection,
    write_off,
)
from hits.payments.sending import ask_again, pay_run
from tests.paying import PAY, confirm, make_admin, make_paid_campaign
from tests.recruits import begin, hand_in, make_prolific_campaign, send

pytestmark = pytest.mark.django_db

ONCE = {("alice", "reward", PAY): 1, ("bob", "reward", PAY): 1}


def states(run):
    names = run.payments.values_list("assignment__worker__external_id", "state")
    return dict(names)


def bonus_run(campaign, amount="0.25"):
    add_rule(
        campaign=campaign,
        kind="flat",
        reason="Thank you",
        amount=Decimal(amount),
        actor=make_admin(),
    )
    return confirm(campaign, Kind.BONUS)


def test_a_run_pays_everyone_on_its_list_once(mturk):
    run = confirm(make_paid_campaign())
    assert pay_run(run=run) == {"paid": "3.00", "states": {"sent": 2}}
    assert mturk.payments == ONCE
    assert set(Submission.objects.values_list("status", flat=True)) == {"approved"}


def test_running_it_again_sends_nothing(mturk):
    run = confirm(make_paid_campaign())
    pay_run(run=run)
    mturk.calls.clear()
    pay_run(run=run)
    assert mturk.calls == []


def test_the_audit_log_has_a_receipt_and_a_line_for_each_payment(mturk):
    run = confirm(make_paid_campaign())
    pay_run(run=run)
    lines = AuditEntry.objects.filter(action="payment_sent")
    assert set(lines.values_list("worker__external_id", flat=True)) == {"alice", "bob"}
    receipt = AuditEntry.objects.get(action="finish_payments")
    assert receipt.details["paid"] == "3.00" and receipt.details["digest"] == run.digest


def test_work_that_was_approved_elsewhere_counts_as_paid(mturk):
    run = confirm(make_paid_campaign())
    mturk.assignments["visitalice"].status = "Approved"
    pay_run(run=run)
    assert states(run) == {"alice": "sent", "bob": "sent"}
    assert mturk.payments == {("bob", "reward", PAY): 1}


@pytest.mark.parametrize("n_lost", [1, 2])
def test_an_answer_that_was_lost_is_asked_for(mturk, n_lost):
    mturk.mishaps["ApproveAssignment"] = ["lose_answer"] * n_lost
    run = confirm(make_paid_campaign())
    pay_run(run=run)
    assert states(run) == {"alice": "sent", "bob": "sent"}
    assert mturk.payments == ONCE


def test_a_request_that_was_lost_is_owed_again_and_then_paid_once(mturk):
    mturk.mishaps["ApproveAssignment"] = ["lose_request"]
    campaign = make_paid_campaign()
    first = confirm(campaign)
    pay_run(run=first)
    assert states(first) == {"alice": "failed", "bob": "sent"}
    second = confirm(campaign)
    assert second.total == PAY
    pay_run(run=second)
    assert states(second) == {"alice": "sent"} and mturk.payments == ONCE


def test_a_refusal_says_why_and_is_owed_again(mturk):
    mturk.mishaps["SendBonus"] = ["refuse"]
    campaign = make_paid_campaign(names=("alice",))
    pay_run(run=bonus_run(campaign))
    failed = Payment.objects.get()
    assert failed.state == "failed" and "no funds" in failed.problem
    pay_run(run=confirm(campaign, Kind.BONUS))
    assert [bonus["BonusAmount"] for bonus in mturk.bonuses] == ["0.25"]


def test_a_provider_that_is_down_halts_the_run_and_it_goes_on_later(mturk):
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


def test_what_prolific_turns_out_not_to_pay_is_paid_by_hand(prolific):
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


def test_a_bonus_is_sent_with_its_reason_and_found_again(mturk):
    mturk.mishaps["SendBonus"] = ["lose_answer"]
    run = bonus_run(make_paid_campaign())
    pay_run(run=run)
    assert states(run) == {"alice": "sent", "bob": "sent"}
    assert [bonus["WorkerId"] for bonus in mturk.bonuses] == ["alice", "bob"]
    assert mturk.bonuses[0]["Reason"].startswith("Thank you ")


def test_two_bonuses_of_one_amount_are_told_apart(mturk):
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
    def refused(self, mturk):
        """Alice's work, of which Mechanical Turk knows nothing."""
        campaign = make_paid_campaign(names=("alice",))
        del mturk.assignments["visitalice"]
        pay_run(run=confirm(campaign))
        assert plan_run(campaign, Kind.APPROVE, is_by_hand=False).n_payments == 1
        return campaign

    def test_it_is_owed_no_more_and_the_log_says_why(self, mturk):
        campaign = self.refused(mturk)
        write_off(payment=Payment.objects.get(), reason="Made-up ids", actor=make_admin())
        assert plans(campaign) == [] and standing(campaign, []).committed == 0
        line = AuditEntry.objects.get(action="write_off_payment")
        assert (line.reason, line.details["amount"]) == ("Made-up ids", "1.50")

    def test_it_needs_a_reason(self, mturk):
        self.refused(mturk)
        with pytest.raises(PaymentRefused, match="why"):
            write_off(payment=Payment.objects.get(), reason=" ", actor=make_admin())

    def test_only_what_failed_and_is_owed_can_be_written_off(self, mturk):
        run = confirm(make_paid_campaign(names=("alice",)))
        with pytest.raises(PaymentRefused, match="failed"):
            write_off(payment=run.payments.get(), reason="Made-up ids", actor=make_admin())

    def test_what_was_rejected_meanwhile_cannot_be_written_off_too(self, mturk):
        campaign = self.refused(mturk)
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

    def test_what_is_paid_cannot_be_rejected(self, mturk):
        campaign = make_paid_campaign()
        pay_run(run=confirm(campaign))
        with pytest.raises(PaymentRefused, match="neither paid"):
            self.reject(campaign)
        assert not Assignment.objects.filter(is_rejected=True).exists()

    def test_prolific_wants_a_category_and_a_hundred_characters(self):
        campaign = make_paid_campaign("prolific")
        with pytest.raises(PaymentRefused, match="at least 100"):
            self.reject(campaign)
        with pytest.raises(PaymentRefused, match="category"):
            self.reject(campaign, message="x" * 100)

    def test_one_that_fails_is_no_rejection(self, mturk):
        mturk.mishaps["RejectAssignment"] = ["refuse"]
        campaign = make_paid_campaign()
        pay_run(run=self.reject(campaign))
        assert not Assignment.objects.filter(is_rejected=True).exists()
        assert plan_run(campaign, Kind.APPROVE, is_by_hand=False).n_payments == 2

    def test_taken_back_it_is_paid_after_all(self, mturk):
        campaign = make_paid_campaign()
        pay_run(run=self.reject(campaign))
        withdraw_rejection(
            payment=Payment.objects.get(), reason="She wrote to us.", actor=make_admin()
        )
        pay_run(run=confirm(campaign))
        assert mturk.payments == ONCE


class TestDoubt:
    def doubtful(self):
        run = bonus_run(make_paid_campaign(names=("alice",)))
        run.payments.update(
            state="unknown", settled_at=run.confirmed_at, sending_at=run.confirmed_at, n_sends=1
        )
        return run.payments.get()

    def test_it_is_not_owed_again(self):
        payment = self.doubtful()
        plan = plan_run(payment.run.campaign, Kind.BONUS, is_by_hand=False)
        assert plan.dues == []

    def test_a_person_says_that_it_was_paid(self):
        payment = self.doubtful()
        settle_unknown(payment=payment, was_paid=True, reason="In the list", actor=make_admin())
        assert payment.state == "sent"
        with pytest.raises(PaymentRefused, match="already"):
            settle_unknown(payment=payment, was_paid=False, reason="No", actor=make_admin())

    def test_a_person_says_that_it_was_not_and_it_is_paid_once(self, mturk):
        payment = self.doubtful()
        settle_unknown(payment=payment, was_paid=False, reason="Not there", actor=make_admin())
        pay_run(run=confirm(payment.run.campaign, Kind.BONUS))
        assert len(mturk.bonuses) == 1

    def test_the_provider_can_be_asked_again(self, mturk):
        payment = self.doubtful()
        Payment.objects.update(prepared=payment.key)
        assert ask_again(payment=payment) == "unknown"
        reason = f"Thank you [{payment.key[:16]}]"
        mturk.bonuses.append(
            {
                "AssignmentId": "visitalice",
                "WorkerId": "alice",
                "BonusAmount": "0.25",
                "Reason": reason,
                "GrantTime": 0,
            }
        )
        assert ask_again(payment=payment) == "sent"


def test_what_is_not_begun_can_be_cancelled_and_is_owed_again():
    campaign = make_paid_campaign()
    cancel_run(run=confirm(campaign), actor=make_admin())
    assert plan_run(campaign, Kind.APPROVE, is_by_hand=False).n_payments == 2
    assert confirm(campaign).n_payments == 2
