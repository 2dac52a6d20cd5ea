"""How much metrics see the outputs of a segment differ, for choosing what to rate."""

import numpy as np

from hits.models import Campaign

from ..models import Metric, MetricScore


def spread_of_metrics(campaign: Campaign) -> dict[int, float]:
    """Return a number for each segment that all metrics have scores of; empty without metrics.

    The scores of each metric are standardised, and centred in each segment. Their mean square is high where
    metrics agree that systems differ, and where metrics contradict each other; directions do not matter.
    """
    metrics = campaign.metrics.at_level(Metric.Level.SEGMENT)
    segments = dict(campaign.segments.values_list("name", "pk"))
    totals: dict[str, float] = {}
    n_metrics: dict[str, int] = {}
    for metric in metrics.order_by("pk"):
        for name, square in _squares(metric).items():
            totals[name] = totals.get(name, 0.0) + square
            n_metrics[name] = n_metrics.get(name, 0) + 1
    n = len(metrics)
    return {
        segments[name]: float(np.sqrt(total / n))
        for name, total in totals.items()
        if n_metrics[name] == n and name in segments
    }


def _squares(metric: Metric) -> dict[str, float]:
    """Return the variance of a metric's standardised scores within each segment."""
    rows = MetricScore.objects.filter(metric=metric).values_list("segment", "score")
    by_segment: dict[str, list[float]] = {}
    for name, score in rows.iterator(10_000):
        by_segment.setdefault(name, []).append(score)
    spread = float(np.std([score for scores in by_segment.values() for score in scores]))
    # A metric that never varies tells no segment from another.
    variance = spread**2 or 1.0
    return {name: float(np.var(scores)) / variance for name, scores in by_segment.items()}
