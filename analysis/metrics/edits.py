"""Edit distances between words: with word order, without it, and with block moves.

All functions return the number of errors in a translation, to be divided by the number of reference words.
"""

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein

Words = Sequence[str]


def word_errors(translation: Words, reference: Words) -> int:
    """Return the smallest number of words to insert, delete or replace (Levenshtein)."""
    numbers = _numbered(translation, reference)
    return Levenshtein.distance(*numbers)


def position_independent_errors(translation: Words, reference: Words) -> int:
    """Return the number of errors if word order is ignored.

    These are the reference words that are not in the translation, plus the number of words by which the
    translation is longer than the reference.

    References
    ----------
    .. [1] Tillmann et al. Accelerated DP based search for statistical translation. Eurospeech 1997.
    """
    n_matches = (Counter(translation) & Counter(reference)).total()
    return len(reference) - n_matches + max(0, len(translation) - len(reference))


def cover_disjoint_errors(translation: Words, reference: Words) -> int:
    """Return the smallest cost of writing the reference while moving a cursor over the translation.

    One step to the right keeps a word, or replaces or deletes it at a cost of 1. Inserting a word costs 1,
    and so does a jump to any position. The cursor starts before the translation's first word and must
    end after its last [1]_.

    References
    ----------
    .. [1] Leusch, Ueffing and Ney. CDER: Efficient MT evaluation using block movements. EACL 2006.
    """
    hypothesis, target = (
        np.array(words, dtype=np.int64) for words in _numbered(translation, reference)
    )
    places = np.arange(len(hypothesis) + 1)
    # The cursor may jump before the first reference word is written.
    costs = np.minimum(places, 1)
    for word in target:
        costs = _write(costs, hypothesis != word, places)
    return int(costs[-1])


def _write(
    costs: NDArray[np.int64], differs: NDArray[np.bool_], places: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the cost of each cursor position after writing one more reference word."""
    written = costs + 1
    np.minimum(written[1:], costs[:-1] + differs, out=written[1:])
    # A jump from the cheapest position costs 1, as much as deleting a single word, so deletions need
    # not be considered.
    return np.minimum(written, written.min() + 1)


def _numbered(translation: Words, reference: Words) -> tuple[list[int], list[int]]:
    """Replace words by numbers, which are faster to compare."""
    numbers: dict[str, int] = {}
    return (
        [numbers.setdefault(word, len(numbers)) for word in translation],
        [numbers.setdefault(word, len(numbers)) for word in reference],
    )
