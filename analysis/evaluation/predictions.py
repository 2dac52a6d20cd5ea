"""Errors of quality predictions on the scale of the gold, as submitted and rescaled."""

import numpy as np

from da_platform.numbers import known

from ..scores.reading import RANKS_SUFFIX
from ..stats.quality_estimation import delta_avg, prediction_error, rescale_predictions
from .aligned_rows import Floats, Rows
from .results import Estimate, Options, PredictionResult


def prediction_results(rows: Rows, options: Options) -> tuple[PredictionResult, ...]:
    """Measure the errors of every metric with the direction of the gold, in input order.

    Parameters
    ----------
    rows : Rows
    options : Options
        Without `qe` there are no errors, since most metrics have their own scale.

    Returns
    -------
    tuple of PredictionResult
        Without rankings and metrics of the opposite direction, which do not predict the gold.
    """
    if not options.qe:
        return ()
    higher_is_better = rows.alignment.gold_is_better_higher
    return tuple(
        _prediction_result(metric, scores, rows.gold, higher_is_better, options)
        for metric, scores, flag in zip(rows.metrics, rows.scores, rows.flags, strict=True)
        if flag == higher_is_better and not metric.endswith(RANKS_SUFFIX)
    )


def _prediction_result(
    metric: str, scores: Floats, gold: Floats, higher_is_better: bool, options: Options
) -> PredictionResult:
    # One generator per metric, so that intervals do not depend on the other metrics.
    rng = np.random.default_rng(options.seed)
    facts = {"n_resamples": options.n_resamples, "confidence": options.confidence}
    rescaled = rescale_predictions(scores, gold)
    errors = {}
    for name, values in (("", scores), ("rescaled_", rescaled)):
        for measure in ("mae", "rmse"):
            unknown = bool(np.isnan(values).all())
            errors[name + measure] = (
                Estimate(None, n=len(gold))
                if unknown
                else Estimate.of(prediction_error(values, gold, measure, rng=rng, **facts))  # type: ignore[arg-type]
            )
    return PredictionResult(
        metric=metric,
        **errors,
        delta_avg=Estimate.of(
            delta_avg(scores, gold, higher_is_better=higher_is_better, rng=rng, **facts)  # type: ignore[arg-type]
        ),
        prediction_mean=float(scores.mean()),
        prediction_sd=float(scores.std(ddof=1)),
    )


def gold_moments(gold: Floats) -> tuple[float | None, float | None]:
    """Return the mean and standard deviation of the gold; a single score has no deviation (None)."""
    return known(gold.mean()), known(gold.std(ddof=1)) if len(gold) > 1 else None
