"""Plots of pairs: degraded against genuine, the same text twice, and the latest HITs, as they went."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from analysis.stats.quality_control import Pairs, degraded_tests
from analysis.stats.roles import Role
from analysis.stats.thresholds import MINIMUM_PAIRS, RELIABLE_P, WINDOW_HITS
from da_platform.plots.rendering import Picture
from da_platform.plots.style import (
    COLOURS,
    MARKERS,
    ONE_COLUMN,
    QUIET,
    TWO_COLUMNS,
    count_in_whole_numbers,
    new_figure,
)
from da_platform.plots.svg import HOVER

from .axes import scale_by_tens
from .shown import Floats, Ints, WorkerRatings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Smaller p-values are drawn here, because a logarithmic axis has to end somewhere.
LOWEST_P = 1e-6

PAIRS_SIZE = (ONE_COLUMN, ONE_COLUMN)
DRIFT_SIZE = (TWO_COLUMNS, 2.6)


@dataclass(frozen=True, slots=True)
class _PairScores:
    """Scores of items and of their partners, and the HIT of each pair."""

    partner: Floats
    item: Floats
    hit: Ints

    def __len__(self) -> int:
        return len(self.item)


def _pairs_of(ratings: WorkerRatings, pairs: Pairs, role: Role) -> _PairScores:
    has_role = ratings.role[pairs.rows] == role
    rows, partner_rows = pairs.rows[has_role], pairs.partner_rows[has_role]
    return _PairScores(ratings.score[partner_rows], ratings.score[rows], ratings.hit_number[rows])


def degraded_picture(ratings: WorkerRatings, pairs: Pairs) -> Picture | None:
    scores = _pairs_of(ratings, pairs, Role.BAD_REFERENCE)
    if not len(scores):
        return None
    n_lower = int((scores.item < scores.partner).sum())
    return Picture(
        name="degraded-pairs",
        title="Degraded against genuine",
        alternative=(
            f"Scatter plot of {len(scores)} pairs, the genuine score across and the degraded one up. "
            f"{n_lower} of {len(scores)} degraded texts were scored lower, below the diagonal. On "
            f"average, degraded minus genuine is {float((scores.item - scores.partner).mean()):+.1f} points."
        ),
        draw=lambda: _draw_pairs(scores, "Score of the genuine text", "Score of the degraded text"),
        size=PAIRS_SIZE,
        columns=("hit", "genuine", "degraded", "difference"),
        rows=_pair_rows(scores),
        hover=_pair_texts(scores, "genuine", "degraded"),
    )


def repeats_picture(ratings: WorkerRatings, pairs: Pairs) -> Picture | None:
    scores = _pairs_of(ratings, pairs, Role.REPEAT)
    if not len(scores):
        return None
    apart = np.abs(scores.item - scores.partner)
    return Picture(
        name="repeats",
        title="The same text twice",
        alternative=(
            f"Scatter plot of {len(scores)} texts that were shown twice, original across and repeat up. "
            f"The two scores lie {float(apart.mean()):.1f} points apart on average and "
            f"{int(apart.max())} at most; on the diagonal they are equal."
        ),
        draw=lambda: _draw_pairs(scores, "Score of the original", "Score of the repeat"),
        size=PAIRS_SIZE,
        columns=("hit", "original", "repeat", "difference"),
        rows=_pair_rows(scores),
        hover=_pair_texts(scores, "original", "repeat"),
    )


def _pair_rows(scores: _PairScores) -> list[tuple[int, int, int, int]]:
    return [
        (int(hit), int(a), int(b), int(b - a))
        for hit, a, b in zip(scores.hit, scores.partner, scores.item, strict=True)
    ]


def _pair_texts(scores: _PairScores, first: str, second: str) -> list[str]:
    return [f"HIT {hit}: {first} {a}, {second} {b}" for hit, a, b, _ in _pair_rows(scores)]


def _draw_pairs(scores: _PairScores, across: str, up: str) -> Figure:
    figure = new_figure(*PAIRS_SIZE)
    axes = figure.add_subplot()
    axes.plot([0, 100], [0, 100], color=QUIET, linewidth=0.8, linestyle="--")
    points = axes.scatter(
        scores.partner, scores.item, s=22, color=COLOURS[0], alpha=0.75, linewidths=0, clip_on=False
    )
    points.set_gid(HOVER)
    axes.set(xlim=(0, 100), ylim=(0, 100), xlabel=across, ylabel=up, aspect="equal")
    axes.grid(True)
    return figure


# Drift ----------------------------------------------------------------------------------------


def drift_picture(ratings: WorkerRatings, pairs: Pairs) -> Picture | None:
    rows = window_pvalues(ratings, pairs)
    judged = [row for row in rows if row[3] is not None]
    if not judged:
        return None
    last = judged[-1][3]
    assert last is not None
    n_failed = sum(1 for row in judged if not (row[3] or 0.0) < RELIABLE_P)
    return Picture(
        name="drift",
        title=f"The latest {WINDOW_HITS} HITs, as they went",
        alternative=(
            f"Line chart of the p-value over the latest {WINDOW_HITS} HITs, after each HIT, and over "
            f"all HITs so far. Below {RELIABLE_P:g} the worker tells degraded from genuine. "
            f"The window fails after {n_failed} of {len(judged)} HITs; the latest p is {last:.2g}."
        ),
        draw=lambda: _draw_drift(rows),
        size=DRIFT_SIZE,
        columns=("hit", "pairs_in_window", "pairs_so_far", "window_p", "p_so_far"),
        rows=rows,
    )


def window_pvalues(
    ratings: WorkerRatings, pairs: Pairs
) -> list[tuple[int, int, int, float | None, float | None]]:
    """Return for each HIT: its number, the pairs in the window and so far, and the p-value of each.

    p is None if there are fewer than `MINIMUM_PAIRS` pairs.
    """
    is_degraded = ratings.role[pairs.rows] == Role.BAD_REFERENCE
    differences, hits = pairs.differences[is_degraded], ratings.hit_number[pairs.rows[is_degraded]]
    rows = []
    for number in range(1, int(ratings.hit_number.max(initial=0)) + 1):
        latest = differences[(hits <= number) & (hits > number - WINDOW_HITS)]
        so_far = differences[hits <= number]
        rows.append((number, len(latest), len(so_far), _pvalue(latest), _pvalue(so_far)))
    return rows


def _pvalue(differences: Floats) -> float | None:
    if len(differences) < MINIMUM_PAIRS:
        return None
    tests = degraded_tests(differences, np.zeros(len(differences), dtype=np.int64))
    return float(tests.pvalue[0])


def _draw_drift(rows: list[tuple[int, int, int, float | None, float | None]]) -> Figure:
    figure = new_figure(*DRIFT_SIZE)
    axes = figure.add_subplot()
    for place, label in ((4, "all HITs so far"), (3, f"latest {WINDOW_HITS} HITs")):
        points = [(row[0], max(p, LOWEST_P)) for row in rows if (p := row[place]) is not None]
        axes.plot(
            *zip(*points, strict=True),
            color=COLOURS[4 - place],
            marker=MARKERS[4 - place],
            linestyle="-" if place == 3 else "--",
            label=label,
        )
    axes.axhline(RELIABLE_P, color=QUIET, linewidth=0.9, linestyle=":")
    scale_by_tens(axes)
    axes.set(xlabel="HIT", ylabel="p", ylim=(LOWEST_P / 2, 1.6), xlim=(0.5, len(rows) + 0.5))
    axes.annotate(
        f"p = {RELIABLE_P:g}",
        (1, RELIABLE_P),
        xycoords=("axes fraction", "data"),
        xytext=(-2, 3),
        textcoords="offset points",
        ha="right",
        color=QUIET,
        fontsize=7,
    )
    count_in_whole_numbers(axes.xaxis)
    axes.legend(loc="lower left")
    return figure
