"""The platform as its image serves it: what a service manager asks, new code, and a broker that is away."""

import signal
import threading
from collections import Counter
from pathlib import Path

import httpx
import pytest

from tests.operation.image import Image, Server
from tests.subprocesses import free_port, output_of
from tests.waiting import eventually

pytestmark = pytest.mark.xdist_group("image")

# A browser waits longer; a health check, and a person, do not.
SOON_SECONDS = 3.0


def test_its_health_check_finds_it(image: Image):
    assert image.probe(f"http://127.0.0.1:{free_port()}/healthz") == 1
    with image.serving() as server:
        assert image.probe(server.address("/readyz")) == 0
        assert image.probe(server.address("/nothing-here")) == 1


# New code ------------------------------------------------------------------------------------


class Visitors:
    """Ask again and again, each time by a new connection, and count the answers."""

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
        self.are_done.set()
        for thread in self.threads:
            thread.join()

    def wait_for(self, answer: str) -> None:
        eventually(lambda: self.answers[answer])


def test_a_reload_brings_new_code_in_and_nobody_is_turned_away(image: Image):
    page = Path(image.app) / "da_platform/operation/views.py"
    before = page.read_text()
    assert '"ok\\n"' in before
    try:
        with image.serving() as server, Visitors(server, n=8) as visitors:
            visitors.wait_for("ok\n")
            page.write_text(before.replace('"ok\\n"', '"new\\n"'))
            server.process.send_signal(signal.SIGHUP)
            visitors.wait_for("new\n")
    finally:
        page.write_text(before)
    assert visitors.answers.keys() == {"ok\n", "new\n"}


# Without the broker --------------------------------------------------------------------------

MAKE_TOKEN = """
from django.contrib.auth.models import User
from hits.people.tokens import make_token
user = User.objects.create_superuser("machine")
print(make_token(user=user, name="tests", scopes=["read"])[1])
"""


def test_with_redis_away_it_is_ready_and_the_api_answers_soon(image: Image):
    token = output_of(image.run("manage.py", "shell", "--verbosity", "0", "-c", MAKE_TOKEN)).strip()
    away = f"redis://127.0.0.1:{free_port()}/0"
    with image.serving(DA_BROKER_URL=away, DA_SSL_REDIRECT="0") as server:
        ready = httpx.get(server.address("/readyz"), timeout=SOON_SECONDS)
        assert ready.status_code == 200
        assert ready.json() == {"database": True, "migrations": True, "broker": False}
        headers = {"Authorization": f"Bearer {token}", "Host": "localhost"}
        for _ in range(2):
            answer = httpx.get(
                server.address("/api/v1/campaigns"), headers=headers, timeout=SOON_SECONDS
            )
            assert answer.status_code == 200, answer.text


def test_a_message_without_a_broker_holds_nobody_up(image: Image):
    # Celery is there before the clock runs: importing it takes as long as the machine is busy.
    send = (
        "import time; import da_platform.celery; from da_platform.sending import enqueue;"
        "began = time.monotonic();"
        "print(enqueue('hits.do_chores'), time.monotonic() - began)"
    )
    away = f"redis://127.0.0.1:{free_port()}/0"
    said = output_of(
        image.run("manage.py", "shell", "--verbosity", "0", "-c", send, DA_BROKER_URL=away)
    )
    went_out, seconds = said.split()
    assert went_out == "False" and float(seconds) < SOON_SECONDS
