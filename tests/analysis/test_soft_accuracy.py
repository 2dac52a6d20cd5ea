import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats

from analysis.stats.resampling import swap_masks
from analysis.stats.soft_accuracy import (
    compare_soft_accuracies,
    soft_pairwise_accuracies,
    soft_pairwise_accuracy,
    system_pvalues,
)


def rng(seed: int = 14) -> np.random.Generator:
    return np.random.default_rng(seed)


def metrics_and_gold(n: int = 80) -> tuple[np.ndarray, np.ndarray]:
    """Return three metrics, each noisier than the last, and gold of five systems."""
    generator = rng(2)
    gold = np.linspace(0, 0.8, 5)[:, None] + generator.normal(size=(5, n))
    noise = generator.normal(size=(3, 5, n)) * np.array([0.5, 1, 6])[:, None, None]
    return gold + noise, gold


def test_system_p_values_match_the_exact_test_of_a_small_set() -> None:
    scores = rng().normal(size=(3, 9))
    pvalues = system_pvalues(scores, rng=rng(), n_resamples=20_000)
    for i, j in ((0, 1), (0, 2), (1, 2)):
        exact = stats.permutation_test(
            (scores[i], scores[j]),
            lambda a, b, axis: np.mean(a - b, axis=axis),
            permutation_type="samples",
            alternative="greater",
            n_resamples=np.inf,
        ).pvalue
        # Mid-p: half of the 1 in 512 arrangements that equals the observed one.
        assert_allclose(pvalues[i, j], exact - 0.5 / 512, atol=0.012)
        assert_allclose(pvalues[j, i], 1 - pvalues[i, j])


def test_equal_systems_have_a_p_value_of_one_half() -> None:
    pvalues = system_pvalues(np.tile(rng().normal(size=20), (2, 1)), rng=rng())
    assert_allclose(pvalues[[0, 1], [1, 0]], 0.5)
    assert np.isnan(np.diag(pvalues)).all()


def test_gold_agrees_with_itself_on_any_scale() -> None:
    _, gold = metrics_and_gold()
    assert soft_pairwise_accuracy(3 * gold + 2, gold, rng=rng()).estimate == 1
    assert soft_pairwise_accuracy(-gold, gold, higher_is_better=False, rng=rng()).estimate == 1


def test_soft_accuracy_is_one_minus_the_mean_distance_of_p_values() -> None:
    metrics, gold = metrics_and_gold()
    metric_pvalues, gold_pvalues = (
        system_pvalues(scores, rng=rng()) for scores in (metrics[2], gold)
    )
    upper = np.triu_indices(5, 1)
    result = soft_pairwise_accuracy(metrics[2], gold, rng=rng())
    assert_allclose(result.estimate, 1 - np.abs(metric_pvalues - gold_pvalues)[upper].mean())
    assert (result.n, result.n_pairs) == (80, 10)


def test_the_reverse_of_gold_has_an_accuracy_of_zero() -> None:
    gold = np.arange(3.0)[:, None] + rng().normal(size=(3, 200)) * 0.1
    assert soft_pairwise_accuracy(-gold, gold, rng=rng()).estimate < 0.01


def test_a_constant_metric_is_half_right_about_clear_differences() -> None:
    gold = np.arange(3.0)[:, None] + rng().normal(size=(3, 200)) * 0.1
    result = soft_pairwise_accuracy(np.ones((3, 200)), gold, rng=rng())
    # p of 0.5 against p of about 0
    assert_allclose(result.estimate, 0.5, atol=0.002)


@settings(max_examples=20)
@given(st.permutations(range(5)))
def test_the_order_of_systems_never_matters(order: list[int]) -> None:
    metrics, gold = metrics_and_gold()
    straight = soft_pairwise_accuracy(metrics[1], gold, rng=rng(), n_resamples=100)
    shuffled = soft_pairwise_accuracy(metrics[1][order], gold[order], rng=rng(), n_resamples=100)
    assert_allclose(shuffled.estimate, straight.estimate)


def test_only_segments_with_gold_for_every_system_count() -> None:
    metrics, gold = metrics_and_gold()
    gold[2, 7] = np.nan
    result = soft_pairwise_accuracy(metrics[0], gold, rng=rng())
    without = soft_pairwise_accuracy(np.delete(metrics[0], 7, 1), np.delete(gold, 7, 1), rng=rng())
    assert result == without
    assert result.n == 79


def test_the_interval_reflects_the_spread_over_new_segments() -> None:
    metrics, gold = metrics_and_gold(400)
    all_segments, *halves = (
        soft_pairwise_accuracies(metrics[..., part], gold[..., part], rng=rng())
        for part in (slice(0, 400), slice(0, 200), slice(200, 400))
    )
    for accuracy, *of_halves in zip(all_segments, *halves, strict=True):
        assert accuracy.low <= accuracy.estimate <= accuracy.high
        # Half the segments spread sqrt(2) wider; three standard errors of each.
        reach = 1.5 * np.sqrt(2) * (accuracy.high - accuracy.low) + 0.01
        assert all(abs(half.estimate - accuracy.estimate) < reach for half in of_halves)


def test_comparing_finds_the_better_metric() -> None:
    metrics, gold = metrics_and_gold(300)
    result = compare_soft_accuracies(metrics, gold, rng=rng(), n_resamples=300)
    assert result.pvalue[0, 2] < 0.05 < 0.9 < result.pvalue[2, 0]
    assert not result.winners()[2]


def test_compared_accuracies_are_close_to_the_permutation_accuracies() -> None:
    metrics, gold = metrics_and_gold(300)
    compared = compare_soft_accuracies(metrics, gold, rng=rng(), n_resamples=10)
    permuted = soft_pairwise_accuracies(metrics, gold, rng=rng())
    # Monte-Carlo error of 1,000 permutations against the normal approximation.
    assert_allclose(compared.estimates, [accuracy.estimate for accuracy in permuted], atol=0.01)


def test_swapping_matches_a_plain_loop() -> None:
    metrics, gold = metrics_and_gold(30)
    metrics = metrics[:2]
    result = compare_soft_accuracies(metrics, gold, rng=rng(), n_resamples=60)
    standard = np.stack([(m - m.mean()) / m.std() for m in metrics])

    def accuracy(scores: np.ndarray) -> float:
        return float(
            compare_soft_accuracies(scores[None], gold, rng=rng(), n_resamples=1).estimates[0]
        )

    as_large = 0
    for mask in np.concatenate(list(swap_masks(30, 60, rng()))).astype(bool):
        first = np.where(mask, standard[1], standard[0])
        second = np.where(mask, standard[0], standard[1])
        as_large += accuracy(first) - accuracy(second) >= result.difference[0, 1] - 1e-9
    assert_allclose(result.pvalue[0, 1], (as_large + 1) / 61)


@settings(max_examples=6)
@given(st.permutations(range(3)))
def test_reordering_the_metrics_reorders_the_matrix(order: list[int]) -> None:
    metrics, gold = metrics_and_gold()
    straight = compare_soft_accuracies(metrics, gold, rng=rng(), n_resamples=50)
    reordered = compare_soft_accuracies(metrics[order], gold, rng=rng(), n_resamples=50)
    assert_allclose(reordered.pvalue, straight.pvalue[np.ix_(order, order)])


def test_identical_metrics_do_not_differ() -> None:
    metrics, gold = metrics_and_gold()
    result = compare_soft_accuracies(metrics[[0, 0]], gold, rng=rng(), n_resamples=50)
    assert_allclose(result.pvalue[[0, 1], [1, 0]], 1)


def test_refusals_name_the_parameter() -> None:
    metrics, gold = metrics_and_gold()
    with pytest.raises(ValueError, match="`gold` has 1 system"):
        soft_pairwise_accuracy(metrics[0][:1], gold[:1], rng=rng())
    with pytest.raises(ValueError, match="`gold` has 0 segment"):
        soft_pairwise_accuracy(metrics[0], np.full_like(gold, np.nan), rng=rng())
    with pytest.raises(ValueError, match="`scores` has 1 system"):
        system_pvalues(gold[:1], rng=rng())
    with pytest.raises(ValueError, match="`scores` has 1 missing"):
        system_pvalues([[1, 2], [np.nan, 3]], rng=rng())
