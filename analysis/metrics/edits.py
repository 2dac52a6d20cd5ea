"""How many edits take words to other words: with order, without it, and with free moves of blocks.

All of them compare a translation's words with a reference's and return a number of errors, to be divided by
the number of reference words.
"""

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein

Words = Sequence[str]


def word_errors(translation: Words, reference: Words) -> int:
    """Return the least number of words to insert, delete or replace (Levenshtein)."""
    numbers = _numbered(translation, reference)
    return Levenshtein.distance(*numbers)


def position_independent_errors(translation: Words, reference: Words) -> int:
    """Return the errors that remain when order does not matter.

    Reference words that are not in the translation, and as many more as the translation is longer than
    the reference.

    References
    ----------
    .. [1] Tillmann et al. Accelerated DP based search for statistical translation. Eurospeech 1997.
    """
    n_matches = (Counter(translation) & Counter(reference)).total()
    return len(reference) - n_matches + max(0, len(translation) - len(reference))


def cover_disjoint_errors(translation: Words, reference: Words) -> int:
    """Return the least cost of writing the reference while a finger moves over the translation.

    One step to the right keeps a word, or replaces or drops it at a cost of 1; a word may be put in at a
    cost of 1; and the finger may jump to any place, also at a cost of 1. It begins before the
    translation's first word and must end behind its last. [1]_

    References
    ----------
    .. [1] Leusch, Ueffing and Ney. CDER: Efficient MT evaluation using block movements. EACL 2006.
    """
    hypothesis, target = (
        np.array(words, dtype=np.int64) for words in _numbered(translation, reference)
    )
    places = np.arange(len(hypothesis) + 1)
    # Before the first reference word is written the finger may already have jumped.
    costs = np.minimum(places, 1)
    for word in target:
        costs = _write(costs, hypothesis != word, places)
    return int(costs[-1])


def _write(
    costs: NDArray[np.int64], differs: NDArray[np.bool_], places: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the cost of each place once one more reference word is written."""
    written = costs + 1
    np.minimum(written[1:], costs[:-1] + differs, out=written[1:])
    # A jump costs 1 from wherever it is cheapest to be, so dropping words one by one gains nothing more
    # than its first step, and that costs as much as a jump.
    return np.minimum(written, written.min() + 1)


def _numbered(translation: Words, reference: Words) -> tuple[list[int], list[int]]:
    """Put numbers for words: they compare faster."""
    numbers: dict[str, int] = {}
    return (
        [numbers.setdefault(word, len(numbers)) for word in translation],
        [numbers.setdefault(word, len(numbers)) for word in reference],
    )
