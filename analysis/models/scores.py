"""Scores of metrics, uploaded or computed by the platform."""

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from hits.models import Campaign

# The largest finite double; NaN and infinity compare as larger, or cannot be stored at all.
LARGEST_SCORE = 1.7976931348623157e308


class MetricQuerySet(models.QuerySet["Metric"]):
    def at_level(self, level: str) -> "MetricQuerySet":
        return self.filter(level=level)

    def confirmed(self) -> "MetricQuerySet":
        """Return the metrics whose direction is confirmed."""
        return self.filter(higher_is_better__isnull=False)

    def unconfirmed(self) -> "MetricQuerySet":
        return self.filter(higher_is_better=None)


class Metric(models.Model):
    """One metric's scores for the outputs of a campaign or for a collection."""

    class Level(models.TextChoices):
        SEGMENT = "segment", "Segments"
        SYSTEM = "system", "Systems"

    class Origin(models.TextChoices):
        UPLOADED = "uploaded", "Uploaded"
        COMPUTED = "computed", "Computed here"

    code = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    campaign = models.ForeignKey(
        Campaign, models.CASCADE, null=True, blank=True, related_name="metrics"
    )
    collection = models.ForeignKey(
        "ScoreCollection",
        models.CASCADE,
        null=True,
        blank=True,
        related_name="metrics",
        help_text="The collection, if the scores do not belong to a campaign.",
    )
    name = models.CharField(max_length=200)
    level = models.CharField(max_length=7, choices=Level.choices)
    origin = models.CharField(max_length=8, choices=Origin.choices)
    higher_is_better = models.BooleanField(null=True, help_text="Unknown until confirmed.")
    direction_confirmed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        help_text="Empty if computed by the platform.",
    )
    direction_confirmed_at = models.DateTimeField(null=True, blank=True)
    file_name = models.CharField(max_length=255, blank=True)
    format = models.CharField(max_length=30, blank=True)
    # Of the uploaded file, or of the texts that were compared.
    sha256 = models.CharField(max_length=64)
    signature = models.TextField(blank=True, help_text="How the scores were computed, if known.")
    n_scores = models.PositiveIntegerField()
    uploaded_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="metrics",
        help_text="Empty if computed by the platform.",
    )
    created_at = models.DateTimeField(default=timezone.now)

    objects = MetricQuerySet.as_manager()

    class Meta:
        ordering = ["name", "level", "pk"]
        constraints = [
            models.UniqueConstraint(
                "campaign",
                "name",
                "level",
                name="metric_is_stored_once_for_a_campaign",
                condition=Q(campaign__isnull=False),
            ),
            models.UniqueConstraint(
                "collection",
                "name",
                "level",
                name="metric_is_stored_once_for_a_collection",
                condition=Q(collection__isnull=False),
            ),
            models.CheckConstraint(
                name="metric_is_of_a_campaign_or_a_collection",
                condition=Q(campaign__isnull=False, collection=None)
                | Q(campaign=None, collection__isnull=False),
            ),
            models.CheckConstraint(name="metric_name_is_not_empty", condition=~Q(name="")),
            models.CheckConstraint(
                name="metric_level_is_known", condition=Q(level__in=["segment", "system"])
            ),
            models.CheckConstraint(
                name="metric_origin_is_known", condition=Q(origin__in=["uploaded", "computed"])
            ),
            models.CheckConstraint(
                name="metric_direction_is_confirmed_with_a_time",
                condition=Q(higher_is_better=None, direction_confirmed_at=None)
                | Q(higher_is_better__isnull=False, direction_confirmed_at__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.level})"


class MetricScore(models.Model):
    """A metric's score for a system's output for a segment, or for the system as a whole."""

    pk = models.CompositePrimaryKey("metric_id", "system", "segment")
    metric = models.ForeignKey(Metric, models.CASCADE, related_name="scores", db_index=False)
    # Names instead of foreign keys, because collections have no rows for systems and segments.
    system = models.CharField(max_length=200, blank=True)
    segment = models.CharField(max_length=200, blank=True, help_text="Empty for a whole system.")
    # The order of the file.
    position = models.PositiveIntegerField()
    score = models.FloatField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="metric_score_is_finite",
                condition=Q(score__gte=-LARGEST_SCORE, score__lte=LARGEST_SCORE),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.metric_id}: {self.system}/{self.segment} {self.score}"


class MetricCounts(models.Model):
    """A cache of a metric's counts for a translation and its reference. It can be cleared at any time."""

    digest = models.CharField(
        max_length=64, primary_key=True, help_text="Hash of the signature and both texts."
    )
    counts = models.JSONField()

    def __str__(self) -> str:
        return self.digest
