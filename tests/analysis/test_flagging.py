"""ROC, precision and recall, and the cost of reading: by hand, against other formulas, by property."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import mannwhitneyu

from analysis.stats.flagging import flagging_areas, found_by_reading, reading_to_find

SCORES = np.array([1.0, 2, 3, 4, 5])
IS_BAD = np.array([True, False, True, False, False])


def areas(scores, is_bad, **others):
    rng = np.random.default_rng(1)
    return flagging_areas(np.atleast_2d(scores), is_bad, rng=rng, **({"n_resamples": 20} | others))


def test_five_translations_by_hand():
    found = areas(SCORES, IS_BAD)
    # Of the six pairs of bad and good, one is in the wrong order.
    assert_allclose(found.roc, [5 / 6])
    # The first bad one is read first, the second among three.
    assert_allclose(found.precision, [(1 + 2 / 3) / 2])
    assert_allclose(found_by_reading(SCORES, IS_BAD, [0, 0.2, 0.4, 0.6, 1]), [0, 0.5, 0.5, 1, 1])
    assert reading_to_find(SCORES, IS_BAD, 0.5) == pytest.approx(0.2)
    assert reading_to_find(SCORES, IS_BAD, 0.9) == pytest.approx(0.6)


def test_ties_are_read_in_any_order():
    found = areas([1, 1, 1, 2, 2], IS_BAD)
    # Bad: two of the first three. Pairs: two ties with the good one among them, four in order.
    assert_allclose(found.roc, [(4 + 2 / 2) / 6])
    assert_allclose(found.precision, [2 / 3])
    assert_allclose(found_by_reading([1, 1, 1, 2, 2], IS_BAD, [0.3, 0.6]), [0.5, 1])
    assert reading_to_find([1, 1, 1, 2, 2], IS_BAD, 0.5) == pytest.approx(0.4)
    constant = areas(np.zeros(5), IS_BAD)
    assert_allclose([*constant.roc, *constant.precision], [0.5, 0.4])
    assert_allclose(found_by_reading(np.zeros(5), IS_BAD, [0.25, 0.5]), [0.25, 0.5])


def test_the_roc_area_is_that_of_mann_and_whitney():
    rng = np.random.default_rng(2)
    scores, is_bad = rng.integers(0, 6, size=(3, 80)).astype(float), rng.random(80) < 0.3
    expected = [
        mannwhitneyu(row[~is_bad], row[is_bad]).statistic / (is_bad.sum() * (~is_bad).sum())
        for row in scores
    ]
    assert_allclose(areas(scores, is_bad).roc, expected)


def test_average_precision_by_its_definition():
    rng = np.random.default_rng(3)
    scores, is_bad = rng.normal(size=60), rng.random(60) < 0.4
    precisions = [is_bad[scores <= score].mean() for score in scores[is_bad]]
    assert_allclose(areas(scores, is_bad).precision, [np.mean(precisions)])


def test_the_bootstrap_weighs_segments_as_if_they_were_repeated():
    rng = np.random.default_rng(4)
    scores, is_bad = rng.normal(size=(1, 12)), np.arange(12) % 3 == 0
    segments = np.arange(12) // 2
    found = areas(scores, is_bad, segments=segments, n_resamples=500)
    generator = np.random.default_rng(1)
    drawn = generator.integers(6, size=(500, 6))
    resampled = []
    for row in drawn:
        places = np.concatenate([np.flatnonzero(segments == segment) for segment in row])
        if 0 < is_bad[places].sum() < len(places):
            pairs = product(scores[0, places[is_bad[places]]], scores[0, places[~is_bad[places]]])
            resampled.append(np.mean([bad < good if bad != good else 0.5 for bad, good in pairs]))
    assert_allclose(found.roc_interval[:, 0], np.quantile(resampled, [0.025, 0.975]))


def test_perfect_and_reversed_scores():
    perfect = areas(-IS_BAD.astype(float), IS_BAD)
    assert (perfect.roc[0], perfect.precision[0]) == (1, 1)
    assert areas(IS_BAD.astype(float), IS_BAD).roc[0] == 0
    assert reading_to_find(-IS_BAD.astype(float), IS_BAD, 0.95) == pytest.approx(0.4)


@pytest.mark.slow
def test_intervals_cover_the_true_area():
    # Scores of bad and of good translations are a standard deviation apart.
    true_area, rng = 0.7602, np.random.default_rng(6)
    covered = []
    for _ in range(400):
        segments = np.repeat(np.arange(60), 3)
        is_bad = rng.random(180) < 0.4
        scores = rng.normal(size=180) + np.where(is_bad, 0, 1)
        found = flagging_areas(scores[None], is_bad, rng=rng, segments=segments, n_resamples=300)
        low, high = found.roc_interval[:, 0]
        covered.append(low <= true_area <= high)
    assert 0.92 <= np.mean(covered) <= 0.98


@pytest.mark.parametrize(
    ("scores", "is_bad", "message"),
    [
        (SCORES[:4], IS_BAD, "must be parallel"),
        (SCORES, [True] * 5, "both True and False"),
        (SCORES, [False] * 5, "both True and False"),
        (SCORES, [0, 1, 0, 1, 0], "True and False"),
        ([1, 2, np.nan, 4, 5], IS_BAD, "missing or infinite"),
    ],
)
def test_what_cannot_be_ranked_is_refused(scores, is_bad, message):
    with pytest.raises(ValueError, match=message):
        areas(scores, is_bad)
    with pytest.raises(ValueError, match=message):
        found_by_reading(scores, is_bad, [0.5])
