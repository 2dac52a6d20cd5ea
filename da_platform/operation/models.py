"""The platform's record of its own operation."""

from django.db import models
from django.db.models import Q


class SignOfLife(models.Model):
    """When a Celery worker was last active, or the schedule last ran, by beat or by cron."""

    name = models.CharField(max_length=100, unique=True)
    at = models.DateTimeField()
    queues = models.CharField(
        max_length=100,
        blank=True,
        default="",
        db_default="",
        help_text="The queues of a worker, separated by spaces. Empty for beat or cron.",
    )

    class Meta:
        ordering = ["name"]
        verbose_name_plural = "signs of life"
        constraints = [
            models.CheckConstraint(name="sign_of_life_has_a_name", condition=~Q(name="")),
        ]

    def __str__(self) -> str:
        return f"{self.name}: {self.at:%Y-%m-%d %H:%M:%S}"

    def serves(self, queue: str) -> bool:
        return queue in self.queues.split()
