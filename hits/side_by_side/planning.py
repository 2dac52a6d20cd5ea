"""Plan the HITs of a campaign whose outputs are rated side by side.

A screen is planned like a run of a document, except that its texts are outputs of one segment. Some screens stand in
the HIT twice: the second time one output is degraded, and the others are repeats.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from analysis.stats.thresholds import MINIMUM_PAIRS

from ..campaigns.composition import PlannedItem
from ..campaigns.material import load_material
from ..campaigns.planning import HITPlan
from ..campaigns.sampling import STREAM
from ..documents.composition import Recipe, Run, plan_runs, sample_runs
from ..documents.planning import fitting_size
from ..models import Campaign
from ..task_kinds import TextCounts

# A HIT has a degraded output for every so many items, unless that takes more than the share below.
ITEMS_PER_PAIR = 10
# Of the items of a HIT, at most about this share repeats others.
MOST_COPIED = 3


def _is_enough(copied: Sequence[Run], size: int) -> bool:
    is_third = sum(map(len, copied)) >= size // MOST_COPIED
    return len(copied) >= size // ITEMS_PER_PAIR or is_third


SCREENS = Recipe(_is_enough, lambda length: 1)


def plan_sides(campaign: Campaign, progress: Callable[[int], None] | None = None) -> HITPlan:
    """Plan the campaign's HITs; `progress` is called with the number of items planned since the last call."""
    material = load_material(campaign, is_whole=True)
    size = fitting_size(campaign, len(material.pks))
    screens = group_outputs(
        material.segments,
        most=campaign.outputs_per_screen,
        rng=np.random.default_rng([campaign.seed, 0, 2]),
    )
    if campaign.sample_size is not None:
        rng = np.random.default_rng([campaign.seed, *STREAM])
        screens = sample_runs(screens, size=campaign.sample_size, rng=rng)
    hits = []
    for items in plan_runs(
        screens, size=size, seed=campaign.seed, degrade=material.degrade, recipe=SCREENS
    ):
        hits.append([on_one_screen(item) for item in items])
        if progress:
            progress(len(items))
    return HITPlan(hits, size, material, _notes(campaign, screens, size=size))


def on_one_screen(item: PlannedItem) -> PlannedItem:
    """Return the item of a run as one of a screen."""
    return replace(item, screen=item.run, run=None)


def group_outputs(segments: Sequence[int], *, most: int, rng: np.random.Generator) -> list[Run]:
    """Cut the outputs of each segment, in random order, into screens of at most `most`, as equal as they can be.

    `segments` is the segment of each output. A segment with a single output has a screen of its own.
    """
    by_segment: dict[int, list[int]] = {}
    for output, segment in enumerate(segments):
        by_segment.setdefault(segment, []).append(output)
    screens = []
    for segment, outputs in by_segment.items():
        parts = np.array_split(rng.permutation(outputs), -(-len(outputs) // most))
        # Screens of one segment and size are decoys of each other.
        screens += [Run(tuple(part.tolist()), (segment, len(part))) for part in parts]
    return screens


def count_hits(campaign: Campaign, counts: TextCounts) -> int:
    """Return about how many HITs there will be, without loading any text."""
    size = fitting_size(campaign, counts.n_translations)
    per_screen = min(campaign.outputs_per_screen, counts.n_systems) or 1
    n_copied = min(per_screen * (size // ITEMS_PER_PAIR), size // MOST_COPIED)
    return -(-counts.n_translations // (size - n_copied))


def _notes(campaign: Campaign, screens: list[Run], *, size: int) -> list[str]:
    notes = []
    if size < campaign.hit_size:
        notes.append(
            f"The translations do not fill a HIT of {campaign.hit_size} items: the HITs have {size} items."
        )
    n_alone = sum(len(screen) == 1 for screen in screens)
    if n_alone:
        notes.append(f"{n_alone} translations are alone on their screen.")
    n_pairs = min(size // ITEMS_PER_PAIR, size // (MOST_COPIED * campaign.outputs_per_screen))
    if n_pairs < MINIMUM_PAIRS:
        notes.append(
            f"A HIT of {size} items has about {n_pairs} degraded pairs, but {MINIMUM_PAIRS} are needed to judge a "
            "worker."
        )
    return notes
