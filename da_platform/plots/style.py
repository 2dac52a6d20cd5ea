"""The style of all plots: colours that everyone can tell apart, on screen and in print, and bundled fonts.

Series never differ by colour alone but also in marker or dash, and shades differ in lightness, so that they
survive a greyscale print.

Matplotlib takes a second to load, so it is not imported until a plot is drawn.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure


# Okabe and Ito's palette for all kinds of colour vision, starting with those most distinct in grey.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (8, 2)), (0, (1, 1)))

INK = "#14171c"
QUIET = "#4a5160"
LINE = "#c6ccd6"
PAPER = "#ffffff"

# Not significant, then p < .05, < .01 and < .001: each much darker than the one before.
SIGNIFICANCE_SHADES = (PAPER, "#9ecae1", "#4292c6", "#08306b")

# For values between 0 and 1: perceptually uniform, suitable for print.
SEQUENTIAL = "cividis"

# Widths, in inches, of one and two columns of a paper.
ONE_COLUMN = 3.35
TWO_COLUMNS = 6.9

STYLE: dict[Any, Any] = {
    "font.family": "DejaVu Sans",  # comes with Matplotlib, so plots are the same on every machine
    "font.size": 8,
    "axes.titlesize": 9,
    "axes.labelsize": 8,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 7,
    "legend.frameon": False,
    "figure.facecolor": PAPER,
    "savefig.facecolor": PAPER,
    "figure.constrained_layout.use": True,
    "axes.facecolor": PAPER,
    "axes.edgecolor": QUIET,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "grid.color": LINE,
    "grid.linewidth": 0.5,
    "text.color": INK,
    "xtick.color": QUIET,
    "ytick.color": QUIET,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "lines.linewidth": 1.4,
    "lines.markersize": 4,
    # Names come from files, so a dollar sign does not start a formula.
    "text.parse_math": False,
    "svg.fonttype": "path",
    # The ids inside an SVG are hashes; a fixed salt keeps them the same.
    "svg.hashsalt": "direct-assessment",
    "pdf.fonttype": 3,
}

# fontTools logs every glyph when it subsets fonts for a PDF.
logging.getLogger("fontTools").setLevel(logging.WARNING)

# Matplotlib's settings and caches are global to the process, and pages are served by threads.
_LOCK = threading.RLock()


@contextmanager
def style() -> Iterator[None]:
    """Draw in the common style. Only one thread at a time; others wait."""
    import matplotlib

    with _LOCK, matplotlib.rc_context(STYLE):
        yield


def new_figure(width: float = TWO_COLUMNS, height: float = 4.0) -> Figure:
    """Return an empty figure (size in inches) without a window or global state."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height))


def count_in_whole_numbers(axis: Axis) -> None:
    from matplotlib.ticker import MaxNLocator

    # A single tick is enough: otherwise an axis with one whole number gets fractions.
    axis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
