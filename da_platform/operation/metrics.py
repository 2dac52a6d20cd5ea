"""Metrics for Prometheus: counters of the web processes, and the state of the database and the broker."""

import os
import time
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from importlib import import_module

from django.conf import settings
from django.db.models import Avg, Count, DurationField, ExpressionWrapper, F, Min
from django.utils import timezone
from prometheus_client import REGISTRY, CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from ..broker import queue_lengths
from ..jobs.models import Job
from .backups import BackupRefused, newest_backup
from .health import free_disk_share
from .signs import last_turn, workers_by_queue

# Seconds. Frequent requests cost no additional queries.
STATE_SECONDS = 10.0
RECENT = timedelta(hours=1)

_state: tuple[float, list[Metric]] | None = None


def exposition() -> bytes:
    """All metrics in Prometheus's text format."""
    registry = CollectorRegistry()
    if os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
        MultiProcessCollector(registry)
    else:
        registry.register(REGISTRY)
    registry.register(StateCollector())
    return generate_latest(registry)


class StateCollector(Collector):
    """Gauges from the database and the broker. No query reads ratings or texts."""

    def describe(self) -> list[Metric]:
        # Called on registration. Without it, everything would be collected twice.
        return []

    def collect(self) -> Iterator[Metric]:
        global _state
        if _state is None or time.monotonic() - _state[0] > STATE_SECONDS:
            _state = time.monotonic(), list(_state_metrics())
        yield from _state[1]


def forget_state() -> None:
    """Drop the cached state, so that the next request queries the database."""
    global _state
    _state = None


_registered: list[Callable[[], Iterator[Metric]]] = []


def state_metrics(collect: Callable[[], Iterator[Metric]]) -> Callable[[], Iterator[Metric]]:
    """Register the decorated function as a source of metrics; see `settings.MONITORING_MODULES`."""
    _registered.append(collect)
    return collect


def _collectors() -> list[Callable[[], Iterator[Metric]]]:
    for module in settings.MONITORING_MODULES:
        import_module(module)
    return _registered


def _state_metrics() -> Iterator[Metric]:
    yield from _jobs()
    for collect in _collectors():
        yield from collect()
    queues = GaugeMetricFamily(
        "da_queue_length", "Messages waiting at the broker; absent if it is down", labels=["queue"]
    )
    for name, length in (queue_lengths() or {}).items():
        queues.add_metric([name], length)
    yield queues
    yield from _signs()
    yield from _machine()


def _signs() -> Iterator[Metric]:
    workers = GaugeMetricFamily(
        "da_queue_workers", "Celery workers with a recent sign of life", labels=["queue"]
    )
    for name, signs in workers_by_queue().items():
        workers.add_metric([name], len(signs))
    yield workers
    turn = last_turn()
    at = turn.at if turn else None
    yield _age("da_schedule_age_seconds", "Time since the schedule last ran", at)


def _machine() -> Iterator[Metric]:
    yield GaugeMetricFamily(
        "da_disk_free_share", "Free space on the data disk", value=free_disk_share()
    )
    yield _age("da_backup_age_seconds", "Since the newest backup was made", _newest_backup_at())


def _age(name: str, documentation: str, since: datetime | None) -> Metric:
    """Seconds since a moment. Without one the metric is absent, which alerts check for too."""
    metric = GaugeMetricFamily(name, documentation, labels=[])
    if since:
        metric.add_metric([], (timezone.now() - since).total_seconds())
    return metric


def _newest_backup_at() -> datetime | None:
    """When the newest backup was made. An unreadable one does not count; the health page says why."""
    try:
        newest = newest_backup()
    except (BackupRefused, OSError):
        return None
    return newest.made_at if newest else None


def _jobs() -> Iterator[Metric]:
    unfinished = Job.objects.unfinished()
    states = {Job.State.QUEUED.value: 0, Job.State.RUNNING.value: 0}
    states |= dict(unfinished.order_by().values_list("state").annotate(n=Count("pk")))
    jobs = GaugeMetricFamily("da_jobs", "Unfinished jobs", labels=["state"])
    for state, n in states.items():
        jobs.add_metric([state], n)
    yield jobs
    oldest = unfinished.filter(state=Job.State.QUEUED).aggregate(at=Min("created_at"))["at"]
    waiting = (timezone.now() - oldest).total_seconds() if oldest else 0.0
    yield GaugeMetricFamily(
        "da_job_oldest_waiting_seconds",
        "Of the oldest queued job",
        value=waiting,
    )
    yield from _recent_jobs()


def _recent_jobs() -> Iterator[Metric]:
    """Jobs that ended within the last hour. Not a counter, because jobs are retried and deleted."""
    since = timezone.now() - RECENT
    finished = GaugeMetricFamily(
        "da_jobs_last_hour",
        "Jobs that ended within the last hour, by outcome",
        labels=["kind", "state"],
    )
    seconds = GaugeMetricFamily(
        "da_job_mean_seconds", "Run time of jobs that ended within the last hour", labels=["kind"]
    )
    took = ExpressionWrapper(F("finished_at") - F("started_at"), output_field=DurationField())
    ended = Job.objects.filter(finished_at__gte=since).order_by()
    for kind, state, n in ended.values_list("kind", "state").annotate(n=Count("pk")):
        finished.add_metric([kind, state], n)
    timed = ended.filter(started_at__isnull=False)
    for kind, mean in timed.values_list("kind").annotate(mean=Avg(took)):
        seconds.add_metric([kind], mean.total_seconds())
    yield finished
    yield seconds
