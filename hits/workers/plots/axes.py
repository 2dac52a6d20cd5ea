"""Axes that several of the plots share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from da_platform.plots.style import LINE

from .shown import Ints

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def scale_by_tens(axes: Axes, *, subs: tuple[float, ...] = (1.0,)) -> None:
    """Make the y-axis logarithmic, with plain numbers at these ticks."""
    axes.set_yscale("log")
    from matplotlib.ticker import LogLocator, NullFormatter

    axes.yaxis.set_major_locator(LogLocator(subs=subs))
    axes.yaxis.set_major_formatter(lambda value, position: f"{value:g}")
    axes.yaxis.set_minor_formatter(NullFormatter())


def divide_hits(axes: Axes, hit_numbers: Ints) -> None:
    """Draw a vertical line between the last rating of a HIT and the first of the next one."""
    for place in np.flatnonzero(np.diff(hit_numbers)):
        axes.axvline(float(place) + 1.5, color=LINE, linewidth=0.7)


def legend_above(axes: Axes) -> None:
    axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=5, borderaxespad=0.2)
