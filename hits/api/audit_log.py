"""API: the audit log, for campaign admins."""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest
from ninja import Query, Router, Schema
from ninja.pagination import paginate

from ..models import AuditEntry
from ..people.access import Standing
from ..people.audit import visible_entries
from .auth import Needs, Scope
from .field_types import Name

router = Router(tags=["Audit log"])


class AuditEntryOut(Schema):
    """Who did what, when and why. `by` is null for actions of the platform itself."""

    at: datetime
    action: str
    by: str | None
    campaign: UUID | None
    worker: str | None
    reason: str
    details: dict[str, Any]

    @staticmethod
    def resolve_by(entry: AuditEntry) -> str | None:
        return entry.actor.get_username() if entry.actor else None

    @staticmethod
    def resolve_campaign(entry: AuditEntry) -> UUID | None:
        return entry.campaign.code if entry.campaign else None

    @staticmethod
    def resolve_worker(entry: AuditEntry) -> str | None:
        return str(entry.worker) if entry.worker else None


class AuditFilter(Schema):
    campaign: UUID | None = None
    action: Name | None = None
    by: Name | None = None
    since: datetime | None = None
    until: datetime | None = None


_LOOKUPS = {
    "campaign": "campaign__code",
    "action": "action",
    "by": "actor__username",
    "since": "at__gte",
    "until": "at__lt",
}


# Both scopes, because the log is about workers and about payments.
@router.get("", response=list[AuditEntryOut], auth=Needs(Scope.DECIDE, Scope.PAY))
@paginate
def list_audit_entries(request: HttpRequest, filters: Query[AuditFilter]) -> QuerySet[AuditEntry]:
    """List every change to how ratings count or what is owed, newest first."""
    if not Standing(request.user).runs_campaigns:
        raise PermissionDenied("Only campaign admins may do this.")
    values = filters.model_dump(exclude_none=True)
    lookups = {_LOOKUPS[name]: value for name, value in values.items()}
    return visible_entries(request.user).filter(**lookups)
