"""What happened lately in a campaign: lines of the audit log and HITs handed in, newest first."""

from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter

from ..models import Assignment, AuditEntry, Campaign

N_EVENTS = 12


@dataclass(frozen=True, slots=True)
class Event:
    at: datetime
    what: str
    who: str
    worker: str
    why: str


def latest_submissions(campaign: Campaign, *, limit: int = N_EVENTS) -> list[int]:
    """The keys of the assignments that were handed in last."""
    handed_in = Assignment.objects.submitted().filter(hit__campaign=campaign)
    return list(handed_in.order_by("-submitted_at").values_list("pk", flat=True)[:limit])


def recent_events(
    campaign: Campaign, submissions: list[int], *, limit: int = N_EVENTS, names_workers: bool
) -> list[Event]:
    """The latest events, from the log and from the `latest_submissions`.

    Workers are named only to those who may know them.
    """
    events = [*_from_log(campaign, limit), *_submissions(submissions)]
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


def _submissions(keys: list[int]) -> list[Event]:
    latest = Assignment.objects.filter(pk__in=keys).select_related("hit", "worker")
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
