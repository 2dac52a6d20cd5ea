"""Build a campaign's HITs from its translations."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice

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
from .composition import (
    CannotCompose,
    Layout,
    PlannedItem,
    choose_layout,
    plan_hits,
)
from .degradation import DonorPool, Spacing

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
    references: list[str]
    # The reference or else the source: segments that share it must not borrow words from each other.
    keys: list[str]
    donors: DonorPool
    # The spacing of each translation's system.
    spacings: list[Spacing]

    def degrade(self, translation: int, rng: np.random.Generator) -> str:
        return degradation.degrade(
            self.texts[translation],
            key=self.keys[translation],
            donors=self.donors,
            spacing=self.spacings[translation],
            rng=rng,
        )

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
    try:
        with transaction.atomic():
            # Locked before anything is read, so that the HITs match the settings and texts.
            locked = _clear_hits(campaign, rebuild=rebuild)
            summary = _build(locked, progress)
            record(
                "HITs built",
                actor=actor,
                campaign=locked,
                n_hits=summary.n_hits,
                is_rebuild=rebuild,
            )
    except CannotCompose as error:
        raise CannotBuildHITs(f"{campaign.name}: {error}") from error
    return summary


def _build(campaign: Campaign, progress: Callable[[int], None] | None) -> BuildSummary:
    material = _load_material(campaign)
    n_translations = len(material.pks)
    layout = choose_layout(
        n_translations, hit_size=campaign.hit_size, has_references=campaign.shows_references
    )
    plan = plan_hits(n_translations, layout=layout, seed=campaign.seed, degrade=material.degrade)
    n_hits = _store(campaign, plan, material, progress=progress)
    return BuildSummary(
        n_hits=n_hits,
        n_items=n_hits * layout.size,
        hit_size=layout.size,
        n_translations=n_translations,
        notes=_notes(campaign, layout, n_translations),
    )


def _load_material(campaign: Campaign) -> _Material:
    segments = {
        pk: (reference, reference or source)
        for pk, reference, source in Segment.objects.filter(campaign=campaign)
        .order_by("position")
        .values_list("pk", "reference", "source")
    }
    rows = list(
        Translation.objects.filter(segment__campaign=campaign)
        .order_by("segment__position", "pk")
        .values_list("pk", "text", "segment_id")
        .iterator(chunk_size=2_000)
    )
    texts = [text for _, text, _ in rows]
    keys = [segments[segment][1] for _, _, segment in rows]
    if all(reference for reference, _ in segments.values()):
        donor_texts = donor_keys = [reference for reference, _ in segments.values()]
    else:
        # Without references, take words from other segments' translations.
        donor_texts, donor_keys = texts, keys
    return _Material(
        pks=[pk for pk, _, _ in rows],
        texts=texts,
        references=[segments[segment][0] for _, _, segment in rows],
        keys=keys,
        donors=DonorPool(donor_texts, donor_keys, spaced=is_spaced(campaign.target_language)),
        spacings=_spacings(campaign, {pk: text for pk, text, _ in rows}),
    )


def _spacings(campaign: Campaign, texts: dict[int, str]) -> list[Spacing]:
    """Return the spacing of each text's system; if several systems share a text, of one of them."""
    outputs = SystemOutput.objects.filter(segment__campaign=campaign).order_by("-system")
    systems = dict(outputs.values_list("translation_id", "system_id"))
    by_system: defaultdict[int | None, list[str]] = defaultdict(list)
    for pk, text in texts.items():
        by_system[systems.get(pk)].append(text)
    spacings = {system: Spacing(system_texts) for system, system_texts in by_system.items()}
    return [spacings[systems.get(pk)] for pk in texts]


def _store(
    campaign: Campaign,
    plan: Iterator[list[PlannedItem]],
    material: _Material,
    *,
    progress: Callable[[int], None] | None,
) -> int:
    n_hits = 0
    while batch := list(islice(plan, HITS_PER_BATCH)):
        _store_batch(campaign, batch, material, first_number=n_hits + 1)
        n_hits += len(batch)
        if progress:
            progress(sum(map(len, batch)))
    return n_hits


def _clear_hits(campaign: Campaign, *, rebuild: bool) -> Campaign:
    """Lock the campaign, delete its HITs if that is allowed, and return it."""
    # Locked, so that nobody else can edit, open or build the campaign at the same time.
    locked = Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
    hits = HIT.objects.filter(campaign=locked)
    if not hits.exists():
        return locked
    if not rebuild:
        raise CannotBuildHITs(f"{locked.name} already has HITs. Use --rebuild to replace them.")
    if locked.status == Campaign.Status.OPEN:
        raise CannotBuildHITs(f"{locked.name} is open. Pause it before you rebuild its HITs.")
    if hits.filter(assignments__isnull=False).exists():
        raise CannotBuildHITs(
            f"Workers have already taken HITs of {locked.name}. Start a new campaign instead."
        )
    hits.delete()
    return locked


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


def _notes(campaign: Campaign, layout: Layout, n_translations: int) -> list[str]:
    notes = []
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
    return notes
