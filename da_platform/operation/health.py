"""Health checks: a few for load balancers, more for people."""

import enum
import os
import platform
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from importlib import import_module
from pathlib import Path

import django
from django.conf import settings
from django.db import DatabaseError, Error, connection
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from .. import __version__, replica
from ..broker import queue_lengths
from ..jobs.models import Job
from ..places import PROGRAM
from .backups import BackupRefused, newest_backup
from .signs import RECENT, last_turn, workers_by_queue

SLOW_DATABASE_SECONDS = 0.1
MANY_WAITING_MESSAGES = 1_000
FULL_DISK_SHARE = 0.1
# With less free space on the disk of the data folder or the database, visitors are sent elsewhere: enough for
# the write-ahead log and the largest upload, so that what was accepted can still be stored.
MIN_FREE_BYTES = 300_000_000
OLD_BACKUP = timedelta(days=2)


class State(enum.StrEnum):
    GOOD = "good"
    WARNING = "warning"
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check, and what to do if something is wrong."""

    name: str
    state: State
    details: str


Check = Callable[[], tuple[State, str]]

# For a load balancer -------------------------------------------------------------------------

_is_migrated = False


def readiness() -> dict[str, bool]:
    """The checks that decide whether a load balancer sends visitors here."""
    is_there = has_database()
    return {
        "database": is_there,
        "migrations": is_there and has_all_migrations(),
        "writable": is_there and has_room() and can_write(),
        "broker": queue_lengths() is not None,
    }


def is_ready(answers: dict[str, bool]) -> bool:
    # Not the broker: ratings are stored without it, and the schedule catches up on what it would have started.
    return answers["database"] and answers["migrations"] and answers["writable"]


def has_database() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
            return cursor.fetchone() is not None
    except Error:
        return False


def has_room() -> bool:
    """Whether our folders are writable and their disks have room, without writing anything."""
    try:
        return all(_has_room(folder) for folder in _folders())
    except OSError:
        return False


def _folders() -> list[Path]:
    """Where the platform writes: the data folder, and SQLite's, or what exists above them."""
    folders = [settings.DATA_DIR]
    if connection.vendor == "sqlite":
        folders.append(Path(connection.settings_dict["NAME"]).absolute().parent)
    return [next(p for p in (folder, *folder.parents) if p.exists()) for folder in folders]


def _has_room(folder: Path) -> bool:
    disk = os.statvfs(folder)
    # Some file systems do not count their files.
    has_files_left = disk.f_files == 0 or disk.f_favail > 0
    has_bytes_left = disk.f_bavail * disk.f_frsize >= MIN_FREE_BYTES
    return has_bytes_left and has_files_left and os.access(folder, os.W_OK)


def can_write() -> bool:
    """Whether the database accepts writes: not a read-only file, a standby or a server set to read only."""
    if connection.vendor == "sqlite":
        # A database in memory has no file.
        path = Path(connection.settings_dict["NAME"])
        return not path.exists() or os.access(path, os.W_OK)
    try:
        with connection.cursor() as cursor:
            cursor.execute("SHOW transaction_read_only")
            return bool(cursor.fetchone() == ("off",))
    except Error:
        return False


def has_all_migrations() -> bool:
    """Whether all migrations are applied. Once they are, this is not checked again."""
    global _is_migrated
    if not _is_migrated:
        try:
            _is_migrated = not _missing_migrations()
        except DatabaseError:
            return False
    return _is_migrated


def _missing_migrations() -> list[str]:
    executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    return [str(migration) for migration, _ in plan]


# For people ----------------------------------------------------------------------------------


def findings() -> list[Finding]:
    """Run every check. A check that cannot run is a bad finding, not an error."""
    for module in settings.MONITORING_MODULES:
        import_module(module)
    checks = _checks | ({"Replica": _replica} if replica.has_replica() else {})
    return [_finding(name, check) for name, check in checks.items()]


def _finding(name: str, check: Check) -> Finding:
    try:
        state, details = check()
    except (DatabaseError, OSError) as error:
        state, details = State.BAD, f"The check failed: {type(error).__name__}."
    return Finding(name, state, details)


def _database() -> tuple[State, str]:
    started = time.perf_counter()
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
        seconds = time.perf_counter() - started
        details = f"{database_version()}, {_database_bytes() / 1e6:,.1f} MB, responds in {1000 * seconds:.1f} ms."
    if seconds > SLOW_DATABASE_SECONDS:
        return State.WARNING, f"{details} That is slow: look for long queries or a busy machine."
    return State.GOOD, details


def database_version() -> str:
    if connection.vendor == "sqlite":
        return f"SQLite {sqlite3.sqlite_version}"
    with connection.cursor() as cursor:
        cursor.execute("SHOW server_version")
        return f"PostgreSQL {cursor.fetchone()[0]}"


def _database_bytes() -> int:
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")
        else:
            cursor.execute("SELECT pg_database_size(current_database())")
        return int(cursor.fetchone()[0])


def _replica() -> tuple[State, str]:
    try:
        seconds = replica.seconds_behind()
    except DatabaseError:
        return (
            State.WARNING,
            "It does not respond. Gold and exports read the primary database meanwhile.",
        )
    if seconds > replica.PATIENCE_SECONDS:
        details = f"It is more than {replica.PATIENCE_SECONDS:g} s behind."
        return State.WARNING, f"{details} Gold and exports read the primary database meanwhile."
    return State.GOOD, f"It is {1000 * seconds:.0f} ms behind."


def _migrations() -> tuple[State, str]:
    if missing := _missing_migrations():
        return (
            State.BAD,
            f"{len(missing)} missing, the first is {missing[0]}: run {PROGRAM} migrate.",
        )
    return State.GOOD, "All migrations are applied."


def _broker() -> tuple[State, str]:
    lengths = queue_lengths()
    if lengths is None:
        return (
            State.BAD,
            "It does not respond. Ratings are still stored; jobs wait until it is back.",
        )
    details = ", ".join(f"{n:,} waiting in {name}" for name, n in lengths.items())
    if max(lengths.values()) > MANY_WAITING_MESSAGES:
        return State.WARNING, f"{details}. Start more Celery workers."
    return State.GOOD, f"It responds: {details}."


def _workers() -> tuple[State, str]:
    by_queue = workers_by_queue()
    signs = sorted({str(sign) for served in by_queue.values() for sign in served})
    last = f"Seen recently: {', '.join(signs)}." if signs else "None seen in the last five minutes."
    unserved = [queue for queue, served in by_queue.items() if not served]
    if not unserved:
        return State.GOOD, last
    details = (
        f"No worker serves {' and '.join(unserved)}: start celery worker -Q {','.join(unserved)}."
    )
    return (State.WARNING if signs else State.BAD), f"{details} {last}"


def _schedule() -> tuple[State, str]:
    turn = last_turn()
    if turn and turn.at >= timezone.now() - RECENT:
        return State.GOOD, f"Running; last run by {turn}."
    since = f"last run by {turn}" if turn else "never so far"
    details = "start celery beat and a worker for quick, or cron with do_chores."
    return State.BAD, f"It has not run in the last five minutes ({since}): {details}"


def _jobs() -> tuple[State, str]:
    now = timezone.now()
    unfinished = Job.objects.unfinished()
    silent = now - timedelta(seconds=3 * settings.JOB_STALE_SECONDS)
    n_stuck = unfinished.filter(heartbeat_at__lt=silent).count()
    yesterday = now - timedelta(days=1)
    n_failed = Job.objects.filter(state=Job.State.FAILED, finished_at__gte=yesterday).count()
    details = (
        f"{unfinished.count():,} unfinished, {n_stuck:,} stuck, {n_failed:,} failed within a day."
    )
    if n_stuck:
        return State.BAD, f"{details} Stuck jobs are not being restarted: is the schedule running?"
    return (State.WARNING if n_failed else State.GOOD), details


def _backup() -> tuple[State, str]:
    try:
        newest = newest_backup()
    except BackupRefused as refusal:
        return State.BAD, f"The newest cannot be read: {refusal}"
    if newest is None:
        return (
            State.WARNING,
            f"There is none in {settings.BACKUP_DIR}: run {PROGRAM} backup daily.",
        )
    details = f"{newest.made_at:%Y-%m-%d %H:%M} UTC, {newest.n_bytes / 1e6:,.1f} MB."
    if timezone.now() - newest.made_at > OLD_BACKUP:
        return State.WARNING, f"{details} That is more than two days ago."
    return State.GOOD, details


def _disk_usage() -> "shutil._ntuple_diskusage":
    return shutil.disk_usage(settings.DATA_DIR if settings.DATA_DIR.exists() else "/")


def free_disk_share() -> float:
    usage = _disk_usage()
    return usage.free / usage.total


def _disk() -> tuple[State, str]:
    usage = _disk_usage()
    details = f"{usage.free / 1e9:,.1f} GB of {usage.total / 1e9:,.1f} GB are free."
    if not has_room():
        needed = f"{MIN_FREE_BYTES / 1e9:,.1f} GB"
        return State.BAD, f"{details} The platform needs {needed} in folders that it can write to."
    is_full = usage.free < FULL_DISK_SHARE * usage.total
    return (State.WARNING, f"{details} Free up some space.") if is_full else (State.GOOD, details)


def _versions() -> tuple[State, str]:
    versions = [f"DA Platform {__version__}", f"Django {django.__version__}"]
    versions += [f"Python {platform.python_version()}", platform.platform(terse=True)]
    return State.GOOD, ", ".join(versions)


_checks: dict[str, Check] = {
    "Database": _database,
    "Migrations": _migrations,
    "Broker": _broker,
    "Celery workers": _workers,
    "Schedule": _schedule,
    "Jobs": _jobs,
    "Last backup": _backup,
    "Disk": _disk,
    "Versions": _versions,
}


def health_check(name: str) -> Callable[[Check], Check]:
    """Register the decorated function as a check. It must be in one of the `settings.MONITORING_MODULES`."""

    def register(check: Check) -> Check:
        _checks[name] = check
        return check

    return register


def worst(findings: list[Finding]) -> State:
    order: Iterator[State] = reversed(State)
    return next(state for state in order if any(finding.state == state for finding in findings))
