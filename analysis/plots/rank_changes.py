"""How the order of metrics changes when they are held against another gold."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Literal

from .heat_maps import shortened, three_places
from .rendering import Picture
from .style import COLOURS, INK, LINE, QUIET, TWO_COLUMNS, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..evaluating.results import RankChange

# Inches a metric takes up.
ROW = 0.17


def rank_changes(
    changes: Sequence[RankChange], *, golds: tuple[str, str], name: str = "rank-changes"
) -> Picture:
    """Join each metric's place under one gold with its place under another.

    Parameters
    ----------
    changes : sequence of RankChange
        Metrics that are not outperformed under a gold are set in bold there.
    golds : tuple of str
    name : str

    Returns
    -------
    Picture
    """
    return Picture(
        name=name,
        title=f"Ranks of metrics by {golds[0]} and by {golds[1]}",
        alternative=_words(changes, golds),
        draw=partial(_draw, changes, golds),
        columns=("metric", "first_r", "first_rank", "second_r", "second_rank", "change"),
        rows=[
            (one.metric, one.first_r, one.first_rank, one.second_r, one.second_rank, one.change)
            for one in changes
        ],
    )


def _draw(changes: Sequence[RankChange], golds: tuple[str, str]) -> Figure:
    figure = new_figure(TWO_COLUMNS, 0.9 + ROW * len(changes))
    axes = figure.add_subplot()
    for one in changes:
        _draw_line(axes, one)
        first = _label(one.metric, one.first_rank, one.first_r)
        second = _label(one.metric, one.second_rank, one.second_r)
        _write_label(axes, first, (-0.03, one.first_rank), "right", is_bold=one.wins_first)
        _write_label(axes, second, (1.03, one.second_rank), "left", is_bold=one.wins_second)
    _dress(axes, len(changes), golds)
    return figure


def _draw_line(axes: Axes, one: RankChange) -> None:
    colour, dash = _line_style(one.change)
    axes.plot(
        [0, 1],
        [one.first_rank, one.second_rank],
        dash,
        color=colour,
        linewidth=1.1,
        marker="o",
        markersize=3,
    )


def _line_style(change: int) -> tuple[str, str]:
    """Return colour and dash; the words below the picture say what they mean."""
    if change > 0:
        return COLOURS[0], "-"
    if change < 0:
        return COLOURS[1], "--"
    return QUIET, ":"


def _label(metric: str, rank: int, r: float | None) -> str:
    return f"{rank}  {shortened(metric)}  {three_places(r)}"


def _write_label(
    axes: Axes,
    label: str,
    place: tuple[float, float],
    side: Literal["left", "right"],
    *,
    is_bold: bool,
) -> None:
    axes.text(
        *place,
        label,
        ha=side,
        va="center",
        fontsize=6.5,
        color=INK,
        fontweight="bold" if is_bold else "normal",
    )


def _dress(axes: Axes, n: int, golds: tuple[str, str]) -> None:
    """Name the golds above their columns, and say below what lines and letters mean."""
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


def _words(changes: Sequence[RankChange], golds: tuple[str, str]) -> str:
    moved = [one for one in changes if one.change]
    if not moved:
        return f"All {len(changes)} metrics have the same rank by {golds[0]} and by {golds[1]}."
    most = max(moved, key=lambda one: abs(one.change))
    return (
        f"{len(moved)} of {len(changes)} metrics change their rank; the most {most.metric}, "
        f"from {most.first_rank} by {golds[0]} to {most.second_rank} by {golds[1]}."
    )
