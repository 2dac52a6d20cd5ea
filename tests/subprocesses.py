"""Run the platform as its own process, in an environment that holds only what a test puts there."""

import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
# A busy machine is not a failure.
TIMEOUT_SECONDS = 600

# What a process needs to run at all. Nothing of the platform's own comes from the shell or from .env.
KEPT = ("PATH", "HOME", "LANG", "TMPDIR", "VIRTUAL_ENV")


def environment(**variables: str) -> dict[str, str]:
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    return kept | {"DA_ENV_FILE": os.devnull} | variables


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
    """Kill a process the hard way; return whether it was still there to be killed."""
    try:
        (os.killpg if with_its_group else os.kill)(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def run_python(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run this Python in the checkout; what it printed and how it ended come back."""
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
    """Return what a process printed; fail with its errors if it did not end well."""
    assert process.returncode == 0, process.stdout + process.stderr
    return process.stdout
