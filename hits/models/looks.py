"""Looks: when a campaign's ranking was tested in between, on which work, and what was decided."""

from django.db import models
from django.db.models import Q
from django.utils import timezone

from .assignments import Assignment
from .campaigns import Campaign


class LookQuerySet(models.QuerySet["Look"]):
    def concluded(self) -> "LookQuerySet":
        return self.exclude(concluded_at=None)


class Look(models.Model):
    """One test of all pairs of systems, on the assignments that counted at that moment.

    The work is fixed when the look begins, so it makes no difference what is submitted meanwhile, or how often its
    job is interrupted and repeated. What was concluded never changes.
    """

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="looks")
    number = models.PositiveSmallIntegerField(help_text="Counts from 1 in its campaign.")
    share = models.FloatField(help_text="How much of what was planned is rated, from 0 to 1.")
    began_at = models.DateTimeField(default=timezone.now)
    assignments = models.ManyToManyField(Assignment, related_name="looks")
    concluded_at = models.DateTimeField(null=True, blank=True)
    is_last = models.BooleanField(
        default=False,
        help_text="It ended the collection: nothing is open, or nothing is left to rate.",
    )
    # As `analysis.gold.looks` describes it: pairs with p-values, and the systems that need more ratings.
    result = models.JSONField(default=dict)

    objects = LookQuerySet.as_manager()

    class Meta:
        ordering = ["campaign", "number"]
        constraints = [
            models.UniqueConstraint("campaign", "number", name="look_number_is_unique"),
            models.UniqueConstraint(
                "campaign", condition=Q(concluded_at=None), name="look_is_the_only_one_under_way"
            ),
            models.UniqueConstraint(
                "campaign", condition=Q(is_last=True), name="look_is_the_only_last_one"
            ),
            models.CheckConstraint(name="look_number_counts_from_1", condition=Q(number__gte=1)),
            models.CheckConstraint(
                name="look_share_is_a_share", condition=Q(share__gt=0, share__lte=1)
            ),
            models.CheckConstraint(
                name="look_is_last_once_concluded",
                condition=Q(is_last=False) | Q(concluded_at__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.campaign} look {self.number}"

    @property
    def n_wide(self) -> int:
        """How many translations have too uncertain scores; 0 where looks decide about systems."""
        return len(self.result.get("open_translations", []))

    @property
    def n_decided(self) -> int:
        """How many pairs of systems it told apart; 0 before it is concluded."""
        return int(self.result.get("n_pairs", 0)) - int(self.result.get("n_undecided", 0))
