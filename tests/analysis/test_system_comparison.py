"""Comparing systems on the segments they share: tests, intervals and the probability of a better score."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from analysis.stats.multiple_tests import holm
from analysis.stats.system_covariance import covariance_of_segment_scores
from analysis.stats.systems import compare_systems

scored_segments = st.lists(
    st.tuples(st.sampled_from("xyz"), st.integers(0, 12)), min_size=2, max_size=30, unique=True
)


def three_systems(n=40, seed=0):
    rng = np.random.default_rng(seed)
    shared = rng.normal(size=n)
    z = np.concatenate([shared + rng.normal(0, 0.5, n) + shift for shift in (0.3, 0, -0.2)])
    return z, np.repeat(list("abc"), n), np.tile(np.arange(n), 3)


def test_signed_ranks_match_scipy_for_every_pair():
    z, systems, segments = three_systems()
    result = compare_systems(z, systems, segments, test="paired")
    for (i, a), (j, b) in itertools.permutations(enumerate(result.systems), 2):
        expected = stats.wilcoxon(z[systems == a], z[systems == b], alternative="greater")
        assert_allclose(result.pvalues[i, j], expected.pvalue)
    assert_array_equal(result.pvalues, result.paired_pvalues)


def test_the_difference_over_shared_segments_has_the_interval_of_a_paired_t_test():
    z, systems, segments = three_systems()
    result = compare_systems(z, systems, segments)
    for (i, a), (j, b) in itertools.permutations(enumerate(result.systems), 2):
        paired = stats.ttest_rel(z[systems == a], z[systems == b], alternative="greater")
        interval = stats.ttest_rel(z[systems == a], z[systems == b]).confidence_interval(0.95)
        assert_allclose(result.pvalues[i, j], paired.pvalue)
        assert_allclose([result.low[i, j], result.high[i, j]], interval)


def test_pairs_use_the_segments_that_both_systems_have():
    z, systems = [1, 2, 3, 9, 0, 1, 2, -9], list("xxxxyyyy")
    result = compare_systems(z, systems, [1, 2, 3, 4, 1, 2, 3, 5], test="paired")
    assert result.n_shared[0, 1] == 3
    # Three positive differences of equal size: one of eight patterns of signs.
    assert_allclose(result.pvalues[0, 1], 1 / 8)
    assert result.probabilities[0, 1] == 1


def test_systems_without_shared_segments_are_not_compared_by_segment():
    result = compare_systems([1, 2, 3, 4], list("xxyy"), [1, 2, 3, 4], test="paired")
    assert np.isnan(result.pvalues[0, 1]) and np.isnan(result.probabilities[0, 1])
    assert_array_equal(result.clusters, [1, 1])


def test_ties_count_half_and_narrow_the_interval():
    result = compare_systems([1, 1, 1, 2, 1, 1, 1, 1], list("xxxxyyyy"), [1, 2, 3, 4] * 2)
    assert result.probabilities[0, 1] == 0.625
    half = stats.binomtest(5, 8).proportion_ci(method="wilson")
    assert half.low < result.probability_low[0, 1] < 0.625


def test_without_ties_the_interval_is_wilsons():
    z, systems, segments = three_systems()
    result = compare_systems(z, systems, segments)
    wins = int(round(result.probabilities[0, 1] * 40))
    expected = stats.binomtest(wins, 40).proportion_ci(method="wilson")
    assert_allclose([result.probability_low[0, 1], result.probability_high[0, 1]], expected)


@settings(deadline=None)
@given(scored_segments, st.randoms(use_true_random=False))
def test_directions_mirror_each_other(rows, random):
    systems, segments = zip(*rows, strict=True)
    z = [random.randrange(-3, 4) for _ in rows]
    result = compare_systems(z, list(systems), list(segments))
    assert_allclose(result.probabilities, 1 - result.probabilities.T)
    assert_allclose(result.probability_low, 1 - result.probability_high.T, atol=1e-12)
    assert_allclose(result.low, -result.high.T)
    assert_array_equal(result.n_shared, result.n_shared.T)


def test_p_values_are_adjusted_for_both_directions_of_all_pairs():
    result = compare_systems(*three_systems())
    assert result.correction == "holm"
    assert_array_equal(result.adjusted, holm(result.pvalues))
    assert_allclose(np.nanmin(result.adjusted), 6 * np.nanmin(result.pvalues))
    assert_array_equal(result.is_win, result.adjusted < 0.05)


def test_wmts_rule_is_not_adjusted():
    result = compare_systems(*three_systems(), test="published")
    assert_array_equal(result.adjusted, result.pvalues)
    assert_array_equal(result.pvalues, result.rank_sum_pvalues)


def test_equal_systems_do_not_beat_each_other_and_certain_ones_do():
    equal = compare_systems([2, 2, 2, 2], list("xxyy"), [1, 2, 1, 2])
    assert equal.pvalues[0, 1] == equal.pvalues[1, 0] == 1
    certain = compare_systems([3, 3, 2, 2], list("xxyy"), [1, 2, 1, 2])
    assert certain.pvalues[0, 1] == 0 and certain.pvalues[1, 0] == 1


def test_one_segment_has_no_interval():
    result = compare_systems([3, 2], list("xy"), [1, 1])
    assert np.isnan(result.low[0, 1]) and not result.is_win.any()


def test_the_signature_names_test_and_correction():
    z, systems, segments = three_systems()
    for test, words in {
        "two_way": "test:difference-of-means,t,greater,segments|correction:holm|wins:p<0.05",
        "paired": "test:signed-rank,by-segment,greater|correction:holm|wins:p<0.05",
    }.items():
        assert compare_systems(z, systems, segments, test=test).signature.startswith(words)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"test": "t"}, "`test` must be one of two_way, paired, published"),
        ({"alpha": 1}, "`alpha`"),
        ({"confidence": 0}, "`confidence`"),
    ],
)
def test_bad_options_are_refused(options, reason):
    with pytest.raises(ValueError, match=reason):
        compare_systems(*three_systems(), **options)


def test_a_segment_scored_twice_for_a_system_is_refused():
    with pytest.raises(ValueError, match="`segments`"):
        compare_systems([1, 2], ["x", "x"], [1, 1])


def test_the_covariance_of_segment_scores_is_that_of_paired_means():
    z, systems, segments = three_systems()
    covariance = covariance_of_segment_scores(z, systems, segments)
    assert_allclose(covariance.by_segments, np.cov(z.reshape(3, -1)) / 40)
