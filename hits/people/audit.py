"""The audit log: an entry for everything that changes how ratings count or what is owed."""

from typing import Any

from django.contrib.auth.models import User
from django.db.models import QuerySet

from ..models import AuditEntry, Campaign, Worker
from .access import Level, Visitor, campaigns_of, has_level


def record(
    action: str,
    *,
    actor: User | None = None,
    campaign: Campaign | None = None,
    worker: Worker | None = None,
    reason: str = "",
    **details: Any,
) -> AuditEntry:
    """Add an entry to the log. Without an actor, the platform itself acted."""
    return AuditEntry.objects.create(
        action=action,
        actor=actor,
        campaign=campaign,
        worker=worker,
        reason=reason,
        details=details,
    )


def visible_entries(user: Visitor) -> QuerySet[AuditEntry]:
    """The entries of campaigns that a person administers. Platform-wide admins also see those without a campaign."""
    entries = AuditEntry.objects.select_related("actor", "campaign", "worker").order_by("-pk")
    if has_level(user, Level.ADMIN):
        return entries
    return entries.filter(campaign__in=campaigns_of(user, Level.ADMIN))
