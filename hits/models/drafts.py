"""Campaigns that are not imported yet."""

import uuid

from django.conf import settings
from django.db import models
from django.utils import timezone


class CampaignDraft(models.Model):
    """What an admin has entered for a new campaign. Deleted after the import, or after some days."""

    code = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="drafts")
    created_at = models.DateTimeField(default=timezone.now, db_index=True)
    basics = models.JSONField(default=dict, help_text="Name, languages and task.")
    options = models.JSONField(default=dict, help_text="How to read the files.")
    settings = models.JSONField(default=dict)
    files = models.JSONField(default=list, help_text="Names and sizes of the uploaded files.")
    job_code = models.UUIDField(null=True, blank=True, help_text="The job that imports it.")

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return str(self.basics.get("name", "new campaign"))

    @property
    def n_bytes(self) -> int:
        return sum(file["size"] for file in self.files)
