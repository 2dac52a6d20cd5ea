"""Errors of quality predictions on the scale of the gold, as submitted and rescaled, and who wins."""

from typing import Any, Literal

import numpy as np

from da_platform.numbers import known, known_matrix

from ..scores.reading import RANKS_SUFFIX
from ..stats.quality_estimation import (
    DELTA_AVG_MIN_SEGMENTS,
    compare_predictions,
    delta_avg,
    prediction_error,
    rescale_predictions,
)
from .aligned_rows import Floats, Rows
from .results import Estimate, Options, PredictionComparison, PredictionResult

# The measures that decide who wins, as in the QE task of WMT15: errors for scores, DeltaAvg for rankings.
TESTED: tuple[Literal["mae", "delta_avg"], ...] = ("mae", "delta_avg")


def predicting(rows: Rows, options: Options) -> list[int]:
    """Return the indices of the metrics that predict the gold.

    Rankings and metrics of the opposite direction do not. Without `qe` nothing does, since most metrics
    have their own scale.
    """
    if not options.qe:
        return []
    return [
        i
        for i, (metric, flag) in enumerate(zip(rows.metrics, rows.flags, strict=True))
        if flag == rows.alignment.gold_is_better_higher and not metric.endswith(RANKS_SUFFIX)
    ]


def prediction_results(rows: Rows, options: Options) -> tuple[PredictionResult, ...]:
    """Measure the errors of every metric that predicts the gold, in input order.

    Parameters
    ----------
    rows : Rows
    options : Options

    Returns
    -------
    tuple of PredictionResult
    """
    return tuple(
        _prediction_result(rows.metrics[i], rows.scores[i], rows, options)
        for i in predicting(rows, options)
    )


# No submission can have this name, which has brackets in front.
CONSTANT = "(mean)"


def constant_prediction(rows: Rows, options: Options) -> PredictionResult | None:
    """Measure the errors of predicting the mean of the gold everywhere, which says nothing about quality.

    Submissions do not know that mean; this is the constant with the least squared error. None if nothing predicts
    the gold.
    """
    if not predicting(rows, options):
        return None
    return _prediction_result(CONSTANT, np.full(len(rows.gold), rows.gold.mean()), rows, options)


def _prediction_result(
    metric: str, scores: Floats, rows: Rows, options: Options
) -> PredictionResult:
    gold = rows.gold
    facts = _uncertainty(rows, options)
    rescaled = rescale_predictions(scores, gold)
    errors = {}
    for name, values in (("", scores), ("rescaled_", rescaled)):
        for measure in ("mae", "rmse"):
            unknown = bool(np.isnan(values).all())
            errors[name + measure] = (
                Estimate(None, n=len(gold))
                if unknown
                else Estimate.of(prediction_error(values, gold, measure, **facts))
            )
    higher_is_better = rows.alignment.gold_is_better_higher
    return PredictionResult(
        metric=metric,
        **errors,
        delta_avg=Estimate.of(delta_avg(scores, gold, higher_is_better=higher_is_better, **facts)),
        prediction_mean=float(scores.mean()),
        prediction_sd=float(scores.std(ddof=1)),
    )


def _uncertainty(rows: Rows, options: Options) -> dict[str, Any]:
    """Return the arguments for intervals and tests: over segments, or the bootstrap, as published over translations."""
    facts: dict[str, Any] = {"confidence": options.confidence}
    if not options.is_published:
        facts["segments"] = rows.alignment.segments
    if not (options.is_published or options.is_resampling):
        return facts
    # A generator for each metric, so that intervals do not depend on the other metrics.
    rng = np.random.default_rng(options.seed)
    return facts | {"rng": rng, "n_resamples": options.n_resamples}


def prediction_comparisons(rows: Rows, options: Options) -> tuple[PredictionComparison, ...]:
    """Test the differences between all pairs of predictions, in input order.

    Parameters
    ----------
    rows : Rows
    options : Options

    Returns
    -------
    tuple of PredictionComparison
        By MAE and by DeltaAvg; none with fewer than two metrics that predict the gold.
    """
    chosen = predicting(rows, options)
    if len(chosen) < 2 or min(len(rows.gold), 2 * rows.n_segments) < DELTA_AVG_MIN_SEGMENTS:
        return ()
    comparisons = []
    for measure in TESTED:
        tests = compare_predictions(
            rows.scores[chosen],
            rows.gold,
            measure,
            higher_is_better=rows.alignment.gold_is_better_higher,
            **_uncertainty(rows, options),
        )
        comparisons.append(
            PredictionComparison(
                measure=measure,
                metrics=tuple(rows.metrics[i] for i in chosen),
                pvalue=known_matrix(tests.pvalue),
                unit="translation" if options.is_published else options.level,
                correction=options.used_correction,
                signature=tests.signature,
                estimates=tuple(known(value) for value in tests.estimates),
                test="bootstrap" if options.is_published or options.is_resampling else "t",
            )
        )
    return tuple(comparisons)


def gold_moments(gold: Floats) -> tuple[float | None, float | None]:
    """Return the mean and standard deviation of the gold; a single score has no deviation (None)."""
    return known(gold.mean()), known(gold.std(ddof=1)) if len(gold) > 1 else None
