"""WMT22 quality estimation of sentences: submissions and gold as they were published, through the front door."""

import csv
import json
from pathlib import Path

import pytest
from django.core.management import call_command
from numpy.testing import assert_allclose

from analysis.evaluation.across import TitledResult, table_across
from analysis.evaluation.results import EvaluationResult
from tests.replication.locating import replication_data

# Shares module-scoped fixtures.
pytestmark = pytest.mark.xdist_group("wmt22 qe")

PAIRS = ("en-cs", "en-mr")


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, EvaluationResult]:
    results = {}
    for pair in PAIRS:
        folder = replication_data("wmt22-qe", "da", pair)
        out = tmp_path_factory.mktemp("wmt22") / pair
        gold = f"da={folder / f'test.2022.{pair}.da_score'}"
        call_command(
            "evaluate",
            str(folder / "submissions"),
            *("--gold", gold, "--qe", "--all-higher", "--out", str(out)),
            *("--resamples", "10", "--uncertainty", "published"),
        )
        results[pair] = EvaluationResult.from_dict(json.loads((out / "result.json").read_text()))
    return results


def expected_rows() -> list[dict[str, str]]:
    with Path(replication_data("wmt22-qe", "expected-da.csv")).open(newline="") as file:
        return list(csv.DictReader(file))


def test_all_18_submissions_have_the_expected_figures(
    results: dict[str, EvaluationResult],
) -> None:
    rows = expected_rows()
    assert len(rows) == 18
    assert sum(len(result.golds[0].segment) for result in results.values()) == 18
    for row in rows:
        gold = results[row["lp"]].golds[0]
        (found,) = (each for each in gold.segment if each.metric == row["method"])
        (errors,) = (each for each in gold.predictions if each.metric == row["method"])
        numbers = [
            *(found.pearson.n, found.pearson.estimate, found.spearman.estimate),
            *(found.kendall.estimate, errors.mae.estimate, errors.rmse.estimate),
        ]
        columns = ("n", "pearson", "spearman", "kendall_b", "mae", "rmse")
        wanted = [float(row[column]) for column in columns]
        assert_allclose(numbers, wanted, rtol=0, atol=1e-9, err_msg=row["method"])


@pytest.mark.parametrize(
    ("measure", "column"),
    [
        ("pearson", "pearson"),
        ("spearman", "spearman"),
        ("kendall", "kendall_b"),
        ("mae", "mae"),
        ("rmse", "rmse"),
    ],
)
def test_the_multilingual_average_is_the_mean_over_the_pairs(
    results: dict[str, EvaluationResult], measure: str, column: str
) -> None:
    titled = [TitledResult(pair, result) for pair, result in results.items()]
    table = table_across(titled, measure=measure)  # type: ignore[arg-type]
    rows = {row[0].value: row[-1].value for row in table.rows}
    for method in ("Ensemble", "OpenKiwi BASELINE", "CROSS-DA-QE"):
        values = [float(row[column]) for row in expected_rows() if row["method"] == method]
        assert len(values) == len(PAIRS)
        assert_allclose(rows[method], sum(values) / len(PAIRS), rtol=0, atol=1e-9)
    # In one of the pairs only.
    assert rows["njuqe_single_a"] is None


def test_one_call_evaluates_a_submission_that_holds_both_pairs(
    results: dict[str, EvaluationResult], tmp_path: Path
) -> None:
    lines = []
    for pair in PAIRS:
        folder = replication_data("wmt22-qe", "da", pair, "submissions")
        texts = [path.read_text().splitlines() for path in sorted(folder.iterdir())]
        (both,) = (text for text in texts if text[-1].split("\t")[1] == "Ensemble")
        lines += both if not lines else both[3:]
    (tmp_path / "ensemble.txt").write_text("\n".join(lines) + "\n")
    golds = [
        f"da={replication_data('wmt22-qe', 'da', pair, f'test.2022.{pair}.da_score')}"
        for pair in PAIRS
    ]
    call_command(
        "evaluate",
        str(tmp_path / "ensemble.txt"),
        *("--by-pair", "--gold", golds[0], "--gold", golds[1], "--qe", "--all-higher"),
        *("--resamples", "10", "--uncertainty", "published", "--out", str(tmp_path / "report")),
    )
    table = tmp_path / "report" / "metrics-by-evaluation-spearman.csv"
    (row,) = csv.DictReader(table.read_text().splitlines())
    expected = {
        each["lp"]: float(each["spearman"])
        for each in expected_rows()
        if each["method"] == "Ensemble"
    }
    assert_allclose([float(row[pair]) for pair in PAIRS], [*expected.values()], rtol=0, atol=1e-9)
    assert_allclose(float(row["mean"]), sum(expected.values()) / 2, rtol=0, atol=1e-9)


def test_the_size_of_an_ensemble_is_kept(results: dict[str, EvaluationResult]) -> None:
    how = {source.name: source.signature for source in results["en-cs"].inputs}
    assert how["Ensemble"].startswith("bytes:2260735089|parameters:583891109|models:6|")
