"""Balanced degraded texts of a real test set: their form does not give them away, the published ones' does."""

import numpy as np
import pytest

from benchmarks import degradation
from tests.replication.locating import replication_data

pytestmark = pytest.mark.slow

N_TEXTS = 400


@pytest.fixture(scope="module")
def texts() -> degradation.Texts:
    replication_data("newstest2016-csen")
    return degradation.load_texts()


@pytest.fixture(scope="module")
def balanced(texts: degradation.Texts) -> degradation.Figures:
    return degradation.measure_way(texts, degradation.balanced_way(texts), N_TEXTS)


def test_overlap_with_the_gray_text_does_not_change_on_average(balanced: degradation.Figures):
    assert abs(balanced.word_change) <= degradation.MOST_CHANGE
    assert abs(balanced.chrf_change) <= degradation.MOST_CHANGE


def test_a_classifier_without_meaning_cannot_tell_them_even_with_a_memory(
    balanced: degradation.Figures,
):
    # With this many pairs, guessing gives up to 0.54 in 19 of 20 samples.
    assert balanced.auc <= degradation.MOST_AUC + 0.02
    assert balanced.auc_with_memory <= degradation.MOST_AUC + 0.02


def test_the_same_classifier_tells_published_ones(texts: degradation.Texts):
    figures = degradation.measure_way(texts, degradation.published_way(texts), N_TEXTS)
    assert figures.auc > 0.9 and figures.word_change < -0.1 and figures.chrf_change < -0.1


def test_scripts_that_count_overlap_do_not_pass_over_a_workers_pairs(texts: degradation.Texts):
    """As a worker meets them: thirty texts made one after another, as in three HITs."""
    pairs = degradation.make_pairs(texts, degradation.balanced_way(texts), 300, seed=4)
    changes = np.array([_changes(texts, pair) for pair in pairs[: len(pairs) // 30 * 30]])
    for column in changes.T:
        workers = column.reshape(-1, 30)
        passing = degradation.passes(workers)
        assert passing.mean() <= 0.1


def _changes(texts: degradation.Texts, pair: degradation.Pair) -> list[float]:
    gray = texts.grays[texts.segments[pair.number]]
    before = degradation.features(pair.genuine, gray)
    after = degradation.features(pair.degraded, gray)
    return [after[0] - before[0], after[4] - before[4]]
