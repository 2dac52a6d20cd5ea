"""Pictures of a campaign's results: scores, systems, agreement."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..gold import GoldArrays, SystemRanking
from .heat_maps import draw_significance, significance_levels
from .rendering import Picture
from .style import COLOURS, QUIET, TWO_COLUMNS, count_in_whole_numbers, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]

N_BINS = 30
# Height, in inches, of one system's line.
LINE_HEIGHT = 0.28


def score_histogram(gold: GoldArrays) -> Picture:
    """Show how the segment scores of a run are spread."""
    z = gold.z[gold.is_complete]
    n_bins = min(N_BINS, max(5, len(z) // 4))
    counts, edges = np.histogram(z, bins=n_bins) if len(z) else (np.zeros(1), np.array([0.0, 1.0]))

    def draw() -> Figure:
        figure = new_figure(TWO_COLUMNS, 2.8)
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
        columns=("from", "to", "translations"),
        rows=list(zip(edges[:-1].tolist(), edges[1:].tolist(), counts.tolist(), strict=True)),
    )


def ratings_histogram(gold: GoldArrays, minimum: int) -> Picture:
    """Show how many trusted ratings each translation has, against how many it needs."""
    sizes = np.arange(int(gold.n.max(initial=minimum)) + 1)
    counts = np.bincount(gold.n, minlength=len(sizes))

    def draw() -> Figure:
        figure = new_figure(TWO_COLUMNS, 2.4)
        axes = figure.subplots()
        colours = [COLOURS[1] if size < minimum else COLOURS[0] for size in sizes]
        hatches = ["//" if size < minimum else "" for size in sizes]
        axes.bar(sizes, counts, color=colours, hatch=hatches, ec="white", lw=0.4)
        axes.axvline(minimum - 0.5, color=QUIET, ls="--", lw=1)
        axes.set(xlabel=f"Trusted ratings ({minimum} make a score complete)", ylabel="Translations")
        count_in_whole_numbers(axes.xaxis)
        count_in_whole_numbers(axes.yaxis)
        return figure

    n_incomplete = int((~gold.is_complete).sum())
    return Picture(
        name="ratings-per-translation",
        title="Ratings per translation",
        alternative=f"{n_incomplete:,} of {len(gold):,} translations have fewer than {minimum} ratings.",
        draw=draw,
        columns=("ratings", "translations"),
        rows=list(zip(sizes.tolist(), counts.tolist(), strict=True)),
    )


def system_ranking(ranking: SystemRanking) -> Picture:
    """Show the systems from best to worst with their intervals, and a line between clusters."""
    scores, clusters = ranking.scores, ranking.clusters
    names = [str(name) for name in scores.systems]
    places = np.arange(len(names))

    def draw() -> Figure:
        figure = new_figure(TWO_COLUMNS, 0.9 + LINE_HEIGHT * max(len(names), 2))
        axes = figure.subplots()
        reach = np.array([scores.z - scores.z_low, scores.z_high - scores.z])
        axes.errorbar(
            scores.z, places, xerr=np.nan_to_num(reach), fmt="o", color=COLOURS[0], capsize=3
        )
        for place in np.flatnonzero(np.diff(clusters)):
            axes.axhline(float(place) + 0.5, color=QUIET, lw=0.8, ls="--")
        axes.set(yticks=places, yticklabels=names, xlabel="Mean z-score, 95 % interval")
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
        columns=tuple(columns),
        rows=list(zip(*(values.tolist() for values in columns.values()), strict=True)),
    )


def system_significance(ranking: SystemRanking) -> Picture:
    """Show which system significantly beats which: row beats column."""
    names = [str(name) for name in ranking.scores.systems]
    pvalues = ranking.comparison.pvalues
    n_wins = int((significance_levels(pvalues) > 0).sum())
    n = len(names)
    return Picture(
        name="system-significance",
        title="Which system beats which",
        alternative=(
            f"Of {n * (n - 1) // 2} pairs of systems, {n_wins} differ significantly at .05 "
            "(one-sided Mann-Whitney U on segment z-scores)."
        ),
        draw=lambda: draw_significance(names, names, pvalues, "Row is better than column"),
        columns=("row", "column", "difference", "p"),
        rows=[
            (names[i], names[j], float(ranking.comparison.differences[i, j]), float(pvalues[i, j]))
            for i in range(n)
            for j in range(n)
            if i != j
        ],
    )


def how_many_ratings(curve: dict[str, Any], wanted: int) -> Picture:
    """Show how agreement grows with ratings per translation, measured and foretold.

    `curve` is that of `CampaignAgreement.as_json`.
    """
    points = [
        (size, r, low, high, predicted, n)
        for size, r, low, high, predicted, n in zip(
            *(curve[name] for name in ("sizes", "r", "low", "high", "predicted", "n_translations")),
            strict=True,
        )
    ]

    def draw() -> Figure:
        figure = new_figure(TWO_COLUMNS, 3.2)
        axes = figure.subplots()
        foretold = [
            (size, predicted) for size, _, _, _, predicted, _ in points if predicted is not None
        ]
        if foretold:
            axes.plot(
                *zip(*foretold, strict=True), color=COLOURS[1], ls="--", label="Spearman-Brown"
            )
        _measured(axes, [point[:4] for point in points if point[1] is not None])
        axes.axvline(wanted, color=QUIET, lw=0.8, ls=":")
        axes.set(
            xlabel="Ratings per translation", ylabel="Correlation of two halves (r)", ylim=(0, 1.02)
        )
        axes.grid(axis="y")
        axes.legend(loc="lower right")
        return figure

    known = [f"{r:.2f} at {size}" for size, r, *_ in points if r is not None]
    return Picture(
        name="how-many-ratings",
        title="How many ratings are enough",
        alternative=f"Agreement of means of N ratings with means of N others: {', '.join(known) or 'too few ratings yet'}.",
        draw=draw,
        columns=("ratings", "r", "low", "high", "predicted", "translations"),
        rows=points,
    )


def _measured(axes: Any, points: Sequence[Sequence[Any]]) -> None:
    if not points:
        return
    sizes, r, low, high = (
        np.array(column, dtype=np.float64) for column in zip(*points, strict=True)
    )
    # Without an interval (three translations at most) the point stands alone.
    reach = np.nan_to_num(np.clip(np.array([r - low, high - r]), 0, None))
    axes.errorbar(sizes, r, yerr=reach, fmt="o", color=COLOURS[0], capsize=3, label="measured")
