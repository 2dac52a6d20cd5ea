"""Measures of word tags: by hand, by their special cases, and their tests under the null hypothesis."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from analysis.stats.calibration import calibration
from analysis.stats.word_tags import (
    TAG_MEASURES,
    compare_tags,
    intersection,
    runs,
    sequence_correlation,
    tag_counts,
    tag_measures,
)


def tags(text: str) -> list[bool]:
    return [letter == "B" for letter in text]


def measures(gold: list[str], predicted: list[str]) -> dict[str, float]:
    counts = tag_counts([*map(tags, gold)], [*map(tags, predicted)])
    return dict(zip(TAG_MEASURES, tag_measures(counts.sum(axis=0), len(gold)), strict=True))


def test_measures_of_five_words_by_hand():
    # One BAD found, one false alarm, one missed, two OK right.
    found = measures(["BBOOO"], ["BOBOO"])
    assert found["f1_bad"] == 2 / (2 + 1 + 1)
    assert found["f1_ok"] == pytest.approx(4 / (4 + 1 + 1))
    assert found["f1_product"] == pytest.approx(1 / 3)
    assert found["f1_weighted"] == pytest.approx((2 * 0.5 + 3 * 2 / 3) / 5)
    assert found["matthews"] == pytest.approx((1 * 2 - 1 * 1) / np.sqrt(2 * 2 * 3 * 3))


@pytest.mark.parametrize("n_bad", [1, 3, 7])
def test_tagging_all_words_bad_has_the_f1_that_their_share_says(n_bad: int):
    gold = "B" * n_bad + "O" * (10 - n_bad)
    share = n_bad / 10
    found = measures([gold], ["B" * 10])
    assert found["f1_bad"] == pytest.approx(2 * share / (1 + share))
    assert found["f1_ok"] == found["f1_product"] == found["matthews"] == 0
    assert measures([gold], ["O" * 10])["f1_bad"] == 0


def test_a_perfect_prediction_and_its_opposite():
    assert measures(["BBO"], ["BBO"])["matthews"] == pytest.approx(1)
    assert measures(["BBO"], ["OOB"])["matthews"] == pytest.approx(-1)


def test_the_published_example_of_the_intersection():
    gold, predicted = tags("OBOOO"), tags("OOOOO")
    assert runs(gold) == [(False, 0, 1), (True, 1, 2), (False, 2, 5)]
    assert intersection(gold, predicted) == 3
    # One run against three.
    assert sequence_correlation(gold, predicted) == pytest.approx(1 / 3 * 3 / 5)


def test_each_run_is_used_once_and_the_largest_overlap_comes_first():
    # Predicted OK words: 2, so each overlapping word counts 5 / 2; BAD: 3, so 5 / 3.
    gold, predicted = tags("OOBBO"), tags("OBBBO")
    assert intersection(gold, predicted) == pytest.approx(5 / 2 * (1 + 1) + 5 / 3 * 2)
    assert sequence_correlation(gold, predicted) == pytest.approx(5 / 3)
    assert sequence_correlation(tags("OOO"), tags("OOO")) == 1
    assert sequence_correlation(tags("OBO"), tags("OBO")) == 2
    assert sequence_correlation([], []) == 0


def test_sentences_must_be_parallel():
    with pytest.raises(ValueError, match="as many sentences"):
        tag_counts([[True]], [])
    with pytest.raises(ValueError, match="as many tags"):
        tag_counts([[True]], [[True, False]])


def noisy(gold: list[list[bool]], rate: float, rng: np.random.Generator) -> list[list[bool]]:
    return [[tag ^ (rng.random() < rate) for tag in sentence] for sentence in gold]


@pytest.fixture
def gold() -> list[list[bool]]:
    rng = np.random.default_rng(1)
    return [list(rng.random(12) < 0.3) for _ in range(120)]


def test_the_better_tagger_wins_and_its_copy_is_in_the_winning_group(gold):
    rng = np.random.default_rng(2)
    good, poor = noisy(gold, 0.1, rng), noisy(gold, 0.3, rng)
    counts = [tag_counts(gold, each) for each in (poor, good, good)]
    found = compare_tags(counts, rng=np.random.default_rng(3))
    assert found.is_winner.tolist() == [False, True, True]
    assert found.pvalue[1, 0] < 0.01 and found.pvalue[0, 1] > 0.99
    assert found.pvalue[1, 2] == found.pvalue[2, 1] == 1
    assert np.isnan(np.diag(found.pvalue)).all()
    assert (found.low <= found.estimates).all() and (found.estimates <= found.high).all()
    again = compare_tags(counts, rng=np.random.default_rng(3))
    assert_allclose(again.pvalue, found.pvalue)


def test_randomisation_enumerated_by_hand():
    """Two sentences have four arrangements; the p-value is near the share of those at least as extreme."""
    gold = [tags("BO"), tags("BO")]
    first, second = [tags("BO"), tags("BO")], [tags("OO"), tags("OB")]
    counts = [tag_counts(gold, first), tag_counts(gold, second)]
    found = compare_tags(
        counts, rng=np.random.default_rng(4), main="f1_bad", n_resamples=4000, correction="none"
    )
    # Only the observed arrangement is as good for the first tagger.
    assert found.pvalue[0, 1] == pytest.approx(1 / 4, abs=0.03)


@pytest.mark.slow
@pytest.mark.parametrize("main", ["matthews", "f1_product", "sequence"])
def test_equal_taggers_differ_in_one_test_of_twenty(gold, main: str):
    rng = np.random.default_rng(5)
    n_rejected = np.zeros(2)
    for _ in range(1000):
        counts = [tag_counts(gold, noisy(gold, 0.25, rng)) for _ in range(2)]
        found = compare_tags(counts, rng=rng, main=main, n_resamples=200, correction="none")
        n_rejected += [found.pvalue[0, 1] < 0.05, found.pvalue[1, 0] < 0.05]
    assert (n_rejected / 1000 >= 0.03).all() and (n_rejected / 1000 <= 0.07).all()


# Calibration ----------------------------------------------------------------------------------


def test_calibration_by_hand():
    found = calibration([0.1, 0.15, 0.9, 0.3], [0, 1, 1, 0])
    assert found.n.tolist() == [0, 2, 0, 1, 0, 0, 0, 0, 0, 1]
    assert found.predicted[[1, 3, 9]] == pytest.approx([0.125, 0.3, 0.9])
    assert found.observed[[1, 3, 9]] == pytest.approx([0.5, 0, 1])
    assert np.isnan(found.predicted[0])
    assert found.error == pytest.approx((2 * 0.375 + 0.3 + 0.1) / 4)
    assert found.brier == pytest.approx((0.01 + 0.7225 + 0.01 + 0.09) / 4)


def test_certain_and_right_is_perfect_and_bad_probabilities_are_refused():
    found = calibration([0, 1, 1], [False, True, True])
    assert found.error == found.brier == 0
    with pytest.raises(ValueError, match="between 0 and 1"):
        calibration([1.5], [True])
    with pytest.raises(ValueError, match="parallel"):
        calibration([0.5], [])
