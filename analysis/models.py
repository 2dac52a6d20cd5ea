"""What is made of ratings: jobs and the gold they compute. All of it can be deleted and made again."""

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from hits.models import Campaign, Translation


class JobQuerySet(models.QuerySet["Job"]):
    def unfinished(self) -> "JobQuerySet":
        return self.filter(state__in=[Job.State.QUEUED, Job.State.RUNNING])


class Job(models.Model):
    """A piece of work that runs behind the pages. This row is the truth; a queue's message is a hint."""

    class State(models.TextChoices):
        QUEUED = "queued", "Waiting"
        RUNNING = "running", "Running"
        DONE = "done", "Done"
        FAILED = "failed", "Failed"
        CANCELLED = "cancelled", "Cancelled"

    code = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    kind = models.CharField(max_length=40)
    campaign = models.ForeignKey(
        Campaign, models.CASCADE, null=True, blank=True, related_name="jobs"
    )
    arguments = models.JSONField(default=dict)
    state = models.CharField(max_length=9, choices=State.choices, default=State.QUEUED)
    n_done = models.PositiveBigIntegerField(default=0)
    n_total = models.PositiveBigIntegerField(null=True, blank=True)
    started_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="jobs",
        help_text="Empty: the platform itself.",
    )
    # Counts the starts; only the latest one may report progress or a result.
    attempt = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(default=timezone.now)
    started_at = models.DateTimeField(null=True, blank=True)
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    cancel_requested_at = models.DateTimeField(null=True, blank=True)
    log = models.TextField(blank=True)
    result = models.JSONField(null=True, blank=True)
    error = models.TextField(blank=True, help_text="A plain sentence for everyone.")
    traceback = models.TextField(blank=True, help_text="For admins only.")

    objects = JobQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        indexes = [
            models.Index(
                fields=["heartbeat_at"],
                condition=Q(state__in=["queued", "running"]),
                name="job_unfinished",
            )
        ]
        constraints = [
            models.CheckConstraint(
                name="job_state_is_known",
                condition=Q(state__in=["queued", "running", "done", "failed", "cancelled"]),
            ),
            models.CheckConstraint(
                name="job_is_finished_with_a_time",
                condition=(~Q(state__in=["done", "failed", "cancelled"]) & Q(finished_at=None))
                | Q(state__in=["done", "failed", "cancelled"], finished_at__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} ({self.state})"


class GoldRun(models.Model):
    """One computation of a campaign's gold: how it was made, and from what."""

    class Method(models.TextChoices):
        PER_WORKER = "per_worker", "A worker's repeats averaged first"
        POOLED = "pooled", "Every rating counts"

    code = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="gold_runs")
    number = models.PositiveIntegerField(help_text="Version, from 1.")
    method = models.CharField(max_length=10, choices=Method.choices, default=Method.PER_WORKER)
    minimum = models.PositiveSmallIntegerField(help_text="Ratings a complete score rests on.")
    created_at = models.DateTimeField(default=timezone.now)
    job = models.ForeignKey(Job, models.SET_NULL, null=True, blank=True, related_name="gold_runs")
    n_workers = models.PositiveIntegerField()
    n_workers_trusted = models.PositiveIntegerField()
    n_ratings = models.PositiveBigIntegerField(help_text="Of trusted workers, that scores rest on.")
    n_scored = models.PositiveIntegerField()
    n_incomplete = models.PositiveIntegerField()
    # Of the very ratings, roles and trusted workers: equal digests, equal gold.
    input_digest = models.CharField(max_length=64)
    signature = models.TextField()

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint("campaign", "number", name="gold_run_number_is_unique"),
        ]

    def __str__(self) -> str:
        return f"{self.campaign} gold {self.number}"


class GoldScore(models.Model):
    """The mean score of a translation in a gold run, with what it rests on.

    An incomplete one has too few ratings: it is reported with its n and has no score.
    """

    pk = models.CompositePrimaryKey("run_id", "translation_id")
    run = models.ForeignKey(GoldRun, models.CASCADE, related_name="scores", db_index=False)
    translation = models.ForeignKey(Translation, models.CASCADE, related_name="gold_scores")
    raw = models.FloatField(null=True)
    z = models.FloatField(null=True)
    raw_se = models.FloatField(null=True)
    z_se = models.FloatField(null=True)
    n = models.PositiveIntegerField()
    n_ratings = models.PositiveIntegerField()
    is_complete = models.BooleanField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="gold_score_is_complete_with_a_score",
                condition=Q(is_complete=True, raw__isnull=False, z__isnull=False)
                | Q(is_complete=False, raw=None, z=None),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.run_id}/{self.translation_id}: {self.z}"
