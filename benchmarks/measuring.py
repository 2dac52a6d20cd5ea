"""Measure time and memory, and run functions in separate processes."""

import importlib
import inspect
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from tests.subprocesses import CHECKOUT

Result = TypeVar("Result")


def in_own_process(
    function: Callable[..., Any], *, environment: Mapping[str, str] = os.environ, **arguments: Any
) -> Any:
    """Call the function in a new process, with its own memory and caches.

    Arguments and result are passed as JSON. Paths arrive as strings.
    """
    module = inspect.getmodule(function)
    assert module and module.__spec__
    command = [sys.executable, "-m", "benchmarks.measuring", module.__spec__.name]
    command += [function.__name__, json.dumps(arguments, default=str)]
    process = subprocess.run(
        command, cwd=CHECKOUT, env=environment, check=True, stdout=subprocess.PIPE, text=True
    )
    return json.loads(process.stdout)


def peak_megabytes() -> float:
    """This process's peak memory. (Linux starts `ru_maxrss` at the parent's peak.)"""
    with open("/proc/self/status") as status:
        lines = dict(line.split(":", 1) for line in status)
    return int(lines["VmHWM"].split()[0]) / 1024


class PeakOfChildren:
    """The greatest memory of this process's children and all their descendants together, sampled while it is open.

    Pages that processes share count once (proportional set size).
    """

    def __init__(self, every_seconds: float = 0.05) -> None:
        self._every_seconds = every_seconds
        self._is_done = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)
        self.megabytes = 0.0

    def __enter__(self) -> "PeakOfChildren":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_done.set()
        self._thread.join()

    def _sample(self) -> None:
        while not self._is_done.wait(self._every_seconds):
            total = sum(map(_proportional_megabytes, _descendants(os.getpid())))
            self.megabytes = max(self.megabytes, total)


def _descendants(pid: int) -> list[int]:
    """Return the processes that a process started, and those that they started."""
    try:
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
        children = [
            int(child) for task in tasks for child in (task / "children").read_text().split()
        ]
    except OSError:
        # It has ended.
        return []
    return [each for child in children for each in (child, *_descendants(child))]


def _proportional_megabytes(pid: int) -> float:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


def best_of(
    work: Callable[[], Result],
    *,
    max_runs: int = 5,
    enough_seconds: float = 20.0,
    clock: Callable[[], float] = time.perf_counter,
) -> tuple[float, Result]:
    """Return the shortest of several times, and the result.

    The longer times show what else the machine was doing. No run starts after `enough_seconds`, so a
    slow machine makes fewer.
    """
    times: list[float] = []
    while len(times) < max_runs and sum(times) < enough_seconds:
        start = clock()
        result = work()
        times.append(clock() - start)
    return min(times), result


def affordable(wanted: int, *, measured: int, took: float, seconds: float) -> int:
    """Return `wanted`, or as much as fits into `seconds` if `measured` of it took `took` seconds."""
    return max(1, min(wanted, int(measured * seconds / max(took, 1e-6))))


if __name__ == "__main__":
    module_name, function_name, arguments_as_json = sys.argv[1:]
    called = getattr(importlib.import_module(module_name), function_name)
    print(json.dumps(called(**json.loads(arguments_as_json))))
