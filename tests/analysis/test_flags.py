import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from analysis.stats.flags import (
    LONGEST_EQUAL_RUN,
    AssignmentColumns,
    RatingColumns,
    corrected_seconds,
    flag_workers,
)
from analysis.stats.roles import Role
from analysis.stats.thresholds import FASTEST_HIT_SECONDS

GOOD = [(20, Role.BAD_REFERENCE), (60, Role.GENUINE), (58, Role.REPEAT), (95, Role.REFERENCE)]


def flag(scored=GOOD, *, start=0, end=1000, rejected=False):
    """Flag alice, who did one HIT."""
    scores, roles = zip(*scored, strict=True)
    n = len(scores)
    ratings = RatingColumns(scores, ["alice"] * n, roles, [1] * n, range(n))
    return flag_workers(ratings, AssignmentColumns(["alice"], [start], [end], [rejected]))


def raised(result):
    names = ("scores", "time", "sequence", "rejected")
    return [name for name in names if getattr(result, name)[0]]


def test_good_work_raises_no_flag():
    result = flag()
    assert raised(result) == []
    assert_allclose(
        [result.mean_bad_reference, result.mean_genuine, result.mean_reference], [[20], [60], [95]]
    )


@pytest.mark.parametrize(
    "means",
    [
        {Role.BAD_REFERENCE: 60, Role.GENUINE: 60, Role.REFERENCE: 95},
        {Role.BAD_REFERENCE: 20, Role.GENUINE: 95, Role.REFERENCE: 95},
        {Role.BAD_REFERENCE: 20, Role.GENUINE: 60, Role.REFERENCE: 89},
    ],
)
def test_means_in_the_wrong_order_or_low_references_raise_the_scores_flag(means):
    assert raised(flag([(score, role) for role, score in means.items()])) == ["scores"]


def test_a_campaign_without_references_raises_no_flag_for_them():
    assert raised(flag([(20, Role.BAD_REFERENCE), (60, Role.GENUINE)])) == []


@pytest.mark.parametrize(
    ("seconds", "flags"), [(FASTEST_HIT_SECONDS, []), (FASTEST_HIT_SECONDS - 1, ["time"])]
)
def test_a_hit_done_too_fast_raises_the_time_flag(seconds, flags):
    assert raised(flag(start=50, end=50 + seconds)) == flags


@pytest.mark.parametrize(
    ("length", "flags"), [(LONGEST_EQUAL_RUN, []), (LONGEST_EQUAL_RUN + 1, ["sequence"])]
)
def test_equal_scores_in_a_row_raise_the_sequence_flag(length, flags):
    result = flag([*GOOD, *[(60, Role.GENUINE)] * length])
    assert result.longest_equal_run[0] == length
    assert raised(result) == flags


def test_runs_follow_the_display_order_and_end_with_the_assignment():
    scores, assignments = [7, 1, 7, 7, 7, 7], [1, 1, 1, 1, 2, 2]
    ratings = RatingColumns(scores, [5] * 6, [0] * 6, assignments, [3, 0, 1, 2, 0, 1])
    result = flag_workers(ratings, AssignmentColumns([], [], [], []))
    assert result.longest_equal_run[0] == 3


def test_rejected_work_raises_the_rejected_flag():
    assert raised(flag(rejected=True)) == ["rejected"]


def test_time_is_shared_between_hits_open_at_once():
    workers = ["alice"] * 4 + ["bob"]
    started, submitted = [0, 100, 700, 1000, 0], [600, 800, 1000, 1300, 1000]
    seconds, n_open = corrected_seconds(workers, started, submitted)
    # The first overlaps the second, which also overlaps the third; the fourth starts as the third ends.
    assert_array_equal(n_open, [2, 3, 2, 1, 1])
    assert_allclose(seconds, [300, 700 / 3, 150, 300, 1000])


def test_counts_of_open_hits_match_a_pairwise_check():
    rng = np.random.default_rng(4)
    workers = rng.integers(0, 5, 80)
    started = rng.integers(0, 1000, 80)
    submitted = started + rng.integers(1, 200, 80)
    _, n_open = corrected_seconds(workers, started, submitted)
    meets = (started[:, None] < submitted) & (started < submitted[:, None])
    assert_array_equal(n_open, (meets & (workers[:, None] == workers)).sum(axis=1))


def test_a_worker_in_only_one_table_is_listed():
    ratings = RatingColumns([50], ["alice"], [Role.GENUINE], [1], [0])
    result = flag_workers(ratings, AssignmentColumns(["bob"], [0], [400], [False]))
    assert list(result.workers) == ["alice", "bob"]
    assert np.isnan(result.fastest_seconds[0])
    assert not any(
        getattr(result, name).any() for name in ("scores", "time", "sequence", "rejected")
    )


def test_the_time_of_a_hit_that_ends_before_it_begins_is_unknown():
    """The clock was set back while the worker was busy, which says nothing about the worker."""
    seconds, n_open = corrected_seconds([1, 1, 1], [0, 90, 700], [600, 50, 1000])
    assert_allclose(seconds, [600, np.nan, 300])
    assert_array_equal(n_open, [1, 1, 1])


def test_a_clock_that_was_set_back_raises_no_flag():
    ratings = RatingColumns([50], ["alice"], [Role.GENUINE], [1], [0])
    hits = AssignmentColumns(["alice", "alice", "bob"], [0, 90, 10], [600, 50, 9], [False] * 3)
    result = flag_workers(ratings, hits)
    assert_allclose(result.fastest_seconds, [600, np.nan])
    assert_array_equal(result.n_hits, [2, 1])
    assert not result.time.any()


def test_no_ratings_and_no_assignments_flag_nobody():
    result = flag_workers(RatingColumns([], [], [], [], []), AssignmentColumns([], [], [], []))
    assert len(result.workers) == len(result.scores) == len(result.time) == 0


def test_unknown_roles_are_refused():
    with pytest.raises(ValueError, match="`roles`"):
        flag([(50, 9)])
