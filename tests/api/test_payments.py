"""Payments over the API: planned, confirmed once, marked as paid, rejected, listed."""

import pytest

from da_platform.jobs.models import Job
from hits.models import Assignment, Payment, PaymentRun, PayRule
from tests.api.callers import Caller, caller
from tests.paying import confirm, hand_in, make_paid_campaign

pytestmark = pytest.mark.django_db


@pytest.fixture
def admin() -> Caller:
    return caller("admin")


def base(campaign) -> str:
    return f"/campaigns/{campaign.code}/payments"


def planned(admin, campaign, kind="approve", way="hand") -> dict[str, str]:
    plan = admin.get(f"{base(campaign)}/plan/{kind}/{way}").json()
    return {name: plan[name] for name in ("kind", "way", "digest", "total")}


def test_the_summary_and_the_plan_show_what_is_owed(admin):
    campaign = make_paid_campaign("link")
    money = admin.get(base(campaign)).json()
    assert (money["owed"], money["paid"], money["currency"]) == ("3.00", "0.00", "USD")
    assert [(plan["kind"], plan["way"]) for plan in money["plans"]] == [("approve", "hand")]
    dues = admin.get(f"{base(campaign)}/plan/approve/hand/dues").json()["items"]
    assert [due["worker"] for due in dues] == ["link:alice", "link:bob"]
    assert {due["amount"] for due in dues} == {"1.50"}


class TestConfirming:
    def test_a_run_is_confirmed_by_list_and_total(self, admin):
        campaign = make_paid_campaign()
        answer = admin.post(f"{base(campaign)}/runs", planned(admin, campaign, way="provider"))
        assert answer.status_code == 201 and answer.json()["n_payments"] == 2
        assert Job.objects.get().kind == "pay"

    def test_the_same_list_twice_is_one_run(self, admin):
        campaign = make_paid_campaign("link")
        plan = planned(admin, campaign)
        first, second = (admin.post(f"{base(campaign)}/runs", plan) for _ in "ab")
        assert (first.status_code, second.status_code) == (201, 200)
        assert first.json()["code"] == second.json()["code"]
        assert PaymentRun.objects.count() == 1 and Payment.objects.count() == 2

    def test_a_cancelled_list_can_be_confirmed_again(self, admin):
        campaign = make_paid_campaign("link")
        plan = planned(admin, campaign)
        run = admin.post(f"{base(campaign)}/runs", plan).json()["code"]
        assert admin.post(f"{base(campaign)}/runs/{run}/cancel").json()["states"] == {
            "withdrawn": 2
        }
        again = admin.post(f"{base(campaign)}/runs", plan)
        assert again.status_code == 201 and again.json()["code"] != run

    def test_a_cancelled_list_that_has_changed_is_refused(self, admin):
        campaign = make_paid_campaign("link")
        plan = planned(admin, campaign)
        run = admin.post(f"{base(campaign)}/runs", plan).json()["code"]
        admin.post(f"{base(campaign)}/runs/{run}/cancel")
        hand_in(campaign, "carol")
        assert admin.post(f"{base(campaign)}/runs", plan).status_code == 409

    @pytest.mark.parametrize("changes", [{"total": "3.01"}, {"digest": "0" * 64}])
    def test_a_different_total_or_list_pays_nothing(self, admin, changes):
        campaign = make_paid_campaign("link")
        plan = planned(admin, campaign) | changes
        assert admin.post(f"{base(campaign)}/runs", plan).status_code == 409
        assert not Payment.objects.exists()

    def test_a_run_in_progress_is_not_started_twice(self, admin):
        campaign = make_paid_campaign()
        run = confirm(campaign)
        answer = admin.post(f"{base(campaign)}/runs/{run.code}/go-on")
        assert answer.status_code == 202 and Job.objects.filter(kind="pay").count() == 1


def test_a_list_is_marked_as_paid_once(admin):
    campaign = make_paid_campaign("link")
    run = confirm(campaign, is_by_hand=True)
    path = f"{base(campaign)}/runs/{run.code}/paid"
    assert admin.post(path, {"total": "2.00", "reference": "transfer 7"}).status_code == 409
    paid = admin.post(path, {"total": "3.00", "reference": "transfer 7"}).json()
    assert (paid["paid"], paid["states"]) == ("3.00", {"sent": 2}) and paid["finished_at"]
    assert admin.post(path, {"total": "3.00", "reference": "again"}).status_code == 409
    assert admin.get(base(campaign)).json()["paid"] == "3.00"


def test_work_is_rejected_with_a_reason_and_the_rejection_is_withdrawn(admin):
    campaign = make_paid_campaign("link")
    alice = Assignment.objects.get(worker__external_id="alice")
    path = f"{base(campaign)}/assignments/{alice.code}"
    assert admin.post(f"{path}/reject", {"message": ""}).status_code == 422
    assert admin.post(f"{path}/withdraw-rejection", {"reason": "Sorry"}).status_code == 409
    assert admin.post(f"{path}/reject", {"message": "No scores."}).status_code == 201
    assert admin.get(base(campaign)).json()["owed"] == "1.50"
    withdrawn = admin.post(f"{path}/withdraw-rejection", {"reason": "She wrote to us."})
    assert withdrawn.json()["state"] == "withdrawn"
    assert admin.get(base(campaign)).json()["owed"] == "3.00"


def test_prolific_needs_a_long_message_for_a_rejection(admin):
    campaign = make_paid_campaign("prolific")
    alice = Assignment.objects.get(worker__external_id="alice")
    path = f"{base(campaign)}/assignments/{alice.code}/reject"
    answer = admin.post(path, {"message": "Too short", "category": "LOW_EFFORT"})
    assert answer.status_code == 409 and "100" in answer.json()["detail"]


class TestRules:
    def test_a_bonus_is_promised_planned_and_withdrawn(self, admin):
        campaign = make_paid_campaign("link")
        path = f"{base(campaign)}/rules"
        rule = admin.post(path, {"kind": "flat", "amount": "0.25", "reason": "Thanks"})
        assert rule.status_code == 201
        assert planned(admin, campaign, "bonus")["total"] == "0.50"
        code = rule.json()["code"]
        assert admin.post(f"{path}/{code}/withdraw").json()["withdrawn_at"]
        assert planned(admin, campaign, "bonus")["total"] == "0.00"
        assert admin.get(path).json()["count"] == 1

    def test_one_worker_can_get_an_adjustment(self, admin):
        campaign = make_paid_campaign("link")
        alice = Assignment.objects.get(worker__external_id="alice")
        rule = {"kind": "adjustment", "amount": "1.00", "reason": "The page was slow"}
        path = f"{base(campaign)}/rules"
        assert admin.post(path, rule).status_code == 409
        assert admin.post(path, rule | {"assignment": str(alice.code)}).status_code == 201
        assert PayRule.objects.get().assignment == alice

    def test_a_bonus_of_zero_is_refused(self, admin):
        path = f"{base(make_paid_campaign('link'))}/rules"
        rule = {"kind": "flat", "amount": "0.00", "reason": "Thanks"}
        assert admin.post(path, rule).status_code == 422


def test_the_ledger_is_listed_and_downloaded(admin, django_assert_num_queries):
    campaign = make_paid_campaign("link")
    run = confirm(campaign, is_by_hand=True)
    path = f"{base(campaign)}/ledger"
    assert admin.get(path, state="planned", run=str(run.code)).json()["count"] == 2
    assert admin.get(path, state="sent").json()["count"] == 0
    for limit in (1, 2):
        with django_assert_num_queries(6):
            assert len(admin.get(path, limit=limit).json()["items"]) == limit
    assert "alice" in admin.get(f"{path}.csv").content.decode()
    assert admin.get(f"{base(campaign)}/runs").json()["items"][0]["code"] == str(run.code)


def test_a_person_settles_an_unknown_payment_and_writes_off_a_failed_one(admin):
    campaign = make_paid_campaign(names=("alice",))
    run = confirm(campaign)
    run.payments.update(state="unknown", settled_at=run.confirmed_at, sending_at=run.confirmed_at)
    path = f"{base(campaign)}/ledger/{Payment.objects.get().code}/settle"
    assert admin.post(path, {"answer": "paid"}).status_code == 409
    settled = admin.post(path, {"answer": "not_paid", "reason": "Not in their list"})
    assert settled.json()["state"] == "failed"
    written_off = admin.post(path, {"answer": "write_off", "reason": "Made-up ids"})
    assert written_off.json()["state"] == "written_off"


def test_checking_a_payment_by_hand_changes_nothing(admin):
    campaign = make_paid_campaign("link", names=("alice",))
    confirm(campaign, is_by_hand=True)
    path = f"{base(campaign)}/ledger/{Payment.objects.get().code}/settle"
    assert admin.post(path, {"answer": "ask"}).json()["state"] == "planned"


def test_payments_need_an_admin_and_the_pay_scope():
    campaign = make_paid_campaign("link")
    assert caller("researcher").get(base(campaign)).status_code == 403
    assert caller("admin", scopes=("read", "run", "decide")).get(base(campaign)).status_code == 403


def test_a_run_of_another_campaign_does_not_exist(admin):
    campaign, other = make_paid_campaign(names=()), make_paid_campaign("link")
    run = confirm(other, is_by_hand=True)
    assert admin.get(f"{base(campaign)}/runs/{run.code}").status_code == 404
