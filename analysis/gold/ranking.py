"""The systems of a campaign from best to worst, by the scores of a gold run."""

from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from da_platform.numbers import known_list
from hits.rating.arrays import Ids, OutputArrays, load_outputs

from ..models import GoldRun
from ..stats.signature import join_signatures
from ..stats.system_covariance import SystemCovariance, Unit
from ..stats.systems import (
    SystemComparison,
    SystemScores,
    Test,
    compare_systems,
    expand_to_systems,
    system_scores,
)
from ..stats.thresholds import bare
from .documents import documents_rated_in
from .gold_arrays import GoldArrays
from .runs import gold_scores

# The numbers of a pair of systems, and the matrices of `SystemComparison` that hold them.
PAIR_FIELDS = {
    "difference": "differences",
    "low": "low",
    "high": "high",
    "probability": "probabilities",
    "probability_low": "probability_low",
    "probability_high": "probability_high",
    "p": "adjusted",
    "p_alone": "pvalues",
    "p_signed_rank": "paired_pvalues",
    "p_mann_whitney": "rank_sum_pvalues",
    "n_shared": "n_shared",
}


@dataclass(frozen=True, slots=True)
class SystemRanking:
    """Systems from best to worst, with tests of their differences.

    `n_incomplete` counts the outputs of each system that have no score yet. `rated_means` are plain means over
    rated segments, where scores are for all segments.
    """

    scores: SystemScores
    comparison: SystemComparison
    n_incomplete: Ids
    has_workers: bool
    signature: str
    rated_means: dict[str, float] = field(default_factory=dict)
    # What the covariance of scores is over, and what the signed ranks are of.
    unit: Unit = "segments"
    paired_over: Unit = "segments"
    # What system scores are, for the notes of tables and figures.
    ranked_by: str = "mean z over segments"

    @property
    def test_in_words(self) -> str:
        """How the systems were compared, for the notes of tables and figures."""
        words = {
            "two_way": "one-sided t-test of the difference of means, with its standard error over "
            + self.interval_over,
            "paired": f"one-sided signed-rank test over the {self.paired_over} that both systems have",
            "published": "one-sided Mann-Whitney U test on segment z-scores, as at WMT",
        }[self.comparison.test]
        adjusted = {
            "holm": "adjusted by Holm's method for all pairs of systems",
            "none": "not adjusted for the number of pairs",
        }[self.comparison.correction]
        return f"{words}; p < {bare(self.comparison.alpha)}, {adjusted}"

    @property
    def interval_over(self) -> str:
        """What the intervals take into account."""
        return f"{self.unit} and workers" if self.has_workers else self.unit

    @property
    def pairs(self) -> list[dict[str, Any]]:
        """One record for every two systems, the better one first; None where a number cannot be computed."""
        comparison = self.comparison
        first, second = np.triu_indices(len(comparison.systems), 1)
        columns: dict[str, NDArray[Any]] = {
            "system": comparison.systems[first],
            "other": comparison.systems[second],
            **{
                name: getattr(comparison, field)[first, second]
                for name, field in PAIR_FIELDS.items()
            },
        }
        rows = zip(*(known_list(values) for values in columns.values()), strict=True)
        return [dict(zip(columns, row, strict=True)) for row in rows]

    @property
    def clusters(self) -> Ids:
        """The cluster of each system, from 1 for the best."""
        return self.comparison.clusters

    @property
    def rows(self) -> list[dict[str, Any]]:
        """One record per system, best first; None where a number cannot be computed."""
        scores = self.scores
        columns: dict[str, Any] = {
            "system": scores.systems,
            "z": scores.z,
            "z_rated": [self.rated_means.get(name) for name in scores.systems.tolist()],
            "low": scores.z_low,
            "high": scores.z_high,
            "raw": scores.raw,
            "cluster": self.clusters,
            "wins": self.comparison.wins,
            "n_segments": scores.n_segments,
            "n_ratings": scores.n_ratings,
            "n_incomplete": self.n_incomplete,
        }
        rows = zip(*(known_list(values) for values in columns.values()), strict=True)
        return [dict(zip(columns, row, strict=True)) for row in rows]


def rank_systems(
    run: GoldRun, *, gold: GoldArrays | None = None, test: Test | None = None
) -> SystemRanking:
    """Rank the campaign's systems by the scores of a run.

    Parameters
    ----------
    run : GoldRun
    gold : GoldArrays, optional
        Its scores, if they are already loaded.
    test : {"two_way", "paired", "published"}, optional
        How to compare the systems; by default, as chosen when the run was built.

    Returns
    -------
    SystemRanking
        Over complete translations only. A translation shared by several systems counts for each.
        A system without any complete translation is not ranked.
    """
    gold, outputs = gold or gold_scores(run), load_outputs(run.campaign)
    rows, systems, segments = scored_outputs(run, gold, outputs)
    covariance = _stored_covariance(run, systems)
    scores = system_scores(
        gold.raw[rows], gold.z[rows], gold.n_ratings[rows], systems, covariance=covariance
    )
    documents = documents_rated_in(run.campaign, segments)
    comparison = compare_systems(
        gold.z[rows],
        systems,
        segments,
        covariance=covariance,
        documents=documents,
        test=cast(Test, test or run.test),
    )
    n_outputs = np.array(
        [np.sum(outputs.system == name) for name in scores.systems], dtype=np.int64
    )
    return SystemRanking(
        scores=scores,
        comparison=comparison,
        n_incomplete=n_outputs - scores.n_segments,
        has_workers=covariance is not None and covariance.has_workers,
        signature=join_signatures(run.signature, scores.signature, comparison.signature),
        rated_means=_means(gold.z[rows], systems) if covariance and covariance.estimate else {},
        unit=covariance.unit if covariance else "segments",
        paired_over="segments" if documents is None else "documents",
        ranked_by=_ranked_by(run),
    )


def scored_outputs(
    run: GoldRun, gold: GoldArrays, outputs: OutputArrays | None = None
) -> tuple[Ids, NDArray[np.str_], Ids]:
    """Return the complete outputs of systems: their rows in the gold, their systems and their segments."""
    outputs = outputs or load_outputs(run.campaign)
    scored = np.flatnonzero(gold.is_complete)
    is_scored = np.isin(outputs.translation, gold.translation[scored])
    rows, systems = expand_to_systems(gold.translation[scored], outputs.translation, outputs.system)
    return scored[rows], systems, outputs.segment[is_scored]


def _ranked_by(run: GoldRun) -> str:
    if run.method == GoldRun.Method.WEIGHTED:
        uneven = (
            ", and each counted by 1 / its chance, which makes them nearly and not exactly unbiased"
            if run.campaign.has_uneven_sample
            else ""
        )
        return f"weighted ratings, with random effects of segments{uneven}"
    if run.helper is None:
        return "mean z over segments"
    metric = run.helper["metric"]
    return "mean z over all segments, " + (
        f"corrected by {metric}" if metric else "each rated output counted by 1 / its chance"
    )


def _means(z: NDArray[np.float64], systems: NDArray[np.str_]) -> dict[str, float]:
    return {name: float(z[systems == name].mean()) for name in np.unique(systems).tolist()}


def covariance_of(run: GoldRun) -> SystemCovariance:
    """Return the covariance of the system scores of a run that has scores."""
    facts = run.system_covariance or {}
    covariance = _stored_covariance(run, np.array(facts.get("systems", [])))
    if covariance is None:
        raise ValueError(f"{run} has no covariance of system scores.")
    return covariance


def _stored_covariance(run: GoldRun, systems: NDArray[np.str_]) -> SystemCovariance | None:
    """Return the covariance of the run's system scores; None if it does not cover all these systems."""
    facts: dict[str, Any] = dict(run.system_covariance or {"systems": []})
    if not set(systems.tolist()) <= set(facts["systems"]) or not facts["systems"]:
        return None
    # The scores themselves are missing where they are means over segments.
    arrays = [
        name for name in ("systems", "by_segments", "by_workers", "scores") if facts.get(name)
    ]
    return SystemCovariance(**facts | {name: np.array(facts[name]) for name in arrays})
