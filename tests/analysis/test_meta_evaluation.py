import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose
from scipy import stats

from analysis.stats.meta_evaluation import (
    compare_tie_accuracies,
    pairwise_system_accuracy,
    tie_accuracies,
    tie_accuracy,
)

# Few values, many ties; NaN where gold is missing.
score_tables = arrays(np.float64, (4, 5), elements=st.integers(0, 6).map(float))
gold_tables = arrays(
    np.float64, (4, 5), elements=st.one_of(st.integers(0, 3).map(float), st.just(np.nan))
).filter(lambda gold: (~np.isnan(gold)).sum(axis=0).max() >= 2)


def rng(seed: int = 12) -> np.random.Generator:
    return np.random.default_rng(seed)


def plain_accuracy(metric: np.ndarray, gold: np.ndarray, epsilon: float) -> float:
    """Return acc_eq, computed pair by pair."""
    by_segment = []
    for scores, truth in zip(metric.T, gold.T, strict=True):
        right = []
        for i, j in itertools.combinations(range(len(scores)), 2):
            if not (math.isnan(truth[i]) or math.isnan(truth[j])):
                tied = abs(scores[i] - scores[j]) <= epsilon
                decision = 0 if tied else np.sign(scores[i] - scores[j])
                right.append(decision == np.sign(truth[i] - truth[j]))
        if right:
            by_segment.append(np.mean(right))
    return float(np.mean(by_segment))


def plain_calibration(metric: np.ndarray, gold: np.ndarray) -> tuple[float, float]:
    """Return the best accuracy and its smallest threshold by trying all of them."""
    pairs = itertools.combinations(range(len(metric)), 2)
    thresholds = sorted({0.0, *np.abs([metric[i] - metric[j] for i, j in pairs]).ravel()})
    accuracies = [plain_accuracy(metric, gold, epsilon) for epsilon in thresholds]
    best = max(accuracies)
    return best, next(e for e, a in zip(thresholds, accuracies, strict=True) if a >= best - 1e-12)


def test_system_accuracy_by_hand() -> None:
    # Pairs 01 right, 02 right, 12 wrong.
    result = pairwise_system_accuracy([1, 5, 4], [1, 2, 3])
    assert_allclose(result.estimate, 2 / 3)
    assert result.n == 3
    expected = stats.binomtest(2, 3).proportion_ci(0.95, method="exact")
    assert_allclose((result.low, result.high), (expected.low, expected.high))


def test_a_tie_between_systems_is_right_only_if_both_tie() -> None:
    assert pairwise_system_accuracy([1, 1], [2, 2]).estimate == 1
    assert pairwise_system_accuracy([1, 1], [2, 3]).estimate == 0
    assert pairwise_system_accuracy([1, 2], [2, 2]).estimate == 0


def test_system_accuracy_is_kendall_without_ties() -> None:
    metric, gold = rng().normal(size=(2, 15))
    tau = stats.kendalltau(metric, gold).statistic
    assert_allclose(pairwise_system_accuracy(metric, gold).estimate, (tau + 1) / 2)
    turned = pairwise_system_accuracy(-metric, gold, higher_is_better=False)
    assert_allclose(turned.estimate, (tau + 1) / 2)


def test_systems_without_gold_are_left_out_and_one_is_too_few() -> None:
    assert pairwise_system_accuracy([1, 2, 3], [1, 2, np.nan]).n == 1
    with pytest.raises(ValueError, match="`gold` has 1"):
        pairwise_system_accuracy([1, 2], [1, np.nan])


def test_tie_calibration_by_hand() -> None:
    # One segment, gold ties 0 and 1. Metric differences 1 (01), 3 (02), 2 (12).
    # Threshold 0: 2 of 3 right. Threshold 1: the tie is right too. Threshold 2: one is lost.
    metric, gold = [[1.0], [2.0], [4.0]], [[5.0], [5.0], [9.0]]
    result = tie_accuracy(metric, gold)
    assert (result.estimate, result.epsilon, result.n, result.n_pairs) == (1, 1, 1, 3)
    assert_allclose(tie_accuracy(metric, gold, epsilon=0).estimate, 2 / 3)
    assert_allclose(tie_accuracy(metric, gold, epsilon=2).estimate, 2 / 3)
    assert_allclose(tie_accuracy(metric, gold, epsilon=3).estimate, 1 / 3)


@given(score_tables, gold_tables)
def test_calibration_finds_the_best_of_all_thresholds(metric: np.ndarray, gold: np.ndarray) -> None:
    result = tie_accuracy(metric, gold)
    best, epsilon = plain_calibration(metric, gold)
    assert_allclose(result.estimate, best)
    assert result.epsilon == epsilon
    assert_allclose(np.nanmean(result.by_segment), best)


@given(score_tables, gold_tables, st.permutations(range(4)), st.permutations(range(5)))
def test_the_order_of_systems_and_segments_never_matters(
    metric: np.ndarray, gold: np.ndarray, systems: list[int], segments: list[int]
) -> None:
    straight = tie_accuracy(metric, gold)
    shuffled = tie_accuracy(metric[systems][:, segments], gold[systems][:, segments])
    assert_allclose(shuffled.estimate, straight.estimate)
    assert shuffled.epsilon == straight.epsilon


@given(score_tables, gold_tables)
def test_a_scale_that_keeps_differences_in_order_keeps_the_accuracy(
    metric: np.ndarray, gold: np.ndarray
) -> None:
    straight = tie_accuracy(metric, gold)
    rescaled = tie_accuracy(4 * metric - 3, np.exp(gold))
    assert_allclose(rescaled.estimate, straight.estimate)
    assert rescaled.epsilon == 4 * straight.epsilon
    turned = tie_accuracy(-metric, gold, higher_is_better=False)
    assert (turned.estimate, turned.epsilon) == (straight.estimate, straight.epsilon)


def test_many_metrics_are_measured_as_they_are_alone() -> None:
    generator = rng()
    metrics, gold = generator.normal(size=(3, 5, 20)), generator.integers(0, 3, size=(5, 20))
    together = tie_accuracies(metrics, gold)
    for metric, result in zip(metrics, together, strict=True):
        alone = tie_accuracy(metric, gold)
        assert (result.estimate, result.epsilon) == (alone.estimate, alone.epsilon)


def test_the_interval_is_a_t_interval_over_segments() -> None:
    generator = rng()
    result = tie_accuracy(generator.normal(size=(4, 50)), generator.integers(0, 3, size=(4, 50)))
    expected = stats.ttest_1samp(result.by_segment, 0).confidence_interval()
    assert_allclose((result.low, result.high), (expected.low, expected.high))


def test_a_constant_metric_is_right_only_about_ties() -> None:
    result = tie_accuracy(np.ones((3, 1)), [[1.0], [1.0], [2.0]])
    assert_allclose((result.estimate, result.epsilon), (1 / 3, 0))
    assert math.isnan(result.low)


def test_a_segment_without_a_pair_is_left_out() -> None:
    result = tie_accuracy([[1, 5], [2, 6]], [[1, 3], [2, np.nan]])
    assert (result.estimate, result.n) == (1, 1)
    assert math.isnan(result.by_segment[1])


def test_comparing_accuracies_finds_the_better_metric() -> None:
    generator = rng()
    gold = generator.integers(0, 5, size=(6, 150)).astype(float)
    noise = generator.normal(size=(3, 6, 150)) * np.array([0.5, 0.5, 4])[:, None, None]
    result = compare_tie_accuracies(gold + noise, gold, rng=rng())
    assert result.pvalue[0, 2] < 0.01 and result.pvalue[1, 2] < 0.01 and result.pvalue[2, 0] > 0.99
    assert result.winners().tolist() == [True, True, False]
    assert_allclose(
        result.estimates, [accuracy.estimate for accuracy in tie_accuracies(gold + noise, gold)]
    )


def test_comparing_accuracies_matches_the_exact_test_of_a_small_set() -> None:
    generator = rng()
    gold = generator.integers(0, 4, size=(4, 10)).astype(float)
    metrics = gold + generator.normal(size=(2, 4, 10)) * np.array([1, 2])[:, None, None]
    first, second = (accuracy.by_segment for accuracy in tie_accuracies(metrics, gold))
    exact = stats.permutation_test(
        (first, second),
        lambda a, b, axis: np.mean(a - b, axis=axis),
        permutation_type="samples",
        alternative="greater",
        n_resamples=np.inf,
    ).pvalue
    result = compare_tie_accuracies(metrics, gold, rng=rng(), n_resamples=20_000)
    assert_allclose(result.pvalue[0, 1], exact, atol=0.012)


def test_identical_metrics_do_not_differ() -> None:
    generator = rng()
    metric, gold = generator.normal(size=(4, 20)), generator.integers(0, 3, size=(4, 20))
    result = compare_tie_accuracies(np.stack([metric, metric]), gold, rng=rng())
    assert_allclose(result.pvalue[[0, 1], [1, 0]], 1)


def test_refusals_name_the_parameter() -> None:
    with pytest.raises(ValueError, match="`metric` has shape"):
        tie_accuracy([[1, 2]], [[1, 2], [3, 4]])
    with pytest.raises(ValueError, match="`metric` has 1 missing"):
        tie_accuracy([[1], [np.nan]], [[1], [3]])
    with pytest.raises(ValueError, match="`gold` has no segment with two scores"):
        tie_accuracy([[1], [2]], [[1], [np.nan]])
    with pytest.raises(ValueError, match="`epsilons`"):
        tie_accuracy([[1], [2]], [[1], [2]], epsilon=-1)
