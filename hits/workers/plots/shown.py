"""What the plots about a worker show, as arrays."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class WorkerRatings:
    """All submitted ratings of one worker, in the order they were given.

    `seconds` is the time since the previous rating in the same HIT, by the server's clock; NaN if
    unknown. `submitted` is when the rating's HIT was submitted. HITs are numbered from 1.
    """

    assignment: Ints
    item: Ints
    partner: Ints
    role: Ints
    score: Floats
    seconds: Floats
    submitted: Floats
    hit_number: Ints

    def __len__(self) -> int:
        return len(self.score)


@dataclass(frozen=True, slots=True)
class BesideOthers:
    """A worker's standardised scores next to the mean of at least `FEWEST_OTHERS` other trusted workers."""

    z: Floats
    others: Floats
    n_others: Ints

    def __len__(self) -> int:
        return len(self.z)


@dataclass(frozen=True, slots=True)
class BesideFormula:
    """A worker's scores next to what a formula gives the same texts; `measure` is its name in words."""

    measure: str
    values: Floats
    scores: Floats

    def __len__(self) -> int:
        return len(self.scores)


@dataclass(frozen=True, slots=True)
class HitTimes:
    """Of each HIT, numbered from 1: reading time claimed by the browser and time passed, in seconds."""

    claimed: Floats
    passed: Floats

    def __len__(self) -> int:
        return len(self.passed)
