"""Plot the distributions of predictions and gold, which shows how errors can be gamed.

A system that predicts nearly the mean for every segment has small errors but no information. Its curve is a
narrow peak over a broad one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from da_platform.plots.rendering import Picture
from da_platform.plots.style import COLOURS, DASHES, INK, LINE, TWO_COLUMNS, new_figure

from ..stats._groups import is_constant

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]

N_POINTS = 200
# Each system has a small panel; more than this many are not plotted.
MOST_PANELS = 24
PANELS_ACROSS = 4


def densities(
    metrics: Sequence[str],
    predictions: Sequence[Floats],
    gold: Floats,
    *,
    errors: Sequence[float | None] | None = None,
    gold_name: str = "gold",
    name: str = "densities",
) -> Picture:
    """Plot the density of each system's predictions over that of the gold, in small panels.

    Parameters
    ----------
    metrics : sequence of str
    predictions : sequence of ndarray, shape (n,)
        Predictions of each system, on the scale of the gold.
    gold : ndarray, shape (n,)
    errors : sequence of float or None, optional
        Mean absolute errors, shown in the titles of the panels.
    gold_name, name : str

    Returns
    -------
    Picture
    """
    plotted = range(min(len(metrics), MOST_PANELS))
    grid = _grid(gold, [predictions[i] for i in plotted])
    truth = _density(gold, grid)
    curves = [_density(predictions[i], grid) for i in plotted]

    def draw() -> Figure:
        n_down = -(-len(plotted) // PANELS_ACROSS)
        figure = new_figure(TWO_COLUMNS, 0.5 + 1.35 * n_down)
        panels = figure.subplots(n_down, PANELS_ACROSS, sharex=True, squeeze=False).ravel()
        for i, axes in enumerate(panels):
            if i >= len(plotted):
                axes.set_visible(False)
                continue
            _draw_panel(axes, grid, truth, curves[i], gold_name)
            axes.tick_params(labelbottom=i + PANELS_ACROSS >= len(plotted))
            error = None if errors is None else errors[i]
            title = metrics[i] if error is None else f"{metrics[i]}\nMAE {error:.3f}"
            axes.set_title(title, fontsize=7, color=INK)
        handles, texts = panels[0].get_legend_handles_labels()
        figure.legend(handles, texts, loc="outside lower center", ncols=2)
        return figure

    rows = [(gold_name, float(x), float(y)) for x, y in zip(grid, truth, strict=True)]
    for i, curve in zip(plotted, curves, strict=True):
        rows += [(metrics[i], float(x), float(y)) for x, y in zip(grid, curve, strict=True)]
    left_out = len(metrics) - len(plotted)
    return Picture(
        name=name,
        title=f"Distributions of predictions and {gold_name}",
        alternative=_alternative(metrics, predictions, gold, gold_name, left_out),
        draw=draw,
        columns=("series", "value", "density"),
        rows=rows,
    )


def _draw_panel(axes: Axes, grid: Floats, truth: Floats, curve: Floats, gold_name: str) -> None:
    axes.fill_between(grid, truth, color=LINE, linewidth=0, label=gold_name)
    axes.plot(grid, curve, DASHES[0], color=COLOURS[0], label="predictions")
    # A narrow peak would make the gold look flat, so a panel is at most three times as high as the gold.
    ceiling = 3 * float(truth.max())
    axes.set_ylim(0, min(ceiling, 1.1 * float(max(curve.max(), truth.max()))))
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)


def _alternative(
    metrics: Sequence[str],
    predictions: Sequence[Floats],
    gold: Floats,
    gold_name: str,
    left_out: int,
) -> str:
    deviations = [float(values.std(ddof=1)) for values in predictions]
    narrowest = int(np.argmin(deviations))
    return (
        f"The standard deviation of {gold_name} is {gold.std(ddof=1):.3f}; that of predictions is between "
        f"{min(deviations):.3f} ({metrics[narrowest]}) and {max(deviations):.3f}."
        + (f" {left_out} more are not shown." if left_out else "")
    )


def _grid(gold: Floats, predictions: Sequence[Floats]) -> Floats:
    """Return the points at which to draw densities, limited so that outliers do not hide the rest."""
    span = float(np.ptp(gold)) or 1.0
    series = [gold, *predictions]
    low = max(min(float(values.min()) for values in series), float(gold.min()) - span)
    high = min(max(float(values.max()) for values in series), float(gold.max()) + span)
    reach = (high - low) * 0.05
    return np.linspace(low - reach, high + reach, N_POINTS)


def _density(values: Floats, grid: Floats) -> Floats:
    """Return a kernel density; for constant values, a single peak."""
    if is_constant(values):
        curve = np.zeros(len(grid))
        curve[np.argmin(np.abs(grid - values[0]))] = 1 / (grid[1] - grid[0])
        return curve
    from scipy.stats import gaussian_kde

    return np.asarray(gaussian_kde(values)(grid), dtype=np.float64)
