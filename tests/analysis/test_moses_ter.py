"""TER as Moses counts it: edits and shifts by hand, and what holds for all texts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.metrics.edits import word_errors
from analysis.metrics.moses_ter import BEAM, moses_errors

words = st.lists(st.sampled_from("abcde"), max_size=9)


@pytest.mark.parametrize(
    ("translation", "reference", "errors"),
    [
        ("a b c d", "a b c d", 0),
        ("", "a b", 2),
        ("a b", "", 2),
        ("a x c", "a b c", 1),
        # One shift instead of four edits.
        ("c d a b", "a b c d", 1),
        # A single word moved to the front, and to the end.
        ("d a b c", "a b c d", 1),
        ("b c d a", "a b c d", 1),
        # A shift and a replaced word.
        ("c d a x", "a b c d", 2),
    ],
)
def test_errors_match_counts_by_hand(translation, reference, errors):
    assert moses_errors(translation.split(), reference.split()) == errors


@given(words, words)
def test_shifts_only_save_edits(translation, reference):
    assert moses_errors(translation, reference) <= word_errors(translation, reference)
    assert (moses_errors(translation, reference) == 0) == (translation == reference)
    assert moses_errors(translation, reference) >= abs(len(translation) - len(reference))


def test_alignments_outside_the_beam_are_not_found():
    # Twenty words are missing at the start, which takes twenty edits: more than the beam allows.
    text = [str(i) for i in range(5 * BEAM)]
    assert moses_errors(text, text[BEAM:]) == BEAM
    assert moses_errors(text, text[2 * BEAM :]) > 2 * BEAM
