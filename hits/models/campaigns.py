"""A campaign and its settings. What is rated in it is in `texts.py`."""

import secrets
import uuid
from enum import StrEnum
from typing import TYPE_CHECKING

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone

from analysis.stats.thresholds import (
    ALPHA,
    FEWEST_LOOKS,
    LEAST_CHANCE,
    MINIMUM_RATINGS,
    MOST_LOOKS,
)

from .. import guidance_files
from ..hit_sizes import MAX_HIT_SIZE
from ..languages import closest_language, validate_language_code
from ..task_facts import facts_of, kinds, task_choices

if TYPE_CHECKING:
    from .texts import Segment

SEED_LIMIT = 2**63

# 30 days: a HIT is done in one sitting, and dates cannot overflow.
MAX_LEASE_MINUTES = 30 * 24 * 60
# One id once did 59 HITs: a limit keeps a single worker, or script, from deciding a campaign.
DEFAULT_HITS_PER_WORKER = 10

# Outputs that are ranked together: five at WMT; two is a choice between a pair.
FEWEST_OUTPUTS, MOST_OUTPUTS = 2, 5
# Segments of a document that one worker rates in a row: ten at WMT.
SHORTEST_RUN, DEFAULT_RUN_LENGTH, LONGEST_RUN = 2, 10, 20

# Stored on each row, because constraints cannot look up the campaign.
ARCHIVED_HELP = "Part of an archive: HITs collected elsewhere need not have our layout."


def new_seed() -> int:
    # Fits in 53 bits, so that JSON does not lose digits.
    return secrets.randbelow(2**53)


def interface_languages() -> list[tuple[str, str]]:
    # A function, so that another language is no migration.
    known = dict(settings.LANGUAGES)
    return [
        *known.items(),
        *((c, name) for c, name in guidance_files.interface_languages() if c not in known),
    ]


class CampaignQuerySet(models.QuerySet["Campaign"]):
    def kept(self) -> "CampaignQuerySet":
        """Campaigns that were not removed."""
        return self.filter(removed_at=None)

    def examples(self) -> "CampaignQuerySet":
        return self.kept().filter(is_example=True)


class Campaign(models.Model):
    """One collection effort: what is rated, how, by how many workers, and for how much pay."""

    class Task(StrEnum):
        """The tasks that code refers to by name; `task_facts` knows all, with their labels."""

        REFERENCE_ADEQUACY = "reference"
        SOURCE_ADEQUACY = "source"
        FLUENCY = "fluency"
        EDIT = "edit"
        RANK = "rank"

    class Shows(models.TextChoices):
        """What workers see next to a translation."""

        REFERENCE = "reference", "The reference"
        SOURCE = "source", "The source"
        BOTH = "both", "The source and the reference"
        NOTHING = "nothing", "Nothing"

    class Presentation(models.TextChoices):
        """How translations that are rated are shown."""

        ALONE = "alone", "One at a time"
        DOCUMENT = "document", "In their document"
        SIDE_BY_SIDE = "side", "Several outputs side by side"

    class Degradation(models.TextChoices):
        """How degraded texts are made."""

        BALANCED = "balanced", "Balanced: a script that compares texts cannot spot them"
        PUBLISHED = "published", "Published: as in Graham et al. (2017)"

    class TrustRule(models.TextChoices):
        """How evidence about a worker becomes a verdict."""

        GUARDED = "guarded", "Guarded: pairs and agreement decide, for or against"
        PUBLISHED = "published", "Published: the test of the pairs decides after every HIT"

    class OutputChoice(models.TextChoices):
        """Which outputs of a segment are ranked together."""

        RANDOM = "random", "Random"
        UNDECIDED = "undecided", "Overlapping rank ranges first"

    class SampleChoice(models.TextChoices):
        """Which translations are rated if not all are."""

        RANDOM = "random", "At random"
        STRATIFIED = "stratified", "At random, spread evenly over lengths and documents"
        DIFFERING = "differing", "More often where the systems’ texts differ"
        METRICS = (
            "metrics",
            "More often where metrics differ between systems or contradict each other",
        )

    class Goal(models.TextChoices):
        """What looks decide."""

        RANKING = "ranking", "Systems: until pairs are told apart"
        GOLD = "gold", "Translations: until scores are precise enough"

    class Spending(models.TextChoices):
        """How the level of the tests is spread over the looks."""

        OBRIEN_FLEMING = "obrien_fleming", "Strict early (O'Brien-Fleming)"
        POCOCK = "pocock", "Nearly the same at every look, as Pocock"

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
    task = models.CharField(
        max_length=20, choices=task_choices, default=Task.REFERENCE_ADEQUACY.value
    )
    shows = models.CharField(
        max_length=9,
        choices=Shows.choices,
        blank=True,
        help_text="What workers see next to a translation. Blank: as the task says.",
    )
    presentation = models.CharField(
        max_length=8,
        choices=Presentation.choices,
        default=Presentation.ALONE,
        help_text="For rating: how translations are shown.",
    )
    run_length = models.PositiveSmallIntegerField(
        default=DEFAULT_RUN_LENGTH,
        validators=[MinValueValidator(SHORTEST_RUN), MaxValueValidator(LONGEST_RUN)],
        help_text="In documents: the most segments that a worker rates in a row.",
    )
    scores_documents = models.BooleanField(
        default=False,
        help_text="In documents: also ask for a score of the whole after the last segment.",
    )
    status = models.CharField(max_length=6, choices=Status.choices, default=Status.DRAFT)
    hit_size = models.PositiveSmallIntegerField(default=100)
    outputs_per_screen = models.PositiveSmallIntegerField(
        default=MOST_OUTPUTS,
        validators=[MinValueValidator(FEWEST_OUTPUTS), MaxValueValidator(MOST_OUTPUTS)],
        help_text="For ranking, and for rating side by side: how many outputs of a segment are shown together, from 2 to 5.",
    )
    output_choice = models.CharField(
        max_length=9,
        choices=OutputChoice.choices,
        default=OutputChoice.RANDOM,
        help_text="For ranking: which outputs are shown together.",
    )
    judgements_per_pair = models.PositiveIntegerField(
        null=True,
        blank=True,
        validators=[MinValueValidator(1)],
        help_text="For ranking: the most trusted judgements that a pair of systems gets. Blank: each output once.",
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
    sample_choice = models.CharField(
        max_length=10,
        choices=SampleChoice.choices,
        default=SampleChoice.RANDOM,
        help_text="Which translations are drawn, if not all are rated.",
    )
    n_looks = models.PositiveSmallIntegerField(
        null=True,
        blank=True,
        validators=[MinValueValidator(FEWEST_LOOKS), MaxValueValidator(MOST_LOOKS)],
        help_text="For rating: divide the work into this many parts, test the ranking after each, and stop when it is decided. Blank: never.",
    )
    looks_goal = models.CharField(max_length=7, choices=Goal.choices, default=Goal.RANKING)
    looks_width = models.FloatField(
        default=0.25,
        validators=[MinValueValidator(0.01), MaxValueValidator(2)],
        help_text="For scores of translations: the standard error, in z, at which a score is certain enough.",
    )
    looks_alpha = models.FloatField(
        default=ALPHA,
        validators=[MinValueValidator(0.001), MaxValueValidator(0.2)],
        help_text="The chance of any wrong conclusion, over all pairs of systems and all looks.",
    )
    looks_spending = models.CharField(
        max_length=14, choices=Spending.choices, default=Spending.OBRIEN_FLEMING
    )
    looks_least_chance = models.FloatField(
        default=LEAST_CHANCE,
        validators=[MinValueValidator(0), MaxValueValidator(0.9)],
        help_text="Pairs with a lower chance of being decided by the last look get no more ratings.",
    )
    stopped_at = models.DateTimeField(
        null=True, blank=True, editable=False, help_text="When the last look ended the collection."
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
        help_text="Its own statement, examples, practice, question and buttons: see hits.guidance_files.",
    )
    questionnaire = models.JSONField(
        default=dict,
        blank=True,
        editable=False,
        help_text="Questions about workers, before or after the task: see hits.questionnaires.",
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
    checks = models.ForeignKey(
        "self",
        models.PROTECT,
        null=True,
        editable=False,
        related_name="checked_in",
        help_text="The campaign whose post-editions are checked here, by other workers.",
    )
    has_media = models.BooleanField(
        default=False,
        editable=False,
        help_text="Some sources are pictures, sounds or videos.",
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
            models.CheckConstraint(name="campaign_has_a_task", condition=~Q(task="")),
            models.CheckConstraint(
                name="campaign_shows_is_known",
                condition=Q(shows__in=["", "reference", "source", "both", "nothing"]),
            ),
            models.CheckConstraint(
                name="campaign_presentation_is_known",
                condition=Q(presentation__in=["alone", "document", "side"]),
            ),
            models.CheckConstraint(
                name="campaign_presents_ratings_only",
                condition=Q(presentation="alone") | Q(task__in=["reference", "source", "fluency"]),
            ),
            models.CheckConstraint(
                name="campaign_runs_are_2_to_20_segments",
                condition=Q(run_length__gte=SHORTEST_RUN, run_length__lte=LONGEST_RUN),
            ),
            models.CheckConstraint(
                name="campaign_scores_documents_it_shows",
                condition=Q(scores_documents=False) | Q(presentation="document"),
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
                name="campaign_output_choice_is_known",
                condition=Q(output_choice__in=["random", "undecided"]),
            ),
            models.CheckConstraint(
                name="campaign_needs_a_judgement_per_pair",
                condition=Q(judgements_per_pair=None) | Q(judgements_per_pair__gte=1),
            ),
            models.CheckConstraint(
                name="campaign_looks_are_possible",
                condition=Q(n_looks=None) | Q(n_looks__gte=FEWEST_LOOKS, n_looks__lte=MOST_LOOKS),
            ),
            models.CheckConstraint(
                name="campaign_goal_of_looks_is_known",
                condition=Q(looks_goal__in=["ranking", "gold"]),
            ),
            models.CheckConstraint(
                name="campaign_width_of_looks_is_positive", condition=Q(looks_width__gt=0)
            ),
            models.CheckConstraint(
                name="campaign_level_of_looks_is_a_chance",
                condition=Q(looks_alpha__gt=0, looks_alpha__lt=1),
            ),
            models.CheckConstraint(
                name="campaign_least_chance_is_a_chance",
                condition=Q(looks_least_chance__gte=0, looks_least_chance__lt=1),
            ),
            models.CheckConstraint(
                name="campaign_spending_of_looks_is_known",
                condition=Q(looks_spending__in=["obrien_fleming", "pocock"]),
            ),
            models.CheckConstraint(
                name="campaign_is_stopped_by_looks",
                condition=Q(stopped_at=None) | Q(n_looks__isnull=False),
            ),
            models.CheckConstraint(
                name="campaign_sample_is_not_empty",
                condition=Q(sample_size=None) | Q(sample_size__gte=1),
            ),
            models.CheckConstraint(
                name="campaign_sample_choice_is_known",
                condition=Q(sample_choice__in=["random", "stratified", "differing", "metrics"]),
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
        facts = facts_of(self.task)
        if self.shows and not facts.can_choose_what_it_shows:
            raise ValidationError(
                "Only post-editing can choose what is shown: rating says so by its task."
            )
        if (self.presentation, self.task) not in kinds() and facts.value:
            raise ValidationError(
                {"presentation": "Only ratings are given in documents or side by side."}
            )
        is_random = self.sample_choice == self.SampleChoice.RANDOM
        if self.presentation != self.Presentation.ALONE and not is_random:
            raise ValidationError(
                {"sample_choice": "What is not shown alone can only be sampled at random."}
            )
        if self.scores_documents and not self.is_in_documents:
            raise ValidationError(
                {"scores_documents": "Scores of whole documents need presentation in documents."}
            )
        is_plain = "n_looks" in facts.settings and self.presentation == self.Presentation.ALONE
        if self.n_looks and not is_plain:
            raise ValidationError(
                {"n_looks": "Only campaigns that rate single translations can have interim tests."}
            )
        if self.n_looks and self.has_uneven_sample:
            raise ValidationError(
                {"n_looks": "Looks need a sample in which all translations have the same chance."}
            )
        is_by_metrics = self.sample_choice == self.SampleChoice.METRICS
        if self.task == self.Task.RANK and is_by_metrics:
            raise ValidationError(
                {
                    "sample_choice": "HITs are added to rankings later, so metrics cannot be used to choose the sample."
                }
            )
        kind = kinds().get((self.presentation, self.task))
        if self.has_media and kind and not kind.shows_media:
            raise ValidationError({"task": "This task cannot show pictures, sounds and videos."})
        # Not a validator of the field, because it depends on the task.
        if not self.is_archive and self.hit_size not in facts.sizes:
            raise ValidationError({"hit_size": facts.sizes.refusal})

    @property
    def has_uneven_sample(self) -> bool:
        """Whether some translations were likelier to be drawn than others, by choice."""
        return self.sample_size is not None and self.sample_choice in (
            self.SampleChoice.DIFFERING,
            self.SampleChoice.METRICS,
        )

    @property
    def page_language(self) -> str:
        """The language of buttons and messages."""
        spoken = [code for code, _ in interface_languages()]
        return self.interface_language or closest_language(self.target_language, spoken) or "en"

    @property
    def effective_shows(self) -> str:
        """What workers see next to a translation: one of `Shows`."""
        return self.shows or facts_of(self.task).shows

    @property
    def shows_references(self) -> bool:
        """Whether workers see references. If so, a reference cannot pose as a translation."""
        return self.effective_shows in (self.Shows.REFERENCE, self.Shows.BOTH)

    @property
    def is_in_documents(self) -> bool:
        """Whether workers rate translations in their documents."""
        return self.presentation == self.Presentation.DOCUMENT

    @property
    def looks_at_gold(self) -> bool:
        """Whether looks ask for more ratings of single translations, not of systems."""
        return self.n_looks is not None and self.looks_goal == self.Goal.GOLD

    @property
    def rates_some(self) -> bool:
        """Whether only the translations in HITs are to be rated: a sample, or those that looks have asked for."""
        return self.sample_size is not None or (self.n_looks is not None and not self.looks_at_gold)

    @property
    def ranks_pairs(self) -> bool:
        """Whether HITs are added until pairs of systems have enough judgements."""
        is_adaptive = self.output_choice == self.OutputChoice.UNDECIDED
        is_limited = self.judgements_per_pair is not None
        return self.task == self.Task.RANK and (is_adaptive or is_limited)

    def gray_text(self, segment: "Segment") -> str:
        """What workers see in gray above the segment's translations, if anything."""
        if self.effective_shows == self.Shows.NOTHING:
            return ""
        return segment.reference if self.shows_references else segment.source
