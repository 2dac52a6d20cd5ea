"""The tables of a collection, from a campaign's texts to the ratings people gave them."""

import secrets
import uuid

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import F, Q
from django.urls import reverse
from django.utils import timezone

from .composition import HIT_SIZES, MAX_HIT_SIZE, Role
from .languages import validate_language_code

SCORE_MIN, SCORE_MAX = 0, 100

# A segment's mean score is stable from 15 ratings on (Graham et al., NAACL 2015).
DEFAULT_MIN_RATINGS = 15

# The longest text a worker can reasonably be shown, and far above any segment of a test set.
MAX_TEXT_LENGTH = 10_000

SEED_LIMIT = 2**63

ROLE_CHOICES = [(role.value, role.label) for role in Role]


def new_seed() -> int:
    # Fits in 53 bits, so that it survives a journey through JSON.
    return secrets.randbelow(2**53)


def validate_hit_size(size: int) -> None:
    if size not in HIT_SIZES:
        raise ValidationError(
            f"A HIT has an even number of sets of 10 items, at least 4 of them: "
            f"{', '.join(map(str, HIT_SIZES))} items."
        )


class Campaign(models.Model):
    """One collection effort: what is rated, how, by how many, and for how much."""

    class Task(models.TextChoices):
        REFERENCE_ADEQUACY = "reference", "Adequacy against the reference"
        SOURCE_ADEQUACY = "source", "Adequacy against the source (bilingual)"
        FLUENCY = "fluency", "Fluency"

    class Status(models.TextChoices):
        DRAFT = "draft", "Draft"
        OPEN = "open", "Open"
        PAUSED = "paused", "Paused"
        CLOSED = "closed", "Closed"

    code = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    name = models.CharField(max_length=100, unique=True)
    source_language = models.CharField(max_length=35, validators=[validate_language_code])
    target_language = models.CharField(max_length=35, validators=[validate_language_code])
    task = models.CharField(max_length=9, choices=Task.choices, default=Task.REFERENCE_ADEQUACY)
    status = models.CharField(max_length=6, choices=Status.choices, default=Status.DRAFT)
    hit_size = models.PositiveSmallIntegerField(default=100, validators=[validate_hit_size])
    min_ratings = models.PositiveSmallIntegerField(
        default=DEFAULT_MIN_RATINGS,
        validators=[MinValueValidator(1)],
        help_text="Trusted ratings that each translation needs.",
    )
    seed = models.BigIntegerField(
        default=new_seed,
        validators=[MinValueValidator(0), MaxValueValidator(SEED_LIMIT - 1)],
        help_text="The same texts and seed give the same HITs.",
    )
    merges_near_identical = models.BooleanField(
        default=False,
        help_text="Rate translations once that differ in case, punctuation or white space only.",
    )
    interface_language = models.CharField(
        max_length=7,
        blank=True,
        choices=settings.LANGUAGES,
        help_text="Of buttons and messages. Blank: the target language, or English if it is not among these.",
    )
    instructions = models.TextField(blank=True)
    pay_per_hit = models.DecimalField(
        max_digits=8, decimal_places=2, default=0, validators=[MinValueValidator(0)]
    )
    currency = models.CharField(max_length=3, default="USD", help_text="ISO 4217, such as EUR.")
    lease_minutes = models.PositiveIntegerField(
        default=180,
        validators=[MinValueValidator(1)],
        help_text="How long a worker may take for a HIT before its place is offered to another.",
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [
            models.CheckConstraint(name="campaign_name_is_not_empty", condition=~Q(name="")),
            models.CheckConstraint(
                name="campaign_task_is_known",
                condition=Q(task__in=["reference", "source", "fluency"]),
            ),
            models.CheckConstraint(
                name="campaign_status_is_known",
                condition=Q(status__in=["draft", "open", "paused", "closed"]),
            ),
            models.CheckConstraint(
                name="campaign_hit_size_is_whole_sets", condition=Q(hit_size__in=HIT_SIZES)
            ),
            models.CheckConstraint(name="campaign_needs_a_rating", condition=Q(min_ratings__gte=1)),
            models.CheckConstraint(name="campaign_seed_is_not_negative", condition=Q(seed__gte=0)),
            models.CheckConstraint(
                name="campaign_pay_is_not_negative", condition=Q(pay_per_hit__gte=0)
            ),
            models.CheckConstraint(
                name="campaign_lease_is_positive", condition=Q(lease_minutes__gte=1)
            ),
            models.CheckConstraint(
                name="campaign_languages_are_named",
                condition=~Q(source_language="") & ~Q(target_language=""),
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        """The page where a worker begins."""
        return reverse("landing", args=[self.code])

    @property
    def page_language(self) -> str:
        """The language of buttons and messages."""
        spoken = {code.split("-")[0]: code for code, _ in settings.LANGUAGES}
        primary = self.target_language.split("-")[0].lower()
        return self.interface_language or spoken.get(primary, "en")

    @property
    def shows_references(self) -> bool:
        """Whether workers see references: without them one cannot pose as a translation."""
        return self.task == self.Task.REFERENCE_ADEQUACY


class System(models.Model):
    """What produced translations: an MT system, or a person under test."""

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="systems")
    name = models.CharField(max_length=200)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint("campaign", "name", name="system_name_is_unique"),
            models.CheckConstraint(name="system_name_is_not_empty", condition=~Q(name="")),
        ]

    def __str__(self) -> str:
        return self.name


class Segment(models.Model):
    """One source segment and its reference."""

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="segments")
    position = models.PositiveIntegerField(help_text="Place in the test set, from 1.")
    name = models.CharField(max_length=200, help_text="The segment's id in the test set.")
    document = models.CharField(max_length=200, blank=True)
    source = models.TextField(blank=True)
    reference = models.TextField(blank=True)

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint("campaign", "position", name="segment_position_is_unique"),
            models.UniqueConstraint("campaign", "name", name="segment_name_is_unique"),
            models.CheckConstraint(
                name="segment_position_counts_from_1", condition=Q(position__gte=1)
            ),
            models.CheckConstraint(name="segment_name_is_not_empty", condition=~Q(name="")),
            models.CheckConstraint(
                name="segment_has_a_text", condition=~Q(source="", reference="")
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Translation(models.Model):
    """One text that translates a segment: the thing that gets a score.

    Systems that gave the same text share the translation, so that it is rated once.
    """

    segment = models.ForeignKey(Segment, models.CASCADE, related_name="translations")
    systems = models.ManyToManyField(System, through="SystemOutput", related_name="translations")
    text = models.TextField(blank=True)
    # The text itself may be too long for an index. See `importing.fingerprint`.
    fingerprint = models.BinaryField(max_length=16)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                "segment", "fingerprint", name="translation_is_unique_in_its_segment"
            ),
        ]

    def __str__(self) -> str:
        return self.text


class SystemOutput(models.Model):
    """What a system gave for a segment; the translation it shares may differ from it in small things."""

    system = models.ForeignKey(System, models.CASCADE, related_name="outputs")
    # Also known through the translation; here so that the database can hold a system to one output.
    segment = models.ForeignKey(Segment, models.CASCADE, related_name="outputs")
    translation = models.ForeignKey(Translation, models.CASCADE, related_name="outputs")
    own_text = models.TextField(  # noqa: DJ001
        null=True,  # An empty output is a text too: null is "just as the translation".
        help_text="The system's exact text, where near-identical ones were merged.",
    )

    class Meta:
        constraints = [
            models.UniqueConstraint("system", "segment", name="system_has_one_output_per_segment"),
        ]

    def __str__(self) -> str:
        return self.translation.text if self.own_text is None else self.own_text


class HITQuerySet(models.QuerySet["HIT"]):
    def open(self) -> "HITQuerySet":
        # No join to the campaign: an UPDATE would look for places in a subquery, which PostgreSQL does
        # not repeat for those who waited for the row, and the last place would be given out twice.
        open_campaigns = Campaign.objects.filter(status=Campaign.Status.OPEN)
        return self.filter(campaign__in=open_campaigns, places_left__gt=0)

    def not_taken_by(self, worker: "Worker") -> "HITQuerySet":
        return self.exclude(assignments__worker=worker)


class HIT(models.Model):
    """An ordered set of items that one worker does in one sitting."""

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="hits")
    code = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    number = models.PositiveIntegerField(help_text="Place in the campaign, from 1.")
    size = models.PositiveSmallIntegerField()
    places_left = models.PositiveIntegerField(help_text="Workers who can still take it.")

    objects = HITQuerySet.as_manager()

    class Meta:
        ordering = ["campaign", "number"]
        constraints = [
            models.UniqueConstraint("campaign", "number", name="hit_number_is_unique"),
            models.CheckConstraint(name="hit_number_counts_from_1", condition=Q(number__gte=1)),
            models.CheckConstraint(name="hit_size_is_whole_sets", condition=Q(size__in=HIT_SIZES)),
            models.CheckConstraint(
                name="hit_places_are_not_negative", condition=Q(places_left__gte=0)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.campaign} HIT {self.number}"


class Item(models.Model):
    """A place in a HIT: a translation in a role, and the very text that is shown."""

    Role = Role

    hit = models.ForeignKey(HIT, models.CASCADE, related_name="items")
    code = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    position = models.PositiveSmallIntegerField(help_text="Place in the HIT, from 1.")
    role = models.PositiveSmallIntegerField(choices=ROLE_CHOICES)
    translation = models.ForeignKey(Translation, models.RESTRICT, related_name="items")
    text = models.TextField(blank=True)
    partner = models.OneToOneField(
        "self",
        models.CASCADE,
        null=True,
        blank=True,
        related_name="qc_item",
        help_text="The genuine item whose score this one is compared with.",
    )

    class Meta:
        ordering = ["hit", "position"]
        constraints = [
            models.UniqueConstraint("hit", "position", name="item_position_is_unique"),
            models.UniqueConstraint(
                "hit",
                "translation",
                condition=Q(role=Role.GENUINE.value),
                name="item_is_genuine_once_in_a_hit",
            ),
            models.CheckConstraint(
                name="item_position_is_in_the_hit",
                condition=Q(position__gte=1, position__lte=MAX_HIT_SIZE),
            ),
            models.CheckConstraint(
                name="item_role_is_known",
                condition=Q(role__in=[value for value, _ in ROLE_CHOICES]),
            ),
            models.CheckConstraint(
                name="item_has_a_partner_unless_genuine",
                condition=Q(role=Role.GENUINE.value, partner=None)
                | (~Q(role=Role.GENUINE.value) & Q(partner__isnull=False)),
            ),
            models.CheckConstraint(
                name="item_is_not_its_own_partner", condition=~Q(partner=F("id"))
            ),
        ]

    def __str__(self) -> str:
        return f"{self.hit_id}/{self.position}"


class Worker(models.Model):
    """A person who rates, known by the id that the way in gave them and by nothing else."""

    code = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    provider = models.CharField(max_length=20, help_text="The way in, such as link or prolific.")
    external_id = models.CharField(max_length=200)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint("provider", "external_id", name="worker_is_known_once"),
            models.CheckConstraint(
                name="worker_has_an_id", condition=~Q(provider="") & ~Q(external_id="")
            ),
        ]

    def __str__(self) -> str:
        return f"{self.provider}:{self.external_id}"


class Participation(models.Model):
    """A worker's way into a campaign: consent, practice, and whether it ends there."""

    MAX_CHECK_TRIES = 2

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="participations")
    worker = models.ForeignKey(Worker, models.CASCADE, related_name="participations")
    consented_at = models.DateTimeField(default=timezone.now)
    n_check_tries = models.PositiveSmallIntegerField(
        default=0, help_text="Wrong answers to the question about the instructions."
    )
    qualified_at = models.DateTimeField(
        null=True, blank=True, help_text="When practice and question were done."
    )
    is_excluded = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint("campaign", "worker", name="worker_participates_once"),
            models.CheckConstraint(
                name="participation_check_has_two_tries",
                condition=Q(n_check_tries__lte=2),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.worker} in {self.campaign}"

    @property
    def is_screened_out(self) -> bool:
        return self.qualified_at is None and self.n_check_tries >= self.MAX_CHECK_TRIES


class AssignmentQuerySet(models.QuerySet["Assignment"]):
    def open(self) -> "AssignmentQuerySet":
        """Still to be finished: in progress, or expired and welcome to come back."""
        return self.filter(status__in=Assignment.OPEN_STATUSES)

    def in_progress(self) -> "AssignmentQuerySet":
        return self.filter(status=Assignment.Status.IN_PROGRESS)

    def expired(self) -> "AssignmentQuerySet":
        return self.filter(status=Assignment.Status.EXPIRED)

    def submitted(self) -> "AssignmentQuerySet":
        return self.filter(status=Assignment.Status.SUBMITTED)


class Assignment(models.Model):
    """One worker doing one HIT."""

    class Status(models.TextChoices):
        IN_PROGRESS = "in_progress", "In progress"
        EXPIRED = "expired", "Expired"
        RETURNED = "returned", "Returned"
        SUBMITTED = "submitted", "Submitted"

    OPEN_STATUSES = (Status.IN_PROGRESS, Status.EXPIRED)

    hit = models.ForeignKey(HIT, models.PROTECT, related_name="assignments")
    worker = models.ForeignKey(Worker, models.PROTECT, related_name="assignments")
    code = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    status = models.CharField(max_length=11, choices=Status.choices, default=Status.IN_PROGRESS)
    started_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField(help_text="Until then the place is the worker's.")
    submitted_at = models.DateTimeField(null=True, blank=True)
    is_late = models.BooleanField(
        default=False, help_text="Submitted after its place had been given away."
    )
    completion_code = models.CharField(max_length=32, blank=True)
    comment = models.TextField(blank=True)

    objects = AssignmentQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
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
                name="assignment_expires_after_its_start",
                condition=Q(expires_at__gt=F("started_at")),
            ),
        ]

    def __str__(self) -> str:
        return str(self.code)


class Rating(models.Model):
    """One worker's score for one item. Rows are added, never changed.

    Tens of millions of these must fit, so a row holds nothing that another table knows, and its
    two foreign keys are its primary key.
    """

    pk = models.CompositePrimaryKey("assignment_id", "item_id")
    # The primary key begins with the assignment: no index of its own.
    assignment = models.ForeignKey(
        Assignment, models.PROTECT, related_name="ratings", db_index=False
    )
    item = models.ForeignKey(Item, models.PROTECT, related_name="ratings")
    score = models.PositiveSmallIntegerField()
    received_at = models.DateTimeField(default=timezone.now, help_text="By the server's clock.")
    # What the browser says, and so only a hint.
    elapsed_ms = models.PositiveIntegerField(null=True, help_text="From shown to rated.")
    active_ms = models.PositiveIntegerField(null=True, help_text="Of that, with the page in view.")

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="rating_is_0_to_100", condition=Q(score__gte=SCORE_MIN, score__lte=SCORE_MAX)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.assignment_id}/{self.item_id}: {self.score}"
