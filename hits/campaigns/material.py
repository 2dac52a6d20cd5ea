"""A campaign's translations in a fixed order, with what is needed to make items from them."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from analysis.stats.roles import Role

from ..languages import is_spaced
from ..models import Campaign, Segment, SystemOutput, Translation
from . import degradation
from .balanced_degradation import BalancedDegrader
from .composition import Degrader, PlannedItem
from .degradation import DonorPool, Spacing
from .sampling import draw_sample


@dataclass(frozen=True, slots=True)
class Material:
    """A campaign's translations in a fixed order, with what is needed to make items from them."""

    pks: list[int]
    texts: list[str]
    # What a reference item shows.
    references: list[str]
    segments: list[int]
    # Makes a degraded version of the translation at an index.
    degrade: Degrader
    # How likely each translation was to be in the sample, if that differs.
    chances: dict[int, float] = field(default_factory=dict)

    def only(self, chosen: Sequence[int]) -> "Material":
        """Return some of the translations, by index; others still lend their words to degraded texts."""
        return Material(
            pks=[self.pks[index] for index in chosen],
            texts=[self.texts[index] for index in chosen],
            references=[self.references[index] for index in chosen],
            segments=[self.segments[index] for index in chosen],
            degrade=lambda index, rng: self.degrade(chosen[index], rng),
        )

    def shown_text(self, item: PlannedItem) -> str:
        if item.text is not None:
            return item.text
        texts = self.references if item.role == Role.REFERENCE else self.texts
        return texts[item.translation]


def load_material(campaign: Campaign, *, is_whole: bool = False) -> Material:
    """Load the translations to rate, or all of them if a random sample is drawn otherwise."""
    segments = {
        segment.pk: segment
        for segment in Segment.objects.filter(campaign=campaign).order_by("position")
    }
    rows = list(
        Translation.objects.filter(segment__campaign=campaign)
        .order_by("segment__position", "pk")
        .values_list("pk", "text", "segment_id")
        .iterator(chunk_size=2_000)
    )
    sample = None if is_whole else draw_sample(campaign)
    if sample is not None:
        rows = [row for row in rows if row[0] in sample.translations]
    texts = [text for _, text, _ in rows]
    own_segments = [segments[pk] for _, _, pk in rows]
    spacings = _spacings(campaign, {pk: text for pk, text, _ in rows})
    references = [segment.reference for segment in own_segments]
    if campaign.degradation == Campaign.Degradation.BALANCED:
        degrade = _balanced(campaign, texts, own_segments, spacings)
        references = [segment.second_reference or segment.reference for segment in own_segments]
    else:
        degrade = _published(campaign, texts, own_segments, spacings)
    return Material(
        pks=[pk for pk, _, _ in rows],
        texts=texts,
        references=references,
        segments=[segment.pk for segment in own_segments],
        degrade=degrade,
        chances=sample.chances if sample else {},
    )


def _balanced(
    campaign: Campaign, texts: list[str], segments: list[Segment], spacings: list[Spacing]
) -> Degrader:
    keys = [_shared_text(segment) for segment in segments]
    grays = [campaign.gray_text(segment) for segment in segments]
    degrader = BalancedDegrader(
        texts,
        keys,
        dict(zip(keys, grays, strict=True)),
        gray_is_readable=campaign.shows_references,
        spaced=is_spaced(campaign.target_language),
    )

    def degrade(translation: int, rng: np.random.Generator) -> str:
        return degrader.degrade(
            texts[translation], key=keys[translation], spacing=spacings[translation], rng=rng
        )

    return degrade


def _published(
    campaign: Campaign, texts: list[str], segments: list[Segment], spacings: list[Spacing]
) -> Degrader:
    keys = [_shared_text(segment) for segment in segments]
    # Once for each segment, even if segments share a reference.
    donor_texts = donor_keys = list({s.pk: s.reference for s in segments}.values())
    if not all(donor_texts):
        # Without references, take words from other segments' translations.
        donor_texts, donor_keys = texts, keys
    donors = DonorPool(donor_texts, donor_keys, spaced=is_spaced(campaign.target_language))

    def degrade(translation: int, rng: np.random.Generator) -> str:
        return degradation.degrade(
            texts[translation],
            key=keys[translation],
            donors=donors,
            spacing=spacings[translation],
            rng=rng,
        )

    return degrade


def _shared_text(segment: Segment) -> str:
    """The reference or else the source: segments that share it must not borrow words from each other."""
    return segment.reference or segment.source


def _spacings(campaign: Campaign, texts: dict[int, str]) -> list[Spacing]:
    """Return the spacing of each text's system; if several systems share a text, of one of them."""
    outputs = SystemOutput.objects.filter(segment__campaign=campaign).order_by("-system")
    systems = dict(outputs.values_list("translation_id", "system_id"))
    by_system: defaultdict[int | None, list[str]] = defaultdict(list)
    for pk, text in texts.items():
        by_system[systems.get(pk)].append(text)
    spacings = {system: Spacing(system_texts) for system, system_texts in by_system.items()}
    return [spacings[systems.get(pk)] for pk in texts]
