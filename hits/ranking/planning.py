"""Plan the HITs of a ranking campaign."""

from collections import Counter
from collections.abc import Callable, Mapping, Set

import numpy as np

from ..campaigns.importing.storing import fingerprint
from ..campaigns.material import Material, load_material
from ..campaigns.planning import HITPlan
from ..models import Campaign
from ..task_kinds import TextCounts
from .arrays import systems_by_translation
from .choice import Choosable, Needs, Pairs, choose_groups, needs_of, screens_for
from .composition import genuine_screens, group_outputs, plan_screens

Progress = Callable[[int], None]


def plan_rankings(campaign: Campaign, progress: Progress | None = None) -> HITPlan:
    """Plan the campaign's first HITs; `progress` is called with the number of items planned since the last call.

    Every output is ranked once, unless the campaign wants judgements of pairs.
    """
    material = load_material(campaign)
    if campaign.ranks_pairs:
        n_systems = campaign.systems.count()
        needs = first_needs(campaign, n_systems)
        groups = needed_groups(campaign, material, needs, n_before=0)
    else:
        groups = _groups(campaign, material)
    return plan_groups(campaign, material, groups, notes=_notes(material), progress=progress)


def first_needs(campaign: Campaign, n_systems: int) -> Needs:
    """Return how many judgements each pair lacks before anything was ranked."""
    nothing = np.zeros((n_systems, n_systems))
    return needs_for(campaign, nothing, undecided=np.ones(nothing.shape, dtype=np.bool_))


def needs_for(campaign: Campaign, counts: Needs, undecided: Pairs) -> Needs:
    """Return how many judgements each pair lacks, as the campaign chooses outputs."""
    is_adaptive = campaign.output_choice == Campaign.OutputChoice.UNDECIDED
    return needs_of(
        counts,
        target=campaign.judgements_per_pair or np.inf,
        undecided=undecided if is_adaptive else None,
    )


def needed_groups(
    campaign: Campaign,
    material: Material,
    needs: Needs,
    *,
    n_before: int,
    most: int | None = None,
    n_shown: Mapping[int, int] | None = None,
) -> list[tuple[int, ...]]:
    """Return groups of outputs, by index into the material, for pairs of systems that lack judgements.

    Segments whose outputs were shown less often come first. A single group gets another to fill a HIT.
    """
    places = distinct_outputs(material)
    systems = places_by_translation(campaign)
    choosable = [
        Choosable(material.segments[output], tuple(systems[material.pks[output]]))
        for output in places
    ]
    often = Counter[int]()
    for output, n in (n_shown or {}).items():
        often[material.segments[output]] += n

    def chosen(wanted: Needs, limit: int | None) -> list[tuple[int, ...]]:
        return choose_groups(
            choosable,
            wanted,
            per_screen=campaign.outputs_per_screen,
            judges=campaign.min_ratings,
            rng=np.random.default_rng([campaign.seed, 2, n_before]),
            most=limit,
            only_needed=campaign.output_choice == Campaign.OutputChoice.UNDECIDED,
            n_shown=often,
        )

    groups = chosen(needs, most)
    if len(groups) == 1:
        [group] = groups
        others = chosen(np.ones_like(needs) - np.eye(len(needs)), len(places))
        groups += [other for other in others if set(group).isdisjoint(other)][:1]
    return [tuple(places[place] for place in group) for group in groups]


def places_by_translation(campaign: Campaign) -> dict[int, list[int]]:
    """Return the systems of each translation, as places in the order of their keys."""
    place = {pk: place for place, pk in enumerate(system_keys(campaign))}
    return {
        translation: [place[pk] for pk in systems]
        for translation, systems in systems_by_translation(campaign).items()
    }


def system_keys(campaign: Campaign) -> list[int]:
    """Return the keys of the campaign's systems, in the order of all matrices of pairs."""
    return list(campaign.systems.order_by("pk").values_list("pk", flat=True))


def plan_groups(
    campaign: Campaign,
    material: Material,
    groups: list[tuple[int, ...]],
    *,
    n_before: int = 0,
    seen: Set[int] = frozenset(),
    notes: list[str],
    progress: Progress | None = None,
) -> HITPlan:
    """Plan HITs of these groups of outputs with their hidden screens; `seen` are the outputs in earlier HITs."""
    hits = plan_screens(
        groups,
        n_screens=campaign.hit_size,
        seed=campaign.seed,
        degrade=material.degrade,
        n_before=n_before,
        seen=seen,
    )
    if progress:
        progress(sum(map(len, hits)))
    return HITPlan(hits, campaign.hit_size, material, notes)


def distinct_outputs(material: Material) -> list[int]:
    """Return the first of all outputs of a segment that are equal but for case, punctuation and white space."""
    first: dict[tuple[int, bytes], int] = {}
    for output, (segment, text) in enumerate(zip(material.segments, material.texts, strict=True)):
        first.setdefault((segment, fingerprint(text, near=True)), output)
    return list(first.values())


def _groups(campaign: Campaign, material: Material) -> list[tuple[int, ...]]:
    """Group the different outputs of each segment at random."""
    outputs = distinct_outputs(material)
    groups = group_outputs(
        [material.segments[output] for output in outputs],
        size=campaign.outputs_per_screen,
        rng=np.random.default_rng([campaign.seed, 0]),
    )
    return [tuple(outputs[place] for place in group) for group in groups]


def _notes(material: Material) -> list[str]:
    distinct = distinct_outputs(material)
    n_equal = len(material.pks) - len(distinct)
    sizes = Counter(material.segments[output] for output in distinct)
    n_alone = sum(size == 1 for size in sizes.values())
    notes = []
    if n_equal:
        notes.append(
            f"{n_equal} translations differ from another only in case, punctuation and white space. They are shown "
            "as one, which counts for all their systems."
        )
    if n_alone:
        notes.append(f"{n_alone} translations are not ranked: they are alone in their segment.")
    return notes


def count_hits(campaign: Campaign, counts: TextCounts) -> int:
    """Return about how many HITs there will be, without loading any text."""
    if campaign.ranks_pairs:
        needs = first_needs(campaign, counts.n_systems)
        n_screens = screens_for(
            needs, per_screen=campaign.outputs_per_screen, judges=campaign.min_ratings
        )
    else:
        n_segments = max(counts.n_segments, 1)
        per_segment = counts.n_translations / n_segments
        n_screens = n_segments * max(round(per_segment / campaign.outputs_per_screen + 0.5), 1)
    return max(1, -(-n_screens // genuine_screens(campaign.hit_size)))
