"""Recent activity in a campaign: audit log entries and submitted HITs, newest first."""

from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter

from django.db.models import Q, QuerySet

from ..models import Assignment, AuditEntry, Campaign

N_EVENTS = 12

# A test checks that the name of every payment action contains one of these.
_IS_ABOUT_MONEY = Q(action__contains="pay") | Q(action__contains="reject")


@dataclass(frozen=True, slots=True)
class Event:
    at: datetime
    what: str
    who: str
    worker: str
    why: str


def latest_submissions(campaign: Campaign, *, limit: int = N_EVENTS) -> list[int]:
    """Return the keys of the latest submitted assignments."""
    submitted = Assignment.objects.submitted().filter(hit__campaign=campaign)
    return list(submitted.order_by("-submitted_at").values_list("pk", flat=True)[:limit])


def recent_events(
    campaign: Campaign, submissions: list[int], *, limit: int = N_EVENTS, names_workers: bool
) -> list[Event]:
    """Return the latest events, from the audit log and from `latest_submissions`.

    Without `names_workers`, workers, reasons and payments are left out.
    """
    entries = campaign.audit_entries.all()
    if not names_workers:
        entries = entries.exclude(_IS_ABOUT_MONEY)
    events = [*_from_log(entries, limit), *_submissions(submissions)]
    latest = sorted(events, key=attrgetter("at"), reverse=True)[:limit]
    if names_workers:
        return latest
    # A reason may mention a worker.
    return [Event(event.at, event.what, event.who, "", "") for event in latest]


def _from_log(entries: QuerySet[AuditEntry], limit: int) -> list[Event]:
    latest = entries.select_related("actor", "worker").order_by("-pk")[:limit]
    return [
        Event(
            at=entry.at,
            what=_deed(entry),
            who=entry.actor.get_username() if entry.actor else "",
            worker=str(entry.worker) if entry.worker else "",
            why=entry.reason,
        )
        for entry in latest
    ]


def _deed(entry: AuditEntry) -> str:
    after = entry.details.get("after")
    if entry.worker_id and isinstance(after, str) and after != entry.action:
        return f"{entry.deed}: now {after}"
    return entry.deed


def _submissions(keys: list[int]) -> list[Event]:
    latest = Assignment.objects.filter(pk__in=keys).select_related("hit", "worker")
    return [
        Event(
            at=assignment.submitted_at,
            what=f"HIT {assignment.hit.number} submitted",
            who="",
            worker=str(assignment.worker),
            why="after its place was given to someone else" if assignment.is_late else "",
        )
        for assignment in latest
        if assignment.submitted_at
    ]
