"""Numbers of large campaigns, kept so that a page need not count them."""

from django.db import models
from django.utils import timezone

from .campaigns import Campaign


class KeptCounts(models.Model):
    """What `hits.campaigns.kept_counts` last counted. Small campaigns have no such row."""

    campaign = models.OneToOneField(
        Campaign, models.CASCADE, primary_key=True, related_name="kept_counts"
    )
    counted_at = models.DateTimeField(default=timezone.now, db_index=True)
    asked_at = models.DateTimeField(
        null=True, blank=True, help_text="When somebody last looked, to within some minutes."
    )
    status = models.JSONField(help_text="What the list of campaigns shows.")
    overview = models.JSONField(help_text="What the dashboard shows.")

    class Meta:
        verbose_name_plural = "kept counts"

    def __str__(self) -> str:
        return f"counts of {self.campaign_id} at {self.counted_at:%Y-%m-%d %H:%M}"
