"""Gold computed from ratings. It can be deleted and computed again."""

import uuid

from django.db import models
from django.db.models import Q
from django.utils import timezone

from da_platform.jobs.models import Job
from hits.models import Campaign, Translation, Worker


class GoldRunQuerySet(models.QuerySet["GoldRun"]):
    """Runs are numbered within a campaign, so look up a number among `campaign.gold_runs`."""

    def newest_first(self) -> "GoldRunQuerySet":
        return self.order_by("-number")

    def newest(self) -> "GoldRun | None":
        return self.newest_first().first()

    def weighted(self) -> "GoldRunQuerySet":
        return self.filter(method=GoldRun.Method.WEIGHTED)

    def numbered(self, number: int) -> "GoldRun | None":
        return self.filter(number=number).first()

    def numbered_or_newest(self, number: int | None) -> "GoldRun | None":
        """Return the run with this number, or the newest if the number is None."""
        return self.newest() if number is None else self.numbered(number)


class GoldRun(models.Model):
    """One computation of a campaign's gold, with its method and inputs."""

    class Method(models.TextChoices):
        PER_WORKER = "per_worker", "A worker's repeats averaged first"
        POOLED = "pooled", "Every rating counts"
        WEIGHTED = "weighted", "Weighted by what hidden items show about the worker"

    class Test(models.TextChoices):
        TWO_WAY = "two_way", "Difference of means, over segments and workers"
        PAIRED = "paired", "Signed ranks by segment"
        PUBLISHED = "published", "Mann-Whitney U, as at WMT"

    code = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="gold_runs")
    number = models.PositiveIntegerField(help_text="Counts from 1 in its campaign.")
    method = models.CharField(max_length=10, choices=Method.choices, default=Method.PER_WORKER)
    minimum = models.PositiveSmallIntegerField(help_text="Ratings needed for a complete score.")
    test = models.CharField(
        max_length=10,
        choices=Test.choices,
        default=Test.TWO_WAY,
        help_text="How systems are compared.",
    )
    created_at = models.DateTimeField(default=timezone.now)
    job = models.ForeignKey(Job, models.SET_NULL, null=True, blank=True, related_name="gold_runs")
    n_workers = models.PositiveIntegerField()
    n_workers_trusted = models.PositiveIntegerField()
    n_ratings = models.PositiveBigIntegerField(help_text="Ratings by trusted workers that count.")
    n_scored = models.PositiveIntegerField()
    n_incomplete = models.PositiveIntegerField()
    # A hash of the ratings, roles and trusted workers: equal digests mean equal gold.
    input_digest = models.CharField(max_length=64)
    signature = models.TextField()
    # Keys of the workers, if only some were named. Keys, because ids are forgotten on request.
    named_workers = models.JSONField(null=True, editable=False)
    # Of the system scores, as the ratings may no longer be the same when they are ranked. None if no system
    # has a score, and for runs made before it was stored.
    system_covariance = models.JSONField(null=True, editable=False)
    # The metric that helped to score systems on all segments, and how much: see `analysis.gold.all_segments`.
    helper = models.JSONField(null=True, editable=False)

    objects = GoldRunQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint("campaign", "number", name="gold_run_number_is_unique"),
            # If a job is restarted while its first attempt still runs, only one of them is stored.
            models.UniqueConstraint(
                "job", name="job_makes_one_gold_run", condition=Q(job__isnull=False)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.campaign} gold {self.number}"

    @property
    def helper_metric(self) -> str | None:
        """The name of the metric that helped to score systems, if any."""
        return None if self.helper is None else self.helper["metric"]

    @property
    def system_estimate(self) -> str:
        """What system scores are, for signatures."""
        facts = self.system_covariance or {}
        if facts.get("scores") is None:
            return "mean-of-segments"
        return facts.get("estimate") or "weighted-ratings"

    @property
    def n_named_workers(self) -> int | None:
        """How many workers the ratings come from at most, or None if nobody was named."""
        return None if self.named_workers is None else len(self.named_workers)


class GoldWeight(models.Model):
    """What a worker's ratings were worth in a weighted gold run, and why; see `WorkerWeights`."""

    pk = models.CompositePrimaryKey("run_id", "worker_id")
    run = models.ForeignKey(GoldRun, models.CASCADE, related_name="weights", db_index=False)
    worker = models.ForeignKey(Worker, models.CASCADE, related_name="gold_weights")
    weight = models.FloatField(help_text="1 is the mean of all workers.")
    discrimination = models.FloatField()
    own_discrimination = models.FloatField(null=True)
    agreement = models.FloatField(null=True)
    repeat_variance = models.FloatField()
    own_repeat_variance = models.FloatField(null=True)
    n_pairs = models.PositiveIntegerField()
    n_repeats = models.PositiveIntegerField()

    class Meta:
        constraints = [
            models.CheckConstraint(name="gold_weight_is_not_negative", condition=Q(weight__gte=0)),
        ]

    def __str__(self) -> str:
        return f"{self.run_id}/{self.worker_id}: {self.weight}"


class GoldScore(models.Model):
    """The mean score of a translation in a gold run, and the number of ratings behind it.

    A translation with too few ratings is incomplete: it has an n but no score.
    """

    pk = models.CompositePrimaryKey("run_id", "translation_id")
    run = models.ForeignKey(GoldRun, models.CASCADE, related_name="scores", db_index=False)
    translation = models.ForeignKey(Translation, models.CASCADE, related_name="gold_scores")
    raw = models.FloatField(null=True)
    z = models.FloatField(null=True)
    raw_se = models.FloatField(null=True)
    z_se = models.FloatField(null=True)
    # The 95 % interval of z. Empty with a single rating, and for runs made before it was stored.
    z_low = models.FloatField(null=True)
    z_high = models.FloatField(null=True)
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
