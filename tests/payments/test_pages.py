"""The pages where admins pay workers, and who may see them."""

from decimal import Decimal

import pytest
from django.http import HttpResponse
from django.urls import reverse

from da_platform.jobs.models import Job
from da_platform.jobs.running import run_job
from hits.models import Assignment, Payment, PaymentRun, PayRule
from hits.payments.owing import Kind, plan_run
from hits.recruiting.visitors import remember_worker
from tests.paying import PAY, confirm, hand_in, make_paid_campaign
from tests.people import client_of

pytestmark = pytest.mark.django_db


def address(name, campaign, *args):
    return reverse(name, args=[campaign.code, *args])


def text_of(response):
    return " ".join(response.content.decode().split())


def post_plan(client, campaign, *, way="provider", kind="approve", **changes):
    plan = plan_run(campaign, Kind(kind), is_by_hand=way == "hand")
    data = {"digest": plan.digest, "total": f"{plan.total}"} | changes
    return client.post(address("plan_payments", campaign, kind, way), data)


@pytest.mark.parametrize(
    ("role", "status"), [("stranger", 302), ("outsider", 404), ("researcher", 403), ("admin", 200)]
)
def test_only_admins_see_payments(role, status):
    campaign = make_paid_campaign()
    run = confirm(campaign)
    client = client_of(role)
    for url in (
        address("campaign_payments", campaign),
        address("plan_payments", campaign, "approve", "provider"),
        address("payment_run", campaign, run.code),
        address("payment_list", campaign, run.code),
        address("people_list", campaign, run.code),
        address("payment_ledger", campaign),
        address("pay_assignment", campaign, Assignment.objects.first().code),
    ):
        assert client.get(url).status_code == status, url


def test_a_researcher_does_not_see_the_job_that_pays():
    campaign = make_paid_campaign()
    confirm(campaign)
    url = reverse("job", args=[Job.objects.get(kind="pay").code])
    assert client_of("researcher").get(url).status_code == 404
    assert client_of("researcher").post(f"{url}cancel/").status_code == 404
    assert client_of("admin").get(url).status_code == 200


def test_an_admin_confirms_what_is_owed_and_the_job_pays_it(mturk):
    campaign, client = make_paid_campaign(), client_of("admin")
    assert "3.00 USD" in text_of(client.get(address("campaign_payments", campaign)))
    page = client.get(address("plan_payments", campaign, "approve", "provider"))
    assert "alice" in text_of(page) and "Pay 3.00 USD" in text_of(page)
    assert "Mechanical Turk" in text_of(client.get(address("campaign_payments", campaign)))
    confirmed = post_plan(client, campaign, total="3,00")
    run = PaymentRun.objects.get()
    assert confirmed.url == address("payment_run", campaign, run.code)
    assert mturk.payments == {}
    run_job(Job.objects.get(kind="pay").pk)
    assert mturk.payments.total() == 2
    page = text_of(client.get(confirmed.url))
    assert "Finished" in page and "<dt>Amount paid</dt><dd>3.00 USD</dd>" in page
    assert "Nothing is owed" in text_of(client.get(address("campaign_payments", campaign)))


@pytest.mark.parametrize("total", ["3.01", "", "three"])
def test_a_wrong_total_pays_nothing(total):
    campaign = make_paid_campaign()
    refused = post_plan(client_of("admin"), campaign, total=total)
    assert refused.status_code == 409 and not Payment.objects.exists()


def test_a_list_that_has_changed_is_shown_again():
    campaign, client = make_paid_campaign(), client_of("admin")
    old = plan_run(campaign, Kind.APPROVE, is_by_hand=False)
    hand_in(campaign, "carol")
    refused = post_plan(client, campaign, digest=old.digest, total=f"{old.total}")
    assert refused.status_code == 409
    assert "has changed" in text_of(refused) and "carol" in text_of(refused)
    new = plan_run(campaign, Kind.APPROVE, is_by_hand=False)
    assert new.digest in text_of(refused) and not Payment.objects.exists()


def test_a_double_click_confirms_once():
    campaign, client = make_paid_campaign(), client_of("admin")
    plan = plan_run(campaign, Kind.APPROVE, is_by_hand=False)
    responses = [post_plan(client, campaign, digest=plan.digest, total="3.00") for _ in range(2)]
    assert [response.status_code for response in responses] == [302, 409]
    assert PaymentRun.objects.count() == 1


class TestByHand:
    def test_a_list_is_downloaded_paid_and_marked(self):
        campaign, client = make_paid_campaign("link"), client_of("admin")
        run_url = post_plan(client, campaign, way="hand").url
        run = PaymentRun.objects.get()
        assert not Job.objects.filter(kind="pay").exists()
        rows = client.get(address("payment_list", campaign, run.code)).content.decode()
        assert "alice" in rows and "1.50,USD,planned" in rows
        marked = {"action": "paid", "total": "3.00", "reference": "transfer 7"}
        client.post(run_url, marked | {"total": "2.00"})
        assert not Payment.objects.filter(state="sent").exists()
        client.post(run_url, marked)
        assert Payment.objects.filter(state="sent", reference="transfer 7").count() == 2

    def test_cells_of_the_list_cannot_be_formulas(self):
        campaign = make_paid_campaign("link", names=("=1+1",))
        run = confirm(campaign, is_by_hand=True)
        page = client_of("admin").get(address("payment_list", campaign, run.code))
        assert ",'=1+1," in page.content.decode()

    def test_a_list_can_be_cancelled(self):
        campaign, client = make_paid_campaign("link"), client_of("admin")
        run_url = post_plan(client, campaign, way="hand").url
        client.post(run_url, {"action": "cancel"})
        assert set(Payment.objects.values_list("state", flat=True)) == {"withdrawn"}
        assert post_plan(client, campaign, way="hand").status_code == 302


def test_a_halted_run_can_be_continued(mturk):
    campaign, client = make_paid_campaign(), client_of("admin")
    url = post_plan(client, campaign).url
    mturk.mishaps["ApproveAssignment"] = ["lose_answer"]
    mturk.mishaps["GetAssignment"] = ["lose_request"] * 2
    run_job(Job.objects.get().pk)
    page = text_of(client.get(url))
    assert "does not respond" in page and "Continue" in page
    client.post(url, {"action": "go_on"})
    run_job(Job.objects.latest("pk").pk)
    assert mturk.payments.total() == 2 and Payment.objects.filter(state="sent").count() == 2


def test_a_bonus_for_everyone_and_an_adjustment_for_alice_are_paid(mturk):
    campaign, client = make_paid_campaign(), client_of("admin")
    client.post(
        address("add_pay_rule", campaign), {"kind": "flat", "amount": "0,25", "reason": "Thank you"}
    )
    alice = Assignment.objects.get(worker__external_id="alice")
    client.post(
        address("pay_assignment", campaign, alice.code),
        {"action": "adjust", "amount": "0.75", "reason": "The page was slow"},
    )
    post_plan(client, campaign, kind="bonus")
    run_job(Job.objects.get().pk)
    assert mturk.money_of("alice") == Decimal("1.00") and mturk.money_of("bob") == Decimal("0.25")


def test_a_rule_can_be_withdrawn():
    campaign, client = make_paid_campaign(), client_of("admin")
    client.post(
        address("add_pay_rule", campaign), {"kind": "flat", "amount": "1", "reason": "Thanks"}
    )
    client.post(address("withdraw_pay_rule", campaign, PayRule.objects.get().code))
    assert plan_run(campaign, Kind.BONUS, is_by_hand=False).dues == []


class TestRejecting:
    def reject(self, campaign, **data):
        alice = Assignment.objects.get(worker__external_id="alice")
        url = address("pay_assignment", campaign, alice.code)
        return client_of("admin").post(url, {"action": "reject"} | data)

    def test_only_the_rejected_worker_reads_the_reason_on_the_last_page(self, client):
        campaign = make_paid_campaign("link")
        assert self.reject(campaign, message="You <b>gave</b> no scores.").status_code == 302
        pages = {}
        for assignment in Assignment.objects.select_related("worker"):
            response = HttpResponse()
            remember_worker(response, assignment.worker)
            client.cookies = response.cookies
            page = client.get(reverse("done", args=[assignment.code]))
            pages[assignment.worker.external_id] = text_of(page)
        assert "You &lt;b&gt;gave&lt;/b&gt; no scores." in pages["alice"]
        assert "not be paid" in pages["alice"] and "not be paid" not in pages["bob"]

    def test_prolific_requires_a_longer_message(self):
        campaign = make_paid_campaign("prolific")
        refused = self.reject(campaign, message="Too short", category="LOW_EFFORT")
        assert refused.status_code == 422
        assert "at least 100 characters" in text_of(refused)
        assert not Payment.objects.exists()

    def test_it_can_be_withdrawn(self):
        campaign = make_paid_campaign("link")
        self.reject(campaign, message="No scores.")
        alice = Assignment.objects.get(worker__external_id="alice")
        url = address("pay_assignment", campaign, alice.code)
        client_of("admin").post(url, {"action": "withdraw", "reason": "She wrote to us."})
        alice.refresh_from_db()
        assert not alice.is_rejected


def test_a_payment_in_doubt_is_settled_by_a_person():
    campaign, client = make_paid_campaign(names=("alice",)), client_of("admin")
    run = confirm(campaign)
    run.payments.update(state="unknown", settled_at=run.confirmed_at, sending_at=run.confirmed_at)
    payment = Payment.objects.get()
    assert "your decision is needed" in text_of(client.get(address("campaign_payments", campaign)))
    url = address("settle_payment", campaign, payment.code)
    client.post(url, {"answer": "paid", "reason": ""})
    payment.refresh_from_db()
    assert payment.state == "unknown"
    client.post(url, {"answer": "not_paid", "reason": "Not in their list"})
    payment.refresh_from_db()
    assert payment.state == "failed"


def test_a_failed_payment_can_be_written_off():
    campaign, client = make_paid_campaign(names=("alice",)), client_of("admin")
    run = confirm(campaign)
    run.payments.update(state="failed", settled_at=run.confirmed_at, problem="No such work")
    page = text_of(client.get(address("campaign_payments", campaign)))
    assert "No such work" in page and "Write off" in page
    url = address("settle_payment", campaign, Payment.objects.get().code)
    client.post(url, {"answer": "write_off", "reason": "Made-up ids"})
    page = text_of(client.get(address("campaign_payments", campaign)))
    assert "Nothing is owed" in page and "Pay per HIT: written off" in page


def test_another_campaigns_run_is_not_found():
    campaign, other = make_paid_campaign(names=()), make_paid_campaign("link")
    run = confirm(other, is_by_hand=True)
    url = address("payment_run", campaign, run.code)
    assert client_of("admin").get(url).status_code == 404


def test_the_page_shows_how_much_of_the_cap_is_left():
    campaign = make_paid_campaign("link", spending_cap=Decimal("2.00"))
    page = text_of(client_of("admin").get(address("campaign_payments", campaign)))
    assert "-1.00 USD" in page and f"{2 * PAY} USD" in page


def test_queries_for_the_page_do_not_grow_with_workers(django_assert_max_num_queries):
    campaign, client = make_paid_campaign("link", names=("alice",)), client_of("admin")
    confirm(campaign, is_by_hand=True)
    for number in range(10):
        hand_in(campaign, f"worker{number}")
    confirm(campaign, is_by_hand=True)
    with django_assert_max_num_queries(22):
        client.get(address("campaign_payments", campaign))
