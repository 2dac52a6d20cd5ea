from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from analysis.stats.sample_size import (
    Collection,
    agreement_curve,
    agreement_scatters,
    spearman_brown,
)


def collect(rng, *, truth, depth, single):
    """Return ratings, `depth` for each translation, any two of which correlate at `single`."""
    translations = np.repeat(np.arange(len(truth)), depth)
    noise = np.sqrt((1 - single) / single)
    scores = truth[translations] + noise * rng.normal(size=len(translations))
    return Collection(50 + 10 * scores, scores, translations)


def test_spearman_brown_matches_the_published_figures():
    assert_allclose(spearman_brown(0.41, [1, 15, 40]), [0.41, 0.91, 0.97], atol=0.005)


def test_spearman_brown_by_hand_and_at_its_limits():
    assert_allclose(spearman_brown(0.5, [2]), [2 / 3])
    assert_allclose(spearman_brown(0, [1, 9]), [0, 0])
    assert_allclose(spearman_brown(1, [1, 9]), [1, 1])
    assert np.isnan(spearman_brown(float("nan"), 3))
    with pytest.raises(ValueError, match="`single`"):
        spearman_brown(1.5, 3)


def test_ratings_that_disagree_give_no_prediction():
    # At -0.05 the formula has its pole at 21 ratings: it gives -20 before it and 3.3 after it.
    assert np.isnan(spearman_brown(-0.05, [1, 20, 30])).all()
    rng = np.random.default_rng(4)
    noise, more = (
        Collection(z, z, np.repeat(np.arange(30), len(z) // 30))
        for z in (rng.normal(size=180), rng.normal(size=450))
    )
    for replicate in (None, more):
        curve = agreement_curve(noise, replicate=replicate, rng=rng, sizes=[1, 2, 30], n_draws=3).z
        assert curve.single < 0 and np.isnan(curve.predicted).all()


FOUR = Collection(
    scores=[1, 9, 2, 8, 3, 3, 6, 4],
    z=[0, 1, 0, 1, 0, 0, 1, 0],
    translations=["a", "a", "b", "b", "c", "c", "d", "d"],
)


def test_the_earliest_ratings_are_compared_with_the_next_by_hand():
    curve = agreement_curve(FOUR, submitted=[1, 2, 2, 1, 1, 2, 1, 2], sizes=[1, 2])
    expected = stats.pearsonr([1, 8, 3, 6], [9, 2, 3, 4]).statistic
    assert_allclose(curve.raw.r[0], expected)
    assert_array_equal(curve.n_translations, [4, 0])
    assert np.isnan(curve.raw.r[1])


def test_the_earliest_ratings_are_compared_with_the_replicate_by_hand():
    replicate = Collection([5, 7, 2, 9, 1], [5, 7, 2, 9, 1], ["a", "a", "b", "c", "x"])
    curve = agreement_curve(
        FOUR, replicate=replicate, submitted=[1, 2, 2, 1, 1, 2, 1, 2], sizes=[1, 2]
    )
    assert_array_equal(curve.n_translations, [3, 3])
    assert_allclose(curve.raw.r[0], stats.pearsonr([1, 8, 3], [6, 2, 9]).statistic)
    assert_allclose(curve.raw.r[1], stats.pearsonr([5, 5, 3], [6, 2, 9]).statistic)


def test_measured_points_follow_the_prediction_for_split_halves():
    rng = np.random.default_rng(11)
    ratings = collect(rng, truth=rng.normal(size=1500), depth=80, single=0.41)
    curve = agreement_curve(ratings, rng=rng, sizes=[1, 15, 40], n_draws=3)
    # With 1,500 translations the standard error of r is about 0.02.
    assert_allclose(curve.z.single, 0.41, atol=0.04)
    assert_allclose(curve.z.predicted, spearman_brown(curve.z.single, [1, 15, 40]))
    assert_allclose(curve.z.r, curve.z.predicted, atol=0.03)
    assert_allclose(curve.z.r, curve.raw.r)
    assert (curve.z.low < curve.z.r).all()
    assert (curve.z.r < curve.z.high).all()


def test_measured_points_follow_the_prediction_for_a_replicate():
    rng = np.random.default_rng(12)
    truth = rng.normal(size=1500)
    ratings = collect(rng, truth=truth, depth=20, single=0.3)
    replicate = collect(rng, truth=truth, depth=5, single=0.3)
    curve = agreement_curve(ratings, replicate=replicate, rng=rng, sizes=[1, 5, 20], n_draws=3)
    assert_allclose(curve.z.r, curve.z.predicted, atol=0.04)
    # At equal depth the two collections replicate each other.
    assert_allclose(curve.z.predicted[1], spearman_brown(curve.z.single, 5))


def test_the_order_of_rows_never_matters_in_time_order():
    rng = np.random.default_rng(13)
    ratings = collect(rng, truth=rng.normal(size=30), depth=8, single=0.5)
    times = rng.integers(0, 5, 240)
    order = rng.permutation(240)
    shuffled = Collection(ratings.scores[order], ratings.z[order], ratings.translations[order])
    before = agreement_curve(ratings, submitted=times, sizes=[1, 2, 4])
    after = agreement_curve(shuffled, submitted=times[order], sizes=[1, 2, 4])
    assert_allclose(after.raw.r, before.raw.r)
    assert_allclose(after.z.r, before.z.r)


def test_the_same_seed_gives_the_same_curve():
    ratings = collect(np.random.default_rng(1), truth=np.arange(30.0), depth=8, single=0.5)
    first, again, other = (
        agreement_curve(ratings, rng=np.random.default_rng(seed), sizes=[1, 4])
        for seed in (5, 5, 6)
    )
    assert_array_equal(first.raw.r, again.raw.r)
    assert (first.raw.r != other.raw.r).all()


def test_ratings_of_workers_without_a_scale_are_left_out():
    with_missing = Collection([1, 2, 3], [0, np.nan, 1], ["a", "a", "a"])
    curve = agreement_curve(with_missing, submitted=[1, 2, 3], sizes=[1, 2])
    assert_array_equal(curve.n_translations, [1, 0])


def test_no_ratings_give_an_empty_curve():
    curve = agreement_curve(Collection([], [], []), submitted=[], sizes=[1, 2])
    assert_array_equal(curve.n_translations, [0, 0])
    assert np.isnan(curve.raw.r).all()
    assert np.isnan(curve.z.predicted).all()


def test_the_signature_names_the_method():
    signature = agreement_curve(FOUR, rng=np.random.default_rng(0), n_draws=2, sizes=[1]).signature
    assert signature.startswith(
        "curve:split-halves|order:random,2|ci:jackknife-by-segment,0.95|version:"
    )


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({}, "either `submitted` or `rng`"),
        ({"submitted": [1] * 8, "rng": np.random.default_rng(0)}, "either `submitted` or `rng`"),
        ({"submitted": [1] * 8, "sizes": [0]}, "`sizes`"),
    ],
)
def test_bad_options_are_refused(options, reason):
    with pytest.raises(ValueError, match=reason):
        agreement_curve(FOUR, **options)


def test_scatters_show_the_means_behind_a_point_of_the_curve():
    rng = np.random.default_rng(3)
    ratings = collect(rng, truth=rng.normal(size=30), depth=6, single=0.4)
    submitted = rng.random(len(ratings.scores))
    sizes = (1, 2, 3)
    curve = agreement_curve(ratings, submitted=submitted, sizes=sizes)
    scatters = agreement_scatters(ratings, submitted=submitted, sizes=sizes)
    assert_allclose([scatter.r for scatter in scatters], curve.z.r)
    assert [len(scatter.means) for scatter in scatters] == curve.n_translations.tolist()


def test_sizes_with_too_few_translations_have_no_scatter():
    rng = np.random.default_rng(3)
    ratings = collect(rng, truth=rng.normal(size=30), depth=6, single=0.4)
    scatters = agreement_scatters(ratings, rng=rng)
    assert [scatter.size for scatter in scatters] == [1, 2]


def test_scatters_need_an_order():
    with pytest.raises(ValueError, match="`submitted` or `rng`"):
        agreement_scatters(Collection([1], [1], [1]))


def test_translations_of_one_segment_widen_the_interval():
    rng = np.random.default_rng(4)
    truth = np.repeat(rng.normal(size=25), 6)
    ratings = collect(rng, truth=truth, depth=6, single=0.4)
    apart = agreement_curve(ratings, rng=np.random.default_rng(1), sizes=(3,))
    together = agreement_curve(
        replace(ratings, segments=np.asarray(ratings.translations) // 6),
        rng=np.random.default_rng(1),
        sizes=(3,),
    )
    assert_allclose(together.z.r, apart.z.r)
    assert together.z.high - together.z.low > 1.3 * (apart.z.high - apart.z.low)


def test_the_interval_without_segments_is_a_jackknife_over_translations():
    rng = np.random.default_rng(5)
    ratings = collect(rng, truth=rng.normal(size=12), depth=2, single=0.4)
    curve = agreement_curve(ratings, submitted=np.arange(24), sizes=(1,))
    x, y = np.asarray(ratings.z)[::2], np.asarray(ratings.z)[1::2]
    without = [np.arctanh(np.corrcoef(np.delete(x, i), np.delete(y, i))[0, 1]) for i in range(12)]
    reach = stats.t.ppf(0.975, 11) * np.sqrt(11 * np.var(without))
    centre = np.arctanh(np.corrcoef(x, y)[0, 1])
    assert_allclose([curve.z.low[0], curve.z.high[0]], np.tanh([centre - reach, centre + reach]))


@pytest.mark.slow
@pytest.mark.parametrize("n_systems", [1, 5])
def test_intervals_hold_the_truth_where_segments_differ(n_systems):
    rng = np.random.default_rng(6)
    curves = []
    for _ in range(600):
        segments = np.tile(np.arange(150 // n_systems), n_systems)
        truth = rng.normal(size=len(segments) // n_systems)[segments]
        truth = truth + 0.5 * rng.normal(size=len(truth))
        ratings = collect(rng, truth=truth, depth=10, single=0.4)
        ratings = replace(ratings, segments=segments[np.asarray(ratings.translations)])
        curve = agreement_curve(ratings, rng=rng, sizes=(1, 5), n_draws=10)
        curves.append((curve.z.low, curve.z.r, curve.z.high))
    low, r, high = np.array(curves).transpose(1, 0, 2)
    coverage = ((low <= r.mean(axis=0)) & (r.mean(axis=0) <= high)).mean(axis=0)
    assert ((coverage >= 0.93) & (coverage <= 0.97)).all()
