"""The steps of the Dockerfile without Docker, on a copy of the checkout."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.subprocesses import CHECKOUT, RANDOM_KEY, environment, free_port, output_of, running
from tests.waiting import eventually

IGNORED = shutil.ignore_patterns(
    ".git", ".venv", "var", ".env", "staticfiles", "__pycache__", "tests", ".*_cache", ".hypothesis"
)
WAIT_SECONDS = 90.0
# Caddy issues a certificate for this name itself.
HOST = "localhost"


@dataclass(frozen=True)
class Server:
    port: int
    process: "subprocess.Popen[bytes]"

    def address(self, path: str) -> str:
        return f"http://127.0.0.1:{self.port}{path}"


class Image:
    """A copy of the checkout without the files in .dockerignore, with the environment of a container."""

    def __init__(self, folder: Path) -> None:
        self.app = folder / "app"
        shutil.copytree(CHECKOUT, self.app, ignore=IGNORED)
        self.variables = environment(
            DA_SECRET_KEY=RANDOM_KEY,
            DA_ALLOWED_HOSTS=HOST,
            DA_DATA_DIR=str(folder / "data"),
            DA_LOG_FORMAT="JSON",
        )

    def run(self, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=self.app,
            env=self.variables | variables,
            capture_output=True,
            text=True,
            timeout=WAIT_SECONDS,
        )

    def prepare(self) -> str:
        """Collect static files and migrate; return the output."""
        collected = output_of(self.run("manage.py", "collectstatic", "--noinput"))
        return collected + output_of(self.run("manage.py", "migrate", "--verbosity", "0"))

    def probe(self, url: str) -> int:
        return self.run("-m", "da_platform.probe", url).returncode

    def answers(self, server: Server) -> bool:
        return self.probe(server.address("/healthz")) == 0

    @contextmanager
    def serving(self, **variables: str) -> Iterator[Server]:
        """Serve it with the command of the image."""
        port = free_port()
        command = [sys.executable, "-m", "gunicorn", "--bind", f"127.0.0.1:{port}"]
        with running(command, cwd=self.app, env=self.variables | variables) as process:
            server = Server(port, process)
            eventually(lambda: process.poll() is not None or self.answers(server))
            assert process.poll() is None
            yield server
