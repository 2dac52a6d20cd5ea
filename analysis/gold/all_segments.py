"""System scores for all segments of a campaign where only some were rated, by their chances or with the help of a metric.

`analysis.stats.control_variates` explains how. Nothing is corrected unless it was asked for.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from da_platform.exceptions import PlatformError
from da_platform.numbers import known
from hits.models import Campaign, SystemOutput

from ..models import GoldRun, Metric, MetricScore
from ..stats.control_variates import N_FOLDS, Outputs, ScoresForAll, scores_for_all_segments
from ..stats.segments import Method, counts_for_gold
from ..stats.signature import signature
from .counted_ratings import CountedColumns
from .documents import documents_rated_in
from .gold_arrays import Floats, GoldArrays

# Keeps the folds apart from other draws with the campaign's seed.
_STREAM = (0, 2)


class HelperRefused(PlatformError):
    """A metric that cannot help to score systems."""


@dataclass(frozen=True, slots=True)
class HelpedScores:
    """Scores of systems for all segments, and the metric that helped, if any."""

    scores: ScoresForAll
    metric: Metric | None

    @property
    def signature(self) -> str:
        helper = self.metric and (
            self.metric.name,
            f"sha256={self.metric.sha256[:8]}",
            f"folds={N_FOLDS}",
        )
        return signature(helper=helper, outputs=(self.scores.n_rated, self.scores.n_outputs))

    def as_json(self) -> dict[str, Any]:
        scores = self.scores
        return {
            "metric": self.metric and self.metric.name,
            "slope": known(scores.slope),
            "r": known(scores.r),
            "gain": known(scores.gain),
            "n_rated": scores.n_rated,
            "n_outputs": scores.n_outputs,
        }


def helpers_of(campaign: Campaign) -> list[str]:
    """Return the names of the metrics that have scores of single outputs."""
    metrics = campaign.metrics.at_level(Metric.Level.SEGMENT)
    return list(metrics.order_by("name").values_list("name", flat=True))


def find_helper(campaign: Campaign, name: str, method: str, test: str) -> Metric:
    """Return the metric of this name.

    Raises
    ------
    HelperRefused
        If there is none, or if it cannot be combined with the method or test.
    """
    if method == GoldRun.Method.WEIGHTED:
        raise HelperRefused(
            "Weighted gold cannot have a helper metric, because its system scores are not means over segments."
        )
    if test != GoldRun.Test.TWO_WAY:
        raise HelperRefused(
            "With a helper metric, systems can only be compared by their scores over segments "
            f"and workers ({GoldRun.Test.TWO_WAY}): the other tests ignore the metric."
        )
    metric = campaign.metrics.at_level(Metric.Level.SEGMENT).filter(name=name).first()
    if metric is None:
        names = ", ".join(helpers_of(campaign)) or "none yet: compute or upload one first"
        raise HelperRefused(
            f"{campaign} has no metric {name!r} with scores of segments. There are: {names}."
        )
    return metric


def scores_for_all(
    ratings: CountedColumns,
    z: Floats,
    gold: GoldArrays,
    campaign: Campaign,
    method: Method,
    metric: Metric | None,
    chances: Mapping[int, float],
) -> HelpedScores | None:
    """Score the systems on all segments; None if no system has a score.

    `chances` says how likely each rated translation was to be drawn; empty if all were equally likely.

    Raises
    ------
    HelperRefused
        If the metric does not have a score of every output.
    """
    outputs = _outputs(gold, campaign, metric, chances)
    if not np.any(outputs.is_rated):
        return None
    translations, first = np.unique(np.asarray(outputs.translations), return_index=True)
    rows = np.isin(ratings.translation, translations)
    at_output = np.searchsorted(translations, ratings.translation[rows])
    documents = documents_rated_in(campaign, np.asarray(outputs.segments))
    if documents is not None:
        outputs = replace(outputs, segments=documents)
    scores = scores_for_all_segments(
        z[rows],
        ratings.worker[rows],
        ratings.translation[rows],
        np.asarray(outputs.segments)[first][at_output],
        counts_for_gold(ratings.role[rows]),
        outputs=outputs,
        rng=np.random.default_rng([campaign.seed, *_STREAM]),
        method=method,
        unit="segments" if documents is None else "documents",
    )
    return HelpedScores(scores, metric)


def _outputs(
    gold: GoldArrays, campaign: Campaign, metric: Metric | None, chances: Mapping[int, float]
) -> Outputs:
    rows = list(
        SystemOutput.objects.filter(system__campaign=campaign)
        .order_by("translation", "system")
        .values_list("translation_id", "system__name", "segment_id", "segment__name")
    )
    translations = np.array([row[0] for row in rows], dtype=np.int64)
    return Outputs(
        translations=translations,
        systems=np.array([row[1] for row in rows], dtype=np.str_),
        segments=np.array([row[2] for row in rows], dtype=np.int64),
        is_rated=np.isin(translations, gold.translation[gold.is_complete]),
        metric=None
        if metric is None
        else _metric_scores(metric, [(row[1], row[3]) for row in rows]),
        chances=np.array([chances.get(row[0], 1.0) for row in rows]) if chances else None,
    )


def _metric_scores(metric: Metric, names: list[tuple[str, str]]) -> Floats:
    """Return what the metric says of each output, given its system and segment."""
    scored = MetricScore.objects.filter(metric=metric).values_list("system", "segment", "score")
    scores = {(system, segment): score for system, segment, score in scored.iterator(10_000)}
    missing = [name for name in names if name not in scores]
    if missing:
        system, segment = missing[0]
        raise HelperRefused(
            f"{metric.name} has no score for {len(missing):,} of {len(names):,} outputs, such as "
            f"that of {system} for segment {segment}. A helper metric needs scores for all of "
            "them."
        )
    return np.array([scores[name] for name in names])
