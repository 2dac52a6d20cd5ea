import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from analysis.stats.preferences import (
    darr_tau,
    preference_ceiling,
    preference_tau,
    relative_preferences,
)
from analysis.stats.significance import binomial_interval


@pytest.mark.parametrize(
    ("metric_ties", "tau", "n"),
    # Three concordant pairs, one discordant, one tied.
    [("wmt14", 2 / 5, 5), ("wmt13", 2 / 4, 4), ("wmt12", 1 / 5, 5), ("darr", 1 / 5, 5)],
)
def test_each_year_has_its_own_rule_for_metric_ties(metric_ties: str, tau: float, n: int) -> None:
    result = preference_tau([5, 5, 5, 1, 3], [1, 2, 4, 2, 3], metric_ties=metric_ties)  # type: ignore[arg-type]
    assert_allclose(result.estimate, tau)
    assert (result.n, result.n_concordant, result.n_discordant, result.n_tied) == (n, 3, 1, 1)


def test_a_preference_needs_a_difference_of_25_points() -> None:
    better, worse, segments = relative_preferences([[50, 50, 10], [75, 74, np.nan], [20, 50, 90]])
    preferences = sorted(zip(better.tolist(), worse.tolist(), segments.tolist(), strict=True))
    assert preferences == [(0, 2, 0), (1, 0, 0), (1, 2, 0), (2, 0, 2)]


def test_equal_gold_is_never_a_preference() -> None:
    better, _, _ = relative_preferences([[50, 50], [50, 51]], points=0)
    assert better.tolist() == [1]


def test_darr_by_hand() -> None:
    # Preferences: 1 over 0, 1 over 2, 0 over 2 (segment 0); metric right, tied, wrong.
    result = darr_tau([[4, 0], [6, 0], [6, 0]], [[50, 9], [90, 9], [10, 9]])
    assert_allclose(result.estimate, -1 / 3)


def test_the_interval_is_binomial_on_the_scale_of_tau() -> None:
    result = preference_tau([2, 2, 2, 1], [1, 1, 1, 2])
    low, high = binomial_interval(3, 4)
    assert_allclose((result.low, result.high), (2 * low - 1, 2 * high - 1))


def test_no_preferences_have_no_tau() -> None:
    result = darr_tau([[1.0], [2.0]], [[50], [51]])
    assert np.isnan([result.estimate, result.low, result.high]).all()
    assert result.n == 0


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1))
def test_swapping_the_sides_reverses_the_sign(pairs: list[tuple[int, int]]) -> None:
    better, worse = zip(*pairs, strict=True)
    tau = preference_tau(better, worse).estimate
    assert_allclose(preference_tau(worse, better).estimate, -tau, atol=1e-12)
    lower = preference_tau(better, worse, higher_is_better=False)
    assert_allclose(lower.estimate, -tau, atol=1e-12)


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"better": [1], "worse": [1, 2]}, "`better`"),
        ({"better": [np.nan], "worse": [1]}, "`better`"),
        ({"better": [1], "worse": [1], "metric_ties": "wmt11"}, "`metric_ties`"),
    ],
)
def test_a_refusal_names_the_parameter(arguments: dict, name: str) -> None:
    with pytest.raises(ValueError, match=name):
        preference_tau(**arguments)


def test_missing_metric_scores_and_negative_points_are_refused() -> None:
    with pytest.raises(ValueError, match="`metric`"):
        darr_tau([[np.nan], [1]], [[1], [2]])
    with pytest.raises(ValueError, match="`points`"):
        relative_preferences([[1], [2]], points=-1)


def test_the_ceiling_is_the_share_that_agrees_with_the_majority() -> None:
    # Segment 1: a over b twice, b over a once. Segment 2: a over b once. (1 + 1) / 4.
    result = preference_ceiling(["a", "b", "a", "a"], ["b", "a", "b", "b"], [1, 1, 1, 2])
    assert_allclose(result, 0.5)
    assert np.isnan(preference_ceiling([], [], []))


@given(st.lists(st.tuples(st.booleans(), st.integers(1, 5)), min_size=1, max_size=30))
def test_no_metric_exceeds_the_ceiling(votes: list[tuple[bool, int]]) -> None:
    better = ["a" if vote else "b" for vote, _ in votes]
    worse = ["b" if vote else "a" for vote, _ in votes]
    segments = [segment for _, segment in votes]
    ceiling = preference_ceiling(better, worse, segments)
    totals = {s: sum(1 if vote else -1 for vote, t in votes if t == s) for s in segments}
    scores = {("a", s): np.sign(total) for s, total in totals.items()}
    best = preference_tau(
        [scores.get((system, s), 0) for system, s in zip(better, segments, strict=True)],
        [scores.get((system, s), 0) for system, s in zip(worse, segments, strict=True)],
    )
    assert_allclose(best.estimate, ceiling)


def test_the_interval_with_segments_as_the_unit_is_wider_if_segments_agree() -> None:
    rng = np.random.default_rng(3)
    segments = np.repeat(np.arange(30), 10)
    better = np.repeat(rng.random(30) < 0.7, 10).astype(float)
    plain = preference_tau(better, 1 - better)
    by_segment = preference_tau(better, 1 - better, segments=segments)
    assert plain.estimate == by_segment.estimate
    assert by_segment.high - by_segment.low > 2 * (plain.high - plain.low)
    assert "interval:t,jackknife-by-segment" in by_segment.signature


@pytest.mark.slow
def test_19_of_20_intervals_of_tau_cover_the_true_value() -> None:
    rng, n_covered = np.random.default_rng(4), 0
    for _ in range(2000):
        # The chance of agreement varies from segment to segment around 0.7, so tau is 0.4.
        chances = np.repeat(rng.beta(7, 3, size=50), 6)
        agrees = (rng.random(300) < chances).astype(float)
        result = preference_tau(agrees, 1 - agrees, segments=np.repeat(np.arange(50), 6))
        n_covered += result.low <= 0.4 <= result.high
    assert 0.93 <= n_covered / 2000 <= 0.97
