"""Health checks, Prometheus metrics and the health page."""

import json
import os
import re
from datetime import timedelta
from pathlib import Path

import pytest
import time_machine
from django.conf import settings
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
def no_cached_state(settings):
    settings.METRICS_TOKEN = TOKEN
    metrics.forget_state()
    health._is_migrated = False


def metrics_page() -> str:
    answer = Client().get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
    assert answer.status_code == 200
    return answer.content.decode()


def scrape() -> dict[str, float]:
    metrics.forget_state()
    lines = [line for line in metrics_page().splitlines() if not line.startswith("#")]
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines)}


def metric_names() -> set[str]:
    """All declared metrics, including those without a value."""
    types = dict(re.findall(r"^# TYPE (\S+) (\S+)$", metrics_page(), re.MULTILINE))
    histograms = {name for name, kind in types.items() if kind == "histogram"}
    return types.keys() | {f"{name}_bucket" for name in histograms}


def state_of(name: str) -> str:
    return next(finding.state for finding in health.findings() if finding.name == name)


def says_of(name: str) -> str:
    return next(finding.details for finding in health.findings() if finding.name == name)


# Liveness and readiness ----------------------------------------------------------------------


def test_liveness_does_not_query_the_database():
    with CaptureQueriesContext(connection) as queries:
        answer = Client().get("/healthz")
    assert (answer.status_code, answer.content) == (200, b"ok\n") and not queries


def test_it_is_ready_when_database_migrations_and_broker_are_available():
    answer = Client().get("/readyz")
    assert answer.status_code == 200
    assert answer.json() == {
        "database": True,
        "migrations": True,
        "writable": True,
        "broker": True,
    }


def test_it_is_not_ready_when_the_disk_is_full(monkeypatch):
    disk = os.statvfs(settings.DATA_DIR)
    free_bytes = disk.f_bavail * disk.f_frsize
    monkeypatch.setattr(health, "MIN_FREE_BYTES", 2 * free_bytes)
    answer = Client().get("/readyz")
    assert answer.status_code == 503 and answer.json()["writable"] is False
    assert answer.json()["database"] is True
    assert state_of("Disk") == "bad" and "The platform needs" in says_of("Disk")


def test_it_is_not_ready_when_the_data_folder_has_no_room_but_the_database_has(settings):
    settings.DATA_DIR = Path("/proc")
    answer = Client().get("/readyz")
    assert answer.status_code == 503 and answer.json()["writable"] is False


def test_it_is_not_ready_when_the_database_cannot_be_written(monkeypatch):
    writable = os.access
    path = connection.settings_dict["NAME"]
    if connection.vendor == "sqlite":
        # Permissions do not stop root, so the system's answer is replaced.
        monkeypatch.setattr(
            "os.access", lambda name, mode: str(name) != path and writable(name, mode)
        )
    else:
        with connection.cursor() as cursor:
            cursor.execute("SET transaction_read_only = on")
    answer = Client().get("/readyz")
    assert answer.status_code == 503 and answer.json()["writable"] is False


def test_readiness_writes_nothing():
    Client().get("/readyz")
    with CaptureQueriesContext(connection) as queries:
        Client().get("/readyz")
    assert len(queries) <= 2
    assert all(query["sql"].startswith(("SELECT", "SHOW")) for query in queries)


def test_it_is_not_ready_while_migrations_are_missing():
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE app = 'operation'")
    answer = Client().get("/readyz")
    assert answer.status_code == 503 and answer.json()["migrations"] is False


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/metrics"])
def test_monitoring_may_use_any_host_name_and_other_pages_may_not(settings, path):
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


@pytest.mark.parametrize("authorization", ["Bearer ", "Bearer", "Bearer None"])
def test_without_a_configured_token_nobody_gets_metrics(settings, authorization):
    settings.METRICS_TOKEN = ""
    answer = client_of("superuser").get("/metrics", headers={"Authorization": authorization})
    assert answer.status_code == 404


def test_ratings_are_counted_by_outcome():
    assignment = take_assignment(campaign=make_hits(), worker=make_worker())
    before = scrape()
    item = assignment.hit.items.get(position=1)
    rate(assignment, item)
    rate(assignment, item)
    after = scrape()
    for outcome in ("new", "repeated"):
        name = f'da_ratings_total{{outcome="{outcome}"}}'
        assert after[name] - before.get(name, 0) == 1


def test_metrics_show_the_state_of_the_database():
    campaign = make_hits(min_ratings=3)
    assignment = take_assignment(campaign=campaign, worker=make_worker())
    rate_items(assignment)
    values = scrape()
    assert values["da_places_open"] == 2
    assert values['da_assignments{status="in_progress"}'] == 1
    assert values['da_jobs{state="queued"}'] == 0
    assert {name for name in values if name.startswith("da_queue_length")} == {
        'da_queue_length{queue="quick"}',
        'da_queue_length{queue="jobs"}',
    }


def test_job_times_are_grouped_by_kind():
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
    values = scrape()
    assert values['da_job_mean_seconds{kind="build_gold"}'] == pytest.approx(2.5)
    assert values['da_jobs_last_hour{kind="build_gold",state="done"}'] == 2


def test_a_failed_job_is_counted_until_it_is_restarted():
    job = start_job(kind="build_gold", campaign=make_hits())
    name = 'da_jobs_last_hour{kind="build_gold",state="failed"}'
    assert name not in scrape()
    failed = {"state": Job.State.FAILED, "finished_at": timezone.now()}
    Job.objects.filter(pk=job.pk).update(**failed)
    assert scrape()[name] == 1
    restart(job=Job.objects.get(pk=job.pk))
    assert name not in scrape()


@pytest.mark.django_db(transaction=True)
def test_metrics_include_backup_age_and_free_disk_space(settings, tmp_path):
    settings.BACKUP_DIR = tmp_path
    values = scrape()
    assert 0 < values["da_disk_free_share"] < 1 and "da_backup_age_seconds" not in values
    with time_machine.travel(timezone.now() - timedelta(hours=3)):
        back_up()
    assert scrape()["da_backup_age_seconds"] == pytest.approx(3 * 3600, abs=60)


@pytest.mark.parametrize("content", [None, "", "[]", '{"format": 1}', '{"format": 99}'])
def test_an_unreadable_backup_is_reported_and_not_counted(settings, tmp_path, content):
    settings.BACKUP_DIR = tmp_path
    folder = tmp_path / "da-20260101T020000000000Z"
    folder.mkdir()
    if content is not None:
        (folder / "manifest.json").write_text(content)
    assert "da_backup_age_seconds" not in scrape()
    assert state_of("Last backup") == "bad"
    page = client_of("admin").get(reverse("health"))
    assert page.status_code == 200 and folder.name in page.content.decode()


def test_metrics_work_without_access_to_the_backups(monkeypatch):
    def refuse() -> None:
        raise PermissionError("not for you")

    monkeypatch.setattr(metrics, "newest_backup", refuse)
    assert "da_backup_age_seconds" not in scrape()


def test_the_number_of_queries_does_not_grow_with_campaigns():
    counts = []
    for n_more in (1, 4):
        for _ in range(n_more):
            make_hits()
        with CaptureQueriesContext(connection) as queries:
            scrape()
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_metrics_contain_no_worker_names_or_texts():
    campaign = make_hits(name="a telling name")
    take_assignment(campaign=campaign, worker=make_worker("alice-of-prolific"))
    page = metrics_page()
    for secret in ("alice-of-prolific", "a telling name", "bridge"):
        assert secret not in page


def test_dashboard_and_alerts_use_existing_metrics():
    existing = metric_names()
    text = (CHECKOUT / "deploy/prometheus/alerts.yml").read_text()
    dashboard = json.loads((CHECKOUT / "deploy/grafana/da-platform.json").read_text())
    for panel in dashboard["panels"]:
        text += "".join(target["expr"] + "\n" for target in panel.get("targets", []))
    used = set(re.findall(r"\bda_[a-z_]+\b", text))
    assert len(used) > 10 and used <= existing


# The page ------------------------------------------------------------------------------------


def test_admins_see_every_check_on_the_health_page():
    give_sign("worker@one", QUEUES)
    page = client_of("admin").get(reverse("health")).content.decode()
    for name in health._checks:
        assert f'<th scope="row">{name}</th>' in page
    assert "worker@one" in page and "The check failed" not in page


def test_a_queue_without_workers_is_reported_by_name():
    assert state_of("Celery workers") == "bad"
    give_sign("worker@one", ["quick"])
    assert state_of("Celery workers") == "warning"
    assert "start celery worker -Q jobs." in says_of("Celery workers")
    give_sign("worker@two", ["jobs"])
    assert state_of("Celery workers") == "good"
    # The worker for jobs dies.
    with time_machine.travel(timezone.now() + RECENT + timedelta(minutes=1)):
        give_sign("worker@one", ["quick"])
        assert "start celery worker -Q jobs." in says_of("Celery workers")
        give_sign("worker@two", ["jobs"])
        assert state_of("Celery workers") == "good"


def test_a_schedule_that_does_not_run_is_reported():
    give_sign("worker@one", QUEUES)
    assert state_of("Celery workers") == "good"
    assert state_of("Schedule") == "bad"
    operation_tasks.give_sign()
    assert state_of("Schedule") == "good"
    with time_machine.travel(timezone.now() + RECENT + timedelta(minutes=1)):
        assert state_of("Schedule") == "bad" and "last run by beat" in says_of("Schedule")
        call_command("do_chores", verbosity=0)
        assert state_of("Schedule") == "good" and "cron" in says_of("Schedule")


def test_metrics_include_workers_per_queue_and_schedule_age():
    values = scrape()
    assert values['da_queue_workers{queue="jobs"}'] == 0 and "da_schedule_age_seconds" not in values
    for name, queues in (("one", QUEUES), ("two", ["quick"]), ("beat", [])):
        give_sign(name, queues)
    values = scrape()
    assert values['da_queue_workers{queue="quick"}'] == 2
    assert values['da_queue_workers{queue="jobs"}'] == 1
    assert 0 <= values["da_schedule_age_seconds"] < 60


def test_stuck_jobs_and_overdue_assignments_are_reported():
    assert (state_of("Jobs"), state_of("Chores")) == ("good", "good")
    long_ago = timezone.now() - timedelta(hours=1)
    job = start_job(kind="build_gold", campaign=make_hits())
    Job.objects.filter(pk=job.pk).update(heartbeat_at=long_ago)
    assignment = take_assignment(campaign=make_hits(), worker=make_worker())
    Assignment.objects.filter(pk=assignment.pk).update(
        started_at=long_ago - timedelta(hours=1), expires_at=long_ago
    )
    assert (state_of("Jobs"), state_of("Chores")) == ("bad", "warning")


def test_a_check_that_fails_is_reported_and_not_an_error(monkeypatch):
    def fail() -> None:
        raise OSError("gone")

    monkeypatch.setitem(health._checks, "Disk", fail)
    assert state_of("Disk") == "bad"
    assert client_of("admin").get(reverse("health")).status_code == 200


def test_old_worker_names_are_deleted():
    from da_platform.operation.models import SignOfLife

    give_sign("worker@yesterday")
    SignOfLife.objects.update(at=timezone.now() - timedelta(days=2))
    give_sign("worker@today")
    assert [sign.name for sign in SignOfLife.objects.all()] == ["worker@today"]
