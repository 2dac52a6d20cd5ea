"""Stored counts of large campaigns, so that pages need not count."""

from django.db import models
from django.utils import timezone

from .campaigns import Campaign


class KeptCounts(models.Model):
    """The latest counts by `hits.campaigns.kept_counts`. Small campaigns have no such row."""

    campaign = models.OneToOneField(
        Campaign, models.CASCADE, primary_key=True, related_name="kept_counts"
    )
    counted_at = models.DateTimeField(default=timezone.now, db_index=True)
    asked_at = models.DateTimeField(
        null=True, blank=True, help_text="When someone last viewed them, to within a few minutes."
    )
    status = models.JSONField(help_text="What the list of campaigns shows.")
    overview = models.JSONField(help_text="What the dashboard shows.")

    class Meta:
        verbose_name_plural = "kept counts"

    def __str__(self) -> str:
        return f"counts of {self.campaign_id} at {self.counted_at:%Y-%m-%d %H:%M}"
