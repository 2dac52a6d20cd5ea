"""The table of jobs."""

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.text import capfirst

# How often in a row a job may die before the platform gives up. A retry allows as many again.
MAX_ATTEMPTS = 3


class JobQuerySet(models.QuerySet["Job"]):
    def unfinished(self) -> "JobQuerySet":
        return self.filter(state__in=[Job.State.QUEUED, Job.State.RUNNING])


class Job(models.Model):
    """A background job. This row is authoritative; a message in the queue is only a hint."""

    class State(models.TextChoices):
        QUEUED = "queued", "Waiting"
        RUNNING = "running", "Running"
        DONE = "done", "Done"
        FAILED = "failed", "Failed"
        CANCELLED = "cancelled", "Cancelled"

    code = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    kind = models.CharField(max_length=40)
    # Named in the settings, because nothing here depends on `hits`.
    campaign = models.ForeignKey(
        settings.JOB_CAMPAIGN_MODEL, models.CASCADE, null=True, blank=True, related_name="jobs"
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
        help_text="Empty if the platform started it.",
    )
    # Incremented by each start. Only the latest may report progress or a result.
    attempt = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(default=timezone.now)
    started_at = models.DateTimeField(null=True, blank=True)
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    cancel_requested_at = models.DateTimeField(null=True, blank=True)
    log = models.TextField(blank=True)
    result = models.JSONField(null=True, blank=True)
    error = models.TextField(blank=True, help_text="A plain sentence for everyone.")
    problems = models.JSONField(
        default=list, blank=True, help_text="What was refused, each problem with its fix, if any."
    )
    n_problems = models.PositiveIntegerField(default=0, help_text="Listed or not.")
    fixes = models.JSONField(
        default=list,
        blank=True,
        help_text="Every fix of its problems, listed or not, with how many it would avoid.",
    )
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

    @property
    def title(self) -> str:
        """The kind as pages show it: `Build HITs`."""
        # Imported here because kinds are functions of jobs.
        from .kinds import known_kinds

        kind = known_kinds().get(self.kind)
        return (kind and kind.title) or capfirst(self.kind.replace("_", " "))

    @property
    def was_cut_off(self) -> bool:
        """Whether an earlier start died, so that some of its work may already be stored.

        For use while the job runs. A start after a retry does not count: the earlier one was finished.
        """
        return self.attempt % MAX_ATTEMPTS != 1
