"""Forgetting removes everything that identifies a worker; ratings and gold stay the same."""

from datetime import timedelta
from decimal import Decimal
from itertools import islice

import pytest
from django.apps import apps
from django.core.management import CommandError, call_command
from django.db import connection, models
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from analysis.gold.runs import build_gold
from analysis.models import GoldScore
from hits.campaigns.simulation import Behaviour, simulate_workers
from hits.exceptions import ArrivalRefused, ForgettingRefused
from hits.models import (
    Assignment,
    AuditEntry,
    DeviceSighting,
    Invite,
    Participation,
    Payment,
    Rating,
    Recruitment,
    Submission,
    Worker,
)
from hits.payments.owing import Kind, plan_run
from hits.payments.runs import add_rule, mark_as_paid
from hits.rating.assignments import submit_assignment, take_assignment
from hits.rating.joining import take_part
from hits.recruiting.invites import accept_invite, invite_with, make_invites
from hits.workers import forgetting
from hits.workers.forgetting import ACTION, CLEARED, forget_inactive_workers, forget_worker
from hits.workers.trust import weigh_pending
from tests.factories import make_campaign, make_hits, make_worker, rate_items
from tests.paying import confirm, make_admin, make_paid_campaign

pytestmark = pytest.mark.django_db


def submitted_by(worker: Worker, comment: str = "It was me, Alice.") -> Assignment:
    campaign = make_hits()
    take_part(campaign=campaign, worker=worker)
    assignment = take_assignment(campaign=campaign, worker=worker)
    rate_items(assignment)
    return submit_assignment(assignment=assignment, comment=comment)


def test_forgetting_removes_id_codes_and_comment_and_keeps_ratings():
    alice = make_worker("alice")
    assignment = submitted_by(alice)
    before = list(Rating.objects.order_by("pk").values())
    assert forget_worker(worker=alice, reason="She asked.")
    worker, after = Worker.objects.get(), Assignment.objects.get()
    assert worker.external_id.startswith("forgotten-") and worker.forgotten_at
    assert worker.code != alice.code
    assert after.comment == "" and after.completion_code not in ("", assignment.completion_code)
    assert list(Rating.objects.order_by("pk").values()) == before
    entry = AuditEntry.objects.get(action=ACTION)
    assert (entry.worker, entry.reason) == (worker, "She asked.")


def test_forgetting_twice_changes_nothing():
    alice = make_worker("alice")
    submitted_by(alice)
    forget_worker(worker=alice, reason="once")
    before = Worker.objects.values().get(), Assignment.objects.values().get()
    assert not forget_worker(worker=alice, reason="twice")
    assert (Worker.objects.values().get(), Assignment.objects.values().get()) == before
    assert AuditEntry.objects.filter(action=ACTION).count() == 1


def test_a_worker_who_never_worked_is_deleted():
    alice = make_worker("alice")
    take_part(campaign=make_campaign(), worker=alice)
    forget_worker(worker=alice, reason="She asked.")
    assert not Worker.objects.exists() and not Participation.objects.exists()
    details = {"was_deleted": True, "number": alice.pk}
    assert AuditEntry.objects.get(action=ACTION).details == details


def test_gold_stays_the_same_to_the_last_digit():
    campaign = make_hits(min_ratings=3)
    simulate_workers(campaign=campaign, crowd={Behaviour.HONEST: 3}, seed=1)
    weigh_pending()
    first = build_gold(campaign=campaign, minimum=1)
    for worker in Worker.objects.all():
        forget_worker(worker=worker, reason="on request")
    second = build_gold(campaign=campaign, minimum=1)
    assert first.input_digest == second.input_digest
    columns = ("translation", "raw", "z", "n")
    scores = [
        list(GoldScore.objects.filter(run=run).order_by("translation").values_list(*columns))
        for run in (first, second)
    ]
    assert scores[0] == scores[1] and len(scores[0]) > 0


def test_only_inactive_workers_are_forgotten_automatically(settings):
    settings.FORGET_WORKERS_AFTER_DAYS = 30
    now = timezone.now()
    alice, bob, carol = make_worker("alice"), make_worker("bob"), make_worker("carol")
    Worker.objects.update(created_at=now - timedelta(days=90))
    old = submitted_by(alice)
    Assignment.objects.filter(pk=old.pk).update(
        started_at=now - timedelta(days=80), submitted_at=now - timedelta(days=80)
    )
    Participation.objects.update(consented_at=now - timedelta(days=80))
    submitted_by(bob)
    take_part(campaign=make_campaign(), worker=carol)
    assert forget_inactive_workers(at=now) == 1
    assert forget_inactive_workers(at=now) == 0
    names = set(Worker.objects.filter(forgotten_at=None).values_list("external_id", flat=True))
    assert names == {"bob", "carol"}


def test_without_a_period_nobody_is_forgotten_automatically(settings):
    settings.FORGET_WORKERS_AFTER_DAYS = 0
    make_worker()
    assert forget_inactive_workers(at=timezone.now() + timedelta(days=9_999)) == 0


def test_the_command_accepts_the_code_from_the_privacy_page(capsys):
    client, campaign = Client(), make_hits()
    client.post(reverse("landing", args=[campaign.code]))
    page = client.get(reverse("privacy", args=[campaign.code])).content.decode()
    code = str(Worker.objects.get().code)
    assert code in page
    call_command("forget_workers", code=code)
    assert "1 worker forgotten" in capsys.readouterr().out
    # The cookie no longer identifies anybody.
    assert code not in client.get(reverse("privacy", args=[campaign.code])).content.decode()
    with pytest.raises(CommandError, match="no such worker"):
        call_command("forget_workers", code=code)


def test_the_command_accepts_a_provider_and_an_id():
    submitted_by(make_worker("alice"))
    call_command("forget_workers", provider="link", id="alice", reason="by letter")
    assert AuditEntry.objects.get(action=ACTION).reason == "by letter"
    with pytest.raises(CommandError, match="--provider"):
        call_command("forget_workers", id="alice")


def test_the_command_forgets_again_by_number(capsys):
    """After a restore, the workers are back with the same numbers."""
    submitted_by(make_worker("alice"))
    bob, carol = make_worker("bob"), make_worker("carol")
    call_command("forget_workers", provider="link", id="alice")
    alice = Worker.objects.get(provider="link", forgotten_at__isnull=False)
    assert f"number {alice.pk}" in capsys.readouterr().out
    Worker.objects.filter(pk=alice.pk).update(external_id="alice", forgotten_at=None)
    for _ in range(2):
        call_command("forget_workers", "--number", str(alice.pk), str(bob.pk), "999999")
    assert [line[:1] for line in capsys.readouterr().out.splitlines()] == ["2", "0"]
    assert list(Worker.objects.filter(forgotten_at=None)) == [carol]
    # Bob had done no work and was deleted; his number is kept for the next restore.
    details = AuditEntry.objects.filter(action=ACTION).values_list("details", flat=True)
    assert {"was_deleted": True, "number": bob.pk} in list(details)


def test_a_worker_who_is_owed_money_does_not_keep_others_from_being_forgotten():
    make_paid_campaign("link", names=("alice",))
    alice, bob = Worker.objects.get(), make_worker("bob")
    with pytest.raises(CommandError, match=rf"{alice.pk}: .* 1\.50 USD"):
        call_command("forget_workers", "--number", str(alice.pk), str(bob.pk))
    assert list(Worker.objects.all()) == [alice]


def test_the_privacy_notice_names_the_period_and_the_contact(settings):
    settings.FORGET_WORKERS_AFTER_DAYS, settings.PRIVACY_CONTACT = 90, "privacy@example.org"
    campaign = make_hits()
    landing = Client().get(reverse("landing", args=[campaign.code])).content.decode()
    url = reverse("privacy", args=[campaign.code])
    assert f'href="{url}"' in landing
    page = Client().get(url).content.decode()
    assert "keep them until it is paid" in page
    assert "90 days after your last visit" in page and "privacy@example.org" in page


def belongs_to_a_worker(model: type[models.Model]) -> bool:
    """Whether rows of the model belong to a worker, an assignment or a participation."""
    return any(
        field.related_model in (Worker, Assignment, Participation)
        for field in model._meta.get_fields()
        if isinstance(field, models.ForeignKey)
    )


def test_every_text_about_a_worker_has_a_rule_for_forgetting():
    tables = [model for model in apps.get_models() if model is Worker or belongs_to_a_worker(model)]
    texts = {
        f"{model.__name__}.{field.name}"
        for model in tables
        for field in model._meta.fields
        if isinstance(field, models.CharField | models.TextField | models.JSONField)
    }
    assert texts == CLEARED.keys(), "Add it to CLEARED in hits/workers/forgetting.py."


def test_how_a_worker_was_recruited_is_forgotten_too():
    campaign = make_hits(is_open=False)
    [invite] = make_invites(campaign=campaign, n=1, actor=None, label="Alice Example")
    alice = accept_invite(invite=invite.invite, worker=None)
    recruitment = Recruitment.objects.create(campaign=campaign, provider="panel")
    assignment = take_assignment(campaign=campaign, worker=alice)
    visit = {"recruitment": recruitment, "worker": alice}
    Submission.objects.create(reference="visit-1", assignment=assignment, **visit)
    Submission.objects.create(reference="visit-2", **visit)
    DeviceSighting.objects.create(campaign=campaign, worker=alice, kind="cookie", mark="m")
    forget_worker(worker=alice, reason="on request")
    [submission] = Submission.objects.all()
    assert submission.assignment == assignment and "visit" not in submission.reference
    assert not DeviceSighting.objects.exists()
    assert Invite.objects.values_list("label", "worker").get() == ("", None)
    with pytest.raises(ArrivalRefused):
        invite_with(invite.token)


# Money ---------------------------------------------------------------------------------------


def make_everyone_inactive() -> None:
    """Move everyone's last visit to 80 days ago."""
    last_visit = timezone.now() - timedelta(days=80)
    Worker.objects.update(created_at=last_visit)
    Assignment.objects.update(started_at=last_visit, submitted_at=last_visit)


def test_a_worker_who_is_owed_money_is_not_forgotten_and_the_error_names_the_amount():
    make_paid_campaign("link", names=("alice",), name="Spring campaign")
    with pytest.raises(ForgettingRefused, match=r"1\.50 USD in Spring campaign"):
        forget_worker(worker=Worker.objects.get(), reason="She asked.")
    with pytest.raises(CommandError, match=r"1\.50 USD"):
        call_command("forget_workers", provider="link", id="alice")
    assert Worker.objects.get().external_id == "alice"


def test_a_worker_with_a_payment_under_way_is_not_forgotten_even_if_they_waive_pay():
    campaign = make_paid_campaign("link", names=("alice",))
    run = confirm(campaign, is_by_hand=True)
    alice = Worker.objects.get()
    with pytest.raises(ForgettingRefused, match="pending"):
        forget_worker(worker=alice, reason="She asked.", even_if_owed=True)
    mark_as_paid(run=run, total=run.total, reference="transfer 7", actor=make_admin())
    assert forget_worker(worker=alice, reason="She asked.")


def test_a_worker_can_waive_pay_and_the_log_says_what_was_never_paid():
    campaign = make_paid_campaign("mturk")
    call_command("forget_workers", provider="mturk", id="alice", even_if_owed=True)
    details = AuditEntry.objects.get(action=ACTION).details
    assert details["never_paid"] == {str(campaign.code): "1.50"}
    # The forgotten visit is not in the next payment run.
    [due] = plan_run(campaign, Kind.APPROVE, is_by_hand=False).dues
    assert due.work.worker_external_id == "bob"


def test_workers_who_are_owed_money_are_skipped_and_the_log_says_so(settings, caplog, monkeypatch):
    settings.FORGET_WORKERS_AFTER_DAYS = 30
    monkeypatch.setattr("hits.workers.forgetting.LIMIT", 1)
    campaign = make_paid_campaign("link")
    make_everyone_inactive()
    run = confirm(campaign, is_by_hand=True)
    Payment.objects.filter(assignment__worker__external_id="bob").update(
        state="sent", settled_at=timezone.now()
    )
    # Alice, who is owed money, comes first and does not count towards the limit.
    assert forget_inactive_workers() == 1
    assert "1 inactive workers were not forgotten" in caplog.text
    assert Worker.objects.filter(external_id="alice").exists()
    mark_as_paid(run=run, total=run.total, reference="transfer 7", actor=make_admin())
    assert forget_inactive_workers() == 1


@pytest.fixture
def meanwhile(settings, monkeypatch):
    """Run something between listing the inactive workers and forgetting the first one."""
    settings.FORGET_WORKERS_AFTER_DAYS = 30

    def arrange(action) -> None:
        def list_then_act(workers, limit) -> list[Worker]:
            inactive = list(islice(workers, limit))
            action()
            return inactive

        monkeypatch.setattr(forgetting, "islice", list_then_act)

    return arrange


def test_a_worker_who_comes_back_in_the_meantime_is_not_forgotten(meanwhile):
    alice, _ = make_worker("alice"), make_worker("bob")
    make_everyone_inactive()
    meanwhile(lambda: take_assignment(campaign=make_hits(), worker=alice))
    assert forget_inactive_workers() == 1
    assert Worker.objects.get().external_id == "alice"


def test_a_worker_who_is_owed_money_in_the_meantime_is_not_forgotten(meanwhile):
    campaign = make_paid_campaign("link", pay_per_hit=0)
    make_everyone_inactive()
    assignment = Assignment.objects.get(worker__external_id="alice")
    rule = {"kind": "adjustment", "reason": "You reported a mistake.", "amount": Decimal(2)}
    rule |= {"campaign": campaign, "actor": make_admin(), "assignment": assignment}
    meanwhile(lambda: add_rule(**rule))
    assert forget_inactive_workers() == 1
    assert Worker.objects.filter(external_id="alice", forgotten_at=None).exists()


def test_campaigns_that_may_owe_a_worker_are_locked_even_without_a_participation():
    campaign = make_paid_campaign("link", names=("alice",), pay_per_hit=0)
    assert not campaign.participations.exists()
    with CaptureQueriesContext(connection) as queries:
        forget_worker(worker=Worker.objects.get(), reason="She asked.")
    first = next(query["sql"] for query in queries if "hits_campaign" in query["sql"])
    assert "hits_assignment" in first and "hits_participation" not in first
