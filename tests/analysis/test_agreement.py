import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats

from analysis.stats.agreement import (
    inter_annotator_agreement,
    intra_annotator_agreement,
    krippendorff_alpha,
    single_rating_agreement,
)

some_values = st.lists(st.tuples(st.integers(0, 100), st.integers(0, 6)), min_size=2, max_size=40)


def columns(pairs):
    values, units = zip(*pairs, strict=True)
    return np.array(values, dtype=float), np.array(units)


def alpha_by_definition(values, units):
    """Follow Krippendorff's definition pair by pair."""
    shared = [unit for unit in set(units) if list(units).count(unit) > 1]
    groups = [values[units == unit] for unit in shared]
    pooled = np.concatenate(groups) if groups else np.array([])
    n = len(pooled)
    if not n or not np.ptp(pooled):
        return np.nan
    observed = sum(
        sum((x - y) ** 2 for x, y in itertools.permutations(group, 2)) / (len(group) - 1)
        for group in groups
    )
    chance = sum((x - y) ** 2 for x, y in itertools.permutations(pooled, 2))
    return 1 - (observed / n) / (chance / (n * (n - 1)))


def test_alpha_by_hand():
    # Units (1, 2) and (4, 4): Do = (1 + 1 + 0 + 0) / 4 = 0.5. Squared differences over all ordered
    # pairs of 1, 2, 4, 4: 2 (1 + 9 + 9 + 4 + 4 + 0) = 54, De = 54 / 12 = 4.5.
    assert_allclose(krippendorff_alpha([1, 2, 4, 4], [1, 1, 2, 2]).alpha, 1 - 0.5 / 4.5)


def test_alpha_of_krippendorffs_own_example():
    # Four observers, twelve units, missing values; the interval alpha is printed as .849.
    nan = np.nan
    table = np.array(
        [
            [1, 2, 3, 3, 2, 1, 4, 1, 2, nan, nan, nan],
            [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, nan, 3],
            [nan, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, nan],
            [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, nan],
        ]
    )
    result = krippendorff_alpha(table.ravel(), np.tile(np.arange(12), 4))
    assert round(result.alpha, 3) == 0.849
    assert (result.n_units, result.n_values) == (11, 40)


@settings(deadline=None)
@given(some_values)
def test_the_closed_form_of_alpha_matches_the_definition(pairs):
    values, units = columns(pairs)
    assert_allclose(
        krippendorff_alpha(values, units).alpha, alpha_by_definition(values, units), atol=1e-9
    )


@settings(deadline=None)
@given(some_values, st.floats(-1e3, 1e3), st.floats(0.1, 100))
def test_alpha_does_not_depend_on_the_scale(pairs, shift, stretch):
    values, units = columns(pairs)
    moved = krippendorff_alpha(values * stretch + shift, units).alpha
    assert_allclose(moved, krippendorff_alpha(values, units).alpha, atol=1e-6)


def test_perfect_agreement_has_an_alpha_of_one():
    assert krippendorff_alpha([1, 1, 5, 5, 9, 9], [1, 1, 2, 2, 3, 3]).alpha == 1


@pytest.mark.parametrize(
    ("values", "units"), [([], []), ([1, 2], [1, 2]), ([3, 3, 3, 3], [1, 1, 2, 2])]
)
def test_alpha_is_undefined_without_pairs_or_without_variation(values, units):
    assert np.isnan(krippendorff_alpha(values, units).alpha)


def pairs_one_by_one(z, workers, translations):
    """Return both sides of every pair of different workers, both ways round."""
    rows = range(len(z))
    return np.array(
        [
            (z[i], z[j])
            for i, j in itertools.permutations(rows, 2)
            if translations[i] == translations[j] and workers[i] != workers[j]
        ]
    ).T


def test_agreement_between_workers_covers_all_pairs():
    rng = np.random.default_rng(6)
    workers, translations = (grid.ravel() for grid in np.mgrid[0:6, 0:9])
    is_rated = rng.random(54) < 0.7
    workers, translations = workers[is_rated], translations[is_rated]
    z = rng.normal(size=len(workers)) + translations / 4
    agreement = inter_annotator_agreement(z, workers, translations)
    x, y = pairs_one_by_one(z, workers, translations)
    assert_allclose(agreement.pearson, stats.pearsonr(x, y).statistic)
    assert_allclose(agreement.mean_absolute_difference, np.abs(x - y).mean())
    assert agreement.n_pairs == len(x) // 2
    assert agreement.low < agreement.pearson < agreement.high


def test_a_workers_own_repeats_are_averaged_before_comparing():
    once = inter_annotator_agreement([2, 3, 6, 5], [1, 2, 1, 2], [1, 1, 2, 2])
    repeated = inter_annotator_agreement([1, 3, 3, 6, 5], [1, 1, 2, 1, 2], [1, 1, 1, 2, 2])
    assert repeated == once


def test_workers_without_a_scale_are_left_out():
    z, workers, translations = [2, 3, np.nan, 6, 5], [1, 2, 3, 1, 2], [1, 1, 1, 2, 2]
    assert inter_annotator_agreement(z, workers, translations).n_pairs == 2


def test_agreement_needs_pairs():
    for z, workers, translations in ([], [], []), ([1, 2], [1, 1], [1, 1]):
        agreement = inter_annotator_agreement(z, workers, translations)
        assert agreement.n_pairs == 0
        assert np.isnan([agreement.pearson, agreement.mean_absolute_difference]).all()


def two_workers(rng, n, noise):
    truth = rng.normal(size=n)
    z = np.concatenate([truth + noise * rng.normal(size=n) for _ in range(2)])
    return z, np.repeat([1, 2], n), np.tile(np.arange(n), 2)


def several_systems(rng, n_systems, n_segments, n_ratings, *, ties=False):
    """Return ratings of translations whose quality varies with the segment, by workers of unequal care."""
    truth = 0.7 * rng.normal(size=n_segments) + 0.7 * rng.normal(size=(n_systems, n_segments))
    care = np.linspace(0.6, 1.6, 12)
    chosen = np.argsort(rng.random((*truth.shape, 12)), axis=2)[:, :, :n_ratings]
    z = truth[..., None] + care[chosen] * rng.normal(size=chosen.shape)
    systems, segments, _ = np.indices(chosen.shape)
    translations = systems * n_segments + segments
    values = np.round(z) if ties else z
    return values.ravel(), chosen.ravel(), translations.ravel(), segments.ravel()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_systems", "n_segments", "n_ratings", "ties"),
    [(1, 30, 3, False), (5, 30, 2, False), (5, 100, 3, True), (10, 20, 3, False)],
)
def test_intervals_contain_the_true_value_as_often_as_they_claim(
    n_systems, n_segments, n_ratings, ties
):
    rng = np.random.default_rng(1)
    z, workers, translations, _ = several_systems(rng, n_systems, 40_000, n_ratings, ties=ties)
    r = inter_annotator_agreement(z, workers, translations).pearson
    alpha = krippendorff_alpha(z, translations).alpha
    covered = []
    for _ in range(1500):
        z, workers, translations, segments = several_systems(
            rng, n_systems, n_segments, n_ratings, ties=ties
        )
        between = inter_annotator_agreement(z, workers, translations, segments=segments)
        units = krippendorff_alpha(z, translations, segments=segments)
        covered.append([between.low < r < between.high, units.low < alpha < units.high])
    # With 1,500 samples 95 % has a standard error of 0.6.
    assert ((np.mean(covered, axis=0) >= 0.93) & (np.mean(covered, axis=0) <= 0.97)).all()


def test_translations_of_a_segment_are_not_independent():
    z, workers, translations, segments = several_systems(np.random.default_rng(1), 5, 40, 3)
    facts = {"z": z, "workers": workers, "translations": translations}
    apart, together = (
        inter_annotator_agreement(**facts, segments=kind) for kind in (None, segments)
    )
    assert together.pearson == apart.pearson
    assert together.high - together.low > apart.high - apart.low
    assert "jackknife,translations" in apart.signature
    assert "jackknife,segments" in together.signature


def test_alpha_has_an_interval_over_segments():
    z, _, translations, segments = several_systems(np.random.default_rng(1), 5, 40, 3)
    apart, together = (
        krippendorff_alpha(z, translations, segments=kind) for kind in (None, segments)
    )
    assert together.low < apart.low < apart.alpha < apart.high < together.high


def test_a_single_segment_has_no_interval():
    agreement = inter_annotator_agreement(
        [1, 2, 3, 5], [1, 2, 1, 2], [1, 1, 2, 2], segments=[1] * 4
    )
    assert agreement.pearson > 0 and np.isnan([agreement.low, agreement.high]).all()


def repeats_of(rng, n_workers, n_pairs, *, is_uneven=False):
    """Return z-scores given twice by workers of unequal care."""
    care = rng.uniform(0.5, 1.5, n_workers)
    sizes = np.full(n_workers, n_pairs)
    if is_uneven:
        sizes = np.maximum(3, n_pairs * rng.exponential(size=n_workers)).astype(int)
    workers = np.repeat(np.arange(n_workers), sizes)
    quality, spread = rng.normal(size=len(workers)), np.sqrt(1 + care**2)[workers]
    twice = (quality + care[workers] * rng.normal(size=(2, len(workers)))) / spread
    return *twice, workers


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_workers", "n_pairs", "is_uneven"), [(6, 30, False), (12, 30, True), (20, 10, True)]
)
def test_intervals_of_agreement_with_oneself_carry_the_workers(n_workers, n_pairs, is_uneven):
    rng = np.random.default_rng(2)
    first, second, _ = repeats_of(rng, 40_000, n_pairs)
    r = np.corrcoef(first, second)[0, 1]
    covered = {"workers": [], "fisher": []}
    for _ in range(1500):
        first, second, workers = repeats_of(rng, n_workers, n_pairs, is_uneven=is_uneven)
        for name, who in (("workers", workers), ("fisher", None)):
            agreement = intra_annotator_agreement(first, second, workers=who)
            covered[name].append(agreement.low < r < agreement.high)
    assert 0.93 <= np.mean(covered["workers"]) <= 0.97
    assert np.mean(covered["fisher"]) < 0.9


def test_agreement_of_a_single_worker_with_oneself_has_no_interval():
    agreement = intra_annotator_agreement([1, 2, 3, 4], [2, 1, 4, 5], workers=["alice"] * 4)
    assert np.isnan(agreement.low) and "jackknife,workers" in agreement.signature


def test_agreement_with_oneself_by_hand():
    agreement = intra_annotator_agreement([1, 2, 3, 4, np.nan], [2, 1, 4, 5, 5])
    expected = stats.pearsonr([1, 2, 3, 4], [2, 1, 4, 5])
    assert_allclose(agreement.pearson, expected.statistic)
    assert_allclose([agreement.low, agreement.high], expected.confidence_interval(0.95))
    assert agreement.mean_absolute_difference == 1
    assert agreement.n_pairs == 4


@pytest.mark.parametrize("scores", [[], [1, 2], [5, 5, 5, 5]])
def test_agreement_with_oneself_needs_pairs_that_vary(scores):
    assert np.isnan(intra_annotator_agreement(scores, scores).pearson)


def test_perfect_agreement_with_oneself_has_a_zero_width_interval():
    agreement = intra_annotator_agreement([1, 2, 3, 4], [1, 2, 3, 4])
    assert_allclose([agreement.pearson, agreement.low, agreement.high], 1)


def test_single_ratings_agree_as_much_as_pairs_of_workers():
    z, workers, translations = two_workers(np.random.default_rng(3), 50, 1)
    agreement = inter_annotator_agreement(z, workers, translations)
    assert_allclose(single_rating_agreement(z, translations), agreement.pearson)
