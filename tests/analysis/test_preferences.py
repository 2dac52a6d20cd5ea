import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from analysis.stats.preferences import darr_tau, preference_tau, relative_preferences
from analysis.stats.significance import binomial_interval


@pytest.mark.parametrize(
    ("metric_ties", "tau", "n"),
    # Three concordant pairs, one discordant, one tied.
    [("wmt14", 2 / 5, 5), ("wmt13", 2 / 4, 4), ("wmt12", 1 / 5, 5), ("darr", 1 / 5, 5)],
)
def test_each_year_has_its_own_rule_for_metric_ties(metric_ties: str, tau: float, n: int) -> None:
    result = preference_tau([5, 5, 5, 1, 3], [1, 2, 4, 2, 3], metric_ties=metric_ties)  # type: ignore[arg-type]
    assert_allclose(result.estimate, tau)
    assert (result.n, result.n_concordant, result.n_discordant, result.n_tied) == (n, 3, 1, 1)


def test_a_preference_needs_a_difference_of_25_points() -> None:
    better, worse, segments = relative_preferences([[50, 50, 10], [75, 74, np.nan], [20, 50, 90]])
    preferences = sorted(zip(better.tolist(), worse.tolist(), segments.tolist(), strict=True))
    assert preferences == [(0, 2, 0), (1, 0, 0), (1, 2, 0), (2, 0, 2)]


def test_equal_gold_is_never_a_preference() -> None:
    better, _, _ = relative_preferences([[50, 50], [50, 51]], points=0)
    assert better.tolist() == [1]


def test_darr_by_hand() -> None:
    # Preferences: 1 over 0, 1 over 2, 0 over 2 (segment 0); metric right, tied, wrong.
    result = darr_tau([[4, 0], [6, 0], [6, 0]], [[50, 9], [90, 9], [10, 9]])
    assert_allclose(result.estimate, -1 / 3)


def test_the_interval_is_binomial_on_the_scale_of_tau() -> None:
    result = preference_tau([2, 2, 2, 1], [1, 1, 1, 2])
    low, high = binomial_interval(3, 4)
    assert_allclose((result.low, result.high), (2 * low - 1, 2 * high - 1))


def test_no_preferences_have_no_tau() -> None:
    result = darr_tau([[1.0], [2.0]], [[50], [51]])
    assert np.isnan([result.estimate, result.low, result.high]).all()
    assert result.n == 0


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1))
def test_swapping_the_sides_reverses_the_sign(pairs: list[tuple[int, int]]) -> None:
    better, worse = zip(*pairs, strict=True)
    tau = preference_tau(better, worse).estimate
    assert_allclose(preference_tau(worse, better).estimate, -tau, atol=1e-12)
    lower = preference_tau(better, worse, higher_is_better=False)
    assert_allclose(lower.estimate, -tau, atol=1e-12)


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"better": [1], "worse": [1, 2]}, "`better`"),
        ({"better": [np.nan], "worse": [1]}, "`better`"),
        ({"better": [1], "worse": [1], "metric_ties": "wmt11"}, "`metric_ties`"),
    ],
)
def test_a_refusal_names_the_parameter(arguments: dict, name: str) -> None:
    with pytest.raises(ValueError, match=name):
        preference_tau(**arguments)


def test_missing_metric_scores_and_negative_points_are_refused() -> None:
    with pytest.raises(ValueError, match="`metric`"):
        darr_tau([[np.nan], [1]], [[1], [2]])
    with pytest.raises(ValueError, match="`points`"):
        relative_preferences([[1], [2]], points=-1)
