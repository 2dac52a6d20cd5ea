"""QR codes as one path of an SVG, which a page can hold without markup from elsewhere and without styles."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

# The white around it that the standard wants, in squares.
BORDER = 4


@dataclass(frozen=True, slots=True)
class QrCode:
    """`path` fills the dark squares; `size` is the length of a side, border included."""

    size: int
    path: str


def qr_code(text: str) -> QrCode:
    # Here, because every start would wait for it.
    import segno

    rows = list(segno.make(text, error="m", micro=False).matrix_iter(border=BORDER))
    return QrCode(len(rows), "".join(_dark_runs(rows)))


def _dark_runs(rows: Iterable[Iterable[int]]) -> Iterator[str]:
    for y, row in enumerate(rows):
        x = 0
        for is_dark, squares in groupby(row):
            n = len(list(squares))
            if is_dark:
                yield f"M{x} {y}h{n}v1h-{n}z"
            x += n
