"""Variance components and power, by hand, by simulation and by what they must not do."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from analysis.stats.planning import (
    Design,
    difference_error,
    gold_reliability,
    level_of,
    power,
    ratings_for_reliability,
    segments_for_power,
    smallest_difference,
)
from analysis.stats.sample_size import spearman_brown
from analysis.stats.variance_components import VarianceComponents, variance_components
from benchmarks.planner import COMPONENTS, DESIGNS, TOLERANCE, simulated_power

PUBLISHED = VarianceComponents(0.25, 0.16, 0.0, 0.0, 0.59)
TASTES = VarianceComponents(0.2, 0.1, 0.0, 0.05, 0.65)


def crossed(rng: np.random.Generator, truth: VarianceComponents) -> VarianceComponents:
    """Simulate three ratings of each translation by random workers, and estimate the variances."""
    n, k, m = 200, 6, 60
    spread = {name: math.sqrt(getattr(truth, name)) for name in truth.__slots__}
    segments, systems = (np.repeat(part.ravel(), 3) for part in np.indices((n, k)))
    workers = rng.integers(0, m, len(segments))
    y = (
        spread["segment"] * rng.normal(size=n)[segments]
        + spread["translation"] * rng.normal(size=(n, k))[segments, systems]
        + spread["worker"] * rng.normal(size=m)[workers]
        + spread["taste"] * rng.normal(size=(m, k))[workers, systems]
        + spread["residual"] * rng.normal(size=len(segments))
        + systems
    )
    return variance_components(y, workers, systems, segments)


class TestVariances:
    def test_by_hand(self):
        # Two systems with means 2 and 3, two segments, each rated once by each of two workers.
        segments = [0, 0, 0, 0, 1, 1, 1, 1]
        systems = ["a", "a", "b", "b"] * 2
        workers = ["x", "y"] * 4
        found = variance_components([3, 3, 5, 3, 1, 1, 1, 3], workers, systems, segments)
        # Around the means: 1 1, 2 0 and -1 -1, -2 0. Same translation, other worker: 1*1, 2*0, 1, 0: mean 0.5.
        # Other system and worker: 1*0, 1*2, 1*0, 1*2: mean 1, so no more is left for translations.
        assert_allclose((found.segment, found.translation), (1.0, 0.0))
        # Same worker and system, other segment: -1, -1, -4, 0: below 0, as is the other system's.
        assert_allclose((found.worker, found.taste), (0.0, 0.0))
        # 12 over the 8 ratings less 2 means, less the segments.
        assert_allclose(found.residual, 12 / 6 - 1)

    def test_simulated_variances_are_found(self):
        truth = VarianceComponents(0.25, 0.16, 0.09, 0.04, 0.49)
        rng = np.random.default_rng(4)
        found = [crossed(rng, truth) for _ in range(20)]
        for name in truth.__slots__:
            mean = np.mean([getattr(each, name) for each in found])
            # Four standard errors, and the little that estimated means take from workers.
            assert_allclose(mean, getattr(truth, name), atol=0.02, err_msg=name)

    def test_missing_scores_do_not_count_and_none_at_all_give_zeros(self):
        args = (["x", "y", "x"], ["a"] * 3, [1, 1, 2])
        with_gap = variance_components([1.0, 3.0, math.nan], *args)
        assert with_gap == variance_components([1.0, 3.0], *(column[:2] for column in args))
        assert variance_components([], [], [], []).total == 0

    def test_a_negative_variance_is_refused(self):
        with pytest.raises(ValueError, match="`taste` must be a variance"):
            VarianceComponents(1, 1, 1, -0.1, 1)


class TestPower:
    def test_with_many_workers_and_segments_it_is_that_of_the_normal(self):
        design = Design(2, 20_000, 2, genuine_per_hit=10)
        error = math.sqrt(2 * (0.16 / 20_000 + 0.59 / 40_000))
        assert_allclose(difference_error(design, PUBLISHED), error)
        expected = stats.norm.cdf(2.5 - stats.norm.isf(0.025))
        assert_allclose(power(design, PUBLISHED, 2.5 * error), expected, atol=0.01)

    def test_the_level_is_the_first_step_of_holm(self):
        assert level_of(2) == 0.025 and level_of(5) == 0.05 / 20

    def test_tastes_are_averaged_out_by_workers_only(self):
        few, many = Design(2, 10_000, 1, hits_per_worker=30), Design(2, 10_000, 1)
        assert few.n_workers == 10 and many.n_workers == 286
        assert difference_error(few, TASTES) > 3 * difference_error(many, TASTES)

    def test_the_fewest_segments_reach_the_power_and_one_less_does_not(self):
        design = Design(2, 2, 3, genuine_per_hit=1)
        n = segments_for_power(design, PUBLISHED, 0.15, 0.8)
        assert power(Design(2, n, 3, 1), PUBLISHED, 0.15) >= 0.8
        assert power(Design(2, n - 1, 3, 1), PUBLISHED, 0.15) < 0.8

    def test_the_smallest_difference_has_the_wished_power(self):
        design = Design(4, 300, 2)
        found = smallest_difference(design, TASTES, 0.7)
        assert_allclose(power(design, TASTES, found), 0.7, atol=1e-4)

    def test_what_no_number_reaches_is_none_and_one_worker_shows_nothing(self):
        only_two_hits = Design(2, 2, 1, genuine_per_hit=100_000_000)
        assert segments_for_power(only_two_hits, TASTES, 0.01, 0.9) is None
        assert power(Design(2, 20, 1), TASTES, 1.0) == 0
        assert smallest_difference(Design(2, 20, 1), TASTES, 0.5) == math.inf

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"n_systems": 1}, "n_systems"),
            ({"n_ratings": 0}, "n_ratings"),
            ({"hits_per_worker": 0.5}, "hits_per_worker"),
        ],
    )
    def test_impossible_designs_are_refused(self, change, message):
        with pytest.raises(ValueError, match=message):
            Design(**{"n_systems": 2, "n_segments": 10, "n_ratings": 1} | change)
        with pytest.raises(ValueError, match="difference"):
            power(Design(2, 10, 1), PUBLISHED, 0)

    def test_one_cell_of_the_grid_by_simulation(self):
        design = Design(2, 100, 3)
        difference = smallest_difference(design, TASTES, 0.8)
        rng = np.random.default_rng(1)
        found = simulated_power(design, TASTES, difference, campaigns=250, rng=rng)
        # Three standard errors and the tolerance of the slow test.
        assert abs(found - 0.8) < 0.03 + 3 * math.sqrt(0.16 / 250)


class TestReliability:
    def test_it_is_spearman_brown(self):
        assert_allclose(gold_reliability(PUBLISHED, [1, 15, 40]), spearman_brown(0.41, [1, 15, 40]))
        assert ratings_for_reliability(PUBLISHED, 0.91) == 15
        assert ratings_for_reliability(PUBLISHED, 0.3) == 1

    def test_without_a_signal_no_number_is_enough(self):
        noise = VarianceComponents(0, 0, 0, 0, 1)
        assert ratings_for_reliability(noise, 0.5) is None
        assert_allclose(gold_reliability(noise, [1, 100]), 0)


@pytest.mark.slow
@pytest.mark.parametrize("components", COMPONENTS)
@pytest.mark.parametrize("wished", [0.5, 0.8])
@pytest.mark.parametrize(
    "design", DESIGNS, ids=lambda d: f"{d.n_systems}x{d.n_segments}x{d.n_ratings}"
)
def test_plans_keep_their_promise(components, wished, design):
    campaigns = 1_500
    difference = smallest_difference(design, COMPONENTS[components], wished)
    rng = np.random.default_rng(5)
    found = simulated_power(
        design, COMPONENTS[components], difference, campaigns=campaigns, rng=rng
    )
    # What chance alone does in two of a hundred cells is not held against the plan.
    assert abs(found - wished) < TOLERANCE + 1.2 * math.sqrt(wished * (1 - wished) / campaigns)
