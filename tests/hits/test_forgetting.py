"""What could name a worker goes, on request and in time; ratings and gold stay as they are."""

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


def test_id_code_comment_and_completion_code_go_and_ratings_stay():
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


def test_a_second_time_changes_nothing():
    alice = make_worker("alice")
    submitted_by(alice)
    forget_worker(worker=alice, reason="once")
    before = Worker.objects.values().get(), Assignment.objects.values().get()
    assert not forget_worker(worker=alice, reason="twice")
    assert (Worker.objects.values().get(), Assignment.objects.values().get()) == before
    assert AuditEntry.objects.filter(action=ACTION).count() == 1


def test_who_never_worked_is_deleted_altogether():
    alice = make_worker("alice")
    take_part(campaign=make_campaign(), worker=alice)
    forget_worker(worker=alice, reason="She asked.")
    assert not Worker.objects.exists() and not Participation.objects.exists()
    assert AuditEntry.objects.get(action=ACTION).details == {
        "was_deleted": True,
        "number": alice.pk,
    }


def test_gold_is_the_same_to_the_last_digit():
    campaign = make_hits(min_ratings=3)
    simulate_workers(campaign=campaign, crowd={Behaviour.HONEST: 3}, seed=1)
    weigh_pending()
    first = build_gold(campaign=campaign, minimum=1)
    for worker in Worker.objects.all():
        forget_worker(worker=worker, reason="all of them")
    second = build_gold(campaign=campaign, minimum=1)
    assert first.input_digest == second.input_digest
    columns = ("translation", "raw", "z", "n")
    scores = [
        list(GoldScore.objects.filter(run=run).order_by("translation").values_list(*columns))
        for run in (first, second)
    ]
    assert scores[0] == scores[1] and len(scores[0]) > 0


def test_only_those_long_gone_are_forgotten_in_time(settings):
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


def test_with_no_period_nobody_is_forgotten_unasked(settings):
    settings.FORGET_WORKERS_AFTER_DAYS = 0
    make_worker()
    assert forget_inactive_workers(at=timezone.now() + timedelta(days=9_999)) == 0


def test_the_command_takes_the_code_from_the_privacy_page(capsys):
    client, campaign = Client(), make_hits()
    client.post(reverse("landing", args=[campaign.code]))
    page = client.get(reverse("privacy", args=[campaign.code])).content.decode()
    code = str(Worker.objects.get().code)
    assert code in page
    call_command("forget_workers", code=code)
    assert "1 worker forgotten" in capsys.readouterr().out
    # The cookie leads to nobody any more.
    assert code not in client.get(reverse("privacy", args=[campaign.code])).content.decode()
    with pytest.raises(CommandError, match="no such worker"):
        call_command("forget_workers", code=code)


def test_the_command_takes_the_id_of_a_way_in():
    submitted_by(make_worker("alice"))
    call_command("forget_workers", provider="link", id="alice", reason="by letter")
    assert AuditEntry.objects.get(action=ACTION).reason == "by letter"
    with pytest.raises(CommandError, match="--provider"):
        call_command("forget_workers", id="alice")


def test_the_command_forgets_again_by_the_numbers_it_told(capsys):
    """After a restore the workers are here again, under the same numbers."""
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
    # Bob was deleted, as nothing hung on him; his number is kept for the next time.
    details = AuditEntry.objects.filter(action=ACTION).values_list("details", flat=True)
    assert {"was_deleted": True, "number": bob.pk} in list(details)


def test_of_several_who_are_forgotten_one_who_is_owed_money_holds_up_no_other():
    make_paid_campaign("link", names=("alice",))
    alice, bob = Worker.objects.get(), make_worker("bob")
    with pytest.raises(CommandError, match=rf"{alice.pk}: .* 1\.50 USD"):
        call_command("forget_workers", "--number", str(alice.pk), str(bob.pk))
    assert list(Worker.objects.all()) == [alice]


def test_the_notice_says_how_long_and_whom_to_ask(settings):
    settings.FORGET_WORKERS_AFTER_DAYS, settings.PRIVACY_CONTACT = 90, "privacy@example.org"
    campaign = make_hits()
    landing = Client().get(reverse("landing", args=[campaign.code])).content.decode()
    url = reverse("privacy", args=[campaign.code])
    assert f'href="{url}"' in landing
    page = Client().get(url).content.decode()
    assert "keep them until it is paid" in page
    assert "90 days after your last visit" in page and "privacy@example.org" in page


def hangs_on_a_worker(model: type[models.Model]) -> bool:
    """Whether rows of the model are a worker's, at once or through an assignment or a participation."""
    return any(
        field.related_model in (Worker, Assignment, Participation)
        for field in model._meta.get_fields()
        if isinstance(field, models.ForeignKey)
    )


def test_every_text_that_hangs_on_a_worker_has_been_thought_of():
    own = [model for model in apps.get_models() if model is Worker or hangs_on_a_worker(model)]
    texts = {
        f"{model.__name__}.{field.name}"
        for model in own
        for field in model._meta.fields
        if isinstance(field, models.CharField | models.TextField | models.JSONField)
    }
    assert texts == CLEARED.keys(), "Say in hits/workers/forgetting.py what becomes of it."


def test_how_a_worker_came_here_is_forgotten_too():
    campaign = make_hits(is_open=False)
    [invite] = make_invites(campaign=campaign, n=1, actor=None, label="Alice Example")
    alice = accept_invite(invite=invite.invite, worker=None)
    recruitment = Recruitment.objects.create(campaign=campaign, provider="panel")
    assignment = take_assignment(campaign=campaign, worker=alice)
    for reference, own in (("visit-1", assignment), ("visit-2", None)):
        Submission.objects.create(
            recruitment=recruitment, worker=alice, reference=reference, assignment=own
        )
    DeviceSighting.objects.create(campaign=campaign, worker=alice, kind="cookie", mark="m")
    forget_worker(worker=alice, reason="on request")
    [submission] = Submission.objects.all()
    assert submission.assignment == assignment and "visit" not in submission.reference
    assert not DeviceSighting.objects.exists()
    kept = Invite.objects.get()
    assert (kept.label, kept.worker) == ("", None)
    with pytest.raises(ArrivalRefused):
        invite_with(invite.token)


# Money ---------------------------------------------------------------------------------------


def long_gone() -> None:
    """Let everyone have been here 80 days ago, and never since."""
    then = timezone.now() - timedelta(days=80)
    Worker.objects.update(created_at=then)
    Assignment.objects.update(started_at=then, submitted_at=then)


def test_who_is_owed_money_is_not_forgotten_and_what_is_owed_is_named():
    make_paid_campaign("link", names=("alice",), name="Spring campaign")
    with pytest.raises(ForgettingRefused, match=r"1\.50 USD in Spring campaign"):
        forget_worker(worker=Worker.objects.get(), reason="She asked.")
    with pytest.raises(CommandError, match=r"1\.50 USD"):
        call_command("forget_workers", provider="link", id="alice")
    assert Worker.objects.get().external_id == "alice"


def test_a_payment_under_way_comes_first_even_if_the_worker_would_go_without():
    campaign = make_paid_campaign("link", names=("alice",))
    run = confirm(campaign, is_by_hand=True)
    alice = Worker.objects.get()
    with pytest.raises(ForgettingRefused, match="pending"):
        forget_worker(worker=alice, reason="She asked.", even_if_owed=True)
    mark_as_paid(run=run, total=run.total, reference="transfer 7", actor=make_admin())
    assert forget_worker(worker=alice, reason="She asked.")


def test_who_would_rather_go_without_is_forgotten_and_the_log_says_what_was_never_paid():
    campaign = make_paid_campaign("mturk")
    call_command("forget_workers", provider="mturk", id="alice", even_if_owed=True)
    details = AuditEntry.objects.get(action=ACTION).details
    assert details["never_paid"] == {str(campaign.code): "1.50"}
    # No run stumbles over a visit that nobody can name any more.
    [due] = plan_run(campaign, Kind.APPROVE, is_by_hand=False).dues
    assert due.work.worker_external_id == "bob"


def test_the_night_passes_over_who_is_owed_money_and_the_log_says_so(settings, caplog, monkeypatch):
    settings.FORGET_WORKERS_AFTER_DAYS = 30
    monkeypatch.setattr("hits.workers.forgetting.LIMIT", 1)
    campaign = make_paid_campaign("link")
    long_gone()
    run = confirm(campaign, is_by_hand=True)
    Payment.objects.filter(assignment__worker__external_id="bob").update(
        state="sent", settled_at=timezone.now()
    )
    # Alice comes first and waits; bob is not kept waiting by her.
    assert forget_inactive_workers() == 1
    assert "1 inactive workers were not forgotten" in caplog.text
    assert Worker.objects.filter(external_id="alice").exists()
    mark_as_paid(run=run, total=run.total, reference="transfer 7", actor=make_admin())
    assert forget_inactive_workers() == 1


@pytest.fixture
def meanwhile(settings, monkeypatch):
    """Have something done between the look at all inactive workers and the forgetting of the first."""
    settings.FORGET_WORKERS_AFTER_DAYS = 30

    def arrange(deed) -> None:
        def look(workers, limit) -> list[Worker]:
            found = list(islice(workers, limit))
            deed()
            return found

        monkeypatch.setattr(forgetting, "islice", look)

    return arrange


def test_who_comes_back_between_the_look_and_the_deed_is_not_forgotten(meanwhile):
    alice, _ = make_worker("alice"), make_worker("bob")
    long_gone()
    meanwhile(lambda: take_assignment(campaign=make_hits(), worker=alice))
    assert forget_inactive_workers() == 1
    assert Worker.objects.get().external_id == "alice"


def test_who_is_owed_something_since_the_look_is_not_forgotten(meanwhile):
    campaign = make_paid_campaign("link", pay_per_hit=0)
    long_gone()
    reason = {"kind": "adjustment", "reason": "You told us of a mistake.", "amount": Decimal(2)}
    hers = Assignment.objects.get(worker__external_id="alice")
    meanwhile(lambda: add_rule(campaign=campaign, actor=make_admin(), assignment=hers, **reason))
    assert forget_inactive_workers() == 1
    assert Worker.objects.filter(external_id="alice", forgotten_at=None).exists()


def test_the_campaigns_that_may_owe_a_worker_are_locked_whether_or_not_they_joined():
    campaign = make_paid_campaign("link", names=("alice",), pay_per_hit=0)
    assert not campaign.participations.exists()
    with CaptureQueriesContext(connection) as queries:
        forget_worker(worker=Worker.objects.get(), reason="She asked.")
    first = next(query["sql"] for query in queries if "hits_campaign" in query["sql"])
    assert "hits_assignment" in first and "hits_participation" not in first
