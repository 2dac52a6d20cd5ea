"""Plots of times: seconds per item, and claimed against passed time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from analysis.stats.timing import FAST_SECONDS, claims_too_much
from da_platform.plots.rendering import Picture
from da_platform.plots.style import COLOURS, ONE_COLUMN, QUIET, TWO_COLUMNS, new_figure

from .axes import divide_hits, legend_above, scale_by_tens
from .shown import Floats, HitTimes, Ints

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# The shortest time on the axis of seconds.
LOWEST_SECONDS = 0.1

CLAIMS_SIZE = (TWO_COLUMNS, 2.4)


def seconds_picture(seconds: Floats, hit_numbers: Ints) -> Picture | None:
    """Show the time between ratings, over all HITs; None if it is unknown or always zero."""
    if not (seconds[np.isfinite(seconds)] > 0).any():
        return None
    return _seconds_picture(seconds, hit_numbers, size=(TWO_COLUMNS, 2.6))


def hit_seconds_picture(seconds: Floats) -> Picture:
    """Show the time between the ratings of one HIT, small."""
    hit_numbers = np.ones(len(seconds), dtype=np.int64)
    return _seconds_picture(seconds, hit_numbers, size=(ONE_COLUMN, 1.6))


def _seconds_picture(seconds: Floats, hit_numbers: Ints, *, size: tuple[float, float]) -> Picture:
    is_known = np.isfinite(seconds)
    median = float(np.median(seconds[is_known]))
    numbers = np.arange(1, len(seconds) + 1)
    return Picture(
        name="seconds-per-item",
        title="Seconds per item",
        alternative=(
            "Scatter plot of the seconds between one rating and the next, as received by the server, on "
            f"a logarithmic axis. The median is {median:.1f} s; "
            f"{int((seconds[is_known] < FAST_SECONDS).sum())} of {int(is_known.sum())} ratings "
            f"came within {FAST_SECONDS:g} s, below the dotted line."
        ),
        draw=lambda: _draw_seconds(new_figure(*size), numbers, seconds, hit_numbers, median),
        size=size,
        columns=("rating", "hit", "seconds"),
        rows=[
            (int(n), int(hit), float(gap))
            for n, hit, gap in zip(numbers, hit_numbers, seconds, strict=True)
        ],
    )


def _draw_seconds(
    figure: Figure, numbers: Ints, seconds: Floats, hit_numbers: Ints, median: float
) -> Figure:
    axes = figure.add_subplot()
    divide_hits(axes, hit_numbers)
    axes.plot(
        numbers,
        np.maximum(seconds, LOWEST_SECONDS),
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
    scale_by_tens(axes, subs=(1.0, 2.0, 5.0))
    axes.set(xlim=(0, len(seconds) + 1), xlabel="Rating", ylabel="Seconds")
    legend_above(axes)
    return figure


def claims_picture(times: HitTimes | None) -> Picture | None:
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
        size=CLAIMS_SIZE,
        columns=("hit", "claimed_seconds", "passed_seconds"),
        rows=[
            (number, float(claimed), float(passed))
            for number, (claimed, passed) in enumerate(
                zip(times.claimed, times.passed, strict=True), start=1
            )
        ],
    )


def _draw_claims(times: HitTimes) -> Figure:
    figure = new_figure(*CLAIMS_SIZE)
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
    legend_above(axes)
    return figure
