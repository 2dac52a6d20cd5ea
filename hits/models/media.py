"""Pictures, sounds and videos that are the source of a segment, and captions of videos."""

import uuid
from pathlib import Path

from django.conf import settings
from django.db import models
from django.db.models import Q

from .campaigns import Campaign


class MediaFile(models.Model):
    """A file that workers see or hear. Its content is in the data folder, under a random name."""

    class Kind(models.TextChoices):
        IMAGE = "image", "Picture"
        AUDIO = "audio", "Sound"
        VIDEO = "video", "Video"
        CAPTIONS = "captions", "Captions"

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="media_files")
    code = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    name = models.CharField(max_length=200, help_text="The file's path in the upload.")
    kind = models.CharField(max_length=8, choices=Kind.choices)
    content_type = models.CharField(max_length=40)
    n_bytes = models.PositiveIntegerField()
    sha256 = models.CharField(max_length=64)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint("campaign", "name", name="media_name_is_unique"),
            models.CheckConstraint(
                name="media_kind_is_known",
                condition=Q(kind__in=["image", "audio", "video", "captions"]),
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def path(self) -> Path:
        return Path(settings.MEDIA_DIR) / self.campaign.code.hex / self.code.hex
