"""The scores of a gold run as arrays."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hits.rating.arrays import Ids

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class GoldArrays:
    """A run's scores, sorted by translation key; NaN for a translation without a score."""

    translation: Ids
    raw: Floats
    z: Floats
    raw_se: Floats
    z_se: Floats
    z_low: Floats
    z_high: Floats
    n: Ids
    n_ratings: Ids
    is_complete: NDArray[np.bool_]
    signature: str

    def __len__(self) -> int:
        return len(self.translation)
