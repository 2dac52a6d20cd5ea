"""What happened lately in a campaign: lines of the audit log and HITs handed in, newest first."""

from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter

from ..models import Assignment, AuditEntry, Campaign


@dataclass(frozen=True, slots=True)
class Event:
    at: datetime
    what: str
    who: str
    worker: str
    why: str


def recent_events(campaign: Campaign, *, limit: int, names_workers: bool) -> list[Event]:
    """The latest events; workers are named only to those who may know them."""
    events = [*_from_log(campaign, limit), *_submissions(campaign, limit)]
    latest = sorted(events, key=attrgetter("at"), reverse=True)[:limit]
    if names_workers:
        return latest
    # A reason that a person wrote may name a worker too.
    return [Event(event.at, event.what, event.who, "", "") for event in latest]


def _from_log(campaign: Campaign, limit: int) -> list[Event]:
    entries = campaign.audit_entries.select_related("actor", "worker").order_by("-pk")[:limit]
    return [
        Event(
            at=entry.at,
            what=_deed(entry),
            who=entry.actor.get_username() if entry.actor else "",
            worker=str(entry.worker) if entry.worker else "",
            why=entry.reason,
        )
        for entry in entries
    ]


def _deed(entry: AuditEntry) -> str:
    after = entry.details.get("after")
    return (
        f"{entry.action} to {after}" if entry.worker_id and isinstance(after, str) else entry.action
    )


def _submissions(campaign: Campaign, limit: int) -> list[Event]:
    latest = (
        Assignment.objects.submitted()
        .filter(hit__campaign=campaign)
        .select_related("hit", "worker")
        .order_by("-submitted_at")[:limit]
    )
    return [
        Event(
            at=assignment.submitted_at,
            what=f"HIT {assignment.hit.number} handed in",
            who="",
            worker=str(assignment.worker),
            why="after its place had been given away" if assignment.is_late else "",
        )
        for assignment in latest
        if assignment.submitted_at
    ]
