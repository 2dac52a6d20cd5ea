"""A picture of how closely workers follow a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from da_platform.plots.rendering import Picture
from da_platform.plots.style import COLOURS, QUIET, TWO_COLUMNS, count_in_whole_numbers, new_figure

from .likeness import MetricLikeness

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BIN_WIDTH = 0.1


def likeness_histogram(likeness: MetricLikeness) -> Picture:
    """Plot the workers' r with a model, trusted workers apart from the others."""
    edges = np.round(np.arange(-1, 1 + BIN_WIDTH / 2, BIN_WIDTH), 10)
    known = [(row.r, row.participation.is_trusted) for row in likeness.rows if row.r is not None]
    trusted = [r for r, is_trusted in known if is_trusted]
    others = [r for r, is_trusted in known if not is_trusted]
    n_trusted, n_others = (np.histogram(values, bins=edges)[0] for values in (trusted, others))
    spread = likeness.spread

    size = (TWO_COLUMNS, 2.8)

    def draw() -> Figure:
        figure = new_figure(*size)
        axes = figure.subplots()
        options: dict[str, Any] = {"align": "edge", "ec": "white", "lw": 0.4}
        axes.bar(edges[:-1], n_trusted, BIN_WIDTH, color=COLOURS[0], label="Trusted", **options)
        axes.bar(
            edges[:-1],
            n_others,
            BIN_WIDTH,
            bottom=n_trusted,
            color=COLOURS[1],
            hatch="//",
            label="Not trusted",
            **options,
        )
        if spread.high is not None:
            axes.axvline(spread.high, color=QUIET, ls="--", lw=1, label="95 % of trusted below")
        axes.set(xlabel=f"r with {likeness.metric.name}", ylabel="Workers", xlim=(-1, 1))
        count_in_whole_numbers(axes.yaxis)
        axes.legend(loc="upper left")
        return figure

    middle = (
        f"The middle 90 % of trusted workers lie between {spread.low:.2f} and {spread.high:.2f}."
        if spread.low is not None
        else "There are no trusted workers to compare with."
    )
    return Picture(
        name="worker-likeness",
        title=f"Likeness to {likeness.metric.name}",
        alternative=f"Histogram of r for {len(trusted)} trusted and {len(others)} other workers. {middle}",
        draw=draw,
        size=size,
        columns=("from", "to", "trusted", "not trusted"),
        rows=list(
            zip(
                edges[:-1].tolist(),
                edges[1:].tolist(),
                n_trusted.tolist(),
                n_others.tolist(),
                strict=True,
            )
        ),
    )
