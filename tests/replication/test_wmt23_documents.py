"""WMT23 English to German by document, and what is not good enough, against means and ranks computed apart."""

import math
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import mannwhitneyu, pearsonr, spearmanr

from analysis.evaluation import Directions, EvaluationResult, Options, evaluate_files
from tests.replication.locating import replication_data

# Shares module-scoped fixtures.
pytestmark = pytest.mark.xdist_group("wmt23 documents")

METRICS = ("XCOMET-QE-Ensemble-src", "BLEU-refA")
# Of MQM penalties, negated: a major error is 5.
THRESHOLD = -5.0


def path_of(*parts: str) -> Path:
    return replication_data("wmt23-mtme", "wmt23", *parts)


def scores_in(path: Path) -> dict[tuple[str, int], float]:
    """The scores by system and line."""
    counts: dict[str, int] = defaultdict(int)
    scores = {}
    for line in path.read_text().splitlines():
        system, value = line.split("\t")
        scores[system, counts[system]] = math.nan if value == "None" else float(value)
        counts[system] += 1
    return scores


@pytest.fixture(scope="module")
def gold() -> dict[tuple[str, int], float]:
    scores = scores_in(path_of("human-scores", "en-de.mqm.seg.score"))
    return {key: score for key, score in scores.items() if key[0] != "refA"}


def metric_scores(name: str) -> dict[tuple[str, int], float]:
    return scores_in(path_of("metric-scores", "en-de", f"{name}.seg.score"))


@pytest.fixture(scope="module")
def results() -> dict[str, EvaluationResult]:
    return {
        level: evaluate_files(
            [path_of("metric-scores", "en-de", f"{name}.seg.score") for name in METRICS],
            [f"mqm={path_of('human-scores', 'en-de.mqm.seg.score')}"],
            directions=Directions(otherwise=True, higher=["en-de.mqm"]),
            documents=path_of("documents", "en-de.docs"),
            options=Options(
                level=level,  # type: ignore[arg-type]
                good_enough=THRESHOLD,
                without_systems=("refA",),
                ignore_extra=True,
                n_resamples=50,
            ),
        ).result
        for level in ("segment", "document")
    }


def by_document(
    scores: dict[tuple[str, int], float], gold: dict[tuple[str, int], float]
) -> dict[tuple[str, str], float]:
    """The mean of each document over the segments with gold."""
    lines = path_of("documents", "en-de.docs").read_text().splitlines()
    documents = [line.split("\t")[1] for line in lines]
    members: dict[tuple[str, str], list[float]] = defaultdict(list)
    for (system, line), truth in gold.items():
        if not math.isnan(truth):
            members[system, documents[line]].append(scores[system, line])
    return {key: float(np.mean(values)) for key, values in members.items()}


@pytest.mark.parametrize("name", METRICS)
def test_documents_are_correlated_by_their_means(
    results: dict[str, EvaluationResult], gold: dict[tuple[str, int], float], name: str
) -> None:
    truth, predicted = by_document(gold, gold), by_document(metric_scores(name), gold)
    values = np.array([[predicted[key], truth[key]] for key in truth]).T
    found = results["document"].golds[0]
    assert found.gold.n == len(truth)
    assert found.gold.n_segments == len({document for _, document in truth})
    (row,) = (each for each in found.segment if each.metric == name)
    expected = [pearsonr(*values).statistic, spearmanr(*values).statistic]
    assert_allclose([row.pearson.estimate, row.spearman.estimate], expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", METRICS)
def test_the_area_is_that_of_mann_and_whitney(
    results: dict[str, EvaluationResult], gold: dict[tuple[str, int], float], name: str
) -> None:
    scores = metric_scores(name)
    keys = [key for key, truth in gold.items() if not math.isnan(truth)]
    values = np.array([scores[key] for key in keys])
    is_bad = np.array([gold[key] < THRESHOLD for key in keys])
    found = results["segment"].golds[0].good_enough
    assert found is not None and (found.n, found.n_bad) == (len(keys), is_bad.sum())
    (row,) = (each for each in found.rows if each.metric == name)
    statistic = mannwhitneyu(values[~is_bad], values[is_bad]).statistic
    expected = statistic / (is_bad.sum() * (~is_bad).sum())
    assert_allclose(row.roc.estimate, expected, rtol=0, atol=1e-9)
    # One translation after another, from the worst score.
    in_order = is_bad[np.argsort(values, kind="stable")]
    if len(np.unique(values)) == len(values):
        n_read = int(np.flatnonzero(np.cumsum(in_order) >= 0.9 * is_bad.sum())[0]) + 1
        assert row.reading[1] == pytest.approx(n_read / len(keys))


def test_a_good_estimator_finds_bad_documents_with_less_reading(
    results: dict[str, EvaluationResult],
) -> None:
    for result in results.values():
        found = result.golds[0].good_enough
        assert found is not None and [row.metric for row in found.rows] == list(METRICS)
        best, worst = found.rows
        assert best.reading[1] is not None and worst.reading[1] is not None
        assert best.reading[1] < worst.reading[1] < 0.9
