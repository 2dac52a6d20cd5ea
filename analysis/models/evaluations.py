"""Evaluations of metrics against gold. They can be deleted and computed again."""

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from da_platform.jobs.models import Job
from hits.models import Campaign

from .collections import JudgementUpload, ScoreCollection
from .scores import Metric


class Evaluation(models.Model):
    """An evaluation of metrics against gold, with its inputs, options and result.

    It belongs to a campaign, to a collection, or to several pooled campaigns.
    """

    code = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    campaign = models.ForeignKey(
        Campaign, models.CASCADE, null=True, blank=True, related_name="evaluations"
    )
    collection = models.ForeignKey(
        ScoreCollection, models.CASCADE, null=True, blank=True, related_name="evaluations"
    )
    pooled = models.ManyToManyField(Campaign, blank=True, related_name="pooled_evaluations")
    number = models.PositiveIntegerField(help_text="Counts from 1 in its campaign or collection.")
    golds = models.JSONField(help_text="Gold runs with z or raw scores, uploads, or pooled runs.")
    judgements = models.ForeignKey(
        JudgementUpload,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="evaluations",
        help_text="Preferences of people that metrics were also evaluated against.",
    )
    metrics = models.ManyToManyField(Metric, related_name="evaluations")
    options = models.JSONField(default=dict)
    # A hash of all inputs: equal digests and options give equal numbers.
    input_digest = models.CharField(max_length=64)
    signature = models.TextField()
    result = models.JSONField()
    job = models.ForeignKey(Job, models.SET_NULL, null=True, blank=True, related_name="evaluations")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="evaluations",
        help_text="Empty if started by the platform.",
    )
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint("campaign", "number", name="evaluation_number_is_unique"),
            models.UniqueConstraint(
                "collection",
                "number",
                name="evaluation_number_is_unique_in_a_collection",
                condition=Q(collection__isnull=False),
            ),
            models.UniqueConstraint(
                "number",
                name="pooled_evaluation_number_is_unique",
                condition=Q(campaign=None, collection=None),
            ),
            models.CheckConstraint(
                name="evaluation_is_not_of_campaign_and_collection",
                condition=Q(campaign=None) | Q(collection=None),
            ),
            # If a job is restarted while its first attempt still runs, only one of them is stored.
            models.UniqueConstraint(
                "job", name="job_makes_one_evaluation", condition=Q(job__isnull=False)
            ),
            models.CheckConstraint(
                name="evaluation_number_counts_from_1", condition=Q(number__gte=1)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.campaign or self.collection or 'Pooled'} evaluation {self.number}"
