"""How closely each worker's scores follow the scores of a metric or model stored with the campaign.

Someone who lets a model rate can be recognised by it if the admin has that model's scores. This is advice: a careful
reader agrees with a good model, so each worker stands next to the spread among trusted workers.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.stats.likeness import likeness_to_model
from analysis.stats.roles import Role
from da_platform.numbers import known
from hits.models import Campaign, Participation, SystemOutput
from hits.rating.arrays import RatingArrays, load_ratings

from ..models import Metric, MetricScore

Floats = NDArray[np.float64]

# Quantiles of the trusted workers' r.
LOW, MIDDLE, HIGH = 0.05, 0.5, 0.95


@dataclass(frozen=True, slots=True)
class Spread:
    """The middle 90 % of the trusted workers' r, and how many there are; empty without any."""

    low: float | None
    median: float | None
    high: float | None
    n_workers: int


@dataclass(frozen=True, slots=True)
class LikenessRow:
    """A worker and a metric: r over n items, and the share of trusted workers with a lower r."""

    participation: Participation
    metric: Metric
    r: float | None
    n_items: int
    share_below: float | None

    @property
    def percent_below(self) -> float | None:
        return None if self.share_below is None else 100 * self.share_below


@dataclass(frozen=True, slots=True)
class MetricLikeness:
    """One metric: the spread among trusted workers, and all workers, the most alike first."""

    metric: Metric
    spread: Spread
    rows: list[LikenessRow]

    @property
    def n_beyond(self) -> int:
        """How many workers are more alike than 95 % of the trusted ones."""
        high = self.spread.high
        return 0 if high is None else sum(row.r is not None and row.r > high for row in self.rows)


def segment_metrics(campaign: Campaign) -> list[Metric]:
    """The metrics that score single outputs, by name."""
    return list(campaign.metrics.at_level(Metric.Level.SEGMENT).order_by("name", "pk"))


def likeness_of(
    campaign: Campaign, metrics: Sequence[Metric] | None = None
) -> list[MetricLikeness]:
    """Compare all workers with each metric, by default all of the campaign's, in four or five queries."""
    metrics = segment_metrics(campaign) if metrics is None else metrics
    if not metrics:
        return []
    participations = {
        participation.worker_id: participation
        for participation in campaign.participations.select_related("worker")
    }
    ratings = load_ratings(campaign)
    chosen = (ratings.role == Role.GENUINE) & np.isin(ratings.worker, list(participations))
    columns = _scores_by_translation(campaign, metrics)
    return [
        _compare(metric, ratings, chosen, columns.get(metric.pk, {}), participations)
        for metric in metrics
    ]


def _compare(
    metric: Metric,
    ratings: RatingArrays,
    chosen: NDArray[np.bool_],
    model_scores: dict[int, float],
    participations: dict[int, Participation],
) -> MetricLikeness:
    # Lower is better for some metrics. Unless that is known, scores are taken as they are.
    sign = -1.0 if metric.higher_is_better is False else 1.0
    column = sign * _look_up(model_scores, ratings.translation[chosen])
    likeness = likeness_to_model(ratings.score[chosen], ratings.worker[chosen], column)
    workers = [participations[worker] for worker in likeness.workers.tolist()]
    is_trusted = np.array([worker.is_trusted for worker in workers], dtype=np.bool_)
    trusted = likeness.r[is_trusted & np.isfinite(likeness.r)]
    rows = [
        LikenessRow(
            participation=participation,
            metric=metric,
            r=known(r),
            n_items=int(n),
            share_below=float((trusted < r).mean()) if len(trusted) and np.isfinite(r) else None,
        )
        for participation, r, n in zip(workers, likeness.r, likeness.n_items, strict=True)
    ]
    # Those without r come last.
    rows.sort(key=lambda row: (row.r is None, -(row.r or 0.0), row.participation.pk))
    return MetricLikeness(metric, _spread(trusted), rows)


def _spread(r: Floats) -> Spread:
    if not len(r):
        return Spread(None, None, None, 0)
    low, middle, high = np.quantile(r, [LOW, MIDDLE, HIGH]).tolist()
    return Spread(low, middle, high, len(r))


def _scores_by_translation(
    campaign: Campaign, metrics: Sequence[Metric]
) -> dict[int, dict[int, float]]:
    """Return each metric's score of each translation; systems that share one have the same text."""
    outputs = SystemOutput.objects.filter(system__campaign=campaign).values_list(
        "system__name", "segment__name", "translation_id"
    )
    translations = {(system, segment): pk for system, segment, pk in outputs.iterator()}
    scores: dict[int, dict[int, float]] = {metric.pk: {} for metric in metrics}
    stored = MetricScore.objects.filter(metric__in=metrics).order_by()
    for metric, system, segment, score in stored.values_list(
        "metric_id", "system", "segment", "score"
    ).iterator():
        translation = translations.get((system, segment))
        if translation is not None:
            scores[metric][translation] = score
    return scores


def _look_up(scores: dict[int, float], translations: NDArray[np.int64]) -> Floats:
    keys, places = np.unique(translations, return_inverse=True)
    column = np.array([scores.get(key, np.nan) for key in keys.tolist()], dtype=np.float64)
    return column[places]
