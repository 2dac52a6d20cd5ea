"""Measure time and memory, and run functions in separate processes."""

import importlib
import inspect
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
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
