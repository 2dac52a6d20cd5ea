"""What a worker's ratings say about the worker."""

from django.db import models
from django.db.models import Q
from django.utils import timezone

from .assignments import Assignment
from .workers import Participation


class Evidence(models.Model):
    """What a worker's ratings in a campaign show. History: rows are only added, and the latest one counts.

    Every submitted HIT adds a row. Recomputing adds one if the result differs from the latest.
    The numbers come from `analysis.stats.quality_control` and `analysis.stats.flags`. Those that
    could not be computed for lack of pairs are empty.
    """

    class Origin(models.TextChoices):
        SUBMISSION = "submission", "A submitted HIT"
        RECOMPUTATION = "recomputation", "Recomputed"

    participation = models.ForeignKey(Participation, models.CASCADE, related_name="evidence")
    assignment = models.ForeignKey(
        Assignment,
        models.PROTECT,
        related_name="evidence",
        help_text="The HIT it follows, or the latest one if it was recomputed.",
    )
    origin = models.CharField(max_length=13, choices=Origin.choices, default=Origin.SUBMISSION)
    computed_at = models.DateTimeField(default=timezone.now)
    verdict = models.CharField(max_length=10, choices=Participation.Trust.choices)
    n_hits = models.PositiveIntegerField()
    n_pairs = models.PositiveIntegerField()
    mean_difference = models.FloatField(null=True)
    t = models.FloatField(null=True)
    p = models.FloatField(null=True)
    wilcoxon_p = models.FloatField(null=True)
    n_repeats = models.PositiveIntegerField()
    repeat_mean_difference = models.FloatField(null=True)
    repeat_mean_absolute_difference = models.FloatField(null=True)
    repeat_p = models.FloatField(null=True)
    window_n_pairs = models.PositiveIntegerField()
    window_p = models.FloatField(null=True)
    mean_genuine = models.FloatField(null=True)
    mean_bad_reference = models.FloatField(null=True)
    mean_reference = models.FloatField(null=True)
    fastest_hit_seconds = models.FloatField(null=True)
    longest_run = models.PositiveIntegerField()
    n_rejected = models.PositiveIntegerField()
    has_scores_flag = models.BooleanField()
    has_time_flag = models.BooleanField()
    has_sequence_flag = models.BooleanField()
    has_rejection_flag = models.BooleanField()
    n_agreement_items = models.PositiveIntegerField(default=0)
    agreement_r = models.FloatField(null=True)
    agreement_p = models.FloatField(null=True)
    likeness_measure = models.CharField(max_length=20, blank=True)
    likeness_r = models.FloatField(null=True)
    has_likeness_flag = models.BooleanField(default=False)
    median_gap_seconds = models.FloatField(null=True)
    share_fast = models.FloatField(null=True)
    claimed_seconds = models.FloatField(null=True)
    passed_seconds = models.FloatField(null=True)
    n_held_hits = models.PositiveIntegerField(default=0)
    drifted_at = models.DateTimeField(
        null=True, help_text="When the first HIT of the earliest failed window was submitted."
    )
    # Numbers that only some kinds of task have.
    details = models.JSONField(default=dict)
    signature = models.TextField()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                "assignment",
                condition=Q(origin="submission"),
                name="evidence_is_weighed_once_for_each_hit",
            ),
            models.CheckConstraint(
                name="evidence_origin_is_known",
                condition=Q(origin__in=["submission", "recomputation"]),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.participation}: {self.verdict} after {self.n_hits} HITs"

    @property
    def agreement(self) -> float | None:
        """How far the worker agrees with others: r of scores, kappa of rankings."""
        kappa = self.details.get("others_kappa") or {}
        return kappa.get("kappa") if self.agreement_r is None else self.agreement_r
