"""Plot a metric against gold, one point per translation."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from da_platform.plots.rendering import Picture
from da_platform.plots.style import COLOURS, DASHES, INK, QUIET, new_figure
from da_platform.plots.svg import HOVER

from .directions import axis_label, reversal_sentence, turn_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]

BINS = 30
SCATTER_SIZE = (4.6, 4.4)
# With more points, only an evenly spaced sample has hover texts, to keep the page small.
MOST_HOVERED = 3000


def scatter(
    metric: str,
    scores: Floats,
    gold: Floats,
    labels: Sequence[str],
    *,
    directions: tuple[bool, bool] = (True, True),
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
    directions : tuple of bool
        Whether higher is better for the metric and for the gold. An axis where lower is better is
        reversed, so that the points of a good metric always rise.
    gold_name : str
    r : float or None
        Pearson's r, for the title.
    name : str

    Returns
    -------
    Picture
    """
    names = (metric, gold_name)
    return Picture(
        name=name,
        title=f"{metric} against {gold_name}",
        alternative=scatter_sentence(names, directions, r, len(gold)),
        draw=partial(_draw, scores, gold, names=names, directions=directions, r=r),
        size=SCATTER_SIZE,
        columns=("label", "score", "gold"),
        rows=list(zip(labels, scores.tolist(), gold.tolist(), strict=True)),
        hover=hover_texts(labels, scores, gold, names=names),
    )


def scatter_sentence(
    names: tuple[str, str], directions: tuple[bool, bool], r: float | None, n: int
) -> str:
    """Describe a scatter plot, and its reversed axes."""
    return (
        f"Each of the {n:,} points is a translation: {names[0]} on the x-axis, {names[1]} on the y-axis"
        + ("." if r is None else f"; Pearson's r is {r:.3f}.")
        + reversal_sentence(dict(zip(names, directions, strict=True)))
    )


def standardised_scatter(
    metric: str,
    scores: Floats,
    gold: Floats,
    labels: Sequence[str],
    *,
    directions: tuple[bool, bool] = (True, True),
    gold_name: str = "gold",
    name: str = "standardised",
) -> Picture:
    """Plot standardised predictions against standardised gold, where only the correlation is left.

    Errors are distances from the diagonal; after standardisation they depend on r alone, which is the slope
    of the regression line.

    Parameters
    ----------
    metric : str
    scores, gold : ndarray, shape (n,)
        Scores, with no signs flipped; none of them constant.
    labels : sequence of str, n long
    directions : tuple of bool
        Whether higher is better for the metric and for the gold; if not, the sign of its z-scores is
        reversed.
    gold_name, name : str

    Returns
    -------
    Picture
    """
    across, up = (
        (values - values.mean()) / values.std(ddof=1) * (1 if higher else -1)
        for values, higher in zip((scores, gold), directions, strict=True)
    )
    slope = float(across @ up) / (len(gold) - 1)
    names = tuple(
        f"{title} (z{'' if higher else ', sign reversed'})"
        for title, higher in zip((metric, gold_name), directions, strict=True)
    )
    return Picture(
        name=name,
        title=f"{metric} against {gold_name}, both standardised",
        alternative=(
            f"Each of the {len(gold):,} points is a translation. Both scores have mean 0 and standard deviation 1, "
            f"and higher is better. The regression line has the slope r = {slope:.3f}; for perfect predictions "
            "it would be the diagonal."
        ),
        draw=partial(
            _draw,
            across,
            up,
            names=(names[0], names[1]),
            directions=(True, True),
            r=slope,
            slope=slope,
        ),
        size=SCATTER_SIZE,
        columns=("label", "score_z", "gold_z"),
        rows=list(zip(labels, across.tolist(), up.tolist(), strict=True)),
        hover=hover_texts(labels, across, up, names=(names[0], names[1])),
    )


def hover_texts(
    labels: Sequence[str], scores: Floats, gold: Floats, *, names: tuple[str, str]
) -> list[str]:
    """Describe the points that are not drawn as part of an image."""
    metric, gold_name = names
    return [
        f"{labels[i]}: {metric} {scores[i]:.4g}, {gold_name} {gold[i]:.4g}"
        for i in hovered(len(gold))
    ]


def _draw(
    scores: Floats,
    gold: Floats,
    *,
    names: tuple[str, str],
    directions: tuple[bool, bool],
    r: float | None,
    slope: float | None = None,
) -> Figure:
    figure = new_figure(*SCATTER_SIZE)
    grid = figure.add_gridspec(2, 2, width_ratios=(5, 1), height_ratios=(1, 5))
    main = figure.add_subplot(grid[1, 0])
    top = figure.add_subplot(grid[0, 0], sharex=main)
    side = figure.add_subplot(grid[1, 1], sharey=main)
    _draw_points(main, scores, gold)
    if slope is not None:
        main.axline((0, 0), slope=1, color=QUIET, linestyle=DASHES[1], label="perfect")
        main.axline((0, 0), slope=slope, color=COLOURS[1], label="regression (slope r)")
        main.legend(loc="upper left")
    main.set_xlabel(axis_label(names[0], directions[0]))
    main.set_ylabel(axis_label(names[1], directions[1]))
    main.grid(True)
    _draw_margins(top, side, scores, gold)
    # Shared with the histograms, which turn along.
    turn_axes(main, across=directions[0], up=directions[1])
    r_text = "" if r is None else f"r = {r:.3f}, "
    title = f"{names[0]} against {names[1]}\n{r_text}n = {len(gold):,}"
    figure.suptitle(title, fontsize=9, color=INK)
    return figure


def _draw_points(axes: Axes, scores: Floats, gold: Floats) -> None:
    n = len(gold)
    # The more points, the more transparent, so that dense areas stand out.
    alpha = float(np.clip(150 / max(n, 1), 0.12, 0.8))
    style: dict[str, Any] = {"s": 9.0, "alpha": alpha, "linewidths": 0, "color": COLOURS[0]}
    chosen = hovered(n)
    plain = np.setdiff1d(np.arange(n), chosen)
    if len(plain):
        # Drawn as one image, to keep the file small.
        axes.scatter(scores[plain], gold[plain], rasterized=True, **style)
    axes.scatter(scores[chosen], gold[chosen], gid=HOVER, **style)


def _draw_margins(top: Axes, side: Axes, scores: Floats, gold: Floats) -> None:
    """Draw a histogram of the scores at the top, and one of the gold at the side."""
    top.hist(scores, bins=BINS, color=QUIET)
    side.hist(gold, bins=BINS, color=QUIET, orientation="horizontal")
    for axes in (top, side):
        axes.tick_params(labelbottom=False, labelleft=False, length=0)
        axes.spines[:].set_visible(False)


def hovered(n: int) -> NDArray[np.int64]:
    """Return the indices of the points with hover texts: all, or `MOST_HOVERED` evenly spaced ones."""
    if n <= MOST_HOVERED:
        return np.arange(n)
    return np.unique(np.linspace(0, n - 1, MOST_HOVERED).round().astype(int))
