"""What an import did to a campaign's files."""

from django.db import models

from .campaigns import Campaign


class ImportReport(models.Model):
    """How a campaign's files were read: the options, the notes, and everything that was mended."""

    campaign = models.OneToOneField(Campaign, models.CASCADE, related_name="import_report")
    options = models.JSONField(default=dict, help_text="Options that were not at their default.")
    notes = models.JSONField(default=list)
    n_mends = models.PositiveIntegerField(default=0)
    mends = models.JSONField(
        default=list, help_text="File, line and what was mended; up to a limit."
    )

    def __str__(self) -> str:
        return f"import of {self.campaign_id}"
