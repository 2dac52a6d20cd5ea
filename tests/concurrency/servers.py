"""Run the platform with gunicorn, as in production, and kill it."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from pathlib import Path

from tests.subprocesses import free_port, kill
from tests.waiting import eventually

from .databases import ROOT


@dataclass
class Server:
    """Gunicorn in its own session, so that all its processes can be killed at once."""

    environment: dict[str, str]
    options: tuple[str, ...] = ()
    port: int = field(default_factory=free_port)
    process: "subprocess.Popen[bytes] | None" = None

    def start(self) -> None:
        command = [sys.executable, "-m", "gunicorn", "--bind", f"127.0.0.1:{self.port}"]
        self.process = subprocess.Popen(
            [*command, *self.options], cwd=ROOT, env=self.environment, start_new_session=True
        )
        eventually(self.answers)

    def answers(self) -> bool:
        assert self.process and self.process.poll() is None, "the server has ended"
        # A request that times out would still be answered and counted, so the timeout is long.
        connection = HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request("GET", "/")
            connection.getresponse().read()
        except (OSError, HTTPException):
            return False
        finally:
            connection.close()
        return True

    def worker_pids(self) -> list[int]:
        assert self.process
        pid = self.process.pid
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text()
        return [int(child) for child in children.split()]

    def kill_all(self) -> None:
        """Kill master and workers without a chance to clean up."""
        assert self.process
        kill(self.process.pid, with_its_group=True)
        self.process.wait()

    def stop(self) -> None:
        assert self.process
        self.process.terminate()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.kill_all()


@contextmanager
def running_server(environment: dict[str, str], *options: str) -> Iterator[Server]:
    server = Server(environment, options)
    server.start()
    try:
        yield server
    finally:
        server.stop()
