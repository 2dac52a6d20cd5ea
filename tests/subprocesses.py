"""Run the platform in a separate process, in an environment that only the test controls."""

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).resolve().parent.parent
# Long enough for a busy machine.
TIMEOUT_SECONDS = 600

# Random, because the platform refuses others outside of development.
RANDOM_KEY = (
    "Zjl_bH3DXTLiP5WLCPVvRC0Imq3qJXzfHx2urnOI0V5xG4yjiKKswR8i8UwYPko7"  # pragma: allowlist secret
)

# The variables that every process needs. None of the platform's comes from the shell or from .env.
INHERITED = ("PATH", "HOME", "LANG", "TMPDIR", "VIRTUAL_ENV")


def environment(**variables: str) -> dict[str, str]:
    inherited = {name: os.environ[name] for name in INHERITED if name in os.environ}
    return inherited | {"DA_ENV_FILE": os.devnull} | variables


def example_variables() -> set[str]:
    """The variables that `.env.example` lists."""
    text = (CHECKOUT / ".env.example").read_text()
    return set(re.findall(r"^#?([A-Z]\w+)=", text, re.MULTILINE))


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def kill(pid: int, *, with_its_group: bool = False) -> bool:
    """Send SIGKILL to a process; return whether it still existed."""
    try:
        (os.killpg if with_its_group else os.kill)(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


@contextmanager
def running(command: list[Any], **options: Any) -> Iterator["subprocess.Popen[bytes]"]:
    """Run a command during the block."""
    process = subprocess.Popen(command, **options)
    try:
        yield process
    finally:
        process.terminate()
        process.wait(timeout=30)


def run_python(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run this Python in the checkout."""
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=CHECKOUT,
        env=environment(**variables),
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
    )


def manage(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return run_python("manage.py", *arguments, **variables)


def output_of(process: subprocess.CompletedProcess[str]) -> str:
    """Return the output of a process; fail with its errors if it was not successful."""
    assert process.returncode == 0, process.stdout + process.stderr
    return process.stdout
