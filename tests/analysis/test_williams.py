import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats

from analysis.stats.williams import williams_matrix, williams_test


def metrics_and_gold(
    n_metrics: int = 4, n: int = 50, seed: int = 3
) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    gold = rng.normal(size=n)
    return gold + rng.normal(size=(n_metrics, n)) * np.linspace(0.5, 2, n_metrics)[:, None], gold


def test_one_test_by_hand() -> None:
    # K = 1 - .09 - .4225 - .3025 + 2 * .3 * .65 * .55 = 0.3995
    # t = .1 * sqrt(49 * 1.3) / sqrt(2 * .3995 * 49 / 47 + .36 * .343) = 0.798123 / sqrt(0.956480)
    result = williams_test(0.65, 0.55, 0.3, 50)
    assert_allclose(result.statistic, 0.1 * math.sqrt(63.7) / math.sqrt(0.799 * 49 / 47 + 0.12348))
    assert result.df == 47
    assert_allclose(result.pvalue, stats.t.sf(result.statistic, 47))
    assert_allclose(result.pvalue, 0.209286172867536, atol=1e-12)


def test_the_matrix_contains_the_single_tests() -> None:
    metrics, gold = metrics_and_gold()
    matrix = williams_matrix(metrics, gold)
    r = np.corrcoef(np.vstack([metrics, gold]))
    assert_allclose(matrix.between, r[:4, :4], atol=1e-12)
    for i in range(4):
        for j in range(4):
            if i == j:
                assert math.isnan(matrix.pvalue[i, j])
                continue
            single = williams_test(r[i, 4], r[j, 4], r[i, j], 50)
            assert_allclose(matrix.pvalue[i, j], single.pvalue)
            assert_allclose(matrix.statistic[i, j], single.statistic)
    assert_allclose(matrix.estimates, r[:4, 4])
    assert (matrix.df, matrix.n) == (47, 50)


def test_a_tiny_p_value_keeps_its_digits() -> None:
    result = williams_test(0.9, 0.1, 0.2, 1000)
    assert 0 < result.pvalue < 1e-100
    assert_allclose(result.pvalue, stats.t.sf(result.statistic, 997), rtol=1e-6)


@given(st.floats(-0.9, 0.9), st.floats(-0.9, 0.9), st.integers(4, 5000))
def test_swapping_the_metrics_mirrors_the_p_value(r13: float, r23: float, n: int) -> None:
    # Any r12 between the bounds the other two leave it
    r12 = r13 * r23 + 0.5 * math.sqrt((1 - r13**2) * (1 - r23**2))
    straight, swapped = williams_test(r13, r23, r12, n), williams_test(r23, r13, r12, n)
    assert_allclose(straight.pvalue + swapped.pvalue, 1)
    assert_allclose(straight.statistic, -swapped.statistic)


@given(st.floats(0.1, 50), st.floats(-50, 50), st.permutations(range(50)))
def test_neither_scale_nor_row_order_matters(factor: float, shift: float, order: list[int]) -> None:
    metrics, gold = metrics_and_gold()
    changed = williams_matrix(factor * metrics[:, order] + shift, gold[order])
    assert_allclose(changed.pvalue, williams_matrix(metrics, gold).pvalue, atol=1e-9)


def test_the_sign_of_a_lower_is_better_metric_is_reversed() -> None:
    metrics, gold = metrics_and_gold()
    mixed = metrics * np.array([1, -1, 1, -1])[:, None]
    result = williams_matrix(mixed, gold, higher_is_better=[True, False, True, False])
    assert_allclose(result.pvalue, williams_matrix(metrics, gold).pvalue)
    assert "metric:higher,lower" in result.signature


def test_segments_without_gold_are_left_out_for_all_metrics() -> None:
    metrics, gold = metrics_and_gold()
    gold[[3, 7]] = np.nan
    has_gold = ~np.isnan(gold)
    result = williams_matrix(metrics, gold)
    assert_allclose(result.pvalue, williams_matrix(metrics[:, has_gold], gold[has_gold]).pvalue)
    assert result.n == 48


def test_the_false_positive_rate_is_close_to_alpha() -> None:
    rng = np.random.default_rng(5)
    pvalues = []
    for _ in range(1500):
        gold = rng.normal(size=30)
        pvalues.append(williams_matrix(gold + rng.normal(size=(2, 30)), gold).pvalue[0, 1])
    # Binomial sd of 0.05 over 1,500 trials: 0.0056; the test is known to be a little liberal.
    assert 0.03 < np.mean(np.array(pvalues) < 0.05) < 0.075


def test_identical_metrics_do_not_differ() -> None:
    result = williams_test(0.4, 0.4, 1.0, 20)
    assert (result.statistic, result.pvalue) == (0, 0.5)
    metrics, gold = metrics_and_gold(2)
    copies = np.stack([metrics[0], 3 * metrics[0] + 1 / 3])
    assert_allclose(williams_matrix(copies, gold).pvalue[0, 1], 0.5)


@pytest.mark.parametrize("r", [0.9, 0.4, 0.01, 0.0, -0.6])
def test_mirrored_metrics_are_tested_by_the_limit(r: float) -> None:
    result = williams_test(r, -r, -1.0, 200)
    assert_allclose(result.statistic, r * math.sqrt(197 / (1 - r**2)))
    for away in (1e-6, 1e-9, 1e-11):
        near = williams_test(r, -r, -1 + away, 200)
        # Near -1 the distance from it has few digits left.
        assert_allclose(near.statistic, result.statistic, rtol=max(10 * away, 1e-4))


def test_the_mirrored_metric_that_agrees_with_gold_wins() -> None:
    metrics, gold = metrics_and_gold(1)
    result = williams_matrix([metrics[0], -metrics[0]], gold)
    assert result.winners().tolist() == [True, False]
    assert result.pvalue[0, 1] < 1e-6 and result.pvalue[1, 0] > 1 - 1e-6


def test_gold_beats_its_mirror_image_with_certainty() -> None:
    result = williams_test(1.0, -1.0, -1.0, 20)
    assert (result.statistic, result.pvalue) == (math.inf, 0)


@pytest.mark.parametrize("seed", range(6))
def test_gold_that_is_the_difference_of_two_metrics_is_certain_despite_rounding(
    seed: int,
) -> None:
    metrics = np.random.default_rng(seed).normal(size=(2, 50))
    metrics -= metrics.mean(axis=1, keepdims=True)
    metrics /= np.linalg.norm(metrics, axis=1, keepdims=True)
    result = williams_matrix(metrics, metrics[0] - metrics[1])
    assert (result.statistic[0, 1], result.statistic[1, 0]) == (math.inf, -math.inf)
    assert (result.pvalue[0, 1], result.pvalue[1, 0]) == (0, 1)
    assert result.winners().tolist() == [True, False]


@pytest.mark.parametrize("seed", range(6))
def test_gold_that_is_the_sum_of_two_metrics_favours_neither(seed: int) -> None:
    rng = np.random.default_rng(seed)
    first = rng.normal(size=50)
    for noise in (1, 1e-1, 1e-2):
        metrics = np.stack([first, first + noise * rng.normal(size=50)])
        metrics -= metrics.mean(axis=1, keepdims=True)
        metrics /= np.linalg.norm(metrics, axis=1, keepdims=True)
        result = williams_matrix(metrics, metrics.sum(axis=0))
        assert_allclose(result.pvalue[0, 1], 0.5, atol=1e-3)


def test_a_perfect_metric_beats_a_good_one() -> None:
    assert williams_test(1.0, 0.5, 0.5, 100).pvalue < 1e-6


def test_a_constant_metric_neither_wins_nor_loses() -> None:
    metrics, gold = metrics_and_gold(3)
    metrics[1] = 7
    result = williams_matrix(metrics, gold)
    assert math.isnan(result.estimates[1])
    assert np.isnan(result.pvalue[1]).all() and np.isnan(result.pvalue[:, 1]).all()
    assert not result.winners()[1]


def test_winners_are_metrics_that_none_outperforms() -> None:
    metrics, gold = metrics_and_gold(4, n=400)
    result = williams_matrix(metrics, gold)
    assert result.winners().tolist() == [True, False, False, False]
    # No metric is outperformed if nothing is significant.
    assert result.winners(alpha=1e-300).all()


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ((1.1, 0.5, 0.5, 10), "`r13`"),
        ((0.5, math.nan, 0.5, 10), "`r23`"),
        ((0.5, 0.5, -2, 10), "`r12`"),
        ((0.5, 0.5, 0.5, 3), "`n`"),
        ((0.9, 0.1, 1.0, 10), "cannot be correlations"),
    ],
)
def test_impossible_correlations_are_refused(arguments: tuple, name: str) -> None:
    with pytest.raises(ValueError, match=name):
        williams_test(*arguments)


def test_the_matrix_refuses_bad_shapes() -> None:
    metrics, gold = metrics_and_gold()
    with pytest.raises(ValueError, match="`metrics`"):
        williams_matrix(metrics[:, 1:], gold)
    with pytest.raises(ValueError, match="`gold` has 3"):
        williams_matrix(metrics[:, :3], gold[:3])
    with pytest.raises(ValueError, match="`higher_is_better`"):
        williams_matrix(metrics, gold, higher_is_better=[True, False])
