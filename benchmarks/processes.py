"""What the processes of a run use: processor time and memory, as Linux counts them."""

import os
from collections.abc import Iterable
from pathlib import Path

import psycopg

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


def children_of(pid: int) -> list[int]:
    found = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        found += [int(child) for child in (task / "children").read_text().split()]
    return found


def processor_seconds(pids: Iterable[int]) -> float:
    """Time on a processor since each process began, in user mode and in the kernel."""
    return sum(sum(_times_of(pid)[:2]) for pid in pids)


def family_seconds(pid: int) -> float:
    """The same for a process and its children, also for those that have ended meanwhile."""
    return sum(_times_of(pid)) + processor_seconds(children_of(pid))


def _times_of(pid: int) -> list[float]:
    """User and system time of a process, then those of the children it has buried."""
    try:
        # After the name, which may hold anything; these are fields 14 to 17.
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return [0.0] * 4
    return [int(ticks) / TICKS_PER_SECOND for ticks in fields[11:15]]


def memory_mb(pid: int) -> tuple[float, float] | None:
    """Return RSS and PSS: with all shared pages, and with this process's part of them. None: it has ended."""
    sizes = {}
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]
    except (FileNotFoundError, ProcessLookupError):
        return None
    for line in lines:
        name, size = line.split()[:2]
        sizes[name] = int(size) / 1024
    return sizes["Rss:"], sizes["Pss:"]


def postmaster_of(database_url: str) -> int | None:
    """The main process of a PostgreSQL server on this machine; None for SQLite."""
    if not database_url.startswith("postgres"):
        return None
    with psycopg.connect(database_url) as connection:
        # Asked of the server: a pooler makes a number of its own up.
        [pid] = connection.execute("SELECT pg_backend_pid()").fetchone() or [0]
        status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("PPid:")[2].split()[0])
