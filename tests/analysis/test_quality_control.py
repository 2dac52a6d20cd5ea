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
    own = degraded_tests(*one_worker(ALICE))
    # mean -8; squared deviations 9 + 4 + 121 + 144 + 0 = 278; se = sqrt(278 / 4 / 5)
    assert_allclose(own.mean_difference, [-8])
    assert_allclose(own.mean_absolute_difference, [46 / 5])
    assert_allclose(own.statistic, [-8 / np.sqrt(278 / 20)])
    assert (own.n_pairs[0], own.df[0]) == (5, 4)


def test_all_workers_at_once_agree_with_scipy_one_by_one():
    rng = np.random.default_rng(5)
    differences, workers = rng.integers(-60, 50, 500), rng.integers(0, 30, 500)
    degraded, repeats = degraded_tests(differences, workers), repeat_tests(differences, workers)
    for i, worker in enumerate(degraded.workers):
        own = differences[workers == worker]
        less = stats.ttest_1samp(own, 0, alternative="less")
        either = stats.ttest_1samp(own, 0)
        assert_allclose([degraded.statistic[i], degraded.pvalue[i]], [less.statistic, less.pvalue])
        assert_allclose(
            [repeats.statistic[i], repeats.pvalue[i]], [either.statistic, either.pvalue]
        )
        assert_allclose([repeats.low[i], repeats.high[i]], either.confidence_interval(0.95))


@pytest.mark.parametrize(
    ("differences", "pvalue"), [([-7] * 6, 0), ([0] * 6, 1), ([7] * 6, 1), ([-0.1] * 7, 0)]
)
def test_equal_differences_have_the_p_value_that_was_decided(differences, pvalue):
    own = degraded_tests(*one_worker(differences))
    assert own.pvalue[0] == pvalue
    expected = Verdict.RELIABLE if pvalue == 0 else Verdict.UNRELIABLE
    assert judge_workers(own)[0] == expected


@pytest.mark.parametrize(("differences", "pvalue"), [([0] * 5, 1), ([3] * 5, 0), ([-3] * 5, 0)])
def test_equal_differences_of_repeats(differences, pvalue):
    assert repeat_tests(*one_worker(differences)).pvalue[0] == pvalue


@pytest.mark.parametrize("n", range(1, MINIMUM_PAIRS))
def test_few_pairs_leave_a_worker_unproven_whatever_they_say(n):
    assert list(judge_workers(degraded_tests(*one_worker([-90] * n)))) == [Verdict.UNPROVEN]


def test_one_pair_has_a_mean_and_no_test():
    own = degraded_tests([-4], ["alice"])
    assert own.mean_difference[0] == -4
    assert np.isnan([own.statistic[0], own.pvalue[0], own.low[0]]).all()


def test_no_pairs_at_all():
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
def test_turning_the_differences_round_turns_the_p_value_round(differences):
    own = degraded_tests(*one_worker(differences))
    turned = degraded_tests(*one_worker([-difference for difference in differences]))
    if np.ptp(differences):
        assert_allclose(own.pvalue + turned.pvalue, 1)


@pytest.mark.parametrize("n", [1, 2, 5, 13, 14, 50, 51, 80])
@pytest.mark.parametrize("kind", ["distinct", "ties", "zeros", "ties and zeros"])
def test_signed_ranks_agree_with_scipy(n, kind):
    rng = np.random.default_rng(n)
    sizes = rng.permutation(np.arange(1, n + 1)) / 2
    if "ties" in kind:
        sizes = np.ceil(sizes / 2)
    differences = sizes * rng.choice([-1, -1, 1], n)
    if "zeros" in kind:
        differences[rng.random(n) < 0.2] = 0
        differences[0] = 0
    own = signed_rank_tests(*one_worker(differences))
    if not differences.any():
        assert own.pvalue[0] == 1
        return
    expected = stats.wilcoxon(differences, alternative="less")
    assert_allclose(own.statistic[0], expected.statistic)
    assert_allclose(own.pvalue[0], expected.pvalue, rtol=1e-12)


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(-4, 3), st.integers(0, 2)), min_size=1, max_size=36))
def test_signed_ranks_of_many_workers_are_those_of_each_alone(pairs):
    differences, workers = (np.array(column) for column in zip(*pairs, strict=True))
    together = signed_rank_tests(differences, workers)
    for i, worker in enumerate(together.workers):
        alone = signed_rank_tests(*one_worker(differences[workers == worker]))
        assert_allclose(together.pvalue[i], alone.pvalue[0])


def test_signed_ranks_of_zeros_only_prove_nothing():
    for n in (3, 20, 60):
        own = signed_rank_tests(*one_worker([0] * n))
        assert own.pvalue[0] == 1
        assert own.n_nonzero[0] == 0


def hits(*groups):
    """Return differences, worker and time of one HIT after the other."""
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


def test_the_latest_window_is_the_test_over_the_latest_hits_alone():
    rng = np.random.default_rng(2)
    groups = [list(rng.integers(-40, 20, 10)) for _ in range(7)]
    own = window_tests(*hits(*groups), window=3)
    expected = stats.ttest_1samp(np.concatenate(groups[-3:]), 0, alternative="less")
    assert_allclose([own.statistic[0], own.pvalue[0]], [expected.statistic, expected.pvalue])
    assert (own.n_hits[0], own.n_pairs[0], own.n_windows[0]) == (3, 30, 5)
    windows = [np.concatenate(groups[i : i + 3]) for i in range(5)]
    failed = [stats.ttest_1samp(w, 0, alternative="less").pvalue >= 0.05 for w in windows]
    assert own.n_failed[0] == sum(failed)


def test_a_worker_recovers_when_the_careless_hits_have_left_the_window():
    own = window_tests(*hits(*[CARELESS] * 3, *[CAREFUL] * 3), window=3)
    assert own.pvalue[0] < 0.05
    assert own.n_failed[0] >= 1


def test_fewer_hits_than_the_window_are_one_window_over_all():
    work = hits(CAREFUL, CARELESS)
    own, overall = window_tests(*work, window=5), degraded_tests(*work[:2])
    assert_allclose(own.pvalue, overall.pvalue)
    assert own.n_windows[0] == 0


def test_windows_never_reach_into_another_workers_hits():
    # Bob has fewer HITs than the window spans, and alice's stand right before his.
    differences = np.array(CAREFUL * 4 + CARELESS * 2)
    workers = np.array(["alice"] * 40 + ["bob"] * 20)
    times = np.repeat([0, 1, 2, 3, 0, 1], 10)
    shuffled = np.random.default_rng(0).permutation(60)
    own = window_tests(differences[shuffled], workers[shuffled], times[shuffled], window=3)
    alice, bob = CAREFUL * 3, CARELESS * 2
    expected = [stats.ttest_1samp(latest, 0, alternative="less").pvalue for latest in (alice, bob)]
    assert_allclose(own.pvalue, expected)
    assert_array_equal(own.n_pairs, [30, 20])


def test_equal_differences_in_a_window_pass_when_negative():
    own = window_tests(*hits([-0.1] * 7, [-0.1] * 6, [-0.1] * 5))
    assert own.pvalue[0] == 0


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


def test_an_item_whose_partner_was_not_rated_makes_no_pair():
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


def test_a_whole_campaign_is_judged_in_one_call():
    rng = np.random.default_rng(8)
    rows = full_hit("alice", 1, rng, drop=30) + full_hit("bob", 2, rng, drop=0)
    rows += [(50, "carol", Role.GENUINE, 3, 0, NO_PARTNER, 3)]
    *columns, submitted = zip(*rows, strict=True)
    own = quality_control(*columns, submitted=submitted)
    assert list(own.workers) == ["alice", "bob", "carol"]
    assert list(own.verdicts) == [Verdict.RELIABLE, Verdict.UNRELIABLE, Verdict.UNPROVEN]
    assert list(own.trusted) == ["alice"]
    assert list(own.degraded.n_pairs) == list(own.repeats.n_pairs) == [10, 10, 0]
    assert_allclose(own.repeats.mean_absolute_difference[:2], [0.7, 0.7])
    assert list(own.degraded_ranks.n_nonzero) == [10, 0, 0]
    assert list(own.latest.n_pairs) == [10, 10, 0]
    assert own.signature.startswith("qc:paired-t,p<0.05,pairs>=5|window:3|version:")


def test_a_campaign_without_ratings_has_no_workers():
    own = quality_control([], [], [], [], [], [], submitted=[])
    assert len(own.workers) == len(own.verdicts) == len(own.trusted) == 0


def test_a_drifting_worker_is_still_trusted():
    rng = np.random.default_rng(9)
    rows = [row for hit in range(9) for row in full_hit("alice", hit, rng, drop=30 * (hit < 6))]
    *columns, submitted = zip(*rows, strict=True)
    own = quality_control(*columns, submitted=submitted)
    assert list(own.verdicts) == [Verdict.DRIFTING]
    assert list(own.trusted) == ["alice"]


def test_verdicts_need_tests_about_the_same_workers():
    with pytest.raises(ValueError, match="`latest`"):
        judge_workers(degraded_tests(*one_worker(ALICE)), window_tests(ALICE, ["bob"] * 5, [1] * 5))


@pytest.mark.parametrize(("options", "name"), [({"window": 0}, "window"), ({"alpha": 0}, "alpha")])
def test_it_refuses_thresholds_that_make_no_sense(options, name):
    with pytest.raises(ValueError, match=f"`{name}`"):
        window_tests(*hits(CAREFUL), **options)
