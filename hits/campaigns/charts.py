"""Lay out small charts. Templates draw them as SVG, and the style sheet colours them."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a bar, in percent of its width."""

    kind: str
    x: float
    width: float


def stacked(parts: Sequence[tuple[str, float]], total: float) -> list[Part]:
    """Lay the parts of a bar end to end; `parts` are pairs of kind and amount."""
    drawn, x = [], 0.0
    for kind, amount in parts:
        width = round(100 * amount / total, 2) if total > 0 else 0.0
        if width > 0:
            drawn.append(Part(kind, round(x, 2), min(width, round(100 - x, 2))))
            x += width
    return drawn


@dataclass(frozen=True, slots=True)
class ColumnBox:
    """A column in the units of its chart; `title` is its tooltip."""

    x: float
    y: float
    width: float
    height: float
    title: str
    kind: str = "accent"


@dataclass(frozen=True, slots=True)
class ColumnChart:
    boxes: list[ColumnBox]
    highest: int
    first_label: str
    last_label: str
    WIDTH = 600
    HEIGHT = 160
    TOP = 16
    BOTTOM = 136

    @property
    def middle(self) -> int:
        return (self.TOP + self.BOTTOM) // 2


def columns(
    values: Sequence[tuple[str, int]], *, labels: tuple[str, str], kinds: Sequence[str] = ()
) -> ColumnChart:
    """Lay out columns side by side; `values` are pairs of name and height."""
    highest = max((n for _, n in values), default=0)
    step = ColumnChart.WIDTH / max(len(values), 1)
    gap = min(4.0, step / 4)
    room = ColumnChart.BOTTOM - ColumnChart.TOP
    boxes = []
    for i, (name, n) in enumerate(values):
        height = round(room * n / highest, 1) if highest else 0.0
        boxes.append(
            ColumnBox(
                x=round(i * step + gap / 2, 1),
                y=round(ColumnChart.BOTTOM - height, 1),
                width=round(step - gap, 1),
                height=height,
                title=f"{name}: {n:,}",
                kind=kinds[i] if kinds else "accent",
            )
        )
    return ColumnChart(boxes, highest, *labels)
