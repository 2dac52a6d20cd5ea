"""Plot of how the ranks of metrics change from one gold to another."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Literal

from da_platform.plots.rendering import Picture
from da_platform.plots.style import COLOURS, INK, LINE, QUIET, TWO_COLUMNS, new_figure

from ..plots.heat_maps import shortened, three_places

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .results import RankChange

ROW_INCHES = 0.17


def rank_changes(
    changes: Sequence[RankChange],
    *,
    golds: tuple[str, str],
    level: str = "segment level",
    name: str = "rank-changes",
) -> Picture:
    """Draw a line from each metric's rank under one gold to its rank under another.

    Parameters
    ----------
    changes : sequence of RankChange
        Metrics that no other outperforms under a gold are in bold there.
    golds : tuple of str
    level : str
        For the title.
    name : str

    Returns
    -------
    Picture
    """
    return Picture(
        name=name,
        title=f"Ranks of metrics by {golds[0]} and by {golds[1]}, {level}",
        alternative=_alternative(changes, golds),
        draw=partial(_draw, changes, golds),
        size=_size(len(changes)),
        columns=("metric", "first_r", "first_rank", "second_r", "second_rank", "change"),
        rows=[
            (row.metric, row.first_r, row.first_rank, row.second_r, row.second_rank, row.change)
            for row in changes
        ],
    )


def _size(n: int) -> tuple[float, float]:
    return TWO_COLUMNS, 0.9 + ROW_INCHES * n


def _draw(changes: Sequence[RankChange], golds: tuple[str, str]) -> Figure:
    figure = new_figure(*_size(len(changes)))
    axes = figure.add_subplot()
    for row in changes:
        _draw_line(axes, row)
        first = _label(row.metric, row.first_rank, row.first_r)
        second = _label(row.metric, row.second_rank, row.second_r)
        _write_label(axes, first, (-0.03, row.first_rank), "right", is_bold=row.wins_first)
        _write_label(axes, second, (1.03, row.second_rank), "left", is_bold=row.wins_second)
    _style_axes(axes, len(changes), golds)
    return figure


def _draw_line(axes: Axes, row: RankChange) -> None:
    colour, dash = _line_style(row.change)
    axes.plot(
        [0, 1],
        [row.first_rank, row.second_rank],
        dash,
        color=colour,
        linewidth=1.1,
        marker="o",
        markersize=3,
    )


def _line_style(change: int) -> tuple[str, str]:
    """Return colour and dash; the label below the plot explains them."""
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


def _style_axes(axes: Axes, n: int, golds: tuple[str, str]) -> None:
    """Name the golds above their columns, and explain lines and bold type below."""
    axes.set_xlim(-1.1, 2.1)
    axes.set_ylim(n + 0.7, 0.3)
    axes.set_yticks([])
    axes.set_xticks([0, 1], [shortened(gold) for gold in golds])
    axes.xaxis.tick_top()
    axes.tick_params(length=0, labelsize=9)
    axes.spines[:].set_visible(False)
    axes.vlines([0, 1], 1, n, color=LINE, linewidth=0.8, zorder=0)
    axes.set_xlabel(
        "up: solid blue    down: dashed orange    same rank: dotted    bold: not outperformed"
    )


def _alternative(changes: Sequence[RankChange], golds: tuple[str, str]) -> str:
    moved = [row for row in changes if row.change]
    if not moved:
        return f"All {len(changes)} metrics have the same rank by {golds[0]} and by {golds[1]}."
    most = max(moved, key=lambda row: abs(row.change))
    return (
        f"{len(moved)} of {len(changes)} metrics change their rank. {most.metric} changes most, "
        f"from {most.first_rank} by {golds[0]} to {most.second_rank} by {golds[1]}."
    )
