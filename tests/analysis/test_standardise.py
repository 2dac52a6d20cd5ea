import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from analysis.stats.standardise import NEVER_VARIES, ONE_RATING, standardise_by_worker

scores_of_two = st.lists(
    st.tuples(st.integers(0, 100), st.sampled_from(["alice", "bob"])), min_size=2, max_size=40
)


def columns(ratings):
    scores, workers = zip(*ratings, strict=True)
    return np.array(scores, dtype=float), np.array(workers)


def test_five_scores_by_hand():
    result = standardise_by_worker([10, 20, 30, 40, 50], ["alice"] * 5)
    # mean 30, sample sd sqrt(1000 / 4)
    assert_allclose(result.z, np.array([-20, -10, 0, 10, 20]) / np.sqrt(250))
    assert_allclose([result.mean[0], result.sd[0], result.n[0]], [30, np.sqrt(250), 5])


def test_each_worker_has_their_own_scale():
    rng = np.random.default_rng(1)
    scores, workers = rng.integers(0, 101, 300), rng.integers(0, 7, 300)
    z = standardise_by_worker(scores, workers).z
    for worker in range(7):
        is_own = workers == worker
        assert_allclose(z[is_own], stats.zscore(scores[is_own], ddof=1))


@settings(deadline=None)
@given(scores_of_two, st.floats(-1000, 1000), st.floats(0.01, 100))
def test_shifting_and_stretching_the_scores_of_a_worker_does_not_change_z(ratings, shift, stretch):
    scores, workers = columns(ratings)
    moved = np.where(workers == "alice", scores * stretch + shift, scores)
    before, after = standardise_by_worker(scores, workers), standardise_by_worker(moved, workers)
    # A shift of 1000 on a spread of 0.01 leaves eleven digits.
    assert_allclose(after.z, before.z, atol=1e-7)


@settings(deadline=None)
@given(scores_of_two, st.randoms(use_true_random=False))
def test_the_order_of_rows_never_matters(ratings, random):
    order = list(range(len(ratings)))
    random.shuffle(order)
    scores, workers = columns(ratings)
    before = standardise_by_worker(scores, workers).z
    after = standardise_by_worker(scores[order], workers[order]).z
    assert_allclose(after, before[order], atol=1e-12)


def test_a_rating_given_twice_counts_twice():
    once = standardise_by_worker([0, 100], ["alice", "alice"])
    twice = standardise_by_worker([0, 100, 100], ["alice"] * 3)
    assert once.mean[0] == 50
    assert_allclose(twice.mean[0], 200 / 3)


@pytest.mark.parametrize("score", [0, 50, 0.1, 1 / 3])
def test_a_worker_whose_scores_never_vary_is_set_aside(score):
    result = standardise_by_worker([score] * 7 + [1, 2], ["alice"] * 7 + ["bob"] * 2)
    assert np.isnan(result.z[:7]).all()
    assert not np.isnan(result.z[7:]).any()
    assert list(result.reasons) == [NEVER_VARIES, ""]
    assert list(result.is_set_aside) == [True, False]


def test_a_worker_with_one_rating_is_set_aside():
    result = standardise_by_worker([70, 1, 2], ["alice", "bob", "bob"])
    assert np.isnan(result.z[0])
    assert list(result.reasons) == [ONE_RATING, ""]


def test_no_ratings_give_no_z_scores():
    result = standardise_by_worker([], [])
    assert len(result.z) == len(result.workers) == 0


def test_keys_may_be_strings_or_any_integers():
    scores = [1, 2, 3, 5]
    by_name = standardise_by_worker(scores, ["a", "b", "a", "b"])
    by_number = standardise_by_worker(scores, [-5, 10**15, -5, 10**15])
    assert_array_equal(by_name.z, by_number.z)
    assert_array_equal(by_number.workers, [-5, 10**15])


def test_the_signature_names_the_method():
    assert standardise_by_worker([1, 2], [1, 1]).signature.startswith("std:worker,ddof=1|version:")


@pytest.mark.parametrize(
    ("scores", "workers", "name"),
    [
        ([1, 2], [1], "`scores` has 2, `workers` has 1"),
        ([1, np.nan], [1, 1], "`scores` must be finite; position 1"),
        ([[1, 2]], [1], "`scores` must have one dimension"),
        (["a", "b"], [1, 1], "`scores` must hold numbers"),
        ([1, 2], [1.5, 2.5], "`workers` must hold integers or strings"),
        ([1, 2], np.array([None, "a"], dtype=object), "`workers` must hold integers or strings"),
    ],
)
def test_bad_columns_are_refused_by_name(scores, workers, name):
    with pytest.raises(ValueError, match=name):
        standardise_by_worker(scores, workers)
