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

from analysis.stats.roles import Role

from .composition import HIT_SIZES, MAX_HIT_SIZE
from .languages import validate_language_code

SCORE_MIN, SCORE_MAX = 0, 100

# A segment's mean score is stable from 15 ratings on (Graham et al., NAACL 2015).
DEFAULT_MIN_RATINGS = 15

# The longest text a worker can reasonably be shown, and far above any segment of a test set.
MAX_TEXT_LENGTH = 10_000

SEED_LIMIT = 2**63

# Constraints cannot look up the campaign, so its rows say it themselves.
ARCHIVED_HELP = "In an archive: what was collected elsewhere need not have the shape of our HITs."

ROLE_CHOICES = [(role.value, role.name.replace("_", " ").lower()) for role in Role]


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
    spending_cap = models.DecimalField(
        max_digits=12,
        decimal_places=2,
        null=True,
        blank=True,
        validators=[MinValueValidator(0)],
        help_text="No more HITs are handed out once this much is owed. Blank: no cap.",
    )
    lease_minutes = models.PositiveIntegerField(
        default=180,
        validators=[MinValueValidator(1)],
        help_text="How long a worker may take for a HIT before its place is offered to another.",
    )
    is_archive = models.BooleanField(
        default=False,
        editable=False,
        help_text="Collected elsewhere and imported when finished: texts may be unknown.",
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
                name="campaign_hit_size_is_whole_sets",
                condition=Q(hit_size__in=HIT_SIZES) | Q(is_archive=True, hit_size__gte=1),
            ),
            models.CheckConstraint(
                name="campaign_is_closed_if_archive",
                condition=Q(is_archive=False) | Q(status="closed"),
            ),
            models.CheckConstraint(name="campaign_needs_a_rating", condition=Q(min_ratings__gte=1)),
            models.CheckConstraint(name="campaign_seed_is_not_negative", condition=Q(seed__gte=0)),
            models.CheckConstraint(
                name="campaign_pay_is_not_negative", condition=Q(pay_per_hit__gte=0)
            ),
            models.CheckConstraint(
                name="campaign_cap_is_not_negative",
                condition=Q(spending_cap=None) | Q(spending_cap__gte=0),
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
    is_archived = models.BooleanField(default=False, help_text=ARCHIVED_HELP)

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
                name="segment_has_a_text",
                condition=~Q(source="", reference="") | Q(is_archived=True),
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
    is_archived = models.BooleanField(default=False, help_text=ARCHIVED_HELP)

    objects = HITQuerySet.as_manager()

    class Meta:
        ordering = ["campaign", "number"]
        constraints = [
            models.UniqueConstraint("campaign", "number", name="hit_number_is_unique"),
            models.CheckConstraint(name="hit_number_counts_from_1", condition=Q(number__gte=1)),
            models.CheckConstraint(
                name="hit_size_is_whole_sets",
                condition=Q(size__in=HIT_SIZES) | Q(is_archived=True, size__gte=1),
            ),
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
    partner = models.ForeignKey(
        "self",
        models.CASCADE,
        null=True,
        blank=True,
        related_name="qc_items",
        help_text="The genuine item whose score this one is compared with.",
    )
    is_archived = models.BooleanField(default=False, help_text=ARCHIVED_HELP)

    class Meta:
        ordering = ["hit", "position"]
        constraints = [
            models.UniqueConstraint("hit", "position", name="item_position_is_unique"),
            models.UniqueConstraint(
                "hit",
                "translation",
                condition=Q(role=Role.GENUINE.value, is_archived=False),
                name="item_is_genuine_once_in_a_hit",
            ),
            models.UniqueConstraint(
                "partner", condition=Q(is_archived=False), name="item_has_one_qc_item"
            ),
            models.CheckConstraint(
                name="item_position_is_in_the_hit",
                condition=Q(position__gte=1, position__lte=MAX_HIT_SIZE)
                | Q(is_archived=True, position__gte=1),
            ),
            models.CheckConstraint(
                name="item_role_is_known",
                condition=Q(role__in=[value for value, _ in ROLE_CHOICES]),
            ),
            models.CheckConstraint(
                name="item_has_a_partner_unless_genuine",
                condition=Q(role=Role.GENUINE.value, partner=None)
                | (~Q(role=Role.GENUINE.value) & (Q(partner__isnull=False) | Q(is_archived=True))),
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


class ParticipationQuerySet(models.QuerySet["Participation"]):
    def trusted(self) -> "ParticipationQuerySet":
        """Those whose ratings make gold."""
        return self.filter(
            Q(decision=Participation.Decision.REINSTATED)
            | Q(decision="", trust__in=Participation.TRUSTED)
        )

    def discarded(self) -> "ParticipationQuerySet":
        """Those whose ratings make none, so that others have to give them anew."""
        return self.filter(
            Q(decision=Participation.Decision.EXCLUDED)
            | Q(decision="", trust=Participation.Trust.UNRELIABLE)
        )


class Participation(models.Model):
    """A worker in a campaign: consent, practice, and how far the ratings can be trusted."""

    class Trust(models.TextChoices):
        """What the evidence says."""

        UNPROVEN = "unproven", "Unproven"
        RELIABLE = "reliable", "Reliable"
        DRIFTING = "drifting", "Drifting"
        UNRELIABLE = "unreliable", "Unreliable"

    class Decision(models.TextChoices):
        """What a person says instead."""

        EXCLUDED = "excluded", "Excluded"
        REINSTATED = "reinstated", "Reinstated"

    MAX_CHECK_TRIES = 2
    # A drifting worker's ratings, taken together, still pass the test.
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
        null=True, blank=True, help_text="When practice and question were done."
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
        """What holds: a person's decision, or else the evidence."""
        return self.decision or self.trust

    @property
    def is_trusted(self) -> bool:
        return self.state in {*self.TRUSTED, self.Decision.REINSTATED}

    @property
    def is_discarded(self) -> bool:
        return self.state in {self.Trust.UNRELIABLE, self.Decision.EXCLUDED}

    @property
    def is_excluded(self) -> bool:
        return self.decision == self.Decision.EXCLUDED

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
    is_rejected = models.BooleanField(default=False, help_text="Its payment was refused.")
    evidence_at = models.DateTimeField(
        null=True, blank=True, help_text="When its ratings were weighed; empty: still to be done."
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


class Evidence(models.Model):
    """What a worker's ratings in a campaign said after one more HIT. History: rows are only added.

    The numbers are those of `analysis.stats.quality_control` and `analysis.stats.flags`; one that
    could not be computed, for want of pairs, is empty.
    """

    participation = models.ForeignKey(Participation, models.CASCADE, related_name="evidence")
    assignment = models.OneToOneField(
        Assignment, models.PROTECT, related_name="evidence", help_text="The HIT that brought it."
    )
    computed_at = models.DateTimeField(default=timezone.now)
    verdict = models.CharField(max_length=10, choices=Participation.Trust.choices)
    n_hits = models.PositiveIntegerField()
    n_pairs = models.PositiveIntegerField()
    mean_difference = models.FloatField(null=True)
    t = models.FloatField(null=True)
    p = models.FloatField(null=True)
    wilcoxon_p = models.FloatField(null=True)
    n_repeats = models.PositiveIntegerField()
    repeat_mean_difference = models.FloatField(null=True)
    repeat_mean_absolute_difference = models.FloatField(null=True)
    repeat_p = models.FloatField(null=True)
    window_n_pairs = models.PositiveIntegerField()
    window_p = models.FloatField(null=True)
    mean_genuine = models.FloatField(null=True)
    mean_bad_reference = models.FloatField(null=True)
    mean_reference = models.FloatField(null=True)
    fastest_hit_seconds = models.FloatField(null=True)
    longest_run = models.PositiveIntegerField()
    n_rejected = models.PositiveIntegerField()
    has_scores_flag = models.BooleanField()
    has_time_flag = models.BooleanField()
    has_sequence_flag = models.BooleanField()
    has_rejection_flag = models.BooleanField()
    signature = models.TextField()

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"{self.participation}: {self.verdict} after {self.n_hits} HITs"


class AuditEntry(models.Model):
    """Who did what, when and why. The database refuses to change or delete an entry."""

    at = models.DateTimeField(default=timezone.now, db_index=True)
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.PROTECT,
        null=True,
        related_name="audit_entries",
        help_text="Empty: the platform itself.",
    )
    action = models.CharField(max_length=40)
    campaign = models.ForeignKey(Campaign, models.PROTECT, null=True, related_name="audit_entries")
    worker = models.ForeignKey(Worker, models.PROTECT, null=True, related_name="audit_entries")
    reason = models.TextField(blank=True)
    details = models.JSONField(default=dict)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(name="audit_entry_names_its_action", condition=~Q(action="")),
        ]

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M} {self.action}"
