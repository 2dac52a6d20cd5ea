"""The client with a real server: its notebook, and operations not used there."""

import re
from typing import Any
from uuid import UUID

import pytest
from django.utils import timezone
from numpy.testing import assert_allclose

from da_client import ApiError, Client, JobFailed, Record
from da_platform.help.pages import read_markdown
from hits.campaigns.demo import prepare_demo_campaign
from hits.models import Assignment, Campaign, Payment
from hits.workers.trust import weigh_pending
from tests.analysis.test_notebook import NOTEBOOKS_FOLDER, assert_prints_as_stored
from tests.api.callers import secret_of
from tests.api.serving import working
from tests.evaluations import make_campaign_evaluation
from tests.factories import make_campaign, make_hits
from tests.paying import make_paid_campaign
from tests.subprocesses import CHECKOUT

NOTEBOOK = NOTEBOOKS_FOLDER / "api_client.ipynb"


@pytest.fixture
def da(live_server):
    with Client(live_server.url, secret_of("superuser")) as client:
        yield client


def test_the_notebook_prints_its_stored_output(live_server, monkeypatch):
    prepare_demo_campaign()
    weigh_pending()
    monkeypatch.setenv("DA_ADDRESS", live_server.url)
    monkeypatch.setenv("DA_TOKEN", secret_of("superuser"))
    with working():
        assert_prints_as_stored(NOTEBOOK)


@pytest.mark.django_db(transaction=True)
class TestPayments:
    def test_a_list_is_planned_confirmed_and_marked(self, da):
        campaign = make_paid_campaign("link").code
        payments = da.get_payments(campaign)
        assert (payments.owed, payments.plans[0].way) == ("3.00", "hand")
        plan = plan_by_hand(da, campaign)
        run = confirm(da, campaign, plan)
        assert confirm(da, campaign, plan).code == run.code
        paid = da.mark_as_paid(campaign, run.code, total=run.total, reference="transfer 7")
        assert paid.paid == "3.00"
        assert {line.state for line in da.list_ledger(campaign)} == {"sent"}
        assert len(da.list_payment_runs(campaign)) == 1
        assert b"alice" in da.download_ledger(campaign)

    def test_work_is_rejected_and_a_bonus_promised(self, da):
        campaign = make_paid_campaign("link").code
        alice = Assignment.objects.get(worker__external_id="alice").code
        assert da.reject_assignment(campaign, alice, message="No scores.").kind == "reject"
        assert plan_by_hand(da, campaign).n_payments == 1
        da.withdraw_rejection(campaign, alice, reason="A mistake.")
        assert plan_by_hand(da, campaign).n_payments == 2
        rule = da.add_rule(campaign, kind="flat", reason="Thanks", amount="0.25")
        assert da.get_plan(campaign, "bonus", "hand").total == "0.50"
        assert da.withdraw_rule(campaign, rule.code).withdrawn_at

    def test_an_unknown_payment_is_settled(self, da):
        campaign = make_paid_campaign("prolific").code
        assert da.frame(da.list_dues(campaign, "approve", "provider"))["amount"].eq("1.50").all()
        run = confirm(da, campaign, da.get_plan(campaign, "approve", "provider"))
        assert da.continue_payment_run(campaign, run.code).kind == "pay"
        Payment.objects.update(state="unknown", settled_at=timezone.now())
        payment = da.list_ledger(campaign, state="unknown")[0]
        settled = da.settle_payment(campaign, payment.code, answer="paid", reason="On the bill.")
        assert settled.state == "sent"


def plan_by_hand(da: Client, campaign: UUID) -> Record:
    plan: Record = da.get_plan(campaign, "approve", "hand")
    return plan


def confirm(da: Client, campaign: UUID, plan: Record) -> Record:
    previewed = {name: plan[name] for name in ("kind", "way", "digest", "total")}
    run: Record = da.confirm_plan(campaign, **previewed)
    return run


@pytest.mark.django_db(transaction=True)
class TestFrames:
    def test_scores_and_exports_become_frames(self, da, tmp_path):
        evaluation = make_campaign_evaluation()
        campaign = evaluation.campaign.code
        scores = da.frame(da.list_gold_scores(campaign, 1))
        assert len(scores) == da.get_gold(campaign, 1).n_scored == 28
        for format in ("csv", "parquet"):
            exported = da.frame(da.download_export(campaign, "segments", format=format))
            both = exported.merge(scores, on=["system", "segment"], validate="one_to_one")
            assert_allclose(both["z_x"], both["z_y"])
            assert len(both) == 28
        assert str(da.frame(da.list_gold(campaign))["created_at"].dt.tz) == "UTC"
        name = da.list_evaluation_pictures(campaign, evaluation.number)[0].name
        file = tmp_path / "picture.csv"
        da.download_evaluation_picture(
            campaign, evaluation.number, name, format="csv", save_to=file
        )
        assert "good" in file.read_text()

    def test_a_campaign_gives_its_data_as_frames(self, da):
        evaluation = make_campaign_evaluation()
        campaign = da.campaign(evaluation.campaign.name)
        assert campaign == da.get_campaign(evaluation.campaign.code)
        ratings, segments, systems = (
            campaign.ratings(),
            campaign.segments(),
            campaign.systems(run=1),
        )
        assert len(ratings) == campaign.n_ratings
        assert ratings["score"].dtype == "int64" and ratings["is_late"].dtype == "bool"
        assert str(ratings["received_at"].dt.tz) == "UTC"
        assert len(segments) == 28 and segments["z"].dtype == "float64"
        means = segments.groupby("system")["z"].mean()
        assert_allclose(means[systems["system"]], systems["z"])

    def test_the_recipes_of_the_documentation_run(self, da, live_server):
        evaluation = make_campaign_evaluation()
        text = read_markdown("pandas").replace("https://da.example.org", live_server.url)
        text = text.replace("News de-en", evaluation.campaign.name)
        names: dict[str, Any] = {"token": secret_of("superuser")}
        for code in re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S):
            if "read_export" not in code:  # see test_reading_exports.py
                exec(code, names)
        assert names["matrix"].shape == (14, 2)
        assert names["table"].startswith("rank,system,z")

    def test_the_example_of_automatic_post_editing_runs(self, da, monkeypatch):
        monkeypatch.chdir(CHECKOUT)
        blocks = re.findall(r"^```python\n(.*?)^```$", read_markdown("experiments"), re.M | re.S)
        names: dict[str, Any] = {"da": da}
        with working():
            exec(next(code for code in blocks if '"ape"' in code), names)
        assert names["findings"][0].startswith("careful has TER 19.70, and is significantly better")
        assert b"28.79" in names["table"]
        campaign = Campaign.objects.get(name="Two post-editors")
        assert str(campaign.code) == str(names["campaign"].code) and campaign.task == "rank"

    def test_an_unknown_campaign_is_named(self, da):
        with pytest.raises(LookupError, match="'Nothing'"):
            da.campaign("Nothing")

    def test_scores_are_uploaded_from_a_frame(self, da):
        campaign = make_campaign_evaluation().campaign.code
        gold = da.frame(da.list_gold_scores(campaign, 1))
        scores = gold[["system", "segment"]].assign(score=gold["z"])
        (metric,) = da.add_scores(campaign, file=scores, name="oracle", higher=["oracle"])
        stored = da.frame(da.list_metric_scores(campaign, metric.code))
        assert_allclose(sorted(stored["score"]), sorted(gold["z"]))


@pytest.mark.django_db(transaction=True)
class TestCampaigns:
    def test_settings_copies_links_and_the_log(self, da):
        campaign = make_hits().code
        assert da.change_settings(campaign, min_ratings=3).min_ratings == 3
        assert da.duplicate_campaign(campaign, name="Copy").n_hits == 0
        links = da.make_links(campaign, n=2)
        assert da.revoke_links(campaign, ids=[links[0].id]).n_revoked == 1
        saved = da.save_recruiting(campaign, provider="link", values={"is_open": False})
        assert saved.is_open is False
        actions = set(da.frame(da.list_audit_entries(campaign=campaign))["action"])
        assert {"settings changed", "invites made"} <= actions

    def test_people_are_invited_and_locked_out(self, da):
        invited = da.invite_person(
            username="alice", level="researcher", campaign=str(make_campaign().code)
        )
        alice = invited.person.id
        assert len(da.give_part(alice, level="admin").parts) == 2
        part = next(part for part in da.get_person(alice).parts if part.campaign)
        assert [part.level for part in da.take_part_away(alice, part.id).parts] == ["admin"]
        assert da.set_active(alice, is_active=False).is_active is False

    def test_a_refusal_is_raised_with_its_reason(self, da):
        with pytest.raises(ApiError) as refusal:
            da.get_campaign("00000000-0000-0000-0000-000000000007")
        assert refusal.value.status_code == 404
        with pytest.raises(ApiError, match="Prolific"):
            da.make_study(make_campaign().code)

    def test_a_job_that_failed_is_raised(self, da):
        job = da.evaluate(make_campaign().code)
        with working(), pytest.raises(JobFailed, match="Build it first"):
            da.wait(job, seconds=60)
        assert [job.state for job in da.list_jobs(state="failed")] == ["failed"]

    def test_waiting_has_a_time_limit(self, da):
        job = da.recompute_workers(make_campaign().code)
        with pytest.raises(TimeoutError):
            da.wait(job, seconds=0)
        assert da.cancel_job(job.code).state == "cancelled"
