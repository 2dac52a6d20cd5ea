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
    found = correlate([1, 2, 3, 4, 5], [2, 1, 3, 5, 4])
    assert_allclose(found.estimate, 0.8)
    assert found.n == 5


@pytest.mark.parametrize("method", METHODS)
def test_coefficients_are_those_of_scipy_with_ties(method: str) -> None:
    metric, gold = (np.round(scores, 1) for scores in noisy())
    expected = {
        "pearson": stats.pearsonr(metric, gold).statistic,
        "spearman": stats.spearmanr(metric, gold).statistic,
        "kendall_b": stats.kendalltau(metric, gold, variant="b").statistic,
        "kendall_c": stats.kendalltau(metric, gold, variant="c").statistic,
    }
    assert_allclose(correlate(metric, gold, method=method).estimate, expected[method])  # type: ignore[arg-type]


def test_the_fisher_interval_is_that_of_scipy() -> None:
    metric, gold = noisy()
    found = correlate(metric, gold, confidence=0.9)
    expected = stats.pearsonr(metric, gold).confidence_interval(0.9)
    assert_allclose((found.low, found.high), (expected.low, expected.high))


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
    # Two different approximations of one thing.
    assert_allclose((bootstrap.low, bootstrap.high), (fisher.low, fisher.high), atol=0.1)


def test_the_bootstrap_repeats_with_its_seed() -> None:
    metric, gold = noisy()
    once, again = (correlate(metric, gold, rng=np.random.default_rng(7)) for _ in range(2))
    assert once == again


def test_the_sign_of_a_lower_is_better_metric_is_turned() -> None:
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
        found = correlate(metric, gold, method=method, rng=rng, n_resamples=5)  # type: ignore[arg-type]
        assert np.isnan([found.estimate, found.low, found.high]).all()
        assert found.n == 5


def test_constant_scores_are_recognised_despite_rounding() -> None:
    assert math.isnan(correlate([0.1] * 10, range(10)).estimate)


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_very_small_and_very_large_scores_correlate_all_the_same(scale: float) -> None:
    assert_allclose(correlate(np.array([1, 2, 3, 4, 5]) * scale, [2, 1, 3, 5, 4]).estimate, 0.8)


def test_segments_without_gold_are_left_out() -> None:
    found = correlate([1, 2, 3, 4, 5, 99], [2, 1, 3, 5, 4, np.nan])
    assert_allclose(found.estimate, 0.8)
    assert found.n == 5


def test_a_metric_may_lack_a_score_only_where_gold_does() -> None:
    assert correlate([1, 2, np.nan, 4], [1, 2, np.nan, 3]).n == 3
    with pytest.raises(ValueError, match="`metric` has 1 missing"):
        correlate([1, 2, np.nan, 4], [1, 2, 3, 3])


def test_a_perfect_correlation_has_a_point_for_an_interval() -> None:
    found = correlate([1, 2, 3, 4], [2, 4, 6, 8])
    assert (found.estimate, found.low, found.high) == (1.0, 1.0, 1.0)


def test_three_segments_are_too_few_for_an_interval() -> None:
    found = correlate([1, 2, 4], [1, 3, 2])
    assert not math.isnan(found.estimate)
    assert math.isnan(found.low) and math.isnan(found.high)


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


def test_the_average_over_systems_is_that_of_separate_correlations() -> None:
    metric, gold = noisy(90)
    systems = np.repeat(["c", "a", "b"], 30)
    found = correlate_by_system(metric, gold, systems)
    apart = [correlate(metric[systems == s], gold[systems == s]).estimate for s in "abc"]
    assert found.groups == ("a", "b", "c")
    assert_allclose(found.estimates, apart)
    assert_allclose(found.estimate, np.mean(apart))
    assert math.isnan(found.low)


def test_the_average_over_systems_can_be_bootstrapped() -> None:
    metric, gold = noisy(90)
    systems, segments = np.repeat([1, 2, 3], 30), np.tile(np.arange(30), 3)
    for method in ("pearson", "spearman", "kendall_b"):
        found = correlate_by_system(
            metric,
            gold,
            systems,
            segments=segments,
            method=method,  # type: ignore[arg-type]
            rng=np.random.default_rng(0),
            n_resamples=200,
        )
        assert found.low < found.estimate < found.high
        assert "bootstrap,200" in found.signature


def test_without_segments_the_average_over_systems_has_no_interval() -> None:
    metric, gold = noisy(90)
    found = correlate_by_system(
        metric, gold, np.repeat([1, 2, 3], 30), rng=np.random.default_rng(0)
    )
    assert math.isnan(found.low) and math.isnan(found.high)
    assert "bootstrap" not in found.signature


def test_the_interval_of_the_average_covers_the_truth_though_systems_share_segments() -> None:
    rng, n, k = np.random.default_rng(0), 100, 6
    systems, segments = np.repeat(np.arange(k), n), np.tile(np.arange(n), k)
    # What a segment is like says nearly all; gold and metric of a system add a little of their own.
    truth = 1 / math.sqrt(1.01 * 2.01)
    n_covered = 0
    for _ in range(200):
        shared = rng.normal(size=n)
        gold = np.tile(shared, k) + 0.1 * rng.normal(size=n * k)
        metric = np.tile(shared + rng.normal(size=n), k) + 0.1 * rng.normal(size=n * k)
        found = correlate_by_system(
            metric, gold, systems, segments=segments, rng=rng, n_resamples=200
        )
        n_covered += found.low <= truth <= found.high
    # 95 % of 200, less what percentile intervals of 100 segments fall short of; four standard errors.
    assert 0.88 < n_covered / 200 <= 1


def test_with_a_segment_of_its_own_for_each_row_systems_are_independent() -> None:
    metric, gold = noisy(300)
    systems = np.repeat([1, 2, 3], 100)
    alone, shared = (
        correlate_by_system(
            np.tile(metric[:100], 3),
            np.tile(gold[:100], 3),
            systems,
            segments=segments,
            rng=np.random.default_rng(1),
        )
        for segments in (np.arange(300), np.tile(np.arange(100), 3))
    )
    # Three copies of one system say no more than it does alone.
    one = correlate(metric[:100], gold[:100], rng=np.random.default_rng(1))
    assert_allclose([shared.low, shared.high], [one.low, one.high], atol=0.03)
    assert alone.high - alone.low < 0.8 * (shared.high - shared.low)


def test_a_system_without_a_correlation_is_left_out_of_the_average() -> None:
    found = correlate_by_system([1, 2, 3, 5, 5, 5, 9], [1, 3, 2, 1, 2, 3, np.nan], list("aaabbbc"))
    assert (found.n_groups, found.n) == (1, 3)
    assert_allclose(found.estimate, 0.5)
    assert math.isnan(found.estimates[1])


def test_systems_must_be_as_many_as_scores() -> None:
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


def test_ties_at_the_border_are_all_in() -> None:
    gold = [5, 4, 4, 4, 1, 1, 1, 1, 1, 1]
    assert correlate_extremes(range(10), gold, end="best").n == 4


@pytest.mark.parametrize(("argument", "value"), [("end", "top"), ("share", 0)])
def test_extremes_refuse_what_they_do_not_know(argument: str, value: object) -> None:
    arguments = {"end": "best", argument: value}
    with pytest.raises(ValueError, match=f"`{argument}`"):
        correlate_extremes([1, 2, 3], [1, 2, 3], **arguments)  # type: ignore[arg-type]


def test_system_level_correlates_means() -> None:
    gold = np.array([[1, 2, np.nan], [3, 3, 3], [9, np.nan, 7]])
    metric = np.array([[1, 1, 1], [2, 3, 4], [5, 5, 8]])
    assert_allclose(system_means(gold), [1.5, 3, 8])
    found = correlate_systems(metric, gold)
    assert_allclose(found.estimate, stats.pearsonr([1, 3, 6], [1.5, 3, 8]).statistic)
    assert (found.n, "level:system" in found.signature) == (3, True)


def test_a_system_without_any_gold_is_refused() -> None:
    with pytest.raises(ValueError, match=r"`scores` .* \[1\]"):
        system_means([[1, 2], [np.nan, np.nan]])


def test_many_metrics_at_once_correlate_as_each_alone():
    rng = np.random.default_rng(3)
    gold = rng.normal(size=40)
    gold[5] = np.nan
    metrics = np.concatenate([rng.normal(size=(3, 40)), np.ones((1, 40))])
    flags = [True, False, True, True]
    found = pearson_of_each(metrics, gold, higher_is_better=flags)
    alone = [
        correlate(own, gold, higher_is_better=flag).estimate
        for own, flag in zip(metrics, flags, strict=True)
    ]
    assert_allclose(found, alone, rtol=0, atol=1e-12)
    assert np.isnan(found[3])
    assert np.isnan(pearson_of_each(metrics, np.ones(40))).all()


NEARLY_EQUAL = [0.1 + 0.2, 0.3, 0.3, 0.1 + 0.2, 0.3]


def test_scores_that_differ_by_rounding_alone_never_vary() -> None:
    gold = [1.0, 2.0, 5.0, 3.0, 4.0]
    for method in ("pearson", "spearman", "kendall_b"):
        assert math.isnan(correlate(NEARLY_EQUAL, gold, method=method).estimate)  # type: ignore[arg-type]
    assert math.isnan(pearson(np.array(NEARLY_EQUAL), np.array(gold)))
    assert np.isnan(pearson_of_each([NEARLY_EQUAL, gold], gold)[0])
    assert not math.isnan(correlate(1e-9 * np.array(gold) + 1, gold).estimate)
