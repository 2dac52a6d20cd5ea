"""Which items make up a HIT and in what order. Pure: no database, and the same seed gives the same HITs.

A HIT is a row of sets of ten items. Most of a set is genuine translations; the rest are quality-control
items made from genuine ones half a HIT away, so that a worker who sees both has forgotten the first.
"""

import enum

SET_SIZE = 10
MIN_SETS = 4
MAX_SETS = 20
# Even numbers of sets only: the halves of a HIT mirror each other.
HIT_SIZES = tuple(SET_SIZE * n_sets for n_sets in range(MIN_SETS, MAX_SETS + 1, 2))
MAX_HIT_SIZE = HIT_SIZES[-1]


class Role(enum.IntEnum):
    """Why an item is in its HIT. Stored; workers never see it."""

    GENUINE = 0
    BAD_REFERENCE = 1
    REPEAT = 2
    REFERENCE = 3

    @property
    def label(self) -> str:
        return self.name.replace("_", " ").lower()
