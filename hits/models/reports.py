"""What workers report about texts: something is wrong that a score cannot say."""

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from .assignments import Assignment
from .hits import Item


class TextReport(models.Model):
    """One worker's report about one item. The item is rated all the same."""

    class Reason(models.TextChoices):
        GRAY = "gray", _("The gray text makes no sense")
        DISPLAY = "display", _("The text is not displayed properly")
        OFFENSIVE = "offensive", _("It is offensive or contains private information")
        OTHER = "other", _("Something else")

    assignment = models.ForeignKey(Assignment, models.PROTECT, related_name="text_reports")
    item = models.ForeignKey(Item, models.PROTECT, related_name="text_reports")
    reason = models.CharField(max_length=9, choices=Reason.choices)
    reported_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-reported_at", "-pk"]
        constraints = [
            models.UniqueConstraint("assignment", "item", name="text_is_reported_once"),
            models.CheckConstraint(
                name="text_report_reason_is_known",
                condition=Q(reason__in=["gray", "display", "offensive", "other"]),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.assignment_id}/{self.item_id}: {self.reason}"
