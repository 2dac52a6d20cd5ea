"""Measures at system level: resampled segments, and metrics swapped segment by segment."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from analysis.stats.correlation import correlate
from analysis.stats.meta_evaluation import pairwise_system_accuracy
from analysis.stats.recentring import recentred
from analysis.stats.soft_accuracy import compare_soft_accuracies
from analysis.stats.system_resampling import (
    MEASURES,
    measures_by_system,
    resampled_systems,
    system_estimates,
)
from analysis.stats.system_swaps import compare_by_swaps, swap_spreads

N_SYSTEMS, N_SEGMENTS = 6, 40


def cube(seed=1, noise=(1, 2, 3)):
    rng = np.random.default_rng(seed)
    gold = rng.normal(size=(N_SYSTEMS, N_SEGMENTS)) + np.linspace(0, 1, N_SYSTEMS)[:, None]
    return np.stack([gold + sd * rng.normal(size=gold.shape) for sd in noise]), gold


def measure_of(name, metric, gold):
    if name == "accuracy":
        return pairwise_system_accuracy(metric, gold).estimate
    return correlate(metric, gold, method=name).estimate


@pytest.mark.parametrize("name", MEASURES)
def test_a_resample_has_the_measures_of_its_system_means(name):
    metrics, gold = cube()
    resampled = resampled_systems(metrics, gold, rng=np.random.default_rng(3), n_resamples=20)
    draws = np.random.default_rng(3).integers(N_SEGMENTS, size=(20, N_SEGMENTS))

    def centred(means):
        return means - means.mean()

    for i, metric in enumerate(metrics):
        observed = [centred(scores.mean(axis=1)) for scores in (metric, gold)]
        noise = [
            [centred(scores[:, drawn].mean(axis=1)) - own for drawn in draws]
            for scores, own in zip((metric, gold), observed, strict=True)
        ]
        flat = np.array([np.ravel(each) for each in noise])
        centres = recentred(*observed, flat @ flat.T / flat.shape[1])
        expected = [
            measure_of(name, *(c + e for c, e in zip(centres, drawn, strict=True)))
            for drawn in zip(*noise, strict=True)
        ]
        assert_allclose(resampled[name][:, i], expected, atol=1e-6)


def test_recentred_scores_have_the_observed_moments_once_noise_is_added():
    rng = np.random.default_rng(11)
    scores = rng.normal(size=(2, 9)) @ np.diag(np.linspace(1, 2, 9))
    noise = np.array([[0.5, 0.1], [0.1, 0.2]])
    moved = np.stack(recentred(*scores, noise))
    assert_allclose(moved @ moved.T / 9 + noise, scores @ scores.T / 9)
    # Nothing but noise: there are no differences between systems.
    assert_allclose(recentred(*scores, 100 * np.eye(2)), 0, atol=1e-12)
    assert_allclose(recentred(*scores, np.diag([1.0, 0.0])), scores)


def test_translations_without_gold_are_in_no_mean():
    metrics, gold = cube()
    gold[0, :5] = np.nan
    changed = metrics.copy()
    changed[:, 0, :5] = 1e6
    rng = np.random.default_rng
    first = resampled_systems(metrics, gold, rng=rng(3), n_resamples=10)
    second = resampled_systems(changed, gold, rng=rng(3), n_resamples=10)
    for name in MEASURES:
        assert_allclose(first[name], second[name])


def test_a_resample_without_gold_for_a_system_has_no_measure():
    metrics, gold = cube()
    gold[0, 1:] = np.nan
    resampled = resampled_systems(metrics, gold, rng=np.random.default_rng(3), n_resamples=50)
    for name in MEASURES:
        is_unknown = np.isnan(resampled[name]).all(axis=1)
        assert 0 < is_unknown.sum() < 50 and not np.isnan(resampled[name][~is_unknown]).any()


@pytest.mark.parametrize("name", MEASURES)
def test_the_spread_is_that_of_swapping_segments_one_by_one(name):
    metrics, gold = cube(noise=(1, 2))
    standard = [(metric - metric.mean()) / metric.std() for metric in metrics]
    rng, differences = np.random.default_rng(4), []
    for _ in range(1500):
        swapped = rng.random(N_SEGMENTS) < 0.5
        pair = (
            np.where(swapped, standard[1], standard[0]),
            np.where(swapped, standard[0], standard[1]),
        )
        values = [measure_of(name, each.mean(axis=1), gold.mean(axis=1)) for each in pair]
        if name == "pearson":
            values = np.arctanh(values)
        differences.append(values[0] - values[1])
    spreads = swap_spreads(metrics, gold, rng=rng, n_resamples=1500)
    # Each standard deviation has a relative error of 2 %.
    assert_allclose(spreads[name], np.sqrt(np.mean(np.square(differences))), rtol=0.08)


def test_soft_accuracy_agrees_with_counted_permutations():
    metrics, gold = cube()
    counted = compare_soft_accuracies(metrics, gold, rng=np.random.default_rng(5), n_resamples=2000)
    spreads = swap_spreads(metrics, gold, rng=np.random.default_rng(6))
    fast = compare_by_swaps(
        spreads["spa"],
        counted.estimates,
        measure="spa",
        n=N_SYSTEMS,
        n_resamples=300,
        higher_is_better=(True,) * 3,
    )
    assert_allclose(fast.pvalue, counted.pvalue, atol=0.04)


def test_swapped_twins_do_not_differ():
    metrics, gold = cube(noise=(1,))
    twins = np.concatenate([metrics, 5 * metrics - 2])
    spreads = swap_spreads(twins, gold, rng=np.random.default_rng(7), n_resamples=50)
    result = compare_by_swaps(
        spreads["accuracy"],
        [0.8, 0.8],
        measure="accuracy",
        n=N_SYSTEMS,
        n_resamples=50,
        higher_is_better=(True, True),
    )
    assert result.pvalue[0, 1] == 0.5


def test_a_metric_without_an_estimate_is_not_compared():
    result = compare_by_swaps(
        [np.nan, 0.1, np.nan],
        [0.5, np.nan, 0.3],
        measure="spa",
        n=3,
        n_resamples=10,
        higher_is_better=(True,) * 3,
    )
    assert np.isnan(result.pvalue[1]).all() and np.isnan(result.pvalue[:, 1]).all()


def test_an_interval_of_systems_lies_around_its_estimate_and_inside_its_limits():
    metrics, gold = cube()
    resampled = resampled_systems(metrics, gold, rng=np.random.default_rng(8))
    for name in MEASURES:
        estimates = [measure_of(name, metric.mean(axis=1), gold.mean(axis=1)) for metric in metrics]
        result = system_estimates(
            resampled[name],
            name,
            estimates,
            n=N_SYSTEMS,
            n_segments=N_SEGMENTS,
            higher_is_better=(True,) * 3,
        )
        low, high = result.intervals()
        assert (low <= estimates).all() and (estimates <= high).all()
        assert (low >= result.limits[0]).all() and (high <= 1).all()


def test_systems_as_the_unit_have_the_estimates_of_the_systems():
    rng = np.random.default_rng(9)
    gold = rng.normal(size=12)
    metrics = gold + rng.normal(size=(2, 12))
    for name in MEASURES:
        result = measures_by_system(metrics, gold, name)
        assert_allclose(result.estimates, [measure_of(name, metric, gold) for metric in metrics])
        assert result.n_units == 12


def test_pairwise_accuracy_by_system_is_kendall_without_ties():
    rng = np.random.default_rng(10)
    gold = rng.normal(size=12)
    metrics = gold + rng.normal(size=(2, 12))
    accuracy = measures_by_system(metrics, gold, "accuracy")
    tau = stats.kendalltau(metrics[0], gold).statistic
    assert 2 * accuracy.estimates[0] - 1 == pytest.approx(tau)
