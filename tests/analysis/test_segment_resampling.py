"""The cluster bootstrap and paired permutations by segment, against plain loops."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from analysis.evaluation import Options, evaluate
from analysis.evaluation.tables import tables_of
from analysis.stats.by_segment import correlations_by_segment
from analysis.stats.resampling import bootstrap_counts, swap_masks
from analysis.stats.segment_resampling import resampled_correlations, resampled_means
from tests.analysis.evaluation_tables import gold_table, metric
from tests.analysis.test_by_segment import scores


def rng():
    return np.random.default_rng(5)


def standardised(row):
    return (row - row.mean()) / row.std()


def test_permutations_swap_all_translations_of_a_segment():
    metrics, gold, segments = scores(n_segments=12)
    a, b = (standardised(row) for row in metrics)
    observed = np.corrcoef(a, gold)[0, 1] - np.corrcoef(b, gold)[0, 1]
    at_least = 0
    for mask in np.concatenate(list(swap_masks(12, 200, rng()))):
        is_swapped = mask[segments] == 1
        first, second = np.where(is_swapped, b, a), np.where(is_swapped, a, b)
        difference = np.corrcoef(first, gold)[0, 1] - np.corrcoef(second, gold)[0, 1]
        at_least += difference >= observed - 1e-12
    result = resampled_correlations(metrics, gold, segments, rng=rng(), n_resamples=200)
    assert result.compare().pvalue[0, 1] == pytest.approx((at_least + 1) / 201)


def test_the_bootstrap_draws_all_translations_of_a_segment():
    metrics, gold, segments = scores(n_segments=12)
    generator = rng()
    list(swap_masks(12, 50, generator))  # permutations come first
    expected = [
        [
            np.corrcoef(np.repeat(row, drawn), np.repeat(gold, drawn))[0, 1]
            for row in metrics
            for drawn in [counts[segments].astype(int)]
        ]
        for counts in np.concatenate(list(bootstrap_counts(12, 50, generator)))
    ]
    result = resampled_correlations(metrics, gold, segments, rng=rng(), n_resamples=50)
    assert_allclose(result.resampled, expected)
    # As far out as t with 11 degrees of freedom and the divisor 11 is further out than the normal distribution.
    tail = stats.norm.sf(stats.t.isf(0.05, 11) * np.sqrt(12 / 11))
    assert 0.02 < tail < 0.05
    assert_allclose(result.intervals(0.9), np.quantile(expected, [tail, 1 - tail], axis=0))


def test_many_segments_agree_with_the_jackknife():
    metrics, gold, segments = scores(n_segments=200)
    plain = correlations_by_segment(metrics, gold, segments)
    result = resampled_correlations(metrics, gold, segments, rng=rng(), n_resamples=2000)
    assert_allclose(result.estimates, plain.estimates)
    assert_allclose(result.intervals(), plain.intervals(), atol=0.01)


def test_swapping_metrics_or_directions_mirrors_the_result():
    metrics, gold, segments = scores()
    result = resampled_correlations(metrics, gold, segments, rng=rng())
    swapped = resampled_correlations(metrics[::-1], gold, segments, rng=rng())
    assert_allclose(result.compare().pvalue, swapped.compare().pvalue[::-1, ::-1])
    lower = resampled_correlations(-metrics, gold, segments, rng=rng(), higher_is_better=False)
    assert_allclose(lower.compare().pvalue, result.compare().pvalue)


def test_equal_and_constant_metrics():
    metrics, gold, segments = scores()
    metrics = np.stack([metrics[0], metrics[0], np.ones_like(gold)])
    result = resampled_correlations(metrics, gold, segments, rng=rng(), n_resamples=100)
    assert result.compare().pvalue[0, 1] == 1
    assert np.isnan(result.estimates[2]) and np.isnan(result.compare().pvalue[2, 0])
    assert np.isnan(result.intervals()[:, 2]).all()


def test_segments_without_gold_are_left_out():
    metrics, gold, segments = scores()
    partial = np.where(segments == 3, np.nan, gold)
    kept = segments != 3
    first = resampled_correlations(metrics, partial, segments, rng=rng())
    second = resampled_correlations(metrics[:, kept], gold[kept], segments[kept], rng=rng())
    assert first.n_units == 29
    assert_allclose(first.resampled, second.resampled)


def test_means_are_drawn_and_swapped_by_segment():
    values = np.random.default_rng(2).random((2, 15))
    facts = {"measure": "acc_eq", "n": 60, "higher_is_better": (True, True)}
    result = resampled_means(values, **facts, rng=rng(), n_resamples=300)
    difference = values[0] - values[1]
    signs = 1 - 2 * np.concatenate(list(swap_masks(15, 300, rng())))
    at_least = ((signs @ difference) / 15 >= difference.mean() - 1e-12).sum()
    assert result.compare().pvalue[0, 1] == pytest.approx((at_least + 1) / 301)
    assert_allclose(result.estimates, values.mean(axis=1))


def test_an_evaluation_names_what_it_resampled():
    tables = [metric("good", 0.3), metric("poor", 4, seed=4)]
    options = Options(uncertainty="resampling", seed=3)
    result = evaluate(tables, [gold_table()], options=options).result
    tests = {
        test.measure: test.test for test in result.golds[0].all_tests if test.level == "segment"
    }
    assert tests == dict.fromkeys(("pearson", "spearman", "kendall", "acc_eq"), "permutation")
    assert "uncertainty:resampling" in result.signature and "seed:3" in result.signature
    note = next(table.note for table in tables_of(result) if table.name.startswith("segment"))
    assert "bootstrap of segments" in note and "permutation by segment" in note
    again = evaluate(tables, [gold_table()], options=options).result
    assert again.to_json() == result.to_json()
