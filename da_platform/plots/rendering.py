"""Pictures as files: SVG, PNG and PDF with the same bytes every time, and the data they show as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing import get_context
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

# Sharp in print at the size it is drawn.
PNG_DPI = 200

# What would differ from one run to the next is left out of the files.
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
        Name and description that an SVG carries for those who cannot see it.
    hover : sequence of str
        For an SVG: what each point of the collection with the id `svg.HOVER` says of itself.

    Returns
    -------
    bytes
    """
    if fmt not in FORMATS:
        raise ValueError(f"`fmt` must be one of {', '.join(FORMATS)}, not {fmt!r}")
    buffer = io.BytesIO()
    with style():
        figure.savefig(buffer, format=fmt, dpi=PNG_DPI, metadata=_METADATA[fmt])
    if fmt == "svg":
        return finish_svg(buffer.getvalue(), title=title, alternative=alternative, hover=hover)
    return buffer.getvalue()


@dataclass(frozen=True, slots=True)
class Picture:
    """A figure, what it says in words, and the numbers it shows.

    Parameters
    ----------
    name : str
        Stem of its files: lower case, no spaces.
    title : str
    alternative : str
        What a reader sees in it, for those who cannot: one or two sentences.
    draw : callable
        Makes the figure; called within `style()` each time it is needed.
    columns, rows
        The data it shows.
    hover : sequence of str
        What the points of an SVG say of themselves, if it has a collection with the id `svg.HOVER`.
    """

    name: str
    title: str
    alternative: str
    draw: Callable[[], Figure]
    columns: Sequence[str]
    rows: Sequence[Sequence[object]]
    hover: Sequence[str] = ()

    def render(self, fmt: Format) -> bytes:
        """Return the picture as the bytes of an SVG, PNG or PDF."""
        return self.render_all([fmt])[fmt]

    def render_all(self, formats: Sequence[Format] = FORMATS) -> dict[Format, bytes]:
        """Return the picture in several formats, drawn once."""
        with style():
            figure = self.draw()
            # Laid out once for all formats, and not twice for each.
            figure.draw_without_rendering()
            figure.set_layout_engine("none")
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
        """Return the data of the picture as CSV, with cells that no spreadsheet runs."""
        return to_csv(self.columns, self.rows)


def render_pictures(
    pictures: Sequence[Picture], processes: int = 1
) -> Iterator[dict[Format, bytes]]:
    """Yield every picture in all formats, in order; with more than one process, drawn side by side.

    The processes are copies of this one, which is safe only while it has no other threads at work.
    """
    if processes <= 1 or len(pictures) <= 1:
        yield from (picture.render_all() for picture in pictures)
        return
    # What draws a picture cannot be sent to another process; a copy of this one has it already.
    _waiting[:] = pictures
    try:
        with get_context("fork").Pool(min(processes, len(pictures))) as pool:
            yield from pool.imap(_render_waiting, range(len(pictures)))
    finally:
        _waiting.clear()


_waiting: list[Picture] = []


def _render_waiting(place: int) -> dict[Format, bytes]:
    return _waiting[place].render_all()


def to_csv(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> bytes:
    """Return a table as CSV in UTF-8; None is an empty cell, floats keep all their digits."""
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow([_cell(name) for name in columns])
    writer.writerows([_cell(value) for value in row] for row in rows)
    return buffer.getvalue().encode()


def _cell(value: object) -> str:
    if value is None or value != value:
        return ""
    if isinstance(value, float):
        return repr(float(value))
    return defuse(value) if isinstance(value, str) else str(value)
