"""How workers come to a campaign: its provider, invite links, and the provider's reports."""

from datetime import datetime

from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from .assignments import Assignment
from .campaigns import Campaign
from .workers import Worker


class RecruitmentQuerySet(models.QuerySet["Recruitment"]):
    def with_study(self) -> "RecruitmentQuerySet":
        return self.filter(provider=Recruitment.Provider.PROLIFIC).exclude(study="")

    def astray(self) -> "RecruitmentQuerySet":
        """Those whose study runs while the campaign does not, or is held although it does."""
        is_open = Q(campaign__status=Campaign.Status.OPEN)
        is_over = Q(campaign__status__in=[Campaign.Status.PAUSED, Campaign.Status.CLOSED])
        return self.filter(is_open & Q(is_held=True) | is_over & Q(is_held=False))


class Recruitment(models.Model):
    """How a campaign recruits, with the provider's settings. Secrets are not among them: see settings.py."""

    class Provider(models.TextChoices):
        LINK = "link", "Invite links"
        PROLIFIC = "prolific", "Prolific"
        PANEL = "panel", "Another panel"
        MTURK = "mturk", "Mechanical Turk"

    campaign = models.OneToOneField(Campaign, models.CASCADE, related_name="recruitment")
    provider = models.CharField(max_length=8, choices=Provider.choices, default=Provider.LINK)
    is_open = models.BooleanField(
        default=False, help_text="Anyone with the campaign's address may take part."
    )
    settings = models.JSONField(default=dict, blank=True)
    study = models.CharField(
        max_length=100, blank=True, help_text="The provider's id of our study, if there is one."
    )
    n_places = models.PositiveIntegerField(
        default=0, help_text="The number of places last sent to the provider. It never decreases."
    )
    is_held = models.BooleanField(
        default=False,
        help_text="The study is paused or was never started, because the campaign lets nobody in.",
    )
    synced_at = models.DateTimeField(null=True, blank=True)

    objects = RecruitmentQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.CheckConstraint(
                name="recruitment_provider_is_known",
                condition=Q(provider__in=["link", "prolific", "panel", "mturk"]),
            ),
            models.UniqueConstraint(
                "provider", "study", condition=~Q(study=""), name="study_is_of_one_campaign"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.campaign} by {self.provider}"

    @property
    def sends_in_vain(self) -> bool:
        """Whether the study may still send people to a campaign that lets nobody in."""
        is_over = self.campaign.status in (Campaign.Status.PAUSED, Campaign.Status.CLOSED)
        return bool(self.study) and is_over and not self.is_held


class SubmissionQuerySet(models.QuerySet["Submission"]):
    def given_up(self) -> "SubmissionQuerySet":
        return self.filter(status__in=Submission.GIVEN_UP)

    def holding(self) -> "SubmissionQuerySet":
        """Those that use one of the provider's places. Rejected and given-up ones free theirs."""
        return self.filter(status__in=Submission.HOLDING)

    def vouched_for(self) -> "SubmissionQuerySet":
        """Submissions confirmed by the provider. Anyone can put another id into a link."""
        return self.filter(Q(is_verified=True) | Q(reported_at__isnull=False))


class Submission(models.Model):
    """A visit that the provider counts: it holds one assignment and is paid once."""

    class Status(models.TextChoices):
        ACTIVE = "active", "Active"
        AWAITING_REVIEW = "awaiting", "Awaiting review"
        APPROVED = "approved", "Approved"
        REJECTED = "rejected", "Rejected"
        RETURNED = "returned", "Returned"
        TIMED_OUT = "timed_out", "Timed out"
        SCREENED_OUT = "screened", "Screened out"

    # After these the worker will not submit any more.
    GIVEN_UP = (Status.RETURNED, Status.TIMED_OUT, Status.SCREENED_OUT)
    HOLDING = (Status.ACTIVE, Status.AWAITING_REVIEW, Status.APPROVED)

    recruitment = models.ForeignKey(Recruitment, models.CASCADE, related_name="submissions")
    worker = models.ForeignKey(Worker, models.PROTECT, related_name="submissions")
    reference = models.CharField(
        max_length=200, help_text="The provider's id: a Prolific session, an MTurk assignment."
    )
    # Empty until the worker takes a HIT.
    assignment = models.OneToOneField(
        Assignment, models.PROTECT, null=True, blank=True, related_name="submission"
    )
    status = models.CharField(max_length=9, choices=Status.choices, default=Status.ACTIVE)
    is_verified = models.BooleanField(default=False, help_text="The arrival was signed.")
    arrived_at = models.DateTimeField(default=timezone.now)
    reported_at = models.DateTimeField(
        null=True, blank=True, help_text="When the provider last reported on it."
    )

    objects = SubmissionQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint("recruitment", "reference", name="submission_is_known_once"),
            models.CheckConstraint(name="submission_has_an_id", condition=~Q(reference="")),
            models.CheckConstraint(
                name="submission_status_is_known",
                condition=Q(
                    status__in=[
                        "active",
                        "awaiting",
                        "approved",
                        "rejected",
                        "returned",
                        "timed_out",
                        "screened",
                    ]
                ),
            ),
        ]

    def __str__(self) -> str:
        return self.reference


class ProviderEvent(models.Model):
    """A provider's message that was handled, so that a second copy is ignored."""

    provider = models.CharField(max_length=8)
    event_id = models.CharField(max_length=200)
    received_at = models.DateTimeField(default=timezone.now, db_index=True)

    class Meta:
        constraints = [
            models.UniqueConstraint("provider", "event_id", name="provider_event_is_heard_once"),
            models.CheckConstraint(
                name="provider_event_has_an_id", condition=~Q(provider="") & ~Q(event_id="")
            ),
        ]

    def __str__(self) -> str:
        return f"{self.provider}:{self.event_id}"


class InviteQuerySet(models.QuerySet["Invite"]):
    def usable(self, at: datetime | None = None) -> "InviteQuerySet":
        """Neither revoked nor expired. It may still be used up: see `with_room`."""
        now = at or timezone.now()
        return self.filter(Q(expires_at=None) | Q(expires_at__gt=now), revoked_at=None)

    def with_room(self) -> "InviteQuerySet":
        return self.filter(Q(max_uses=None) | Q(n_uses__lt=F("max_uses")))


class Invite(models.Model):
    """A link that lets someone in. Only a hash of its token is stored.

    A personal link belongs to the first person who follows it, and also works on their other
    devices. A shared link creates a new worker for each person, up to a limit.
    """

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="invites")
    token_hash = models.CharField(max_length=64, unique=True, editable=False)
    label = models.CharField(max_length=100, blank=True)
    is_personal = models.BooleanField(default=True)
    # Set once a personal link has been used.
    worker = models.ForeignKey(
        Worker, models.PROTECT, null=True, blank=True, related_name="invites"
    )
    max_uses = models.PositiveIntegerField(null=True, blank=True)
    n_uses = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    objects = InviteQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.CheckConstraint(name="invite_has_a_hash", condition=~Q(token_hash="")),
            models.CheckConstraint(
                name="invite_is_not_overused",
                condition=Q(max_uses=None) | Q(n_uses__lte=F("max_uses")),
            ),
            models.CheckConstraint(
                name="invite_is_for_one_if_personal",
                condition=Q(is_personal=True, max_uses=1) | Q(is_personal=False, worker=None),
            ),
            models.CheckConstraint(
                name="invite_expires_after_its_making",
                condition=Q(expires_at=None) | Q(expires_at__gt=F("created_at")),
            ),
        ]

    def __str__(self) -> str:
        return self.label or f"invite {self.pk}"


class DeviceSighting(models.Model):
    """A worker on a device. Admins see devices used by several workers.

    The mark is a keyed hash, different in every campaign: it cannot be turned back into an address,
    and nobody can be tracked from one campaign to another.
    """

    class Kind(models.TextChoices):
        COOKIE = "cookie", "Same browser"
        ADDRESS = "address", "Same kind of browser at the same address"

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="device_sightings")
    worker = models.ForeignKey(Worker, models.CASCADE, related_name="device_sightings")
    kind = models.CharField(max_length=7, choices=Kind.choices)
    mark = models.CharField(max_length=64)
    first_seen_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                "campaign", "kind", "mark", "worker", name="device_is_noted_once_per_worker"
            ),
            models.CheckConstraint(
                name="device_kind_is_known", condition=Q(kind__in=["cookie", "address"])
            ),
            models.CheckConstraint(name="device_has_a_mark", condition=~Q(mark="")),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.mark[:8]}"


class RateCount(models.Model):
    """How many requests were made in a time window. In the database, so that all processes share it."""

    key = models.CharField(max_length=64)
    began_at = models.DateTimeField(help_text="When the window began.", db_index=True)
    n = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["key", "began_at"], name="rate_is_counted_once_per_window"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.key[:8]} {self.n}"
