"""The audit log: one line for everything that changes how ratings count or what is owed."""

from typing import Any

from django.contrib.auth.models import User

from .models import AuditEntry, Campaign, Worker


def record(
    action: str,
    *,
    actor: User | None = None,
    campaign: Campaign | None = None,
    worker: Worker | None = None,
    reason: str = "",
    **details: Any,
) -> AuditEntry:
    """Add a line to the log; without an actor, the platform itself acted."""
    return AuditEntry.objects.create(
        action=action,
        actor=actor,
        campaign=campaign,
        worker=worker,
        reason=reason,
        details=details,
    )
