"""What is rated: the systems and segments of a campaign, and their translations."""

from django.db import models
from django.db.models import Q

from .campaigns import ARCHIVED_HELP, Campaign


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
    # The source itself, if it is not a text; the text is then its transcript, if there is one.
    media = models.ForeignKey(
        "hits.MediaFile", models.PROTECT, null=True, blank=True, related_name="segments"
    )
    captions = models.ForeignKey(
        "hits.MediaFile", models.PROTECT, null=True, blank=True, related_name="captioned_segments"
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
                condition=~Q(source="", reference="")
                | Q(is_archived=True)
                | Q(media__isnull=False),
            ),
            models.CheckConstraint(
                name="segment_captions_belong_to_media",
                condition=Q(captions=None) | Q(media__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return self.name


class TranslationQuerySet(models.QuerySet["Translation"]):
    def to_rate(self, campaign: Campaign) -> "TranslationQuerySet":
        """A campaign's translations; of one with a random sample or with looks, those in its HITs."""
        translations = self.filter(segment__campaign=campaign)
        if not campaign.rates_some:
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


class SampleChance(models.Model):
    """How likely a translation was to be drawn into its campaign's sample. Only kept where chances differ."""

    translation = models.OneToOneField(
        Translation, models.CASCADE, primary_key=True, related_name="sample_chance"
    )
    chance = models.FloatField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="sample_chance_is_a_probability", condition=Q(chance__gt=0, chance__lte=1)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.translation_id}: {self.chance}"


class SystemOutputQuerySet(models.QuerySet["SystemOutput"]):
    def to_rate(self, campaign: Campaign) -> "SystemOutputQuerySet":
        """A campaign's outputs; of one with a random sample or with looks, those whose translation is in its HITs."""
        outputs = self.filter(system__campaign=campaign)
        if not campaign.rates_some:
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
