"""Places on screens and in documents, and the effect of context, on made-up scores and by simulation."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from analysis.stats.presentation import context_effect, place_effect

FEW = 199


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_deviations_by_hand():
    effect = place_effect(
        [1, 3, 2, 6, 9], [1, 2, 1, 2, 1], ["a", "a", "b", "b", "c"], rng=rng(), n_resamples=FEW
    )
    # Screens a and b: -1 and +1, -2 and +2; c has a single text.
    assert effect.places.tolist() == [1, 2] and effect.n.tolist() == [2, 2]
    assert_allclose(effect.means, [-1.5, 1.5])
    assert_allclose(effect.slope, 3.0)
    assert effect.n_units == 2


def test_a_planted_trend_is_found_and_its_slope_is_right():
    generator = rng(2)
    units, places = np.repeat(np.arange(60), 4), np.tile(np.arange(1, 5), 60)
    scores = -0.5 * places + np.repeat(generator.normal(size=60), 4) + generator.normal(size=240)
    effect = place_effect(scores, places, units, rng=rng(), n_resamples=FEW)
    assert effect.slope == pytest.approx(-0.5, abs=0.15)
    assert effect.pvalue == effect.slope_pvalue == pytest.approx(1 / (FEW + 1))


def test_without_an_effect_p_values_are_uniform():
    generator, pvalues = rng(3), []
    units, places = np.repeat(np.arange(20), 3), np.tile([1, 2, 3], 20)
    for seed in range(120):
        scores = generator.normal(size=60) + np.repeat(generator.normal(size=20), 3)
        effect = place_effect(scores, places, units, rng=rng(seed), n_resamples=99)
        pvalues.append((effect.pvalue, effect.slope_pvalue))
    rejected = (np.array(pvalues) <= 0.1).mean(axis=0)
    # 12 of 120 are expected; 22 would be three standard errors more.
    assert (rejected < 22 / 120).all() and (rejected > 2 / 120).all()


def test_shifting_a_unit_changes_nothing():
    scores = rng(4).normal(size=30)
    units, places = np.repeat(np.arange(10), 3), np.tile([1, 2, 3], 10)
    one, other = (
        place_effect(scores + shift * units, places, units, rng=rng(), n_resamples=FEW)
        for shift in (0, 5)
    )
    assert_allclose(one.means, other.means, atol=1e-9)
    assert one.pvalue == other.pvalue


def test_texts_that_stand_alone_have_no_effect():
    effect = place_effect([1.0, 2.0], [1, 1], ["a", "b"], rng=rng(), n_resamples=FEW)
    assert np.isnan(effect.pvalue) and effect.n_units == 0


def test_differences_by_hand_and_what_cannot_be_known():
    effect = context_effect(
        [1, 2, 5], [0, 2, 1], ["A", "A", "B"], ["d", "d", "d"], rng=rng(), n_resamples=FEW
    )
    assert effect.systems.tolist() == ["A", "B"] and effect.n.tolist() == [2, 1]
    assert_allclose(effect.differences, [0.5, 4.0])
    assert_allclose([effect.first, effect.second], [[1.5, 5], [1, 1]])
    assert np.isnan(effect.pvalues).all() and effect.n_documents == 1


def test_the_correlation_is_that_of_numpy_and_swapping_turns_the_sign():
    first, second = rng(5).normal(size=(2, 40))
    keys = (np.repeat(["A", "B"], 20), np.tile(np.repeat(np.arange(10), 2), 2))
    one = context_effect(first, second, *keys, rng=rng(), n_resamples=FEW)
    other = context_effect(second, first, *keys, rng=rng(), n_resamples=FEW)
    assert_allclose(one.r, np.corrcoef(first, second)[0, 1])
    assert_allclose(one.differences, -other.differences)
    assert_allclose(one.low, -other.high, atol=1e-9)
    assert_allclose(one.pvalues, other.pvalues)


def test_documents_and_not_segments_are_drawn():
    """Whole documents that differ together make the interval wide."""
    by_document = np.repeat(rng(6).normal(size=8), 10)
    noise = 0.01 * rng(7).normal(size=80)
    args = (by_document + noise, np.zeros(80), np.repeat("A", 80))
    clustered = context_effect(*args, np.repeat(np.arange(8), 10), rng=rng(), n_resamples=FEW)
    apart = context_effect(*args, np.arange(80), rng=rng(), n_resamples=FEW)
    assert (clustered.high - clustered.low) > 2 * (apart.high - apart.low)


def test_a_null_effect_is_rejected_about_as_often_as_promised():
    generator, n_rejected = rng(8), 0
    documents = np.repeat(np.arange(25), 4)
    for seed in range(150):
        differences = np.repeat(generator.normal(size=25), 4) + generator.normal(size=100)
        effect = context_effect(
            differences,
            np.zeros(100),
            np.repeat("A", 100),
            documents,
            rng=rng(seed),
            n_resamples=99,
        )
        n_rejected += effect.pvalues[0] <= 0.05
    assert 2 <= n_rejected <= 17


def test_nothing_to_compare_is_refused():
    with pytest.raises(ValueError, match="empty"):
        context_effect([], [], [], [], rng=rng())
