"""Heat maps of metrics: which significantly outperforms which, and how they correlate."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from da_platform.plots.rendering import Picture
from da_platform.plots.style import (
    LINE,
    QUIET,
    SEQUENTIAL,
    SIGNIFICANCE_SHADES,
    new_figure,
)

from ..stats.thresholds import ALPHA, STAR_LEVELS, bare

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]

# Sizes in inches: of a cell, of the smallest map (the legend needs it), and of the labels.
CELL = 0.16
SMALLEST_SIDE = 2.4
MARGIN = 2.2
CELL_PIXELS = 8
TITLE_LETTERS_PER_INCH = 12
# With more metrics, values in the cells would be too small to read.
MOST_WITH_VALUES = 16
# Longer names are shortened in figures, not in tables and data.
LONGEST_NAME = 28


def shortened(name: str, longest: int = LONGEST_NAME) -> str:
    """Return a name short enough for an axis label."""
    return name if len(name) <= longest else f"{name[: longest - 1]}…"


def significance_levels(pvalues: Floats) -> NDArray[np.int64]:
    """Return for each p-value how many of `STAR_LEVELS` it is below, 0 to 3; 0 for NaN."""
    return np.sum([pvalues < level for level in STAR_LEVELS], axis=0)


def draw_significance(
    rows: Sequence[str], columns: Sequence[str], pvalues: Floats, title: str
) -> Figure:
    """Draw a map with darker cells the more significantly the row beats the column."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import ListedColormap, Normalize
    from matplotlib.patches import Patch

    figure, axes = _square(len(rows))
    shades = ListedColormap(SIGNIFICANCE_SHADES, name="significance")
    levels = significance_levels(pvalues)
    n = len(rows)
    _show_cells(axes, levels, ScalarMappable(Normalize(0, 3), shades))
    edges = np.arange(1, n)
    axes.hlines(edges, 0, n, color=LINE, linewidth=0.4)
    axes.vlines(edges, 0, n, color=LINE, linewidth=0.4)
    _label(axes, rows, [shortened(name) for name in columns])
    axes.plot([0, len(rows)], [0, len(rows)], color=LINE, linewidth=0.8)
    width = int(figure.get_figwidth() * TITLE_LETTERS_PER_INCH)
    wrapped = [textwrap.fill(line, width) for line in title.split("\n")]
    figure.suptitle("\n".join(wrapped), fontsize=9)
    names = ["not significant", *(f"p < {bare(level)}" for level in STAR_LEVELS)]
    patches = [
        Patch(facecolor=shade, edgecolor=QUIET, linewidth=0.4, label=label)
        for shade, label in zip(SIGNIFICANCE_SHADES, names, strict=True)
    ]
    figure.legend(handles=patches, loc="outside lower center", ncols=4)
    return figure


def significance_map(
    metrics: Sequence[str],
    r: Sequence[float | None],
    pvalues: Floats,
    *,
    adjusted: Floats | None = None,
    winners: Sequence[str] = (),
    name: str = "significance",
    gold_name: str = "gold",
    measure: str = "Pearson r, segment level",
    test: str = "Williams test",
) -> Picture:
    """Plot which metrics significantly outperform which: row beats column.

    Parameters
    ----------
    metrics : sequence of str
        Metrics sorted by the measure, best first.
    r : sequence of float or None
        The measure of each metric.
    pvalues : ndarray, shape (n, n)
        Small at [i, j] if i is better than j.
    adjusted : ndarray, shape (n, n), optional
        The p-values corrected for their number, which decide the shades.
    winners : sequence of str
        Metrics not outperformed by any other, marked with a dot.
    name, gold_name : str
        Stem of the files, and name of the gold.
    measure, test : str
        What is compared, and how, in words.
    """
    shown_p = pvalues if adjusted is None else adjusted
    levels = significance_levels(shown_p)
    labels = [
        f"{shortened(metric)}  {three_places(value)}"
        for metric, value in zip(metrics, r, strict=True)
    ]

    def draw() -> Figure:
        marked = [
            f"● {label}" if metric in winners else label
            for metric, label in zip(metrics, labels, strict=True)
        ]
        title = f"Row agrees better with {shortened(gold_name)} than column\n{measure}; {test}"
        return draw_significance(marked, metrics, shown_p, title)

    n = len(metrics)
    n_pairs = int((levels > 0).sum())
    rows = [
        (metrics[i], metrics[j], r[i], r[j], float(pvalues[i, j]), float(shown_p[i, j]))
        for i in range(n)
        for j in range(n)
        if i != j
    ]
    return Picture(
        name=name,
        title=f"Significant differences in agreement with {gold_name}: {measure}",
        alternative=(
            f"Of {n * (n - 1) // 2} pairs of {n} metrics, {n_pairs} differ significantly at {bare(ALPHA)} "
            f"({test}). Not outperformed by any other: {', '.join(winners) or 'none'}."
        ),
        draw=draw,
        size=square_size(n),
        columns=("row", "column", "row_estimate", "column_estimate", "p", "adjusted_p"),
        rows=rows,
    )


def correlation_map(
    metrics: Sequence[str], between: Floats, *, name: str = "between-metrics"
) -> Picture:
    """Plot the correlations between metrics.

    Parameters
    ----------
    metrics : sequence of str
    between : ndarray, shape (n, n)
        Correlations; NaN for a constant metric.
    name : str

    Returns
    -------
    Picture
    """
    n = len(metrics)
    low = float(np.nanmin(between)) if not np.isnan(between).all() else 0.0

    def draw() -> Figure:
        from matplotlib.cm import ScalarMappable
        from matplotlib.colors import Normalize

        figure, axes = _square(n)
        lowest = min(0.0, np.floor(low * 10) / 10)
        shades = ScalarMappable(Normalize(lowest, 1), SEQUENTIAL)
        _show_cells(axes, between, shades)
        short = [shortened(metric) for metric in metrics]
        _label(axes, short, short)
        if n <= MOST_WITH_VALUES:
            _write_values(axes, between)
        figure.suptitle("Pearson correlation of metrics with each other", fontsize=9)
        figure.colorbar(shades, ax=axes, label="r", shrink=0.6, pad=0.02)
        return figure

    rows = [
        (metrics[i], metrics[j], float(between[i, j])) for i in range(n) for j in range(i + 1, n)
    ]
    return Picture(
        name=name,
        title="Correlations of metrics with each other",
        alternative=_extremes(rows),
        draw=draw,
        size=square_size(n),
        columns=("metric", "other", "r"),
        rows=rows,
    )


def _extremes(rows: Sequence[tuple[str, str, float]]) -> str:
    defined = [row for row in rows if not np.isnan(row[2])]
    if not defined:
        return "No two metrics have a correlation."
    most, least = max(defined, key=lambda row: row[2]), min(defined, key=lambda row: row[2])
    return (
        f"The most similar metrics are {most[0]} and {most[1]} (r = {three_places(most[2])}), "
        f"the least similar {least[0]} and {least[1]} (r = {three_places(least[2])})."
    )


def square_size(n: int) -> tuple[float, float]:
    """Return the size of a map of n metrics."""
    side = max(n * CELL, SMALLEST_SIDE) + MARGIN
    return side, side


def _square(n: int) -> tuple[Figure, Axes]:
    figure = new_figure(*square_size(n))
    axes = figure.add_subplot()
    axes.set_aspect("equal")
    for spine in axes.spines.values():
        spine.set_visible(True)
        spine.set_color(LINE)
    return figure, axes


def _show_cells(axes: Axes, values: NDArray[Any], shades: ScalarMappable) -> None:
    """Draw a matrix as an image: thousands of cells as shapes take seconds and a megabyte.

    Each cell is a few pixels wide, so that programs that smooth images leave its edges sharp. The image has its
    final colours: Matplotlib would compute them again for every dot of a print.
    """
    n = len(values)
    colours = shades.to_rgba(np.ma.masked_invalid(values), bytes=True)
    pixels = colours.repeat(CELL_PIXELS, axis=0).repeat(CELL_PIXELS, axis=1)
    extent = (0, n, 0, n)
    # Without interpolation, files for print hold these pixels and not those of the screen.
    axes.imshow(pixels, origin="lower", extent=extent, interpolation="none")


def _label(axes: Axes, down: Sequence[str], across: Sequence[str]) -> None:
    middles = np.arange(len(down)) + 0.5
    axes.set_yticks(middles, down)
    axes.set_xticks(middles, across, rotation=90)
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.invert_yaxis()


def _write_values(axes: Axes, values: Floats) -> None:
    for (i, j), value in np.ndenumerate(values):
        if not np.isnan(value):
            axes.text(
                j + 0.5,
                i + 0.5,
                three_places(value),
                ha="center",
                va="center",
                fontsize=5,
                # Cividis is dark below the middle and light above, on paper and in dark mode alike.
                color="#101010" if value > 0.45 else "#fefefe",
            )


def three_places(value: float | None) -> str:
    """Format a correlation with three decimals and without a leading zero."""
    if value is None or np.isnan(value):
        return "–"
    return f"{value:.3f}".replace("0.", ".", 1).replace("-", "−")
