"""The platform behind gunicorn, as in production, and how it is killed."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from pathlib import Path

from .databases import ROOT

START_SECONDS = 30


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@dataclass
class Server:
    """Gunicorn in a session of its own, so that all of it can be killed at once."""

    environment: dict[str, str]
    options: tuple[str, ...] = ()
    port: int = field(default_factory=free_port)
    process: "subprocess.Popen[bytes] | None" = None

    def start(self) -> None:
        command = [sys.executable, "-m", "gunicorn", "--bind", f"127.0.0.1:{self.port}"]
        self.process = subprocess.Popen(
            [*command, *self.options], cwd=ROOT, env=self.environment, start_new_session=True
        )
        self._wait_until_it_answers()

    def _wait_until_it_answers(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            try:
                connection = HTTPConnection("127.0.0.1", self.port, timeout=5)
                connection.request("GET", "/")
                connection.getresponse().read()
                return
            except (OSError, HTTPException):
                time.sleep(0.05)
            finally:
                connection.close()
        raise RuntimeError(f"Gunicorn did not answer within {START_SECONDS} seconds.")

    def worker_pids(self) -> list[int]:
        assert self.process
        pid = self.process.pid
        return [int(child) for child in _read(f"/proc/{pid}/task/{pid}/children").split()]

    def kill_worker(self, pid: int) -> None:
        os.kill(pid, signal.SIGKILL)

    def kill_all(self) -> None:
        """Kill master and workers the hard way; nothing gets a chance to tidy up."""
        assert self.process
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def stop(self) -> None:
        assert self.process
        self.process.terminate()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.kill_all()


def _read(path: str) -> str:
    return Path(path).read_text()


@contextmanager
def running_server(environment: dict[str, str], *options: str) -> Iterator[Server]:
    server = Server(environment, options)
    server.start()
    try:
        yield server
    finally:
        server.stop()
