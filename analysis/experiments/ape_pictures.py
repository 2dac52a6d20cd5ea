"""Pictures of automatic post-editing: what became of the sentences, and the kinds of edits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from da_platform.plots.rendering import Picture
from da_platform.plots.style import COLOURS, PAPER, TWO_COLUMNS, new_figure

from ..plots.heat_maps import shortened
from .ape_tables import EDIT_KINDS
from .base import Result

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HATCHES = ("", "///", "...", "xxx")
# In the order of the bar's parts.
BAR = ("improved", "deteriorated", "same", "unmodified")


def outcomes(result: Result) -> Picture:
    """Plot for each system which share of the sentences it improved, made worse or left."""
    n = result["n_segments"]
    names = [row["name"] for row in result["changes"]]
    counts = [[*(row[name] for name in BAR[:3]), n - row["modified"]] for row in result["changes"]]
    said = "; ".join(
        f"{row['name']}: {row['improved']:,} improved, {row['deteriorated']:,} deteriorated"
        for row in result["changes"]
    )
    return _stacked(
        name="ape-sentences",
        title="Sentences after automatic post-editing",
        alternative=f"Of {n:,} sentences, {said}.",
        names=names,
        parts=BAR,
        counts=counts,
    )


def edit_kinds(result: Result) -> Picture:
    """Plot the share of each kind of edits, by system and by people."""
    rows = [*result["changes"], {"name": "(people)", "edits": result["edits_of_people"]}]
    return _stacked(
        name="ape-edits",
        title="Kinds of edits",
        alternative=f"Shares of {', '.join(EDIT_KINDS)} among the edits of each system; the last bar shows those of the people who "
        "made the post-editions.",
        names=[row["name"] for row in rows],
        parts=EDIT_KINDS,
        counts=[[row["edits"][kind] for kind in EDIT_KINDS] for row in rows],
    )


def _stacked(
    *,
    name: str,
    title: str,
    alternative: str,
    names: Sequence[str],
    parts: Sequence[str],
    counts: Sequence[Sequence[int]],
) -> Picture:
    """Plot one bar of shares for each name."""
    size = (TWO_COLUMNS, 0.9 + 0.3 * len(names))
    totals = np.maximum(np.sum(counts, axis=1), 1)
    shares = np.array(counts) / totals[:, None]

    def draw() -> Figure:
        figure = new_figure(*size)
        axes = figure.subplots()
        starts = np.zeros(len(names))
        for part, share, colour, hatch in zip(parts, shares.T, COLOURS, HATCHES, strict=False):
            axes.barh(
                range(len(names)), share, left=starts, color=colour, hatch=hatch, edgecolor=PAPER, label=part
            )  # fmt: skip
            starts = starts + share
        axes.set_yticks(range(len(names)), [shortened(each) for each in names])
        axes.invert_yaxis()
        axes.set(xlim=(0, 1), xlabel="share")
        figure.legend(loc="outside upper center", ncols=len(parts))
        return figure

    return Picture(
        name=name,
        title=title,
        alternative=alternative,
        draw=draw,
        columns=("system", *parts),
        rows=[(each, *row) for each, row in zip(names, counts, strict=True)],
        size=size,
    )
