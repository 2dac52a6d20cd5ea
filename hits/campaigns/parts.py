"""The parts of a campaign with looks.

Where looks decide about systems, the segments are rated in equal parts, and later ones only for some systems. Where they
decide about translations, all are rated first, and later parts have more ratings of some of them.
"""

import math
from collections.abc import Callable, Collection

import numpy as np

from ..models import Campaign
from .composition import CannotCompose
from .material import Material, load_material
from .planning import HITPlan, plan_material, rating_layout

# Keep these draws apart from the streams with which HITs are planned.
_STREAM, _FILL_STREAM = (0, 2), (0, 3)


def parts_of(campaign: Campaign, material: Material) -> list[list[int]]:
    """Divide the segments, by key, at random into as many parts as there are looks; the first is never the largest."""
    assert campaign.n_looks is not None
    segments = list(dict.fromkeys(material.segments))
    if len(segments) < campaign.n_looks:
        raise CannotCompose(
            f"{len(segments)} segments cannot be divided into {campaign.n_looks} parts. Plan fewer looks."
        )
    rng = np.random.default_rng([campaign.seed, *_STREAM])
    return [
        part.tolist() for part in np.array_split(rng.permutation(segments), campaign.n_looks)[::-1]
    ]


def plan_part(
    campaign: Campaign,
    number: int,
    *,
    wanted: Collection[int] | None = None,
    progress: Callable[[int], None] | None = None,
) -> HITPlan:
    """Plan the HITs of a part, numbered from 1, or raise `CannotCompose`.

    Only the translations in `wanted`, by key, need ratings; without it, all of the part do. What is left of the last
    HIT is filled up with others.
    """
    material = load_material(campaign)
    in_part = list(range(len(material.pks)))
    if not campaign.looks_at_gold:
        part = set(parts_of(campaign, material)[number - 1])
        in_part = [index for index in in_part if material.segments[index] in part]
    chosen = in_part if wanted is None else _filled(campaign, material, in_part, wanted, number)
    return plan_material(
        campaign, material.only(chosen), rating_layout, progress, seed=campaign.seed + number - 1
    )


def _filled(
    campaign: Campaign,
    material: Material,
    in_part: list[int],
    keys: Collection[int],
    number: int,
) -> list[int]:
    wanted = [index for index in in_part if material.pks[index] in keys]
    others = [index for index in in_part if material.pks[index] not in keys]
    per_hit = rating_layout(campaign, len(in_part)).genuine_per_hit
    n_places = math.ceil(len(wanted) / per_hit) * per_hit
    rng = np.random.default_rng([campaign.seed, *_FILL_STREAM, number])
    filling = rng.permutation(others)[: max(n_places - len(wanted), 0)].tolist()
    return sorted([*wanted, *filling])
