import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from analysis.stats.roles import SCORED_ROLES, Role
from analysis.stats.segments import (
    MINIMUM_RATINGS,
    average_repeats,
    counts_for_gold,
    segment_scores,
)
from hits.campaigns.composition import Role as PlatformRole

some_ratings = st.lists(
    st.tuples(st.integers(0, 100), st.integers(0, 4), st.sampled_from("abc")),
    min_size=1,
    max_size=40,
)


def columns(ratings):
    scores, workers, translations = zip(*ratings, strict=True)
    return np.array(scores, dtype=float), np.array(workers), np.array(translations)


def score(ratings, **options):
    scores, workers, translations = columns(ratings)
    return segment_scores(scores, scores / 10, workers, translations, **options)


FIVE = [(10, 1, "a"), (30, 1, "a"), (60, 2, "a"), (50, 1, "b"), (70, 2, "b")]


def test_per_worker_scores_count_every_worker_once():
    result = score(FIVE, minimum=1)
    # a: worker 1 averages 20, worker 2 says 60; b: 50 and 70
    assert_allclose(result.raw, [40, 60])
    assert_allclose(result.z, [4, 6])
    assert_array_equal(result.n, [2, 2])
    assert_array_equal(result.n_ratings, [3, 2])


def test_pooled_scores_count_every_rating():
    result = score(FIVE, minimum=1, method="pooled")
    assert_allclose(result.raw, [100 / 3, 60])
    assert_array_equal(result.n, [3, 2])


@pytest.mark.parametrize("method", ["pooled", "per_worker"])
def test_standard_errors_and_intervals_match_scipy(method):
    rng = np.random.default_rng(3)
    ratings = [
        (int(rng.integers(101)), worker, t)
        for worker in range(8)
        for t in "abc"
        if worker or t > "a"
    ]
    result = score(ratings, minimum=1, method=method, confidence=0.9)
    for i, translation in enumerate("abc"):
        values = np.array([s for s, _, t in ratings if t == translation], dtype=float)
        interval = stats.ttest_1samp(values, 0).confidence_interval(0.9)
        assert_allclose(result.raw_se[i], stats.sem(values))
        assert_allclose([result.raw_low[i], result.raw_high[i]], interval)
        assert_allclose([result.z_low[i], result.z_high[i]], np.array(interval) / 10)


@settings(deadline=None)
@given(some_ratings, st.randoms(use_true_random=False), st.sampled_from(["pooled", "per_worker"]))
def test_the_order_of_rows_never_matters(ratings, random, method):
    shuffled = random.sample(ratings, len(ratings))
    before = score(ratings, minimum=2, method=method)
    after = score(shuffled, minimum=2, method=method)
    assert_array_equal(after.translations, before.translations)
    assert_allclose(after.raw, before.raw)
    assert_array_equal(after.incomplete, before.incomplete)


@settings(deadline=None)
@given(some_ratings)
def test_per_worker_scores_ignore_repeated_ratings(ratings):
    once, twice = score(ratings, minimum=1), score(ratings * 2, minimum=1)
    assert_allclose(twice.raw, once.raw)
    assert_allclose(twice.z_se, once.z_se, atol=1e-9)
    assert_array_equal(twice.n, once.n)
    assert_array_equal(twice.n_ratings, 2 * once.n_ratings)


def test_pooled_scores_count_repeated_ratings():
    result = score([*FIVE, (60, 2, "a")], minimum=1, method="pooled")
    assert_allclose(result.raw[0], 40)
    assert result.n[0] == 4


@settings(deadline=None)
@given(some_ratings)
def test_both_methods_agree_without_repeats(ratings):
    distinct = list({(w, t): (s, w, t) for s, w, t in ratings}.values())
    pooled, per_worker = score(distinct, minimum=1, method="pooled"), score(distinct, minimum=1)
    assert_allclose(pooled.raw, per_worker.raw)
    assert_allclose(pooled.raw_se, per_worker.raw_se, atol=1e-9)


def test_a_translation_with_too_few_ratings_is_listed_and_not_scored():
    enough = [(50 + i, i, "a") for i in range(MINIMUM_RATINGS)]
    result = score([*enough, *((50, i, "b") for i in range(MINIMUM_RATINGS - 1))])
    assert list(result.translations) == ["a"]
    assert list(result.incomplete) == ["b"]
    assert list(result.incomplete_n) == [MINIMUM_RATINGS - 1]
    assert len(result.raw) == len(result.z_low) == 1


def test_expected_translations_without_ratings_are_listed_as_incomplete():
    result = score(FIVE, minimum=2, expected=["a", "b", "c"])
    assert list(result.incomplete) == ["c"]
    assert list(result.incomplete_n) == [0]


def test_ratings_of_a_worker_without_a_scale_do_not_count():
    result = segment_scores([10, 90, 50], [np.nan, 1, 2], [1, 2, 3], ["a", "a", "b"], minimum=1)
    assert_allclose(result.raw, [90, 50])
    assert_array_equal(result.n, [1, 1])
    only_theirs = segment_scores([10], [np.nan], [1], ["a"], minimum=1)
    assert list(only_theirs.incomplete) == ["a"]


def test_one_rating_has_a_mean_and_no_interval():
    result = score([(10, 1, "a")], minimum=1)
    assert result.raw[0] == 10
    assert np.isnan([result.raw_se[0], result.raw_low[0], result.z_high[0]]).all()


def test_equal_ratings_have_a_zero_width_interval():
    result = score([(10, worker, "a") for worker in range(5)], minimum=1)
    assert result.raw_se[0] == 0
    assert result.raw_low[0] == result.raw_high[0] == 10


def test_no_ratings_give_no_scores():
    result = segment_scores([], [], [], [])
    assert len(result.translations) == len(result.incomplete) == 0


def test_averaging_repeats_by_hand():
    values, workers, translations = average_repeats(
        [10, 30, np.nan, 60, 5], [1, 1, 1, 2, 1], list("aaaab")
    )
    assert_allclose(values, [20, 60, 5])
    assert_array_equal(workers, [1, 2, 1])
    assert_array_equal(translations, list("aab"))


def test_genuine_items_and_repeats_of_trusted_workers_count():
    roles = [Role.GENUINE, Role.BAD_REFERENCE, Role.REPEAT, Role.REFERENCE, Role.GENUINE]
    assert list(counts_for_gold(roles)) == [True, False, True, False, True]
    workers = ["alice"] * 4 + ["bob"]
    assert list(counts_for_gold(roles, workers, ["alice"])) == [True, False, True, False, False]
    assert not counts_for_gold(roles, workers, []).any()


def test_roles_are_numbered_as_the_platform_stores_them():
    assert {role.name: role.value for role in Role} == {r.name: r.value for r in PlatformRole}
    assert SCORED_ROLES == (Role.GENUINE, Role.REPEAT)


def test_the_signature_names_the_method():
    assert score(FIVE, minimum=2).signature.startswith("seg:per_worker|min:2|ci:t,0.95|version:")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "median"}, "`method`"),
        ({"minimum": 0}, "`minimum`"),
        ({"confidence": 1}, "`confidence`"),
    ],
)
def test_bad_options_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        score(FIVE, **options)


def test_unknown_roles_are_refused():
    for roles in (["SYSTEM"], [4], [-1]):
        with pytest.raises(ValueError, match="`roles`"):
            counts_for_gold(roles)


def test_trusted_workers_and_workers_must_have_the_same_kind_of_key():
    with pytest.raises(ValueError, match="`workers` integers, `trusted` strings"):
        counts_for_gold([0], [7], ["7"])


def test_trusted_workers_need_the_workers_of_the_ratings():
    with pytest.raises(ValueError, match="`workers`"):
        counts_for_gold([0], trusted=["alice"])
