import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats

from analysis.stats.resampling import swap_masks
from analysis.stats.significance import (
    binomial_interval,
    bootstrap_matrix,
    permutation_matrix,
    winners,
)

TESTS = [permutation_matrix, bootstrap_matrix]


def metrics_and_gold(
    n_metrics: int = 3, n: int = 40, seed: int = 4
) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    gold = rng.normal(size=n)
    return gold + rng.normal(size=(n_metrics, n)) * np.linspace(0.5, 2, n_metrics)[:, None], gold


def rng(seed: int = 9) -> np.random.Generator:
    return np.random.default_rng(seed)


def difference_in_r(first: np.ndarray, second: np.ndarray, gold: np.ndarray) -> float:
    return float(np.corrcoef(first, gold)[0, 1] - np.corrcoef(second, gold)[0, 1])


def test_permutations_of_all_pairs_match_a_plain_loop() -> None:
    metrics, gold = metrics_and_gold()
    result = permutation_matrix(metrics, gold, rng=rng(), n_resamples=200)
    masks = np.concatenate(list(swap_masks(40, 200, rng()))).astype(bool)
    standard = stats.zscore(metrics, axis=1)
    for i, j in itertools.permutations(range(3), 2):
        observed = difference_in_r(standard[i], standard[j], gold)
        as_large = 0
        for mask in masks:
            first = np.where(mask, standard[j], standard[i])
            second = np.where(mask, standard[i], standard[j])
            as_large += difference_in_r(first, second, gold) >= observed - 1e-12
        assert_allclose(result.pvalue[i, j], (as_large + 1) / 201)
        assert_allclose(result.difference[i, j], observed)


def test_permutations_match_the_exact_test_of_a_small_set() -> None:
    metrics, gold = metrics_and_gold(2, n=10)
    standard = stats.zscore(metrics, axis=1)
    exact = stats.permutation_test(
        (standard[0], standard[1]),
        lambda a, b: difference_in_r(a, b, gold),
        permutation_type="samples",
        alternative="greater",
        vectorized=False,
        n_resamples=np.inf,
    ).pvalue
    pvalue = permutation_matrix(metrics, gold, rng=rng(), n_resamples=20_000).pvalue[0, 1]
    # Monte-Carlo sd of a share near 0.1 over 20,000 permutations: 0.002
    assert_allclose(pvalue, exact, atol=0.01)


def test_the_bootstrap_matches_scipy() -> None:
    metrics, gold = metrics_and_gold(2, n=80)
    expected = stats.bootstrap(
        (metrics[0], metrics[1], gold),
        lambda a, b, g: difference_in_r(a, b, g),
        paired=True,
        vectorized=False,
        method="percentile",
        n_resamples=2000,
        rng=rng(),
    ).confidence_interval
    result = bootstrap_matrix(metrics, gold, rng=rng(), n_resamples=4000)
    assert result.low is not None and result.high is not None
    # Two sets of random resamples.
    assert_allclose((result.low[0, 1], result.high[0, 1]), (expected.low, expected.high), atol=0.02)
    assert_allclose((result.low[1, 0], result.high[1, 0]), (-result.high[0, 1], -result.low[0, 1]))


@pytest.mark.parametrize("test", TESTS)
def test_a_better_metric_wins(test) -> None:  # type: ignore[no-untyped-def]
    metrics, gold = metrics_and_gold(n=300)
    result = test(metrics, gold, rng=rng())
    assert result.pvalue[0, 2] < 0.01 < 0.9 < result.pvalue[2, 0]
    assert result.winners().tolist() == [True, False, False]
    assert np.isnan(np.diag(result.pvalue)).all()


@given(st.permutations(range(3)))
@pytest.mark.parametrize("test", TESTS)
def test_reordering_the_metrics_reorders_the_matrix(test, order: list[int]) -> None:  # type: ignore[no-untyped-def]
    metrics, gold = metrics_and_gold()
    straight = test(metrics, gold, rng=rng(), n_resamples=100)
    reordered = test(metrics[order], gold, rng=rng(), n_resamples=100)
    assert_allclose(reordered.pvalue, straight.pvalue[np.ix_(order, order)])


@given(st.floats(0.1, 50), st.floats(-50, 50))
@pytest.mark.parametrize("test", TESTS)
def test_the_scale_of_a_metric_does_not_matter(test, factor: float, shift: float) -> None:  # type: ignore[no-untyped-def]
    metrics, gold = metrics_and_gold()
    rescaled = metrics.copy()
    rescaled[1] = factor * rescaled[1] + shift
    straight, changed = (test(m, gold, rng=rng(), n_resamples=100) for m in (metrics, rescaled))
    assert_allclose(changed.pvalue, straight.pvalue)


@pytest.mark.parametrize("test", TESTS)
def test_the_sign_of_a_lower_is_better_metric_is_reversed(test) -> None:  # type: ignore[no-untyped-def]
    metrics, gold = metrics_and_gold()
    turned = metrics * np.array([1, -1, 1])[:, None]
    result = test(turned, gold, rng=rng(), higher_is_better=[True, False, True])
    assert_allclose(result.pvalue, test(metrics, gold, rng=rng()).pvalue)
    assert result.higher_is_better == (True, False, True)


@pytest.mark.parametrize("test", TESTS)
def test_segments_without_gold_are_left_out(test) -> None:  # type: ignore[no-untyped-def]
    metrics, gold = metrics_and_gold()
    gold[5] = np.nan
    result = test(metrics, gold, rng=rng())
    assert result.n == 39
    assert_allclose(
        result.pvalue, test(np.delete(metrics, 5, 1), np.delete(gold, 5), rng=rng()).pvalue
    )


@pytest.mark.parametrize("test", TESTS)
def test_identical_metrics_never_differ(test) -> None:  # type: ignore[no-untyped-def]
    metrics, gold = metrics_and_gold(1)
    copies = np.vstack([metrics, 2 * metrics + 0.1])
    assert_allclose(test(copies, gold, rng=rng()).pvalue[[0, 1], [1, 0]], 1)


@pytest.mark.parametrize("test", TESTS)
def test_a_constant_metric_is_not_compared(test) -> None:  # type: ignore[no-untyped-def]
    metrics, gold = metrics_and_gold()
    metrics[2] = 0.1
    result = test(metrics, gold, rng=rng(), n_resamples=50)
    assert np.isnan(result.pvalue[2]).all() and np.isnan(result.pvalue[:, 2]).all()
    assert result.pvalue[0, 1] <= 1
    assert not result.winners()[2]


@pytest.mark.parametrize("test", TESTS)
def test_constant_gold_compares_nothing(test) -> None:  # type: ignore[no-untyped-def]
    metrics, gold = metrics_and_gold()
    result = test(metrics, np.ones_like(gold), rng=rng(), n_resamples=50)
    assert np.isnan(result.estimates).all() and np.isnan(result.pvalue).all()


def test_permutation_p_values_are_uniform_when_nothing_differs() -> None:
    generator = rng()
    pvalues = []
    for _ in range(400):
        gold = generator.normal(size=40)
        metrics = gold + generator.normal(size=(2, 40))
        result = permutation_matrix(metrics, gold, rng=generator, n_resamples=199)
        pvalues.append(result.pvalue[0, 1])
    assert stats.kstest(pvalues, "uniform").pvalue > 0.001


@pytest.mark.parametrize("test", TESTS)
def test_two_segments_are_too_few(test) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match="`gold` has 2"):
        test([[1, 2], [2, 1]], [1, 2], rng=rng())


@given(st.integers(1, 200), st.integers(0, 200))
def test_the_binomial_interval_matches_scipy(n: int, successes: int) -> None:
    successes = min(successes, n)
    expected = stats.binomtest(successes, n).proportion_ci(0.95, method="exact")
    assert_allclose(binomial_interval(successes, n), (expected.low, expected.high), atol=1e-12)


def test_the_binomial_interval_at_its_limits() -> None:
    assert binomial_interval(0, 10)[0] == 0
    # 1 - 0.025 ** (1 / 10)
    assert_allclose(binomial_interval(0, 10)[1], 1 - 0.025**0.1)
    assert binomial_interval(10, 10)[1] == 1


@pytest.mark.parametrize(("successes", "n", "name"), [(1, 0, "`n`"), (5, 4, "`successes`")])
def test_impossible_proportions_are_refused(successes: int, n: int, name: str) -> None:
    with pytest.raises(ValueError, match=name):
        binomial_interval(successes, n)


def test_winners_by_hand() -> None:
    pvalue = [[math.nan, 0.2, 0.01], [0.8, math.nan, 0.3], [0.99, 0.7, math.nan]]
    # The second loses to no metric, though it beats none either.
    assert winners(pvalue, [0.6, 0.5, 0.3]).tolist() == [True, True, False]


def test_winners_refuse_a_matrix_of_another_size() -> None:
    with pytest.raises(ValueError, match="`pvalue`"):
        winners(np.ones((2, 2)), [1, 2, 3])
    with pytest.raises(ValueError, match="`alpha`"):
        winners(np.ones((2, 2)), [1, 2], alpha=5)
