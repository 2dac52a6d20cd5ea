"""Holm's adjustment of many p-values."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from analysis.stats.multiple_tests import adjust, holm


def test_the_smallest_is_multiplied_by_the_number_of_tests_and_the_next_by_one_less():
    assert_allclose(holm([0.01, 0.04, 0.03, 0.005]), [0.03, 0.06, 0.06, 0.02])


def test_an_adjusted_p_never_falls_below_the_one_before_it():
    assert_allclose(holm([0.01, 0.011, 0.9]), [0.03, 0.03, 0.9])


def test_it_never_exceeds_one():
    assert_allclose(holm([0.5, 0.6, 0.7]), [1, 1, 1])


def test_a_single_test_keeps_its_p():
    assert_allclose(holm([0.031]), [0.031])


def test_nan_is_not_a_test_and_stays_nan():
    assert_array_equal(holm([np.nan, 0.02, 0.03]), [np.nan, 0.04, 0.04])


def test_a_matrix_is_one_family_in_both_directions():
    p = np.array([[np.nan, 0.01, 0.02], [0.99, np.nan, 0.3], [0.98, 0.7, np.nan]])
    adjusted = holm(p)
    assert_allclose(adjusted[0, 1:], [0.06, 0.10])
    assert np.isnan(np.diag(adjusted)).all()


def test_no_test_at_all_is_fine():
    assert holm([]).shape == (0,)
    assert np.isnan(holm([[np.nan]])).all()


def test_equal_p_values_stay_equal():
    assert_allclose(holm([0.02, 0.02, 0.5]), [0.06, 0.06, 0.5])


def test_an_impossible_p_value_is_refused():
    with pytest.raises(ValueError, match="`pvalues`"):
        holm([0.5, 1.2])


def test_an_unknown_correction_is_refused():
    with pytest.raises(ValueError, match="`correction`"):
        adjust([0.5], "bonferroni")  # type: ignore[arg-type]


def test_no_correction_leaves_p_alone():
    assert_array_equal(adjust([0.01, np.nan], "none"), [0.01, np.nan])


@pytest.mark.parametrize("n_false", [0, 4])
def test_the_chance_of_any_wrong_call_is_at_most_five_percent(n_false):
    rng = np.random.default_rng(7)
    p = rng.random((4000, 20))
    p[:, :n_false] *= 1e-6  # real effects, which are found at once
    wrong = [(holm(row)[n_false:] < 0.05).any() for row in p]
    # Binomial: 0.05 with a standard error of 0.0034.
    assert 0.04 < np.mean(wrong) < 0.06
