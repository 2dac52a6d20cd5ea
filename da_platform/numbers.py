"""Convert numbers for JSON and the database, which have no NaN or infinity: these become None."""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike


def known(value: float) -> float | None:
    """Return a plain float, or None for NaN and infinity."""
    number = float(value)
    return number if math.isfinite(number) else None


def known_list(values: Iterable[Any]) -> list[Any]:
    """Return plain values, with None for NaN and infinity; texts and counts stay as they are."""
    plain = values.tolist() if isinstance(values, np.ndarray) else values
    return [
        None if isinstance(value, float) and not math.isfinite(value) else value for value in plain
    ]


def known_matrix(values: ArrayLike) -> tuple[tuple[float | None, ...], ...]:
    """Return a matrix as nested tuples of plain floats, with None for NaN and infinity."""
    rows = np.asarray(values, dtype=np.float64).tolist()
    return tuple(tuple(known(value) for value in row) for row in rows)
