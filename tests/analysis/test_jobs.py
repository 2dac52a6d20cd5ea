"""Jobs in the database: claimed and finished once, cancelled, retried and swept."""

import json
import signal
import threading
import time
from datetime import timedelta
from types import SimpleNamespace

import pytest
import time_machine
from billiard.exceptions import SoftTimeLimitExceeded
from celery.beat import Scheduler
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from analysis.models import GoldRun
from analysis.nightly import campaigns_with_news
from analysis.tasks import do_nightly_chores
from da_platform.celery import Clock, app
from da_platform.jobs import reports as reporting
from da_platform.jobs.kinds import JobRefused
from da_platform.jobs.limits import thread_limits
from da_platform.jobs.models import MAX_ATTEMPTS, Job
from da_platform.jobs.recovering import GIVEN_UP
from da_platform.jobs.reports import UNEXPECTED, JobCancelled, Report
from da_platform.jobs.running import _claim, _finish, request_cancel, restart, run_job, start_job
from da_platform.jobs.sweeping import DETAILS_KEPT, NO_LONGER_KEPT, sweep_jobs
from da_platform.serve import OVERDUE
from hits.campaigns.simulation import Behaviour, simulate_workers
from hits.models import Assignment, Campaign, Membership, ProviderEvent, Worker
from hits.people.audit import record
from hits.people.job_access import cancel_job, retry_job
from hits.rating.assignments import take_assignment
from hits.recruiting.arrivals import EVENTS_KEPT
from hits.workers.trust import weigh_pending
from tests.analysis import slow_jobs  # noqa: F401  (registers its kinds)
from tests.decisions import exclude, let_evidence_decide, reinstate
from tests.factories import make_campaign, make_hits, make_translations, make_worker
from tests.people import make_person
from tests.subprocesses import run_python
from tests.waiting import eventually

pytestmark = pytest.mark.django_db

MINUTE = timedelta(minutes=1)


@pytest.fixture(autouse=True)
def check_at_every_step(monkeypatch):
    """Let reports check for a cancellation at every step."""
    monkeypatch.setattr(reporting, "LOOK_SECONDS", 0)


@pytest.fixture(autouse=True)
def lengths(monkeypatch):
    """The number of messages waiting in each queue; in tests, all messages are lost."""
    lengths = {"quick": 0, "jobs": 0}
    monkeypatch.setattr("da_platform.jobs.sweeping.queue_lengths", lambda: lengths)
    return lengths


@pytest.fixture
def sent(monkeypatch):
    messages = []
    monkeypatch.setattr(
        "da_platform.jobs.sending.enqueue", lambda *message: messages.append(message)
    )
    return messages


@pytest.fixture
def ada():
    ada = User.objects.create_user("ada", is_staff=True)
    Membership.objects.create(user=ada, level=Membership.Level.RESEARCHER)
    return ada


def test_a_job_that_takes_too_long_is_ended_with_the_reason(settings):
    settings.JOB_MAX_SECONDS = -1
    job = run_job(make_job().pk)
    assert job.state == Job.State.FAILED and job.result is None
    assert "was stopped after" in job.error and "DA_JOB_MAX_SECONDS" in job.error


def test_celerys_time_limit_ends_a_job_that_reports_nothing():
    job = run_job(make_job("exceed_the_time_limit").pk)
    assert job.state == Job.State.FAILED and "was stopped after" in job.error


def test_a_job_in_a_thread_is_ended_though_it_reports_nothing(settings):
    settings.CELERY_TASK_SOFT_TIME_LIMIT = 0.2
    outcomes = []

    def never_report():
        with thread_limits():
            try:
                while True:
                    time.sleep(0.01)
            except SoftTimeLimitExceeded as error:
                outcomes.append(error)

    thread = threading.Thread(target=never_report, daemon=True)
    thread.start()
    thread.join(20)
    assert len(outcomes) == 1 and not signal.alarm(0)


def test_a_job_in_a_thread_that_stays_in_c_is_ended_with_its_process():
    # The regular expression lets no other thread run, and would take years.
    code = """
import re, threading
from django.conf import settings
settings.configure(CELERY_TASK_SOFT_TIME_LIMIT=0.1, CELERY_TASK_TIME_LIMIT=0.2)
from da_platform.jobs.limits import thread_limits
def hang():
    with thread_limits():
        re.match("(a+)+b", "a" * 60)
threading.Thread(target=hang).start()
"""
    assert run_python("-c", code).returncode == OVERDUE


def make_job(kind: str = "count_slowly", steps: int = 3, **fields) -> Job:
    return start_job(kind=kind, arguments={"steps": steps}, **fields)


def go_silent(job: Job) -> None:
    Job.objects.filter(pk=job.pk).update(heartbeat_at=timezone.now() - 10 * MINUTE)


def test_a_job_stores_its_result_progress_and_log():
    job = run_job(make_job().pk)
    assert job.state == "done" and job.result == {"n_steps": 3, "attempt": 1}
    assert (job.n_done, job.n_total, job.attempt) == (3, 3, 1)
    assert job.log.endswith("Counted.\n") and job.error == ""
    assert job.created_at <= job.started_at <= job.finished_at


def test_a_message_is_sent_once_the_job_is_committed(sent, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True):
        job = make_job()
        assert sent == []
    assert sent == [("jobs.run_job", job.pk)]


def test_a_job_that_is_delivered_twice_runs_once(tmp_path):
    diary = tmp_path / "diary"
    job = start_job(kind="count_slowly", arguments={"steps": 1, "diary": str(diary)})
    assert run_job(job.pk).state == "done"
    assert run_job(job.pk) is None
    assert diary.read_text() == "start 1\nend 1\n"


def test_a_running_job_is_not_claimed_again():
    job = make_job()
    assert _claim(job.pk).attempt == 1
    assert _claim(job.pk) is None and run_job(job.pk) is None


def test_a_dead_workers_job_is_taken_over_when_its_message_is_redelivered():
    job = make_job()
    _claim(job.pk)
    go_silent(job)
    assert run_job(job.pk).result == {"n_steps": 3, "attempt": 2}


def test_an_earlier_attempt_can_neither_report_nor_finish():
    first = _claim(make_job().pk)
    go_silent(first)
    sweep_jobs()
    second = _claim(first.pk)
    assert (first.attempt, second.attempt) == (1, 2)
    late = Report(first)
    with pytest.raises(JobCancelled):
        late.progress(2, 3)
    assert not _finish(first, late, state="cancelled")
    assert not _finish(first, late, state="done", result={"from": 1})
    assert _finish(second, Report(second), state="done", result={"from": 2})
    assert not _finish(second, Report(second), state="done", result={"from": 3})
    second.refresh_from_db()
    assert second.result == {"from": 2} and second.n_done == 0


def test_a_job_presumed_dead_continues_if_it_reports_before_the_next_attempt():
    job = _claim(make_job().pk)
    go_silent(job)
    sweep_jobs()
    report = Report(job)
    report.progress(2, 3)
    job.refresh_from_db()
    assert (job.state, job.n_done) == ("running", 2)
    assert _claim(job.pk) is None
    assert _finish(job, report, state="done", result={})


def test_a_waiting_job_is_cancelled_at_once(ada):
    job = cancel_job(make_job(), ada)
    assert job.state == "cancelled" and "Cancelled by ada." in job.log
    assert run_job(job.pk) is None and job.result is None


def test_a_running_job_stops_at_its_next_report():
    job = make_job(steps=5)
    reports = []

    def cancel_at_2(n_done, n_total):
        reports.append(n_done)
        if n_done == 2:
            request_cancel(job)

    done = run_job(job.pk, listener=cancel_at_2)
    assert done.state == "cancelled" and reports == [0, 1, 2]
    assert (done.n_done, done.n_total, done.result) == (2, 5, None)


def test_a_finished_job_cannot_be_cancelled_but_asking_twice_is_fine():
    running = make_job()
    _claim(running.pk)
    first = request_cancel(running).cancel_requested_at
    assert request_cancel(running).cancel_requested_at == first
    with pytest.raises(JobRefused, match="already finished"):
        request_cancel(run_job(make_job().pk))


def test_a_refusal_shows_its_message_and_a_bug_a_general_one():
    refused, broken = run_job(make_job("refuse").pk), run_job(make_job("break_down").pk)
    assert (refused.state, refused.error) == ("failed", "There is nothing to count.")
    assert (broken.state, broken.error) == ("failed", UNEXPECTED)
    assert "ZeroDivisionError: secret detail" in broken.traceback


def test_a_result_that_is_not_json_fails_the_job():
    job = run_job(make_job("return_nonsense").pk)
    assert (job.state, job.error, job.result) == ("failed", UNEXPECTED, None)
    assert "not JSON serializable" in job.traceback


def test_a_failed_job_is_retried_from_scratch_with_the_same_arguments(
    ada, sent, django_capture_on_commit_callbacks
):
    job = run_job(make_job("refuse").pk)
    Job.objects.filter(pk=job.pk).update(kind="count_slowly")
    with django_capture_on_commit_callbacks(execute=True):
        job = retry_job(Job.objects.get(pk=job.pk), ada)
    assert sent[-1] == ("jobs.run_job", job.pk)
    assert (job.state, job.error, job.traceback, job.finished_at) == ("queued", "", "", None)
    assert "Retried by ada." in job.log
    assert run_job(job.pk).state == "done"
    with pytest.raises(JobRefused, match="failed or was cancelled"):
        retry_job(Job.objects.get(pk=job.pk), ada)


def test_an_attempt_from_before_a_retry_cannot_end_the_new_one(ada):
    job = _claim(make_job().pk)
    request_cancel(job)
    go_silent(job)
    assert sweep_jobs()["n_cancelled"] == 1
    retry_job(Job.objects.get(pk=job.pk), ada)
    for state in ("cancelled", "failed", "done"):
        assert not _finish(job, Report(job), state=state)
    assert run_job(job.pk).state == "done"


def test_an_unknown_kind_is_refused():
    with pytest.raises(JobRefused, match="count_slowly"):
        start_job(kind="make_coffee")
    with pytest.raises(JobRefused, match="needs a campaign"):
        start_job(kind="build_hits")
    job = Job.objects.create(kind="retired")
    assert "There is no job kind" in run_job(job.pk).error


# Sweeping ------------------------------------------------------------------------------------


def test_a_sweep_leaves_live_jobs_alone(sent):
    _claim(make_job().pk)
    make_job()
    assert not any(sweep_jobs().values()) and sent == []


def test_a_job_whose_message_was_lost_is_sent_again_once(sent, django_capture_on_commit_callbacks):
    job = make_job()
    later = timezone.now() + 2 * MINUTE
    with django_capture_on_commit_callbacks(execute=True):
        assert sweep_jobs(at=later)["n_resent"] == 1
        assert sweep_jobs(at=later)["n_resent"] == 0
    assert sent == [("jobs.run_job", job.pk)]


def test_jobs_are_not_sent_again_while_their_messages_wait(
    sent, lengths, django_capture_on_commit_callbacks
):
    jobs = [make_job() for _ in range(3)]
    lengths["jobs"] = 3
    with django_capture_on_commit_callbacks(execute=True):
        for minutes in (2, 4, 6):
            later = timezone.now() + minutes * MINUTE
            assert not any(sweep_jobs(at=later).values())
    # The sweeps renewed their heartbeats, so they do not count as stuck.
    assert {job.heartbeat_at for job in Job.objects.all()} == {later} and sent == []
    # The broker restarts and loses all messages.
    lengths["jobs"] = 0
    with django_capture_on_commit_callbacks(execute=True):
        assert sweep_jobs(at=later + 2 * MINUTE)["n_resent"] == 3
    assert sent == [("jobs.run_job", job.pk) for job in jobs]


def test_jobs_are_sent_again_if_the_queue_length_is_unknown(monkeypatch):
    monkeypatch.setattr("da_platform.jobs.sweeping.queue_lengths", lambda: None)
    make_job()
    assert sweep_jobs(at=timezone.now() + 2 * MINUTE)["n_resent"] == 1


def test_a_dead_job_is_restarted_even_if_messages_wait(lengths):
    lengths["jobs"] = 7
    job = _claim(make_job().pk)
    go_silent(job)
    assert sweep_jobs()["n_restarted"] == 1


def test_a_job_that_keeps_killing_its_worker_is_given_up(ada):
    job = make_job()
    for attempt in range(1, MAX_ATTEMPTS + 1):
        assert _claim(job.pk).attempt == attempt
        go_silent(job)
        counts = sweep_jobs()
        assert counts["n_restarted"] == (attempt < MAX_ATTEMPTS)
    job.refresh_from_db()
    assert (job.state, job.error) == ("failed", GIVEN_UP)
    retry_job(job, ada)
    assert not _claim(job.pk).was_cut_off
    go_silent(job)
    assert sweep_jobs()["n_restarted"] == 1
    assert _claim(job.pk).was_cut_off


def test_a_log_has_a_maximum_length():
    job = _claim(make_job().pk)
    report = Report(job)
    for n in range(reporting.MAX_LOG_LINES + 50):
        report.log(f"line {n}")
    _finish(job, report, state="done", result={})
    job.refresh_from_db()
    assert job.log.count("\n") == reporting.MAX_LOG_LINES + 1
    assert job.log.endswith("Further lines are omitted.\n")


# Kinds ---------------------------------------------------------------------------------------


def test_a_second_attempt_at_building_hits_finds_them():
    campaign = make_campaign()
    make_translations(campaign, n_segments=20)
    job = run_job(start_job(kind="build_hits", campaign=campaign).pk)
    assert job.result["n_hits"] == campaign.hits.count() == 2 and job.n_done == 80
    Job.objects.filter(pk=job.pk).update(state="queued", finished_at=None)
    assert run_job(job.pk).result == {"n_hits": 2}
    again = run_job(start_job(kind="build_hits", campaign=campaign).pk)
    assert again.state == "failed" and "already has HITs" in again.error
    # A retry is refused, too: the job was not interrupted, and the HITs are not its own.
    assert "already has HITs" in run_job(restart(again).pk).error


def test_a_job_weighs_the_evidence_of_its_campaign_or_of_all():
    mine, other = make_hits(min_ratings=5), make_hits(min_ratings=5)
    for campaign in (mine, other):
        simulate_workers(campaign=campaign, crowd={Behaviour.HONEST: 2}, seed=campaign.pk)
    job = run_job(start_job(kind="weigh_evidence", campaign=mine).pk)
    assert job.result == {"n_weighed": 2, "n_failed": 0} and (job.n_done, job.n_total) == (2, 2)
    assert {a.hit.campaign for a in Assignment.objects.filter(evidence_at=None)} == {other}
    assert run_job(start_job(kind="weigh_evidence").pk).result["n_weighed"] == 2


def test_a_job_imports_a_campaign_once():
    arguments = {
        "path": "tests/data/campaigns/simple",
        "name": "by job",
        "source_language": "de",
        "target_language": "en",
    }
    job = run_job(start_job(kind="import_campaign", arguments=arguments).pk)
    assert job.result["n_systems"] == 2, job.traceback
    Job.objects.filter(pk=job.pk).update(state="queued", finished_at=None)
    assert run_job(job.pk).result["campaign"] == job.result["campaign"]
    other = run_job(start_job(kind="import_campaign", arguments=arguments).pk)
    assert other.state == "failed" and "nothing was stored" in other.error
    assert Campaign.objects.filter(name="by job").count() == 1


# Chores --------------------------------------------------------------------------------------


def chores(capsys, *options: str) -> dict[str, int]:
    call_command("do_chores", "--json", *options)
    return json.loads(capsys.readouterr().out)


def test_chores_release_weigh_and_sweep_once(capsys):
    campaign = make_hits(min_ratings=5)
    simulate_workers(campaign=campaign, crowd={Behaviour.HONEST: 1}, seed=1)
    take_assignment(campaign=campaign, worker=make_worker())
    job = make_job()
    with time_machine.travel(timezone.now() + timedelta(days=1), tick=False):
        first = chores(capsys)
        assert (first["n_released"], first["n_weighed"], first["n_resent"]) == (1, 1, 1)
        assert not any(chores(capsys).values())
    job.refresh_from_db()
    assert job.state == "queued"


def broken(**kwargs) -> int:
    raise OSError("The disk is full.")


def test_a_failing_chore_is_reported_and_does_not_stop_the_others(capsys, caplog, monkeypatch):
    monkeypatch.setattr("hits.chores.drop_old_drafts", broken)
    monkeypatch.setattr("hits.chores.weigh_pending", broken)
    make_job()
    take_assignment(campaign=make_hits(), worker=make_worker())
    with (
        time_machine.travel(timezone.now() + timedelta(days=1), tick=False),
        pytest.raises(CommandError, match="2 chores failed"),
    ):
        call_command("do_chores", "--json")
    counts = json.loads(capsys.readouterr().out)
    assert (counts["n_released"], counts["n_resent"], counts["n_chores_failed"]) == (1, 1, 2)
    assert "n_drafts_dropped" in caplog.text and "The disk is full." in caplog.text


def test_nightly_chores_forget_inactive_workers_and_drop_old_logins(capsys, client, settings):
    settings.FORGET_WORKERS_AFTER_DAYS = 30
    make_worker("alice")
    client.force_login(User.objects.create(username="bob"))
    with time_machine.travel(timezone.now() + timedelta(days=31), tick=False):
        make_worker("carol")
        Client().force_login(User.objects.create(username="dave"))
        assert "n_forgotten" not in chores(capsys)
        first = chores(capsys, "--nightly")
        assert (first["n_forgotten"], first["n_logins_dropped"]) == (1, 1)
        assert not any(chores(capsys, "--nightly").values())
    assert [worker.external_id for worker in Worker.objects.all()] == ["carol"]
    assert Session.objects.count() == 1


def test_details_of_failed_jobs_are_dropped_after_a_while(capsys):
    refused, broken = run_job(make_job("refuse").pk), run_job(make_job("break_down").pk)
    done = run_job(make_job().pk)
    with time_machine.travel(timezone.now() + DETAILS_KEPT - MINUTE, tick=False):
        assert chores(capsys, "--nightly")["n_job_details_dropped"] == 0
    with time_machine.travel(timezone.now() + DETAILS_KEPT + MINUTE, tick=False):
        recent = run_job(make_job("break_down").pk)
        assert chores(capsys, "--nightly")["n_job_details_dropped"] == 2
        assert not any(chores(capsys, "--nightly").values())
    details = {job.pk: (job.error, bool(job.traceback)) for job in Job.objects.all()}
    assert details == {
        # Its message may quote a file.
        refused.pk: (NO_LONGER_KEPT, False),
        broken.pk: (UNEXPECTED, False),
        done.pk: ("", False),
        recent.pk: (UNEXPECTED, True),
    }


def test_provider_events_are_kept_as_long_as_they_may_be_repeated(capsys):
    now = timezone.now()
    for name, age in (("old", EVENTS_KEPT + MINUTE), ("new", EVENTS_KEPT - MINUTE)):
        ProviderEvent.objects.create(provider="prolific", event_id=name, received_at=now - age)
    assert chores(capsys, "--nightly")["n_events_dropped"] == 1
    assert ProviderEvent.objects.get().event_id == "new"


def test_the_schedule_runs_the_nightly_chores():
    assert app.conf.beat_schedule["nightly"]["task"] == do_nightly_chores.name
    assert "forgetting" not in app.conf.beat_schedule


def test_the_clock_of_a_worker_is_a_thread_that_sends_what_is_due(tmp_path, monkeypatch):
    sent: list[str] = []
    monkeypatch.setattr(Scheduler, "apply_async", lambda self, entry, **_: sent.append(entry.task))
    schedule = {"signs": {"task": "operation.give_sign", "schedule": 0.01}}
    monkeypatch.setitem(app.conf, "beat_schedule", schedule)
    worker = SimpleNamespace(
        app=app, schedule_filename=str(tmp_path / "due"), scheduler=None, steps=[]
    )
    clock = Clock(worker, clock=True)
    clock.include(worker)
    assert clock.obj and isinstance(clock.obj, threading.Thread)
    clock.start(worker)
    eventually(lambda: "operation.give_sign" in sent)
    clock.stop(worker)
    assert not clock.obj.is_alive()
    assert not Clock(worker).include_if(worker)


@pytest.fixture
def gold_kind(monkeypatch):
    from da_platform.jobs.kinds import Kind, _kinds

    monkeypatch.setitem(_kinds, "build_gold", Kind("build_gold", lambda job, report: {}))


def test_gold_is_built_overnight_for_campaigns_with_news(gold_kind, capsys):
    idle, busy = make_hits(), make_hits(min_ratings=5)
    simulate_workers(campaign=busy, crowd={Behaviour.HONEST: 1}, seed=1)
    assert list(campaigns_with_news()) == [busy]
    assert chores(capsys, "--nightly")["n_gold_jobs"] == 1
    assert chores(capsys, "--nightly")["n_gold_jobs"] == 0
    job = Job.objects.get(kind="build_gold")
    assert job.campaign == busy and idle.jobs.count() == 0
    Job.objects.update(state="done", finished_at=timezone.now())
    make_gold_run(busy)
    assert not campaigns_with_news().exists()
    simulate_workers(campaign=busy, crowd={Behaviour.HONEST: 1}, seed=2)
    Assignment.objects.update(submitted_at=timezone.now() + MINUTE)
    assert list(campaigns_with_news()) == [busy]


def test_only_a_change_in_which_ratings_count_is_news_for_gold():
    campaign, ada = make_hits(min_ratings=5), make_person("admin")
    simulate_workers(campaign=campaign, crowd={Behaviour.HONEST: 1}, seed=1)
    weigh_pending()
    make_gold_run(campaign)
    GoldRun.objects.update(created_at=timezone.now())
    for action in ("invites made", "scores_stored", "confirm_payments", "settings changed"):
        record(action, actor=ada, campaign=campaign)
    assert not campaigns_with_news().exists()
    participation = campaign.participations.get()
    for decide in (exclude, let_evidence_decide, reinstate):
        decide(participation=participation, actor=ada, reason="Why")
        assert list(campaigns_with_news()) == [campaign]
        GoldRun.objects.update(created_at=timezone.now())
        assert not campaigns_with_news().exists()


def make_gold_run(campaign: Campaign) -> None:
    counts = {
        field.name: 1
        for field in GoldRun._meta.fields
        if field.name.startswith("n_") or field.name in ("number", "minimum")
    }
    GoldRun.objects.create(campaign=campaign, **counts, created_at=timezone.now() + MINUTE / 2)


# Commands ------------------------------------------------------------------------------------


def test_commands_start_and_run_a_job(capsys):
    call_command("start_job", "count_slowly", "--argument", "steps=2", "--json")
    started = json.loads(capsys.readouterr().out)
    assert started["state"] == "queued"
    call_command("run_job", started["code"])
    assert "count_slowly" in (text := capsys.readouterr().out) and "n_steps: 2" in text
    with pytest.raises(CommandError, match="only a waiting job"):
        call_command("run_job", started["code"])


def test_the_command_fails_if_the_job_fails(capsys):
    call_command("start_job", "refuse", "--json")
    code = json.loads(capsys.readouterr().out)["code"]
    with pytest.raises(CommandError, match="nothing to count"):
        call_command("run_job", code)
    with pytest.raises(CommandError, match="no job kind"):
        call_command("start_job", "make_coffee")


def test_ctrl_c_cancels_a_job(monkeypatch):
    def interrupted(n_done, n_total):
        raise KeyboardInterrupt

    assert run_job(make_job().pk, listener=interrupted).state == "cancelled"
