import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from analysis.stats.systems import (
    STAR_LEVELS,
    SystemComparison,
    compare_systems,
    expand_to_systems,
    system_scores,
)

scores_of_three = st.lists(
    st.tuples(st.integers(-3, 3), st.sampled_from("xyz")), min_size=2, max_size=40
)


def columns(scores):
    z, systems = zip(*scores, strict=True)
    return np.array(z, dtype=float), np.array(systems)


def test_scores_by_hand_best_first():
    own = system_scores(
        [50, 60, 80, 90, 40], [0, 0.2, 0.5, 0.7, -1], [1, 2, 3, 4, 5], list("xxyyw")
    )
    assert list(own.systems) == ["y", "x", "w"]
    assert_allclose(own.raw, [85, 55, 40])
    assert_allclose(own.z, [0.6, 0.1, -1])
    assert_array_equal(own.n_segments, [2, 2, 1])
    assert_array_equal(own.n_ratings, [7, 3, 5])


def test_the_interval_is_that_of_scipy():
    z = np.random.default_rng(0).normal(size=30)
    own = system_scores(z, z, [1] * 30, ["x"] * 30, confidence=0.9)
    interval = stats.ttest_1samp(z, 0).confidence_interval(0.9)
    assert_allclose([own.z_low[0], own.z_high[0]], interval)
    assert_allclose(own.z_se[0], stats.sem(z))


def test_a_system_with_one_segment_has_no_interval():
    assert np.isnan(system_scores([1], [1], [1], ["x"]).z_low[0])


def test_equal_systems_stand_in_order_of_name():
    assert list(system_scores([1, 1], [1, 1], [1, 1], ["b", "a"]).systems) == ["a", "b"]


def test_a_shared_translation_counts_for_each_of_its_systems():
    rows, systems = expand_to_systems([30, 10, 20], [10, 10, 20, 99, 30], list("xyxyy"))
    assert_array_equal(rows, [1, 1, 2, 0])
    assert list(systems) == ["x", "y", "x", "y"]


def test_nothing_scored_gives_no_rows():
    rows, systems = expand_to_systems([], [1, 2], ["x", "y"])
    assert len(rows) == len(systems) == 0


def test_a_translation_scored_twice_is_refused():
    with pytest.raises(ValueError, match="`scored`"):
        expand_to_systems([1, 1], [1], ["x"])


def test_u_by_hand():
    own = compare_systems([3, 5, 1, 3, 4], list("xxyyy"))
    # 3 beats 1 and draws with 3; 5 beats all three.
    assert list(own.systems) == ["x", "y"]
    assert_allclose(own.statistics[0, 1], 4.5)
    assert_allclose(own.statistics[1, 0], 1.5)


def assert_agrees_with_scipy(z, systems):
    own = compare_systems(z, systems)
    for (i, a), (j, b) in itertools.permutations(enumerate(own.systems), 2):
        expected = stats.mannwhitneyu(
            z[systems == a], z[systems == b], alternative="greater", method="asymptotic"
        )
        assert_allclose(own.statistics[i, j], expected.statistic)
        assert_allclose(own.pvalues[i, j], expected.pvalue, rtol=1e-10)
        assert_allclose(
            own.differences[i, j], z[systems == a].mean() - z[systems == b].mean(), atol=1e-12
        )


@pytest.mark.parametrize("n_values", [5, 40, 10**6])
def test_every_pair_agrees_with_scipy(n_values):
    rng = np.random.default_rng(n_values)
    systems = rng.choice(list("abcdefg"), 400)
    assert_agrees_with_scipy(rng.integers(0, n_values, 400) / 7, systems)


@settings(deadline=None)
@given(scores_of_three)
def test_every_pair_agrees_with_scipy_whatever_the_ties(scores):
    z, systems = columns(scores)
    for two in itertools.combinations(np.unique(systems), 2):
        of_two = np.isin(systems, two)
        # SciPy has no p-value where every score is the same.
        if np.ptp(z[of_two]):
            assert_agrees_with_scipy(z[of_two], systems[of_two])


@settings(deadline=None)
@given(scores_of_three, st.randoms(use_true_random=False))
def test_the_order_of_rows_never_matters(scores, random):
    before = compare_systems(*columns(scores))
    after = compare_systems(*columns(random.sample(scores, len(scores))))
    for i, a in enumerate(before.systems):
        for j, b in enumerate(before.systems):
            same = (list(after.systems).index(a), list(after.systems).index(b))
            assert_allclose(after.pvalues[same], before.pvalues[i, j])


def test_systems_that_cannot_be_told_apart_have_p_of_one():
    own = compare_systems([2, 2, 2, 2], list("xxyy"))
    assert own.pvalues[0, 1] == own.pvalues[1, 0] == 1
    assert_array_equal(own.clusters, [1, 1])


def test_one_system_or_none_has_nobody_to_beat():
    one, none = compare_systems([1, 2], ["x", "x"]), compare_systems([], [])
    assert list(one.wins) == [0]
    assert list(one.clusters) == [1]
    assert len(none.clusters) == len(none.wins) == 0


def comparison(wins):
    """Return a comparison in which exactly these (row, column) tests are significant."""
    n = 1 + max(max(pair) for pair in wins)
    pvalues = np.full((n, n), 0.5)
    for pair in wins:
        pvalues[pair] = 0.01
    np.fill_diagonal(pvalues, np.nan)
    blank = np.zeros((n, n))
    return SystemComparison(np.arange(n), np.ones(n), blank, blank, pvalues, 0.05, "")


def test_a_line_is_drawn_where_all_above_beat_all_below():
    everything = [(0, 1), (0, 2), (0, 3), (1, 3), (2, 3)]
    assert list(comparison(everything).clusters) == [1, 2, 2, 3]


def test_one_missing_win_takes_the_line_away():
    assert list(comparison([(0, 2), (0, 3), (1, 3)]).clusters) == [1, 1, 1, 1]
    assert list(comparison([(0, 2), (0, 3), (1, 2), (1, 3)]).clusters) == [1, 1, 2, 2]


def test_wins_count_the_systems_beaten():
    assert list(comparison([(0, 2), (0, 3), (1, 3)]).wins) == [2, 1, 0, 0]


def test_stars_stand_for_levels():
    own = comparison([(0, 1)])
    for stars, pvalue in enumerate([0.05, *(level * 0.99 for level in STAR_LEVELS)]):
        own.pvalues[0, 1] = pvalue
        assert own.stars[0, 1] == stars
    assert own.stars[0, 0] == 0


def test_the_signature_says_how():
    made = compare_systems([1, 2], ["x", "y"]).signature
    assert made.startswith("test:mann-whitney,greater,corrected|wins:p<0.05|version:")
