import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose
from scipy import stats

from analysis.stats._pearson import pearson
from analysis.stats.correlation import (
    correlate,
    correlate_by_system,
    correlate_extremes,
    correlate_systems,
    fisher_interval,
    pearson_of_each,
    system_means,
)

METHODS = ["pearson", "spearman", "kendall_b", "kendall_c"]

# Whole numbers make ties likely and arithmetic exact.
whole_scores = arrays(np.float64, st.integers(5, 30), elements=st.integers(-20, 20).map(float))


def noisy(n: int = 60, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    gold = rng.normal(size=n)
    return gold + rng.normal(size=n), gold


def test_pearson_by_hand() -> None:
    # Deviations (-2, -1, 0, 1, 2) and (-1, -2, 0, 2, 1): 8 / sqrt(10 * 10)
    result = correlate([1, 2, 3, 4, 5], [2, 1, 3, 5, 4])
    assert_allclose(result.estimate, 0.8)
    assert result.n == 5


@pytest.mark.parametrize("method", METHODS)
def test_coefficients_match_scipy_with_ties(method: str) -> None:
    metric, gold = (np.round(scores, 1) for scores in noisy())
    expected = {
        "pearson": stats.pearsonr(metric, gold).statistic,
        "spearman": stats.spearmanr(metric, gold).statistic,
        "kendall_b": stats.kendalltau(metric, gold, variant="b").statistic,
        "kendall_c": stats.kendalltau(metric, gold, variant="c").statistic,
    }
    assert_allclose(correlate(metric, gold, method=method).estimate, expected[method])  # type: ignore[arg-type]


def test_the_fisher_interval_matches_scipy() -> None:
    metric, gold = noisy()
    result = correlate(metric, gold, confidence=0.9)
    expected = stats.pearsonr(metric, gold).confidence_interval(0.9)
    assert_allclose((result.low, result.high), (expected.low, expected.high))


def test_the_fisher_interval_of_ranks_is_wider_than_that_of_scores() -> None:
    pearson, spearman, kendall = (fisher_interval(0.5, 40, method=m) for m in METHODS[:3])  # type: ignore[arg-type]
    assert spearman[0] < pearson[0] < 0.5 < pearson[1] < spearman[1]
    # sqrt(0.437 / 36) by hand: atanh(0.5) = 0.549306, reach 1.959964 * 0.110177
    assert_allclose(
        kendall, (math.tanh(0.549306 - 0.215943), math.tanh(0.549306 + 0.215943)), rtol=1e-5
    )


@pytest.mark.parametrize("method", METHODS)
def test_the_bootstrap_interval_is_near_the_fisher_interval(method: str) -> None:
    metric, gold = noisy(n=150)
    fisher = correlate(metric, gold, method=method)  # type: ignore[arg-type]
    rng = np.random.default_rng(2)
    bootstrap = correlate(metric, gold, method=method, rng=rng, n_resamples=300)  # type: ignore[arg-type]
    assert bootstrap.estimate == fisher.estimate
    assert bootstrap.low < bootstrap.estimate < bootstrap.high
    # Two different approximations of the same interval.
    assert_allclose((bootstrap.low, bootstrap.high), (fisher.low, fisher.high), atol=0.1)


def test_the_bootstrap_repeats_with_its_seed() -> None:
    metric, gold = noisy()
    once, again = (correlate(metric, gold, rng=np.random.default_rng(7)) for _ in range(2))
    assert once == again


def test_the_sign_of_a_lower_is_better_metric_is_reversed() -> None:
    metric, gold = noisy()
    error_rate = correlate(-metric, gold, higher_is_better=False)
    assert_allclose(error_rate.estimate, correlate(metric, gold).estimate)
    assert "metric:lower" in error_rate.signature


@given(whole_scores, st.randoms(use_true_random=False))
@pytest.mark.parametrize("method", METHODS)
def test_row_order_never_matters(method: str, gold: np.ndarray, random) -> None:  # type: ignore[no-untyped-def]
    metric = np.arange(len(gold)) % 7.0
    order = list(range(len(gold)))
    random.shuffle(order)
    straight, shuffled = (
        correlate(metric[rows], gold[rows], method=method).estimate  # type: ignore[arg-type]
        for rows in (slice(None), order)
    )
    assert_allclose(straight, shuffled, atol=1e-12)


@given(whole_scores, st.floats(0.01, 100), st.floats(-100, 100))
def test_pearson_ignores_the_scale_of_a_metric(
    gold: np.ndarray, factor: float, shift: float
) -> None:
    metric = np.arange(len(gold)) ** 2.0
    rescaled = correlate(factor * metric + shift, gold).estimate
    assert_allclose(rescaled, correlate(metric, gold).estimate, atol=1e-9)


@given(whole_scores)
@pytest.mark.parametrize("method", METHODS[1:])
def test_rank_correlations_ignore_any_monotone_change(method: str, gold: np.ndarray) -> None:
    metric = np.arange(len(gold)) % 5.0
    bent = correlate(np.exp(metric), gold, method=method).estimate  # type: ignore[arg-type]
    assert_allclose(bent, correlate(metric, gold, method=method).estimate, atol=1e-12)  # type: ignore[arg-type]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("rng", [None, np.random.default_rng(1)])
def test_constant_scores_have_no_correlation(method: str, rng: np.random.Generator | None) -> None:
    for metric, gold in (([1, 1, 1, 1, 1], [1, 2, 3, 4, 5]), ([1, 2, 3, 4, 5], [1, 1, 1, 1, 1])):
        result = correlate(metric, gold, method=method, rng=rng, n_resamples=5)  # type: ignore[arg-type]
        assert np.isnan([result.estimate, result.low, result.high]).all()
        assert result.n == 5


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_very_small_and_very_large_scores_can_be_correlated(scale: float) -> None:
    assert_allclose(correlate(np.array([1, 2, 3, 4, 5]) * scale, [2, 1, 3, 5, 4]).estimate, 0.8)


def test_segments_without_gold_are_left_out() -> None:
    result = correlate([1, 2, 3, 4, 5, 99], [2, 1, 3, 5, 4, np.nan])
    assert_allclose(result.estimate, 0.8)
    assert result.n == 5


def test_a_metric_may_lack_a_score_only_where_gold_does() -> None:
    assert correlate([1, 2, np.nan, 4], [1, 2, np.nan, 3]).n == 3
    with pytest.raises(ValueError, match="`metric` has 1 missing"):
        correlate([1, 2, np.nan, 4], [1, 2, 3, 3])


def test_a_perfect_correlation_has_a_zero_width_interval() -> None:
    result = correlate([1, 2, 3, 4], [2, 4, 6, 8])
    assert (result.estimate, result.low, result.high) == (1.0, 1.0, 1.0)


def test_three_segments_are_too_few_for_an_interval() -> None:
    result = correlate([1, 2, 4], [1, 3, 2])
    assert not math.isnan(result.estimate)
    assert math.isnan(result.low) and math.isnan(result.high)


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"metric": [1, 2], "gold": [1, 2, 3]}, "`metric`"),
        ({"metric": [[1, 2]], "gold": [1, 2]}, "`metric`"),
        ({"metric": [1, 2], "gold": [1, np.nan]}, "`gold`"),
        ({"metric": [1, 2], "gold": [1, np.inf]}, "`gold`"),
        ({"metric": [1, 2, 3], "gold": [1, 2, 3], "method": "tau"}, "`method`"),
        ({"metric": [1, 2, 3], "gold": [1, 2, 3], "confidence": 95}, "`confidence`"),
    ],
)
def test_a_refusal_names_the_parameter(arguments: dict, name: str) -> None:
    with pytest.raises(ValueError, match=name):
        correlate(**arguments)


def test_the_average_over_systems_is_the_mean_of_separate_correlations() -> None:
    metric, gold = noisy(90)
    systems = np.repeat(["c", "a", "b"], 30)
    average = correlate_by_system(metric, gold, systems)
    apart = [correlate(metric[systems == s], gold[systems == s]).estimate for s in "abc"]
    assert average.groups == ("a", "b", "c")
    assert_allclose(average.estimates, apart)
    assert_allclose(average.estimate, np.mean(apart))
    assert math.isnan(average.low)


def test_the_average_over_systems_can_be_bootstrapped() -> None:
    metric, gold = noisy(90)
    systems, segments = np.repeat([1, 2, 3], 30), np.tile(np.arange(30), 3)
    for method in ("pearson", "spearman", "kendall_b"):
        average = correlate_by_system(
            metric,
            gold,
            systems,
            segments=segments,
            method=method,  # type: ignore[arg-type]
            rng=np.random.default_rng(0),
            n_resamples=200,
        )
        assert average.low < average.estimate < average.high
        assert "bootstrap,200" in average.signature


def test_without_segments_the_average_over_systems_has_no_interval() -> None:
    systems = np.repeat([1, 2, 3], 30)
    average = correlate_by_system(*noisy(90), systems, rng=np.random.default_rng(0))
    assert math.isnan(average.low) and math.isnan(average.high)
    assert "bootstrap" not in average.signature


def test_the_interval_of_the_average_covers_the_truth_when_systems_share_segments() -> None:
    rng, n, k = np.random.default_rng(0), 100, 6
    systems, segments = np.repeat(np.arange(k), n), np.tile(np.arange(n), k)
    # Scores depend mostly on the segment; each system adds a little noise.
    truth = 1 / math.sqrt(1.01 * 2.01)
    n_covered = 0
    for _ in range(200):
        shared = rng.normal(size=n)
        gold = np.tile(shared, k) + 0.1 * rng.normal(size=n * k)
        metric = np.tile(shared + rng.normal(size=n), k) + 0.1 * rng.normal(size=n * k)
        average = correlate_by_system(
            metric, gold, systems, segments=segments, rng=rng, n_resamples=200
        )
        n_covered += average.low <= truth <= average.high
    # 95 % expected; percentile intervals of 100 segments fall a little short. Within four standard errors.
    assert 0.88 < n_covered / 200 <= 1


def test_systems_are_independent_when_they_share_no_segments() -> None:
    metric, gold = noisy(300)
    systems = np.repeat([1, 2, 3], 100)
    separate, shared = (
        correlate_by_system(
            np.tile(metric[:100], 3),
            np.tile(gold[:100], 3),
            systems,
            segments=segments,
            rng=np.random.default_rng(1),
        )
        for segments in (np.arange(300), np.tile(np.arange(100), 3))
    )
    # Three copies of a system contain no more information than one.
    single = correlate(metric[:100], gold[:100], rng=np.random.default_rng(1))
    assert_allclose([shared.low, shared.high], [single.low, single.high], atol=0.03)
    assert separate.high - separate.low < 0.8 * (shared.high - shared.low)


def test_a_system_without_a_correlation_is_left_out_of_the_average() -> None:
    average = correlate_by_system(
        [1, 2, 3, 5, 5, 5, 9], [1, 3, 2, 1, 2, 3, np.nan], list("aaabbbc")
    )
    assert (average.n_groups, average.n) == (1, 3)
    assert_allclose(average.estimate, 0.5)
    assert math.isnan(average.estimates[1])


def test_systems_and_segments_must_match_the_scores() -> None:
    with pytest.raises(ValueError, match="`systems`"):
        correlate_by_system([1, 2, 3], [1, 2, 3], ["a", "b"])
    with pytest.raises(ValueError, match="`segments`"):
        correlate_by_system(
            [1, 2, 3], [1, 2, 3], list("aab"), segments=[1, 2], rng=np.random.default_rng(0)
        )


def test_the_best_and_worst_fifth_are_chosen_by_gold() -> None:
    metric, gold = noisy(100)
    rows = np.argsort(gold)
    best, worst = (correlate_extremes(metric, gold, end=end) for end in ("best", "worst"))  # type: ignore[arg-type]
    assert_allclose(best.estimate, correlate(metric[rows[-20:]], gold[rows[-20:]]).estimate)
    assert_allclose(worst.estimate, correlate(metric[rows[:20]], gold[rows[:20]]).estimate)
    assert "level:best,0.2" in best.signature


def test_ties_at_the_border_are_all_included() -> None:
    gold = [5, 4, 4, 4, 1, 1, 1, 1, 1, 1]
    assert correlate_extremes(range(10), gold, end="best").n == 4


@pytest.mark.parametrize(("argument", "value"), [("end", "top"), ("share", 0)])
def test_extremes_refuse_unknown_arguments(argument: str, value: object) -> None:
    arguments = {"end": "best", argument: value}
    with pytest.raises(ValueError, match=f"`{argument}`"):
        correlate_extremes([1, 2, 3], [1, 2, 3], **arguments)  # type: ignore[arg-type]


def test_system_level_correlates_means() -> None:
    gold = np.array([[1, 2, np.nan], [3, 3, 3], [9, np.nan, 7]])
    metric = np.array([[1, 1, 1], [2, 3, 4], [5, 5, 8]])
    assert_allclose(system_means(gold), [1.5, 3, 8])
    result = correlate_systems(metric, gold)
    assert_allclose(result.estimate, stats.pearsonr([1, 3, 6], [1.5, 3, 8]).statistic)
    assert (result.n, "level:system" in result.signature) == (3, True)


def test_a_system_without_any_gold_is_refused() -> None:
    with pytest.raises(ValueError, match=r"`scores` .* \[1\]"):
        system_means([[1, 2], [np.nan, np.nan]])


def test_many_metrics_at_once_correlate_as_they_do_alone():
    rng = np.random.default_rng(3)
    gold = rng.normal(size=40)
    gold[5] = np.nan
    metrics = np.concatenate([rng.normal(size=(3, 40)), np.ones((1, 40))])
    flags = [True, False, True, True]
    together = pearson_of_each(metrics, gold, higher_is_better=flags)
    alone = [
        correlate(scores, gold, higher_is_better=flag).estimate
        for scores, flag in zip(metrics, flags, strict=True)
    ]
    assert_allclose(together, alone, rtol=0, atol=1e-12)
    assert np.isnan(together[3])
    assert np.isnan(pearson_of_each(metrics, np.ones(40))).all()


def test_scores_that_differ_only_by_rounding_count_as_constant() -> None:
    nearly_equal = [0.1 + 0.2, 0.3, 0.3, 0.1 + 0.2, 0.3]
    gold = [1.0, 2.0, 5.0, 3.0, 4.0]
    for method in ("pearson", "spearman", "kendall_b"):
        assert math.isnan(correlate(nearly_equal, gold, method=method).estimate)  # type: ignore[arg-type]
    assert math.isnan(pearson(np.array(nearly_equal), np.array(gold)))
    assert np.isnan(pearson_of_each([nearly_equal, gold], gold)[0])
    assert math.isnan(correlate([0.1] * 10, range(10)).estimate)
    assert not math.isnan(correlate(1e-9 * np.array(gold) + 1, gold).estimate)
