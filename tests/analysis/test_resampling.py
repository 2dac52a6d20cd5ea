import numpy as np
import pytest
from numpy.testing import assert_allclose

from analysis.stats import resampling
from analysis.stats._pearson import unit_rows
from analysis.stats.resampling import (
    bootstrap_counts,
    bootstrap_mean_interval,
    monte_carlo_pvalue,
    percentile_interval,
    resampled_pearson,
    swap_masks,
)


def rng(seed: int = 11) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_every_resample_draws_as_many_segments_as_there_are() -> None:
    counts = np.concatenate(list(bootstrap_counts(40, 300, rng())))
    assert counts.shape == (300, 40)
    assert (counts.sum(axis=1) == 40).all()
    # 12,000 draws, each segment drawn about 300 times, sd 17.
    assert np.abs(counts.sum(axis=0) - 300).max() < 5 * 17.1


def test_every_segment_is_swapped_half_the_time() -> None:
    masks = np.concatenate(list(swap_masks(70, 2000, rng())))
    assert masks.shape == (2000, 70)
    assert set(np.unique(masks)) == {0, 1}
    # sd of a share over 2,000 masks: 0.011
    assert np.abs(masks.mean(axis=0) - 0.5).max() < 0.056
    neighbours = np.corrcoef(masks.T)[~np.eye(70, dtype=bool)]
    assert np.abs(neighbours).max() < 0.12


@pytest.mark.parametrize("draw", [bootstrap_counts, swap_masks])
def test_the_block_size_does_not_change_the_draws(draw, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    at_once = list(draw(13, 50, rng()))
    monkeypatch.setattr(resampling, "WEIGHTS_AT_ONCE", 13 * 7)
    in_blocks = list(draw(13, 50, rng()))
    assert (len(at_once), len(in_blocks)) == (1, 8)
    assert_allclose(np.concatenate(in_blocks), np.concatenate(at_once))


def test_wide_results_use_smaller_blocks_of_the_same_masks() -> None:
    narrow = list(swap_masks(13, 50, rng()))
    wide = list(swap_masks(13, 50, rng(), width=resampling.WEIGHTS_AT_ONCE))
    assert len(wide) == 50
    assert_allclose(np.concatenate(wide), np.concatenate(narrow))


def test_a_p_value_is_never_zero() -> None:
    assert_allclose(monte_carlo_pvalue([0, 49, 999], 999), [0.001, 0.05, 1])


def test_the_percentile_interval_cuts_equal_tails() -> None:
    assert_allclose(percentile_interval(np.arange(101), 0.9), [5, 95])


def test_the_percentile_interval_skips_resamples_without_an_estimate() -> None:
    resampled = np.column_stack([np.arange(101.0), np.full(101, np.nan)])
    resampled = np.vstack([resampled, [[np.nan, np.nan]]])
    assert_allclose(percentile_interval(resampled, 0.9), [[5, np.nan], [95, np.nan]])


def test_resampled_correlations_match_the_drawn_rows() -> None:
    scores = unit_rows(rng(1).normal(size=(3, 12)))
    metrics, gold = scores[:2], scores[2]
    resampled = resampled_pearson(metrics, gold, 40, rng())
    counts = np.concatenate(list(bootstrap_counts(12, 40, rng()))).astype(int)
    for row, correlations in zip(counts, resampled, strict=True):
        drawn = np.repeat(np.arange(12), row)
        assert_allclose(correlations, np.corrcoef(scores[:, drawn])[:2, 2], atol=1e-10)


def test_a_resample_of_equal_scores_has_no_correlation() -> None:
    scores = unit_rows(np.array([[0, 0, 1.0], [1, 2, 3.0]]))
    resampled = resampled_pearson(scores[:1], scores[1], 200, rng())
    # Two of three segments are equal: many resamples never draw the third.
    assert 0 < np.isnan(resampled).sum() < 200


def test_the_interval_of_a_mean_covers_it_as_often_as_it_claims() -> None:
    generator = rng()
    n_covered = 0
    for _ in range(300):
        low, high = bootstrap_mean_interval(
            generator.normal(size=60), rng=generator, n_resamples=300, confidence=0.9
        )
        n_covered += low < 0 < high
    # 270 expected, sd 5; the percentile interval is a little narrow at n = 60.
    assert 245 <= n_covered <= 288


def test_refusals_name_the_parameter() -> None:
    with pytest.raises(ValueError, match="`n_resamples`"):
        list(swap_masks(5, 0, rng()))
    with pytest.raises(ValueError, match="`confidence`"):
        percentile_interval([1, 2, 3], 1.0)
    with pytest.raises(ValueError, match="`values` is empty"):
        bootstrap_mean_interval([], rng=rng())
