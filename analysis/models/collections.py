"""Collections of uploaded scores, and uploaded gold and judgements."""

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from hits.models import Campaign

from .scores import Metric


class ScoreCollection(models.Model):
    """Uploaded scores and gold that do not belong to a campaign."""

    code = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    name = models.CharField(max_length=100)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="score_collections",
    )
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(name="collection_name_is_not_empty", condition=~Q(name="")),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def key(self) -> str:
        """The code as text, for job arguments."""
        return str(self.code)


class GoldUpload(models.Model):
    """Uploaded gold. The uploader declares whether higher or lower is better."""

    class Kind(models.TextChoices):
        DA = "da", "Direct assessment"
        HTER = "hter", "HTER"
        MQM = "mqm", "MQM"
        RANKING = "ranking", "Ranking"
        OTHER = "other", "Other"

    code = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    campaign = models.ForeignKey(
        Campaign, models.CASCADE, null=True, blank=True, related_name="gold_uploads"
    )
    collection = models.ForeignKey(
        ScoreCollection, models.CASCADE, null=True, blank=True, related_name="gold_uploads"
    )
    name = models.CharField(max_length=200)
    kind = models.CharField(max_length=7, choices=Kind.choices)
    level = models.CharField(max_length=7, choices=Metric.Level.choices)
    higher_is_better = models.BooleanField()
    file_name = models.CharField(max_length=255)
    sha256 = models.CharField(max_length=64)
    signature = models.TextField()
    n_scores = models.PositiveIntegerField(
        help_text="Number of translations or systems with a score."
    )
    # Columns of equal length (system, segment, score or null, document), and the length of each segment.
    table = models.JSONField()
    uploaded_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="gold_uploads",
    )
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["name", "level", "pk"]
        constraints = [
            models.UniqueConstraint(
                "campaign",
                "name",
                "level",
                name="gold_upload_is_stored_once_for_a_campaign",
                condition=Q(campaign__isnull=False),
            ),
            models.UniqueConstraint(
                "collection",
                "name",
                "level",
                name="gold_upload_is_stored_once_for_a_collection",
                condition=Q(collection__isnull=False),
            ),
            models.CheckConstraint(
                name="gold_upload_is_of_a_campaign_or_a_collection",
                condition=Q(campaign__isnull=False, collection=None)
                | Q(campaign=None, collection__isnull=False),
            ),
            models.CheckConstraint(name="gold_upload_name_is_not_empty", condition=~Q(name="")),
            models.CheckConstraint(
                name="gold_upload_level_is_known", condition=Q(level__in=["segment", "system"])
            ),
            models.CheckConstraint(
                name="gold_upload_kind_is_known",
                condition=Q(kind__in=["da", "hter", "mqm", "ranking", "other"]),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.level})"


class JudgementUpload(models.Model):
    """Uploaded judgements: which of two systems a person preferred for a segment."""

    code = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    campaign = models.ForeignKey(
        Campaign, models.CASCADE, null=True, blank=True, related_name="judgement_uploads"
    )
    collection = models.ForeignKey(
        ScoreCollection, models.CASCADE, null=True, blank=True, related_name="judgement_uploads"
    )
    file_name = models.CharField(max_length=255)
    sha256 = models.CharField(max_length=64)
    n_judgements = models.PositiveIntegerField()
    # Columns of equal length: segment, better, worse.
    table = models.JSONField()
    uploaded_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="judgement_uploads",
    )
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                "campaign",
                "sha256",
                name="judgements_are_stored_once_for_a_campaign",
                condition=Q(campaign__isnull=False),
            ),
            models.UniqueConstraint(
                "collection",
                "sha256",
                name="judgements_are_stored_once_for_a_collection",
                condition=Q(collection__isnull=False),
            ),
            models.CheckConstraint(
                name="judgements_are_of_a_campaign_or_a_collection",
                condition=Q(campaign__isnull=False, collection=None)
                | Q(campaign=None, collection__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.file_name} ({self.n_judgements:,} judgements)"
