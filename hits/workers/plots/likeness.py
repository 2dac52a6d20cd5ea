"""Plots of a worker's scores next to those of the others and to a formula."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from analysis.stats.likeness import LIKENESS_R
from analysis.stats.thresholds import AGREEMENT_P, FEWEST_OTHERS
from da_platform.plots.rendering import Picture
from da_platform.plots.style import COLOURS, ONE_COLUMN, QUIET, new_figure
from da_platform.plots.svg import HOVER

from .shown import BesideFormula, BesideOthers, Floats

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIZE = (ONE_COLUMN, ONE_COLUMN)


def agreement_picture(points: BesideOthers | None) -> Picture | None:
    r = _correlation(points.z, points.others) if points else None
    if points is None or r is None:
        return None
    return Picture(
        name="agreement",
        title="Agreement with the others",
        alternative=(
            f"Scatter plot of {len(points)} genuine texts, the mean of at least {FEWEST_OTHERS} other "
            f"trusted workers across and this worker up, both standardised. The correlation is "
            f"r = {r:.2f}. Scores of someone who reads rise with those of the others (p below "
            f"{AGREEMENT_P:g})."
        ),
        draw=lambda: _draw_beside(
            points.others, points.z, "Mean of the others (z)", "This worker (z)"
        ),
        size=SIZE,
        columns=("others_z", "worker_z", "n_others"),
        rows=[
            (float(others), float(z), int(n))
            for others, z, n in zip(points.others, points.z, points.n_others, strict=True)
        ],
        hover=[
            f"this worker {z:.2f}, mean of {n} others {others:.2f}"
            for others, z, n in zip(points.others, points.z, points.n_others, strict=True)
        ],
    )


def likeness_picture(points: BesideFormula | None) -> Picture | None:
    r = _correlation(points.scores, points.values) if points else None
    if points is None or r is None:
        return None
    return Picture(
        name="likeness",
        title="Likeness to a formula",
        alternative=(
            f"Scatter plot of {len(points)} genuine texts, {points.measure} across and the worker's "
            f"score up. The correlation is r = {r:.2f}. From {LIKENESS_R:g} on, in either direction, "
            "scores look computed."
        ),
        draw=lambda: _draw_beside(
            points.values, points.scores, _sentence_case(points.measure), "Score"
        ),
        size=SIZE,
        columns=("formula", "score"),
        rows=[
            (float(value), int(score))
            for value, score in zip(points.values, points.scores, strict=True)
        ],
        hover=[
            f"formula {value:.2f}, score {score:.0f}"
            for value, score in zip(points.values, points.scores, strict=True)
        ],
    )


def _correlation(x: Floats, y: Floats) -> float | None:
    """Return Pearson's r, or None if there are fewer than three points or one side never varies."""
    if len(x) < 3 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return None
    return float(np.corrcoef(x, y)[0, 1])


def _sentence_case(text: str) -> str:
    return text[:1].upper() + text[1:]


def _draw_beside(across: Floats, up: Floats, across_label: str, up_label: str) -> Figure:
    figure = new_figure(*SIZE)
    axes = figure.add_subplot()
    slope, start = np.polyfit(across, up, 1)
    ends = np.array([across.min(), across.max()])
    axes.plot(ends, start + slope * ends, color=QUIET, linewidth=0.8, linestyle="--")
    points = axes.scatter(
        across, up, s=22, color=COLOURS[0], alpha=0.75, linewidths=0, clip_on=False
    )
    points.set_gid(HOVER)
    axes.set(xlabel=across_label, ylabel=up_label)
    axes.grid(True)
    return figure
