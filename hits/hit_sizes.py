"""Allowed HIT sizes: an even number of sets of items.

An even number, because quality-control items and their partners are half a HIT apart.
"""

from collections.abc import Iterator
from dataclasses import dataclass

# The most items that a browser holds beyond a set, so that a worker can continue while the network is down.
MOST_BEYOND_A_SET = 5


@dataclass(frozen=True, slots=True)
class Sizes:
    """The sizes that HITs of a task can have, in screens. Each task names its own: see `task_facts`."""

    set_size: int
    min_sets: int
    max_sets: int
    default: int
    # Whether a screen holds several items, so that partners are screens of the same set.
    has_large_screens: bool = False

    def __iter__(self) -> Iterator[int]:
        step = self.set_size * (1 if self.has_large_screens else 2)
        return iter(range(self.min_sets * self.set_size, self.largest + 1, step))

    def __contains__(self, size: object) -> bool:
        return size in tuple(self)

    @property
    def largest(self) -> int:
        return self.max_sets * self.set_size

    @property
    def refusal(self) -> str:
        if self.has_large_screens:
            return (
                f"A HIT has sets of {self.set_size} screens: {', '.join(map(str, self))} screens."
            )
        return (
            f"A HIT has an even number of sets of {self.set_size} items, and at least "
            f"{self.min_sets} sets: {', '.join(map(str, self))} items."
        )

    def n_ahead(self, size: int) -> int:
        """Return how many items the browser holds at once: never an item together with its partner."""
        if self.has_large_screens:
            return self.set_size - 1
        # Partners are half a HIT apart, plus or minus one set (`composition`).
        nearest_partners = (size // 2) - self.set_size + 1
        return min(self.set_size + MOST_BEYOND_A_SET, nearest_partners)


SET_SIZE, MIN_SETS, MAX_SETS = 10, 4, 20
RATING_SIZES = Sizes(SET_SIZE, MIN_SETS, MAX_SETS, default=100)
HIT_SIZES = tuple(RATING_SIZES)
MAX_HIT_SIZE = RATING_SIZES.largest

# Of so many hidden screens of rankings in random order, True has a degraded output and False repeats a screen as it was.
# Pairs of outputs need more repeats, as each has one judgement.
HIDDEN_SCREENS, HIDDEN_PAIRS = (True, True, False), (True, False)

# Items between an item and its hidden partner where documents or several outputs are shown.
ITEMS_BETWEEN = 40


def hidden_screens(n_outputs: int) -> tuple[bool, ...]:
    """Return which of the hidden screens have a degraded output, for screens with so many outputs."""
    return HIDDEN_PAIRS if n_outputs == 2 else HIDDEN_SCREENS


def items_between(size: int) -> int:
    """Return how many items stand at least between partners in a HIT of documents or several outputs.

    Forty in HITs of 100 items and more, fewer in smaller ones.
    """
    return min(ITEMS_BETWEEN, size // 2 - MOST_BEYOND_A_SET)


def longest_run(size: int) -> int:
    """Return how many segments of a document a HIT of this size can hold in a row."""
    between = items_between(size)
    # Eleven items more must fit between partners, so that ten can be rated without a connection.
    return min(between // 2, between - SET_SIZE + 1)


def n_ahead_in_documents(size: int) -> int:
    """Return how many items the browser holds at once, besides the earlier ones of the document.

    A run is never in the browser together with its copy.
    """
    return min(SET_SIZE + MOST_BEYOND_A_SET, items_between(size) + 2 - longest_run(size))
