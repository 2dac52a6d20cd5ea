"""Pictures of tests between systems: heat maps of p-values, and the pseudo-statistics behind them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from da_platform.plots.rendering import Picture
from da_platform.plots.style import COLOURS, DASHES, INK, TWO_COLUMNS, new_figure

from ..plots.heat_maps import draw_significance, shortened, square_size
from ..stats.thresholds import bare
from .base import Result

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIZE = (TWO_COLUMNS, 2.4)


def heat_map(result: Result, row: dict[str, Any], test: str, test_name: str) -> Picture:
    """Plot which systems are significantly better than which: row beats column."""
    order = row["order"]
    names = [result["systems"][place] for place in order]
    adjusted = np.array(row["adjusted"][test], dtype=np.float64)[np.ix_(order, order)]
    pvalue = np.array(row["pvalue"][test], dtype=np.float64)[np.ix_(order, order)]
    alpha, n = result["options"]["alpha"], len(names)
    n_different = int((adjusted < alpha).sum())
    labels = [
        f"{shortened(name)}  {row['estimates'][place]:.2f}"
        for name, place in zip(names, order, strict=True)
    ]

    def draw() -> Figure:
        title = f"Row is better than column\n{row['metric']}; {test_name}"
        return draw_significance(labels, names, adjusted, title)

    return Picture(
        name=f"{row['metric']}-{test}".lower(),
        title=f"Significant differences in {row['metric']}: {test_name}",
        alternative=f"Of {n * (n - 1) // 2} pairs of systems, {n_different} differ significantly at {bare(alpha)}.",
        draw=draw,
        columns=("row", "column", "p", "adjusted_p"),
        rows=[
            (names[i], names[j], float(pvalue[i, j]), float(adjusted[i, j]))
            for i in range(n)
            for j in range(n)
            if i != j
        ],
        size=square_size(n),
    )


def pseudo_statistics(
    result: Result,
    row: dict[str, Any],
    test_names: Mapping[str, str],
    pair: tuple[int, int] | None = None,
) -> Picture:
    """Plot the distributions of pseudo-statistics by each test, of two systems or of the best two."""
    places = row["order"][:2] if pair is None else sorted(pair, key=row["order"].index)
    best, second = places
    i, j = sorted(places)
    numbers = "" if pair is None else f"-{pair[0] + 1}-{pair[1] + 1}"
    pairs = list(zip(*np.triu_indices(len(result["systems"]), 1), strict=True))
    place = pairs.index((i, j))
    # Stored so that higher favours the first of the two in their files' order.
    sign = 1 if i == best else -1
    direction = 1 if row["higher_is_better"] else -1
    observed = direction * (row["estimates"][best] - row["estimates"][second])
    names = [result["systems"][each] for each in (best, second)]
    shapes = {
        test: (np.array(found[place]["counts"]), sign * np.array(found[place]["edges"]))
        for test, found in row["histograms"].items()
    }

    def draw() -> Figure:
        figure = new_figure(*SIZE)
        panels = figure.subplots(1, len(shapes), sharey=True)
        for axes, colour, (test, (counts, edges)) in zip(
            np.atleast_1d(panels), COLOURS, shapes.items(), strict=False
        ):
            axes.bar(edges[:-1], counts, np.diff(edges), align="edge", color=colour, linewidth=0)
            axes.axvline(observed, color=INK, linestyle=DASHES[1])
            axes.set_title(test_names[test], fontsize=8)
            axes.set_xlabel(f"difference in {row['metric']}")
        return figure

    return Picture(
        name=f"{row['metric']}-pseudo-statistics{numbers}".lower(),
        title=f"Pseudo-statistics of {names[0]} and {names[1]} in {row['metric']}",
        alternative="How often each difference occurred in the resamples, by test. The dashed line is the "
        f"observed difference of {observed:.2f} in favour of {names[0]}.",
        draw=draw,
        columns=("test", "from", "to", "resamples"),
        rows=[
            (test, *sorted((float(low), float(high))), int(count))
            for test, (counts, edges) in shapes.items()
            for count, low, high in zip(counts, edges[:-1], edges[1:], strict=True)
        ],
        size=SIZE,
    )
