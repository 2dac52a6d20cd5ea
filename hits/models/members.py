"""What staff may do."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from .campaigns import Campaign


class Membership(models.Model):
    """A person's level of access, in one campaign or in all. Superusers need none."""

    class Level(models.TextChoices):
        # Sees scores, runs evaluations, exports; never worker identities or payments.
        RESEARCHER = "researcher", "Researcher"
        # Also runs campaigns, sees worker ids, decides on workers, pays.
        ADMIN = "admin", "Admin"

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="memberships")
    level = models.CharField(max_length=10, choices=Level.choices)
    campaign = models.ForeignKey(
        Campaign,
        models.CASCADE,
        null=True,
        blank=True,
        related_name="memberships",
        help_text="Blank: every campaign, including future ones.",
    )

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint("user", "campaign", name="member_has_one_level_in_a_campaign"),
            models.UniqueConstraint(
                "user", condition=Q(campaign=None), name="member_has_one_level_everywhere"
            ),
            models.CheckConstraint(
                name="membership_level_is_known", condition=Q(level__in=["researcher", "admin"])
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user}: {self.level} in {self.campaign or 'every campaign'}"
