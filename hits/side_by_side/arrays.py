"""A worker's ratings of screens as arrays."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def spread_over_screens(ratings: NDArray[Any]) -> NDArray[Any]:
    """Return the ratings, ordered by assignment and position, with times as if rated one after another.

    All outputs of a screen reach the server together. Each gets its share of the time since the screen before, so that
    gaps between ratings say how long a text took; those of the first screen keep theirs.
    """
    spread = ratings.copy()
    for assignment in np.unique(ratings["assignment"]):
        rows = np.flatnonzero(ratings["assignment"] == assignment)
        moments, place, sizes = np.unique(
            ratings["received"][rows], return_inverse=True, return_counts=True
        )
        gaps = np.diff(moments, prepend=moments[:1])
        # How many outputs of the same screen are still to come.
        first = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        left = sizes[place] - 1 - (np.arange(len(rows)) - first[place])
        spread["received"][rows] -= left * (gaps / sizes)[place]
    return spread
