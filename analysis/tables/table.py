"""A table before it is written: titles, cells with what they show and what they are, and a sentence below."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from da_platform.plots.rendering import to_csv

if TYPE_CHECKING:
    import pandas as pd

# The parts of an interval.
ENDS = ("low", "high")
# What stands for a number that cannot be had.
NOTHING = "–"


@dataclass(frozen=True, slots=True)
class Cell:
    """What a reader sees, and the value behind it with all its digits."""

    text: str
    value: object = None
    bold: bool = False


@dataclass(frozen=True, slots=True)
class Column:
    """A title, and whether numbers stand below it, to be set flush right.

    `parts` name what its values consist of, such as the two ends of an interval: as data they have a
    column each.
    """

    title: str
    is_number: bool = True
    parts: tuple[str, ...] = ()

    @property
    def data_titles(self) -> list[str]:
        return [f"{self.title} {part}" for part in self.parts] or [self.title]

    def data_of(self, cell: Cell) -> list[object]:
        """Return what stands in a cell, as many values as there are titles."""
        if self.parts:
            return list(cell.value) if isinstance(cell.value, tuple) else [None] * len(self.parts)
        return [cell.text if cell.value is None and not self.is_number else cell.value]


@dataclass(frozen=True, slots=True)
class Table:
    """A table of a paper.

    Attributes
    ----------
    name : str
        Stem of its files and LaTeX label.
    caption : str
    columns : sequence of Column
    rows : sequence of sequence of Cell
    note : str
        How the numbers were made and tested, in sentences.
    lines_after : frozenset of int
        Rows, counted from 0, with a line below.
    """

    name: str
    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    note: str = ""
    lines_after: frozenset[int] = frozenset()

    def __post_init__(self) -> None:
        if any(len(row) != len(self.columns) for row in self.rows):
            raise ValueError("`rows` must have as many cells as there are `columns`.")

    @property
    def paired_rows(self) -> list[list[tuple[Column, Cell]]]:
        """Every cell with its column, for templates."""
        return [list(zip(self.columns, row, strict=True)) for row in self.rows]

    def frame(self) -> pd.DataFrame:
        """Return the values, not what is shown of them, as a data frame; missing ones are NaN."""
        # Imported here because web processes need none and it would slow down every start.
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
    """Return a cell of words."""
    return Cell(value, value, bold)


def number(value: float | None, places: int = 3, *, bold: bool = False) -> Cell:
    """Return a cell with a number of so many places."""
    if value is None:
        return Cell(NOTHING)
    shown = f"{value:,.{places}f}"
    # Rounding must not leave a minus before nothing.
    if shown.startswith("-") and not shown.strip("-0.,"):
        shown = shown[1:]
    return Cell(shown.replace("-", "−"), value, bold)


def correlation(value: float | None, *, bold: bool = False) -> Cell:
    """Return a cell with a correlation or share as papers write it: no zero before the point."""
    cell = number(value, 3, bold=bold)
    return Cell(cell.text.replace("0.", ".", 1), value, bold) if _is_below_one(value) else cell


def _is_below_one(value: float | None) -> bool:
    return value is not None and abs(round(value, 3)) < 1


def interval(low: float | None, high: float | None) -> Cell:
    """Return a cell with the two ends of an interval, for a column of the parts `ENDS`."""
    if low is None or high is None:
        return Cell(NOTHING)
    return Cell(f"[{correlation(low).text}, {correlation(high).text}]", (low, high))


def count(value: int) -> Cell:
    """Return a cell with a whole number."""
    return Cell(f"{value:,}", value)


def signed(value: int) -> Cell:
    """Return a cell with a change: its direction first."""
    if value == 0:
        return Cell("=", 0)
    return Cell(f"{'+' if value > 0 else '−'}{abs(value)}", value)
