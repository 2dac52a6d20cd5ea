"""Render plots as SVG, PNG and PDF, the same bytes every time, and their data as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from ..files.cells import defuse
from .style import style
from .svg import finish_svg

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Format = Literal["svg", "png", "pdf"]
FORMATS: tuple[Format, ...] = get_args(Format)

CONTENT_TYPES = {
    "svg": "image/svg+xml; charset=utf-8",
    "png": "image/png",
    "pdf": "application/pdf",
    "csv": "text/csv; charset=utf-8",
}

# Sharp in print at its natural size; a larger plot than fits a page gets fewer dots per inch.
PNG_DPI = 200
MOST_PIXELS = 2000
# Half the time of the usual level, for a file a little larger.
PNG_LEVEL = 3

CSS_PIXELS_PER_INCH = 96

# Remove metadata that would differ between runs.
_METADATA: dict[Format, dict[str, Any]] = {
    "svg": {"Date": None, "Creator": None, "Format": None, "Type": None},
    "png": {"Software": None},
    "pdf": {"CreationDate": None, "Producer": None, "Creator": None},
}


def render(
    figure: Figure,
    fmt: Format,
    *,
    title: str = "",
    alternative: str = "",
    hover: Sequence[str] = (),
) -> bytes:
    """Return a figure as the bytes of a file, the same bytes every time.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        Drawn within `style.style()`.
    fmt : {"svg", "png", "pdf"}
    title, alternative : str
        Title and description for the SVG, for people who cannot see it.
    hover : sequence of str
        For an SVG: the hover text of each point in the collection with the id `svg.HOVER`.

    Returns
    -------
    bytes
    """
    if fmt not in FORMATS:
        raise ValueError(f"`fmt` must be one of {', '.join(FORMATS)}, not {fmt!r}")
    from matplotlib import rc_context

    buffer = io.BytesIO()
    fast: dict[str, Any] = {"pil_kwargs": {"compress_level": PNG_LEVEL}} if fmt == "png" else {}
    dpi = min(PNG_DPI, MOST_PIXELS / max(figure.get_size_inches()))
    # Where a figure has no layout engine, saving it sets the default one afterwards, which would draw the next format twice.
    with style(), rc_context({"figure.constrained_layout.use": False}):
        figure.savefig(buffer, format=fmt, dpi=dpi, metadata=_METADATA[fmt], **fast)
    if fmt == "svg":
        return finish_svg(buffer.getvalue(), title=title, alternative=alternative, hover=hover)
    return buffer.getvalue()


def pixels(size: tuple[float, float]) -> tuple[int, int]:
    """Convert inches to the pixels of a page."""
    return round(size[0] * CSS_PIXELS_PER_INCH), round(size[1] * CSS_PIXELS_PER_INCH)


@dataclass(frozen=True, slots=True)
class Picture:
    """A plot with its description and data.

    Parameters
    ----------
    name : str
        Stem of its file names: lower case, no spaces.
    title : str
    alternative : str
        One or two sentences that say what the plot shows, for people who cannot see it.
    draw : callable
        Makes the figure; called within `style()` each time it is needed.
    columns, rows
        The data it shows.
    size : tuple of float
        Width and height of the figure in inches, known before it is drawn.
    hover : sequence of str
        The hover texts of an SVG's points, if it has a collection with the id `svg.HOVER`.
    """

    name: str
    title: str
    alternative: str
    draw: Callable[[], Figure]
    columns: Sequence[str]
    rows: Sequence[Sequence[object]]
    size: tuple[float, float]
    hover: Sequence[str] = ()

    @property
    def pixels(self) -> tuple[int, int]:
        """Width and height on a page, so that the page can keep its space while it loads."""
        return pixels(self.size)

    def render(self, fmt: Format) -> bytes:
        """Return the plot as the bytes of an SVG, PNG or PDF."""
        return self.render_all([fmt])[fmt]

    def render_all(self, formats: Sequence[Format] = FORMATS) -> dict[Format, bytes]:
        """Return the plot in several formats, drawn once."""
        from matplotlib import rc_context

        with style():
            figure = self.draw()
            assert tuple(figure.get_size_inches()) == self.size, f"{self.name} has another size"
            # Compute the layout once for all formats. With any layout engine left, even one that does
            # nothing, Matplotlib draws everything twice for each format.
            figure.draw_without_rendering()
            with rc_context({"figure.constrained_layout.use": False}):
                figure.set_layout_engine(None)
            return {
                fmt: render(
                    figure,
                    fmt,
                    title=self.title,
                    alternative=self.alternative,
                    hover=self.hover,
                )
                for fmt in formats
            }

    def csv(self) -> bytes:
        """Return the plot's data as CSV, with cells escaped for spreadsheets."""
        return to_csv(self.columns, self.rows)


def to_csv(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> bytes:
    """Return a table as CSV in UTF-8; None is an empty cell, floats keep all their digits."""
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow([_cell(name) for name in columns])
    writer.writerows([_cell(value) for value in row] for row in rows)
    return buffer.getvalue().encode()


def _cell(value: object) -> object:
    """Return what the CSV writer turns into the cell. It writes None as nothing and floats with all their digits."""
    if isinstance(value, str):
        return defuse(value)
    return value if value == value else ""
