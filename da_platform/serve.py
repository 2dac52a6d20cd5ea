"""Run the platform on one machine: the web server and a worker for all queues, stopped together.

    python -m da_platform.serve --port 8000
    python -m da_platform.serve --port 8000 run     prepare the data as `da run` does, then serve them

The worker is a separate process, not a thread of the web server, so that a job that uses a whole core or all memory
does not affect the pages, and gunicorn may restart its processes at any time. It is one process with threads, to
save memory: a long job leaves the others to chores.
"""

import argparse
import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from types import FrameType

from .places import SHIPPED_DIR
from .queues import QUEUES
from .served import note_port

BIN = Path(sys.executable).parent

# Long enough for requests and small tasks; the sweep restarts a job that is interrupted.
GRACE_SECONDS = 8.0
PAUSE_SECONDS = 0.1

PR_SET_PDEATHSIG = 1
# How the worker ends when a job exceeds its time limit and does not react: see `jobs.limits`.
OVERDUE = -signal.SIGALRM
# Asks the command `da` not to serve.
PREPARE_ONLY = "--prepare-only"

GUNICORN = ["--config", str(SHIPPED_DIR / "gunicorn.conf.py")]
if sys.platform == "linux":
    # Its processes share what is loaded. Elsewhere a copy of a process that has loaded NumPy may not work.
    GUNICORN += ["--preload"]

# Jobs that run at once, chores among them.
N_THREADS = 3
# Without the banner.
WORKER = ["--quiet", "--app", "da_platform", "worker", "--clock", "--loglevel", "WARNING"]
WORKER += ["--queues", ",".join(QUEUES), "--pool", "threads", "--concurrency", str(N_THREADS)]
WORKER += ["--without-gossip", "--without-mingle", "--without-heartbeat"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run all processes until one ends or this one is asked to stop; return an exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--port", type=int, default=8000)
    # Everything after the command's name is its own, another --port included.
    parser.add_argument("command", nargs=argparse.REMAINDER)
    chosen = parser.parse_args(arguments)
    wishes = _listen()
    die_with_parent()
    # Held until the end.
    lock = note_port(chosen.port)
    # The server loads the code meanwhile, and listens once the last writing end of the pipe is closed.
    waiting, ready = os.pipe()
    children = [_start_server(chosen.port, waiting)]
    os.close(waiting)
    try:
        if chosen.command:
            _prepare(chosen.command, children, wishes)
        os.close(ready)
        while _all_run(children, wishes):
            # The pages first, because on a small machine the starting worker would delay them.
            if len(children) == 1 and _answers(chosen.port):
                children.append(_start("celery", *WORKER))
            time.sleep(PAUSE_SECONDS)
            if children[-1].poll() == OVERDUE:
                children[-1] = _start("celery", *WORKER)
    finally:
        codes = [child.poll() for child in children]
        _stop(children)
        if lock:
            lock.close()
    # 0 if asked to stop, otherwise the exit code of the process that ended by itself.
    return 0 if wishes else next((code or 1 for code in codes if code is not None), 1)


def _prepare(
    command: Sequence[str], children: list[subprocess.Popen[bytes]], wishes: list[int]
) -> None:
    """Run a command of `da` that prints what to open; leave it among the children if it fails."""
    preparing = _start(sys.executable, "-m", "da_platform.command", PREPARE_ONLY, *command)
    children.append(preparing)
    while _all_run(children, wishes):
        time.sleep(PAUSE_SECONDS / 5)
    if preparing.poll() == 0:
        children.remove(preparing)


def _all_run(children: Sequence[subprocess.Popen[bytes]], wishes: Sequence[int]) -> bool:
    return not wishes and all(child.poll() in (None, OVERDUE) for child in children)


def _listen() -> list[int]:
    """Catch the signals to stop, from a terminal, a supervisor or a closed window."""
    wishes: list[int] = []

    def note(signum: int, frame: FrameType | None) -> None:
        wishes.append(signum)

    for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(signum, note)
    return wishes


def die_with_parent(signum: int = signal.SIGTERM) -> None:
    """Ask Linux to stop this process when its parent ends, even by SIGKILL."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signum))


def _answers(port: int) -> bool:
    connection = HTTPConnection("127.0.0.1", port, timeout=1)
    try:
        connection.request("GET", "/healthz")
        return connection.getresponse().status == 200
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()


def _start_server(port: int, waiting: int) -> subprocess.Popen[bytes]:
    arguments = [*GUNICORN, "--bind", f"127.0.0.1:{port}"]
    return _start("gunicorn", *arguments, pass_fds=[waiting], WAITS_FOR=str(waiting))


def _start(
    program: str, *arguments: str, pass_fds: Sequence[int] = (), **variables: str
) -> subprocess.Popen[bytes]:
    # In its own process group: Ctrl-C reaches only this process, which then stops the others in order,
    # and processes that a child leaves behind can be found.
    command = [str(BIN / program), *arguments]
    # Celery prints a long warning for root, which would hide what to open.
    quiet = {"PYTHONWARNINGS": "ignore:::celery.platforms"}
    return subprocess.Popen(
        command,
        process_group=0,
        preexec_fn=die_with_parent,
        env=os.environ | quiet | variables,
        pass_fds=pass_fds,
    )


def _stop(children: Sequence[subprocess.Popen[bytes]]) -> None:
    for child in children:
        if child.poll() is None:
            child.terminate()
    deadline = time.monotonic() + GRACE_SECONDS
    for child in children:
        try:
            child.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
        _kill_group(child.pid)


def _kill_group(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main())
