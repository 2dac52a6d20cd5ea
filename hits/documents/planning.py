"""Plan the HITs of a campaign whose translations are rated in their documents."""

from collections.abc import Callable

import numpy as np

from analysis.stats.thresholds import MINIMUM_PAIRS

from ..campaigns.composition import References, choose_layout
from ..campaigns.material import Material, load_material
from ..campaigns.planning import HITPlan
from ..campaigns.sampling import STREAM
from ..hit_sizes import longest_run
from ..models import Campaign, Segment, SystemOutput
from .composition import (
    DEGRADED_EVERY,
    SHARE_COPIED,
    Run,
    cut_into_spans,
    plan_runs,
    runs_of,
    sample_runs,
)


def plan_documents(campaign: Campaign, progress: Callable[[int], None] | None = None) -> HITPlan:
    """Plan the campaign's HITs; `progress` is called with the number of items planned since the last call."""
    material = load_material(campaign, is_whole=True)
    size = fitting_size(campaign, len(material.pks))
    length = min(campaign.run_length, longest_run(size))
    runs = load_runs(campaign, material, length=length)
    if campaign.sample_size is not None:
        rng = np.random.default_rng([campaign.seed, *STREAM])
        runs = sample_runs(runs, size=campaign.sample_size, rng=rng)
    hits = []
    for items in plan_runs(runs, size=size, seed=campaign.seed, degrade=material.degrade):
        hits.append(items)
        if progress:
            progress(len(items))
    return HITPlan(hits, size, material, _notes(campaign, runs, size=size, length=length))


def fitting_size(campaign: Campaign, n_translations: int) -> int:
    """Return the largest size up to the campaign's that its translations fill."""
    if campaign.sample_size is not None:
        n_translations = min(n_translations, campaign.sample_size)
    layout = choose_layout(n_translations, hit_size=campaign.hit_size, references=References.NONE)
    return layout.size


def load_runs(campaign: Campaign, material: Material, *, length: int) -> list[Run]:
    """Return the runs of the campaign's documents, of translations by index into the material."""
    segments = Segment.objects.filter(campaign=campaign).order_by("position")
    names = dict(segments.values_list("pk", "document"))
    places = {pk: place for place, pk in enumerate(names)}
    translations = {pk: index for index, pk in enumerate(material.pks)}
    outputs: dict[int, list[int | None]] = {}
    rows = SystemOutput.objects.filter(segment__campaign=campaign).order_by("system")
    for system, segment, translation in rows.values_list(
        "system_id", "segment_id", "translation_id"
    ).iterator(chunk_size=2_000):
        own = outputs.setdefault(system, [None] * len(places))
        own[places[segment]] = translations[translation]
    spans = cut_into_spans(list(names.values()), length=length)
    return runs_of(spans, list(outputs.values()))


def count_hits(campaign: Campaign, n_translations: int) -> int:
    """Return about how many HITs there will be, without loading any text."""
    size = fitting_size(campaign, n_translations)
    return -(-n_translations // (size - size // SHARE_COPIED))


def _notes(campaign: Campaign, runs: list[Run], *, size: int, length: int) -> list[str]:
    notes = []
    if size < campaign.hit_size:
        notes.append(
            f"The translations do not fill a HIT of {campaign.hit_size} items: the HITs have {size} items."
        )
    if length < campaign.run_length:
        notes.append(
            f"In a HIT of {size} items, at most {length} segments of a document are shown in a row, so that a "
            "run and its hidden copy stay apart."
        )
    if size // (SHARE_COPIED * DEGRADED_EVERY) < MINIMUM_PAIRS:
        notes.append(
            f"A HIT of {size} items has about {size // (SHARE_COPIED * DEGRADED_EVERY)} degraded pairs, but "
            f"{MINIMUM_PAIRS} are needed to judge a worker."
        )
    if runs and max(map(len, runs)) == 1:
        notes.append(
            "No consecutive segments belong to the same document, so every translation is shown "
            "alone. The files may not say which document a segment belongs to."
        )
    n_items, n_different = sum(map(len, runs)), len({t for run in runs for t in run.translations})
    if n_items > n_different:
        notes.append(
            f"{n_items - n_different} times a translation is in the runs of several systems: it is rated in each."
        )
    return notes
