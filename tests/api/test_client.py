"""The client against a real server: its notebook, and the calls that the notebook has no use for."""

from pathlib import Path

import nbformat
import pytest
from django.utils import timezone
from nbclient import NotebookClient
from numpy.testing import assert_allclose

from da_client import ApiError, Client, JobFailed
from hits.demo import prepare_demo_campaign
from hits.models import Assignment, DeviceSighting, Payment, Worker
from hits.services import take_part
from hits.trust import weigh_pending
from tests.analysis.test_notebook import NOTEBOOKS_FOLDER, NUMBER, ROUNDED, printed
from tests.api.callers import secret_of
from tests.api.serving import working
from tests.evaluations import make_campaign_evaluation
from tests.factories import make_campaign, make_hits
from tests.paying import make_paid_campaign

ROOT = Path(__file__).parents[2]
NOTEBOOK = NOTEBOOKS_FOLDER / "api_client.ipynb"


@pytest.fixture
def da(live_server):
    with Client(live_server.url, secret_of("superuser")) as client:
        yield client


def executed(live_server, monkeypatch) -> nbformat.NotebookNode:
    """Run the notebook in a kernel of its own, as a reader would beside a fresh platform."""
    prepare_demo_campaign()
    weigh_pending()
    monkeypatch.setenv("DA_ADDRESS", live_server.url)
    monkeypatch.setenv("DA_TOKEN", secret_of("superuser"))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    with working():
        NotebookClient(notebook, timeout=120).execute()
    return notebook


@pytest.mark.filterwarnings("default")
def test_the_notebook_prints_what_it_printed(live_server, monkeypatch):
    stored = nbformat.read(NOTEBOOK, as_version=4)
    found = executed(live_server, monkeypatch)
    cells = [
        (printed(old), printed(new))
        for old, new in zip(stored.cells, found.cells, strict=True)
        if old.cell_type == "code"
    ]
    assert any(old for old, _ in cells)
    for old, new in cells:
        assert NUMBER.sub("#", new).split() == NUMBER.sub("#", old).split()
        assert_allclose(
            [float(number) for number in NUMBER.findall(new)],
            [float(number) for number in NUMBER.findall(old)],
            atol=ROUNDED,
        )


@pytest.mark.django_db(transaction=True)
class TestMoney:
    def test_a_list_is_planned_confirmed_and_marked(self, da):
        campaign = str(make_paid_campaign("link").code)
        money = da.payments(campaign)
        assert (money.owed, money.plans[0].way) == ("3.00", "hand")
        plan = da.plan(campaign, "approve", "hand")
        run = da.confirm(campaign, plan)
        assert da.confirm(campaign, plan).code == run.code
        assert da.mark_as_paid(campaign, run, reference="transfer 7").paid == "3.00"
        assert {line.state for line in da.ledger(campaign)} == {"sent"}
        assert Payment.objects.count() == 2 and len(list(da.runs(campaign))) == 1

    def test_work_is_rejected_and_a_bonus_promised(self, da, tmp_path):
        campaign = str(make_paid_campaign("link").code)
        alice = str(Assignment.objects.get(worker__external_id="alice").code)
        assert da.reject(campaign, alice, message="No scores.").kind == "reject"
        rule = da.add_rule(campaign, "flat", reason="Thanks", amount="0.25")
        assert da.plan(campaign, "bonus", "hand").total == "0.25"
        assert da.withdraw_rule(campaign, rule.code).withdrawn_at
        assert "alice" in da.download_ledger(campaign, tmp_path / "ledger.csv").read_text()

    def test_a_run_that_stopped_goes_on_and_what_is_unknown_is_settled(self, da):
        found = make_paid_campaign("prolific")
        campaign = str(found.code)
        assert [due.amount for due in da.dues(campaign)] == ["1.50", "1.50"]
        run = da.confirm(campaign, da.plan(campaign))
        assert da.go_on(campaign, run).kind == "pay"
        Payment.objects.update(state="unknown", settled_at=timezone.now())
        lost, paid = da.ledger(campaign, state="unknown")
        assert da.settle(campaign, paid.code, "paid", reason="On the bill.").state == "sent"
        assert da.settle(campaign, lost.code, "not_paid", reason="Not there.").state == "failed"
        assert da.cost(campaign).currency == "USD"

    def test_a_rejection_is_taken_back_and_rules_are_listed(self, da):
        campaign = str(make_paid_campaign("link").code)
        alice = str(Assignment.objects.get(worker__external_id="alice").code)
        da.reject(campaign, alice, message="No scores.")
        assert da.plan(campaign, "approve", "hand").n_payments == 1
        da.withdraw_rejection(campaign, alice, reason="A mistake.")
        assert da.plan(campaign, "approve", "hand").n_payments == 2
        da.add_rule(campaign, "flat", reason="Thanks", amount="0.25")
        assert [rule.reason for rule in da.rules(campaign)] == ["Thanks"]


@pytest.mark.django_db(transaction=True)
class TestPeople:
    def test_they_are_invited_given_parts_and_locked_out(self, da):
        campaign = str(make_campaign().code)
        invited = da.invite_person("alice", "researcher", campaign=campaign)
        alice = invited.person.id
        assert "/password/set/" in invited.password_url
        assert len(da.give_part(alice, "admin").parts) == 2
        part = next(one for one in da.person(alice).parts if one["campaign"])
        assert [one["level"] for one in da.take_part_away(alice, part["id"]).parts] == ["admin"]
        assert da.set_active(alice, False).is_active is False
        assert [one.username for one in da.people(search="ali")] == ["alice"]


@pytest.mark.django_db(transaction=True)
class TestWorkers:
    def test_their_work_their_links_and_their_devices_are_listed(self, da):
        found = make_paid_campaign("mturk")
        campaign, worker = str(found.code), Worker.objects.get(external_id="alice")
        for name in ("alice", "bob"):
            seen = Worker.objects.get(external_id=name)
            DeviceSighting.objects.create(campaign=found, worker=seen, kind="cookie", mark="m")
        take_part(campaign=found, worker=worker)
        assert [one.status for one in da.assignments(campaign, str(worker.code))] == ["submitted"]
        assert {one.reference for one in da.submissions(campaign)} == {"visitalice", "visitbob"}
        assert [one.worker for one in da.devices(campaign)] == ["mturk:alice", "mturk:bob"]
        da.make_links(campaign, 2, label="group")
        assert {one.label for one in da.invites(campaign)} == {"group 1", "group 2"}


@pytest.mark.django_db(transaction=True)
def test_scores_and_pictures_of_an_evaluation_are_read(da, tmp_path):
    evaluation = make_campaign_evaluation()
    campaign, number = str(evaluation.campaign.code), evaluation.number
    assert da.gold_run(campaign, 1).n_scored == 28
    metric = da.metrics(campaign)[0]
    assert len(list(da.metric_scores(campaign, metric.code))) == metric.n_scores == 28
    name = da.evaluation_pictures(campaign, number)[0]
    file = da.evaluation_picture(campaign, number, name, tmp_path / "picture.csv", format="csv")
    assert "good" in file.read_text()


@pytest.mark.django_db(transaction=True)
class TestCampaigns:
    def test_settings_copies_links_and_the_log(self, da):
        campaign = str(make_hits().code)
        assert da.change_settings(campaign, min_ratings=3).min_ratings == 3
        assert "name" in da.settings(campaign).editable
        assert da.duplicate(campaign, "Copy").n_hits == 0
        links = da.make_links(campaign, 2)
        assert da.revoke_links(campaign, [links[0].id]) == 1 and da.revoke_links(campaign) == 1
        assert da.set_recruiting(campaign, "link", is_open=False).is_open is False
        assert da.recruiting(campaign).provider == "link"
        actions = [entry.action for entry in da.audit_log(campaign=campaign)]
        assert "settings changed" in actions and "invites made" in actions

    def test_what_is_refused_is_raised_with_what_was_said(self, da):
        with pytest.raises(ApiError) as refusal:
            da.campaign("00000000-0000-0000-0000-000000000007")
        assert refusal.value.status_code == 404
        with pytest.raises(ApiError, match="Prolific"):
            da.create_study(str(make_campaign().code))

    def test_a_job_that_failed_is_raised_when_its_result_is_asked_for(self, da):
        job = da.evaluate(str(make_campaign().code))
        with working(), pytest.raises(JobFailed, match="Build it first"):
            da.result_of(job, seconds=60)
        assert [one.state for one in da.jobs(state="failed")] == ["failed"]

    def test_it_does_not_wait_for_ever(self, da):
        job = da.recompute_workers(str(make_campaign().code))
        with pytest.raises(TimeoutError):
            da.wait(job, seconds=0)
        assert da.cancel_job(job.code).state == "cancelled"


def test_the_client_needs_nothing_of_the_platform():
    for path in (ROOT / "da_client").glob("*.py"):
        text = path.read_text()
        for package in ("django", "hits", "analysis", "da_platform"):
            assert f"import {package}" not in text and f"from {package}" not in text, path
