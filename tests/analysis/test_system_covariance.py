"""The variance of system scores over segments and workers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from analysis.stats.segments import segment_scores
from analysis.stats.standardise import standardise_by_worker
from analysis.stats.system_covariance import (
    SystemCovariance,
    covariance_of_segment_scores,
    system_covariance,
)
from analysis.stats.systems import system_scores
from tests.analysis.simulated_ratings import Crowd, simulate_ratings


def by_definition(z, workers, translations, segments, is_scored, produced, systems):
    """Move each rating a little and see how the scores change, with every worker's mean moving along."""
    labels = np.unique(systems)

    def scores(values):
        centred = values - (np.bincount(workers, values) / np.bincount(workers))[workers]
        of_pair: dict = {}
        for value, worker, translation, counts in zip(
            centred, workers, translations, is_scored, strict=True
        ):
            if counts:
                of_pair.setdefault((translation, worker), []).append(value)
        means: dict = {}
        for (translation, _), values_of_pair in of_pair.items():
            means.setdefault(translation, []).append(np.mean(values_of_pair))
        return np.array(
            [np.mean([np.mean(means[t]) for t in produced[systems == system]]) for system in labels]
        )

    start = scores(z)
    derivatives = np.array(
        [scores(z + np.eye(len(z))[i]) - start for i in range(len(z))]
    )  # linear, so exact
    of_system = np.zeros((len(z), len(labels)))
    for place, system in enumerate(labels):
        mine = np.isin(translations, produced[systems == system]) & is_scored
        own = np.zeros(len(z))
        own[mine] = start[place]
        # A rating enters as its distance from the score it is part of, and its worker's mean from zero.
        weights = derivatives[:, place] + _on_mean(derivatives[:, place], workers, mine)
        of_system[:, place] = weights * (z - own) * mine
        of_system[:, place] -= _on_mean(derivatives[:, place], workers, mine) * z
    n_segments = len(np.unique(segments))
    total = np.array([of_system[segments == s].sum(axis=0) for s in np.unique(segments)])
    return n_segments / (n_segments - 1) * total.T @ total


def _on_mean(derivatives, workers, mine):
    """Return how much the mean of each rating's worker weighs: the derivative of a rating that is not scored."""
    others = np.zeros(workers.max() + 1)
    for worker in np.unique(workers):
        others[worker] = -derivatives[(workers == worker) & ~mine][0]
    return others[workers]


def small_campaign(seed=1):
    rng = np.random.default_rng(seed)
    workers, translations = (grid.ravel() for grid in np.meshgrid(np.arange(4), np.arange(6)))
    is_scored = np.ones(len(workers), dtype=bool)
    # Each worker also rates a hidden item.
    workers = np.concatenate([workers, np.arange(4)])
    translations = np.concatenate([translations, [0, 1, 2, 3]])
    is_scored = np.concatenate([is_scored, np.zeros(4, dtype=bool)])
    z = standardise_by_worker(rng.normal(size=len(workers)), workers).z
    produced, systems = np.arange(6), np.array(list("aabbbb"))
    segments = np.array([0, 1, 0, 1, 2, 3])[translations]
    return z, workers, translations, segments, is_scored, produced, systems


def test_the_part_of_segments_follows_from_the_derivatives_of_the_scores():
    *ratings, produced, systems = small_campaign()
    covariance = system_covariance(*ratings, produced=produced, systems=systems)
    expected = by_definition(*ratings, produced, systems)
    assert_array_equal(covariance.systems, ["a", "b"])
    assert_allclose(covariance.by_segments, expected, atol=1e-12)


def test_a_shared_translation_counts_for_each_of_its_systems():
    *ratings, produced, systems = small_campaign()
    produced, systems = np.concatenate([produced, [0, 1]]), np.concatenate([systems, ["c", "c"]])
    covariance = system_covariance(*ratings, produced=produced, systems=systems)
    assert_allclose(covariance.by_segments[0], covariance.by_segments[2])
    assert_allclose(covariance.difference_errors()[0][0, 2], 0, atol=1e-9)


@pytest.mark.parametrize("method", ["per_worker", "pooled"])
def test_the_scores_that_vary_are_those_of_the_ranking(method):
    ratings = simulate_ratings(np.random.default_rng(3), Crowd(n_segments=12, n_workers=8))
    # Some ratings are repeats.
    rows = np.concatenate([np.arange(len(ratings.z)), np.arange(0, len(ratings.z), 3)])
    segments = segment_scores(
        ratings.z[rows],
        ratings.z[rows],
        ratings.workers[rows],
        ratings.translations[rows],
        method=method,
        minimum=1,
    )
    ranked = system_scores(
        segments.raw, segments.z, segments.n_ratings, ratings.system_of(segments.translations)
    )
    covariance = system_covariance(
        ratings.z[rows],
        ratings.workers[rows],
        ratings.translations[rows],
        ratings.segments[rows],
        np.ones(len(rows), dtype=bool),
        produced=segments.translations,
        systems=ratings.system_of(segments.translations),
        method=method,
    )
    # Without any effect of workers, the interval is close to that over segments.
    with_workers = system_scores(
        segments.raw,
        segments.z,
        segments.n_ratings,
        ratings.system_of(segments.translations),
        covariance=covariance,
    )
    assert_allclose(with_workers.z, ranked.z)
    assert (with_workers.z_low < ranked.z).all() and (ranked.z < with_workers.z_high).all()
    assert "ci:t,0.95,segments,workers" in with_workers.signature


def test_the_order_of_ratings_does_not_matter():
    *ratings, produced, systems = small_campaign()
    order = np.random.default_rng(2).permutation(len(ratings[0]))
    before = system_covariance(*ratings, produced=produced, systems=systems)
    after = system_covariance(
        *(column[order] for column in ratings), produced=produced, systems=systems
    )
    assert_allclose(after.by_segments, before.by_segments, atol=1e-14)
    assert_allclose(after.by_workers, before.by_workers, atol=1e-14)


def test_ratings_without_z_are_left_out():
    *ratings, produced, systems = small_campaign()
    before = system_covariance(*ratings, produced=produced, systems=systems)
    z, workers, translations, segments, is_scored = ratings
    more = (
        np.append(z, np.nan),
        np.append(workers, 9),
        np.append(translations, 0),
        np.append(segments, 0),
        np.append(is_scored, True),
    )
    after = system_covariance(*more, produced=produced, systems=systems)
    assert_allclose(after.by_workers, before.by_workers, atol=1e-14)


def test_workers_who_prefer_different_systems_widen_the_interval():
    *_, with_preferences = errors(Crowd(n_workers=15, preference=1.0))
    *_, without = errors(Crowd(n_workers=15))
    assert with_preferences > 1.5 * without


def errors(crowd: Crowd):
    ratings = simulate_ratings(np.random.default_rng(1), crowd)
    covariance = ratings.covariance()
    return covariance, covariance.difference_errors()[0][0, 1]


def test_a_negative_part_of_workers_counts_as_zero():
    covariance = SystemCovariance(
        np.array(["x"]), np.array([[4.0]]), np.array([[-1.0]]), 11, 5.0, ""
    )
    se, df = covariance.score_errors()
    assert se[0] == 2 and df[0] == 10


def test_the_fewer_groups_give_the_degrees_of_freedom_where_workers_matter():
    covariance = SystemCovariance(
        np.array(["x"]), np.array([[4.0]]), np.array([[5.0]]), 11, 5.0, ""
    )
    se, df = covariance.score_errors()
    assert se[0] == 3 and df[0] == 4


def test_one_busy_worker_counts_less_than_many():
    ratings = simulate_ratings(np.random.default_rng(1), Crowd(n_workers=20))
    assert 19 < ratings.covariance().n_workers <= 20
    uneven = simulate_ratings(np.random.default_rng(1), Crowd(n_workers=20, is_uneven=True))
    assert uneven.covariance().n_workers < 17


def test_one_worker_shows_nothing_about_workers():
    *ratings, produced, systems = small_campaign()
    one = [column[ratings[1] == 0] for column in ratings]
    covariance = system_covariance(*one, produced=produced, systems=systems)
    assert not covariance.has_workers
    assert system_covariance(*ratings, produced=produced, systems=systems).has_workers


def test_no_translations_give_no_systems():
    empty = system_covariance([], [], [], [], [], produced=[], systems=[])
    assert len(empty.systems) == 0
    assert len(covariance_of_segment_scores([], [], []).systems) == 0
