"""The whole of `manage.py evaluate` on real files: published tables come out of the report."""

import csv
import json
import re
from pathlib import Path

import pytest
from django.core.management import call_command
from numpy.testing import assert_allclose

from analysis.evaluation.results import EvaluationResult, GoldEvaluation
from tests.replication.locating import replication_data

# What they share is made once.
pytestmark = pytest.mark.xdist_group("evaluate command")

# Published figures have three decimals.
PUBLISHED = 0.0005 + 1e-9
# A Monte-Carlo figure of 1,000 permutations on both sides.
SPA_TOLERANCE = 0.005


def run(out: Path, *arguments: object) -> EvaluationResult:
    call_command("evaluate", *map(str, arguments), "--out", str(out))
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


def published() -> dict[str, dict[str, float]]:
    path = replication_data("wmt14-qe", "tables-2-3-5-computed-vs-published.csv")
    with open(path, newline="") as file:
        return {
            row.pop("sys"): {name: float(value) for name, value in row.items() if value}
            for row in csv.DictReader(file)
        }


def test_eleven_systems_have_their_published_correlations(qe: GoldEvaluation) -> None:
    expected = published()
    assert {one.metric for one in qe.segment} == set(expected)
    for one in qe.segment:
        assert_allclose(one.pearson.estimate, expected[one.metric]["r_pub"], rtol=0, atol=PUBLISHED)
        assert one.pearson.n == 208


@pytest.mark.parametrize(
    ("measure", "column"),
    [
        ("mae", "mae_pub"),
        ("rmse", "rmse_pub"),
        ("rescaled_mae", "mae_rs_pub"),
        ("rescaled_rmse", "rmse_rs_pub"),
    ],
)
def test_eleven_systems_have_their_published_errors(
    qe: GoldEvaluation, measure: str, column: str
) -> None:
    expected = published()
    assert {one.metric for one in qe.predictions} == set(expected)
    for one in qe.predictions:
        estimate = getattr(one, measure).estimate
        assert_allclose(estimate, expected[one.metric][column], rtol=0, atol=PUBLISHED)


def test_differences_are_significant_exactly_where_they_should_be(qe: GoldEvaluation) -> None:
    text = replication_data("wmt14-qe", "task-1.2-pearson-sig.csv").read_text()
    names, *lines = [re.split(r"\s+", line.strip()) for line in text.splitlines() if line.strip()]
    assert qe.comparison is not None
    place = {metric: i for i, metric in enumerate(qe.comparison.metrics)}
    n_significant = 0
    for name, *cells in lines:
        for other, cell in zip(names, cells, strict=True):
            p = qe.comparison.pvalue[place[name]][place[other]]
            expected = cell != "-" and float(cell) < 0.05
            assert (p is not None and p < 0.05) == expected, (name, other)
            n_significant += expected
    assert n_significant > 20
    outperformed = {
        other for _, *cells in lines for other, cell in zip(names, cells, strict=True)
        if cell != "-" and float(cell) < 0.05
    }  # fmt: skip
    assert set(qe.winners) == set(names) - outperformed


def test_the_latex_table_shows_the_published_row(qe_folder: Path) -> None:
    table = (qe_folder / "tables" / "prediction-task-1.2.tex").read_text()
    row = next(line for line in table.splitlines() if "DCU-rtm-svr" in line)
    assert re.findall(r"\.\d{3}", row)[:5] == [".550", ".134", ".167", ".127", ".165"]
    assert "Williams test" in table


# WMT23 English to German -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def metrics(tmp_path_factory: pytest.TempPathFactory) -> EvaluationResult:
    """All metrics against both golds in one run."""
    folder = replication_data("wmt23-mtme", "wmt23")
    golds = []
    for kind, name in (("mqm", "mqm"), ("da", "da-sqm")):
        for level in ("seg", "sys"):
            golds += ["--gold", f"{kind}={folder}/human-scores/en-de.{name}.{level}.score"]
    return run(
        tmp_path_factory.mktemp("wmt23") / "report",
        folder / "metric-scores" / "en-de",
        *golds,
        *("--higher", "en-de.mqm", "--all-higher"),
        *("--without", "refA", "--without", "synthetic_ref"),
        *("--texts", folder / "sources" / "en-de.txt"),
        *("--documents", folder / "documents" / "en-de.docs"),
    )


def expected_rows(gold: str, level: str) -> dict[str, dict[str, str]]:
    with open(replication_data("wmt23-mtme", "expected.csv"), newline="") as file:
        return {
            row["metric"]: row
            for row in csv.DictReader(file)
            if row["gold"] == gold and row["level"] == level
        }


def against(metrics: EvaluationResult, gold: str) -> GoldEvaluation:
    return next(one for one in metrics.golds if one.gold.name == f"en-de.{gold}")


@pytest.mark.parametrize("gold", ["mqm", "da-sqm"])
def test_segment_figures_are_those_of_mt_metrics_eval(metrics: EvaluationResult, gold: str) -> None:
    rows = expected_rows(gold, "seg")
    found = against(metrics, gold).segment
    assert {one.metric for one in found} == set(rows) and len(rows) == 43
    for one in found:
        row = rows[one.metric]
        assert one.pearson.n == int(row["n"]) and one.acc_eq is not None
        for own, column in (
            (one.pearson, "pearson"),
            (one.spearman, "spearman"),
            (one.kendall, "kendall_b"),
            (one.acc_eq, "acc_eq_item"),
        ):
            assert_allclose(own.estimate, float(row[column]), rtol=0, atol=1e-9, err_msg=one.metric)


@pytest.mark.parametrize("gold", ["mqm", "da-sqm"])
def test_system_figures_are_those_of_mt_metrics_eval(metrics: EvaluationResult, gold: str) -> None:
    rows, segment_rows = expected_rows(gold, "sys"), expected_rows(gold, "seg")
    found = against(metrics, gold).system
    assert {one.metric for one in found} == set(rows) and len(rows) == 45
    for one in found:
        row = rows[one.metric]
        for own, column in (
            (one.pearson, "pearson"),
            (one.spearman, "spearman"),
            (one.kendall, "kendall_b"),
            (one.accuracy, "pairwise_accuracy"),
        ):
            assert_allclose(own.estimate, float(row[column]), rtol=0, atol=1e-9, err_msg=one.metric)
        if one.metric in segment_rows:
            expected = float(segment_rows[one.metric]["spa_complete_items"])
            assert one.spa is not None
            assert_allclose(one.spa.estimate, expected, rtol=0, atol=SPA_TOLERANCE)
        else:
            assert one.spa is None


def test_the_golds_are_compared_side_by_side(metrics: EvaluationResult) -> None:
    compared = {one.level: one for one in metrics.comparisons}
    assert len(compared["segment"].changes) == 43 and len(compared["system"].changes) == 45
    best = compared["segment"].changes[0]
    rows = expected_rows("da-sqm", "seg")
    better = sum(
        float(row["pearson"]) > float(rows[best.metric]["pearson"]) for row in rows.values()
    )
    assert best.first_rank == 1 and best.second_rank == better + 1
