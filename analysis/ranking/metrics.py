"""Agreement of metrics with rankings: with single judgements, and with the scores of systems."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from da_platform.numbers import known
from hits.models import Campaign

from ..models import Metric
from ..scores.score_tables import ScoreTable
from ..scores.storing import stored_tables
from ..stats.correlation import correlate
from ..stats.judgements import Judgements, preferences, without_inferred
from ..stats.meta_evaluation import pairwise_system_accuracy
from ..stats.preferences import PreferenceTau, preference_ceiling, preference_tau

Facts = dict[str, Any]
Floats = NDArray[np.float64]

# With fewer systems every correlation is 1 or -1.
FEWEST_SYSTEMS = 3


def metric_agreement(
    campaign: Campaign, judgements: Judgements, segments: Mapping[int, str], ranked: Sequence[Facts]
) -> Facts:
    """Return how well the campaign's metrics agree with judgements and with the ranking of systems.

    Parameters
    ----------
    campaign : Campaign
        With metrics whose direction is confirmed; the others are only named.
    judgements : Judgements
        With systems by name.
    segments : mapping
        The names of segments by key.
    ranked : sequence of dict
        The systems with their `score` and `expected_wins`.
    """
    metrics = campaign.metrics.confirmed().order_by("name", "level", "pk")
    tables = stored_tables(list(metrics))
    by_segment = [table for table in tables if table.level == "segment"]
    return {
        **_certainty(judgements),
        "unconfirmed": sorted({metric.name for metric in campaign.metrics.unconfirmed()}),
        "segments": _best_first(_against_judgements(by_segment, judgements, segments), "tau"),
        "systems": _best_first(_against_systems(tables, ranked), "pearson"),
    }


def _certainty(judgements: Judgements) -> Facts:
    """Return what any metric can reach: judges tie outputs, and contradict each other."""
    real = without_inferred(judgements)
    better, worse, rows = preferences(real)
    ceiling = preference_ceiling(better, worse, real.segments[rows])
    return {
        "n_judgements": len(real),
        "n_ties": len(real) - len(rows),
        "share_ties": known(1 - len(rows) / len(real)) if len(real) else None,
        "n_preferences": len(rows),
        "ceiling": known(ceiling),
        # Of every hundred preferences, this many can be right at best.
        "accuracy_ceiling": known((1 + ceiling) / 2),
    }


# Single judgements ----------------------------------------------------------------------------


def _against_judgements(
    tables: Sequence[ScoreTable], judgements: Judgements, segments: Mapping[int, str]
) -> list[Facts]:
    better, worse, rows = preferences(judgements)
    names = [segments[key] for key in judgements.segments[rows].tolist()]
    keys = [
        list(zip(judgements.names[systems].tolist(), names, strict=True))
        for systems in (better, worse)
    ]
    found = []
    for table in tables:
        by_key = dict(zip(table.keys, table.scores.tolist(), strict=True))
        high, low = (np.array([by_key.get(key, np.nan) for key in side]) for side in keys)
        is_scored = ~(np.isnan(high) | np.isnan(low))
        if is_scored.any():
            taus = _taus(
                table, high[is_scored], low[is_scored], judgements.segments[rows][is_scored]
            )
            found.append({"metric": table.name, "n_missing": int((~is_scored).sum()), **taus})
    return found


def _taus(table: ScoreTable, high: Floats, low: Floats, segments: NDArray[Any]) -> Facts:
    higher_is_better = bool(table.higher_is_better)

    def tau(metric_ties: Any) -> PreferenceTau:
        return preference_tau(
            high,
            low,
            metric_ties=metric_ties,
            higher_is_better=higher_is_better,
            segments=segments,
        )

    counted, decided = tau("wmt14"), tau("wmt13")
    return {
        "higher_is_better": higher_is_better,
        "tau": known(counted.estimate),
        "low": known(counted.low),
        "high": known(counted.high),
        "tau_decided": known(decided.estimate),
        # A tie of the metric is not right.
        "accuracy": known(counted.n_concordant / len(high)),
        "n": len(high),
        "n_tied": counted.n_tied,
        "signature": counted.signature,
    }


# Systems --------------------------------------------------------------------------------------


def _against_systems(tables: Sequence[ScoreTable], ranked: Sequence[Facts]) -> list[Facts]:
    """Correlate system scores; a metric's own are used if there are any, otherwise means over segments."""
    own = {table.name for table in tables if table.level == "system"}
    found = []
    for table in tables:
        if table.level == Metric.Level.SYSTEM or table.name not in own:
            means = _means(table)
            both = [row for row in ranked if row["system"] in means]
            if len(both) >= FEWEST_SYSTEMS:
                found.append(_correlated(table, means, both))
    return found


def _means(table: ScoreTable) -> dict[str, float]:
    scores: dict[str, list[float]] = {}
    for (system, _), score in zip(table.keys, table.scores.tolist(), strict=True):
        scores.setdefault(system, []).append(score)
    return {system: float(np.mean(values)) for system, values in scores.items()}


def _correlated(table: ScoreTable, means: dict[str, float], ranked: Sequence[Facts]) -> Facts:
    metric = np.array([means[row["system"]] for row in ranked])
    score = np.array([row["score"] for row in ranked])
    wins = np.array([row["expected_wins"] for row in ranked], dtype=np.float64)
    higher_is_better = bool(table.higher_is_better)
    pearson, spearman, kendall = (
        correlate(metric, score, method=method, higher_is_better=higher_is_better)
        for method in ("pearson", "spearman", "kendall_b")
    )
    accuracy = pairwise_system_accuracy(metric, score, higher_is_better=higher_is_better)
    return {
        "metric": table.name,
        "higher_is_better": higher_is_better,
        "is_mean": table.level == "segment",
        "n": len(ranked),
        "pearson": known(pearson.estimate),
        "low": known(pearson.low),
        "high": known(pearson.high),
        "spearman": known(spearman.estimate),
        "kendall": known(kendall.estimate),
        "accuracy": known(accuracy.estimate),
        "expected_wins": known(correlate(metric, wins, higher_is_better=higher_is_better).estimate),
        "signature": pearson.signature,
    }


def _best_first(rows: list[Facts], by: str) -> list[Facts]:
    return sorted(rows, key=lambda row: (row[by] is None, -(row[by] or 0.0)))
