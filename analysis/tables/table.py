"""A table as data: columns, cells with their text and value, a caption and a note."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from da_platform.extras import needs_extra
from da_platform.plots.rendering import to_csv

if TYPE_CHECKING:
    import pandas as pd

# The parts of an interval.
ENDS = ("low", "high")
# Shown for a missing number.
NOTHING = "–"


@dataclass(frozen=True, slots=True)
class Cell:
    """The text shown, and the unrounded value behind it. The note says what bold and shaded mean."""

    text: str
    value: object = None
    bold: bool = False
    shaded: bool = False


@dataclass(frozen=True, slots=True)
class Column:
    """A title, and whether the column holds numbers, which are right-aligned.

    `parts` names the parts of a value, such as the two ends of an interval; in CSV, each has its own
    column. `is_upright`: in LaTeX the title stands on its side, so that many columns fit.
    """

    title: str
    is_number: bool = True
    parts: tuple[str, ...] = ()
    is_upright: bool = False

    @property
    def data_titles(self) -> list[str]:
        return [f"{self.title} {part}" for part in self.parts] or [self.title]

    def data_of(self, cell: Cell) -> list[object]:
        """Return the values of a cell, one per title."""
        if self.parts:
            return list(cell.value) if isinstance(cell.value, tuple) else [None] * len(self.parts)
        return [cell.text if cell.value is None and not self.is_number else cell.value]


@dataclass(frozen=True, slots=True)
class Table:
    """A table for a paper.

    Attributes
    ----------
    name : str
        Stem of its files, and LaTeX label.
    caption : str
    columns : sequence of Column
    rows : sequence of sequence of Cell
    note : str
        How the numbers were computed and tested, in sentences.
    lines_after : frozenset of int
        Indices of the rows with a line below.
    """

    name: str
    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    note: str = ""
    lines_after: frozenset[int] = frozenset()

    def __post_init__(self) -> None:
        if any(len(row) != len(self.columns) for row in self.rows):
            raise ValueError("`rows` must have one cell per column.")

    @property
    def paired_rows(self) -> list[list[tuple[Column, Cell]]]:
        """Every cell with its column, for templates."""
        return [list(zip(self.columns, row, strict=True)) for row in self.rows]

    def frame(self) -> pd.DataFrame:
        """Return the unrounded values as a data frame, with NaN for missing ones."""
        # Imported here because it is slow and web processes do not need it.
        with needs_extra("pandas"):
            import pandas as pd

        return pd.DataFrame(self._values(), columns=self._data_titles())

    def csv(self) -> bytes:
        """Return the same values as CSV."""
        return to_csv(self._data_titles(), self._values())

    def _data_titles(self) -> list[str]:
        return [title for column in self.columns for title in column.data_titles]

    def _values(self) -> list[list[object]]:
        return [
            [value for column, cell in row for value in column.data_of(cell)]
            for row in self.paired_rows
        ]


def text(value: str, *, bold: bool = False) -> Cell:
    """Return a cell with text."""
    return Cell(value, value, bold)


def number(value: float | None, places: int = 3, *, bold: bool = False) -> Cell:
    """Return a cell with a number, rounded to some decimal places."""
    if value is None:
        return Cell(NOTHING)
    rounded = f"{value:,.{places}f}"
    # No minus sign before zero.
    if rounded.startswith("-") and not rounded.strip("-0.,"):
        rounded = rounded[1:]
    return Cell(rounded.replace("-", "−"), value, bold)


def correlation(value: float | None, *, bold: bool = False) -> Cell:
    """Return a cell with a correlation or share, without a leading zero."""
    cell = number(value, 3, bold=bold)
    if value is None or abs(round(value, 3)) >= 1:
        return cell
    return Cell(cell.text.replace("0.", ".", 1), value, bold)


def interval(low: float | None, high: float | None, places: int | None = None) -> Cell:
    """Return a cell with the two ends of an interval, for a column with the parts `ENDS`.

    They are shown as correlations, or as numbers with so many decimal places.
    """
    if low is None or high is None:
        return Cell(NOTHING)
    ends = [correlation(end) if places is None else number(end, places) for end in (low, high)]
    return Cell(f"[{ends[0].text}, {ends[1].text}]", (low, high))


def count(value: int) -> Cell:
    """Return a cell with a whole number."""
    return Cell(f"{value:,}", value)


def signed(value: int) -> Cell:
    """Return a cell with a change and its sign."""
    if value == 0:
        return Cell("=", 0)
    return Cell(f"{'+' if value > 0 else '−'}{abs(value)}", value)
