"""Plan the HITs of a ranking campaign."""

from collections.abc import Callable

import numpy as np

from ..campaigns.importing.storing import fingerprint
from ..campaigns.material import Material, load_material
from ..campaigns.planning import HITPlan
from ..models import Campaign
from .composition import genuine_screens, group_outputs, plan_screens


def plan_rankings(campaign: Campaign, progress: Callable[[int], None] | None = None) -> HITPlan:
    """Plan the campaign's HITs; `progress` is called with the number of items planned since the last call."""
    material = load_material(campaign)
    groups = _groups(campaign, material)
    hits = plan_screens(
        groups, n_screens=campaign.hit_size, seed=campaign.seed, degrade=material.degrade
    )
    if progress:
        progress(sum(map(len, hits)))
    return HITPlan(hits, campaign.hit_size, material, _notes(material, groups))


def _groups(campaign: Campaign, material: Material) -> list[tuple[int, ...]]:
    """Group the outputs of each segment that differ in more than case, punctuation and white space."""
    distinct: dict[tuple[int, bytes], int] = {}
    for output, (segment, text) in enumerate(zip(material.segments, material.texts, strict=True)):
        distinct.setdefault((segment, fingerprint(text, near=True)), output)
    outputs = list(distinct.values())
    groups = group_outputs(
        [material.segments[output] for output in outputs],
        size=campaign.outputs_per_screen,
        rng=np.random.default_rng([campaign.seed, 0]),
    )
    return [tuple(outputs[place] for place in group) for group in groups]


def _notes(material: Material, groups: list[tuple[int, ...]]) -> list[str]:
    n_left_out = len(material.pks) - sum(map(len, groups))
    if not n_left_out:
        return []
    return [
        f"{n_left_out} translations are not ranked: they are alone in their segment, or equal to another "
        "but for case, punctuation and white space."
    ]


def count_hits(campaign: Campaign, n_translations: int) -> int:
    """Return about how many HITs there will be, without loading any text."""
    n_segments = max(campaign.segments.count(), 1)
    per_segment = n_translations / n_segments
    n_groups = n_segments * max(round(per_segment / campaign.outputs_per_screen + 0.5), 1)
    return max(1, -(-n_groups // genuine_screens(campaign.hit_size)))
