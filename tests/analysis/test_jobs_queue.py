"""Messages are sent without blocking and are read once and whole."""

import threading
import time
from datetime import timedelta
from pathlib import Path
from queue import Empty

import pytest
from django.utils import timezone
from kombu import Connection

from da_platform import sending
from da_platform.celery import app
from da_platform.counting import MESSAGES_LOST
from da_platform.jobs.running import run_job, start_job
from da_platform.jobs.sweeping import sweep_jobs
from da_platform.sending import enqueue
from hits.models import Assignment, Evidence
from hits.rating.assignments import submit_assignment, take_assignment
from hits.tasks import weigh_assignment
from tests.factories import make_hits, make_worker, rate_items


@pytest.fixture(autouse=True)
def forgotten_failures(monkeypatch):
    monkeypatch.setattr(sending, "_silent_until", 0.0)


@pytest.fixture
def broker(monkeypatch):
    """Send to another broker than the one in the settings."""

    def use(url: str, **options) -> None:
        connection = Connection(url, transport_options=options)
        original = app.send_task

        def send_task(*args, **kwargs):
            return original(*args, **{"connection": connection} | kwargs)

        monkeypatch.setattr(app, "send_task", send_task)

    return use


def test_a_message_is_in_the_folder_as_soon_as_it_is_sent(broker, tmp_path):
    broker("folder://localhost", folder=str(tmp_path / "queue"))
    for n_sent in range(1, 4):
        assert enqueue("hits.weigh_assignment", 1)
        assert len(list((tmp_path / "queue").glob("*.quick.msg"))) == n_sent


def test_jobs_have_a_separate_queue(broker, tmp_path):
    broker("folder://localhost", folder=str(tmp_path))
    enqueue("jobs.run_job", 1)
    assert [path.suffixes for path in tmp_path.glob("*.msg")] == [[".jobs", ".msg"]]


@pytest.mark.django_db(transaction=True)
def test_a_waiting_job_is_sent_again_only_when_its_message_is_gone(
    broker, tmp_path, monkeypatch, settings
):
    broker("folder://localhost", folder=str(tmp_path))
    monkeypatch.setattr(app, "connection_for_read", lambda: connect(tmp_path))
    job = start_job(kind="release_expired")
    later = timedelta(seconds=settings.JOB_STALE_SECONDS + 1)
    [message] = tmp_path.glob("*.jobs.msg")
    assert sweep_jobs(at=timezone.now() + later)["n_resent"] == 0
    assert list(tmp_path.glob("*.jobs.msg")) == [message]
    message.unlink()
    assert sweep_jobs(at=timezone.now() + 2 * later)["n_resent"] == 1
    assert len(list(tmp_path.glob("*.jobs.msg"))) == 1
    assert run_job(job.pk).state == "done"


@pytest.fixture
def broken_folder(broker, tmp_path) -> None:
    """A broker that fails at once (Redis is tried for six seconds): a file instead of a folder."""
    (tmp_path / "queue").touch()
    broker("folder://localhost", folder=str(tmp_path / "queue"))


@pytest.mark.parametrize("is_redis", [True, False], ids=["redis", "folder"])
def test_a_broker_that_is_down_is_tried_once_and_then_left_alone_for_a_while(
    is_redis, broker, broken_folder, caplog, monkeypatch
):
    if is_redis:
        broker("redis://127.0.0.1:1/0")
    assert not enqueue("hits.weigh_assignment", 7)
    assert "hits.weigh_assignment(7,) is left to the schedule" in caplog.text
    tries: list[str] = []
    monkeypatch.setattr(app, "send_task", lambda task, **options: tries.append(task))
    assert not enqueue("hits.weigh_assignment", 8)
    assert tries == [] and len(caplog.records) == 1
    monkeypatch.setattr(sending, "_silent_until", time.monotonic())
    assert enqueue("hits.weigh_assignment", 8)
    assert tries == ["hits.weigh_assignment"]


def n_lost() -> float:
    [metric] = MESSAGES_LOST.collect()
    return next(sample.value for sample in metric.samples if sample.name.endswith("_total"))


def test_messages_that_were_not_even_tried_count_as_lost(broken_folder):
    before = n_lost()
    for _ in range(3):
        assert not enqueue("hits.weigh_assignment", 7)
    assert n_lost() - before == 3


@pytest.mark.django_db
def test_a_hit_can_be_submitted_while_the_broker_is_down_and_is_weighed_by_the_chores(
    broken_folder, django_capture_on_commit_callbacks
):
    campaign = make_hits()
    assignment = take_assignment(campaign=campaign, worker=make_worker())
    rate_items(assignment)
    with django_capture_on_commit_callbacks(execute=True) as callbacks:
        submit_assignment(assignment=assignment)
    assert len(callbacks) == 1 and not Evidence.objects.exists()
    from hits.chores import do_chores

    assert do_chores().n_weighed == 1 and Evidence.objects.count() == 1


@pytest.mark.django_db
def test_submitting_twice_and_running_the_task_twice_weighs_once(
    django_capture_on_commit_callbacks,
):
    assignment = take_assignment(campaign=make_hits(), worker=make_worker())
    rate_items(assignment)
    with django_capture_on_commit_callbacks() as callbacks:
        submit_assignment(assignment=assignment)
        submit_assignment(assignment=assignment)
    assert len(callbacks) == 1
    for _ in range(2):
        weigh_assignment(assignment.pk)
    assert Evidence.objects.count() == 1


@pytest.mark.django_db
def test_a_message_about_unsubmitted_work_weighs_nothing():
    assignment = take_assignment(campaign=make_hits(), worker=make_worker())
    weigh_assignment(assignment.pk)
    weigh_assignment(assignment.pk + 1)
    assert not Evidence.objects.exists() and Assignment.objects.get().evidence_at is None


# The folder ----------------------------------------------------------------------------------


def connect(folder: Path) -> Connection:
    return Connection("folder://localhost", transport_options={"folder": str(folder)})


def test_messages_are_read_once_and_whole_while_many_write_and_read(tmp_path):
    n_messages, n_writers, n_readers = 50, 3, 3
    received: list[int] = []

    def write(writer: int) -> None:
        with connect(tmp_path) as connection:
            queue = connection.SimpleQueue("numbers")
            for number in range(n_messages):
                queue.put({"number": writer * n_messages + number, "ballast": "x" * 5_000})
            queue.close()

    def read() -> None:
        with connect(tmp_path) as connection:
            queue = connection.SimpleQueue("numbers")
            deadline = time.monotonic() + 60
            while len(received) < n_messages * n_writers and time.monotonic() < deadline:
                try:
                    message = queue.get(block=False)
                except Empty:
                    time.sleep(0.001)
                    continue
                assert len(message.payload["ballast"]) == 5_000
                received.append(message.payload["number"])
                message.ack()
            queue.close()

    threads = [threading.Thread(target=write, args=[writer]) for writer in range(n_writers)]
    threads += [threading.Thread(target=read) for _ in range(n_readers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(received) == list(range(n_messages * n_writers))
    assert [path.name for path in tmp_path.iterdir() if "msg" in path.name] == []


def test_messages_keep_their_order_and_only_the_owner_can_read_the_folder(tmp_path):
    folder = tmp_path / "deep" / "queue"
    with connect(folder) as connection:
        queue = connection.SimpleQueue("numbers")
        for number in range(20):
            queue.put(number)
        for number in range(20):
            message = queue.get(timeout=5)
            assert message.payload == number
            message.ack()
        queue.close()
    assert folder.stat().st_mode & 0o777 == 0o700
