"""Edit distances between words: with word order, without it, and with block moves.

All functions return the number of errors in a translation, to be divided by the number of reference words.
"""

from collections import Counter
from collections.abc import Sequence

from rapidfuzz.distance import Levenshtein

Words = Sequence[str]


def word_errors(translation: Words, reference: Words) -> int:
    """Return the smallest number of words to insert, delete or replace (Levenshtein)."""
    return Levenshtein.distance(*as_characters(translation, reference))


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
    hypothesis, target = as_characters(translation, reference)
    places: dict[str, int] = {}
    for place, word in enumerate(hypothesis):
        places[word] = places.get(word, 0) | 1 << place
    # A jump from a cheapest position costs 1, so no position costs more than 1 above the lowest cost. The bits of
    # `cheapest` are the positions that cost no more. One may jump before the first word is written.
    lowest, cheapest = 0, 1
    last = 1 << len(hypothesis)
    for word in target:
        match = places.get(word, 0)
        if kept := (cheapest & match) << 1:
            cheapest = kept
        else:
            # Insert a word, replace one, or keep one from a position that costs 1 more.
            lowest += 1
            cheapest = (cheapest | cheapest << 1 | match << 1) & (last << 1) - 1
    return lowest if cheapest & last else lowest + 1


def as_characters(translation: Words, reference: Words) -> tuple[str, str]:
    """Write each word as one character, which is faster to compare."""
    characters: dict[str, str] = {}
    return (
        "".join([characters.setdefault(word, chr(len(characters))) for word in translation]),
        "".join([characters.setdefault(word, chr(len(characters))) for word in reference]),
    )
