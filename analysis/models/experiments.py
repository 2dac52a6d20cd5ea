"""Experiments on uploaded files, with their files, options and results."""

import uuid
import zlib

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from da_platform.jobs.models import Job


class Experiment(models.Model):
    """Uploaded files that are compared with each other; `analysis.experiments` has a module for each kind."""

    code = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    kind = models.CharField(max_length=20)
    name = models.CharField(max_length=100)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="experiments",
    )
    options = models.JSONField(default=dict)
    result = models.JSONField(null=True, blank=True, help_text="Empty until the job is done.")
    job = models.ForeignKey(Job, models.SET_NULL, null=True, blank=True, related_name="experiments")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(name="experiment_name_is_not_empty", condition=~Q(name="")),
        ]

    def __str__(self) -> str:
        return self.name


class ExperimentFile(models.Model):
    """A file of an experiment, compressed, in the order of its role."""

    experiment = models.ForeignKey(Experiment, models.CASCADE, related_name="files")
    role = models.CharField(max_length=20)
    position = models.PositiveIntegerField()
    name = models.CharField(max_length=255)
    sha256 = models.CharField(max_length=64)
    compressed = models.BinaryField()

    class Meta:
        ordering = ["experiment", "position"]
        constraints = [
            models.UniqueConstraint(
                "experiment", "position", name="experiment_has_one_file_at_a_position"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.role})"

    @property
    def content(self) -> bytes:
        return zlib.decompress(self.compressed)
