"""Build a campaign's HITs from its translations."""

from collections.abc import Callable
from dataclasses import dataclass, field

from django.contrib.auth.models import User
from django.db import transaction

from ..exceptions import CannotBuildHITs
from ..models import HIT, Campaign, Item, Translation
from ..people.audit import record
from ..task_kinds import kind_of
from .composition import CannotCompose, PlannedItem
from .editing import UNTIL_TAKEN_REBUILDS
from .material import Material
from .planning import HITPlan
from .samples import store_chances

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
        plan = kind_of(campaign).plan_hits(campaign, progress)
        with transaction.atomic():
            locked = _clear_hits(campaign, rebuild=rebuild)
            if _settings_of(locked) != _settings_of(campaign):
                raise CannotBuildHITs(
                    f"{locked.name} was changed while its HITs were being built. Build them again."
                )
            store_hits(locked, plan)
            store_chances(locked, plan.material.chances)
            record(
                "HITs built",
                actor=actor,
                campaign=locked,
                n_hits=len(plan.hits),
                is_rebuild=rebuild,
            )
    except CannotCompose as error:
        raise CannotBuildHITs(f"{campaign.name}: {error}") from error
    return BuildSummary(
        n_hits=len(plan.hits),
        n_items=sum(map(len, plan.hits)),
        hit_size=plan.hit_size,
        n_translations=len(plan.material.pks),
        notes=[*plan.notes, *_notes_on_sample(campaign, plan)],
    )


def _notes_on_sample(campaign: Campaign, plan: HITPlan) -> list[str]:
    if campaign.sample_size is None:
        return []
    n_all = Translation.objects.filter(segment__campaign=campaign).count()
    n = len(plan.material.pks)
    if campaign.sample_choice == Campaign.SampleChoice.RANDOM:
        return [f"The HITs hold a random sample: {n} of {n_all} translations."]
    choice = campaign.get_sample_choice_display().lower()
    return [f"The HITs hold a sample: {n} of {n_all} translations, drawn {choice}."]


def _settings_of(campaign: Campaign) -> tuple[object, ...]:
    """What the items depend on, apart from the texts, which never change."""
    return tuple(getattr(campaign, name) for name in UNTIL_TAKEN_REBUILDS)


def store_hits(campaign: Campaign, plan: HITPlan, *, first_number: int = 1, part: int = 1) -> None:
    """Store planned HITs, numbered from `first_number`. Call it with the campaign locked."""
    for start in range(0, len(plan.hits), HITS_PER_BATCH):
        batch = plan.hits[start : start + HITS_PER_BATCH]
        _store_batch(campaign, batch, plan.material, first_number=first_number + start, part=part)


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
    campaign: Campaign,
    batch: list[list[PlannedItem]],
    material: Material,
    *,
    first_number: int,
    part: int,
) -> None:
    hits = HIT.objects.bulk_create(
        HIT(
            campaign=campaign,
            number=first_number + i,
            part=part,
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


def _row(hit: HIT, item: PlannedItem, material: Material) -> Item:
    return Item(
        hit_id=hit.pk,
        position=item.position,
        screen=item.screen or item.position,
        run=item.run,
        role=item.role.value,
        translation_id=material.pks[item.translation],
        text=material.shown_text(item),
    )
