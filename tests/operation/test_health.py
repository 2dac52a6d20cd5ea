"""What load balancers, Prometheus and people learn about how the platform fares."""

import json
import re
from datetime import timedelta

import pytest
import time_machine
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from da_platform.jobs.models import Job
from da_platform.jobs.running import restart, start_job
from da_platform.operation import health, metrics
from da_platform.operation import tasks as operation_tasks
from da_platform.operation.backups import back_up
from da_platform.operation.signs import RECENT, give_sign
from da_platform.queues import QUEUES
from hits.models import Assignment
from hits.rating.assignments import take_assignment
from tests.factories import make_hits, make_worker, rate, rate_items
from tests.people import client_of
from tests.subprocesses import CHECKOUT

pytestmark = pytest.mark.django_db

TOKEN = "a-token-for-tests"


@pytest.fixture(autouse=True)
def nothing_remembered(settings):
    settings.METRICS_TOKEN = TOKEN
    metrics.forget_state()
    health._is_migrated = False


def scrape() -> dict[str, float]:
    metrics.forget_state()
    answer = Client().get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
    assert answer.status_code == 200
    lines = [line for line in answer.content.decode().splitlines() if not line.startswith("#")]
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines)}


def metric_names() -> set[str]:
    """All that is told, whether or not there is anything to tell now."""
    answer = Client().get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
    types = dict(re.findall(r"^# TYPE (\S+) (\S+)$", answer.content.decode(), re.MULTILINE))
    histograms = {name for name, kind in types.items() if kind == "histogram"}
    return types.keys() | {f"{name}_bucket" for name in histograms}


def state_of(name: str) -> str:
    return next(one.state for one in health.findings() if one.name == name)


def says_of(name: str) -> str:
    return next(one.details for one in health.findings() if one.name == name)


# Living and ready ----------------------------------------------------------------------------


def test_a_living_process_says_so_without_asking_the_database():
    with CaptureQueriesContext(connection) as queries:
        answer = Client().get("/healthz")
    assert (answer.status_code, answer.content) == (200, b"ok\n") and not queries


def test_it_is_ready_when_database_migrations_and_broker_are_there():
    answer = Client().get("/readyz")
    assert answer.status_code == 200
    assert answer.json() == {"database": True, "migrations": True, "broker": True}


def test_it_is_not_ready_while_migrations_are_missing():
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE app = 'operation'")
    answer = Client().get("/readyz")
    assert answer.status_code == 503 and answer.json()["migrations"] is False


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/metrics"])
def test_machines_come_by_whatever_name_and_nobody_else_does(settings, path):
    settings.ALLOWED_HOSTS = ["da.example.org"]
    headers = {"Host": "10.0.0.7:8000", "Authorization": f"Bearer {TOKEN}"}
    assert Client().get(path, headers=headers).status_code == 200
    assert Client().get("/login/", headers=headers).status_code == 400


# Metrics -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Bearer wrong"},
        {"Authorization": "Bearer "},
        {"Authorization": f"Basic {TOKEN}"},
    ],
)
def test_without_the_token_there_are_no_metrics(headers):
    assert Client().get("/metrics", headers=headers).status_code == 404


@pytest.mark.parametrize("given", ["Bearer ", "Bearer", "Bearer None"])
def test_where_no_token_is_set_there_are_no_metrics_for_anyone(settings, given):
    settings.METRICS_TOKEN = ""
    answer = client_of("superuser").get("/metrics", headers={"Authorization": given})
    assert answer.status_code == 404


def test_ratings_are_counted_by_what_became_of_them():
    assignment = take_assignment(campaign=make_hits(), worker=make_worker())
    before = scrape()
    item = assignment.hit.items.get(position=1)
    rate(assignment, item)
    rate(assignment, item)
    after = scrape()
    for outcome in ("new", "repeated"):
        name = f'da_ratings_total{{outcome="{outcome}"}}'
        assert after[name] - before.get(name, 0) == 1


def test_the_state_is_that_of_the_database():
    campaign = make_hits(min_ratings=3)
    assignment = take_assignment(campaign=campaign, worker=make_worker())
    rate_items(assignment)
    found = scrape()
    assert found["da_places_open"] == 2
    assert found['da_assignments{status="in_progress"}'] == 1
    assert found['da_jobs{state="queued"}'] == 0
    assert {name for name in found if name.startswith("da_queue_length")} == {
        'da_queue_length{queue="quick"}',
        'da_queue_length{queue="jobs"}',
    }


def test_jobs_are_timed_by_their_kind():
    now = timezone.now()
    for seconds in (2, 3):
        Job.objects.create(
            kind="build_gold",
            state=Job.State.DONE,
            started_at=now - timedelta(seconds=seconds),
            finished_at=now,
        )
    yesterday = now - timedelta(days=1)
    long_ago = {"started_at": yesterday, "finished_at": yesterday}
    Job.objects.create(kind="build_gold", state=Job.State.DONE, **long_ago)
    found = scrape()
    assert found['da_job_mean_seconds{kind="build_gold"}'] == pytest.approx(2.5)
    assert found['da_jobs_last_hour{kind="build_gold",state="done"}'] == 2


def test_the_first_job_that_fails_is_seen_and_one_started_again_is_not():
    job = start_job(kind="build_gold", campaign=make_hits())
    name = 'da_jobs_last_hour{kind="build_gold",state="failed"}'
    assert name not in scrape()
    failed = {"state": Job.State.FAILED, "finished_at": timezone.now()}
    Job.objects.filter(pk=job.pk).update(**failed)
    assert scrape()[name] == 1
    restart(job=Job.objects.get(pk=job.pk))
    assert name not in scrape()


@pytest.mark.django_db(transaction=True)
def test_the_age_of_the_newest_backup_and_the_free_disk_are_told(settings, tmp_path):
    settings.BACKUP_DIR = tmp_path
    found = scrape()
    assert 0 < found["da_disk_free_share"] < 1 and "da_backup_age_seconds" not in found
    with time_machine.travel(timezone.now() - timedelta(hours=3)):
        back_up()
    assert scrape()["da_backup_age_seconds"] == pytest.approx(3 * 3600, abs=60)


@pytest.mark.parametrize("content", [None, "", "[]", '{"format": 1}', '{"format": 99}'])
def test_a_backup_that_cannot_be_read_is_told_and_counts_for_nothing(settings, tmp_path, content):
    settings.BACKUP_DIR = tmp_path
    folder = tmp_path / "da-20260101T020000000000Z"
    folder.mkdir()
    if content is not None:
        (folder / "manifest.json").write_text(content)
    assert "da_backup_age_seconds" not in scrape()
    assert state_of("Last backup") == "bad"
    page = client_of("admin").get(reverse("health"))
    assert page.status_code == 200 and folder.name in page.content.decode()


def test_metrics_are_told_where_nobody_may_look_for_backups(monkeypatch):
    def refuse() -> None:
        raise PermissionError("not for you")

    monkeypatch.setattr(metrics, "newest_backup", refuse)
    assert "da_backup_age_seconds" not in scrape()


def test_metrics_take_as_many_queries_for_many_campaigns_as_for_one():
    counts = []
    for n_more in (1, 4):
        for _ in range(n_more):
            make_hits()
        with CaptureQueriesContext(connection) as queries:
            scrape()
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_metrics_name_no_worker_and_tell_no_text():
    campaign = make_hits(name="a telling name")
    take_assignment(campaign=campaign, worker=make_worker("alice-of-prolific"))
    answer = Client().get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
    for secret in ("alice-of-prolific", "a telling name", "bridge"):
        assert secret not in answer.content.decode()


def test_the_dashboard_and_the_alerts_ask_for_metrics_that_exist():
    known = metric_names()
    text = (CHECKOUT / "deploy/prometheus/alerts.yml").read_text()
    dashboard = json.loads((CHECKOUT / "deploy/grafana/da-platform.json").read_text())
    for panel in dashboard["panels"]:
        text += "".join(target["expr"] + "\n" for target in panel.get("targets", []))
    asked = set(re.findall(r"\bda_[a-z_]+\b", text))
    assert len(asked) > 10 and asked <= known


# The page ------------------------------------------------------------------------------------


def test_admins_see_the_health_page_in_words():
    give_sign("worker@one", QUEUES)
    page = client_of("admin").get(reverse("health")).content.decode()
    for name in health._checks:
        assert f'<th scope="row">{name}</th>' in page
    assert "worker@one" in page and "The check failed" not in page


def test_researchers_do_not_see_it():
    assert client_of("researcher").get(reverse("health")).status_code == 403


def test_it_misses_workers_of_the_queue_and_names_the_queue_that_nobody_serves():
    assert state_of("Celery workers") == "bad"
    give_sign("worker@one", ["quick"])
    assert state_of("Celery workers") == "warning"
    assert "start celery worker -Q jobs." in says_of("Celery workers")
    give_sign("worker@two", ["jobs"])
    assert state_of("Celery workers") == "good"
    # The one for jobs dies; the other goes on.
    with time_machine.travel(timezone.now() + RECENT + timedelta(minutes=1)):
        give_sign("worker@one", ["quick"])
        assert "start celery worker -Q jobs." in says_of("Celery workers")
        give_sign("worker@two", ["jobs"])
        assert state_of("Celery workers") == "good"


def test_one_worker_may_serve_both_queues():
    give_sign("worker@one", QUEUES)
    assert state_of("Celery workers") == "good"


def test_it_misses_the_schedule_though_workers_are_there():
    give_sign("worker@one", QUEUES)
    assert state_of("Schedule") == "bad"
    operation_tasks.give_sign()
    assert state_of("Schedule") == "good"
    with time_machine.travel(timezone.now() + RECENT + timedelta(minutes=1)):
        assert state_of("Schedule") == "bad" and "last run by beat" in says_of("Schedule")
        call_command("do_chores", verbosity=0)
        assert state_of("Schedule") == "good" and "cron" in says_of("Schedule")


def test_workers_are_counted_by_queue_and_the_schedule_has_an_age():
    found = scrape()
    assert found['da_queue_workers{queue="jobs"}'] == 0 and "da_schedule_age_seconds" not in found
    for name, queues in (("one", QUEUES), ("two", ["quick"]), ("beat", [])):
        give_sign(name, queues)
    found = scrape()
    assert found['da_queue_workers{queue="quick"}'] == 2
    assert found['da_queue_workers{queue="jobs"}'] == 1
    assert 0 <= found["da_schedule_age_seconds"] < 60


def test_it_sees_stuck_jobs_and_late_evidence():
    assert (state_of("Jobs"), state_of("Chores")) == ("good", "good")
    long_ago = timezone.now() - timedelta(hours=1)
    job = start_job(kind="build_gold", campaign=make_hits())
    Job.objects.filter(pk=job.pk).update(heartbeat_at=long_ago)
    assignment = take_assignment(campaign=make_hits(), worker=make_worker())
    Assignment.objects.filter(pk=assignment.pk).update(
        started_at=long_ago - timedelta(hours=1), expires_at=long_ago
    )
    assert (state_of("Jobs"), state_of("Chores")) == ("bad", "warning")


def test_what_cannot_be_looked_at_is_a_finding_and_not_an_error(monkeypatch):
    def fail() -> None:
        raise OSError("gone")

    monkeypatch.setitem(health._checks, "Disk", fail)
    assert state_of("Disk") == "bad"
    assert client_of("admin").get(reverse("health")).status_code == 200


def test_old_names_of_workers_are_dropped():
    from da_platform.operation.models import SignOfLife

    give_sign("worker@yesterday")
    SignOfLife.objects.update(at=timezone.now() - timedelta(days=2))
    give_sign("worker@today")
    assert [sign.name for sign in SignOfLife.objects.all()] == ["worker@today"]
