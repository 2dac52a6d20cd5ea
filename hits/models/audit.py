"""The audit log: who decided what, and why."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from .campaigns import Campaign
from .workers import Worker


class AuditEntry(models.Model):
    """Who did what, when and why. The database refuses to change or delete an entry."""

    at = models.DateTimeField(default=timezone.now, db_index=True)
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.PROTECT,
        null=True,
        related_name="audit_entries",
        help_text="Empty if the platform itself acted.",
    )
    action = models.CharField(max_length=40)
    campaign = models.ForeignKey(Campaign, models.PROTECT, null=True, related_name="audit_entries")
    worker = models.ForeignKey(Worker, models.PROTECT, null=True, related_name="audit_entries")
    reason = models.TextField(blank=True)
    details = models.JSONField(default=dict)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(name="audit_entry_names_its_action", condition=~Q(action="")),
        ]

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M} {self.action}"

    @property
    def deed(self) -> str:
        """The action as words, since some actions are function names."""
        return self.action.replace("_", " ")
