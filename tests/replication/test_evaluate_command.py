"""`manage.py evaluate` on real files reproduces the published tables."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from numpy.testing import assert_allclose

from analysis.evaluation.results import EvaluationResult, GoldEvaluation
from tests.replication.locating import replication_data
from tests.replication.published_figures import (
    PREDICTION_COLUMNS,
    PUBLISHED,
    assert_published_significance,
    wmt14_figures,
    wmt23_rows,
)

# Shares module-scoped fixtures.
pytestmark = pytest.mark.xdist_group("evaluate command")

# Both figures are Monte Carlo estimates from 1,000 permutations.
SPA_TOLERANCE = 0.005


def run(out: Path, *arguments: object) -> EvaluationResult:
    """Evaluate as published: Fisher's intervals and Williams tests over all translations."""
    how = ("--uncertainty", "published")
    call_command("evaluate", *map(str, arguments), *how, "--out", str(out))
    return EvaluationResult.from_dict(json.loads((out / "result.json").read_text()))


# WMT14 quality estimation, task 1.2 --------------------------------------------------------------


@pytest.fixture(scope="module")
def qe_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = replication_data("wmt14-qe", "task-1.2.csv")
    out = tmp_path_factory.mktemp("wmt14") / "report"
    run(out, path, "--gold", f"hter={path}", "--qe", "--all-lower")
    return out


@pytest.fixture(scope="module")
def qe(qe_folder: Path) -> GoldEvaluation:
    text = (qe_folder / "result.json").read_text()
    return EvaluationResult.from_dict(json.loads(text)).golds[0]


def test_eleven_systems_have_their_published_correlations(qe: GoldEvaluation) -> None:
    expected = wmt14_figures()
    assert {row.metric for row in qe.segment} == set(expected)
    for row in qe.segment:
        assert_allclose(row.pearson.estimate, expected[row.metric]["r_pub"], rtol=0, atol=PUBLISHED)
        assert row.pearson.n == 208


@pytest.mark.parametrize(("measure", "column"), PREDICTION_COLUMNS.items())
def test_eleven_systems_have_their_published_errors(
    qe: GoldEvaluation, measure: str, column: str
) -> None:
    expected = wmt14_figures()
    assert {row.metric for row in qe.predictions} == set(expected)
    for row in qe.predictions:
        estimate = getattr(row, measure).estimate
        assert_allclose(estimate, expected[row.metric][column], rtol=0, atol=PUBLISHED)


def test_exactly_the_published_differences_are_significant(qe: GoldEvaluation) -> None:
    assert_published_significance(qe)


def test_the_latex_table_shows_the_published_row(qe_folder: Path) -> None:
    table = (qe_folder / "tables" / "prediction-task-1.2.tex").read_text()
    row = next(line for line in table.splitlines() if "DCU-rtm-svr" in line)
    assert re.findall(r"\.\d{3}", row)[:5] == [".550", ".134", ".167", ".127", ".165"]
    assert "Williams test" in table


# WMT23 English to German -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def metrics(tmp_path_factory: pytest.TempPathFactory) -> EvaluationResult:
    """All metrics against both golds, from the folder as it is."""
    folder = replication_data("wmt23-mtme", "wmt23")
    return run(tmp_path_factory.mktemp("wmt23") / "report", "--folder", folder)


def evaluation_of(metrics: EvaluationResult, gold: str) -> GoldEvaluation:
    return next(evaluation for evaluation in metrics.golds if evaluation.gold.name == gold)


def assert_estimates(row: Any, expected: dict[str, str], **columns: str) -> None:
    for measure, column in {"pearson": "pearson", "spearman": "spearman", **columns}.items():
        estimate = getattr(row, measure).estimate
        assert_allclose(estimate, float(expected[column]), rtol=0, atol=1e-9, err_msg=row.metric)


@pytest.mark.parametrize("gold", ["mqm", "da-sqm"])
def test_segment_figures_match_mt_metrics_eval(metrics: EvaluationResult, gold: str) -> None:
    expected = wmt23_rows(gold, "seg")
    segments = evaluation_of(metrics, gold).segment
    assert {row.metric for row in segments} == set(expected) and len(expected) == 43
    for row in segments:
        assert row.pearson.n == int(expected[row.metric]["n"])
        assert_estimates(row, expected[row.metric], kendall="kendall_b", acc_eq="acc_eq_item")


@pytest.mark.parametrize("gold", ["mqm", "da-sqm"])
def test_system_figures_match_mt_metrics_eval(metrics: EvaluationResult, gold: str) -> None:
    expected, expected_segments = wmt23_rows(gold, "sys"), wmt23_rows(gold, "seg")
    systems = evaluation_of(metrics, gold).system
    assert {row.metric for row in systems} == set(expected) and len(expected) == 45
    for row in systems:
        columns = {"kendall": "kendall_b", "accuracy": "pairwise_accuracy"}
        assert_estimates(row, expected[row.metric], **columns)
        if row.metric in expected_segments:
            spa = float(expected_segments[row.metric]["spa_complete_items"])
            assert row.spa is not None
            assert_allclose(row.spa.estimate, spa, rtol=0, atol=SPA_TOLERANCE)
        else:
            assert row.spa is None


def test_the_golds_are_compared(metrics: EvaluationResult) -> None:
    compared = {comparison.level: comparison for comparison in metrics.comparisons}
    assert len(compared["segment"].changes) == 43 and len(compared["system"].changes) == 45
    best = compared["segment"].changes[0]
    # The golds are in the order of their names: DA+SQM, then MQM.
    rows = wmt23_rows("mqm", "seg")
    better = sum(
        float(row["pearson"]) > float(rows[best.metric]["pearson"]) for row in rows.values()
    )
    assert best.first_rank == 1 and best.second_rank == better + 1
