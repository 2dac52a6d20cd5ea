import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose
from scipy import stats

from analysis.stats.quality_estimation import (
    delta_avg,
    evaluate_predictions,
    prediction_error,
    rescale_predictions,
    seconds_per_word,
)

whole_scores = arrays(np.float64, st.integers(4, 25), elements=st.integers(0, 9).map(float))


def rng(seed: int = 8) -> np.random.Generator:
    return np.random.default_rng(seed)


def predictions_and_gold(n: int = 80) -> tuple[np.ndarray, np.ndarray]:
    generator = rng(1)
    gold = generator.beta(2, 5, size=n)
    return gold + generator.normal(scale=0.1, size=n), gold


def plain_delta_avg(predictions: np.ndarray, gold: np.ndarray) -> float:
    """Return DeltaAvg by its definition, for distinct predictions where higher is better."""
    ranked = gold[np.argsort(-predictions)]
    size = len(ranked)
    by_n = []
    for n in range(2, size // 2 + 1):
        heads = [ranked[: k * (size // n)].mean() for k in range(1, n)]
        by_n.append(np.mean(heads) - ranked.mean())
    return float(np.mean(by_n))


def test_errors_by_hand() -> None:
    # Errors 1, -2, 2: mean absolute 5/3, mean square 3
    assert_allclose(prediction_error([2, 1, 5], [1, 3, 3], "mae").estimate, 5 / 3)
    assert_allclose(prediction_error([2, 1, 5], [1, 3, 3], "rmse").estimate, math.sqrt(3))


@pytest.mark.parametrize("measure", ["mae", "rmse"])
def test_errors_have_an_interval_and_on_request_a_bootstrap_one(measure: str) -> None:
    predictions, gold = predictions_and_gold()
    result = prediction_error(predictions, gold, measure, rng=rng())  # type: ignore[arg-type]
    assert result.low < result.estimate < result.high
    assert (result.n, result.higher_is_better) == (80, False)
    assert "interval:bootstrap,1000" in result.signature
    alone = prediction_error(predictions, gold, measure)  # type: ignore[arg-type]
    assert alone.low < alone.estimate < alone.high
    assert "interval:t,jackknife-by-segment" in alone.signature
    assert_allclose((alone.low, alone.high), (result.low, result.high), rtol=0.1)


def test_the_bootstrap_interval_of_mae_matches_scipy() -> None:
    predictions, gold = predictions_and_gold()
    expected = stats.bootstrap(
        (np.abs(predictions - gold),), np.mean, method="percentile", rng=rng()
    )
    result = prediction_error(predictions, gold, "mae", rng=rng(), n_resamples=9999)
    low, high = expected.confidence_interval
    assert_allclose((result.low, result.high), (low, high), atol=0.001)


def test_rescaled_predictions_have_the_gold_mean_and_half_its_spread() -> None:
    predictions, gold = predictions_and_gold()
    rescaled = rescale_predictions(predictions, gold)
    assert_allclose(rescaled.mean(), gold.mean())
    assert_allclose(rescaled.std(ddof=1), gold.std(ddof=1) / 2)
    assert_allclose(np.argsort(rescaled), np.argsort(predictions))


def test_constant_predictions_cannot_be_rescaled() -> None:
    result = evaluate_predictions([0.3] * 5, [1, 2, 3, 4, 5], higher_is_better=True, rng=rng())
    assert math.isnan(result.rescaled_mae.estimate) and math.isnan(result.rescaled_rmse.high)
    assert math.isnan(result.pearson.estimate)
    assert_allclose(result.mae.estimate, 2.7)
    assert_allclose(result.delta_avg.estimate, 0, atol=1e-12)


@given(whole_scores, st.floats(0.1, 10), st.floats(-10, 10))
def test_rescaling_ignores_the_scale_of_predictions(
    gold: np.ndarray, factor: float, shift: float
) -> None:
    predictions = np.arange(len(gold)) % 3.0
    once, again = (
        rescale_predictions(p, gold) for p in (predictions, factor * predictions + shift)
    )
    assert_allclose(once, again, atol=1e-9)


def test_delta_avg_by_hand() -> None:
    # Ranked gold 4, 2, 3, 1; only n = 2: mean of the better half 3, of all 2.5
    result = delta_avg([9, 8, 7, 6], [4, 2, 3, 1], higher_is_better=True)
    assert_allclose(result.estimate, 0.5)


def test_delta_avg_with_a_remainder_by_hand() -> None:
    # Seven segments, gold 7..1 ranked perfectly, mean 4. n = 2: 3 segments, mean 6.
    # n = 3: 2 segments, means 6.5 and 5.5, so 6. DeltaAvg = 2.
    result = delta_avg(range(7), range(1, 8), higher_is_better=True)
    assert_allclose(result.estimate, 2)


@pytest.mark.parametrize("n", [4, 5, 9, 50, 101])
def test_delta_avg_matches_its_definition(n: int) -> None:
    predictions, gold = predictions_and_gold(n)
    result = delta_avg(predictions, gold, higher_is_better=True)
    assert_allclose(result.estimate, plain_delta_avg(predictions, gold))


def test_delta_avg_of_an_error_rate_is_reversed() -> None:
    predictions, gold = predictions_and_gold()
    as_error = delta_avg(predictions, gold, higher_is_better=False)
    as_quality = delta_avg(-predictions, -gold, higher_is_better=True)
    assert_allclose(as_error.estimate, as_quality.estimate)
    assert as_error.estimate > 0 and as_error.higher_is_better
    assert "gold:lower" in as_error.signature


def test_tied_predictions_score_like_the_average_random_order() -> None:
    predictions = np.array([3, 2, 2, 2, 1, 1, 0, 0.0])
    gold = np.array([5, 4, 1, 3, 2, 6, 1, 0.0])
    generator = rng()
    orders = [
        plain_delta_avg(predictions + generator.uniform(0, 0.5, size=8), gold) for _ in range(4000)
    ]
    result = delta_avg(predictions, gold, higher_is_better=True)
    # sd of one order about 0.3, of the mean of 4,000 about 0.005
    assert_allclose(result.estimate, np.mean(orders), atol=0.02)


@given(whole_scores, st.randoms(use_true_random=False))
def test_row_order_never_matters(gold: np.ndarray, random) -> None:  # type: ignore[no-untyped-def]
    predictions = np.arange(len(gold)) % 4.0
    order = list(range(len(gold)))
    random.shuffle(order)
    straight, shuffled = (
        delta_avg(predictions[rows], gold[rows], higher_is_better=True).estimate
        for rows in (slice(None), order)
    )
    assert_allclose(straight, shuffled, atol=1e-12)


@given(whole_scores)
def test_delta_avg_depends_only_on_the_ranking(gold: np.ndarray) -> None:
    predictions = np.arange(len(gold)) % 4.0
    straight = delta_avg(predictions, gold, higher_is_better=True).estimate
    bent = delta_avg(np.exp(predictions), gold + 7, higher_is_better=True).estimate
    assert_allclose(bent, straight, atol=1e-9)


def test_delta_avg_has_a_bootstrap_interval_on_request() -> None:
    result = delta_avg(*predictions_and_gold(), higher_is_better=True, rng=rng(), n_resamples=300)
    assert result.low < result.estimate < result.high


def test_three_segments_are_too_few_for_delta_avg() -> None:
    with pytest.raises(ValueError, match="`gold` has 3 .* at least 4"):
        delta_avg([1, 2, 3], [1, 2, 3], higher_is_better=True)


def test_an_evaluation_contains_the_single_measures() -> None:
    predictions, gold = predictions_and_gold()
    gold[3] = np.nan
    result = evaluate_predictions(predictions, gold, higher_is_better=False)
    has_gold = ~np.isnan(gold)
    assert_allclose(
        result.pearson.estimate, stats.pearsonr(predictions[has_gold], gold[has_gold]).statistic
    )
    assert_allclose(
        result.spearman.estimate, stats.spearmanr(predictions[has_gold], gold[has_gold]).statistic
    )
    assert_allclose(result.rmse.estimate, prediction_error(predictions, gold, "rmse").estimate)
    assert result.mae.n == result.delta_avg.n == 79
    assert "rescaled:gold-mean,0.5-gold-sd" in result.rescaled_mae.signature


def test_post_editing_rate_is_seconds_per_word() -> None:
    assert_allclose(seconds_per_word([10, np.nan, 0], [4, 5, 2]), [2.5, np.nan, 0])


@pytest.mark.parametrize(
    ("seconds", "n_words", "name"),
    [
        ([1], [0], "`n_words`"),
        ([-1], [1], "`seconds`"),
        ([1], [1, 2], "`seconds`"),
        ([1], [np.nan], "`n_words`"),
    ],
)
def test_impossible_rates_are_refused(seconds: list, n_words: list, name: str) -> None:
    with pytest.raises(ValueError, match=name):
        seconds_per_word(seconds, n_words)


def test_refusals_name_the_parameter() -> None:
    with pytest.raises(ValueError, match="`measure`"):
        prediction_error([1, 2], [1, 2], "mse")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="`predictions` has 1 missing"):
        prediction_error([1, np.nan], [1, 2], "mae")
