"""Predictions of quality against gold on the same scale: errors, and what of them could be gamed."""

import numpy as np

from ..plain import known
from ..scores.reading import RANKS_SUFFIX
from ..stats.quality_estimation import delta_avg, prediction_error, rescale_predictions
from .results import Estimate, Options, PredictionResult
from .rows import Floats, Rows


def prediction_results(rows: Rows, options: Options) -> tuple[PredictionResult, ...]:
    """Measure the errors of every metric that goes the way of the gold, in the order given.

    Parameters
    ----------
    rows : Rows
    options : Options
        With `qe`; without it there are no errors, since most metrics are on a scale of their own.

    Returns
    -------
    tuple of PredictionResult
        Metrics that go the other way than the gold, and rankings, are no predictions of it and are
        left out.
    """
    if not options.qe:
        return ()
    higher = rows.alignment.gold_is_better_higher
    return tuple(
        _prediction_result(metric, own, rows.gold, higher, options)
        for metric, own, flag in zip(rows.metrics, rows.scores, rows.flags, strict=True)
        if flag == higher and not metric.endswith(RANKS_SUFFIX)
    )


def _prediction_result(
    metric: str, own: Floats, gold: Floats, higher_is_better: bool, options: Options
) -> PredictionResult:
    # A generator for each metric: its intervals do not depend on which others are evaluated.
    rng = np.random.default_rng(options.seed)
    facts = {"n_resamples": options.n_resamples, "confidence": options.confidence}
    rescaled = rescale_predictions(own, gold)
    errors = {}
    for name, values in (("", own), ("rescaled_", rescaled)):
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
            delta_avg(own, gold, higher_is_better=higher_is_better, rng=rng, **facts)  # type: ignore[arg-type]
        ),
        prediction_mean=float(own.mean()),
        prediction_sd=float(own.std(ddof=1)),
    )


def gold_moments(gold: Floats) -> tuple[float | None, float | None]:
    """Return mean and standard deviation of the gold; one score has no spread."""
    return known(gold.mean()), known(gold.std(ddof=1)) if len(gold) > 1 else None
