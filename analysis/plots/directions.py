"""Axes on which better is always to the right or at the top, whatever the direction of the scores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def turn_axes(axes: Axes, *, across: bool = True, up: bool = True) -> None:
    """Reverse the axes of scores where lower is better; the flags say where higher is better."""
    if not across:
        axes.invert_xaxis()
    if not up:
        axes.invert_yaxis()


def axis_label(name: str, higher_is_better: bool) -> str:
    """Return the label of an axis, which says if it is reversed."""
    return name if higher_is_better else f"{name} (lower is better: axis reversed)"


def reversal_sentence(higher_is_better: Mapping[str, bool]) -> str:
    """Say in words which axes are reversed; empty if none is."""
    names = [name for name, flag in higher_is_better.items() if not flag]
    if not names:
        return ""
    if len(names) > 1:
        return f" Lower {' and '.join(names)} are better, so both axes are reversed: better is to the right and at the top."
    return f" Lower {names[0]} is better, so its axis is reversed: better is to the right or at the top."
