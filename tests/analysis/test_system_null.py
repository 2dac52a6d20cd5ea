"""Equal systems: how often each test finds a difference, and how often intervals hold the truth.

Rejections of a test at 5 % should lie between 3 and 7 %, coverage of a 95 % interval between 93 and 97 %. With
1,500 campaigns a rate of 5 % has a standard error of 0.6 %.
"""

from dataclasses import dataclass

import numpy as np
import pytest

from analysis.stats.systems import compare_systems, system_scores
from tests.analysis.simulated_ratings import Crowd, simulate_ratings

N_CAMPAIGNS = 1500
CROWDS = {
    "segments differ": Crowd(),
    "workers prefer systems": Crowd(preference=0.3),
    "few workers prefer systems": Crowd(n_segments=150, n_workers=15, n_ratings=2, preference=0.3),
    "a few workers do most": Crowd(n_workers=30, preference=0.3, is_uneven=True),
    "many ties": Crowd(noise=0.7, is_coarse=True),
    "few segments": Crowd(n_segments=25, n_workers=15, n_ratings=4),
}


@dataclass(frozen=True)
class Rates:
    two_way: float
    paired: float
    published: float
    score_coverage: float
    difference_coverage: float
    probability_coverage: float


def rates(crowd: Crowd) -> Rates:
    rng = np.random.default_rng(16)
    rejected, scores, covered = [], [], []
    for _ in range(N_CAMPAIGNS):
        ratings = simulate_ratings(rng, crowd)
        means, covariance = ratings.means(), ratings.covariance()
        systems, segments = np.indices(means.shape)
        columns = (systems.ravel(), segments.ravel())
        result = compare_systems(means.ravel(), *columns, covariance=covariance)
        # Systems are sorted by their mean, so pick a pair that does not depend on it.
        first, second = (int(np.flatnonzero(result.systems == system)[0]) for system in (0, 1))
        pair = (first, second)
        rejected.append(
            [
                matrix[pair] < 0.05
                for matrix in (result.pvalues, result.paired_pvalues, result.rank_sum_pvalues)
            ]
        )
        covered.append(
            [
                result.low[pair] <= 0 <= result.high[pair],
                result.probability_low[pair] <= 0.5 <= result.probability_high[pair],
            ]
        )
        ranked = system_scores(
            means.ravel(), means.ravel(), np.ones(means.size), columns[0], covariance=covariance
        )
        scores.append((ranked.z_low, ranked.z, ranked.z_high))
    low, z, high = np.array(scores).transpose(1, 0, 2)
    score_coverage = np.mean((low <= z.mean()) & (z.mean() <= high))
    return Rates(*np.mean(rejected, axis=0), score_coverage, *np.mean(covered, axis=0))


@pytest.fixture(scope="module")
def measured() -> dict[str, Rates]:
    return {name: rates(crowd) for name, crowd in CROWDS.items()}


@pytest.mark.slow
@pytest.mark.parametrize("crowd", CROWDS)
def test_the_default_test_rejects_as_often_as_it_says(measured, crowd):
    assert 0.03 <= measured[crowd].two_way <= 0.07


@pytest.mark.slow
@pytest.mark.parametrize("crowd", CROWDS)
def test_intervals_hold_the_truth(measured, crowd):
    assert 0.93 <= measured[crowd].score_coverage <= 0.97
    assert 0.93 <= measured[crowd].difference_coverage <= 0.97
    assert 0.93 <= measured[crowd].probability_coverage <= 0.97


@pytest.mark.slow
@pytest.mark.parametrize("crowd", ["segments differ", "many ties", "few segments"])
def test_signed_ranks_reject_as_often_as_they_say_where_workers_have_no_preferences(
    measured, crowd
):
    assert 0.03 <= measured[crowd].paired <= 0.07


@pytest.mark.slow
def test_tests_over_segments_reject_too_often_where_workers_prefer_systems(measured):
    few = measured["few workers prefer systems"]
    assert few.paired > 0.10 and few.published > 0.08


@pytest.mark.slow
def test_mann_whitney_hardly_ever_rejects_where_segments_differ(measured):
    assert measured["segments differ"].published < 0.03
    assert measured["many ties"].published < 0.03


def test_the_default_test_holds_in_a_short_simulation():
    rng = np.random.default_rng(2)
    n_rejected = 0
    for _ in range(200):
        ratings = simulate_ratings(rng, Crowd(n_segments=30, preference=0.3))
        means = ratings.means()
        systems, segments = np.indices(means.shape)
        result = compare_systems(
            means.ravel(), systems.ravel(), segments.ravel(), covariance=ratings.covariance()
        )
        n_rejected += bool(result.is_win.any())
    # At most 5 % of tables have any win, with three standard errors on top.
    assert n_rejected / 200 <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 200)
