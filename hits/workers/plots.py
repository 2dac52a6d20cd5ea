"""Plots about one worker, each with a description and its data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from analysis.stats.flags import LONGEST_EQUAL_RUN
from analysis.stats.likeness import LIKENESS_R
from analysis.stats.quality_control import (
    Pairs,
    degraded_tests,
    make_pairs,
)
from analysis.stats.roles import Role
from analysis.stats.thresholds import (
    AGREEMENT_P,
    FEWEST_OTHERS,
    MINIMUM_PAIRS,
    RELIABLE_P,
    WINDOW_HITS,
)
from analysis.stats.timing import FAST_SECONDS, claims_too_much
from da_platform.plots.rendering import Picture
from da_platform.plots.style import (
    COLOURS,
    LINE,
    MARKERS,
    ONE_COLUMN,
    QUIET,
    TWO_COLUMNS,
    count_in_whole_numbers,
    new_figure,
)
from da_platform.plots.svg import HOVER

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# Width of a histogram bar, in points.
BIN_WIDTH = 10
# Ratings in the running mean of the scores: two sets of a HIT.
RUNNING_MEAN = 20
# Smaller p-values are drawn here, because a logarithmic axis has to end somewhere.
LOWEST_P = 1e-6
# The shortest time on the axis of seconds.
LOWEST_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class WorkerRatings:
    """All submitted ratings of one worker, in the order they were given.

    `seconds` is the time since the previous rating in the same HIT, by the server's clock; NaN if
    unknown. `submitted` is when the rating's HIT was submitted. HITs are numbered from 1.
    """

    assignment: Ints
    item: Ints
    partner: Ints
    role: Ints
    score: Floats
    seconds: Floats
    submitted: Floats
    hit_number: Ints

    def __len__(self) -> int:
        return len(self.score)


@dataclass(frozen=True, slots=True)
class BesideOthers:
    """A worker's standardised scores next to the mean of at least `FEWEST_OTHERS` other trusted workers."""

    z: Floats
    others: Floats
    n_others: Ints

    def __len__(self) -> int:
        return len(self.z)


@dataclass(frozen=True, slots=True)
class BesideFormula:
    """A worker's scores next to what a formula gives the same texts; `measure` is its name in words."""

    measure: str
    values: Floats
    scores: Floats

    def __len__(self) -> int:
        return len(self.scores)


@dataclass(frozen=True, slots=True)
class HitTimes:
    """Of each HIT, numbered from 1: reading time claimed by the browser and time passed, in seconds."""

    claimed: Floats
    passed: Floats

    def __len__(self) -> int:
        return len(self.passed)


def worker_pictures(
    ratings: WorkerRatings,
    *,
    beside_others: BesideOthers | None = None,
    beside_formula: BesideFormula | None = None,
    hit_times: HitTimes | None = None,
) -> list[Picture]:
    """Return the plots that have something to show, most important first.

    Parameters
    ----------
    ratings : WorkerRatings
    beside_others, beside_formula, hit_times : optional
        What the plots of agreement, likeness and claimed time show.

    Returns
    -------
    list of Picture
        A plot is left out if there are no ratings, or none of the pairs it needs.
    """
    if not len(ratings):
        return []
    pairs = make_pairs(ratings.assignment, ratings.item, ratings.partner, ratings.score)
    pictures = [
        _degraded_picture(ratings, pairs),
        _repeats_picture(ratings, pairs),
        _agreement_picture(beside_others),
        _likeness_picture(beside_formula),
        _drift_picture(ratings, pairs),
        _distribution_picture(ratings),
        _scores_picture(ratings),
        _seconds_picture(ratings),
        _claims_picture(hit_times),
    ]
    return [picture for picture in pictures if picture is not None]


# Pairs ----------------------------------------------------------------------------------------


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


def _degraded_picture(ratings: WorkerRatings, pairs: Pairs) -> Picture | None:
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
        columns=("hit", "genuine", "degraded", "difference"),
        rows=_pair_rows(scores),
        hover=_pair_texts(scores, "genuine", "degraded"),
    )


def _repeats_picture(ratings: WorkerRatings, pairs: Pairs) -> Picture | None:
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
    figure = new_figure(ONE_COLUMN, ONE_COLUMN)
    axes = figure.add_subplot()
    axes.plot([0, 100], [0, 100], color=QUIET, linewidth=0.8, linestyle="--")
    points = axes.scatter(
        scores.partner, scores.item, s=22, color=COLOURS[0], alpha=0.75, linewidths=0, clip_on=False
    )
    points.set_gid(HOVER)
    axes.set(xlim=(0, 100), ylim=(0, 100), xlabel=across, ylabel=up, aspect="equal")
    axes.grid(True)
    return figure


# Beside others and formulas -------------------------------------------------------------------


def _agreement_picture(points: BesideOthers | None) -> Picture | None:
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


def _likeness_picture(points: BesideFormula | None) -> Picture | None:
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
    figure = new_figure(ONE_COLUMN, ONE_COLUMN)
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


# Drift ----------------------------------------------------------------------------------------


def _drift_picture(ratings: WorkerRatings, pairs: Pairs) -> Picture | None:
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
    figure = new_figure(TWO_COLUMNS, 2.6)
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
    _scale_by_tens(axes)
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


# Scores ---------------------------------------------------------------------------------------

_SHOWN_ROLES = (
    (Role.GENUINE, "genuine"),
    (Role.BAD_REFERENCE, "degraded"),
    (Role.REFERENCE, "reference"),
)


def _distribution_picture(ratings: WorkerRatings) -> Picture:
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
        title="How the scale is used",
        alternative=f"Histogram of scores by kind of text, in steps of {BIN_WIDTH}. Means: {means}.",
        draw=lambda: _draw_distribution(scores_by_role, edges),
        columns=("from", "to", *(name for name, _ in scores_by_role)),
        rows=rows,
    )


def _draw_distribution(scores_by_role: list[tuple[str, Floats]], edges: NDArray[Any]) -> Figure:
    figure = new_figure(TWO_COLUMNS, 2.4)
    panels = figure.subplots(1, len(scores_by_role), sharex=True, squeeze=False)[0]
    for place, (axes, (name, scores)) in enumerate(zip(panels, scores_by_role, strict=True)):
        axes.hist(scores, edges, color=COLOURS[place], edgecolor="white", linewidth=0.6)
        axes.axvline(float(scores.mean()), color=QUIET, linewidth=1, linestyle="--")
        axes.set_title(f"{name}, {len(scores)}")
        axes.set(xlim=(0, 100), xlabel="Score", ylabel="Ratings" if not place else "")
        count_in_whole_numbers(axes.yaxis)
    return figure


def _scores_picture(ratings: WorkerRatings) -> Picture:
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
        title="Scores, one after the other",
        alternative=(
            f"Scatter plot of {len(ratings)} scores in the order they were given, with HITs set "
            f"apart by vertical lines.{span} The longest run of equal scores has {length}, from "
            f"rating {start + 1} on; up to {LONGEST_EQUAL_RUN} can be honest."
        ),
        draw=lambda: _draw_scores(ratings, numbers, means),
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


def _draw_scores(ratings: WorkerRatings, numbers: Ints, means: Floats) -> Figure:
    figure = new_figure(TWO_COLUMNS, 2.8)
    axes = figure.add_subplot()
    _divide_hits(axes, ratings)
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
    axes.set(xlim=(0, len(ratings) + 1), ylim=(-2, 102), xlabel="Rating", ylabel="Score")
    _legend_above(axes)
    return figure


# Time -----------------------------------------------------------------------------------------


def _seconds_picture(ratings: WorkerRatings) -> Picture | None:
    is_known = np.isfinite(ratings.seconds)
    if not (ratings.seconds[is_known] > 0).any():
        return None
    median = float(np.median(ratings.seconds[is_known]))
    numbers = np.arange(1, len(ratings) + 1)
    return Picture(
        name="seconds-per-item",
        title="Seconds per item",
        alternative=(
            "Scatter plot of the seconds between one rating and the next, as received by the server, on "
            f"a logarithmic axis. The median is {median:.1f} s; "
            f"{int((ratings.seconds[is_known] < FAST_SECONDS).sum())} of {int(is_known.sum())} ratings "
            f"came within {FAST_SECONDS:g} s, below the dotted line."
        ),
        draw=lambda: _draw_seconds(ratings, numbers, median),
        columns=("rating", "hit", "seconds"),
        rows=[
            (int(n), int(hit), float(seconds))
            for n, hit, seconds in zip(numbers, ratings.hit_number, ratings.seconds, strict=True)
        ],
    )


def _draw_seconds(ratings: WorkerRatings, numbers: Ints, median: float) -> Figure:
    figure = new_figure(TWO_COLUMNS, 2.6)
    axes = figure.add_subplot()
    _divide_hits(axes, ratings)
    axes.plot(
        numbers,
        np.maximum(ratings.seconds, LOWEST_SECONDS),
        linestyle="",
        marker="o",
        markersize=2.5,
        alpha=0.6,
        color=COLOURS[0],
        label="one item",
    )
    axes.axhline(
        FAST_SECONDS, color=QUIET, linewidth=1.2, linestyle=":", label=f"{FAST_SECONDS:g} s"
    )
    axes.axhline(max(median, LOWEST_SECONDS), color=COLOURS[1], linewidth=1.2, label="median")
    _scale_by_tens(axes, subs=(1.0, 2.0, 5.0))
    axes.set(xlim=(0, len(ratings) + 1), xlabel="Rating", ylabel="Seconds")
    _legend_above(axes)
    return figure


def _claims_picture(times: HitTimes | None) -> Picture | None:
    if times is None or not (times.claimed > 0).any():
        return None
    n_too_much = sum(map(claims_too_much, times.claimed, times.passed))
    return Picture(
        name="claimed-time",
        title="Claimed and passed time",
        alternative=(
            f"Bar chart of {len(times)} HITs: the reading time that the browser claimed, and the time "
            f"from taking the HIT to its last rating by the server's clock. More was claimed than can "
            f"have passed in {n_too_much} of them."
        ),
        draw=lambda: _draw_claims(times),
        columns=("hit", "claimed_seconds", "passed_seconds"),
        rows=[
            (number, float(claimed), float(passed))
            for number, (claimed, passed) in enumerate(
                zip(times.claimed, times.passed, strict=True), start=1
            )
        ],
    )


def _draw_claims(times: HitTimes) -> Figure:
    figure = new_figure(TWO_COLUMNS, 2.4)
    axes = figure.add_subplot()
    numbers = np.arange(1, len(times) + 1)
    bars = (("claimed by the browser", times.claimed, "//"), ("passed", times.passed, ""))
    for place, (label, seconds, hatch) in enumerate(bars):
        axes.bar(
            numbers + (place - 0.5) * 0.4,
            seconds / 60,
            width=0.4,
            color=COLOURS[place],
            edgecolor="white",
            hatch=hatch,
            label=label,
        )
    # A few HITs do not get bars as wide as the page.
    axes.set(xlim=(0.4, max(len(times), 4) + 0.6), xlabel="HIT", ylabel="Minutes")
    if len(times) < 20:
        axes.set_xticks(numbers)
    _legend_above(axes)
    return figure


def _scale_by_tens(axes: Axes, *, subs: tuple[float, ...] = (1.0,)) -> None:
    """Make the y-axis logarithmic, with plain numbers at these ticks."""
    axes.set_yscale("log")
    from matplotlib.ticker import LogLocator, NullFormatter

    axes.yaxis.set_major_locator(LogLocator(subs=subs))
    axes.yaxis.set_major_formatter(lambda value, position: f"{value:g}")
    axes.yaxis.set_minor_formatter(NullFormatter())


def _divide_hits(axes: Axes, ratings: WorkerRatings) -> None:
    for place in np.flatnonzero(np.diff(ratings.assignment)):
        axes.axvline(float(place) + 1.5, color=LINE, linewidth=0.7)


def _legend_above(axes: Axes) -> None:
    axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=5, borderaxespad=0.2)
