"""How closely each worker's scores follow those of a model."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from analysis.stats.likeness import FEWEST_LIKENESS_ITEMS, likeness_to_model

N = 30


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(3)


def test_each_worker_is_correlated_on_their_own_items(rng):
    scores, model = rng.uniform(0, 100, 2 * N), rng.normal(size=2 * N)
    workers = np.repeat(["alice", "bob"], N)
    likeness = likeness_to_model(scores, workers, model)
    expected = [
        stats.pearsonr(scores[own], model[own]).statistic for own in (slice(N), slice(N, None))
    ]
    assert likeness.workers.tolist() == ["alice", "bob"]
    assert_allclose(likeness.r, expected)


def test_scale_and_offset_of_either_do_not_matter(rng):
    scores, model = rng.uniform(0, 100, N), rng.normal(size=N)
    plain = likeness_to_model(scores, [1] * N, model).r
    assert_allclose(likeness_to_model(10 + scores / 3, [1] * N, 7 * model - 2).r, plain)
    assert_allclose(likeness_to_model(scores, [1] * N, -model).r, -plain)


def test_a_worker_who_copies_the_model_reaches_1(rng):
    model = rng.normal(size=N)
    assert_allclose(likeness_to_model(50 + 10 * model, [1] * N, model).r, 1)


def test_items_without_a_model_score_are_left_out(rng):
    scores, model = rng.uniform(0, 100, N), rng.normal(size=N)
    model[:5] = np.nan
    likeness = likeness_to_model(scores, [1] * N, model)
    assert likeness.n_items.tolist() == [N - 5]
    assert_allclose(likeness.r, stats.pearsonr(scores[5:], model[5:]).statistic)


def test_constant_scores_and_too_few_items_have_no_r(rng):
    model = rng.normal(size=N)
    assert np.isnan(likeness_to_model([50] * N, [1] * N, model).r).all()
    few = FEWEST_LIKENESS_ITEMS - 1
    assert np.isnan(likeness_to_model(model[:few], [1] * few, model[:few]).r).all()


def test_there_may_be_no_ratings():
    assert len(likeness_to_model([], [], []).r) == 0
