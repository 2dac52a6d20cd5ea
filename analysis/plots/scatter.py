"""Plot a metric against gold, one point per translation."""

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
# With more points, only an evenly spaced sample has hover texts, to keep the page small.
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
    """Plot a metric's scores against gold, with histograms of both at the edges.

    Parameters
    ----------
    metric : str
    scores, gold : ndarray, shape (n,)
        Scores, with no signs flipped.
    labels : sequence of str, n long
        Label of each point, for hover texts and data.
    gold_name : str
    r : float or None
        Pearson's r, for the title.
    name : str

    Returns
    -------
    Picture
    """
    title, n = f"{metric} against {gold_name}", len(gold)
    r_text = "" if r is None else f"r = {r:.3f}, "
    return Picture(
        name=name,
        title=title,
        alternative=(
            f"Each of the {n:,} points is a translation: {metric} on the x-axis, {gold_name} on the y-axis"
            + ("." if r is None else f"; Pearson's r is {r:.3f}.")
        ),
        draw=partial(
            _draw, scores, gold, names=(metric, gold_name), title=f"{title}\n{r_text}n = {n:,}"
        ),
        columns=("label", "score", "gold"),
        rows=list(zip(labels, scores.tolist(), gold.tolist(), strict=True)),
        hover=_hover_texts(labels, scores, gold, names=(metric, gold_name)),
    )


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
    # The more points, the more transparent, so that dense areas stand out.
    alpha = float(np.clip(150 / max(n, 1), 0.12, 0.8))
    style: dict[str, Any] = {"s": 9.0, "alpha": alpha, "linewidths": 0, "color": COLOURS[0]}
    hovered = _spread(n, MOST_HOVERED)
    plain = np.setdiff1d(np.arange(n), hovered)
    if len(plain):
        # Drawn as one image, to keep the file small.
        axes.scatter(scores[plain], gold[plain], rasterized=True, **style)
    axes.scatter(scores[hovered], gold[hovered], gid=HOVER, **style)


def _draw_margins(top: Axes, side: Axes, scores: Floats, gold: Floats) -> None:
    """Draw a histogram of the scores at the top, and one of the gold at the side."""
    top.hist(scores, bins=BINS, color=QUIET)
    side.hist(gold, bins=BINS, color=QUIET, orientation="horizontal")
    for axes in (top, side):
        axes.tick_params(labelbottom=False, labelleft=False, length=0)
        axes.spines[:].set_visible(False)


def _spread(n: int, most: int) -> NDArray[np.int64]:
    """Return all indices below `n`, or `most` evenly spaced ones."""
    return np.arange(n) if n <= most else np.unique(np.linspace(0, n - 1, most).round().astype(int))
