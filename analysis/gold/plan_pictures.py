"""Figures of a plan: power by the number of ratings, and reliability by ratings of a translation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from da_platform.plots.rendering import Picture
from da_platform.plots.style import COLOURS, DASHES, QUIET, TWO_COLUMNS, new_figure

from ..stats.planning import gold_reliability, power
from .plans import Plan

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Depths that are drawn, and points of each curve.
DRAWN = (1, 3, 5, 15)
N_POINTS = 25


def power_curves(plan: Plan) -> Picture:
    """Plot the power against all trusted ratings, one curve for each number of ratings of a translation."""
    wishes = plan.wishes
    most = max((size.n_trusted_ratings for size in plan.sizes), default=10_000)
    totals = np.linspace(most / N_POINTS, most, N_POINTS)
    rows: list[tuple[int, int, float]] = []
    for n_ratings in DRAWN:
        counts = np.unique((totals / wishes.n_systems / n_ratings).astype(np.int64))
        if wishes.most_segments is not None:
            counts = np.unique(np.minimum(counts, wishes.most_segments))
        for n_segments in counts[counts >= 2].tolist():
            design = wishes.design(n_segments, n_ratings)
            chance = power(design, plan.components, wishes.difference)
            rows.append((n_ratings, n_segments, chance))
    size = (TWO_COLUMNS, 3.0)

    def draw() -> Figure:
        figure = new_figure(*size)
        axes = figure.subplots()
        for place, n_ratings in enumerate(DRAWN):
            points = [(n * n_ratings * wishes.n_systems, p) for k, n, p in rows if k == n_ratings]
            if points:
                style: dict[str, Any] = {
                    "color": COLOURS[place],
                    "ls": DASHES[place],
                    "marker": ".",
                    "ms": 3,
                }
                axes.plot(*zip(*points, strict=True), label=_label(n_ratings), **style)
        axes.axhline(wishes.power, color=QUIET, lw=0.8, ls=":")
        axes.set(xlabel="Trusted ratings in all", ylabel="Power", ylim=(0, 1.02))
        axes.grid(axis="y")
        axes.legend(loc="lower right")
        return figure

    reached = [
        f"{size.n_trusted_ratings:,} ratings ({size.design.n_ratings} of each)"
        for size in plan.sizes
        if size.is_enough
    ]
    if len(reached) > 2:
        reached = [f"{reached[0]} to {reached[-1]}"]
    return Picture(
        name="power",
        title="Power to tell two systems apart",
        alternative=f"Power by the number of trusted ratings. The required power is reached with {'; '.join(reached) or 'no size'}.",
        draw=draw,
        size=size,
        columns=("ratings_per_translation", "segments", "power"),
        rows=rows,
    )


def _label(n_ratings: int) -> str:
    return f"{n_ratings} rating{('s' if n_ratings > 1 else '')} per translation"


def reliability_curve(plan: Plan) -> Picture:
    """Plot how reliable gold is with more ratings of a translation."""
    n = np.arange(1, max(plan.ratings_for_gold or 0, 40) + 1)
    r = gold_reliability(plan.components, n)
    size = (TWO_COLUMNS, 2.6)

    def draw() -> Figure:
        figure = new_figure(*size)
        axes = figure.subplots()
        axes.plot(n, r, color=COLOURS[0])
        axes.axhline(plan.wishes.reliability, color=QUIET, lw=0.8, ls=":")
        axes.set(
            xlabel="Trusted ratings per translation",
            ylabel="Reliability of gold (r)",
            ylim=(0, 1.02),
        )
        axes.grid(axis="y")
        return figure

    return Picture(
        name="reliability",
        title="Reliability of the gold of a translation",
        alternative=f"Correlation of means of N ratings with those of N other workers: {r[0]:.2f} with one rating, {r[-1]:.2f} with {n[-1]}.",
        draw=draw,
        size=size,
        columns=("ratings_per_translation", "r"),
        rows=list(zip(n.tolist(), r.tolist(), strict=True)),
    )


PICTURES = {"power": power_curves, "reliability": reliability_curve}
