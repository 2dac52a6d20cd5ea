"""Build a campaign's HITs from its translations."""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from django.contrib.auth.models import User
from django.db import transaction

from analysis.stats.roles import Role
from analysis.stats.thresholds import MINIMUM_PAIRS

from ..exceptions import CannotBuildHITs
from ..languages import is_spaced
from ..models import HIT, Campaign, Item, Segment, SystemOutput, Translation
from ..people.audit import record
from . import degradation
from .balanced_degradation import BalancedDegrader
from .composition import (
    CannotCompose,
    Degrader,
    Layout,
    PlannedItem,
    References,
    choose_layout,
    plan_hits,
)
from .degradation import DonorPool, Spacing
from .editing import UNTIL_TAKEN_REBUILDS

# HITs inserted at a time: enough for efficient statements, few enough for memory.
HITS_PER_BATCH = 20
ROWS_PER_INSERT = 2_000


@dataclass(frozen=True, slots=True)
class BuildSummary:
    """What was built, with notes for the admin."""

    n_hits: int
    n_items: int
    hit_size: int
    n_translations: int
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Material:
    """A campaign's translations in a fixed order, with what is needed to make items from them."""

    pks: list[int]
    texts: list[str]
    # What a reference item shows.
    references: list[str]
    segments: list[int]
    # Makes a degraded version of the translation at an index.
    degrade: Degrader

    def shown_text(self, item: PlannedItem) -> str:
        if item.text is not None:
            return item.text
        texts = self.references if item.role == Role.REFERENCE else self.texts
        return texts[item.translation]


def build_hits(
    *,
    campaign: Campaign,
    rebuild: bool = False,
    actor: User | None = None,
    progress: Callable[[int], None] | None = None,
) -> BuildSummary:
    """Build the campaign's HITs. The same texts and seed always give the same HITs.

    `progress` is called with the number of items stored since the last call. `rebuild` replaces
    existing HITs, but is refused once a worker has taken one.
    """
    # The caller's campaign may be out of date.
    campaign = Campaign.objects.get(pk=campaign.pk)
    try:
        # Planned before the database is locked: degrading takes longer than storing, and workers of
        # other campaigns must be able to save their ratings meanwhile.
        _check_that_hits_can_be_built(campaign, rebuild=rebuild)
        material = _load_material(campaign)
        layout = layout_of(campaign, len(material.pks))
        plan = _plan(campaign, material, layout, progress)
        with transaction.atomic():
            locked = _clear_hits(campaign, rebuild=rebuild)
            if _settings_of(locked) != _settings_of(campaign):
                raise CannotBuildHITs(
                    f"{locked.name} was changed while its HITs were being built. Build them again."
                )
            _store(locked, plan, material)
            record(
                "HITs built",
                actor=actor,
                campaign=locked,
                n_hits=len(plan),
                is_rebuild=rebuild,
            )
    except CannotCompose as error:
        raise CannotBuildHITs(f"{campaign.name}: {error}") from error
    return BuildSummary(
        n_hits=len(plan),
        n_items=len(plan) * layout.size,
        hit_size=layout.size,
        n_translations=len(material.pks),
        notes=_notes(campaign, layout, material),
    )


def _settings_of(campaign: Campaign) -> tuple[object, ...]:
    """What the items depend on, apart from the texts, which never change."""
    return tuple(getattr(campaign, name) for name in UNTIL_TAKEN_REBUILDS)


def layout_of(
    campaign: Campaign, n_translations: int, *, has_second_references: bool | None = None
) -> Layout:
    """Return the layout of the campaign's HITs, or raise `CannotCompose`.

    Pass `has_second_references` for a campaign that is not stored yet.
    """
    if has_second_references is None:
        has_second_references = _has_second_references(campaign)
    references = _hidden_references(campaign, has_second_references)
    return choose_layout(n_translations, hit_size=campaign.hit_size, references=references)


def _hidden_references(campaign: Campaign, has_second_references: bool) -> References:
    """How many references to hide among the translations.

    A script recognises a reference that equals the gray text. With balanced degradation there are none of
    these, or few if the campaign wants them, unless it has second references.
    """
    if not campaign.shows_references:
        return References.NONE
    if campaign.degradation == Campaign.Degradation.PUBLISHED or has_second_references:
        return References.ALL
    return References.FEW if campaign.shows_gray_references else References.NONE


def _has_second_references(campaign: Campaign) -> bool:
    segments = campaign.segments
    return segments.exists() and not segments.filter(second_reference="").exists()


def _plan(
    campaign: Campaign,
    material: _Material,
    layout: Layout,
    progress: Callable[[int], None] | None,
) -> list[list[PlannedItem]]:
    is_balanced = campaign.degradation == Campaign.Degradation.BALANCED
    hits = []
    for items in plan_hits(
        len(material.pks),
        layout=layout,
        seed=campaign.seed,
        degrade=material.degrade,
        segments=material.segments if is_balanced else None,
    ):
        hits.append(items)
        if progress:
            progress(len(items))
    return hits


def _load_material(campaign: Campaign) -> _Material:
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
    texts = [text for _, text, _ in rows]
    own_segments = [segments[pk] for _, _, pk in rows]
    spacings = _spacings(campaign, {pk: text for pk, text, _ in rows})
    references = [segment.reference for segment in own_segments]
    if campaign.degradation == Campaign.Degradation.BALANCED:
        degrade = _balanced(campaign, texts, own_segments, spacings)
        references = [segment.second_reference or segment.reference for segment in own_segments]
    else:
        degrade = _published(campaign, texts, own_segments, spacings)
    return _Material(
        pks=[pk for pk, _, _ in rows],
        texts=texts,
        references=references,
        segments=[segment.pk for segment in own_segments],
        degrade=degrade,
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


def _store(campaign: Campaign, plan: list[list[PlannedItem]], material: _Material) -> None:
    for start in range(0, len(plan), HITS_PER_BATCH):
        batch = plan[start : start + HITS_PER_BATCH]
        _store_batch(campaign, batch, material, first_number=start + 1)


def _clear_hits(campaign: Campaign, *, rebuild: bool) -> Campaign:
    """Lock the campaign, delete its HITs if that is allowed, and return it."""
    # Locked, so that nobody else can edit, open or build the campaign at the same time.
    locked = Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
    _check_that_hits_can_be_built(locked, rebuild=rebuild)
    HIT.objects.filter(campaign=locked).delete()
    return locked


def _check_that_hits_can_be_built(campaign: Campaign, *, rebuild: bool) -> None:
    hits = HIT.objects.filter(campaign=campaign)
    if not hits.exists():
        return
    if not rebuild:
        raise CannotBuildHITs(f"{campaign.name} already has HITs. Use --rebuild to replace them.")
    if campaign.status == Campaign.Status.OPEN:
        raise CannotBuildHITs(f"{campaign.name} is open. Pause it before you rebuild its HITs.")
    if hits.filter(assignments__isnull=False).exists():
        raise CannotBuildHITs(
            f"Workers have already taken HITs of {campaign.name}. Start a new campaign instead."
        )


def _store_batch(
    campaign: Campaign, batch: list[list[PlannedItem]], material: _Material, *, first_number: int
) -> None:
    hits = HIT.objects.bulk_create(
        HIT(
            campaign=campaign,
            number=first_number + i,
            size=len(items),
            places_left=campaign.min_ratings,
        )
        for i, items in enumerate(batch)
    )
    # Genuine items first: QC items refer to them as partners.
    genuine: dict[tuple[int, int], Item] = {}
    qc_items: list[Item] = []
    for hit, planned in zip(hits, batch, strict=True):
        for item in planned:
            if item.partner is None:
                genuine[hit.pk, item.position] = _row(hit, item, material)
    Item.objects.bulk_create(genuine.values(), batch_size=ROWS_PER_INSERT)
    for hit, planned in zip(hits, batch, strict=True):
        for item in planned:
            if item.partner is not None:
                row = _row(hit, item, material)
                row.partner_id = genuine[hit.pk, item.partner].pk
                qc_items.append(row)
    Item.objects.bulk_create(qc_items, batch_size=ROWS_PER_INSERT)


def _row(hit: HIT, item: PlannedItem, material: _Material) -> Item:
    return Item(
        hit_id=hit.pk,
        position=item.position,
        role=item.role.value,
        translation_id=material.pks[item.translation],
        text=material.shown_text(item),
    )


def _notes(campaign: Campaign, layout: Layout, material: _Material) -> list[str]:
    notes = []
    n_translations = len(material.pks)
    if layout.size < campaign.hit_size:
        notes.append(
            f"{n_translations} translations do not fill a HIT of {campaign.hit_size} items: "
            f"the HITs have {layout.size} items."
        )
    if layout.n_sets < MINIMUM_PAIRS:
        notes.append(
            f"A HIT of {layout.size} items has {layout.n_sets} degraded pairs, but {MINIMUM_PAIRS} "
            "are needed to judge a worker: "
            + (
                "with only one HIT, you have to decide about workers yourself."
                if layout.n_hits(n_translations) == 1
                else "workers who do a single HIT stay unproven."
            )
        )
    n_twice = layout.n_hits(n_translations) * layout.genuine_per_hit - n_translations
    if n_twice:
        notes.append(f"{n_twice} translations are in two HITs, to fill up the last HIT.")
    is_balanced = campaign.degradation == Campaign.Degradation.BALANCED
    if is_balanced and len(set(material.segments)) == n_translations:
        notes.append(
            "There is one translation per segment, so no other output of a segment can distract from "
            "the degraded ones."
        )
    return notes
