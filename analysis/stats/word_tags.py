"""Word-level quality estimation: how well OK and BAD tags agree with gold tags, and how surely.

A tag is True for BAD and False for OK. All measures but one are computed from four counts per sentence, so a
resample of sentences is a sum of rows.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._validation import Floats, check_at_least, check_between
from .multiple_tests import Correction, adjust
from .resampling import (
    DEFAULT_RESAMPLES,
    ROUNDING,
    bootstrap_counts,
    monte_carlo_pvalue,
    percentile_interval,
    swap_masks,
)
from .thresholds import ALPHA

# The measures, in the order of the last axis of `tag_measures`.
TAG_MEASURES = ("matthews", "f1_bad", "f1_ok", "f1_product", "f1_weighted", "sequence")
# The columns of `tag_counts`: gold BAD tagged BAD, gold OK tagged BAD, BAD tagged OK, OK tagged OK, and the
# sequence correlation of the sentence.
N_COLUMNS = 5

Tags = Sequence[Sequence[bool]]


def tag_counts(gold: Tags, predicted: Tags) -> Floats:
    """Return what the measures need to know about each sentence.

    Parameters
    ----------
    gold, predicted : sequence of sequence of bool
        The tags of each sentence, True for BAD; both have as many.

    Returns
    -------
    counts : ndarray, shape (n_sentences, 5)
        Words that are BAD in both, only in the prediction, only in the gold, in neither; and the sequence
        correlation of the sentence.
    """
    if len(gold) != len(predicted):
        raise ValueError("`predicted` must have as many sentences as `gold`")
    counts = np.zeros((len(gold), N_COLUMNS))
    for row, truth, guess in zip(counts, gold, predicted, strict=True):
        if len(truth) != len(guess):
            raise ValueError("`predicted` must have as many tags in each sentence as `gold`")
        y, p = np.asarray(truth, dtype=bool), np.asarray(guess, dtype=bool)
        row[:4] = (y & p).sum(), (~y & p).sum(), (y & ~p).sum(), (~y & ~p).sum()
        row[4] = sequence_correlation(truth, guess)
    return counts


def tag_measures(sums: ArrayLike, n_sentences: int) -> Floats:
    """Return all measures from the sums of `tag_counts`.

    Parameters
    ----------
    sums : array_like, shape (..., 5)
    n_sentences : int
        How many sentences were summed.

    Returns
    -------
    measures : ndarray, shape (..., 6)
        As named by `TAG_MEASURES`. F1 is 0 where it would be 0 / 0, and so is Matthews' coefficient where
        gold or prediction has one tag only. `f1_weighted` weighs the F1 of each tag by its gold words [1]_,
        `f1_product` multiplies them [2]_, `sequence` is the mean over sentences.

    References
    ----------
    .. [1] Bojar et al. Findings of the 2015 Workshop on Statistical Machine Translation. WMT 2015.
    .. [2] Bojar et al. Findings of the 2016 Conference on Machine Translation. WMT 2016.
    """
    both, alarm, missed, neither, sequence = np.moveaxis(np.asarray(sums, dtype=np.float64), -1, 0)
    f1_bad = _ratio(2 * both, 2 * both + alarm + missed)
    f1_ok = _ratio(2 * neither, 2 * neither + alarm + missed)
    spread = (both + alarm) * (both + missed) * (neither + alarm) * (neither + missed)
    n_bad, n_ok = both + missed, neither + alarm
    return np.stack(
        [
            _ratio(both * neither - alarm * missed, np.sqrt(spread)),
            f1_bad,
            f1_ok,
            f1_bad * f1_ok,
            _ratio(n_bad * f1_bad + n_ok * f1_ok, n_bad + n_ok),
            sequence / n_sentences,
        ],
        axis=-1,
    )


def _ratio(numerator: Floats, denominator: Floats) -> Floats:
    is_known = denominator > 0
    return np.where(is_known, numerator / np.where(is_known, denominator, 1), 0)


def sequence_correlation(gold: Sequence[bool], predicted: Sequence[bool]) -> float:
    """Return the sequence correlation of one sentence.

    Gold and prediction are cut into runs of one tag. The smaller number of runs over the larger is multiplied by
    `intersection` over the number of words [1]_. As the published formula weighs each tag by its predicted words,
    a perfect prediction scores 1 if the sentence has one tag, and 2 if it has both.

    Parameters
    ----------
    gold, predicted : sequence of bool

    Returns
    -------
    float
        0 for a sentence without words.

    References
    ----------
    .. [1] Bojar et al. Findings of the 2015 Workshop on Statistical Machine Translation. WMT 2015.
       Section 4.2.
    """
    if not len(gold):
        return 0.0
    n_gold, n_predicted = len(runs(gold)), len(runs(predicted))
    ratio = min(n_gold, n_predicted) / max(n_gold, n_predicted)
    return ratio * intersection(gold, predicted) / len(gold)


def intersection(gold: Sequence[bool], predicted: Sequence[bool]) -> float:
    """Return the overlap of the runs of gold and prediction, weighted by tag.

    Runs of one tag are paired, the largest overlap first, and each run is used once. The overlap of a tag counts
    as many times as the sentence has words for each word predicted to have that tag.
    """
    total = 0.0
    for tag in (False, True):
        n_predicted = sum(map(bool(tag).__eq__, map(bool, predicted)))
        if n_predicted:
            total += len(gold) / n_predicted * _overlap(gold, predicted, tag)
    return total


def runs(tags: Sequence[bool]) -> list[tuple[bool, int, int]]:
    """Return the runs of equal tags: the tag, the first word, and the word after the last."""
    found, start = [], 0
    for tag, words in groupby(tags, bool):
        end = start + sum(1 for _ in words)
        found.append((tag, start, end))
        start = end
    return found


def _overlap(gold: Sequence[bool], predicted: Sequence[bool], tag: bool) -> int:
    golds = [run for run in runs(gold) if run[0] == tag]
    guesses = [run for run in runs(predicted) if run[0] == tag]
    overlaps = sorted(
        (-shared, i, j)
        for i, (_, start, end) in enumerate(golds)
        for j, (_, first, last) in enumerate(guesses)
        if (shared := min(end, last) - max(start, first)) > 0
    )
    used_golds, used_guesses, total = set(), set(), 0
    for negative, i, j in overlaps:
        if i not in used_golds and j not in used_guesses:
            used_golds.add(i)
            used_guesses.add(j)
            total -= negative
    return total


# Uncertainty ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TagComparison:
    """All measures of some submissions, with intervals, and tests of all pairs by one measure.

    Attributes
    ----------
    estimates : ndarray, shape (n_submissions, 6)
    low, high : ndarray, shape (n_submissions, 6)
        By the percentile bootstrap over sentences.
    pvalue : ndarray, shape (n_submissions, n_submissions)
        Of approximate randomisation by the main measure; a small `pvalue[i, j]` favours i. NaN on the diagonal.
    adjusted : ndarray
        The p-values corrected for their number.
    is_winner : ndarray of bool
        The best submission and those it does not significantly outperform.
    """

    estimates: Floats
    low: Floats
    high: Floats
    pvalue: Floats
    adjusted: Floats
    is_winner: NDArray[np.bool_]


def compare_tags(
    counts: Sequence[ArrayLike],
    *,
    rng: np.random.Generator,
    main: str = "matthews",
    n_resamples: int = DEFAULT_RESAMPLES,
    confidence: float = 0.95,
    alpha: float = ALPHA,
    correction: Correction = "holm",
) -> TagComparison:
    """Compare submissions by their tags.

    Parameters
    ----------
    counts : sequence of array_like, each of shape (n_sentences, 5)
        From `tag_counts`, one for each submission.
    rng : numpy.random.Generator
    main : str
        The measure that is tested, one of `TAG_MEASURES`.
    n_resamples : int
        Of the bootstrap and of the randomisation.
    confidence, alpha : float
    correction : {"holm", "none"}
        The papers have none.

    Returns
    -------
    TagComparison
    """
    check_between("confidence", confidence, 0, 1)
    if main not in TAG_MEASURES:
        raise ValueError(f"`main` must be one of {', '.join(TAG_MEASURES)}, not {main!r}")
    rows = np.stack([np.asarray(each, dtype=np.float64) for each in counts])
    n_submissions, n_sentences, _ = rows.shape
    check_at_least("n_sentences", n_sentences, 1)
    estimates = tag_measures(rows.sum(axis=1), n_sentences)
    low, high = percentile_interval(
        np.concatenate(list(_bootstrapped(rows, n_resamples, rng))), confidence
    )
    place = TAG_MEASURES.index(main)
    pvalue = _randomisation(rows, place, n_resamples, rng)
    adjusted = adjust(pvalue, correction)
    best = int(np.argmax(estimates[:, place]))
    outperformed = adjusted[best] < alpha
    outperformed[best] = False
    return TagComparison(estimates, low, high, pvalue, adjusted, ~outperformed)


def _bootstrapped(rows: Floats, n_resamples: int, rng: np.random.Generator) -> Iterator[Floats]:
    n_submissions, n_sentences, n_columns = rows.shape
    flat = rows.transpose(1, 0, 2).reshape(n_sentences, -1)
    for counts in bootstrap_counts(n_sentences, n_resamples, rng, width=flat.shape[1]):
        sums = (counts @ flat).reshape(-1, n_submissions, n_columns)
        yield tag_measures(sums, n_sentences)


def _randomisation(rows: Floats, place: int, n_resamples: int, rng: np.random.Generator) -> Floats:
    """Return one-sided p-values of all pairs: the two taggings of random sentences are swapped."""
    n_submissions, n_sentences, n_columns = rows.shape
    first, second = np.triu_indices(n_submissions, 1)
    pvalue = np.full((n_submissions, n_submissions), np.nan)
    if not len(first):
        return pvalue
    sums = rows.sum(axis=1)
    observed = _difference(sums[first], sums[second], place, n_sentences)
    changes = (rows[first] - rows[second]).transpose(1, 0, 2).reshape(n_sentences, -1)
    above, below = np.zeros(len(first)), np.zeros(len(first))
    for masks in swap_masks(n_sentences, n_resamples, rng, width=changes.shape[1]):
        moved = (masks @ changes).reshape(-1, len(first), n_columns)
        swapped = _difference(sums[first] - moved, sums[second] + moved, place, n_sentences)
        above += (swapped >= observed - ROUNDING).sum(axis=0)
        below += (swapped <= observed + ROUNDING).sum(axis=0)
    pvalue[first, second] = monte_carlo_pvalue(above, n_resamples)
    pvalue[second, first] = monte_carlo_pvalue(below, n_resamples)
    return pvalue


def _difference(first: Floats, second: Floats, place: int, n_sentences: int) -> Floats:
    measures = tag_measures(np.stack([first, second]), n_sentences)[..., place]
    return np.asarray(measures[0] - measures[1], dtype=np.float64)
