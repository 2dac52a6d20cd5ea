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


def rank_sums(z, systems):
    """Compare systems as at WMT, where no two scores belong to the same segment."""
    return compare_systems(z, systems, np.arange(len(z)), test="published")


def columns(scores):
    z, systems = zip(*scores, strict=True)
    return np.array(z, dtype=float), np.array(systems)


def test_scores_by_hand_best_first():
    result = system_scores(
        [50, 60, 80, 90, 40], [0, 0.2, 0.5, 0.7, -1], [1, 2, 3, 4, 5], list("xxyyw")
    )
    assert list(result.systems) == ["y", "x", "w"]
    assert_allclose(result.raw, [85, 55, 40])
    assert_allclose(result.z, [0.6, 0.1, -1])
    assert_array_equal(result.n_segments, [2, 2, 1])
    assert_array_equal(result.n_ratings, [7, 3, 5])


def test_the_interval_matches_scipy():
    z = np.random.default_rng(0).normal(size=30)
    result = system_scores(z, z, [1] * 30, ["x"] * 30, confidence=0.9)
    interval = stats.ttest_1samp(z, 0).confidence_interval(0.9)
    assert_allclose([result.z_low[0], result.z_high[0]], interval)
    assert_allclose(result.z_se[0], stats.sem(z))


def test_a_system_with_one_segment_has_no_interval():
    assert np.isnan(system_scores([1], [1], [1], ["x"]).z_low[0])


def test_equal_systems_are_in_order_of_name():
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
    result = rank_sums([3, 5, 1, 3, 4], list("xxyyy"))
    # 3 beats 1 and draws with 3; 5 beats all three.
    assert list(result.systems) == ["x", "y"]
    assert_allclose(result.statistics[0, 1], 4.5)
    assert_allclose(result.statistics[1, 0], 1.5)


def assert_matches_scipy(z, systems):
    result = rank_sums(z, systems)
    for (i, a), (j, b) in itertools.permutations(enumerate(result.systems), 2):
        expected = stats.mannwhitneyu(
            z[systems == a], z[systems == b], alternative="greater", method="asymptotic"
        )
        assert_allclose(result.statistics[i, j], expected.statistic)
        assert_allclose(result.pvalues[i, j], expected.pvalue, rtol=1e-10)
        assert_allclose(
            result.differences[i, j], z[systems == a].mean() - z[systems == b].mean(), atol=1e-12
        )


@pytest.mark.parametrize("n_values", [5, 40, 10**6])
def test_every_pair_matches_scipy(n_values):
    rng = np.random.default_rng(n_values)
    systems = rng.choice(list("abcdefg"), 400)
    assert_matches_scipy(rng.integers(0, n_values, 400) / 7, systems)


@settings(deadline=None)
@given(scores_of_three)
def test_every_pair_matches_scipy_with_any_ties(scores):
    z, systems = columns(scores)
    for two in itertools.combinations(np.unique(systems), 2):
        of_two = np.isin(systems, two)
        # SciPy has no p-value where every score is the same.
        if np.ptp(z[of_two]):
            assert_matches_scipy(z[of_two], systems[of_two])


@settings(deadline=None)
@given(scores_of_three, st.randoms(use_true_random=False))
def test_the_order_of_rows_never_matters(scores, random):
    before = rank_sums(*columns(scores))
    after = rank_sums(*columns(random.sample(scores, len(scores))))
    for i, a in enumerate(before.systems):
        for j, b in enumerate(before.systems):
            same = (list(after.systems).index(a), list(after.systems).index(b))
            assert_allclose(after.pvalues[same], before.pvalues[i, j])


def test_indistinguishable_systems_have_a_p_value_of_one():
    result = rank_sums([2, 2, 2, 2], list("xxyy"))
    assert result.pvalues[0, 1] == result.pvalues[1, 0] == 1
    assert_array_equal(result.clusters, [1, 1])


def test_a_single_system_has_no_wins():
    single, none = rank_sums([1, 2], ["x", "x"]), rank_sums([], [])
    assert list(single.wins) == [0]
    assert list(single.clusters) == [1]
    assert len(none.clusters) == len(none.wins) == 0


MATRICES = [
    *("n_shared", "differences", "low", "high", "probabilities", "probability_low"),
    *("probability_high", "statistics", "pvalues", "adjusted", "paired_pvalues"),
    "rank_sum_pvalues",
]


def comparison(wins):
    """Return a comparison in which exactly these (row, column) tests are significant."""
    n = 1 + max(max(pair) for pair in wins)
    pvalues = np.full((n, n), 0.5)
    for pair in wins:
        pvalues[pair] = 0.01
    np.fill_diagonal(pvalues, np.nan)
    matrices = {name: np.zeros((n, n)) for name in MATRICES}
    return SystemComparison(
        systems=np.arange(n),
        n_segments=np.ones(n, dtype=np.int64),
        **{**matrices, "adjusted": pvalues},
        test="two_way",
        correction="holm",
        alpha=0.05,
        signature="",
    )


def test_a_line_is_drawn_where_all_above_beat_all_below():
    everything = [(0, 1), (0, 2), (0, 3), (1, 3), (2, 3)]
    assert list(comparison(everything).clusters) == [1, 2, 2, 3]


def test_one_missing_win_removes_the_line():
    assert list(comparison([(0, 2), (0, 3), (1, 3)]).clusters) == [1, 1, 1, 1]
    assert list(comparison([(0, 2), (0, 3), (1, 2), (1, 3)]).clusters) == [1, 1, 2, 2]


def test_wins_count_the_systems_beaten():
    assert list(comparison([(0, 2), (0, 3), (1, 3)]).wins) == [2, 1, 0, 0]


def test_stars_show_significance_levels():
    result = comparison([(0, 1)])
    for stars, pvalue in enumerate([0.05, *(level * 0.99 for level in STAR_LEVELS)]):
        result.adjusted[0, 1] = pvalue
        assert result.stars[0, 1] == stars
    assert result.stars[0, 0] == 0


def test_the_signature_names_the_test():
    signature = rank_sums([1, 2], ["x", "y"]).signature
    assert signature.startswith(
        "test:mann-whitney,greater,corrected|correction:none|wins:p<0.05|version:"
    )
