import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from analysis.stats.quality_control import (
    MINIMUM_PAIRS,
    NO_PARTNER,
    WINDOW_HITS,
    Verdict,
    degraded_tests,
    judge_workers,
    make_pairs,
    quality_control,
    repeat_tests,
    signed_rank_tests,
    window_tests,
)
from analysis.stats.roles import Role

ALICE = [-5, -10, 3, -20, -8]


def one_worker(differences):
    return differences, ["alice"] * len(differences)


def test_five_pairs_by_hand():
    result = degraded_tests(*one_worker(ALICE))
    # mean -8; squared deviations 9 + 4 + 121 + 144 + 0 = 278; se = sqrt(278 / 4 / 5)
    assert_allclose(result.mean_difference, [-8])
    assert_allclose(result.mean_absolute_difference, [46 / 5])
    assert_allclose(result.statistic, [-8 / np.sqrt(278 / 20)])
    assert (result.n_pairs[0], result.df[0]) == (5, 4)


def test_all_workers_at_once_match_scipy():
    rng = np.random.default_rng(5)
    differences, workers = rng.integers(-60, 50, 500), rng.integers(0, 30, 500)
    degraded, repeats = degraded_tests(differences, workers), repeat_tests(differences, workers)
    for i, worker in enumerate(degraded.workers):
        own_differences = differences[workers == worker]
        less = stats.ttest_1samp(own_differences, 0, alternative="less")
        either = stats.ttest_1samp(own_differences, 0)
        assert_allclose([degraded.statistic[i], degraded.pvalue[i]], [less.statistic, less.pvalue])
        assert_allclose(
            [repeats.statistic[i], repeats.pvalue[i]], [either.statistic, either.pvalue]
        )
        assert_allclose([repeats.low[i], repeats.high[i]], either.confidence_interval(0.95))


@pytest.mark.parametrize(
    ("differences", "pvalue"), [([-7] * 6, 0), ([0] * 6, 1), ([7] * 6, 1), ([-0.1] * 7, 0)]
)
def test_constant_differences_have_a_defined_p_value(differences, pvalue):
    result = degraded_tests(*one_worker(differences))
    assert result.pvalue[0] == pvalue
    expected = Verdict.RELIABLE if pvalue == 0 else Verdict.UNRELIABLE
    assert judge_workers(result)[0] == expected


@pytest.mark.parametrize(("differences", "pvalue"), [([0] * 5, 1), ([3] * 5, 0), ([-3] * 5, 0)])
def test_constant_differences_of_repeats_have_a_defined_p_value(differences, pvalue):
    assert repeat_tests(*one_worker(differences)).pvalue[0] == pvalue


@pytest.mark.parametrize("n", range(1, MINIMUM_PAIRS))
def test_few_pairs_always_leave_a_worker_unproven(n):
    assert list(judge_workers(degraded_tests(*one_worker([-90] * n)))) == [Verdict.UNPROVEN]


def test_one_pair_has_a_mean_and_no_test():
    result = degraded_tests([-4], ["alice"])
    assert result.mean_difference[0] == -4
    assert np.isnan([result.statistic[0], result.pvalue[0], result.low[0]]).all()


def test_no_pairs_give_no_tests():
    assert len(degraded_tests([], []).pvalue) == 0
    assert len(signed_rank_tests([], []).pvalue) == 0
    assert len(window_tests([], [], []).pvalue) == 0


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.integers(-100, 100), st.integers(0, 3)), min_size=1, max_size=60),
    st.randoms(use_true_random=False),
)
def test_the_order_of_rows_never_matters(pairs, random):
    shuffled = random.sample(pairs, len(pairs))
    for test in (degraded_tests, repeat_tests, signed_rank_tests):
        before = test(*zip(*pairs, strict=True))
        after = test(*zip(*shuffled, strict=True))
        assert_allclose(after.pvalue, before.pvalue, rtol=1e-9)


@settings(deadline=None)
@given(st.lists(st.integers(-100, 100), min_size=2, max_size=30))
def test_reversing_the_differences_mirrors_the_p_value(differences):
    result = degraded_tests(*one_worker(differences))
    turned = degraded_tests(*one_worker([-difference for difference in differences]))
    if np.ptp(differences):
        assert_allclose(result.pvalue + turned.pvalue, 1)


@pytest.mark.parametrize("n", [1, 2, 5, 13, 14, 50, 51, 80])
@pytest.mark.parametrize("kind", ["distinct", "ties", "zeros", "ties and zeros"])
def test_signed_ranks_match_scipy(n, kind):
    rng = np.random.default_rng(n)
    sizes = rng.permutation(np.arange(1, n + 1)) / 2
    if "ties" in kind:
        sizes = np.ceil(sizes / 2)
    differences = sizes * rng.choice([-1, -1, 1], n)
    if "zeros" in kind:
        differences[rng.random(n) < 0.2] = 0
        differences[0] = 0
    result = signed_rank_tests(*one_worker(differences))
    if not differences.any():
        assert result.pvalue[0] == 1
        return
    expected = stats.wilcoxon(differences, alternative="less")
    assert_allclose(result.statistic[0], expected.statistic)
    assert_allclose(result.pvalue[0], expected.pvalue, rtol=1e-12)


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(-4, 3), st.integers(0, 2)), min_size=1, max_size=36))
def test_signed_ranks_of_many_workers_are_as_for_each_alone(pairs):
    differences, workers = (np.array(column) for column in zip(*pairs, strict=True))
    together = signed_rank_tests(differences, workers)
    for i, worker in enumerate(together.workers):
        alone = signed_rank_tests(*one_worker(differences[workers == worker]))
        assert_allclose(together.pvalue[i], alone.pvalue[0])


def test_signed_ranks_of_zeros_prove_nothing():
    for n in (3, 20, 60):
        result = signed_rank_tests(*one_worker([0] * n))
        assert result.pvalue[0] == 1
        assert result.n_nonzero[0] == 0


def hits(*groups):
    """Return the differences, workers and times of consecutive HITs."""
    differences = [difference for group in groups for difference in group]
    times = [time for time, group in enumerate(groups) for _ in group]
    return differences, ["alice"] * len(differences), times


CAREFUL = [-30, -40, -20, -35, -25, -45, -10, -30, -50, -20]
CARELESS = [5, -5, 8, -8, 3, -3, 10, -9, 1, -1]


def test_a_worker_who_stops_reading_is_drifting():
    work = hits(*[CAREFUL] * 6, *[CARELESS] * WINDOW_HITS)
    latest, overall = window_tests(*work), degraded_tests(*work[:2])
    assert list(judge_workers(overall, latest)) == [Verdict.DRIFTING]
    assert list(judge_workers(overall)) == [Verdict.RELIABLE]


def test_the_latest_window_tests_the_latest_hits_only():
    rng = np.random.default_rng(2)
    groups = [list(rng.integers(-40, 20, 10)) for _ in range(7)]
    result = window_tests(*hits(*groups), window=3)
    expected = stats.ttest_1samp(np.concatenate(groups[-3:]), 0, alternative="less")
    assert_allclose([result.statistic[0], result.pvalue[0]], [expected.statistic, expected.pvalue])
    assert (result.n_hits[0], result.n_pairs[0], result.n_windows[0]) == (3, 30, 5)
    windows = [np.concatenate(groups[i : i + 3]) for i in range(5)]
    failed = [stats.ttest_1samp(w, 0, alternative="less").pvalue >= 0.05 for w in windows]
    assert result.n_failed[0] == sum(failed)


def test_a_worker_recovers_when_the_careless_hits_have_left_the_window():
    result = window_tests(*hits(*[CARELESS] * 3, *[CAREFUL] * 3), window=3)
    assert result.pvalue[0] < 0.05
    assert result.n_failed[0] >= 1


def test_fewer_hits_than_the_window_are_tested_together():
    work = hits(CAREFUL, CARELESS)
    result, overall = window_tests(*work, window=5), degraded_tests(*work[:2])
    assert_allclose(result.pvalue, overall.pvalue)
    assert result.n_windows[0] == 0


def test_windows_never_include_hits_of_another_worker():
    # Bob has fewer HITs than a window, and alice's come right before his.
    differences = np.array(CAREFUL * 4 + CARELESS * 2)
    workers = np.array(["alice"] * 40 + ["bob"] * 20)
    times = np.repeat([0, 1, 2, 3, 0, 1], 10)
    shuffled = np.random.default_rng(0).permutation(60)
    result = window_tests(differences[shuffled], workers[shuffled], times[shuffled], window=3)
    alice, bob = CAREFUL * 3, CARELESS * 2
    expected = [stats.ttest_1samp(latest, 0, alternative="less").pvalue for latest in (alice, bob)]
    assert_allclose(result.pvalue, expected)
    assert_array_equal(result.n_pairs, [30, 20])


def test_constant_negative_differences_in_a_window_pass():
    result = window_tests(*hits([-0.1] * 7, [-0.1] * 6, [-0.1] * 5))
    assert result.pvalue[0] == 0


def test_pairs_are_found_within_the_assignment():
    pairs = make_pairs(
        assignments=[1, 1, 1, 2, 2, 2],
        items=[10, 11, 12, 10, 11, 12],
        partners=[-1, 10, 10, -1, 10, 10],
        scores=[80, 20, 75, 50, 60, 50],
    )
    assert_array_equal(pairs.rows, [1, 2, 4, 5])
    assert_array_equal(pairs.partner_rows, [0, 0, 3, 3])
    assert_array_equal(pairs.differences, [-60, -5, 10, 0])
    assert pairs.n_unmatched == 0


def test_string_items_have_the_empty_string_for_no_partner():
    pairs = make_pairs(["x", "x"], ["good", "bad"], ["", "good"], [80, 20])
    assert_array_equal(pairs.differences, [-60])


def test_an_item_without_a_rated_partner_makes_no_pair():
    pairs = make_pairs([1, 2, 2], [10, 11, 12], [-1, 10, 99], [80, 20, 30])
    assert len(pairs.rows) == 0
    assert pairs.n_unmatched == 2


def test_an_item_rated_twice_in_an_assignment_is_refused():
    with pytest.raises(ValueError, match="`items`"):
        make_pairs([1, 1, 1], [10, 10, 11], [-1, -1, 10], [1, 2, 3])


def test_items_and_partners_must_be_the_same_kind_of_key():
    with pytest.raises(ValueError, match="`items` integers, `partners` strings"):
        make_pairs([1, 1], [10, 11], ["", "10"], [1, 2])


def full_hit(worker, assignment, rng, drop):
    """Return rows of one HIT: ten genuine items, each with a degraded item and a repeat."""
    rows = []
    for item in range(10):
        score = int(rng.integers(40, 100))
        rows += [
            (score, worker, Role.GENUINE, assignment, item, NO_PARTNER, assignment),
            (score - drop, worker, Role.BAD_REFERENCE, assignment, item + 100, item, assignment),
            (score + item % 3 - 1, worker, Role.REPEAT, assignment, item + 200, item, assignment),
            (100, worker, Role.REFERENCE, assignment, item + 300, item, assignment),
        ]
    return rows


def test_a_campaign_is_judged_in_one_call():
    rng = np.random.default_rng(8)
    rows = full_hit("alice", 1, rng, drop=30) + full_hit("bob", 2, rng, drop=0)
    rows += [(50, "carol", Role.GENUINE, 3, 0, NO_PARTNER, 3)]
    *columns, submitted = zip(*rows, strict=True)
    result = quality_control(*columns, submitted=submitted)
    assert list(result.workers) == ["alice", "bob", "carol"]
    assert list(result.verdicts) == [Verdict.RELIABLE, Verdict.UNRELIABLE, Verdict.UNPROVEN]
    assert list(result.trusted) == ["alice"]
    assert list(result.degraded.n_pairs) == list(result.repeats.n_pairs) == [10, 10, 0]
    assert_allclose(result.repeats.mean_absolute_difference[:2], [0.7, 0.7])
    assert list(result.degraded_ranks.n_nonzero) == [10, 0, 0]
    assert list(result.latest.n_pairs) == [10, 10, 0]
    assert result.signature.startswith("qc:paired-t,p<0.05,pairs>=5|window:3|version:")


def test_a_campaign_without_ratings_has_no_workers():
    result = quality_control([], [], [], [], [], [], submitted=[])
    assert len(result.workers) == len(result.verdicts) == len(result.trusted) == 0


def test_a_drifting_worker_is_still_trusted():
    rng = np.random.default_rng(9)
    rows = [row for hit in range(9) for row in full_hit("alice", hit, rng, drop=30 * (hit < 6))]
    *columns, submitted = zip(*rows, strict=True)
    result = quality_control(*columns, submitted=submitted)
    assert list(result.verdicts) == [Verdict.DRIFTING]
    assert list(result.trusted) == ["alice"]


def test_drift_begins_with_the_first_hit_of_the_earliest_failed_window():
    careful, careless = [-30, -31, -32, -33, -34], [1, 2, 3, 4, 5]
    rows = [
        (difference, worker, 10 * number + 7)
        for worker, n_careful in (("alice", 3), ("bob", 6), ("carol", 1))
        for number in range(6)
        for difference in (careful if number < n_careful else careless)
    ]
    result = window_tests(*zip(*rows, strict=True))
    # Each window of three HITs tested on its own.
    assert list(result.workers) == ["alice", "bob", "carol"]
    by_hand = [
        window_tests(
            *zip(
                *((d, w, t) for d, w, t in rows if w == worker and first <= t < first + 30),
                strict=True,
            )
        ).pvalue[0]
        >= 0.05
        for worker in ("alice", "carol")
        for first in (7, 17, 27, 37)
    ]
    expected = [
        next((7 + 10 * i for i, failed in enumerate(by_hand[place : place + 4]) if failed), np.nan)
        for place in (0, 4)
    ]
    assert_allclose(result.failed_since, [expected[0], np.nan, expected[1]])
    assert list(result.n_failed) == [sum(by_hand[:4]), 0, sum(by_hand[4:])]
    assert sum(by_hand) >= 2


def test_verdicts_need_tests_of_the_same_workers():
    with pytest.raises(ValueError, match="`latest`"):
        judge_workers(degraded_tests(*one_worker(ALICE)), window_tests(ALICE, ["bob"] * 5, [1] * 5))


@pytest.mark.parametrize(("options", "name"), [({"window": 0}, "window"), ({"alpha": 0}, "alpha")])
def test_impossible_thresholds_are_refused(options, name):
    with pytest.raises(ValueError, match=f"`{name}`"):
        window_tests(*hits(CAREFUL), **options)
