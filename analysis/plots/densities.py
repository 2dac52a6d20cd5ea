"""Plot the distributions of predictions and gold, which shows how errors can be gamed.

A system that predicts nearly the mean for every segment has small errors but no information. Its curve is a
narrow peak over a broad one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from da_platform.plots.rendering import Picture
from da_platform.plots.style import COLOURS, DASHES, INK, LINE, TWO_COLUMNS, new_figure

from ..stats._groups import is_constant
from .directions import axis_label, reversal_sentence, turn_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]

N_POINTS = 200
# Each system has a small panel; more than this many are not plotted.
MOST_PANELS = 24
PANELS_ACROSS = 4
# Scores with at most this many values, each occurring often, are labels and drawn as bars.
MOST_LABELS = 10


@dataclass(frozen=True, slots=True)
class _Shape:
    """A distribution: a curve, or bars of this width. The area is 1 in both."""

    x: Floats
    y: Floats
    width: float | None = None


def densities(
    metrics: Sequence[str],
    predictions: Sequence[Floats],
    gold: Floats,
    *,
    rescaled: Sequence[Floats] | None = None,
    errors: Sequence[float | None] | None = None,
    rescaled_errors: Sequence[float | None] | None = None,
    higher_is_better: bool = True,
    gold_name: str = "gold",
    name: str = "densities",
) -> Picture:
    """Plot the distribution of each system's predictions over that of the gold, in small panels.

    Parameters
    ----------
    metrics : sequence of str
    predictions : sequence of ndarray, shape (n,)
        Predictions of each system, on the scale of the gold.
    gold : ndarray, shape (n,)
    rescaled : sequence of ndarray, optional
        The same predictions rescaled, which shows how MAE can be gamed; NaN for constant ones.
    errors, rescaled_errors : sequence of float or None, optional
        Mean absolute errors, shown in the titles of the panels.
    higher_is_better : bool
        Direction of the gold; if lower is better, the axis is reversed.
    gold_name, name : str

    Returns
    -------
    Picture
    """
    plotted = range(min(len(metrics), MOST_PANELS))
    grid = _grid(gold, [predictions[i] for i in plotted])
    truth = _shape(gold, grid)
    shapes = [_shape(predictions[i], grid) for i in plotted]
    others = [
        None if rescaled is None or np.isnan(rescaled[i]).any() else _shape(rescaled[i], grid)
        for i in plotted
    ]
    titles = [
        _panel_title(
            metrics[i],
            None if errors is None else errors[i],
            None if rescaled_errors is None else rescaled_errors[i],
        )
        for i in plotted
    ]
    rows = _rows(gold_name, truth)
    for i in plotted:
        rows += _rows(metrics[i], shapes[i])
        if (other := others[i]) is not None:
            rows += _rows(f"{metrics[i]}, rescaled", other)
    left_out = len(metrics) - len(plotted)
    return Picture(
        name=name,
        title=f"Distributions of predictions and {gold_name}",
        alternative=_alternative(metrics, predictions, gold, gold_name, left_out)
        + _trap_sentence(errors, rescaled_errors)
        + reversal_sentence({gold_name: higher_is_better}),
        draw=lambda: _draw(
            list(zip(titles, shapes, others, strict=True)), truth, gold_name, higher_is_better
        ),
        size=densities_size(len(metrics)),
        columns=("series", "value", "density"),
        rows=rows,
    )


def _draw(
    panels: Sequence[tuple[str, _Shape, _Shape | None]],
    truth: _Shape,
    gold_name: str,
    higher_is_better: bool,
) -> Figure:
    figure = new_figure(*densities_size(len(panels)))
    n_down = -(-len(panels) // PANELS_ACROSS)
    all_axes = figure.subplots(n_down, PANELS_ACROSS, sharex=True, squeeze=False).ravel()
    for axes in all_axes[len(panels) :]:
        axes.set_visible(False)
    for i, (title, shape, other) in enumerate(panels):
        axes = all_axes[i]
        _draw_panel(axes, truth, shape, other, gold_name)
        axes.tick_params(labelbottom=i + PANELS_ACROSS >= len(panels))
        axes.set_title(title, fontsize=7, color=INK)
    # The panels share their axis.
    turn_axes(all_axes[0], across=higher_is_better)
    note = "" if higher_is_better else axis_label(gold_name, higher_is_better)
    handles, texts = all_axes[0].get_legend_handles_labels()
    figure.legend(handles, texts, loc="outside lower center", ncols=3, title=note, title_fontsize=7)
    return figure


def densities_size(n: int) -> tuple[float, float]:
    """Return the size of the figure for n systems."""
    return TWO_COLUMNS, 0.5 + 1.35 * -(-min(n, MOST_PANELS) // PANELS_ACROSS)


def _rows(series: str, shape: _Shape) -> list[tuple[str, float, float]]:
    return [(series, float(x), float(y)) for x, y in zip(shape.x, shape.y, strict=True)]


def _panel_title(metric: str, error: float | None, rescaled_error: float | None) -> str:
    if error is None:
        return metric
    change = "" if rescaled_error is None else f", rescaled {rescaled_error:.3f}"
    return f"{metric}\nMAE {error:.3f}{change}"


def _draw_panel(
    axes: Axes, truth: _Shape, predicted: _Shape, rescaled: _Shape | None, gold_name: str
) -> None:
    if truth.width is None:
        axes.fill_between(truth.x, truth.y, color=LINE, linewidth=0, label=gold_name)
    else:
        axes.bar(truth.x, truth.y, width=truth.width, color=LINE, label=gold_name)
    _draw_outline(axes, predicted, 0, "predictions")
    if rescaled is not None:
        _draw_outline(axes, rescaled, 1, "rescaled")
    # A narrow peak would make the gold look flat, so a panel is at most three times as high as the gold.
    shown = [shape for shape in (truth, predicted, rescaled) if shape is not None]
    highest = max(float(shape.y.max()) for shape in shown)
    axes.set_ylim(0, min(3 * float(truth.y.max()), 1.1 * highest))
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)


def _draw_outline(axes: Axes, shape: _Shape, number: int, label: str) -> None:
    style: dict[str, Any] = {"color": COLOURS[number], "linestyle": DASHES[number]}
    if shape.width is None:
        axes.plot(shape.x, shape.y, label=label, **style)
    else:
        edges = {"edgecolor": style["color"], "linestyle": style["linestyle"]}
        # Narrower than the bars of the gold, so that both are seen.
        axes.bar(shape.x, shape.y, width=shape.width * 0.6, label=label, fill=False, **edges)


def _trap_sentence(
    errors: Sequence[float | None] | None, rescaled_errors: Sequence[float | None] | None
) -> str:
    if errors is None or rescaled_errors is None:
        return ""
    pairs = [
        (before, after)
        for before, after in zip(errors, rescaled_errors, strict=True)
        if before is not None and after is not None
    ]
    n_lower = sum(after < before for before, after in pairs)
    return (
        f" Rescaled to the gold's mean and half its standard deviation, {n_lower} of {len(pairs)} have a "
        "smaller MAE without saying anything new."
    )


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


def _shape(values: Floats, grid: Floats) -> _Shape:
    """Return bars for labels, a single peak for a constant, otherwise a kernel density."""
    if is_constant(values):
        curve = np.zeros(len(grid))
        curve[np.argmin(np.abs(grid - values[0]))] = 1 / (grid[1] - grid[0])
        return _Shape(grid, curve)
    labels, counts = np.unique(values, return_counts=True)
    if len(labels) <= MOST_LABELS and len(values) >= 3 * len(labels):
        width = float(np.diff(labels).min())
        return _Shape(labels, counts / (len(values) * width), width)
    from scipy.stats import gaussian_kde

    return _Shape(grid, np.asarray(gaussian_kde(values)(grid), dtype=np.float64))
