"""What workers answer about themselves: their languages, and a campaign's own questions."""

from django.db import models
from django.db.models import Q
from django.utils import timezone

from .workers import Participation


class QuestionnaireReply(models.Model):
    """A worker's answers to the questions before or after the task, by the keys of the questions.

    One row holds all answers, so that two tabs cannot store half of each.
    """

    class Moment(models.TextChoices):
        BEFORE = "before", "Before the task"
        AFTER = "after", "After the task"

    participation = models.ForeignKey(Participation, models.CASCADE, related_name="replies")
    moment = models.CharField(max_length=6, choices=Moment.choices)
    answers = models.JSONField(default=dict)
    answered_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["pk"]
        verbose_name_plural = "questionnaire replies"
        constraints = [
            models.UniqueConstraint("participation", "moment", name="worker_replies_once"),
            models.CheckConstraint(
                name="reply_moment_is_known", condition=Q(moment__in=["before", "after"])
            ),
        ]

    def __str__(self) -> str:
        return f"{self.participation_id}, {self.moment}"
