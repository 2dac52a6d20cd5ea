"""Measures that need no understanding, by hand and against sacrebleu."""

import pytest
from sacrebleu.metrics import BLEU, CHRF

from hits.workers.overlap import overlap_measures, unit_f1


def test_shared_words_by_hand():
    # Two of three and two of four words are shared, "the" only once.
    assert unit_f1(["the", "the", "cat"], ["the", "old", "cat", "sat"]) == pytest.approx(4 / 7)
    assert unit_f1([], ["cat"]) == unit_f1([], []) == 0


def test_each_measure_of_a_text():
    black, gray = "The cat sat there.", "the old cat sat here."
    measures = overlap_measures([black], [gray], spaced=True)
    assert measures["word F1"] == [pytest.approx(2 * 3 / 9)]
    assert measures["chrF"] == [pytest.approx(CHRF().sentence_score(black, [gray]).score)]
    bleu = BLEU(effective_order=True).sentence_score(black, [gray]).score
    assert measures["BLEU"] == [pytest.approx(bleu)]
    assert measures["length"] == [len(black)]


def test_the_gray_text_itself_overlaps_completely():
    text = "An old bridge over a quiet river."
    measures = overlap_measures([text], [text], spaced=True)
    assert [measures[name][0] for name in ("word F1", "chrF", "BLEU")] == pytest.approx(
        [1, 100, 100]
    )


def test_without_spaces_characters_are_words():
    measures = overlap_measures(["我喜欢猫"], ["我喜欢狗"], spaced=False)
    assert measures["word F1"] == [pytest.approx(6 / 8)] and measures["BLEU"][0] > 50


def test_without_gray_texts_there_is_only_the_length():
    assert overlap_measures(["a", "bcd"], ["", ""], spaced=True) == {"length": [1, 3]}


def test_an_empty_text_shares_nothing():
    measures = overlap_measures([""], ["a cat"], spaced=True)
    assert [values[0] for values in measures.values()] == [0, 0, 0, 0]
