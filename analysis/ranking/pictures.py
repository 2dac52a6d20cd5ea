"""Pictures of a ranking: rank ranges, and the heat map of who beats whom."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from da_platform.plots.rendering import Picture
from da_platform.plots.style import INK, LINE, new_figure

from ..plots.heat_maps import shortened
from .results import Facts
from .tables import short_names

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def _labels(names: Sequence[str]) -> list[str]:
    return [shortened(name) for name in short_names(names).values()]


def range_picture(facts: Facts) -> Picture:
    """The rank range of each system, best first, with lines between clusters."""
    systems = facts["systems"]
    size = 5.0, 0.6 + 0.24 * len(systems)

    def draw() -> Figure:
        figure = new_figure(*size)
        axes = figure.subplots()
        places = np.arange(len(systems))
        axes.hlines(
            places,
            [row["best"] for row in systems],
            [row["worst"] for row in systems],
            color=INK,
            lw=2,
        )
        middles = [(row["best"] + row["worst"]) / 2 for row in systems]
        axes.plot(middles, places, "o", color=INK, markersize=3)
        for place in places[1:]:
            if systems[place]["cluster"] != systems[place - 1]["cluster"]:
                axes.axhline(place - 0.5, color=LINE, lw=0.8)
        axes.set_yticks(places, _labels([row["system"] for row in systems]))
        axes.invert_yaxis()
        axes.set_xlabel("rank (95% of the runs)")
        return figure

    return Picture(
        name="rank-ranges",
        title="Rank ranges",
        size=size,
        alternative="; ".join(
            f"{row['system']}: rank {row['best']} to {row['worst']}, cluster {row['cluster']}"
            for row in systems
        ),
        draw=draw,
        columns=("system", "score", "best", "worst", "cluster"),
        rows=[
            [row[name] for name in ("system", "score", "best", "worst", "cluster")]
            for row in systems
        ],
    )


def head_to_head_picture(facts: Facts) -> Picture:
    """The heat map of shares: how often the row's system was ranked above the column's."""
    pairs = facts["head_to_head"]
    names = pairs["systems"]
    shares = np.array(pairs["shares"], dtype=np.float64)
    side = 2.2 + 0.3 * len(names)

    def draw() -> Figure:
        figure = new_figure(side, side)
        axes = figure.subplots()
        image = axes.imshow(shares, cmap="RdBu", vmin=0, vmax=1)
        labels = _labels(names)
        axes.set_xticks(range(len(names)), labels, rotation=90)
        axes.set_yticks(range(len(names)), labels)
        figure.colorbar(image, ax=axes, shrink=0.6, label="share of wins, without ties")
        return figure

    return Picture(
        name="head-to-head",
        title="Head to head",
        size=(side, side),
        alternative=(
            "How often the system of the row was ranked above that of the column, without ties. "
            f"{names[0]} comes first, {names[-1]} last."
        ),
        draw=draw,
        columns=("system", *names),
        rows=[[name, *row] for name, row in zip(names, pairs["shares"], strict=True)],
    )


PICTURES = {"rank-ranges": range_picture, "head-to-head": head_to_head_picture}
