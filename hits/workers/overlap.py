"""What a program can compute from an item's texts without understanding them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sacrebleu.metrics import BLEU, CHRF

# Items whose measures are kept in memory: a worker's HITs are weighed again after each of them, and others
# rate the same items.
N_KEPT = 50_000

# Names as stored with the evidence.
WORD_F1, CHRF_SCORE, BLEU_SCORE, LENGTH = "word F1", "chrF", "BLEU", "length"


def overlap_measures(
    texts: Sequence[str], grays: Sequence[str], *, spaced: bool
) -> dict[str, list[float]]:
    """Return each measure of the black texts, against the gray texts where there are any.

    Where words are not separated by spaces, characters are used instead. Without gray texts there is
    only the length.
    """
    measures = {LENGTH: [float(len(text)) for text in texts]}
    if not all(grays):
        return measures
    rows = [_overlap(text, gray, spaced) for text, gray in zip(texts, grays, strict=True)]
    names = (WORD_F1, CHRF_SCORE, BLEU_SCORE)
    return {name: [row[i] for row in rows] for i, name in enumerate(names)} | measures


@lru_cache(N_KEPT)
def _overlap(text: str, gray: str, spaced: bool) -> tuple[float, float, float]:
    return (
        unit_f1(_units(text, spaced), _units(gray, spaced)),
        _chrf().sentence_score(text, [gray]).score,
        _bleu(spaced).sentence_score(text, [gray]).score,
    )


def unit_f1(units: Sequence[str], expected: Sequence[str]) -> float:
    """Return the F1 score of the units that two texts share, from 0 to 1; 0 if both are empty."""
    n_shared = (Counter(units) & Counter(expected)).total()
    n_units = len(units) + len(expected)
    return 2 * n_shared / n_units if n_units else 0.0


def _units(text: str, spaced: bool) -> list[str]:
    words = text.lower().split()
    return words if spaced else list("".join(words))


# SacreBLEU is imported here because pages do not need it.


@cache
def _chrf() -> CHRF:
    from sacrebleu.metrics import CHRF

    return CHRF()


@cache
def _bleu(spaced: bool) -> BLEU:
    from sacrebleu.metrics import BLEU

    return BLEU(effective_order=True, tokenize="13a" if spaced else "char")
