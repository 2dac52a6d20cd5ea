"""Figures of a campaign's results: scores, systems, agreement."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from da_platform.plots.rendering import Picture
from da_platform.plots.style import (
    COLOURS,
    DASHES,
    MARKERS,
    QUIET,
    TWO_COLUMNS,
    count_in_whole_numbers,
    new_figure,
)

from ..plots.heat_maps import draw_significance, significance_levels, square_size
from .gold_arrays import GoldArrays
from .ranking import PAIR_FIELDS, SystemRanking

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]

N_BINS = 30
LINE_INCHES = 0.28
PANELS_PER_ROW = 3


def score_histogram(gold: GoldArrays) -> Picture:
    """Plot the distribution of a run's segment scores."""
    z = gold.z[gold.is_complete]
    n_bins = min(N_BINS, max(5, len(z) // 4))
    counts, edges = np.histogram(z, bins=n_bins) if len(z) else (np.zeros(1), np.array([0.0, 1.0]))

    size = (TWO_COLUMNS, 2.8)

    def draw() -> Figure:
        figure = new_figure(*size)
        axes = figure.subplots()
        axes.bar(
            edges[:-1], counts, np.diff(edges), align="edge", color=COLOURS[0], ec="white", lw=0.4
        )
        axes.set(xlabel="Segment score (z)", ylabel="Translations")
        count_in_whole_numbers(axes.yaxis)
        if len(z):
            axes.axvline(float(z.mean()), color=COLOURS[1], ls="--", lw=1.2)
            axes.annotate(
                f" mean {z.mean() + 0:.2f}".replace("-0.00", "0.00"),
                (float(z.mean()), axes.get_ylim()[1]),
                va="top",
            )
        return figure

    spread = f"from {z.min():.2f} to {z.max():.2f}, mean {z.mean():.2f}" if len(z) else "none yet"
    return Picture(
        name="segment-scores",
        title="Segment scores",
        alternative=f"Histogram of the z-scores of {len(z):,} complete translations: {spread}.",
        draw=draw,
        size=size,
        columns=("from", "to", "translations"),
        rows=list(zip(edges[:-1].tolist(), edges[1:].tolist(), counts.tolist(), strict=True)),
    )


def ratings_histogram(gold: GoldArrays, minimum: int) -> Picture:
    """Plot the number of ratings that count per translation, and the minimum."""
    sizes = np.arange(int(gold.n.max(initial=minimum)) + 1)
    counts = np.bincount(gold.n, minlength=len(sizes))

    size = (TWO_COLUMNS, 2.4)

    def draw() -> Figure:
        figure = new_figure(*size)
        axes = figure.subplots()
        colours = [COLOURS[1] if size < minimum else COLOURS[0] for size in sizes]
        hatches = ["//" if size < minimum else "" for size in sizes]
        axes.bar(sizes, counts, color=colours, hatch=hatches, ec="white", lw=0.4)
        axes.axvline(minimum - 0.5, color=QUIET, ls="--", lw=1)
        axes.set(
            xlabel=f"Ratings that count ({minimum} needed for a complete score)",
            ylabel="Translations",
        )
        count_in_whole_numbers(axes.xaxis)
        count_in_whole_numbers(axes.yaxis)
        return figure

    n_incomplete = int((~gold.is_complete).sum())
    return Picture(
        name="ratings-per-translation",
        title="Ratings per translation",
        alternative=f"{n_incomplete:,} of {len(gold):,} translations have fewer than {minimum} ratings.",
        draw=draw,
        size=size,
        columns=("ratings", "translations"),
        rows=list(zip(sizes.tolist(), counts.tolist(), strict=True)),
    )


def system_ranking(ranking: SystemRanking) -> Picture:
    """Plot the systems from best to worst with their intervals, and lines between clusters."""
    scores, clusters = ranking.scores, ranking.clusters
    names = [str(name) for name in scores.systems]
    places = np.arange(len(names))

    size = (TWO_COLUMNS, 0.9 + LINE_INCHES * max(len(names), 2))

    def draw() -> Figure:
        figure = new_figure(*size)
        axes = figure.subplots()
        errors = np.array([scores.z - scores.z_low, scores.z_high - scores.z])
        axes.errorbar(
            scores.z, places, xerr=np.nan_to_num(errors), fmt="o", color=COLOURS[0], capsize=3
        )
        for place in np.flatnonzero(np.diff(clusters)):
            axes.axhline(float(place) + 0.5, color=QUIET, lw=0.8, ls="--")
        axes.set(
            yticks=places,
            yticklabels=names,
            xlabel=f"System score (z), 95 % interval over {ranking.interval_over}",
        )
        axes.invert_yaxis()
        axes.grid(axis="x")
        return figure

    columns: dict[str, Any] = {
        "system": scores.systems,
        "z": scores.z,
        "low": scores.z_low,
        "high": scores.z_high,
        "raw": scores.raw,
        "cluster": clusters,
        "segments": scores.n_segments,
        "ratings": scores.n_ratings,
    }
    best = f"{names[0]} leads with {scores.z[0]:.3f}" if names else "No system is ranked"
    return Picture(
        name="system-ranking",
        title="System ranking",
        alternative=f"{len(names)} systems in {int(clusters.max(initial=0))} clusters. {best}.",
        draw=draw,
        size=size,
        columns=tuple(columns),
        rows=list(zip(*(values.tolist() for values in columns.values()), strict=True)),
    )


def system_significance(ranking: SystemRanking) -> Picture:
    """Plot which systems significantly beat which: row beats column."""
    names = [str(name) for name in ranking.scores.systems]
    pvalues = ranking.comparison.adjusted
    n_wins = int((significance_levels(pvalues) > 0).sum())
    n = len(names)
    return Picture(
        name="system-significance",
        title="Which system beats which",
        alternative=(
            f"Of {n * (n - 1) // 2} pairs of systems, {n_wins} differ significantly "
            f"({ranking.test_in_words})."
        ),
        draw=lambda: draw_significance(names, names, pvalues, "Row is better than column"),
        size=square_size(n),
        columns=("row", "column", *PAIR_FIELDS),
        rows=[
            (
                names[i],
                names[j],
                *(
                    getattr(ranking.comparison, field)[i, j].item()
                    for field in PAIR_FIELDS.values()
                ),
            )
            for i in range(n)
            for j in range(n)
            if i != j
        ],
    )


def how_many_ratings(curve: dict[str, Any], minimum: int) -> Picture:
    """Plot how agreement grows with ratings per translation, measured and predicted.

    `curve` comes from `CampaignAgreement.as_json`. Results stored earlier have z-scores in random order only.
    """
    names = ("sizes", "r", "low", "high", "predicted", "n_translations")
    points = list(zip(*(curve[name] for name in names), strict=True))
    others = {
        label: curve[name]["r"]
        for name, label in (
            ("raw", "raw scores"),
            ("in_order", "z, in order of time"),
            ("in_order_raw", "raw, in order of time"),
        )
        if name in curve
    }
    replicate = curve.get("replicate")
    compared_with = f"the mean of {replicate}" if replicate else "the mean of N others"

    size = (TWO_COLUMNS, 3.2)

    def draw() -> Figure:
        figure = new_figure(*size)
        axes = figure.subplots()
        predictions = [
            (size, predicted) for size, _, _, _, predicted, _ in points if predicted is not None
        ]
        if predictions:
            axes.plot(
                *zip(*predictions, strict=True), color=COLOURS[1], ls="--", label="Spearman-Brown"
            )
        _draw_measured(axes, [point[:4] for point in points if point[1] is not None])
        for place, (label, r) in enumerate(others.items(), 2):
            measured = [
                (n, at_n) for n, at_n in zip(curve["sizes"], r, strict=True) if at_n is not None
            ]
            if measured:
                style: dict[str, Any] = {
                    "color": COLOURS[place],
                    "marker": MARKERS[place - 1],
                    "ls": DASHES[place],
                }
                axes.plot(*zip(*measured, strict=True), lw=0.8, label=label, **style)
        axes.axvline(minimum, color=QUIET, lw=0.8, ls=":")
        axes.set(
            xlabel="Ratings per translation",
            ylabel=f"Correlation with {replicate} (r)"
            if replicate
            else "Correlation of two halves (r)",
            ylim=(0, 1.02),
        )
        axes.grid(axis="y")
        axes.legend(loc="lower right")
        return figure

    measured = [f"{r:.2f} at {size}" for size, r, *_ in points if r is not None]
    return Picture(
        name="how-many-ratings",
        title="How many ratings are enough",
        alternative=f"Correlation of the mean of N ratings with {compared_with}: {', '.join(measured) or 'too few ratings yet'}.",
        draw=draw,
        size=size,
        columns=("ratings", "r", "low", "high", "predicted", "translations", *others),
        rows=[(*point, *extra) for point, *extra in zip(points, *others.values(), strict=True)],
    )


def ratings_against_gold(scatters: Sequence[dict[str, Any]], replicate: str) -> Picture:
    """Plot means of N ratings against independent means, one panel for each N.

    `scatters` comes from `CampaignAgreement.as_json`.
    """
    gold = f"Mean of {replicate} (z)" if replicate else "Mean of N others (z)"

    n_columns = min(PANELS_PER_ROW, len(scatters))
    n_rows = math.ceil(len(scatters) / n_columns)
    size = (2.3 * n_columns, 2.3 * n_rows)

    def draw() -> Figure:
        figure = new_figure(*size)
        panels = figure.subplots(n_rows, n_columns, sharex=True, sharey=True, squeeze=False)
        for axes, scatter in zip_longest(panels.flat, scatters):
            if scatter is None:
                axes.set_axis_off()
                continue
            axes.scatter(scatter["means"], scatter["gold"], s=7, alpha=0.5, lw=0, color=COLOURS[0])
            r = "" if scatter["r"] is None else f", r = {scatter['r']:.2f}"
            axes.set_title(f"N = {scatter['size']}{r}")
            axes.grid(True)
        figure.supxlabel("Mean of N ratings (z)", fontsize=8)
        figure.supylabel(gold, fontsize=8)
        return figure

    measured = [f"r = {s['r']:.2f} at N = {s['size']}" for s in scatters if s["r"] is not None]
    return Picture(
        name="ratings-against-gold",
        title="Means of N ratings against independent means",
        alternative=(
            "Each point is a translation; the more ratings its mean has, the closer the points lie to a "
            f"line: {', '.join(measured)}."
        ),
        draw=draw,
        size=size,
        columns=("ratings", "mean", "gold"),
        rows=[
            (scatter["size"], mean, gold)
            for scatter in scatters
            for mean, gold in zip(scatter["means"], scatter["gold"], strict=True)
        ],
    )


def _draw_measured(axes: Any, points: Sequence[Sequence[Any]]) -> None:
    if not points:
        return
    sizes, r, low, high = (
        np.array(column, dtype=np.float64) for column in zip(*points, strict=True)
    )
    # With three translations or fewer there is no interval.
    errors = np.nan_to_num(np.clip(np.array([r - low, high - r]), 0, None))
    axes.errorbar(
        sizes, r, yerr=errors, fmt="o", color=COLOURS[0], capsize=3, label="z, random order"
    )
