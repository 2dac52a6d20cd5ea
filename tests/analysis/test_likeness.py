"""Likeness of scores to formulas: high for scripts, low for people."""

import numpy as np
import pytest
from scipy import stats

from analysis.stats.likeness import LIKENESS_R, likeness_to_formulas


def test_it_is_pearsons_r_with_each_measure():
    rng = np.random.default_rng(1)
    scores, overlap, length = rng.normal(size=(3, 30))
    result = likeness_to_formulas(scores, {"overlap": overlap, "length": length})
    assert result.r["overlap"] == pytest.approx(stats.pearsonr(scores, overlap).statistic)
    assert result.r["length"] == pytest.approx(stats.pearsonr(scores, length).statistic)
    assert result.n_items == 30


def test_a_formula_is_found_whatever_its_scale_and_direction():
    overlap = np.linspace(0, 1, 25)
    for scores in (100 * overlap, 90 - 50 * overlap):
        result = likeness_to_formulas(scores, {"length": np.sin(overlap * 50), "overlap": overlap})
        assert result.closest == "overlap" and result.is_flagged


def test_scores_of_their_own_are_not_flagged():
    rng = np.random.default_rng(2)
    overlap = rng.normal(size=100)
    # People's ratings follow overlap to some extent: r of about 0.45.
    scores = overlap + 2 * rng.normal(size=100)
    result = likeness_to_formulas(scores, {"overlap": overlap})
    assert 0.2 < result.r["overlap"] < LIKENESS_R and not result.is_flagged


def test_few_items_are_never_flagged():
    assert not likeness_to_formulas(np.arange(19), {"length": np.arange(19)}).is_flagged
    assert likeness_to_formulas(np.arange(20), {"length": np.arange(20)}).is_flagged


@pytest.mark.parametrize("scores", [[50, 50, 50, 50], [1, 2, 3, 4]], ids=["scores", "measure"])
def test_what_never_varies_is_like_nothing(scores):
    result = likeness_to_formulas(scores, {"length": [7, 7, 7, 7]})
    assert np.isnan(result.r["length"]) and result.closest is None and not result.is_flagged


@pytest.mark.parametrize("n", [0, 2])
def test_too_few_items_are_like_nothing(n):
    assert likeness_to_formulas(np.arange(n), {"length": np.arange(n)}).closest is None


def test_measures_must_be_of_the_same_items():
    with pytest.raises(ValueError, match="`length` has 2"):
        likeness_to_formulas([1, 2, 3], {"length": [1, 2]})
