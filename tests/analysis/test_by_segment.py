"""Correlations with segments as the unit."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from analysis.stats import by_segment
from analysis.stats._ranks import Ranks, concordances
from analysis.stats.by_segment import correlations_by_segment, means_by_segment

SCIPY = {
    "pearson": stats.pearsonr,
    "spearman": stats.spearmanr,
    "kendall_b": stats.kendalltau,
}
METHODS = list(SCIPY)


def scores(n_segments=30, n_systems=5, seed=1, noise=(1.0, 2.0)):
    """Metrics, gold and segments: hard segments are hard for all systems, and whole points tie."""
    rng = np.random.default_rng(seed)
    hardness = rng.normal(size=n_segments)
    gold = np.round(2 * (hardness + rng.normal(size=(n_systems, n_segments))))
    metrics = [gold + sd * rng.normal(size=gold.shape) for sd in noise]
    metrics[0] = np.round(metrics[0])
    segments = np.tile(np.arange(n_segments), n_systems)
    return np.stack(metrics).reshape(len(noise), -1), gold.ravel(), segments


@pytest.mark.parametrize("method", METHODS)
def test_estimates_are_those_of_scipy(method):
    metrics, gold, segments = scores()
    result = correlations_by_segment(metrics, gold, segments, method=method)
    assert_allclose(result.estimates, [SCIPY[method](row, gold).statistic for row in metrics])


@pytest.mark.parametrize("method", METHODS)
def test_the_variance_is_that_of_leaving_out_one_segment_at_a_time(method):
    metrics, gold, segments = scores(n_segments=12)
    without = np.array(
        [
            [np.arctanh(SCIPY[method](row[kept], gold[kept]).statistic) for row in metrics]
            for kept in (segments != segment for segment in range(12))
        ]
    )
    deviations = without - without.mean(axis=0)
    expected = 11 / 12 * deviations.T @ deviations
    result = correlations_by_segment(metrics, gold, segments, method=method)
    assert_allclose(result.covariance, expected, rtol=1e-9)


@pytest.mark.parametrize("method", ["spearman", "kendall_b"])
def test_many_segments_are_approximated_within_a_few_percent(method, monkeypatch):
    metrics, gold, segments = scores(n_segments=60)
    fast = correlations_by_segment(metrics, gold, segments, method=method)
    monkeypatch.setattr(by_segment, "FEW_SEGMENTS", 60)
    exact = correlations_by_segment(metrics, gold, segments, method=method)
    assert_allclose(fast.covariance, exact.covariance, rtol=0.08)


@pytest.mark.parametrize("method", METHODS)
def test_the_standard_error_is_that_of_a_bootstrap_of_segments(method):
    metrics, gold, segments = scores(n_segments=80)
    rng = np.random.default_rng(2)
    rows = np.array([np.flatnonzero(segments == segment) for segment in range(80)])
    resampled = [
        np.arctanh(SCIPY[method](metrics[0][drawn], gold[drawn]).statistic)
        for drawn in (rows[rng.integers(80, size=80)].ravel() for _ in range(400))
    ]
    result = correlations_by_segment(metrics, gold, segments, method=method)
    # The standard deviation of 400 resamples has a relative error of 3.5 %.
    assert_allclose(np.sqrt(result.covariance[0, 0]), np.std(resampled), rtol=0.12)


@pytest.mark.parametrize("method", METHODS)
def test_a_shared_hardness_widens_the_interval(method):
    metrics, gold, segments = scores()
    metrics = metrics + 3 * np.random.default_rng(3).normal(size=30)[segments]
    widths = [
        np.ptp(correlations_by_segment(metrics, gold, units, method=method).intervals(), axis=0)
        for units in (segments, np.arange(len(gold)))
    ]
    assert (widths[0] > widths[1]).all()


@pytest.mark.parametrize("method", METHODS)
def test_the_order_and_the_names_of_segments_do_not_matter(method):
    metrics, gold, segments = scores()
    order = np.random.default_rng(4).permutation(len(gold))
    names = np.array([f"doc-{segment}" for segment in segments])
    first = correlations_by_segment(metrics, gold, segments, method=method)
    second = correlations_by_segment(metrics[:, order], gold[order], names[order], method=method)
    assert_allclose(first.covariance, second.covariance, rtol=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_lower_is_better_turns_the_sign_and_nothing_else(method):
    metrics, gold, segments = scores()
    plain = correlations_by_segment(metrics, gold, segments, method=method)
    turned = correlations_by_segment(
        metrics * [[1], [-1]],
        gold,
        segments,
        method=method,
        higher_is_better=[True, False],
    )
    assert_allclose(turned.estimates, plain.estimates)
    assert_allclose(turned.compare().pvalue, plain.compare().pvalue)


@pytest.mark.parametrize("method", METHODS)
def test_a_constant_metric_has_no_estimate_interval_or_test(method):
    metrics, gold, segments = scores()
    metrics[1] = 7
    result = correlations_by_segment(metrics, gold, segments, method=method)
    assert np.isnan(result.estimates[1]) and np.isnan(result.intervals()[:, 1]).all()
    assert np.isnan(result.compare().pvalue).all()
    assert result.compare().winners().tolist() == [True, False]


@pytest.mark.parametrize("method", METHODS)
def test_twins_are_not_different(method):
    metrics, gold, segments = scores()
    metrics[1] = 10 * metrics[0] + 3
    pvalue = correlations_by_segment(metrics, gold, segments, method=method).compare().pvalue
    assert pvalue[0, 1] == pvalue[1, 0] == 0.5


def test_p_values_of_both_directions_add_up_to_one():
    pvalue = correlations_by_segment(*scores()).compare().pvalue
    assert pvalue[0, 1] + pvalue[1, 0] == pytest.approx(1)
    assert pvalue[0, 1] < 0.01


def test_one_segment_has_an_estimate_but_no_interval_and_no_test():
    metrics, gold, _ = scores()
    result = correlations_by_segment(metrics, gold, np.zeros(len(gold), dtype=int))
    assert result.estimates[0] > 0
    assert np.isnan(result.intervals()).all() and np.isnan(result.compare().pvalue).all()


def test_translations_without_gold_are_left_out():
    metrics, gold, segments = scores()
    missing = gold.copy()
    missing[:7] = np.nan
    expected = correlations_by_segment(metrics[:, 7:], gold[7:], segments[7:])
    assert_allclose(
        correlations_by_segment(metrics, missing, segments).covariance, expected.covariance
    )


def test_a_perfect_metric_has_a_point_as_its_interval():
    _, gold, segments = scores()
    result = correlations_by_segment([gold], gold, segments)
    assert_allclose(result.intervals(), 1)


def test_segments_must_match_the_gold():
    with pytest.raises(ValueError, match="`segments`"):
        correlations_by_segment(np.ones((1, 3)), [1, 2, 3], [1, 2])


def test_a_mean_over_segments_has_a_paired_t_test():
    rng = np.random.default_rng(5)
    values = rng.random((2, 40))
    result = means_by_segment(values, measure="acc_eq", n=200, higher_is_better=(True, True))
    expected = stats.ttest_rel(values[0], values[1], alternative="greater").pvalue
    assert result.compare().pvalue[0, 1] == pytest.approx(expected)
    low, high = stats.ttest_1samp(values[0], 0).confidence_interval()
    assert_allclose(result.intervals()[:, 0], [low, high])


def test_concordances_count_every_pair_with_ties():
    rng = np.random.default_rng(6)
    x, y = rng.integers(9, size=150), rng.integers(5, size=150)
    expected = (np.sign(x[:, None] - x) * np.sign(y[:, None] - y)).sum(axis=1)
    assert (concordances(Ranks.of(x.astype(float)), Ranks.of(y.astype(float))) == expected).all()


def test_middle_ranks_are_those_of_scipy():
    values = np.random.default_rng(7).integers(9, size=50).astype(float)
    assert_allclose(Ranks.of(values).middle, stats.rankdata(values))
