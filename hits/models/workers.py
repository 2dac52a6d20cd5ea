"""Workers, and whether they are trusted in a campaign."""

import uuid
from datetime import datetime

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
        """Participations whose ratings count towards gold, all of them or those before the worker drifted."""
        return self.filter(
            Q(decision=Participation.Decision.REINSTATED)
            | Q(decision="", trust=Participation.Trust.RELIABLE)
            | (_IS_DRIFTING & ~Q(campaign__drift=Campaign.Drift.LEAVE_OUT))
        )

    def discarded(self) -> "ParticipationQuerySet":
        """Participations whose ratings do not count, so that others have to rate instead."""
        return self.filter(
            Q(decision=Participation.Decision.EXCLUDED)
            | Q(decision="", trust=Participation.Trust.UNRELIABLE)
            | (_IS_DRIFTING & Q(campaign__drift=Campaign.Drift.LEAVE_OUT))
        )

    def left_out_since(self) -> "ParticipationQuerySet":
        """Participations whose ratings do not count from `drifted_at` on."""
        return self.filter(_IS_DRIFTING, campaign__drift=Campaign.Drift.LEAVE_OUT_SINCE)


_IS_DRIFTING = Q(decision="", trust="drifting")


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
    # A drifting worker still passes the test over all ratings; `Campaign.drift` says what counts.
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
    screened_out_at = models.DateTimeField(
        null=True,
        blank=True,
        help_text="When the answers to the questionnaire were not those the campaign looks for.",
    )
    # By name, because recruitment imports this module.
    invite = models.ForeignKey(
        "hits.Invite",
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="participations",
        help_text="The link with which the worker agreed to take part.",
    )
    trust = models.CharField(max_length=10, choices=Trust.choices, default=Trust.UNPROVEN)
    drifted_at = models.DateTimeField(
        null=True,
        blank=True,
        help_text="When a drifting worker submitted the first HIT of the earliest failed window.",
    )
    decision = models.CharField(max_length=10, choices=Decision.choices, blank=True)
    decision_reason = models.TextField(blank=True)

    objects = ParticipationQuerySet.as_manager()

    class Meta:
        # The state, which tables filter by and count.
        indexes = [
            models.Index(fields=["campaign", "decision", "trust"], name="participation_by_state")
        ]
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
        """Whether the ratings count, all of them or those before the worker drifted."""
        if self.state == self.Trust.DRIFTING:
            return self.campaign.drift != Campaign.Drift.LEAVE_OUT
        return self.state in {self.Trust.RELIABLE, self.Decision.REINSTATED}

    @property
    def is_discarded(self) -> bool:
        """Whether no ratings count, so that others have to rate instead."""
        if self.state == self.Trust.DRIFTING:
            return self.campaign.drift == Campaign.Drift.LEAVE_OUT
        return self.state in {self.Trust.UNRELIABLE, self.Decision.EXCLUDED}

    @property
    def left_out_since(self) -> datetime | None:
        """The moment from which on ratings do not count because the worker drifted, if there is one."""
        is_left_out = (
            self.state == self.Trust.DRIFTING
            and self.campaign.drift == Campaign.Drift.LEAVE_OUT_SINCE
        )
        return self.drifted_at if is_left_out else None

    @property
    def standing(self) -> tuple[bool, bool, datetime | None]:
        """What places depend on: whether the worker is trusted, discarded, or neither yet, and since when left out."""
        return self.is_trusted, self.is_discarded, self.left_out_since

    @property
    def is_excluded(self) -> bool:
        return self.decision == self.Decision.EXCLUDED

    @property
    def is_screened_out(self) -> bool:
        """Whether the worker answered the check wrongly too often, or does not fit the campaign."""
        return self.screened_out_at is not None or self.failed_check

    @property
    def failed_check(self) -> bool:
        return self.qualified_at is None and self.n_check_tries >= self.MAX_CHECK_TRIES
