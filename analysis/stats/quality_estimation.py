"""Evaluate quality predictions against gold: errors, rankings, and how errors can be gamed."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy
from numpy.typing import ArrayLike

from ._groups import factorise, is_constant
from ._validation import (
    Floats,
    Ints,
    as_keys,
    as_scores,
    check_between,
    direction_name,
    gold_scores,
    with_gold,
)
from .correlation import Correlation, correlate
from .prediction_sums import (
    MIN_UNITS,
    DeltaAvgSums,
    ErrorMeasure,
    ErrorSums,
    PredictionMeasure,
    prediction_sums,
    standard_error,
)
from .resampling import (
    DEFAULT_RESAMPLES,
    ROUNDING,
    monte_carlo_pvalue,
    percentile_interval,
)
from .signature import signature
from .significance import ComparisonMatrix, comparison_matrix, metric_pairs

# DeltaAvg splits the ranking into at least two quantiles of at least two segments.
DELTA_AVG_MIN_SEGMENTS = 4

# Rescaled predictions have this share of the gold's standard deviation: Graham (ACL 2015).
RESCALED_SPREAD = 0.5


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure of predictions; `low` and `high` are NaN if there is only one segment.

    `higher_is_better` describes the estimate: False for errors, True for DeltaAvg, whatever the gold.
    """

    estimate: float
    low: float
    high: float
    n: int
    higher_is_better: bool
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
    segments: ArrayLike | None = None,
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
    segments : array_like, shape (n,), optional
        The segment of each translation, if some have several: then only segments count as independent
        in the intervals of errors and DeltaAvg.
    rng : numpy.random.Generator, optional
        For percentile bootstrap intervals. Without it correlations have Fisher intervals, the others
        Student's t with the standard error of the jackknife over segments.
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
        return _error(values, gold, measure, rescaling, segments, rng, n_resamples, confidence)

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
            segments=segments,
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
    segments: ArrayLike | None = None,
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
    segments : array_like, shape (n,), optional
        The segment of each translation, if some have several: then only segments count as independent.
    rng : numpy.random.Generator, optional
        With it, a percentile bootstrap interval, as published, which is too narrow with few segments.
        Without it, Student's t with the standard error of the jackknife over segments.
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
    return _error(predictions, gold, measure, False, segments, rng, n_resamples, confidence)


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


def compare_predictions(
    predictions: ArrayLike,
    gold: ArrayLike,
    measure: PredictionMeasure,
    *,
    higher_is_better: bool,
    segments: ArrayLike | None = None,
    rng: np.random.Generator | None = None,
    n_resamples: int = DEFAULT_RESAMPLES,
    confidence: float = 0.95,
) -> ComparisonMatrix:
    """Test the differences in error or DeltaAvg between all pairs of submissions.

    Parameters
    ----------
    predictions, gold : array_like, shapes (n_submissions, n) and (n,)
        A translation with NaN in `gold` is left out.
    measure : {"mae", "rmse", "delta_avg"}
    higher_is_better : bool
        Direction of predictions and gold.
    segments : array_like, shape (n,), optional
        The segment of each translation, if some have several: then only segments count as independent.
    rng : numpy.random.Generator, optional
        For the paired bootstrap as published: the p-value is the share of resamples in which the first
        submission is not better, which 1,000 resamples leave too coarse to be adjusted for many tests.
        Without it, Student's t with the standard error of the jackknife over segments.
    n_resamples : int
    confidence : float
        Of the intervals of differences.

    Returns
    -------
    ComparisonMatrix
        The estimates are the measure itself: of two errors the lower is better. A small `pvalue[i, j]`
        favours submission i in any case; it is 0.5 for equal submissions (1 as published).

    References
    ----------
    .. [1] Koehn. Statistical Significance Tests for Machine Translation Evaluation. EMNLP 2004.
    .. [2] Bojar et al. Findings of the 2015 Workshop on Statistical Machine Translation. WMT 2015.
    """
    check_between("confidence", confidence, 0, 1)
    scores, truth = with_gold(
        predictions, gold, "predictions", at_least=DELTA_AVG_MIN_SEGMENTS, ndim=2
    )
    statistics = prediction_sums(scores, truth, measure, higher_is_better, _codes(segments, gold))
    if statistics.n_units < MIN_UNITS:
        raise ValueError(f"`segments` must name at least {MIN_UNITS} segments")
    sign = 1.0 if measure == "delta_avg" else -1.0
    if rng is None:
        above, below, (low, high) = _by_jackknife(statistics, sign, confidence)
    else:
        above, below, (low, high) = _by_bootstrap(statistics, sign, confidence, n_resamples, rng)
    return comparison_matrix(
        statistics.estimates,
        np.full(len(scores), sign),
        len(truth),
        above=above,
        below=below,
        interval=(low, high),
        how=signature(
            test="t" if rng is None else f"paired-bootstrap,{n_resamples}",
            of=measure,
            se="jackknife-by-segment" if rng is None else None,
            units=statistics.n_units,
            sided="one",
            confidence=confidence,
        ),
    )


# The p-values of all pairs in both directions, and the intervals of the differences.
_Tested = tuple[Floats, Floats, tuple[Floats, Floats]]


def _by_jackknife(statistics: ErrorSums | DeltaAvgSums, sign: float, confidence: float) -> _Tested:
    first, second = metric_pairs(statistics.estimates)
    observed = statistics.estimates[first] - statistics.estimates[second]
    left_out = statistics.left_out()
    error = standard_error(left_out[:, first] - left_out[:, second])
    above, below = _t_pvalues(sign * observed, error, len(left_out))
    reach = scipy.special.stdtrit(len(left_out) - 1, (1 + confidence) / 2) * error
    return above, below, (observed - reach, observed + reach)


def _by_bootstrap(
    statistics: ErrorSums | DeltaAvgSums,
    sign: float,
    confidence: float,
    n_resamples: int,
    rng: np.random.Generator,
) -> _Tested:
    first, second = metric_pairs(statistics.estimates)
    resampled = np.concatenate(list(statistics.resampled(n_resamples, rng)))
    difference = resampled[:, first] - resampled[:, second]
    above, below = _shares_not_better(sign * difference)
    low, high = percentile_interval(difference, confidence)
    return above, below, (low, high)


def _shares_not_better(difference: Floats) -> tuple[Floats, Floats]:
    """Return for each pair the share of resamples in which the first, or the second, is not better."""
    n_resamples = len(difference)
    above = monte_carlo_pvalue((difference <= ROUNDING).sum(axis=0), n_resamples)
    below = monte_carlo_pvalue((difference >= -ROUNDING).sum(axis=0), n_resamples)
    return above, below


def _t_pvalues(observed: Floats, error: Floats, n_units: int) -> tuple[Floats, Floats]:
    """Return one-sided p-values of differences by their standard errors."""
    differs = error > ROUNDING * np.maximum(np.abs(observed), 1)
    # A difference that never varies, such as that of a submission and its copy, is certain or none.
    never = np.where(np.abs(observed) <= ROUNDING, 0, np.copysign(np.inf, observed))
    t = np.where(differs, observed / np.where(differs, error, 1), never)
    return scipy.special.stdtr(n_units - 1, -t), scipy.special.stdtr(n_units - 1, t)


def delta_avg(
    predictions: ArrayLike,
    gold: ArrayLike,
    *,
    higher_is_better: bool,
    segments: ArrayLike | None = None,
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
    segments : array_like, shape (n,), optional
        The segment of each translation, if some have several: then only segments count as independent.
    rng : numpy.random.Generator, optional
        With it, a percentile bootstrap interval, as published, which is too narrow with few segments.
        Without it, Student's t with the standard error of the jackknife over segments.
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
    statistics = DeltaAvgSums(values[None], truth, _codes(segments, gold), higher_is_better)
    low, high = _interval(statistics, rng, n_resamples, confidence)
    return Measure(
        estimate=float(statistics.estimates[0]),
        low=low,
        high=high,
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


# Resampling -----------------------------------------------------------------------------------


def _codes(segments: ArrayLike | None, gold: ArrayLike) -> Ints:
    """Number the segments of the translations that have gold; without segments, every one is its own."""
    has_gold = ~np.isnan(gold_scores(gold))
    if segments is None:
        return np.arange(int(has_gold.sum()))
    names = as_keys("segments", segments)
    if len(names) != len(has_gold):
        raise ValueError(f"`segments` has {len(names)} values, `gold` {len(has_gold)}")
    return factorise(names[has_gold])[1]


def _interval(
    statistics: "ErrorSums | DeltaAvgSums",
    rng: np.random.Generator | None,
    n_resamples: int,
    confidence: float,
) -> tuple[float, float]:
    """Return the interval of one submission; NaN for a single segment."""
    if rng is not None:
        resampled = np.concatenate(list(statistics.resampled(n_resamples, rng)))[:, 0]
        low, high = percentile_interval(resampled, confidence)
        return float(low), float(high)
    if statistics.n_units < MIN_UNITS:
        return np.nan, np.nan
    estimate, left_out = statistics.estimates[0], statistics.left_out()[:, 0]
    # Errors are positive and skewed; perfect predictions have no logarithm.
    is_log = isinstance(statistics, ErrorSums) and bool((left_out > 0).all())
    if is_log:
        estimate, left_out = np.log(estimate), np.log(left_out)
    t = float(scipy.special.stdtrit(len(left_out) - 1, (1 + confidence) / 2))
    reach = t * float(standard_error(left_out))
    ends = np.array([estimate - reach, estimate + reach])
    low, high = np.exp(ends) if is_log else ends
    return float(low), float(high)


def _error(
    values: ArrayLike,
    gold: ArrayLike,
    measure: ErrorMeasure,
    rescaled: bool,
    segments: ArrayLike | None,
    rng: np.random.Generator | None,
    n_resamples: int,
    confidence: float,
) -> Measure:
    """Return MAE or RMSE; NaN for constant predictions, which could not be rescaled."""
    check_between("confidence", confidence, 0, 1)
    undefined = rescaled and np.isnan(np.asarray(values, dtype=np.float64)).all()
    predicted, truth = with_gold(
        np.zeros(np.shape(gold)) if undefined else values, gold, "predictions", at_least=1
    )
    statistics = ErrorSums(predicted[None], truth, _codes(segments, gold), measure)
    low, high = np.nan, np.nan
    if not undefined:
        low, high = _interval(statistics, rng, n_resamples, confidence)
    return Measure(
        estimate=np.nan if undefined else float(statistics.estimates[0]),
        low=low,
        high=high,
        n=len(truth),
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
    how = "t,jackknife-by-segment" if rng is None else f"bootstrap,{n_resamples}"
    return {"interval": how, "confidence": confidence}
