"""Which payments are owed, and when they no longer are."""

from decimal import Decimal

import pytest

from hits.exceptions import PaymentRefused
from hits.models import Assignment, Campaign, Participation, Payment, PayRule, Submission
from hits.payments import owing
from hits.payments.owing import Kind, Plan, plan_run, totals_owed
from hits.payments.runs import (
    add_rule,
    cancel_run,
    confirm_run,
    mark_as_paid,
    reject_assignment,
    withdraw_rule,
)
from tests.factories import make_campaign, rate_items
from tests.paying import PAY, add_bonus, confirm, hand_in, make_admin, make_paid_campaign

pytestmark = pytest.mark.django_db


def plans(campaign: Campaign) -> list[Plan]:
    """What is owed; the totals that the database adds up are always the same."""
    plans = owing.plans(campaign)
    listed = [(plan.kind, plan.is_by_hand, plan.n_payments, plan.total) for plan in plans]
    totals = totals_owed(campaign)
    assert listed == [(sum.kind, sum.is_by_hand, sum.n_payments, sum.total) for sum in totals]
    return plans


def dues(campaign: Campaign, kind: Kind = Kind.APPROVE, *, is_by_hand: bool = True):
    plans(campaign)
    plan = plan_run(campaign, kind, is_by_hand=is_by_hand)
    return {(due.work.worker_external_id, due.amount) for due in plan.dues}


def test_every_submitted_hit_is_owed_its_pay_even_if_late():
    campaign = make_paid_campaign("link", names=("alice",))
    hand_in(campaign, "bob", is_late=True)
    assert dues(campaign) == {("alice", PAY), ("bob", PAY)}


@pytest.mark.parametrize("status", ["in_progress", "expired", "returned"])
def test_work_that_is_not_submitted_is_not_owed(status):
    campaign = make_paid_campaign("link", names=())
    hand_in(campaign, "alice", status=status)
    assert dues(campaign) == set()


def test_work_of_excluded_workers_is_owed_too():
    campaign = make_paid_campaign("link", names=("alice",))
    Participation.objects.create(
        campaign=campaign,
        worker=Assignment.objects.get().worker,
        trust=Participation.Trust.UNRELIABLE,
        decision="excluded",
        decision_reason="Random scores",
    )
    assert dues(campaign) == {("alice", PAY)}


def test_an_archive_owes_nothing():
    assert plans(make_campaign(is_archive=True, status="closed", pay_per_hit=1)) == []


def test_work_in_a_confirmed_run_is_no_longer_owed():
    campaign = make_paid_campaign("link")
    confirm(campaign, is_by_hand=True)
    assert dues(campaign) == set()
    hand_in(campaign, "carol")
    assert dues(campaign) == {("carol", PAY)}


def test_rejected_work_is_owed_nothing_not_even_a_bonus():
    campaign = make_paid_campaign("link")
    add_bonus(campaign)
    alice = Assignment.objects.get(worker__external_id="alice")
    reject_assignment(assignment=alice, message="All scores were the same.", actor=make_admin())
    assert dues(campaign) == {("bob", PAY)}
    assert dues(campaign, Kind.BONUS) == {("bob", Decimal("0.25"))}


def test_two_flat_bonuses_are_two_payments_until_one_is_withdrawn():
    campaign = make_paid_campaign("link", names=("alice",))
    first = add_bonus(campaign)
    add_bonus(campaign, "0.40")
    assert plan_run(campaign, Kind.BONUS, is_by_hand=True).total == Decimal("0.65")
    withdraw_rule(rule=first, actor=make_admin())
    assert dues(campaign, Kind.BONUS) == {("alice", Decimal("0.40"))}


def adjust(assignment: Assignment) -> PayRule:
    return add_rule(
        campaign=assignment.hit.campaign,
        kind="adjustment",
        reason="The page was slow",
        amount=Decimal("0.75"),
        assignment=assignment,
        actor=make_admin(),
    )


def test_an_adjustment_applies_to_one_hit():
    campaign = make_paid_campaign("link")
    adjust(Assignment.objects.get(worker__external_id="bob"))
    assert dues(campaign, Kind.BONUS) == {("bob", Decimal("0.75"))}


@pytest.mark.parametrize("status", ["in_progress", "expired", "returned"])
def test_unsubmitted_work_is_owed_its_adjustment_but_no_flat_bonus(status):
    campaign = make_paid_campaign("link", names=())
    add_bonus(campaign)
    adjust(hand_in(campaign, "alice", status=status))
    assert dues(campaign, Kind.BONUS) == {("alice", Decimal("0.75"))}


def test_an_adjustment_for_rejected_work_is_refused():
    make_paid_campaign("link", names=("alice",))
    reject_assignment(assignment=Assignment.objects.get(), message="No", actor=make_admin())
    with pytest.raises(PaymentRefused, match="was rejected"):
        adjust(Assignment.objects.get())


@pytest.mark.parametrize("status", Submission.GIVEN_UP)
def test_work_submitted_here_but_given_up_at_the_provider_is_paid_by_hand(status):
    campaign = make_paid_campaign("prolific")
    Submission.objects.filter(worker__external_id="alice").update(status=status)
    assert dues(campaign, is_by_hand=True) == {("alice", PAY)}
    assert dues(campaign, is_by_hand=False) == {("bob", PAY)}


def test_a_bonus_for_work_given_up_at_the_provider_is_still_paid_through_it():
    campaign = make_paid_campaign("prolific", names=("alice",))
    Submission.objects.update(status=Submission.Status.RETURNED)
    add_bonus(campaign)
    assert dues(campaign, Kind.BONUS, is_by_hand=False) == {("alice", Decimal("0.25"))}


def test_work_given_up_at_the_provider_is_rejected_without_asking_it():
    campaign = make_paid_campaign("prolific", names=("alice",))
    Submission.objects.update(status=Submission.Status.TIMED_OUT)
    reject_assignment(assignment=Assignment.objects.get(), message="Empty.", actor=make_admin())
    assert Payment.objects.get().state == Payment.State.SENT
    assert plans(campaign) == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"kind": "flat"},
        {"kind": "flat", "amount": Decimal(0)},
        {"kind": "adjustment", "amount": Decimal(1)},
        {"kind": "partial", "amount": Decimal(1)},
        {"kind": "flat", "amount": Decimal(1), "reason": " "},
    ],
)
def test_an_incomplete_rule_is_refused(wrong):
    campaign = make_paid_campaign("link")
    with pytest.raises(PaymentRefused):
        add_rule(**{"campaign": campaign, "reason": "Because", "actor": make_admin()} | wrong)
    assert not PayRule.objects.exists()


class TestUnfinishedWork:
    def abandoned(self, n_rated: int = 10, status: str = "returned"):
        campaign = make_paid_campaign("link", names=())
        rate_items(hand_in(campaign, "alice", status="in_progress"), n_items=n_rated)
        Assignment.objects.update(status=status)
        return campaign

    def finish(self, campaign):
        Assignment.objects.update(
            status="submitted", submitted_at=campaign.created_at, completion_code="X"
        )

    def promise(self, campaign):
        return add_rule(campaign=campaign, kind="partial", reason="Your part", actor=make_admin())

    def test_a_rule_pays_its_share_once_the_campaign_is_closed(self):
        campaign = self.abandoned(status="expired")
        self.promise(campaign)
        assert dues(campaign, Kind.BONUS) == set()
        Campaign.objects.update(status="closed")
        campaign.refresh_from_db()
        # 10 of 40 items at 1.50, rounded down to the cent.
        assert dues(campaign, Kind.BONUS) == {("alice", Decimal("0.37"))}

    def test_replacing_the_rule_does_not_pay_the_share_again(self):
        campaign = self.abandoned()
        first = self.promise(campaign)
        confirm(campaign, Kind.BONUS, is_by_hand=True)
        withdraw_rule(rule=first, actor=make_admin())
        self.promise(campaign)
        assert dues(campaign, Kind.BONUS) == set()

    @pytest.mark.parametrize(("n_rated", "has_rule"), [(10, False), (0, True)])
    def test_it_is_owed_nothing_without_the_rule_or_without_ratings(self, n_rated, has_rule):
        campaign = self.abandoned(n_rated=n_rated)
        if has_rule:
            self.promise(campaign)
        assert dues(campaign, Kind.BONUS) == set()

    def test_once_submitted_it_is_owed_the_remaining_pay(self):
        campaign = self.abandoned()
        self.promise(campaign)
        share = confirm(campaign, Kind.BONUS, is_by_hand=True)
        mark_as_paid(run=share, total=share.total, reference="transfer 7", actor=make_admin())
        self.finish(campaign)
        assert dues(campaign) == {("alice", Decimal("1.13"))}

    def test_the_remaining_pay_waits_for_the_share_and_is_the_full_pay_if_that_is_cancelled(self):
        campaign = self.abandoned()
        self.promise(campaign)
        share = confirm(campaign, Kind.BONUS, is_by_hand=True)
        self.finish(campaign)
        assert plans(campaign) == []
        cancel_run(run=share, actor=make_admin())
        assert dues(campaign) == {("alice", PAY)}
        assert dues(campaign, Kind.BONUS) == set()


class TestConfirming:
    def confirm(self, campaign, plan, **changes):
        arguments = {
            "campaign": campaign,
            "kind": Kind.APPROVE,
            "is_by_hand": True,
            "digest": plan.digest,
            "total": plan.total,
            "actor": make_admin(),
        }
        return confirm_run(**arguments | changes)

    def test_a_run_has_exactly_the_planned_payments(self):
        campaign = make_paid_campaign("link")
        plan = plan_run(campaign, Kind.APPROVE, is_by_hand=True)
        run = self.confirm(campaign, plan)
        assert (run.n_payments, run.total, run.currency) == (2, 2 * PAY, "USD")
        assert {payment.key for payment in run.payments.all()} == {due.key for due in plan.dues}

    @pytest.mark.parametrize("total", ["2.99", "0", "30.00"])
    def test_a_wrong_total_is_refused(self, total):
        campaign = make_paid_campaign("link")
        plan = plan_run(campaign, Kind.APPROVE, is_by_hand=True)
        with pytest.raises(PaymentRefused, match="3.00 USD"):
            self.confirm(campaign, plan, total=Decimal(total))
        assert not Payment.objects.exists()

    def test_an_outdated_plan_is_refused(self):
        campaign = make_paid_campaign("link")
        plan = plan_run(campaign, Kind.APPROVE, is_by_hand=True)
        hand_in(campaign, "carol")
        with pytest.raises(PaymentRefused, match="changed"):
            self.confirm(campaign, plan)

    def test_an_outdated_plan_is_refused_even_if_the_total_is_the_same(self):
        campaign = make_paid_campaign("link")
        plan = plan_run(campaign, Kind.APPROVE, is_by_hand=True)
        alice = Assignment.objects.get(worker__external_id="alice")
        reject_assignment(assignment=alice, message="No", actor=make_admin())
        hand_in(campaign, "carol")
        assert plan_run(campaign, Kind.APPROVE, is_by_hand=True).total == plan.total
        with pytest.raises(PaymentRefused, match="changed"):
            self.confirm(campaign, plan)

    def test_confirming_twice_makes_the_payments_once(self):
        campaign = make_paid_campaign("link")
        plan = plan_run(campaign, Kind.APPROVE, is_by_hand=True)
        self.confirm(campaign, plan)
        with pytest.raises(PaymentRefused):
            self.confirm(campaign, plan)
        assert Payment.objects.count() == 2


def test_a_list_paid_by_hand_is_marked_as_paid_once():
    run = confirm(make_paid_campaign("link"), is_by_hand=True)
    with pytest.raises(PaymentRefused, match="3.00"):
        mark_as_paid(run=run, total=Decimal("3.01"), reference="transfer 7", actor=make_admin())
    mark_as_paid(run=run, total=Decimal("3.00"), reference="transfer 7", actor=make_admin())
    assert set(run.payments.values_list("state", "reference")) == {("sent", "transfer 7")}
    with pytest.raises(PaymentRefused, match="already"):
        mark_as_paid(run=run, total=Decimal("3.00"), reference="transfer 8", actor=make_admin())


def test_queries_for_a_plan_do_not_grow_with_workers_and_rules(django_assert_num_queries):
    campaign = make_paid_campaign("link", names=("alice",))
    add_bonus(campaign)
    with django_assert_num_queries(6):
        owing.plans(campaign)
    for number in range(10):
        hand_in(campaign, f"worker{number}")
        add_bonus(campaign)
    with django_assert_num_queries(6):
        assert [plan.n_payments for plan in owing.plans(campaign)] == [11, 121]
