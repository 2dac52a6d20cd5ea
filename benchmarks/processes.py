"""Processor time and memory of other processes, from Linux's /proc."""

import os
from collections.abc import Iterable
from pathlib import Path

import psycopg

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


def children_of(pid: int) -> list[int]:
    lists = (path.read_text() for path in Path(f"/proc/{pid}/task").glob("*/children"))
    return [int(child) for children in lists for child in children.split()]


def processor_seconds(pids: Iterable[int]) -> float:
    """Processor time since each process started, in user mode and in the kernel."""
    return sum(sum(_times_of(pid)[:2]) for pid in pids)


def family_seconds(pid: int) -> float:
    """The same for a process and its children, including those that have ended."""
    return sum(_times_of(pid)) + processor_seconds(children_of(pid))


def _times_of(pid: int) -> list[float]:
    """User and system time of a process, then those of its children that have ended."""
    try:
        # Fields 14 to 17, counted after the name, which may contain anything.
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return [0.0] * 4
    return [int(ticks) / TICKS_PER_SECOND for ticks in fields[11:15]]


def memory_mb(pid: int) -> tuple[float, float] | None:
    """Return RSS and PSS, with all shared pages and with a share of them; None if the process has ended."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]
    except (FileNotFoundError, ProcessLookupError):
        return None
    sizes = {line.split()[0]: int(line.split()[1]) / 1024 for line in lines}
    return sizes["Rss:"], sizes["Pss:"]


def postmaster_of(database_url: str) -> int | None:
    """The main process of a PostgreSQL server on this machine; None for SQLite."""
    if not database_url.startswith("postgres"):
        return None
    with psycopg.connect(database_url) as connection:
        # The connection's own process id would be the pooler's if there is one.
        [pid] = connection.execute("SELECT pg_backend_pid()").fetchone() or [0]
        status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("PPid:")[2].split()[0])
