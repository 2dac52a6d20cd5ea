"""Plots of what the way of showing translations did to their scores."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from da_platform.plots.rendering import Picture
from da_platform.plots.style import COLOURS, QUIET, TWO_COLUMNS, new_figure

from ..plots.heat_maps import shortened
from .presentation_effects import Facts
from .presentation_tables import context_in_words, places_in_words

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LINE_INCHES = 0.28


def _places(effect: Facts | None, name: str, where: str) -> Picture | None:
    if not effect or effect["pvalue"] is None:
        return None
    places, means, n = (effect[column] for column in ("places", "means", "n"))
    size = (TWO_COLUMNS, 2.4)

    def draw() -> Figure:
        figure = new_figure(*size)
        axes = figure.subplots()
        axes.axhline(0, color=QUIET, lw=0.8, ls="--")
        axes.plot(places, means, "o-", color=COLOURS[0])
        axes.set(xticks=places, xlabel=f"Place {where}", ylabel="Mean deviation in z")
        # Chance deviations should not fill the plot.
        reach = max(0.25, 1.2 * float(np.abs(means).max()))
        axes.set_ylim(-reach, reach)
        return figure

    listed = "; ".join(
        f"place {place}: {mean:+.3f}" for place, mean in zip(places, means, strict=True)
    )
    return Picture(
        name=name,
        title=f"Scores by place {where}",
        alternative=f"Mean deviation in z. {listed}. {places_in_words(effect)}",
        draw=draw,
        size=size,
        columns=("place", "deviation", "scores"),
        rows=list(zip(places, means, n, strict=True)),
    )


def _context(effect: Facts | None) -> Picture | None:
    if not effect:
        return None
    names = effect["systems"]
    columns = ("systems", "first", "second", "differences", "low", "high", "adjusted", "n")
    places = np.arange(len(names))
    size = (TWO_COLUMNS, 0.9 + LINE_INCHES * max(len(names), 2))

    def draw() -> Figure:
        figure = new_figure(*size)
        axes = figure.subplots()
        differences, low, high = (
            np.array(effect[column], dtype=np.float64) for column in ("differences", "low", "high")
        )
        errors = np.nan_to_num(np.array([differences - low, high - differences]))
        axes.axvline(0, color=QUIET, lw=0.8, ls="--")
        # An interval of resamples need not contain the estimate.
        axes.errorbar(
            differences, places, xerr=np.maximum(errors, 0), fmt="o", color=COLOURS[0], capsize=3
        )
        axes.set(
            yticks=places,
            yticklabels=[shortened(name) for name in names],
            xlabel="z here - z there, 95 % interval over documents",
        )
        axes.invert_yaxis()
        axes.grid(axis="x")
        return figure

    listed = "; ".join(
        f"{name}: {difference:+.3f}"
        for name, difference in zip(names, effect["differences"], strict=True)
    )
    return Picture(
        name="context",
        title=f"Scores here and in {effect['against']}",
        alternative=f"Differences in z. {listed}. {context_in_words(effect)}",
        draw=draw,
        size=size,
        columns=columns,
        rows=list(zip(*(effect[column] for column in columns), strict=True)),
    )


# None where there is nothing to plot.
PICTURES: dict[str, Callable[[Facts], Picture | None]] = {
    "screen-places": lambda facts: _places(facts["screens"], "screen-places", "on the screen"),
    "document-places": lambda facts: _places(
        facts["documents"], "document-places", "in the document"
    ),
    "context": lambda facts: _context(facts["context"]),
}


def pictures_of(facts: Facts) -> dict[str, Picture]:
    """Return the plots that these effects have."""
    made = {name: make(facts) for name, make in PICTURES.items()}
    return {name: picture for name, picture in made.items() if picture}
