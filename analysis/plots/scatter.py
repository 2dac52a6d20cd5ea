"""A metric against gold, translation by translation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .rendering import Picture
from .style import COLOURS, INK, QUIET, new_figure
from .svg import HOVER

if TYPE_CHECKING:
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
    systems: Sequence[str] | None = None,
    name: str = "scatter",
    hover: bool = True,
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
    systems : sequence of str, n long, optional
        For the data.
    name : str
    hover : bool
        Whether points of the SVG carry their labels.

    Returns
    -------
    Picture
    """
    n = len(gold)
    chosen = _spread(n, MOST_HOVERED)
    texts = [f"{labels[i]}: {metric} {scores[i]:.4g}, {gold_name} {gold[i]:.4g}" for i in chosen]

    def draw() -> Figure:
        figure = new_figure(4.6, 4.4)
        grid = figure.add_gridspec(2, 2, width_ratios=(5, 1), height_ratios=(1, 5))
        main = figure.add_subplot(grid[1, 0])
        top = figure.add_subplot(grid[0, 0], sharex=main)
        side = figure.add_subplot(grid[1, 1], sharey=main)
        style: dict[str, Any] = {"s": 9.0, "alpha": _alpha(n), "linewidths": 0, "color": COLOURS[0]}
        rest = np.setdiff1d(np.arange(n), chosen)
        if len(rest):
            # Drawn as one image: thousands of nameless points would make the file heavy.
            main.scatter(scores[rest], gold[rest], rasterized=True, **style)
        main.scatter(scores[chosen], gold[chosen], gid=HOVER, **style)
        main.set_xlabel(metric)
        main.set_ylabel(gold_name)
        main.grid(True)
        top.hist(scores, bins=BINS, color=QUIET)
        side.hist(gold, bins=BINS, color=QUIET, orientation="horizontal")
        for axes in (top, side):
            axes.tick_params(labelbottom=False, labelleft=False, length=0)
            axes.spines[:].set_visible(False)
        found = "" if r is None else f"r = {r:.3f}, "
        figure.suptitle(f"{metric} against {gold_name}\n{found}n = {n:,}", fontsize=9, color=INK)
        return figure

    columns = (
        ("label", "score", "gold") if systems is None else ("system", "label", "score", "gold")
    )
    parts = [labels, scores.tolist(), gold.tolist()]
    return Picture(
        name=name,
        title=f"{metric} against {gold_name}",
        alternative=(
            f"Each of {n:,} translations is a point: {metric} across, {gold_name} up"
            + ("." if r is None else f"; Pearson's r is {r:.3f}.")
        ),
        draw=draw,
        columns=columns,
        rows=list(zip(*(parts if systems is None else [systems, *parts]), strict=True)),
        hover=texts if hover else (),
    )


def _spread(n: int, most: int) -> NDArray[np.int64]:
    """Return all places, or so many of them evenly spread."""
    return np.arange(n) if n <= most else np.unique(np.linspace(0, n - 1, most).round().astype(int))


def _alpha(n: int) -> float:
    """Return how see-through points are, so that a crowd of them shows where it is dense."""
    return float(np.clip(150 / max(n, 1), 0.12, 0.8))
