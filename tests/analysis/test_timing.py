"""How fast a HIT was rated, by the server's clock."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from analysis.stats.timing import (
    BURST,
    CLAIM_SLACK_SECONDS,
    FAST_SECONDS,
    IMPOSSIBLE_BURST_SECONDS,
    observed_times,
)


def pace(gaps, *, claimed=np.nan, started=1_000.0):
    """A HIT whose ratings arrived after these gaps, the first one since the start."""
    received = started + np.cumsum(gaps)
    n = len(received)
    return observed_times(np.arange(1, n + 1), received, np.full(n, claimed), started=started)


def test_five_ratings_by_hand():
    times = pace([10, 1, 3, 5, 1], claimed=2)
    assert (times.n_ratings, times.median_gap, times.share_fast) == (5, 2, 0.5)
    assert (times.claimed, times.passed) == (10, 20)
    assert np.isnan(times.fastest_burst)


def test_a_gap_of_exactly_two_seconds_is_not_fast():
    assert pace([9, FAST_SECONDS, FAST_SECONDS]).share_fast == 0


def test_ratings_are_in_the_order_shown():
    times = observed_times([3, 1, 2], [30.0, 10.0, 20.0], [1, 1, 1], started=0)
    assert times.median_gap == 10


def test_moving_the_clock_changes_nothing():
    gaps = np.random.default_rng(3).lognormal(2, 0.5, 100)
    early, late = pace(gaps, started=0.0), pace(gaps, started=1_760_000_000.0)
    assert_allclose(early.median_gap, late.median_gap, atol=1e-6)
    assert_allclose(early.fastest_burst, late.fastest_burst, atol=1e-6)


def test_a_clock_that_was_set_back_gives_no_negative_time():
    times = observed_times([1, 2, 3], [50.0, 20.0, 60.0], [1, 1, 1], started=40.0)
    assert (times.median_gap, times.passed) == (5, 20)
    before_start = observed_times([1, 2], [10.0, 11.0], [1, 1], started=40.0)
    assert (before_start.median_gap, before_start.passed) == (0, 0)


def test_a_script_that_waits_at_the_end_is_still_impossible():
    times = pace([0.005] * 99 + [300])
    assert times.passed > 300 and times.fastest_burst < 1 and times.is_impossible


def test_a_hidden_burst_among_slow_ratings_is_found():
    times = pace([8.0] * 40 + [0.1] * (BURST - 1) + [8.0] * 31)
    assert_allclose(times.fastest_burst, 0.1 * (BURST - 1))
    assert times.is_impossible


def test_the_browsers_queue_after_a_time_offline_is_possible():
    # Fifteen ratings waited and arrive together; before and after, the worker reads.
    times = pace([6.0] * 30 + [90.0] + [0.0] * 14 + [6.0] * 55)
    assert times.fastest_burst >= IMPOSSIBLE_BURST_SECONDS and not times.is_impossible


def test_claims_beyond_the_time_that_passed_are_impossible():
    honest, boastful = pace([5.0] * 100, claimed=4.8), pace([5.0] * 100, claimed=9)
    assert not honest.claims_too_much and not honest.is_impossible
    assert boastful.claims_too_much and boastful.is_impossible


def test_clocks_may_differ_a_little():
    assert not pace([1.0], claimed=CLAIM_SLACK_SECONDS + 1).claims_too_much
    assert pace([1.0], claimed=CLAIM_SLACK_SECONDS + 2).claims_too_much


def test_a_browser_that_claims_nothing_is_not_blamed():
    times = pace([5.0] * 40)
    assert times.claimed == 0 and not times.claims_too_much


def test_too_few_ratings_have_no_pace():
    for gaps in ([], [4.0]):
        times = pace(gaps)
        assert np.isnan(times.median_gap) and np.isnan(times.share_fast)
        assert not times.is_impossible
    assert pace([]).passed == 0


def test_columns_must_be_parallel():
    with pytest.raises(ValueError, match="`claimed` has 1"):
        observed_times([1, 2], [1.0, 2.0], [1.0], started=0)
