"""What is rated: a campaign, its systems, its segments and their translations."""

import secrets
import uuid

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone

from analysis.stats.thresholds import MINIMUM_RATINGS

from ..hit_sizes import MAX_HIT_SIZE, sizes_of
from ..languages import closest_language, validate_language_code

SEED_LIMIT = 2**63

# 30 days: a HIT is done in one sitting, and dates cannot overflow.
MAX_LEASE_MINUTES = 30 * 24 * 60
# One id once did 59 HITs: a limit keeps a single worker, or script, from deciding a campaign.
DEFAULT_HITS_PER_WORKER = 10

# Outputs that are ranked together: five at WMT; two is a choice between a pair.
FEWEST_OUTPUTS, MOST_OUTPUTS = 2, 5

# Stored on each row, because constraints cannot look up the campaign.
ARCHIVED_HELP = "Part of an archive: HITs collected elsewhere need not have our layout."


def new_seed() -> int:
    # Fits in 53 bits, so that JSON does not lose digits.
    return secrets.randbelow(2**53)


def interface_languages() -> list[tuple[str, str]]:
    # A function, so that another language is no migration.
    return list(settings.LANGUAGES)


class CampaignQuerySet(models.QuerySet["Campaign"]):
    def kept(self) -> "CampaignQuerySet":
        """Campaigns that were not removed."""
        return self.filter(removed_at=None)

    def examples(self) -> "CampaignQuerySet":
        return self.kept().filter(is_example=True)


class Campaign(models.Model):
    """One collection effort: what is rated, how, by how many workers, and for how much pay."""

    class Task(models.TextChoices):
        REFERENCE_ADEQUACY = "reference", "Adequacy against the reference"
        SOURCE_ADEQUACY = "source", "Adequacy against the source (bilingual)"
        FLUENCY = "fluency", "Fluency"
        EDIT = "edit", "Post-editing"
        RANK = "rank", "Relative ranking of several outputs"

    class Shows(models.TextChoices):
        """What workers see next to a translation."""

        REFERENCE = "reference", "The reference"
        SOURCE = "source", "The source"
        BOTH = "both", "The source and the reference"
        NOTHING = "nothing", "Nothing"

    class Degradation(models.TextChoices):
        """How degraded texts are made."""

        BALANCED = "balanced", "Balanced: a script that compares texts cannot spot them"
        PUBLISHED = "published", "Published: as in Graham et al. (2017)"

    class TrustRule(models.TextChoices):
        """How evidence about a worker becomes a verdict."""

        GUARDED = "guarded", "Guarded: pairs and agreement decide, for or against"
        PUBLISHED = "published", "Published: the test of the pairs decides after every HIT"

    class Drift(models.TextChoices):
        """What happens to the ratings of workers who became unreliable."""

        COUNT = "count", "Count all their ratings"
        LEAVE_OUT_SINCE = "since", "Leave out their ratings since then"
        LEAVE_OUT = "all", "Leave out all their ratings"

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
    shows = models.CharField(
        max_length=9,
        choices=Shows.choices,
        blank=True,
        help_text="What workers see next to a translation. Blank: as the task says.",
    )
    status = models.CharField(max_length=6, choices=Status.choices, default=Status.DRAFT)
    hit_size = models.PositiveSmallIntegerField(default=100)
    outputs_per_screen = models.PositiveSmallIntegerField(
        default=MOST_OUTPUTS,
        validators=[MinValueValidator(FEWEST_OUTPUTS), MaxValueValidator(MOST_OUTPUTS)],
        help_text="For ranking: how many outputs of a segment are shown together, from 2 to 5.",
    )
    min_ratings = models.PositiveSmallIntegerField(
        default=MINIMUM_RATINGS,
        validators=[MinValueValidator(1)],
        help_text="Trusted ratings that each translation needs.",
    )
    sample_size = models.PositiveIntegerField(
        null=True,
        blank=True,
        validators=[MinValueValidator(1)],
        help_text="Translations to rate, drawn at random; the others are kept. Blank: all.",
    )
    seed = models.BigIntegerField(
        default=new_seed,
        validators=[MinValueValidator(0), MaxValueValidator(SEED_LIMIT - 1)],
        help_text="The same texts and seed produce the same HITs.",
    )
    merges_near_identical = models.BooleanField(
        default=False,
        help_text="Rate translations that differ only in case, punctuation or white space once.",
    )
    interface_language = models.CharField(
        max_length=35,
        blank=True,
        choices=interface_languages,
        help_text="For buttons and messages. Blank: the target language, or English if it is not available.",
    )
    instructions = models.TextField(blank=True)
    guidance = models.JSONField(
        default=dict,
        blank=True,
        editable=False,
        help_text="Its own statement, examples, practice, question and buttons: see hits.rating.guidance.",
    )
    run_by = models.CharField(
        max_length=200,
        blank=True,
        help_text="Who runs it, as workers see it. Blank: the platform's name for all campaigns.",
    )
    contact = models.CharField(
        max_length=200,
        blank=True,
        help_text="Where workers can write to. Blank: the platform's address for all campaigns.",
    )
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
        validators=[MinValueValidator(1), MaxValueValidator(MAX_LEASE_MINUTES)],
        help_text="How long a worker may take for a HIT before its place is offered to someone else.",
    )
    degradation = models.CharField(
        max_length=9, choices=Degradation.choices, default=Degradation.BALANCED
    )
    shows_gray_references = models.BooleanField(
        default=False,
        help_text="With balanced degradation: also rate a few references that equal the gray text.",
    )
    trust_rule = models.CharField(
        max_length=9, choices=TrustRule.choices, default=TrustRule.GUARDED
    )
    drift = models.CharField(max_length=5, choices=Drift.choices, default=Drift.COUNT)
    max_hits_per_worker = models.PositiveSmallIntegerField(
        default=DEFAULT_HITS_PER_WORKER,
        null=True,
        blank=True,
        validators=[MinValueValidator(1)],
        help_text="Blank: no limit.",
    )
    records_signals = models.BooleanField(
        default=True,
        help_text="Record how items were rated (counts of clicks and keys) and mark shared devices.",
    )
    has_canary = models.BooleanField(
        default=False,
        help_text="Hide an instruction on the page that only a program would follow.",
    )
    is_archive = models.BooleanField(
        default=False,
        editable=False,
        help_text="Collected elsewhere and imported when finished. Texts may be missing.",
    )
    is_example = models.BooleanField(
        default=False,
        editable=False,
        help_text="Made by the platform to look at, with simulated workers.",
    )
    # The audit log keeps referring to the campaign, so the row of a removed example stays.
    removed_at = models.DateTimeField(null=True, blank=True, editable=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    objects = CampaignQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [
            models.CheckConstraint(name="campaign_name_is_not_empty", condition=~Q(name="")),
            models.CheckConstraint(
                name="campaign_task_is_known",
                condition=Q(task__in=["reference", "source", "fluency", "edit", "rank"]),
            ),
            models.CheckConstraint(
                name="campaign_shows_is_known",
                condition=Q(shows__in=["", "reference", "source", "both", "nothing"]),
            ),
            models.CheckConstraint(
                name="campaign_status_is_known",
                condition=Q(status__in=["draft", "open", "paused", "closed"]),
            ),
            models.CheckConstraint(
                name="campaign_hit_size_is_possible",
                condition=Q(hit_size__gte=1, hit_size__lte=MAX_HIT_SIZE)
                | Q(is_archive=True, hit_size__gte=1),
            ),
            models.CheckConstraint(
                name="campaign_is_closed_if_archive",
                condition=Q(is_archive=False) | Q(status="closed"),
            ),
            models.CheckConstraint(
                name="campaign_is_removed_only_if_example",
                condition=Q(removed_at=None) | Q(is_example=True, status="closed"),
            ),
            models.CheckConstraint(
                name="campaign_degradation_is_known",
                condition=Q(degradation__in=["balanced", "published"]),
            ),
            models.CheckConstraint(
                name="campaign_trust_rule_is_known",
                condition=Q(trust_rule__in=["guarded", "published"]),
            ),
            models.CheckConstraint(
                name="campaign_drift_is_known", condition=Q(drift__in=["count", "since", "all"])
            ),
            models.CheckConstraint(
                name="campaign_limit_per_worker_is_positive",
                condition=Q(max_hits_per_worker=None) | Q(max_hits_per_worker__gte=1),
            ),
            models.CheckConstraint(
                name="campaign_shows_2_to_5_outputs",
                condition=Q(
                    outputs_per_screen__gte=FEWEST_OUTPUTS, outputs_per_screen__lte=MOST_OUTPUTS
                ),
            ),
            models.CheckConstraint(
                name="campaign_sample_is_not_empty",
                condition=Q(sample_size=None) | Q(sample_size__gte=1),
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
                name="campaign_lease_is_not_endless",
                condition=Q(lease_minutes__lte=MAX_LEASE_MINUTES),
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

    def clean(self) -> None:
        if self.shows and self.task in RATING_TASKS:
            raise ValidationError(
                "Only post-editing can choose what is shown: rating says so by its task."
            )
        # Not a validator of the field, because it depends on the task.
        if not self.is_archive and self.hit_size not in (sizes := sizes_of(self.task)):
            raise ValidationError({"hit_size": sizes.refusal})

    @property
    def page_language(self) -> str:
        """The language of buttons and messages."""
        spoken = [code for code, _ in settings.LANGUAGES]
        return self.interface_language or closest_language(self.target_language, spoken) or "en"

    @property
    def effective_shows(self) -> str:
        """What workers see next to a translation: one of `Shows`."""
        return self.shows or SHOWN_BY_TASK[self.task]

    @property
    def shows_references(self) -> bool:
        """Whether workers see references. If so, a reference cannot pose as a translation."""
        return self.effective_shows in (self.Shows.REFERENCE, self.Shows.BOTH)

    def gray_text(self, segment: "Segment") -> str:
        """What workers see in gray above the segment's translations, if anything."""
        if self.effective_shows == self.Shows.NOTHING:
            return ""
        return segment.reference if self.shows_references else segment.source


RATING_TASKS = (
    Campaign.Task.REFERENCE_ADEQUACY,
    Campaign.Task.SOURCE_ADEQUACY,
    Campaign.Task.FLUENCY,
)


# A post-edition is expensive, and one is enough for HTER. Rankings are about systems, not about single outputs.
ONCE_IS_ENOUGH = (Campaign.Task.EDIT, Campaign.Task.RANK)


def usual_settings(task: str) -> dict[str, int]:
    """The settings whose usual value depends on the task."""
    return {
        "hit_size": sizes_of(task).default,
        "min_ratings": 1 if task in ONCE_IS_ENOUGH else MINIMUM_RATINGS,
    }


# What workers see next to a translation where the campaign does not say.
SHOWN_BY_TASK: dict[str, str] = {
    Campaign.Task.REFERENCE_ADEQUACY: Campaign.Shows.REFERENCE,
    Campaign.Task.SOURCE_ADEQUACY: Campaign.Shows.SOURCE,
    Campaign.Task.FLUENCY: Campaign.Shows.NOTHING,
    Campaign.Task.RANK: Campaign.Shows.BOTH,
    Campaign.Task.EDIT: Campaign.Shows.REFERENCE,
}


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
    second_reference = models.TextField(
        blank=True,
        help_text="Another reference or a paraphrase. Rated as a hidden item, never shown in gray.",
    )
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


class TranslationQuerySet(models.QuerySet["Translation"]):
    def to_rate(self, campaign: Campaign) -> "TranslationQuerySet":
        """A campaign's translations; of one with a random sample, those in its HITs."""
        translations = self.filter(segment__campaign=campaign)
        if campaign.sample_size is None:
            return translations
        return translations.filter(items__isnull=False).distinct()


class Translation(models.Model):
    """One text that translates a segment: the thing that gets a score.

    Systems that gave the same text share the translation, so that it is rated once.
    """

    segment = models.ForeignKey(Segment, models.CASCADE, related_name="translations")
    systems = models.ManyToManyField(System, through="SystemOutput", related_name="translations")
    text = models.TextField(blank=True)
    # The text itself may be too long for an index. See `importing.fingerprint`.
    fingerprint = models.BinaryField(max_length=16)

    objects = TranslationQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                "segment", "fingerprint", name="translation_is_unique_in_its_segment"
            ),
        ]

    def __str__(self) -> str:
        return self.text


class SystemOutputQuerySet(models.QuerySet["SystemOutput"]):
    def to_rate(self, campaign: Campaign) -> "SystemOutputQuerySet":
        """A campaign's outputs; of one with a random sample, those whose translation is in its HITs."""
        outputs = self.filter(system__campaign=campaign)
        if campaign.sample_size is None:
            return outputs
        return outputs.filter(
            translation__in=Translation.objects.to_rate(campaign).order_by().values("pk")
        )


class SystemOutput(models.Model):
    """What a system produced for a segment. It may differ slightly from the translation it shares."""

    system = models.ForeignKey(System, models.CASCADE, related_name="outputs")
    # Redundant with the translation, so that a constraint can limit a system to one output per segment.
    segment = models.ForeignKey(Segment, models.CASCADE, related_name="outputs")
    translation = models.ForeignKey(Translation, models.CASCADE, related_name="outputs")
    own_text = models.TextField(  # noqa: DJ001
        null=True,  # Null means the same text as the translation; an empty output is a text.
        help_text="The system's exact text, if near-identical outputs were merged.",
    )

    objects = SystemOutputQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint("system", "segment", name="system_has_one_output_per_segment"),
        ]

    def __str__(self) -> str:
        return self.translation.text if self.own_text is None else self.own_text
