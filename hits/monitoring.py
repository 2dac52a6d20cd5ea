"""Health checks and Prometheus metrics about campaigns, assignments and workers."""

from collections.abc import Iterator
from datetime import timedelta

from django.db.models import Count, Q, Sum
from django.utils import timezone
from prometheus_client.core import GaugeMetricFamily, Metric

from da_platform.operation.health import State, health_check
from da_platform.operation.metrics import state_metrics

from .models import HIT, Assignment, Campaign, Participation

# Evidence normally follows a submission within seconds; after this long the chores missed it too.
LATE_EVIDENCE = timedelta(minutes=5)


@health_check("Chores")
def chores_are_done() -> tuple[State, str]:
    now = timezone.now()
    unweighed = Assignment.objects.submitted().filter(evidence_at=None)
    n_late = unweighed.filter(submitted_at__lt=now - LATE_EVIDENCE).count()
    n_overdue = Assignment.objects.in_progress().filter(expires_at__lt=now - LATE_EVIDENCE).count()
    summary = f"{n_late:,} submitted HITs without evidence, {n_overdue:,} expired assignments not released."
    if n_late or n_overdue:
        return State.WARNING, f"{summary} The chores have not run for five minutes."
    return State.GOOD, summary


@state_metrics
def collection() -> Iterator[Metric]:
    open_hits = HIT.objects.filter(campaign__status=Campaign.Status.OPEN)
    places = open_hits.aggregate(n=Sum("places_left"))["n"] or 0
    yield GaugeMetricFamily("da_places_open", "Places offered by open campaigns", value=places)
    assignments = GaugeMetricFamily("da_assignments", "By status", labels=["status"])
    by_status = dict.fromkeys(Assignment.Status.values, 0)
    by_status |= dict(Assignment.objects.order_by().values_list("status").annotate(n=Count("pk")))
    for status, n in by_status.items():
        assignments.add_metric([status], n)
    yield assignments
    unweighed = Assignment.objects.submitted().filter(evidence_at=None).count()
    yield GaugeMetricFamily(
        "da_assignments_unweighed", "Submitted assignments without evidence", value=unweighed
    )


@state_metrics
def workers() -> Iterator[Metric]:
    """Count workers by standing; trusted / (trusted + discarded) is the pass rate."""
    is_trusted = Q(pk__in=Participation.objects.trusted().values("pk"))
    is_discarded = Q(pk__in=Participation.objects.discarded().values("pk"))
    counts = Participation.objects.aggregate(
        all=Count("pk"),
        trusted=Count("pk", filter=is_trusted),
        discarded=Count("pk", filter=is_discarded),
    )
    counts["unproven"] = counts.pop("all") - counts["trusted"] - counts["discarded"]
    by_standing = GaugeMetricFamily(
        "da_workers", "Workers in campaigns, by standing", labels=["standing"]
    )
    for standing, n in counts.items():
        by_standing.add_metric([standing], n)
    yield by_standing
