"""Plots of all scores: how the scale is used, and one score after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from analysis.stats.flags import LONGEST_EQUAL_RUN
from analysis.stats.roles import Role
from da_platform.plots.rendering import Picture
from da_platform.plots.style import (
    COLOURS,
    MARKERS,
    QUIET,
    TWO_COLUMNS,
    count_in_whole_numbers,
    new_figure,
)

from ...task_kinds import ScoreWords
from .axes import divide_hits, legend_above
from .shown import Floats, Ints, WorkerRatings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Width of a histogram bar, in points.
BIN_WIDTH = 10
# Ratings in the running mean of the scores: two sets of a HIT.
RUNNING_MEAN = 20

_SHOWN_ROLES = (
    (Role.GENUINE, "genuine"),
    (Role.BAD_REFERENCE, "degraded"),
    (Role.REFERENCE, "reference"),
)

DISTRIBUTION_SIZE = (TWO_COLUMNS, 2.4)
SCORES_SIZE = (TWO_COLUMNS, 2.8)


def distribution_picture(ratings: WorkerRatings, words: ScoreWords) -> Picture:
    edges = np.arange(0, 101, BIN_WIDTH)
    scores_by_role = [
        (name, ratings.score[ratings.role == role])
        for role, name in _SHOWN_ROLES
        if (ratings.role == role).any()
    ]
    counts = [np.histogram(scores, edges)[0] for _, scores in scores_by_role]
    means = ", ".join(f"{name} {float(scores.mean()):.0f}" for name, scores in scores_by_role)
    rows = [
        (int(low), int(low) + BIN_WIDTH, *(int(counts_of_role[place]) for counts_of_role in counts))
        for place, low in enumerate(edges[:-1])
    ]
    return Picture(
        name="score-distribution",
        title=words.use,
        alternative=f"Histogram of scores by kind of text, in steps of {BIN_WIDTH}. Means: {means}.",
        draw=lambda: _draw_distribution(scores_by_role, edges, words),
        size=DISTRIBUTION_SIZE,
        columns=("from", "to", *(name for name, _ in scores_by_role)),
        rows=rows,
    )


def _draw_distribution(
    scores_by_role: list[tuple[str, Floats]], edges: NDArray[Any], words: ScoreWords
) -> Figure:
    figure = new_figure(*DISTRIBUTION_SIZE)
    panels = figure.subplots(1, len(scores_by_role), sharex=True, squeeze=False)[0]
    for place, (axes, (name, scores)) in enumerate(zip(panels, scores_by_role, strict=True)):
        axes.hist(scores, edges, color=COLOURS[place], edgecolor="white", linewidth=0.6)
        axes.axvline(float(scores.mean()), color=QUIET, linewidth=1, linestyle="--")
        axes.set_title(f"{name}, {len(scores)}")
        axes.set(xlim=(0, 100), xlabel=words.axis, ylabel=words.answers if not place else "")
        count_in_whole_numbers(axes.yaxis)
    return figure


def scores_picture(ratings: WorkerRatings, words: ScoreWords) -> Picture:
    numbers = np.arange(1, len(ratings) + 1)
    means = running_means(ratings.score, RUNNING_MEAN)
    finite_means = means[~np.isnan(means)]
    span = (
        f" The mean of {RUNNING_MEAN} in a row moves between {finite_means.min():.0f} and "
        f"{finite_means.max():.0f}."
        if len(finite_means)
        else ""
    )
    start, length = longest_run(ratings)
    return Picture(
        name="scores-over-time",
        title=words.in_order,
        alternative=(
            f"Scatter plot of {len(ratings)} scores in the order they were given, with HITs set "
            f"apart by vertical lines.{span} The longest run of equal scores has {length}, from "
            f"{words.answer.lower()} {start + 1} on; up to {LONGEST_EQUAL_RUN} can be honest."
        ),
        draw=lambda: _draw_scores(ratings, numbers, means, words),
        size=SCORES_SIZE,
        columns=("rating", "hit", "kind", "score", f"mean_of_{RUNNING_MEAN}"),
        rows=[
            (int(n), int(hit), Role(int(role)).name.lower(), int(score), float(mean))
            for n, hit, role, score, mean in zip(
                numbers, ratings.hit_number, ratings.role, ratings.score, means, strict=True
            )
        ],
    )


def longest_run(ratings: WorkerRatings) -> tuple[int, int]:
    """Return where the longest run of equal scores within a HIT begins, and its length."""
    differs = (np.diff(ratings.assignment) != 0) | (np.diff(ratings.score) != 0)
    starts = np.concatenate([[0], np.flatnonzero(differs) + 1])
    lengths = np.diff(starts, append=len(ratings))
    place = int(lengths.argmax())
    return int(starts[place]), int(lengths[place])


def running_means(values: Floats, width: int) -> Floats:
    """Return the mean of each value and the `width - 1` before it; NaN where there are fewer."""
    means = np.full(len(values), np.nan)
    if len(values) >= width:
        total = np.concatenate([[0.0], np.cumsum(values)])
        means[width - 1 :] = (total[width:] - total[:-width]) / width
    return means


def _draw_scores(ratings: WorkerRatings, numbers: Ints, means: Floats, words: ScoreWords) -> Figure:
    figure = new_figure(*SCORES_SIZE)
    axes = figure.add_subplot()
    divide_hits(axes, ratings.hit_number)
    for place, (role, name) in enumerate(_SHOWN_ROLES):
        has_role = ratings.role == role
        if has_role.any():
            axes.plot(
                numbers[has_role],
                ratings.score[has_role],
                linestyle="",
                marker=MARKERS[place],
                markersize=2.5,
                alpha=0.7,
                color=COLOURS[place],
                label=name,
            )
    axes.plot(numbers, means, color=QUIET, linewidth=1.2, label=f"mean of {RUNNING_MEAN}")
    start, length = longest_run(ratings)
    if length > LONGEST_EQUAL_RUN:
        score = float(ratings.score[start])
        axes.plot(
            [start + 1, start + length],
            [score, score],
            color=COLOURS[3],
            linewidth=4,
            alpha=0.6,
            solid_capstyle="butt",
            label=f"{length} equal scores",
        )
    axes.set(xlim=(0, len(ratings) + 1), ylim=(-2, 102), xlabel=words.answer, ylabel=words.axis)
    legend_above(axes)
    return figure
