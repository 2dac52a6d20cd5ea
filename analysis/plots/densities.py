"""How predictions and gold are distributed: the picture that explains why an error can be gamed.

A system that predicts close to the mean for every segment has small errors and knows nothing. Its curve is a
needle over a broad hill.
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
# A small panel each; more than these are too many to look at.
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
    """Show the density of each system's predictions over that of the gold, a small panel each.

    Parameters
    ----------
    metrics : sequence of str
    predictions : sequence of ndarray, shape (n,)
        On the scale of the gold.
    gold : ndarray, shape (n,)
    errors : sequence of float or None, optional
        Mean absolute errors, written into the panels.
    gold_name, name : str

    Returns
    -------
    Picture
    """
    shown = range(min(len(metrics), MOST_PANELS))
    grid = _grid(gold, [predictions[i] for i in shown])
    truth = _density(gold, grid)
    curves = [_density(predictions[i], grid) for i in shown]

    def draw() -> Figure:
        n_down = -(-len(shown) // PANELS_ACROSS)
        figure = new_figure(TWO_COLUMNS, 0.5 + 1.35 * n_down)
        panels = figure.subplots(n_down, PANELS_ACROSS, sharex=True, squeeze=False).ravel()
        for i, axes in enumerate(panels):
            if i >= len(shown):
                axes.set_visible(False)
                continue
            _draw_panel(axes, grid, truth, curves[i], gold_name)
            axes.tick_params(labelbottom=i + PANELS_ACROSS >= len(shown))
            axes.set_title(
                _panel_title(metrics[i], None if errors is None else errors[i]),
                fontsize=7,
                color=INK,
            )
        handles, texts = panels[0].get_legend_handles_labels()
        figure.legend(handles, texts, loc="outside lower center", ncols=2)
        return figure

    rows = [(gold_name, float(x), float(y)) for x, y in zip(grid, truth, strict=True)]
    for i, curve in zip(shown, curves, strict=True):
        rows += [(metrics[i], float(x), float(y)) for x, y in zip(grid, curve, strict=True)]
    left_out = len(metrics) - len(shown)
    return Picture(
        name=name,
        title=f"How predictions and {gold_name} are distributed",
        alternative=_words(metrics, predictions, gold, gold_name, left_out),
        draw=draw,
        columns=("series", "value", "density"),
        rows=rows,
    )


def _draw_panel(axes: Axes, grid: Floats, truth: Floats, curve: Floats, gold_name: str) -> None:
    axes.fill_between(grid, truth, color=LINE, linewidth=0, label=gold_name)
    axes.plot(grid, curve, DASHES[0], color=COLOURS[0], label="predictions")
    # A needle would press the gold flat: panels end at three times its height.
    ceiling = 3 * float(truth.max())
    axes.set_ylim(0, min(ceiling, 1.1 * float(max(curve.max(), truth.max()))))
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)


def _panel_title(metric: str, error: float | None) -> str:
    return metric if error is None else f"{metric}\nMAE {error:.3f}"


def _words(
    metrics: Sequence[str],
    predictions: Sequence[Floats],
    gold: Floats,
    gold_name: str,
    left_out: int,
) -> str:
    spreads = [float(own.std(ddof=1)) for own in predictions]
    narrow = int(np.argmin(spreads))
    return (
        f"The standard deviation of {gold_name} is {gold.std(ddof=1):.3f}; that of predictions lies between "
        f"{min(spreads):.3f} ({metrics[narrow]}) and {max(spreads):.3f}."
        + (f" {left_out} more are not shown." if left_out else "")
    )


def _grid(gold: Floats, predictions: Sequence[Floats]) -> Floats:
    """Return where densities are drawn: a wild prediction must not press all others into a line."""
    span = float(np.ptp(gold)) or 1.0
    low = max(min(float(own.min()) for own in [gold, *predictions]), float(gold.min()) - span)
    high = min(max(float(own.max()) for own in [gold, *predictions]), float(gold.max()) + span)
    reach = (high - low) * 0.05
    return np.linspace(low - reach, high + reach, N_POINTS)


def _density(values: Floats, grid: Floats) -> Floats:
    """Return a kernel density; a constant has all its weight in one place."""
    if is_constant(values):
        curve = np.zeros(len(grid))
        curve[np.argmin(np.abs(grid - values[0]))] = 1 / (grid[1] - grid[0])
        return curve
    from scipy.stats import gaussian_kde

    return np.asarray(gaussian_kde(values)(grid), dtype=np.float64)
