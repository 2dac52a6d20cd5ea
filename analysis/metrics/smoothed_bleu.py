"""Segment-level BLEU as in Moses, with 1 added to the n-gram counts of every order."""

import math
from collections import Counter
from collections.abc import Sequence
from functools import reduce
from operator import or_

import numpy as np

MAX_ORDER = 4


def ngram_statistics(translation: Sequence[str], *references: Sequence[str]) -> tuple[float, ...]:
    """Return matches and totals of n-grams of orders 1 to 4, then the lengths of both texts.

    With several references, an n-gram may match as often as in the one that has most of it, and the
    length is that of the reference whose length is closest (the shorter one, if two are).
    """
    matches, totals = [], []
    for order in range(1, MAX_ORDER + 1):
        ngrams = _ngrams(translation, order)
        known = reduce(or_, (_ngrams(reference, order) for reference in references))
        matches.append((ngrams & known).total())
        totals.append(ngrams.total())
    n_words = len(translation)
    lengths = sorted(map(len, references))
    return (*matches, *totals, n_words, min(lengths, key=lambda length: abs(length - n_words)))


def _ngrams(words: Sequence[str], order: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(words[start:] for start in range(order)), strict=False))


def smoothed_bleu(statistics: Sequence[float]) -> float:
    """Return BLEU from 0 to 1; 0 for an empty translation, and 1 for the reference itself.

    Parameters
    ----------
    statistics : sequence of float
        From `ngram_statistics`, for one segment or summed over several.

    References
    ----------
    .. [1] Lin and Och. ORANGE: a method for evaluating automatic evaluation metrics for machine
       translation. COLING 2004. Unlike there, unigrams are smoothed too, as in Moses.
    """
    matches, totals = np.reshape(statistics[: 2 * MAX_ORDER], (2, MAX_ORDER))
    n_words, n_reference_words = statistics[2 * MAX_ORDER :]
    if n_words == 0:
        return 1.0 if n_reference_words == 0 else 0.0
    precision = np.log((matches + 1) / (totals + 1)).mean()
    brevity = min(0.0, 1 - n_reference_words / n_words)
    return math.exp(precision + brevity)
