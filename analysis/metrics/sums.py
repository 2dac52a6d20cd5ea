"""Metrics of whole outputs as functions of sums over segments, so that resampled outputs cost a matrix product.

The scores are those of sacreBLEU (BLEU, chrF, TER) and of NIST's mteval-v13a. Here outputs have one reference.
"""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..stats.signature import signature
from .catalogue import metrics_for, tokeniser_for, words_of

Floats = NDArray[np.float64]
Grams = Counter[tuple[str, ...]]

BLEU_ORDER, NIST_ORDER, CHRF_ORDER = 4, 5, 6
CHRF_BETA = 2
# An output two thirds as long as the reference loses half its NIST score.
NIST_BETA = math.log(0.5) / math.log(1.5) ** 2


@dataclass(frozen=True, slots=True)
class SummedMetric:
    """A metric whose score follows from the sums of some numbers over the segments.

    Attributes
    ----------
    name : str
    higher_is_better : bool
    signature : str
    statistics : callable
        Takes outputs and references, returns an array of shape (n_segments, n_columns).
    score : callable
        Takes sums of shape (..., n_columns), returns scores of shape (...).
    """

    name: str
    higher_is_better: bool
    signature: str
    statistics: Callable[[Sequence[str], Sequence[str]], Floats]
    score: Callable[[Floats], Floats]


def summed_metrics(target_language: str, *, tokenise: str | None = None) -> dict[str, SummedMetric]:
    """Return BLEU, NIST, TER with and without case, and chrF, by name.

    Parameters
    ----------
    target_language : str
        A BCP 47 tag.
    tokenise : str, optional
        A sacreBLEU tokeniser to use instead of the language's default; `none` for tokenised texts.

    Returns
    -------
    dict of str to SummedMetric
    """
    tokeniser = tokenise or tokeniser_for(target_language)
    words = words_of(tokeniser)
    built_in = metrics_for(target_language, tokenise=tokenise)

    def of(name: str) -> str:
        return built_in[name].signatures["system"]

    def ter(name: str) -> SummedMetric:
        return SummedMetric(name, False, of(name), _of_pairs(built_in[name].counts), ter_score)

    metrics = [
        SummedMetric("BLEU", True, of("BLEU"), _with_words(_bleu_statistics, words), bleu_score),
        SummedMetric(
            "NIST",
            True,
            signature(metric="NIST", nrefs=1, case="mixed", tok=tokeniser, orders=NIST_ORDER),
            _with_words(_nist_statistics, words),
            nist_score,
        ),
        ter("TER"),
        ter("TER-cased"),
        SummedMetric("chrF", True, of("chrF"), _chrf_statistics, chrf_score),
    ]
    return {metric.name: metric for metric in metrics}


def _with_words(
    statistics: Callable[[Sequence[list[str]], Sequence[list[str]]], Floats],
    words: Callable[[str], list[str]],
) -> Callable[[Sequence[str], Sequence[str]], Floats]:
    def of_texts(outputs: Sequence[str], references: Sequence[str]) -> Floats:
        return statistics([*map(words, outputs)], [*map(words, references)])

    return of_texts


def _of_pairs(
    counts: Callable[..., tuple[float, ...]],
) -> Callable[[Sequence[str], Sequence[str]], Floats]:
    def statistics(outputs: Sequence[str], references: Sequence[str]) -> Floats:
        return np.array([counts(*pair) for pair in zip(outputs, references, strict=True)])

    return statistics


def _grams(words: Sequence[str], order: int) -> Grams:
    return Counter(zip(*(words[start:] for start in range(order)), strict=False))


# BLEU -----------------------------------------------------------------------------------------


def _bleu_statistics(outputs: Sequence[list[str]], references: Sequence[list[str]]) -> Floats:
    """Return matches of each order, n-grams of each order, and both lengths."""
    rows = np.zeros((len(outputs), 2 * BLEU_ORDER + 2))
    for row, output, reference in zip(rows, outputs, references, strict=True):
        for order in range(1, BLEU_ORDER + 1):
            row[order - 1] = (_grams(output, order) & _grams(reference, order)).total()
            row[BLEU_ORDER + order - 1] = max(0, len(output) - order + 1)
        row[-2:] = len(output), len(reference)
    return rows


def bleu_score(sums: Floats) -> Floats:
    """Return BLEU from 0 to 100, with sacreBLEU's exponential smoothing.

    Parameters
    ----------
    sums : ndarray, shape (..., 10)
    """
    matches, totals = sums[..., :BLEU_ORDER], sums[..., BLEU_ORDER : 2 * BLEU_ORDER]
    n_output, n_reference = sums[..., -2], sums[..., -1]
    has_all = (totals > 0).all(axis=-1) & (matches > 0).any(axis=-1)
    # The k-th order without a match counts as 1 / 2^k matches.
    smoothed = np.where(matches > 0, matches, 0.5 ** np.cumsum(matches == 0, axis=-1))
    logs = np.log(smoothed / np.maximum(totals, 1)).mean(axis=-1)
    shorter = np.minimum(0, 1 - n_reference / np.maximum(n_output, 1))
    return np.where(has_all, 100 * np.exp(shorter + logs), 0.0)


# NIST -----------------------------------------------------------------------------------------


def _nist_statistics(outputs: Sequence[list[str]], references: Sequence[list[str]]) -> Floats:
    """Return the information of the matches of each order, n-grams of each order, and both lengths.

    The information of an n-gram is log2 of how often its beginning occurs in all references for each time that it
    occurs itself.

    References
    ----------
    .. [1] Doddington. Automatic Evaluation of Machine Translation Quality Using N-gram Co-occurrence
       Statistics. HLT 2002.
    """
    corpus: Grams = Counter()
    for reference in references:
        for order in range(1, NIST_ORDER + 1):
            corpus.update(_grams(reference, order))
    n_words = sum(map(len, references))
    rows = np.zeros((len(outputs), 2 * NIST_ORDER + 2))
    for row, output, reference in zip(rows, outputs, references, strict=True):
        for order in range(1, NIST_ORDER + 1):
            matches = _grams(output, order) & _grams(reference, order)
            row[order - 1] = sum(
                n * math.log2((corpus[gram[:-1]] if order > 1 else n_words) / corpus[gram])
                for gram, n in matches.items()
            )
            row[NIST_ORDER + order - 1] = max(0, len(output) - order + 1)
        row[-2:] = len(output), len(reference)
    return rows


def nist_score(sums: Floats) -> Floats:
    """Return NIST: the mean information of an n-gram, added over the orders, with a penalty for brevity.

    Parameters
    ----------
    sums : ndarray, shape (..., 12)
    """
    information, totals = sums[..., :NIST_ORDER], sums[..., NIST_ORDER : 2 * NIST_ORDER]
    gained = (information / np.maximum(totals, 1)).sum(axis=-1)
    ratio = np.minimum(1, sums[..., -2] / np.maximum(sums[..., -1], 1))
    has_words = sums[..., -2] > 0
    logs = np.log(np.where(has_words, ratio, 1))
    return np.where(has_words, gained * np.exp(NIST_BETA * logs**2), 0.0)


# TER and chrF ---------------------------------------------------------------------------------


def ter_score(sums: Floats) -> Floats:
    """Return edits per 100 reference words.

    Parameters
    ----------
    sums : ndarray, shape (..., 2)
    """
    edits, n_words = sums[..., 0], sums[..., 1]
    empty = np.where(edits > 0, 100.0, 0.0)
    return np.where(n_words > 0, 100 * edits / np.where(n_words > 0, n_words, 1), empty)


def _chrf_statistics(outputs: Sequence[str], references: Sequence[str]) -> Floats:
    """Return for each order the character n-grams of output and reference, and those in both."""
    rows = np.zeros((len(outputs), 3 * CHRF_ORDER))
    for row, output, reference in zip(rows, outputs, references, strict=True):
        ours, theirs = "".join(output.split()), "".join(reference.split())
        for order in range(1, CHRF_ORDER + 1):
            in_output, in_reference = _pieces(ours, order), _pieces(theirs, order)
            n_reference = in_reference.total()
            row[3 * order - 3 : 3 * order] = (
                # As in sacreBLEU, an order that the reference is too short for does not count.
                in_output.total() if n_reference else 0,
                n_reference,
                (in_output & in_reference).total(),
            )
    return rows


def _pieces(text: str, order: int) -> Counter[str]:
    return Counter([text[start : start + order] for start in range(len(text) - order + 1)])


def chrf_score(sums: Floats) -> Floats:
    """Return chrF2 from 0 to 100: F of the precision and recall averaged over the orders that both have.

    Parameters
    ----------
    sums : ndarray, shape (..., 18)
    """
    in_output, in_reference, matches = sums[..., 0::3], sums[..., 1::3], sums[..., 2::3]
    counts = (in_output > 0) & (in_reference > 0)
    n_orders = np.maximum(counts.sum(axis=-1), 1)
    precision = (counts * matches / np.maximum(in_output, 1)).sum(axis=-1) / n_orders
    recall = (counts * matches / np.maximum(in_reference, 1)).sum(axis=-1) / n_orders
    factor = CHRF_BETA**2
    below = factor * precision + recall
    has_matches = below > 0
    above = (1 + factor) * precision * recall
    return np.where(has_matches, 100 * above / np.where(has_matches, below, 1), 0.0)
