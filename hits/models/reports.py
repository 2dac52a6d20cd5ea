"""What workers report about texts: something is wrong that a score cannot say."""

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from .assignments import Assignment
from .campaigns import Campaign
from .hits import Item


class TextReportQuerySet(models.QuerySet["TextReport"]):
    def of(self, campaign: Campaign) -> "TextReportQuerySet":
        """The campaign's reports with their items and workers; texts reported most often come first."""
        same_text = TextReport.objects.filter(
            item__translation=models.OuterRef("item__translation")
        )
        counted = same_text.order_by().values("item__translation").annotate(n=models.Count("pk"))
        reports = self.filter(assignment__hit__campaign=campaign).annotate(
            n_reports=models.Subquery(counted.values("n"))
        )
        related = ("assignment__worker", "item__hit", "item__translation__segment")
        return reports.select_related(*related).order_by(
            "-n_reports", "item__translation", "-reported_at", "-pk"
        )


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

    objects = TextReportQuerySet.as_manager()

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
