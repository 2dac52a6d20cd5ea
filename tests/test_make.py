"""`make run` in a fresh clone."""

import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.subprocesses import CHECKOUT, free_port
from tests.waiting import eventually

INSTALL_SECONDS = 180
# The second time, there is nothing to install, migrate or import.
SECOND_START_SECONDS = 3
STOP_SECONDS = 25
ADVICE = """\
`make run` cannot install its packages in a fresh clone. If no package index can be reached, skip
these tests: make check PYTEST="--ignore tests/test_make.py"
"""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not shutil.which("make"), reason="make is not installed"),
    pytest.mark.skipif(not shutil.which("git"), reason="git is not installed"),
    pytest.mark.skipif(not (CHECKOUT / ".git").exists(), reason="this is not a git checkout"),
    # All tests share one clone.
    pytest.mark.xdist_group("make"),
]


def clean_environment() -> dict[str, str]:
    """The environment without variables of the platform, of pytest or of a virtual environment."""
    hidden = ("DA_", "DATABASE_URL", "DJANGO_", "MAKE", "MFLAGS", "VIRTUAL_ENV", "PYTEST_", "WEB_")
    # Without bytecode, each start would compile everything.
    hidden += ("PYTHONDONTWRITE",)
    return {name: value for name, value in os.environ.items() if not name.startswith(hidden)}


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone of the last commit, with all packages for `make run` installed."""
    folder = tmp_path_factory.mktemp("newcomer") / "da-platform"
    subprocess.run(["git", "clone", "--quiet", CHECKOUT, folder], check=True)
    install = make(folder, ".venv/ready-to-run", timeout=INSTALL_SECONDS)
    assert install.returncode == 0, ADVICE + install.stderr
    return folder


def make(clone: Path, *arguments: str, timeout: float = 60) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["make", *arguments],
        cwd=clone,
        env=clean_environment(),
        capture_output=True,
        text=True,
        timeout=timeout,
    )


class Running:
    """`make run`, from its start until Ctrl-C."""

    def __init__(self, clone: Path, port: int) -> None:
        self.site = f"http://127.0.0.1:{port}"
        self.log = clone / "make-run.log"
        self.started_at = time.monotonic()
        with self.log.open("w") as log:
            # In its own session, so that Ctrl-C reaches only its processes.
            self.process = subprocess.Popen(
                ["make", "run", f"PORT={port}"],
                cwd=clone,
                env=clean_environment(),
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    @property
    def output(self) -> str:
        return self.log.read_text()

    def get(self, path: str = "/") -> str:
        with urllib.request.urlopen(self.site + path, timeout=10) as answer:
            assert answer.status == 200
            return answer.read().decode()

    def seconds_to_first_answer(self, limit: float) -> float:
        eventually(self.answers, within=limit)
        return time.monotonic() - self.started_at

    def answers(self) -> bool:
        assert self.process.poll() is None, self.output
        try:
            return bool(self.get())
        except OSError:  # Not listening yet, or too busy starting to answer.
            return False

    def press_ctrl_c(self) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGINT)
        self.process.wait(STOP_SECONDS)


@contextmanager
def make_run(clone: Path, port: int) -> Iterator[Running]:
    running = Running(clone, port)
    try:
        yield running
    finally:
        running.press_ctrl_c()


def slowdown(clone: Path) -> float:
    """Return wall time per processor time of a plain start: 1, or more on a busy machine."""
    started_at, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [".venv/bin/python", "manage.py", "check"]
    subprocess.run(command, cwd=clone, env=clean_environment(), check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return max(1.0, (time.monotonic() - started_at) / processor)


def worker_path(output: str) -> str:
    match = re.search(r"http://127\.0\.0\.1:\d+(/work/[0-9a-f-]+/)", output)
    assert match, output
    return match[1]


def test_make_run_serves_the_demo_and_restarts_quickly(clone: Path):
    port = free_port()
    with make_run(clone, port) as first:
        first.seconds_to_first_answer(INSTALL_SECONDS)
        path = worker_path(first.output)
        assert f"http://127.0.0.1:{port}{path}" in first.output
        assert "Log in as admin with the password" in first.output
        assert "<form" in first.get(path)
    assert "Traceback" not in first.output
    slow_before = slowdown(clone)
    # The same port is free again at once.
    with make_run(clone, port) as second:
        seconds = second.seconds_to_first_answer(INSTALL_SECONDS)
        assert seconds < SECOND_START_SECONDS * max(slow_before, slowdown(clone))
        assert worker_path(second.output) == path
        assert "password" not in second.output
        assert "<form" in second.get(path)
    assert "Traceback" not in second.output


def test_a_busy_port_is_reported_first(clone: Path):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        refused = make(clone, "run", f"PORT={port}")
    assert refused.returncode != 0
    assert (
        refused.stdout
        == f"Port {port} is in use. Stop what runs there or choose another: make run PORT=8001\n"
    )
    assert "Traceback" not in refused.stderr


def test_make_without_a_target_lists_the_targets(clone: Path):
    process = make(clone)
    assert process.returncode == 0
    assert "make run" in process.stdout and "make test" in process.stdout
