"""Pictures of word-level quality estimation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from da_platform.plots.rendering import Picture
from da_platform.plots.style import COLOURS, LINE, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIZE = (3.5, 3.2)


def reliability(row: dict[str, Any], number: int) -> Picture:
    """Plot the share of BAD words against the mean probability of BAD, in ten bins."""
    points = [(mean, share, n) for _, n, mean, share in row["bins"] if n]

    def draw() -> Figure:
        figure = new_figure(*SIZE)
        axes = figure.subplots()
        axes.plot([0, 1], [0, 1], color=LINE, linewidth=0.8)
        axes.plot(
            [mean for mean, _, _ in points],
            [share for _, share, _ in points],
            marker="o",
            color=COLOURS[0],
        )
        axes.set(xlim=(0, 1), ylim=(0, 1), xlabel="probability of BAD", ylabel="share of BAD words")
        return figure

    return Picture(
        name=f"calibration-{number}",
        title=f"Calibration of {row['name']}",
        alternative=f"Share of BAD words by probability of BAD. Expected error {row['error']:.3f}; on the diagonal it "
        "would be 0.",
        draw=draw,
        columns=("probability", "share of BAD", "words"),
        rows=points,
        size=SIZE,
    )
