"""How the platform fares: a few questions for a load balancer, more of them for people."""

import enum
import platform
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta

import django
from django.conf import settings
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from analysis.models import Job
from analysis.stats import __version__
from hits.models import Assignment

from .. import replica
from .backups import BackupRefused, newest_backup
from .broker import queue_lengths
from .signs import RECENT, last_turn, workers_by_queue

SLOW_DATABASE_SECONDS = 0.1
MANY_WAITING_MESSAGES = 1_000
FULL_DISK_SHARE = 0.1
# Evidence follows a submission within seconds; what lies longer has been missed by the chores too.
LATE_EVIDENCE = timedelta(minutes=5)
OLD_BACKUP = timedelta(days=2)


class State(enum.StrEnum):
    GOOD = "good"
    WARNING = "warning"
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at, how it is, and where it is not well, what to do."""

    name: str
    state: State
    says: str


# For a load balancer -------------------------------------------------------------------------

_is_migrated = False


def readiness() -> dict[str, bool]:
    """Answer what a load balancer asks before it sends people here."""
    is_there = has_database()
    return {
        "database": is_there,
        "migrations": is_there and has_all_migrations(),
        "broker": queue_lengths() is not None,
    }


def is_ready(answers: dict[str, bool]) -> bool:
    # Not the broker: ratings are stored without it, and what it would have started is made good later.
    return answers["database"] and answers["migrations"]


def has_database() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
            return cursor.fetchone() is not None
    except DatabaseError:
        return False


def has_all_migrations() -> bool:
    """Whether the database has what this code needs; once it has, that is not asked again."""
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
    """Look at everything; whatever cannot be looked at is a bad finding, not an error."""
    looks = LOOKS | ({"Replica": _replica} if replica.has_replica() else {})
    return [_looked_at(name, look) for name, look in looks.items()]


def _looked_at(name: str, look: Callable[[], tuple[State, str]]) -> Finding:
    try:
        state, says = look()
    except (DatabaseError, OSError) as error:
        state, says = State.BAD, f"It could not be looked at: {type(error).__name__}."
    return Finding(name, state, says)


def _database() -> tuple[State, str]:
    started = time.perf_counter()
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
        seconds = time.perf_counter() - started
        says = f"{database_version()}, {_database_bytes() / 1e6:,.1f} MB, answers in {1000 * seconds:.1f} ms."
    if seconds > SLOW_DATABASE_SECONDS:
        return State.WARNING, f"{says} That is slow: look for long queries or a busy machine."
    return State.GOOD, says


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
        return State.WARNING, "It is away. Gold and exports read the database itself meanwhile."
    if seconds > replica.PATIENCE_SECONDS:
        says = f"It is more than {replica.PATIENCE_SECONDS:g} s behind."
        return State.WARNING, f"{says} Gold and exports read the database itself meanwhile."
    return State.GOOD, f"It had everything after {1000 * seconds:.0f} ms."


def _migrations() -> tuple[State, str]:
    if missing := _missing_migrations():
        return (
            State.BAD,
            f"{len(missing)} are missing, the first is {missing[0]}: run manage.py migrate.",
        )
    return State.GOOD, "The database has what this version needs."


def _broker() -> tuple[State, str]:
    lengths = queue_lengths()
    if lengths is None:
        return State.BAD, "It does not answer. Ratings are stored all the same; jobs wait for it."
    says = ", ".join(f"{n:,} waiting in {name}" for name, n in lengths.items())
    if max(lengths.values()) > MANY_WAITING_MESSAGES:
        return State.WARNING, f"{says}. Start more workers of the queue."
    return State.GOOD, f"It answers: {says}."


def _workers() -> tuple[State, str]:
    by_queue = workers_by_queue()
    signs = sorted({str(sign) for served in by_queue.values() for sign in served})
    told = f"There lately: {', '.join(signs)}." if signs else "None was there within five minutes."
    unserved = [queue for queue, served in by_queue.items() if not served]
    if not unserved:
        return State.GOOD, told
    says = f"Nobody serves {' and '.join(unserved)}: start celery worker -Q {','.join(unserved)}."
    return (State.WARNING if signs else State.BAD), f"{says} {told}"


def _schedule() -> tuple[State, str]:
    turn = last_turn()
    if turn and turn.at >= timezone.now() - RECENT:
        return State.GOOD, f"It is kept by {turn}."
    since = f"not since {turn}" if turn else "not so far"
    says = "start celery beat and a worker for quick, or cron with do_chores."
    return State.BAD, f"Nobody has kept it within five minutes, {since}: {says}"


def _jobs() -> tuple[State, str]:
    now = timezone.now()
    unfinished = Job.objects.unfinished()
    silent = now - timedelta(seconds=3 * settings.JOB_STALE_SECONDS)
    n_stuck = unfinished.filter(heartbeat_at__lt=silent).count()
    yesterday = now - timedelta(days=1)
    n_failed = Job.objects.filter(state=Job.State.FAILED, finished_at__gte=yesterday).count()
    says = (
        f"{unfinished.count():,} unfinished, {n_stuck:,} stuck, {n_failed:,} failed within a day."
    )
    if n_stuck:
        return State.BAD, f"{says} Nobody sweeps them up: is the schedule running?"
    return (State.WARNING if n_failed else State.GOOD), says


def _evidence() -> tuple[State, str]:
    now = timezone.now()
    unweighed = Assignment.objects.submitted().filter(evidence_at=None)
    n_late = unweighed.filter(submitted_at__lt=now - LATE_EVIDENCE).count()
    overdue = Assignment.objects.in_progress().filter(expires_at__lt=now - LATE_EVIDENCE).count()
    says = f"{n_late:,} HITs wait for their evidence, {overdue:,} expired places for their release."
    if n_late or overdue:
        return State.WARNING, f"{says} The chores have not come by for five minutes."
    return State.GOOD, says


def _backup() -> tuple[State, str]:
    try:
        newest = newest_backup()
    except BackupRefused as refusal:
        return State.BAD, f"The newest cannot be read: {refusal}"
    if newest is None:
        return (
            State.WARNING,
            f"There is none in {settings.BACKUP_DIR}: run manage.py backup, daily.",
        )
    says = f"{newest.made_at:%Y-%m-%d %H:%M} UTC, {newest.n_bytes / 1e6:,.1f} MB."
    if timezone.now() - newest.made_at > OLD_BACKUP:
        return State.WARNING, f"{says} That is more than two days ago."
    return State.GOOD, says


def _disk_usage() -> "shutil._ntuple_diskusage":
    return shutil.disk_usage(settings.DATA_DIR if settings.DATA_DIR.exists() else "/")


def free_disk_share() -> float:
    usage = _disk_usage()
    return usage.free / usage.total


def _disk() -> tuple[State, str]:
    usage = _disk_usage()
    says = f"{usage.free / 1e9:,.1f} GB of {usage.total / 1e9:,.1f} GB are free."
    is_full = usage.free < FULL_DISK_SHARE * usage.total
    return (State.WARNING, f"{says} Make room.") if is_full else (State.GOOD, says)


def _versions() -> tuple[State, str]:
    versions = [f"DA Platform {__version__}", f"Django {django.__version__}"]
    versions += [f"Python {platform.python_version()}", platform.platform(terse=True)]
    return State.GOOD, ", ".join(versions)


LOOKS: dict[str, Callable[[], tuple[State, str]]] = {
    "Database": _database,
    "Migrations": _migrations,
    "Broker": _broker,
    "Workers of the queue": _workers,
    "Schedule": _schedule,
    "Jobs": _jobs,
    "Chores": _evidence,
    "Last backup": _backup,
    "Disk": _disk,
    "Versions": _versions,
}


def worst(found: list[Finding]) -> State:
    order: Iterator[State] = reversed(State)
    return next(state for state in order if any(one.state == state for one in found))
