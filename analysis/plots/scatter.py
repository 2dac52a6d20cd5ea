"""A metric against gold, translation by translation."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from da_platform.plots.rendering import Picture
from da_platform.plots.style import COLOURS, INK, QUIET, new_figure
from da_platform.plots.svg import HOVER

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]

BINS = 30
# Of more points than this only an even sample tells its name: a page must stay light.
MOST_HOVERED = 3000


def scatter(
    metric: str,
    scores: Floats,
    gold: Floats,
    labels: Sequence[str],
    *,
    gold_name: str = "gold",
    r: float | None = None,
    name: str = "scatter",
) -> Picture:
    """Show a metric's scores against gold, with the distribution of both along the edges.

    Parameters
    ----------
    metric : str
    scores, gold : ndarray, shape (n,)
        As given; nothing has had its sign turned.
    labels : sequence of str, n long
        What each point is: shown when the mouse is over it, and in the data.
    gold_name : str
    r : float or None
        To be written into the title.
    name : str

    Returns
    -------
    Picture
    """
    title, n = f"{metric} against {gold_name}", len(gold)
    found = "" if r is None else f"r = {r:.3f}, "
    return Picture(
        name=name,
        title=title,
        alternative=(
            f"Each of {n:,} translations is a point: {metric} across, {gold_name} up"
            + ("." if r is None else f"; Pearson's r is {r:.3f}.")
        ),
        draw=partial(
            _draw, scores, gold, names=(metric, gold_name), title=f"{title}\n{found}n = {n:,}"
        ),
        columns=("label", "score", "gold"),
        rows=_rows(labels, scores, gold),
        hover=_hover_texts(labels, scores, gold, names=(metric, gold_name)),
    )


def _rows(labels: Sequence[str], scores: Floats, gold: Floats) -> list[tuple[str, float, float]]:
    return list(zip(labels, scores.tolist(), gold.tolist(), strict=True))


def _hover_texts(
    labels: Sequence[str], scores: Floats, gold: Floats, *, names: tuple[str, str]
) -> list[str]:
    metric, gold_name = names
    return [
        f"{labels[i]}: {metric} {scores[i]:.4g}, {gold_name} {gold[i]:.4g}"
        for i in _spread(len(gold), MOST_HOVERED)
    ]


def _draw(scores: Floats, gold: Floats, *, names: tuple[str, str], title: str) -> Figure:
    figure = new_figure(4.6, 4.4)
    grid = figure.add_gridspec(2, 2, width_ratios=(5, 1), height_ratios=(1, 5))
    main = figure.add_subplot(grid[1, 0])
    top = figure.add_subplot(grid[0, 0], sharex=main)
    side = figure.add_subplot(grid[1, 1], sharey=main)
    _draw_points(main, scores, gold)
    main.set_xlabel(names[0])
    main.set_ylabel(names[1])
    main.grid(True)
    _draw_margins(top, side, scores, gold)
    figure.suptitle(title, fontsize=9, color=INK)
    return figure


def _draw_points(axes: Axes, scores: Floats, gold: Floats) -> None:
    n = len(gold)
    style: dict[str, Any] = {"s": 9.0, "alpha": _alpha(n), "linewidths": 0, "color": COLOURS[0]}
    named = _spread(n, MOST_HOVERED)
    rest = np.setdiff1d(np.arange(n), named)
    if len(rest):
        # Drawn as one image: thousands of nameless points would make the file heavy.
        axes.scatter(scores[rest], gold[rest], rasterized=True, **style)
    axes.scatter(scores[named], gold[named], gid=HOVER, **style)


def _draw_margins(top: Axes, side: Axes, scores: Floats, gold: Floats) -> None:
    """Show how the scores are distributed above, and how the gold is at the side."""
    top.hist(scores, bins=BINS, color=QUIET)
    side.hist(gold, bins=BINS, color=QUIET, orientation="horizontal")
    for axes in (top, side):
        axes.tick_params(labelbottom=False, labelleft=False, length=0)
        axes.spines[:].set_visible(False)


def _spread(n: int, most: int) -> NDArray[np.int64]:
    """Return all places, or so many of them evenly spread."""
    return np.arange(n) if n <= most else np.unique(np.linspace(0, n - 1, most).round().astype(int))


def _alpha(n: int) -> float:
    """Return how see-through points are, so that a crowd of them shows where it is dense."""
    return float(np.clip(150 / max(n, 1), 0.12, 0.8))
