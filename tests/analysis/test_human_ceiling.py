"""Workers against the gold of other workers, by the same test as metrics."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from analysis.stats.by_segment import UnitEstimates, correlations_by_segment
from analysis.stats.human_ceiling import HeldOut, hold_out, sizes_for
from analysis.stats.sample_size import spearman_brown
from analysis.stats.segments import Method
from analysis.stats.williams import williams_matrix
from tests.analysis.simulated_ratings import Crowd, simulate_ratings


def every_worker(n_workers=6, n_translations=4, seed=1):
    rng = np.random.default_rng(seed)
    workers, translations = (
        grid.ravel() for grid in np.meshgrid(np.arange(n_workers), np.arange(n_translations))
    )
    return rng.normal(size=len(workers)), workers, translations


def test_held_out_workers_and_gold_share_the_ratings_of_a_translation():
    values, workers, translations = every_worker()
    held_out = hold_out(values, workers, translations, rng=np.random.default_rng(1), sizes=(1, 2))
    totals = np.bincount(translations, values)
    assert_allclose(2 * held_out.scores[1] + 4 * held_out.gold, totals)
    assert_array_equal(held_out.n_gold, [4] * 4)
    # One of the two held-out workers is the one in the first row.
    others = 2 * held_out.scores[1] - held_out.scores[0]
    by_translation = values.reshape(4, 6)
    for place in range(4):
        for score in (held_out.scores[0][place], others[place]):
            assert np.isclose(by_translation[place], score).any()


def test_repeats_of_one_worker_are_never_on_both_sides():
    values, workers, translations = every_worker()
    twice = [np.concatenate([column, column]) for column in (values, workers, translations)]
    once = hold_out(values, workers, translations, rng=np.random.default_rng(1), sizes=(1,))
    again = hold_out(*twice, rng=np.random.default_rng(1), sizes=(1,))
    assert_allclose(again.gold, once.gold)
    assert_allclose(again.scores, once.scores)


def test_pooled_gold_counts_every_rating_and_keeps_those_of_a_worker_on_one_side():
    values, workers, translations = every_worker()
    # Worker 0 rates everything three times.
    rows = np.concatenate([np.arange(len(values)), np.repeat(np.flatnonzero(workers == 0), 2)])
    columns = [column[rows] for column in (values, workers, translations)]
    columns[0] = columns[0] + np.random.default_rng(2).normal(size=len(rows))
    held_out = hold_out(*columns, rng=np.random.default_rng(1), sizes=(1,), method="pooled")
    n_held_out = 8 - held_out.n_gold
    assert set(n_held_out) == {1, 3}
    totals = np.bincount(columns[2], columns[0])
    assert_allclose(n_held_out * held_out.scores[0] + held_out.n_gold * held_out.gold, totals)
    for place in range(4):
        mine = (columns[2] == place) & (columns[1] == 0)
        if n_held_out[place] == 3:
            assert np.isclose(held_out.scores[0][place], columns[0][mine].mean())


def test_the_order_of_rows_does_not_matter():
    columns = every_worker()
    order = np.random.default_rng(5).permutation(len(columns[0]))
    first = hold_out(*columns, rng=np.random.default_rng(1))
    second = hold_out(*(column[order] for column in columns), rng=np.random.default_rng(1))
    assert_array_equal(first.gold, second.gold)


def test_translations_with_too_few_workers_are_left_out():
    held_out = hold_out(
        [1, 2, 3, 4, 5], list("abcab"), [1, 1, 1, 1, 2], rng=np.random.default_rng(1), sizes=(1,)
    )
    assert_array_equal(held_out.translations, [1])
    assert len(hold_out([], [], [], rng=np.random.default_rng(1)).gold) == 0


def test_ratings_without_z_are_left_out():
    held_out = hold_out(
        [1, 2, np.nan], list("abc"), [1, 1, 1], rng=np.random.default_rng(1), sizes=(1,)
    )
    assert sorted([held_out.gold[0], held_out.scores[0, 0]]) == [1, 2]


@pytest.mark.parametrize("sizes", [(), (0,)])
def test_nobody_held_out_is_refused(sizes):
    with pytest.raises(ValueError, match="`sizes`"):
        hold_out([1], [1], [1], rng=np.random.default_rng(1), sizes=sizes)


def test_at_least_half_of_the_ratings_stay_in_the_gold():
    assert [sizes_for(minimum) for minimum in (1, 2, 4, 9, 10, 15)] == [
        (),
        (1,),
        (1, 2),
        (1, 2),
        (1, 2, 5),
        (1, 2, 5),
    ]


def test_the_mean_of_more_workers_agrees_better_as_predicted():
    rng = np.random.default_rng(3)
    truth, n_workers = rng.normal(size=4000), 15
    workers = np.tile(np.arange(n_workers), len(truth))
    translations = np.repeat(np.arange(len(truth)), n_workers)
    # Two single ratings correlate at 0.4.
    values = truth[translations] + np.sqrt(1.5) * rng.normal(size=len(workers))
    held_out = hold_out(values, workers, translations, rng=rng)
    measured = [np.corrcoef(row, held_out.gold)[0, 1] for row in held_out.scores]
    expected = np.sqrt(spearman_brown(0.4, held_out.sizes) * spearman_brown(0.4, 10))
    assert_allclose(measured, expected, atol=0.02)


# Is the comparison fair? A metric that is as good as one worker ---------------------------------


def human_like_metric(held_out: HeldOut) -> np.ndarray:
    """Return the second held-out worker alone, who stands for a metric exactly as good as the first."""
    return 2 * held_out.scores[1] - held_out.scores[0]


def rejections(
    crowd: Crowd,
    n: int,
    *,
    is_fair: bool = True,
    method: Method = "per_worker",
    williams: bool = False,
) -> float:
    rng = np.random.default_rng(8)
    rejected = []
    for _ in range(n):
        ratings = simulate_ratings(rng, crowd)
        columns = ratings.z, ratings.workers, ratings.translations
        held_out = hold_out(*columns, rng=rng, sizes=(1, 2), method=method)
        worker, metric, gold = held_out.scores[0], human_like_metric(held_out), held_out.gold
        segments = held_out.translations % crowd.n_segments
        if not is_fair:
            # The worker's own rating is part of the gold, as it is in the gold of the campaign.
            gold = (held_out.n_gold * gold + worker) / (held_out.n_gold + 1)
        rows = [worker, metric]
        tests = (
            williams_matrix(rows, gold)
            if williams
            else correlations_by_segment(rows, gold, segments).compare()
        )
        rejected.append(tests.pvalue[0, 1] < 0.05)
    return float(np.mean(rejected))


CROWDS = {
    "one translation per segment": Crowd(n_systems=1, n_segments=150, n_workers=25, n_ratings=7),
    "several translations": Crowd(n_systems=4, n_segments=50, n_ratings=7),
    "workers prefer systems": Crowd(n_systems=4, n_segments=50, n_ratings=7, preference=0.3),
    "many ties": Crowd(n_systems=4, n_segments=50, n_ratings=7, is_coarse=True, noise=0.7),
    "a few workers do most": Crowd(n_systems=4, n_segments=50, n_ratings=7, is_uneven=True),
}


@pytest.mark.slow
@pytest.mark.parametrize("crowd", CROWDS)
def test_a_metric_as_good_as_one_worker_is_found_worse_as_often_as_the_level_says(crowd):
    assert 0.03 <= rejections(CROWDS[crowd], 1200) <= 0.07


@pytest.mark.slow
def test_williams_finds_it_as_often_with_one_translation_of_each_segment():
    # Rows of workers among metrics (`human`) have the test of the metrics, which is Williams' there.
    assert 0.03 <= rejections(CROWDS["one translation per segment"], 1200, williams=True) <= 0.07


@pytest.mark.slow
@pytest.mark.parametrize("crowd", CROWDS)
def test_intervals_of_the_difference_from_one_worker_cover(crowd):
    rng = np.random.default_rng(9)
    covered = []
    for _ in range(800):
        ratings = simulate_ratings(rng, CROWDS[crowd])
        columns = ratings.z, ratings.workers, ratings.translations
        held_out = hold_out(*columns, rng=rng, sizes=(1, 2))
        rows = [held_out.scores[0], human_like_metric(held_out)]
        segments = held_out.translations % CROWDS[crowd].n_segments
        result = correlations_by_segment(rows, held_out.gold, segments)
        _, low, high = result.differences_from(0)[:, 1]
        covered.append(low < 0 < high)
    assert 0.93 <= np.mean(covered) <= 0.97


def test_differences_from_a_metric_by_hand():
    result = UnitEstimates(
        measure="acc_eq",
        estimates=np.array([0.5, 0.7]),
        covariance=np.array([[0.04, 0.01], [0.01, 0.09]]),
        scale="plain",
        n=10,
        n_units=5,
        limits=(0.0, 1.0),
        higher_is_better=(True, True),
        how="test",
    )
    reach = stats.t.ppf(0.975, 4) * np.sqrt(0.04 + 0.09 - 0.02)
    assert_allclose(result.differences_from(0)[:, 1], [0.2, 0.2 - reach, 0.2 + reach])
    assert_allclose(result.differences_from(0)[:, 0], 0, atol=1e-12)
    # A change of Fisher's z is one of r times 1 - r squared.
    of_r = replace(result, scale="fisher").differences_from(0)[:, 1]
    se = np.sqrt(0.04 * 0.75**2 + 0.09 * 0.51**2 - 0.02 * 0.75 * 0.51)
    assert_allclose(of_r[2] - 0.2, stats.t.ppf(0.975, 4) * se)


def test_gold_that_contains_the_worker_would_favour_the_worker():
    crowd = CROWDS["several translations"]
    assert rejections(crowd, 60, is_fair=False) > 0.3
    assert rejections(crowd, 60) < 0.15
