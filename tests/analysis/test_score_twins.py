"""Workers who score, or keep time, as if they were one."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from analysis.stats.score_twins import (
    FEWEST_SHARED_ITEMS,
    TWIN_R,
    WorkerPairs,
    rhythm_twins,
    score_twins,
)

N = 28


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(5)


def compare(tables: dict[str, Any], hits: int = 1, **options: Any) -> WorkerPairs:
    """Compare workers with a score for each item; items are spread evenly over the HITs."""
    names = [name for name, scores in tables.items() for _ in scores]
    items = [item for scores in tables.values() for item in range(len(scores))]
    scores = [score for row in tables.values() for score in row]
    return score_twins(scores, names, items, [item % hits for item in items], **options)


def crowd(n: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Readers who see the same quality and add their own noise."""
    quality = rng.uniform(20, 80, size=N)
    return {
        f"reader {number}": np.clip(np.round(quality + rng.normal(0, 15, N)), 0, 100)
        for number in range(n)
    }


def twins_in(pairs: WorkerPairs) -> set[tuple[str, str]]:
    chosen = pairs.is_twin
    return {
        (str(a), str(b)) for a, b in zip(pairs.first[chosen], pairs.second[chosen], strict=True)
    }


def test_r_and_the_share_of_equal_scores_by_hand():
    pairs = compare({"alice": [10, 20, 30, 40], "bob": [10, 25, 30, 35]}, fewest_items=4)
    assert pairs.n_items.tolist() == [4]
    # Deviations -15 -5 5 15 and -15 0 5 10: products 400, squares 500 and 350.
    assert_allclose(pairs.r, 400 / np.sqrt(500 * 350))
    assert_allclose(pairs.share_equal, 0.5)
    # By chance, 10 and 30 meet in one of sixteen cases each.
    assert_allclose(pairs.usual_share, 2 / 16)


def test_r_agrees_with_scipy_over_several_hits_and_missing_items(rng):
    tables = crowd(4, rng)
    for hits in (1, 2, 7):
        pairs = compare(tables, hits)
        expected = [
            stats.pearsonr(tables[a], tables[b]).statistic
            for a, b in zip(pairs.first, pairs.second, strict=True)
        ]
        assert_allclose(pairs.r, expected)
    half = {"alice": tables["reader 0"], "bob": tables["reader 1"][:21]}
    pairs = compare(half)
    assert pairs.n_items.tolist() == [21]
    expected = stats.pearsonr(tables["reader 0"][:21], tables["reader 1"][:21]).statistic
    assert_allclose(pairs.r, [expected])


def test_copies_are_twins_and_readers_are_not(rng):
    tables = crowd(8, rng)
    tables["copy"] = tables["reader 3"]
    assert twins_in(compare(tables)) == {("copy", "reader 3")}


def test_near_copies_and_other_scales_are_twins_too(rng):
    tables = crowd(8, rng)
    tables["near"] = tables["reader 0"] + rng.integers(-2, 3, N)
    tables["half"] = tables["reader 1"] / 2
    assert twins_in(compare(tables)) == {("near", "reader 0"), ("half", "reader 1")}


def test_many_equal_scores_make_twins_though_r_is_low(rng):
    tables = crowd(8, rng)
    copy = tables["reader 2"].copy()
    copy[:6] = 100 - copy[:6]
    tables["copy"] = copy
    pairs = compare(tables)
    assert twins_in(pairs) == {("copy", "reader 2")}
    assert pairs.r[pairs.is_twin] < TWIN_R


def test_equal_scores_are_not_far_from_usual_where_everyone_gives_them(rng):
    tables = {
        f"reader {number}": np.where(rng.random(N) < 0.9, 100, rng.integers(0, 99, N))
        for number in range(6)
    }
    assert compare(tables).share_equal.min() > 0.5
    assert twins_in(compare(tables)) == set()


def test_two_who_give_one_score_only_are_not_compared_by_it():
    pairs = compare({"alice": [50] * N, "bob": [50] * N})
    assert np.isnan(pairs.r).all() and not pairs.is_twin.any()


def test_pairs_with_few_items_in_common_are_left_out(rng):
    tables = crowd(3, rng)
    short = {name: scores[: FEWEST_SHARED_ITEMS - 1] for name, scores in tables.items()}
    assert len(compare(short)) == 0


def test_workers_of_different_hits_are_not_compared(rng):
    scores, items = rng.integers(0, 101, 2 * N), np.arange(2 * N)
    who = np.repeat([1, 2], N)
    assert len(score_twins(scores, who, items, who)) == 0


def test_no_ratings_make_no_pairs():
    assert len(score_twins([], [], [], [])) == 0


def test_shifting_all_scores_changes_nothing(rng):
    tables = crowd(5, rng)
    shifted = {name: scores + 1e6 for name, scores in tables.items()}
    assert_allclose(compare(tables).r, compare(shifted).r, atol=1e-9)


def test_the_usual_share_is_the_median_of_the_other_pairs(rng):
    pairs = compare(crowd(6, rng))
    for place in range(len(pairs)):
        others = np.delete(pairs.share_equal, place)
        assert pairs.usual_share[place] >= np.median(others) - 1e-12


def rhythm(tables: dict[str, np.ndarray]) -> WorkerPairs:
    names = np.repeat(list(tables), N)
    items = np.tile(np.arange(N), len(tables))
    return rhythm_twins(
        np.concatenate(list(tables.values())), names, items, np.zeros(len(items), int)
    )


def test_two_ids_of_one_program_keep_the_same_time(rng):
    lengths = rng.uniform(5, 40, N)
    tables = {
        name: lengths * rng.lognormal(0, 0.6, N) for name in ("alice", "bob", "carol", "dave")
    }
    tables["bot 1"] = 2 + 0.1 * lengths + rng.uniform(0, 0.05, N)
    tables["bot 2"] = 2 + 0.1 * lengths + rng.uniform(0, 0.05, N)
    assert twins_in(rhythm(tables)) == {("bot 1", "bot 2")}


def test_unknown_times_are_left_out(rng):
    seconds = rng.uniform(1, 9, N)
    gaps = seconds.copy()
    gaps[:3] = [np.nan, 0, -1]
    assert rhythm({"alice": seconds, "bob": gaps}).n_items.tolist() == [N - 3]


@pytest.mark.parametrize("name", ["scores", "workers", "items", "hits"])
def test_arrays_of_different_lengths_are_refused(name):
    columns = {"scores": [1.0, 2.0], "workers": [1, 2], "items": [1, 1], "hits": [1, 1]}
    with pytest.raises(ValueError, match="differ in length"):
        score_twins(**columns | {name: [1]})
