"""Plot two standardised scores against each other, in four quadrants."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from da_platform.plots.rendering import Picture
from da_platform.plots.style import COLOURS, INK, LINE, QUIET, new_figure
from da_platform.plots.svg import HOVER

from .scatter import hover_texts, hovered

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]

SIZE = (4.6, 4.4)


def quadrants(
    names: tuple[str, str],
    across: Floats,
    up: Floats,
    labels: Sequence[str],
    *,
    name: str = "quadrants",
) -> Picture:
    """Plot two scores with lines at their means, and the number of translations in each quadrant.

    Parameters
    ----------
    names : tuple of str
        Of the score on the x-axis and of the one on the y-axis.
    across, up : ndarray, shape (n,)
        Both standardised, with higher better.
    labels : sequence of str, n long
    name : str

    Returns
    -------
    Picture
    """
    n_lower_right = int(((across > 0) & (up <= 0)).sum())
    n_upper_left = int(((across <= 0) & (up > 0)).sum())
    return Picture(
        name=name,
        title=f"{names[0]} against {names[1]}, standardised",
        alternative=(
            f"Each of the {len(across):,} points is a translation: {names[0]} on the x-axis, {names[1]} on the y-axis, both "
            f"standardised with higher better. {n_lower_right:,} are above average by {names[0]} and below by {names[1]} (lower "
            f"right), {n_upper_left:,} the other way round (upper left)."
        ),
        draw=partial(_draw, names, across, up),
        size=SIZE,
        columns=("label", "x_z", "y_z"),
        rows=list(zip(labels, across.tolist(), up.tolist(), strict=True)),
        hover=hover_texts(labels, across, up, names=names),
    )


def _draw(names: tuple[str, str], across: Floats, up: Floats) -> Figure:
    figure = new_figure(*SIZE)
    axes = figure.add_subplot()
    axes.axhline(0, color=LINE, linewidth=0.8)
    axes.axvline(0, color=LINE, linewidth=0.8)
    is_lower_right = (across > 0) & (up <= 0)
    # One collection for all, so that hover texts keep their order.
    shown = hovered(len(across))
    colours = np.where(is_lower_right[shown], COLOURS[1], COLOURS[0]).tolist()
    alpha = float(np.clip(150 / max(len(across), 1), 0.2, 0.8))
    axes.scatter(across[shown], up[shown], s=9.0, c=colours, alpha=alpha, linewidths=0, gid=HOVER)
    for x, y, is_in in (
        (0.98, 0.98, (across > 0) & (up > 0)),
        (0.98, 0.02, is_lower_right),
        (0.02, 0.98, (across <= 0) & (up > 0)),
        (0.02, 0.02, (across <= 0) & (up <= 0)),
    ):
        axes.text(
            x,
            y,
            f"{int(is_in.sum()):,}",
            transform=axes.transAxes,
            ha="right" if x > 0.5 else "left",
            va="top" if y > 0.5 else "bottom",
            color=INK,
        )
    axes.set_xlabel(f"{names[0]} (z, higher is better)")
    axes.set_ylabel(f"{names[1]} (z, higher is better)")
    r = float(np.corrcoef(across, up)[0, 1])
    figure.suptitle(f"r = {r:.3f}, n = {len(across):,}", fontsize=9, color=QUIET)
    return figure
