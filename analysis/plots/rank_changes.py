"""How the order of metrics changes when they are held against another gold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .heat_maps import shortened, three_places
from .rendering import Picture
from .style import COLOURS, INK, LINE, QUIET, TWO_COLUMNS, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Inches a metric takes up.
ROW = 0.17


def rank_changes(
    metrics: Sequence[str],
    first: Sequence[float | None],
    second: Sequence[float | None],
    first_ranks: Sequence[int],
    second_ranks: Sequence[int],
    *,
    golds: tuple[str, str],
    winners: tuple[Sequence[str], Sequence[str]] = ((), ()),
    name: str = "rank-changes",
) -> Picture:
    """Join each metric's place under one gold with its place under another.

    Parameters
    ----------
    metrics : sequence of str
    first, second : sequence of float or None
        r under either gold.
    first_ranks, second_ranks : sequence of int
        From 1.
    golds : tuple of str
    winners : tuple of two sequences of str
        Set in bold: not outperformed under that gold.
    name : str

    Returns
    -------
    Picture
    """
    n = len(metrics)

    def draw() -> Figure:
        figure = new_figure(TWO_COLUMNS, 0.9 + ROW * n)
        axes = figure.add_subplot()
        for i, metric in enumerate(metrics):
            change = first_ranks[i] - second_ranks[i]
            colour, dash = (
                (COLOURS[0], "-") if change > 0 else (COLOURS[1], "--") if change else (QUIET, ":")
            )
            axes.plot(
                [0, 1],
                [first_ranks[i], second_ranks[i]],
                dash,
                color=colour,
                linewidth=1.1,
                marker="o",
                markersize=3,
            )
            for x, rank, value, won, side in (
                (-0.03, first_ranks[i], first[i], metric in winners[0], "right"),
                (1.03, second_ranks[i], second[i], metric in winners[1], "left"),
            ):
                label = f"{rank}  {shortened(metric)}  {three_places(value)}"
                axes.text(
                    x,
                    rank,
                    label,
                    ha=side,
                    va="center",
                    fontsize=6.5,
                    color=INK,
                    fontweight="bold" if won else "normal",
                )
        axes.set_xlim(-1.1, 2.1)
        axes.set_ylim(n + 0.7, 0.3)
        axes.set_yticks([])
        axes.set_xticks([0, 1], [shortened(gold) for gold in golds])
        axes.xaxis.tick_top()
        axes.tick_params(length=0, labelsize=9)
        axes.spines[:].set_visible(False)
        axes.vlines([0, 1], 1, n, color=LINE, linewidth=0.8, zorder=0)
        axes.set_xlabel(
            "up: solid blue    down: dashed orange    same place: dotted    bold: not outperformed"
        )
        return figure

    moved = [i for i in range(n) if first_ranks[i] != second_ranks[i]]
    return Picture(
        name=name,
        title=f"Ranks of metrics by {golds[0]} and by {golds[1]}",
        alternative=_words(metrics, first_ranks, second_ranks, moved, golds),
        draw=draw,
        columns=("metric", "first_r", "first_rank", "second_r", "second_rank", "change"),
        rows=[
            (
                metrics[i],
                first[i],
                first_ranks[i],
                second[i],
                second_ranks[i],
                first_ranks[i] - second_ranks[i],
            )
            for i in range(n)
        ],
    )


def _words(
    metrics: Sequence[str],
    first_ranks: Sequence[int],
    second_ranks: Sequence[int],
    moved: Sequence[int],
    golds: tuple[str, str],
) -> str:
    if not moved:
        return f"All {len(metrics)} metrics have the same rank by {golds[0]} and by {golds[1]}."
    most = max(moved, key=lambda i: abs(first_ranks[i] - second_ranks[i]))
    return (
        f"{len(moved)} of {len(metrics)} metrics change their rank; the most {metrics[most]}, "
        f"from {first_ranks[most]} by {golds[0]} to {second_ranks[most]} by {golds[1]}."
    )
