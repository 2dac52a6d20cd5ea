"""WMT23 English to German: every metric against MQM and DA, as in mt-metrics-eval."""

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from analysis.stats.correlation import correlate, correlate_systems
from analysis.stats.meta_evaluation import pairwise_system_accuracy, tie_accuracies
from analysis.stats.soft_accuracy import soft_pairwise_accuracies
from tests.replication.locating import replication_data
from tests.replication.published_figures import wmt23_rows

# Shares module-scoped fixtures.
pytestmark = pytest.mark.xdist_group("wmt23")

Rows = dict[str, dict[str, str]]

# Both figures are Monte Carlo estimates from 1,000 permutations.
SPA_TOLERANCE = 0.005

# Metrics for which two tie thresholds give the same number of right decisions.
UNDECIDED_THRESHOLDS = {
    "mqm": {"COMET-refA", "MetricX-23-refA", "docWMT22CometKiwiDA-src"},
    "da-sqm": set(),
}


@dataclass(frozen=True)
class Gold:
    """Gold of the systems other than the reference, and the expected figures of the metrics."""

    name: str
    systems: list[str]
    segment_gold: np.ndarray
    system_gold: np.ndarray
    segment_rows: Rows
    system_rows: Rows


def read_scores(path: Path) -> dict[str, list[float]]:
    scores: dict[str, list[float]] = {}
    for line in path.read_text().splitlines():
        system, value = line.split("\t")
        scores.setdefault(system, []).append(math.nan if value == "None" else float(value))
    return scores


@pytest.fixture(scope="module", params=["mqm", "da-sqm"])
def gold(request: pytest.FixtureRequest) -> Gold:
    folder = replication_data("wmt23-mtme", "wmt23", "human-scores")
    segment_scores = read_scores(folder / f"en-de.{request.param}.seg.score")
    system_scores = read_scores(folder / f"en-de.{request.param}.sys.score")
    systems = sorted(set(system_scores) - {"refA"})
    return Gold(
        name=request.param,
        systems=systems,
        segment_gold=np.array([segment_scores[name] for name in systems]),
        system_gold=np.array([system_scores[name][0] for name in systems]),
        segment_rows=wmt23_rows(request.param, "seg"),
        system_rows=wmt23_rows(request.param, "sys"),
    )


def metric_scores(gold: Gold, metric: str, level: str) -> np.ndarray:
    path = replication_data(
        "wmt23-mtme", "wmt23", "metric-scores", "en-de", f"{metric}.{level}.score"
    )
    scores = read_scores(path)
    return np.array([scores[system] for system in gold.systems])


@pytest.fixture(scope="module")
def cube(gold: Gold) -> np.ndarray:
    return np.stack([metric_scores(gold, metric, "seg") for metric in gold.segment_rows])


def test_the_table_has_the_expected_size(gold: Gold) -> None:
    assert (len(gold.segment_rows), len(gold.system_rows), len(gold.systems)) == (43, 45, 12)


@pytest.mark.parametrize("method", ["pearson", "spearman", "kendall_b"])
def test_segment_correlations_agree(gold: Gold, cube: np.ndarray, method: str) -> None:
    for metric, scores in zip(gold.segment_rows, cube, strict=True):
        row = gold.segment_rows[metric]
        result = correlate(scores.ravel(), gold.segment_gold.ravel(), method=method)  # type: ignore[arg-type]
        assert result.n == int(row["n"])
        assert_allclose(result.estimate, float(row[method]), rtol=0, atol=1e-9, err_msg=metric)


@pytest.mark.parametrize("method", ["pearson", "spearman", "kendall_b"])
def test_system_correlations_agree(gold: Gold, method: str) -> None:
    for metric, row in gold.system_rows.items():
        scores = metric_scores(gold, metric, "sys")[:, 0]
        result = correlate(scores, gold.system_gold, method=method)  # type: ignore[arg-type]
        assert result.n == int(row["n"])
        assert_allclose(result.estimate, float(row[method]), rtol=0, atol=1e-9, err_msg=metric)


def test_system_accuracies_agree(gold: Gold) -> None:
    for metric, row in gold.system_rows.items():
        accuracy = pairwise_system_accuracy(
            metric_scores(gold, metric, "sys")[:, 0], gold.system_gold
        )
        assert_allclose(
            accuracy.estimate, float(row["pairwise_accuracy"]), atol=1e-9, err_msg=metric
        )


def test_tie_calibrated_accuracies_and_thresholds_agree(gold: Gold, cube: np.ndarray) -> None:
    undecided = []
    for metric, scores, accuracy in zip(
        gold.segment_rows, cube, tie_accuracies(cube, gold.segment_gold), strict=True
    ):
        row = gold.segment_rows[metric]
        assert_allclose(accuracy.estimate, float(row["acc_eq_item"]), atol=1e-9, err_msg=metric)
        if accuracy.epsilon != float(row["acc_eq_epsilon"]):
            undecided.append((metric, scores, accuracy.epsilon, float(row["acc_eq_epsilon"])))
    # If two thresholds have the same accuracy, we take the smaller one. In the published table the
    # rounding of a running sum decided.
    assert {metric for metric, *_ in undecided} == UNDECIDED_THRESHOLDS[gold.name]
    for metric, scores, ours, theirs in undecided:
        assert ours < theirs
        right = [right_decisions(scores, gold, epsilon) for epsilon in (ours, theirs)]
        assert right[0] == right[1], metric


def right_decisions(metric: np.ndarray, gold: Gold, epsilon: float) -> int:
    """Count pair by pair, for gold where every segment has all systems or none."""
    right = 0
    for scores, gold_scores in zip(metric.T, gold.segment_gold.T, strict=True):
        difference, order = (
            np.subtract.outer(scores, scores),
            np.subtract.outer(gold_scores, gold_scores),
        )
        decision = np.where(np.abs(difference) <= epsilon, 0, np.sign(difference))
        pairs = np.triu(~np.isnan(order), 1)
        right += int((decision == np.sign(order))[pairs].sum())
    return right


def test_soft_pairwise_accuracies_agree(gold: Gold, cube: np.ndarray) -> None:
    accuracies = soft_pairwise_accuracies(cube, gold.segment_gold, rng=np.random.default_rng(23))
    for metric, accuracy in zip(gold.segment_rows, accuracies, strict=True):
        row = gold.segment_rows[metric]
        assert accuracy.n == int(row["n_complete_items"])
        expected = float(row["spa_complete_items"])
        assert_allclose(accuracy.estimate, expected, rtol=0, atol=SPA_TOLERANCE, err_msg=metric)


@pytest.mark.parametrize("gold", ["mqm"], indirect=True)
def test_the_best_metric_has_its_published_figures(gold: Gold) -> None:
    segment = metric_scores(gold, "XCOMET-Ensemble-refA", "seg")
    system = metric_scores(gold, "XCOMET-Ensemble-refA", "sys")[:, 0]
    assert round(correlate(system, gold.system_gold).estimate, 3) == 0.980
    assert round(correlate(segment.ravel(), gold.segment_gold.ravel()).estimate, 3) == 0.695
    assert round(tie_accuracies(segment[None], gold.segment_gold)[0].estimate, 3) == 0.604


def test_system_means_of_segment_gold_match_the_system_gold(gold: Gold) -> None:
    segment = metric_scores(gold, "XCOMET-Ensemble-refA", "seg")
    system = metric_scores(gold, "XCOMET-Ensemble-refA", "sys")[:, 0]
    from_segments = correlate_systems(segment, gold.segment_gold).estimate
    assert_allclose(from_segments, correlate(system, gold.system_gold).estimate, atol=1e-6)
