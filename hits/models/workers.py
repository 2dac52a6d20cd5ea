"""Workers, and whether they are trusted in a campaign."""

import uuid

from django.db import models
from django.db.models import Q
from django.utils import timezone

from .campaigns import Campaign


class Worker(models.Model):
    """A person who rates, known only by the id from their provider."""

    code = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    provider = models.CharField(max_length=20, help_text="The provider, such as link or prolific.")
    external_id = models.CharField(max_length=200)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    forgotten_at = models.DateTimeField(
        null=True,
        blank=True,
        help_text="When everything that could identify the worker was removed.",
    )

    # Replaces the id of a forgotten worker, followed by random characters.
    FORGOTTEN = "forgotten-"

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint("provider", "external_id", name="worker_is_known_once"),
            models.CheckConstraint(
                name="worker_forgotten_has_no_id",
                condition=Q(forgotten_at=None) | Q(external_id__startswith="forgotten-"),
            ),
            models.CheckConstraint(
                name="worker_has_an_id", condition=~Q(provider="") & ~Q(external_id="")
            ),
        ]

    def __str__(self) -> str:
        return f"{self.provider}:{self.external_id}"


class ForgottenMark(models.Model):
    """A keyed hash of a forgotten id that may be reported again: see `hits/recruiting/forgotten_ids.py`."""

    mark = models.CharField(max_length=64, unique=True, editable=False)

    def __str__(self) -> str:
        return self.mark[:8]


class ParticipationQuerySet(models.QuerySet["Participation"]):
    def trusted(self) -> "ParticipationQuerySet":
        """Participations whose ratings count towards gold."""
        return self.filter(
            Q(decision=Participation.Decision.REINSTATED)
            | Q(decision="", trust__in=Participation.TRUSTED)
        )

    def discarded(self) -> "ParticipationQuerySet":
        """Participations whose ratings do not count, so that others have to rate instead."""
        return self.filter(
            Q(decision=Participation.Decision.EXCLUDED)
            | Q(decision="", trust=Participation.Trust.UNRELIABLE)
        )


class Participation(models.Model):
    """A worker in a campaign: consent, practice, and whether the ratings are trusted."""

    class Trust(models.TextChoices):
        """What the evidence says."""

        UNPROVEN = "unproven", "Unproven"
        RELIABLE = "reliable", "Reliable"
        DRIFTING = "drifting", "Drifting"
        UNRELIABLE = "unreliable", "Unreliable"

    class Decision(models.TextChoices):
        """What a person has decided instead."""

        EXCLUDED = "excluded", "Excluded"
        REINSTATED = "reinstated", "Reinstated"

    MAX_CHECK_TRIES = 2
    # A drifting worker still passes the test over all ratings.
    TRUSTED = (Trust.RELIABLE, Trust.DRIFTING)

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="participations")
    worker = models.ForeignKey(Worker, models.CASCADE, related_name="participations")
    consented_at = models.DateTimeField(
        null=True, blank=True, help_text="Empty for work that was collected elsewhere."
    )
    n_check_tries = models.PositiveSmallIntegerField(
        default=0, help_text="Wrong answers to the question about the instructions."
    )
    qualified_at = models.DateTimeField(
        null=True, blank=True, help_text="When the practice and the question were completed."
    )
    trust = models.CharField(max_length=10, choices=Trust.choices, default=Trust.UNPROVEN)
    decision = models.CharField(max_length=10, choices=Decision.choices, blank=True)
    decision_reason = models.TextField(blank=True)

    objects = ParticipationQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint("campaign", "worker", name="worker_participates_once"),
            models.CheckConstraint(
                name="participation_check_has_two_tries", condition=Q(n_check_tries__lte=2)
            ),
            models.CheckConstraint(
                name="participation_trust_is_known",
                condition=Q(trust__in=["unproven", "reliable", "drifting", "unreliable"]),
            ),
            models.CheckConstraint(
                name="participation_decision_has_a_reason",
                condition=Q(decision="", decision_reason="")
                | (Q(decision__in=["excluded", "reinstated"]) & ~Q(decision_reason="")),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.worker} in {self.campaign}"

    @property
    def state(self) -> str:
        """What counts: a person's decision if there is one, otherwise the evidence."""
        return self.decision or self.trust

    @property
    def is_trusted(self) -> bool:
        return self.state in {*self.TRUSTED, self.Decision.REINSTATED}

    @property
    def is_discarded(self) -> bool:
        return self.state in {self.Trust.UNRELIABLE, self.Decision.EXCLUDED}

    @property
    def standing(self) -> tuple[bool, bool]:
        """What places depend on: whether the worker is trusted, discarded, or neither yet."""
        return self.is_trusted, self.is_discarded

    @property
    def is_excluded(self) -> bool:
        return self.decision == self.Decision.EXCLUDED

    @property
    def is_screened_out(self) -> bool:
        return self.qualified_at is None and self.n_check_tries >= self.MAX_CHECK_TRIES
