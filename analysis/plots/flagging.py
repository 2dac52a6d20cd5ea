"""Plot how well metrics find what is not good enough: ROC, precision and recall, and the cost of reading."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from da_platform.plots.rendering import Picture
from da_platform.plots.style import COLOURS, DASHES, QUIET, TWO_COLUMNS, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]

# Further metrics would be hard to tell apart; the data has all of them.
MOST_CURVES = 6
SIZE = (TWO_COLUMNS, 2.75)


def flagging(
    metrics: Sequence[str],
    found: Floats,
    shares: Floats,
    *,
    share_bad: float,
    gold_name: str,
    name: str = "flagging",
) -> Picture:
    """Plot three views of the same curves, for the first metrics.

    Parameters
    ----------
    metrics : sequence of str
        Best first.
    found : ndarray, shape (n_metrics, n_shares)
        The share of bad translations found when a share of all translations has been read.
    shares : ndarray, shape (n_shares,)
        The shares read, from 0 to 1.
    share_bad : float
        How many of all translations are bad.
    gold_name, name : str

    Returns
    -------
    Picture
    """
    alarms = np.clip((shares - share_bad * found) / (1 - share_bad), 0, 1)
    with np.errstate(invalid="ignore"):
        precision = np.where(shares > 0, share_bad * found / shares, np.nan)
    precision = np.minimum(precision, 1)
    left_out = len(metrics) - MOST_CURVES
    return Picture(
        name=name,
        title=f"Finding what is not good enough in {gold_name}",
        alternative="Three panels. The ROC curve: the share found of what is not good enough against the share flagged of "
        "what is good enough. Precision against recall. And the share found against the share read, worst scores first; "
        f"the dotted line is reading at random. {metrics[0]} has the largest ROC area."
        + (f" {left_out} further metrics are only in the data." if left_out > 0 else ""),
        draw=partial(_draw, metrics, found, alarms, precision, shares, share_bad),
        size=SIZE,
        columns=("metric", "read", "found", "false_alarms", "precision"),
        rows=[
            (metric, float(share), float(found[i, j]), float(alarms[i, j]), float(precision[i, j]))
            for i, metric in enumerate(metrics)
            for j, share in enumerate(shares)
        ],
    )


def _draw(
    metrics: Sequence[str],
    found: Floats,
    alarms: Floats,
    precision: Floats,
    shares: Floats,
    share_bad: float,
) -> Figure:
    figure = new_figure(*SIZE)
    roc, recall, reading = figure.subplots(1, 3)
    for i, metric in enumerate(metrics[:MOST_CURVES]):
        how: dict[str, Any] = {"color": COLOURS[i], "linestyle": DASHES[i], "linewidth": 1.2}
        roc.plot(alarms[i], found[i], label=metric, **how)
        recall.plot(found[i], precision[i], **how)
        reading.plot(shares, found[i], **how)
    _by_chance(roc, [0, 1], [0, 1])
    _by_chance(recall, [0, 1], [share_bad, share_bad])
    _by_chance(reading, [0, 1], [0, 1])
    titles = (
        (roc, "ROC", "false alarms", "found (recall)"),
        (recall, "precision and recall", "found (recall)", "precision"),
        (reading, "cost of reading", "share read, worst first", "found (recall)"),
    )
    for axes, title, across, up in titles:
        axes.set(xlim=(0, 1), ylim=(0, 1.02), title=title, xlabel=across, ylabel=up)
        axes.set_aspect("equal", adjustable="box")
    handles, texts = roc.get_legend_handles_labels()
    figure.legend(handles, texts, loc="outside lower center", ncols=3)
    return figure


def _by_chance(axes: Axes, x: Sequence[float], y: Sequence[float]) -> None:
    axes.plot(x, y, color=QUIET, linestyle=":", linewidth=0.8)
