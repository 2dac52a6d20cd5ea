"""The platform served as in its image: health checks, restarts into a new release, no broker."""

import shutil
import socket
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.operation.image import Image, Server
from tests.subprocesses import free_port, output_of, running
from tests.waiting import eventually

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("image")]

# The patience of a person or a health check; browsers wait longer.
SOON_SECONDS = 3.0
TOKEN = "a-token-for-these-tests"


def test_the_probe_reports_health_by_its_exit_code(image: Image):
    assert image.probe(f"http://127.0.0.1:{free_port()}/healthz") == 1
    with image.serving() as server:
        assert image.probe(server.address("/readyz")) == 0
        assert image.probe(server.address("/nothing-here")) == 1


# A new release -------------------------------------------------------------------------------


class Visitors:
    """Send requests without end, each on a new connection, and count the answers."""

    def __init__(self, server: Server, *, n: int) -> None:
        self.server, self.answers, self.are_done = server, Counter[str](), threading.Event()
        self.threads = [threading.Thread(target=self._ask) for _ in range(n)]

    def _ask(self) -> None:
        while not self.are_done.is_set():
            try:
                answer = httpx.get(self.server.address("/healthz"), timeout=60).text
            except httpx.HTTPError as error:
                answer = repr(error)
            self.answers[answer] += 1

    def __enter__(self) -> "Visitors":
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *args: object) -> None:
        self.stop()

    def stop(self) -> None:
        self.are_done.set()
        for thread in self.threads:
            thread.join()

    def wait_for(self, answer: str) -> None:
        eventually(lambda: self.answers[answer])


START_AT_SOCKET = """
import os, sys
os.dup2(int(sys.argv[1]), 3)
os.environ |= {"LISTEN_PID": str(os.getpid()), "LISTEN_FDS": "1"}
os.execv(sys.executable, [sys.executable, "-m", "gunicorn"])
"""


@contextmanager
def started(image: Image, folder: Path, listener: socket.socket) -> Iterator[Server]:
    """Serve a release as systemd does, on a socket that outlives the process."""
    command = [sys.executable, "-c", START_AT_SOCKET, str(listener.fileno())]
    # A shell would not resolve the symbolic link either.
    variables = image.variables | {"PWD": str(folder), "DA_METRICS_TOKEN": TOKEN}
    with running(command, cwd=folder, env=variables, pass_fds=[listener.fileno()]) as process:
        yield Server(listener.getsockname()[1], process)


def new_release(image: Image, folder: Path) -> Path:
    """A release with another answer to health checks and broken metrics."""
    shutil.copytree(image.app, folder)
    views = folder / "da_platform/operation/views.py"
    before = views.read_text()
    assert '"ok\\n"' in before
    views.write_text(before.replace('"ok\\n"', '"new\\n"'))
    (folder / "da_platform/operation/metrics.py").write_text("raise ImportError")
    return folder


def metrics_status(server: Server) -> int:
    headers = {"Authorization": f"Bearer {TOKEN}"}
    return httpx.get(server.address("/metrics"), headers=headers, timeout=60).status_code


def test_restarting_into_a_new_release_drops_no_connection(image: Image, tmp_path: Path):
    link, new = tmp_path / "da-platform", new_release(image, tmp_path / "new")
    link.symlink_to(image.app)
    with (
        socket.create_server(("127.0.0.1", 0), backlog=2048) as listener,
        started(image, link, listener) as server,
        Visitors(server, n=8) as visitors,
    ):
        visitors.wait_for("ok\n")
        link.unlink()
        link.symlink_to(new)
        # Modules that were not loaded yet still come from the old release.
        assert metrics_status(server) == 200
        server.process.terminate()
        server.process.wait(timeout=30)
        with started(image, link, listener):
            visitors.wait_for("new\n")
            visitors.stop()
    assert visitors.answers.keys() == {"ok\n", "new\n"}


# Without the broker --------------------------------------------------------------------------

MAKE_TOKEN = """
from django.contrib.auth.models import User
from hits.people.tokens import make_token
user = User.objects.create_superuser("machine")
print(make_token(user=user, name="tests", scopes=["read"])[1])
"""


def test_without_redis_the_platform_is_ready_and_the_api_answers_quickly(image: Image):
    token = output_of(image.run("manage.py", "shell", "--verbosity", "0", "-c", MAKE_TOKEN)).strip()
    away = f"redis://127.0.0.1:{free_port()}/0"
    with image.serving(DA_BROKER_URL=away, DA_SSL_REDIRECT="0") as server:
        ready = httpx.get(server.address("/readyz"), timeout=SOON_SECONDS)
        assert ready.status_code == 200
        assert ready.json() == {
            "database": True,
            "migrations": True,
            "writable": True,
            "broker": False,
        }
        headers = {"Authorization": f"Bearer {token}", "Host": "localhost"}
        for _ in range(2):
            answer = httpx.get(
                server.address("/api/v1/campaigns"), headers=headers, timeout=SOON_SECONDS
            )
            assert answer.status_code == 200, answer.text


def test_enqueueing_without_a_broker_fails_quickly(image: Image):
    # Celery is imported first because that can be slow on a busy machine.
    send = (
        "import time; import da_platform.celery; from da_platform.sending import enqueue;"
        "began = time.monotonic();"
        "print(enqueue('hits.do_chores'), time.monotonic() - began)"
    )
    away = f"redis://127.0.0.1:{free_port()}/0"
    output = output_of(
        image.run("manage.py", "shell", "--verbosity", "0", "-c", send, DA_BROKER_URL=away)
    )
    went_out, seconds = output.split()
    assert went_out == "False" and float(seconds) < SOON_SECONDS
