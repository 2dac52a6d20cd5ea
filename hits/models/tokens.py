"""API tokens, with which programs act for a person."""

import uuid

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils import timezone


class ApiTokenQuerySet(models.QuerySet["ApiToken"]):
    def valid(self) -> "ApiTokenQuerySet":
        return self.filter(
            revoked_at=None, expires_at__gt=timezone.now(), user__is_active=True
        ).select_related("user")


class ApiToken(models.Model):
    """A person's key to the API. Only its hash is stored; it can do no more than the person can."""

    class Scope(models.TextChoices):
        READ = "read", "Read campaigns, scores, evaluations and jobs"
        RUN = "run", "Change campaigns, start jobs, upload scores"
        DECIDE = "decide", "See workers and decide about them"
        PAY = "pay", "See payments, plan and confirm them"
        PEOPLE = "people", "See and change who may log in (superusers)"

    code = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=100, help_text="What it is for.")
    # The token is 256 random bits, so a plain hash is enough.
    digest = models.CharField(max_length=64, unique=True, editable=False)
    scopes = models.JSONField(default=list)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)

    objects = ApiTokenQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(name="api_token_has_a_name", condition=~Q(name="")),
            models.CheckConstraint(
                name="api_token_expires_after_its_making",
                condition=Q(expires_at__gt=F("created_at")),
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_valid(self) -> bool:
        return self.revoked_at is None and self.expires_at > timezone.now()
