"""What the Dockerfile does after installing, done here: collect, serve as in production, probe."""

import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.subprocesses import CHECKOUT, environment, output_of

IGNORED = shutil.ignore_patterns(
    ".git", ".venv", "var", ".env", "staticfiles", "__pycache__", "tests", ".*_cache", ".hypothesis"
)
WAIT_SECONDS = 90.0


class Image:
    """A copy of the checkout without what .dockerignore leaves out, and an environment as a container has it."""

    def __init__(self, folder: Path) -> None:
        self.app = folder / "app"
        shutil.copytree(CHECKOUT, self.app, ignore=IGNORED)
        self.variables = environment(
            DA_SECRET_KEY="k" * 60,
            DA_ALLOWED_HOSTS="da.example.org",
            DA_DATA_DIR=str(folder / "data"),
            DA_LOG_FORMAT="JSON",
        )
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=self.app,
            env=self.variables,
            capture_output=True,
            text=True,
            timeout=WAIT_SECONDS,
        )

    def serve(self) -> "subprocess.Popen[bytes]":
        command = [sys.executable, "-m", "gunicorn", "--bind", f"127.0.0.1:{self.port}"]
        return subprocess.Popen([*command, "--no-control-socket"], cwd=self.app, env=self.variables)

    def probe(self, path: str) -> int:
        return self.run("-m", "da_platform.probe", f"http://127.0.0.1:{self.port}{path}").returncode


@pytest.fixture
def image(tmp_path: Path) -> Iterator[Image]:
    yield Image(tmp_path)


@pytest.mark.soak
def test_the_steps_of_the_image_give_a_server_that_its_health_check_finds(image: Image):
    collected = output_of(image.run("manage.py", "collectstatic", "--noinput", "--verbosity", "1"))
    assert "static files copied" in collected
    output_of(image.run("manage.py", "migrate", "--verbosity", "0"))
    assert image.probe("/healthz") == 1
    server = image.serve()
    try:
        # However long the machine takes to start it: asked again and again, as a health check does.
        ends_at = time.monotonic() + WAIT_SECONDS
        while image.probe("/healthz") != 0:
            assert server.poll() is None and time.monotonic() < ends_at
        assert image.probe("/readyz") == 0
        assert image.probe("/nothing-here") == 1
    finally:
        server.terminate()
        server.wait(timeout=30)
