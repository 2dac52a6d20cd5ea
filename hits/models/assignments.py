"""What workers did: their assignments and answers."""

import uuid

from django.db import models
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from .hits import HIT, Item
from .workers import Participation, Worker

SCORE_MIN, SCORE_MAX = 0, 100


class AssignmentQuerySet(models.QuerySet["Assignment"]):
    def open(self) -> "AssignmentQuerySet":
        """Can still be finished: in progress, or expired."""
        return self.filter(status__in=Assignment.OPEN_STATUSES)

    def in_progress(self) -> "AssignmentQuerySet":
        return self.filter(status=Assignment.Status.IN_PROGRESS)

    def expired(self) -> "AssignmentQuerySet":
        return self.filter(status=Assignment.Status.EXPIRED)

    def submitted(self) -> "AssignmentQuerySet":
        return self.filter(status=Assignment.Status.SUBMITTED)

    def counted(self) -> "AssignmentQuerySet":
        """Submitted, and neither held nor discarded for impossible times."""
        return self.submitted().exclude(hold__in=Assignment.NOT_COUNTED)

    def of(self, participation: Participation) -> "AssignmentQuerySet":
        """The worker's assignments in the participation's campaign."""
        return self.filter(hit__campaign=participation.campaign_id, worker=participation.worker_id)


class Assignment(models.Model):
    """One worker doing one HIT."""

    class Status(models.TextChoices):
        IN_PROGRESS = "in_progress", "In progress"
        EXPIRED = "expired", "Expired"
        RETURNED = "returned", "Returned"
        SUBMITTED = "submitted", "Submitted"

    class Hold(models.TextChoices):
        """Whether impossible times keep a submitted HIT from being counted."""

        HELD = "held", "Held for a decision"
        COUNTED = "counted", "Counted after all"
        DISCARDED = "discarded", "Not counted"

    OPEN_STATUSES = (Status.IN_PROGRESS, Status.EXPIRED)
    NOT_COUNTED = (Hold.HELD, Hold.DISCARDED)

    hit = models.ForeignKey(HIT, models.PROTECT, related_name="assignments")
    worker = models.ForeignKey(Worker, models.PROTECT, related_name="assignments")
    code = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    status = models.CharField(max_length=11, choices=Status.choices, default=Status.IN_PROGRESS)
    started_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField(help_text="The place is reserved until then.")
    submitted_at = models.DateTimeField(null=True, blank=True)
    is_late = models.BooleanField(
        default=False, help_text="Submitted after its place was given away."
    )
    completion_code = models.CharField(max_length=32, blank=True)
    comment = models.TextField(blank=True)
    is_rejected = models.BooleanField(default=False, help_text="Payment was refused.")
    hold = models.CharField(max_length=9, choices=Hold.choices, blank=True)
    hold_reason = models.TextField(blank=True)
    held_at = models.DateTimeField(null=True, blank=True)
    evidence_at = models.DateTimeField(
        null=True, blank=True, help_text="When its ratings were weighed, if they were."
    )

    objects = AssignmentQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        indexes = [
            models.Index(
                fields=["id"],
                condition=Q(status="submitted", evidence_at=None),
                name="assignment_to_weigh",
            ),
            models.Index(
                fields=["expires_at"],
                condition=Q(status="in_progress"),
                name="assignment_to_expire",
            ),
        ]
        constraints = [
            models.UniqueConstraint("hit", "worker", name="assignment_is_once_per_worker_and_hit"),
            models.UniqueConstraint(
                "worker",
                condition=Q(status="in_progress"),
                name="worker_has_one_assignment_in_progress",
            ),
            models.UniqueConstraint(
                "completion_code",
                condition=~Q(completion_code=""),
                name="assignment_completion_code_is_unique",
            ),
            models.CheckConstraint(
                name="assignment_status_is_known",
                condition=Q(status__in=["in_progress", "expired", "returned", "submitted"]),
            ),
            models.CheckConstraint(
                name="assignment_is_submitted_with_time_and_code",
                condition=(
                    Q(status="submitted", submitted_at__isnull=False) & ~Q(completion_code="")
                )
                | (
                    ~Q(status="submitted") & Q(submitted_at=None, completion_code="", is_late=False)
                ),
            ),
            models.CheckConstraint(
                name="assignment_is_weighed_once_submitted",
                condition=Q(evidence_at=None) | Q(status="submitted"),
            ),
            models.CheckConstraint(
                name="assignment_hold_is_known",
                condition=Q(hold__in=["", "held", "counted", "discarded"]),
            ),
            models.CheckConstraint(
                name="assignment_hold_has_reason_and_time",
                condition=Q(hold="", hold_reason="", held_at=None)
                | (Q(status="submitted", held_at__isnull=False) & ~Q(hold="") & ~Q(hold_reason="")),
            ),
            models.CheckConstraint(
                name="assignment_expires_after_its_start",
                condition=Q(expires_at__gt=F("started_at")),
            ),
        ]

    def __str__(self) -> str:
        return str(self.code)


class InputSignals(models.Model):
    """How the items of a HIT were rated, as the browser reported it when it was submitted.

    Counts only: how often a pointer moved, a key was pressed, the screen was touched, the page lost focus,
    and how much input was made by a script. What was pressed, and where, is never recorded.
    """

    assignment = models.OneToOneField(
        Assignment, models.CASCADE, primary_key=True, related_name="signals"
    )
    # One list for each item in order, as in `hits.rating.signals.COUNTS`; null for an item without counts.
    # Empty if the browser sent nothing usable.
    items = models.JSONField(default=list)
    # Derived from `items`, so that pages need not read the lists of a whole campaign.
    n_items_without_input = models.PositiveSmallIntegerField(default=0)
    n_items_scripted = models.PositiveSmallIntegerField(default=0)
    n_items_unfocused = models.PositiveSmallIntegerField(default=0)
    n_comment_pastes = models.PositiveSmallIntegerField(default=0)
    followed_canary = models.BooleanField(
        null=True, help_text="Whether the hidden instruction was followed; empty: there was none."
    )

    def __str__(self) -> str:
        return str(self.assignment_id)


class Answer(models.Model):
    """What one worker answered about one item. Rows are added, never changed.

    There are tens of millions of these, so a row holds nothing that another table knows, and its
    two foreign keys are its primary key. Each kind of task (`hits.task_kinds`) has a table of its answers.
    """

    pk = models.CompositePrimaryKey("assignment_id", "item_id")
    # Needs no separate index, because the primary key begins with the assignment.
    assignment = models.ForeignKey(
        Assignment, models.PROTECT, related_name="%(class)ss", db_index=False
    )
    item = models.ForeignKey(Item, models.PROTECT, related_name="%(class)ss")
    received_at = models.DateTimeField(default=timezone.now, help_text="By the server's clock.")
    # Reported by the browser, so only a hint.
    elapsed_ms = models.PositiveIntegerField(null=True, help_text="From shown to answered.")
    active_ms = models.PositiveIntegerField(null=True, help_text="Of that, with the page in view.")

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"{self.assignment_id}/{self.item_id}"


class Rating(Answer):
    """One worker's score for one item."""

    score = models.PositiveSmallIntegerField()
    place = models.PositiveSmallIntegerField(
        null=True,
        help_text="Where the text stood on this worker's screen, from 1. Empty if it was alone.",
    )

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="rating_is_0_to_100", condition=Q(score__gte=SCORE_MIN, score__lte=SCORE_MAX)
            ),
            models.CheckConstraint(
                name="rating_place_counts_from_1", condition=Q(place=None) | Q(place__gte=1)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.assignment_id}/{self.item_id}: {self.score}"


class Rank(Answer):
    """One worker's rank for one of the outputs on a screen. All outputs of a screen are stored at once."""

    class Skip(models.TextChoices):
        """Why a screen was not ranked."""

        TOO_HARD = "hard", _("I do not understand the texts")
        WRONG_LANGUAGE = "language", _("The texts are not in the right language")
        BROKEN = "broken", _("The texts are not shown properly")
        OTHER = "other", _("Another reason")

    rank = models.PositiveSmallIntegerField(null=True, help_text="1 is best. Empty: skipped.")
    place = models.PositiveSmallIntegerField(
        help_text="Where the output stood on this worker's screen, from 1."
    )
    skip = models.CharField(max_length=8, choices=Skip.choices, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="rank_is_at_least_1_unless_skipped",
                condition=Q(rank__isnull=False, rank__gte=1, skip="")
                | (Q(rank=None) & ~Q(skip="")),
            ),
            models.CheckConstraint(
                name="rank_skip_is_known",
                condition=Q(skip__in=["", "hard", "language", "broken", "other"]),
            ),
            models.CheckConstraint(name="rank_place_counts_from_1", condition=Q(place__gte=1)),
        ]

    def __str__(self) -> str:
        return f"{self.assignment_id}/{self.item_id}: {self.rank or self.skip}"
