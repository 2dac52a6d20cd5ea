"""Plan the HITs of a campaign whose screens hold one item: sets, with their hidden items among the genuine ones."""

from collections.abc import Callable
from dataclasses import dataclass, field

from analysis.stats.thresholds import MINIMUM_PAIRS

from ..models import Campaign
from ..task_facts import sizes_of
from .composition import EditingLayout, Layout, PlannedItem, References, choose_layout, plan_hits
from .material import Material, load_material

# Returns the layout of a campaign's HITs for this number of translations, or raises `CannotCompose`.
LayoutOf = Callable[[Campaign, int], Layout]


@dataclass(frozen=True, slots=True)
class HITPlan:
    """The items of each HIT and their texts, with notes for the admin."""

    hits: list[list[PlannedItem]]
    hit_size: int
    material: Material
    notes: list[str] = field(default_factory=list)


def plan_in_sets(
    campaign: Campaign, layout_of: LayoutOf, progress: Callable[[int], None] | None = None
) -> HITPlan:
    """Plan the campaign's HITs; `progress` is called with the number of items planned since the last call."""
    material = load_material(campaign)
    return plan_material(campaign, material, layout_of, progress, seed=campaign.seed)


def plan_material(
    campaign: Campaign,
    material: Material,
    layout_of: LayoutOf,
    progress: Callable[[int], None] | None = None,
    *,
    seed: int,
) -> HITPlan:
    """Plan HITs of these translations, in an order that depends on the seed."""
    layout = layout_of(campaign, len(material.pks))
    hits = _plan(campaign, material, layout, progress, seed)
    return HITPlan(hits, layout.size, material, _notes(campaign, layout, material))


def rating_layout(campaign: Campaign, n_translations: int) -> Layout:
    """Return the layout of the campaign's HITs, or raise `CannotCompose`."""
    return choose_layout(
        n_translations,
        hit_size=campaign.hit_size,
        references=_hidden_references(campaign),
        sizes=sizes_of(campaign.task),
    )


def editing_layout(campaign: Campaign, n_translations: int) -> Layout:
    """Return the layout of the HITs of a post-editing campaign, or raise `CannotCompose`."""
    return choose_layout(
        n_translations,
        hit_size=campaign.hit_size,
        references=_references_to_leave(campaign),
        sizes=sizes_of(campaign.task),
        make=EditingLayout,
    )


def _references_to_leave(campaign: Campaign) -> References:
    """Whether to hide references, which an editor should leave as they are.

    Where editors see the reference, only another one can pose as an output.
    """
    if campaign.shows_references:
        is_balanced = campaign.degradation == Campaign.Degradation.BALANCED
        has_another = is_balanced and _has_second_references(campaign)
        return References.ALL if has_another else References.NONE
    has_all = not campaign.segments.filter(reference="").exists()
    return References.ALL if has_all else References.NONE


def _hidden_references(campaign: Campaign) -> References:
    """How many references to hide among the translations.

    A script recognises a reference that equals the gray text. With balanced degradation there are none of
    these, or few if the campaign wants them, unless it has second references.
    """
    if not campaign.shows_references:
        return References.NONE
    if campaign.degradation == Campaign.Degradation.PUBLISHED or _has_second_references(campaign):
        return References.ALL
    return References.FEW if campaign.shows_gray_references else References.NONE


def _has_second_references(campaign: Campaign) -> bool:
    if campaign.pk is None:
        # Not imported yet: its cost is estimated.
        return False
    segments = campaign.segments
    return segments.exists() and not segments.filter(second_reference="").exists()


def _plan(
    campaign: Campaign,
    material: Material,
    layout: Layout,
    progress: Callable[[int], None] | None,
    seed: int,
) -> list[list[PlannedItem]]:
    is_balanced = campaign.degradation == Campaign.Degradation.BALANCED
    hits = []
    for items in plan_hits(
        len(material.pks),
        layout=layout,
        seed=seed,
        degrade=material.degrade,
        segments=material.segments if is_balanced else None,
    ):
        hits.append(items)
        if progress:
            progress(len(items))
    return hits


def _notes(campaign: Campaign, layout: Layout, material: Material) -> list[str]:
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
