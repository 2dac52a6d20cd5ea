"""Plots about an editor: how texts came about, and how far degraded ones were restored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from analysis.stats.quality_control import Pairs
from analysis.stats.roles import Role
from da_platform.plots.rendering import Picture
from da_platform.plots.style import COLOURS, QUIET, TWO_COLUMNS, count_in_whole_numbers, new_figure

from .axes import legend_above
from .shown import Floats, WorkerRatings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIZE = (TWO_COLUMNS, 2.6)
# Of the histogram of repairs, from -100 to 100.
BIN_WIDTH = 20


@dataclass(frozen=True, slots=True)
class EditOrigins:
    """How many texts of each HIT came about in which way, in order of submission, and all of them in words.

    `labels` are the ways a text can come about, with their words.
    """

    labels: Mapping[str, str]
    counts: Sequence[Mapping[str, int]]
    in_words: str


def origins_picture(origins: EditOrigins | None) -> Picture | None:
    """Show how many texts of each HIT were typed, left, emptied, pasted or copied."""
    if origins is None or not any(sum(counts.values()) for counts in origins.counts):
        return None
    names = list(origins.labels)
    return Picture(
        name="how-edited",
        title="How texts were edited",
        alternative=f"Stacked bar chart with a bar for each of {len(origins.counts)} HITs. {origins.in_words}",
        draw=lambda: _draw_origins(origins),
        size=SIZE,
        columns=("hit", *names),
        rows=[
            (number, *(counts.get(name, 0) for name in names))
            for number, counts in enumerate(origins.counts, start=1)
        ],
    )


def _draw_origins(origins: EditOrigins) -> Figure:
    figure = new_figure(*SIZE)
    axes = figure.add_subplot()
    numbers = np.arange(1, len(origins.counts) + 1)
    below = np.zeros(len(numbers))
    for place, (name, label) in enumerate(origins.labels.items()):
        heights = np.array([counts.get(name, 0) for counts in origins.counts], dtype=np.float64)
        if not heights.any():
            continue
        axes.bar(
            numbers,
            heights,
            bottom=below,
            width=0.7,
            color=COLOURS[place],
            edgecolor="white",
            label=label,
        )
        below += heights
    # A few HITs do not get bars as wide as the page.
    axes.set(xlim=(0.4, max(len(numbers), 4) + 0.6), xlabel="HIT", ylabel="Texts")
    if len(numbers) < 20:
        axes.set_xticks(numbers)
    count_in_whole_numbers(axes.yaxis)
    legend_above(axes)
    return figure


def repairs_picture(ratings: WorkerRatings, pairs: Pairs) -> Picture | None:
    """Show how far each degraded text was restored: 100 is the original, -100 the text as it was shown.

    The scores of the pairs are distances: from the edit to the original, and to the degraded text.
    """
    is_degraded = ratings.role[pairs.rows] == Role.BAD_REFERENCE
    rows, partner_rows = pairs.rows[is_degraded], pairs.partner_rows[is_degraded]
    if not len(rows):
        return None
    nearer = ratings.score[partner_rows] - ratings.score[rows]
    n_nearer = int((nearer > 0).sum())
    return Picture(
        name="repairs",
        title="Degraded texts restored",
        alternative=(
            f"Histogram of how far each of {len(nearer)} degraded texts was restored, from -100 "
            f"(left as it was) to 100 (original). {n_nearer} of {len(nearer)} ended nearer to the "
            f"original. The mean is {float(nearer.mean()):+.0f}."
        ),
        draw=lambda: _draw_repairs(nearer),
        size=SIZE,
        columns=("hit", "brought_back"),
        rows=[
            (int(hit), float(value))
            for hit, value in zip(ratings.hit_number[rows], nearer, strict=True)
        ],
    )


def _draw_repairs(nearer: Floats) -> Figure:
    figure = new_figure(*SIZE)
    axes = figure.add_subplot()
    edges = np.arange(-100, 101, BIN_WIDTH).tolist()
    axes.hist(nearer, edges, color=COLOURS[0], edgecolor="white", linewidth=0.6)
    axes.axvline(float(nearer.mean()), color=QUIET, linewidth=1, linestyle="--")
    axes.set(xlim=(-100, 100), xlabel="Restored, %", ylabel="Texts")
    count_in_whole_numbers(axes.yaxis)
    return figure
