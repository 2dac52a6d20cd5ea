"""Evaluate quality predictions against gold: errors, rankings, and how errors can be gamed."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from ._groups import is_constant
from ._validation import (
    Floats,
    as_scores,
    check_at_least,
    check_between,
    directed,
    direction_name,
    with_gold,
)
from .correlation import Correlation, correlate
from .resampling import (
    DEFAULT_RESAMPLES,
    ROUNDING,
    bootstrap_counts,
    monte_carlo_pvalue,
    percentile_interval,
)
from .signature import signature

ErrorMeasure = Literal["mae", "rmse"]

# DeltaAvg splits the ranking into at least two quantiles of at least two segments.
DELTA_AVG_MIN_SEGMENTS = 4

# Rescaled predictions have this share of the gold's standard deviation: Graham (ACL 2015).
RESCALED_SPREAD = 0.5


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure of predictions; `low` and `high` are NaN if no interval was requested.

    `higher_is_better` describes the estimate: False for errors, True for DeltaAvg, whatever the gold.
    """

    estimate: float
    low: float
    high: float
    n: int
    higher_is_better: bool
    signature: str


@dataclass(frozen=True, slots=True)
class ErrorComparison:
    """Two systems' errors on the same segments; a small p-value favours the first.

    `statistic` is the second error minus the first, so it is positive if the first system is better.
    A resampling test has no degrees of freedom.
    """

    statistic: float
    low: float
    high: float
    pvalue: float
    first: float
    second: float
    n: int
    signature: str


@dataclass(frozen=True, slots=True)
class QualityEstimation:
    """Everything `evaluate_predictions` measures."""

    pearson: Correlation
    spearman: Correlation
    mae: Measure
    rmse: Measure
    rescaled_mae: Measure
    rescaled_rmse: Measure
    delta_avg: Measure


def evaluate_predictions(
    predictions: ArrayLike,
    gold: ArrayLike,
    *,
    higher_is_better: bool,
    rng: np.random.Generator | None = None,
    n_resamples: int = DEFAULT_RESAMPLES,
    confidence: float = 0.95,
) -> QualityEstimation:
    """Evaluate predictions against gold with every measure of the WMT QE tasks.

    Parameters
    ----------
    predictions, gold : array_like, shape (n,)
        Scores on the same scale. A segment with NaN in `gold` is left out.
    higher_is_better : bool
        Direction of that scale: False for HTER, True for DA.
    rng : numpy.random.Generator, optional
        For bootstrap intervals; without it correlations have Fisher intervals, the others none.
    n_resamples : int
    confidence : float

    Returns
    -------
    QualityEstimation
        Correlations keep their sign, since predictions and gold have the same direction.

    References
    ----------
    .. [1] Bojar et al. Findings of the 2014 Workshop on Statistical Machine Translation. WMT 2014.
    .. [2] Graham. Improving Evaluation of Machine Translation Quality Estimation. ACL 2015.
    """
    rescaled = rescale_predictions(predictions, gold)

    def error(values: ArrayLike, measure: ErrorMeasure, rescaling: bool) -> Measure:
        return _error(values, gold, measure, rescaling, rng, n_resamples, confidence)

    def correlation(method: Literal["pearson", "spearman"]) -> Correlation:
        return correlate(
            predictions,
            gold,
            method=method,
            confidence=confidence,
            rng=rng,
            n_resamples=n_resamples,
        )

    return QualityEstimation(
        pearson=correlation("pearson"),
        spearman=correlation("spearman"),
        mae=error(predictions, "mae", False),
        rmse=error(predictions, "rmse", False),
        rescaled_mae=error(rescaled, "mae", True),
        rescaled_rmse=error(rescaled, "rmse", True),
        delta_avg=delta_avg(
            predictions,
            gold,
            higher_is_better=higher_is_better,
            rng=rng,
            n_resamples=n_resamples,
            confidence=confidence,
        ),
    )


def prediction_error(
    predictions: ArrayLike,
    gold: ArrayLike,
    measure: ErrorMeasure,
    *,
    rng: np.random.Generator | None = None,
    n_resamples: int = DEFAULT_RESAMPLES,
    confidence: float = 0.95,
) -> Measure:
    """Return the mean absolute error or the root mean squared error of predictions.

    Parameters
    ----------
    predictions, gold : array_like, shape (n,)
        Scores on the same scale. A segment with NaN in `gold` is left out.
    measure : {"mae", "rmse"}
    rng : numpy.random.Generator, optional
        With it, a percentile bootstrap interval over segments.
    n_resamples : int
    confidence : float

    Returns
    -------
    Measure

    References
    ----------
    .. [1] Callison-Burch et al. Findings of the 2012 Workshop on Statistical Machine Translation.
       WMT 2012. Section 6.
    """
    return _error(predictions, gold, measure, False, rng, n_resamples, confidence)


def rescale_predictions(predictions: ArrayLike, gold: ArrayLike) -> Floats:
    """Rescale predictions to the mean of the gold and half its standard deviation.

    The ranking stays the same, yet MAE and RMSE fall for most systems: a warning about those measures,
    and a fairer way to compare systems by them.

    Parameters
    ----------
    predictions, gold : array_like, shape (n,)
        Mean and standard deviation are computed over the segments that have gold.

    Returns
    -------
    rescaled : ndarray, shape (n,)
        All NaN if the predictions are constant, as they cannot be standardised.

    References
    ----------
    .. [1] Graham. Improving Evaluation of Machine Translation Quality Estimation. ACL 2015. Section 2.
    """
    scored, truth = with_gold(predictions, gold, "predictions", at_least=1)
    values = as_scores(predictions, "predictions")
    if is_constant(scored):
        return np.full(values.shape, np.nan)
    # Both standard deviations have the same divisor, which cancels out.
    return (values - scored.mean()) / scored.std() * (RESCALED_SPREAD * truth.std()) + truth.mean()


def compare_errors(
    first: ArrayLike,
    second: ArrayLike,
    gold: ArrayLike,
    measure: ErrorMeasure,
    *,
    rng: np.random.Generator,
    n_resamples: int = DEFAULT_RESAMPLES,
    confidence: float = 0.95,
) -> ErrorComparison:
    """Bootstrap the difference of two systems' errors, paired over segments.

    For differences in correlation use `williams.williams_matrix`.

    Parameters
    ----------
    first, second, gold : array_like, shape (n,)
        Predictions of the two systems and gold scores of the same segments.
    measure : {"mae", "rmse"}
    rng : numpy.random.Generator
    n_resamples : int
    confidence : float

    Returns
    -------
    ErrorComparison
        A small p-value favours the first system. It is the share of resamples in which that system's
        error was not smaller.

    References
    ----------
    .. [1] Koehn. Statistical Significance Tests for Machine Translation Evaluation. EMNLP 2004.
    """
    losses = [
        _losses(values, gold, measure, name)
        for values, name in ((first, "first"), (second, "second"))
    ]
    finish = _FINISH[measure]
    n = len(losses[0])
    resampled = np.concatenate(
        [
            finish(counts @ losses[1] / n) - finish(counts @ losses[0] / n)
            for counts in bootstrap_counts(n, n_resamples, rng)
        ]
    )
    low, high = percentile_interval(resampled, confidence)
    errors = [float(finish(loss.mean())) for loss in losses]
    return ErrorComparison(
        statistic=errors[1] - errors[0],
        low=float(low),
        high=float(high),
        pvalue=float(monte_carlo_pvalue((resampled <= ROUNDING * max(errors)).sum(), n_resamples)),
        first=errors[0],
        second=errors[1],
        n=n,
        signature=signature(
            test=f"paired-bootstrap,{n_resamples}", of=measure, sided="one", confidence=confidence
        ),
    )


def delta_avg(
    predictions: ArrayLike,
    gold: ArrayLike,
    *,
    higher_is_better: bool,
    rng: np.random.Generator | None = None,
    n_resamples: int = DEFAULT_RESAMPLES,
    confidence: float = 0.95,
) -> Measure:
    """Return DeltaAvg: how much better than average are the segments ranked best?

    The segments are ranked by prediction, best first, and split into n quantiles of floor(|S| / n)
    segments, the last with the remainder. DeltaAvg[n] is the mean over k = 1..n-1 of the mean gold of the first k
    quantiles, minus the mean gold of all; DeltaAvg is the mean over n = 2..floor(|S| / 2).

    Parameters
    ----------
    predictions, gold : array_like, shape (n,)
        At least 4 segments with gold. Segments with equal predictions share their mean gold, which
        is what a random order among them gives on average. Constant predictions thus score 0.
    higher_is_better : bool
        Direction of predictions and gold; False for HTER, where the sign of the result is flipped.
    rng : numpy.random.Generator, optional
        With it, a percentile bootstrap interval over segments.
    n_resamples : int
    confidence : float

    Returns
    -------
    Measure
        Higher is better.

    References
    ----------
    .. [1] Callison-Burch et al. Findings of the 2012 Workshop on Statistical Machine Translation.
       WMT 2012. Section 6.2.
    """
    check_between("confidence", confidence, 0, 1)
    values, truth = with_gold(predictions, gold, "predictions", at_least=DELTA_AVG_MIN_SEGMENTS)
    values, truth = directed(values, higher_is_better), directed(truth, higher_is_better)
    weights = _cut_weights(len(truth))
    low, high = np.nan, np.nan
    if rng is not None:
        check_at_least("n_resamples", n_resamples, 1)
        draws = (rng.integers(len(truth), size=len(truth)) for _ in range(n_resamples))
        resampled = [_delta_avg(values[drawn], truth[drawn], weights) for drawn in draws]
        low, high = percentile_interval(resampled, confidence)
    return Measure(
        estimate=_delta_avg(values, truth, weights),
        low=float(low),
        high=float(high),
        n=len(truth),
        higher_is_better=True,
        signature=signature(
            measure="delta-avg",
            quantiles="floor,rest-in-last",
            ties="mean-gold",
            gold=direction_name(higher_is_better),
            **_interval_facts(rng, n_resamples, confidence),
        ),
    )


def seconds_per_word(seconds: ArrayLike, n_words: ArrayLike) -> Floats:
    """Turn post-editing time into post-editing rate, which does not depend on segment length.

    Parameters
    ----------
    seconds : array_like, shape (n,)
        Time spent on each segment; NaN where it was not measured.
    n_words : array_like, shape (n,)
        Words in each segment, at least 1.

    Returns
    -------
    ndarray, shape (n,)
        Lower is better; NaN where `seconds` is NaN.

    References
    ----------
    .. [1] Bojar et al. Findings of the 2014 Workshop on Statistical Machine Translation. WMT 2014.
    """
    time, words = as_scores(seconds, "seconds"), as_scores(n_words, "n_words")
    if time.shape != words.shape:
        raise ValueError(f"`seconds` has {len(time)} values, `n_words` {len(words)}")
    if not (words >= 1).all() or np.isinf(words).any():
        raise ValueError("`n_words` must be at least 1 for every segment")
    if (time < 0).any() or np.isinf(time).any():
        raise ValueError("`seconds` must be finite and not negative")
    return time / words


def _cut_weights(size: int) -> Floats:
    """Return the weight in DeltaAvg of the mean gold of the best j segments, for j = 1..size.

    The cuts depend only on the number of segments, so the weights are computed once and each bootstrap
    resample needs only a dot product.
    """
    largest = size // 2
    weights = np.zeros(size)
    for n in range(2, largest + 1):
        cuts = np.arange(1, n) * (size // n)
        weights[cuts - 1] += 1 / (n - 1)
    return weights / (largest - 1)


def _delta_avg(predictions: Floats, gold: Floats, weights: Floats) -> float:
    """Return DeltaAvg of complete, higher-is-better scores."""
    _, rank, ties = np.unique(-predictions, return_inverse=True, return_counts=True)
    mean_gold = np.bincount(rank, weights=gold) / ties
    ranked = np.repeat(mean_gold, ties)
    means = np.cumsum(ranked) / np.arange(1, len(gold) + 1)
    return float(weights @ means - gold.mean())


_LOSS: dict[ErrorMeasure, Callable[[Floats], Floats]] = {"mae": np.abs, "rmse": np.square}
_FINISH: dict[ErrorMeasure, Callable[[Floats], Floats]] = {"mae": np.asarray, "rmse": np.sqrt}


def _losses(values: ArrayLike, gold: ArrayLike, measure: ErrorMeasure, name: str) -> Floats:
    """Return the loss of each segment with gold; the error is computed from their mean."""
    if measure not in _LOSS:
        raise ValueError(f"`measure` must be 'mae' or 'rmse', not {measure!r}")
    predicted, truth = with_gold(values, gold, name, at_least=1)
    return _LOSS[measure](predicted - truth)


def _error(
    values: ArrayLike,
    gold: ArrayLike,
    measure: ErrorMeasure,
    rescaled: bool,
    rng: np.random.Generator | None,
    n_resamples: int,
    confidence: float,
) -> Measure:
    """Return MAE or RMSE; NaN for constant predictions, which could not be rescaled."""
    check_between("confidence", confidence, 0, 1)
    undefined = rescaled and np.isnan(np.asarray(values, dtype=np.float64)).all()
    losses = _losses(
        np.zeros(np.shape(gold)) if undefined else values, gold, measure, "predictions"
    )
    losses = losses * np.nan if undefined else losses
    finish = _FINISH[measure]
    n = len(losses)
    low, high = np.nan, np.nan
    if rng is not None:
        means = [counts @ losses / n for counts in bootstrap_counts(n, n_resamples, rng)]
        low, high = percentile_interval(finish(np.concatenate(means)), confidence)
    return Measure(
        estimate=float(finish(losses.mean())),
        low=float(low),
        high=float(high),
        n=n,
        higher_is_better=False,
        signature=signature(
            measure=measure,
            rescaled=f"gold-mean,{RESCALED_SPREAD:g}-gold-sd" if rescaled else None,
            **_interval_facts(rng, n_resamples, confidence),
        ),
    )


def _interval_facts(
    rng: np.random.Generator | None, n_resamples: int, confidence: float
) -> dict[str, object]:
    if rng is None:
        return {}
    return {"interval": f"bootstrap,{n_resamples}", "confidence": confidence}
