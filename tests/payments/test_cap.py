"""The spending cap covers bonuses as well as pay."""

from decimal import Decimal

import pytest

from hits.models import Assignment, Campaign, Payment, PayRule
from hits.payments.owing import Kind, plans
from hits.payments.reporting import standing
from hits.payments.runs import add_rule, mark_as_paid, withdraw_rule, write_off
from hits.rating.assignments import take_assignment
from hits.rating.places import amount_owed, cost_per_hit, forecast, n_affordable
from tests.factories import make_hits, make_worker
from tests.paying import PAY, confirm, hand_in, make_admin, make_paid_campaign

pytestmark = pytest.mark.django_db


def promise(campaign: Campaign, kind: str = "flat", **fields) -> PayRule:
    amount = {"amount": Decimal("5.00")} if kind != "partial" else {}
    defaults = {"campaign": campaign, "kind": kind, "reason": "Thank you", "actor": make_admin()}
    return add_rule(**defaults | amount | fields)


def pay(campaign: Campaign, kind: Kind = Kind.BONUS) -> None:
    run = confirm(campaign, kind, is_by_hand=True)
    mark_as_paid(run=run, total=run.total, reference="transfer 7", actor=make_admin())


def test_bonuses_count_towards_the_cap_that_stops_new_assignments():
    campaign = make_hits(min_ratings=9, pay_per_hit=0, spending_cap=11)
    promise(campaign)
    assignments = [take_assignment(campaign=campaign, worker=make_worker()) for _ in range(3)]
    assert assignments[0] and assignments[1] and assignments[2] is None


def test_the_forecast_includes_bonuses_and_the_cap():
    campaign = make_hits(min_ratings=9, pay_per_hit=1, spending_cap=11)
    promise(campaign)
    assert take_assignment(campaign=campaign, worker=make_worker())
    prediction = forecast(campaign)
    assert prediction.is_stopped_by_cap and prediction.spent == prediction.cost_per_hit == 6
    assert prediction.expected_cost == 6 * prediction.n_expected


def test_a_withdrawn_rule_costs_only_what_was_already_paid():
    campaign = make_paid_campaign("link")
    rule = promise(campaign)
    pay(campaign)
    hand_in(campaign, "carol")
    withdraw_rule(rule=rule, actor=make_admin())
    assert cost_per_hit(campaign) == PAY
    assert amount_owed(campaign) == 3 * PAY + 10 == standing(campaign, plans(campaign)).committed


def test_an_adjustment_counts_once_it_is_in_a_run():
    campaign = make_paid_campaign("link", names=("alice",), spending_cap=Decimal("6.00"))
    promise(campaign, "adjustment", assignment=Assignment.objects.get())
    assert n_affordable(campaign, 9) == 3
    confirm(campaign, Kind.BONUS, is_by_hand=True)
    assert n_affordable(campaign, 9) == 0


def test_a_partial_payment_is_deducted_once_the_work_is_submitted():
    campaign = make_paid_campaign("link", names=())
    alice = hand_in(campaign, "alice", status="in_progress")
    for item in alice.hit.items.order_by("position")[:10]:
        alice.ratings.create(item=item, score=50)
    Assignment.objects.update(status="returned")
    promise(campaign, "partial")
    pay(campaign)
    assert amount_owed(campaign) == Decimal("0.37")
    Assignment.objects.update(
        status="submitted", submitted_at=campaign.created_at, completion_code="X"
    )
    assert amount_owed(campaign) == PAY
    pay(campaign, Kind.APPROVE)
    assert amount_owed(campaign) == PAY == standing(campaign, []).committed


def test_a_payment_that_is_written_off_costs_nothing():
    campaign = make_paid_campaign(names=("alice",))
    run = confirm(campaign)
    run.payments.update(state="failed", settled_at=run.confirmed_at)
    assert amount_owed(campaign) == PAY
    write_off(payment=Payment.objects.get(), reason="Made-up ids", actor=make_admin())
    assert amount_owed(campaign) == 0


def test_a_cap_of_zero_stops_nobody_when_hits_are_free():
    campaign = make_hits(pay_per_hit=0, spending_cap=0)
    assert n_affordable(campaign, 9) == 9
