"""WMT14 quality estimation, task 1.2: the tables of Graham (ACL 2015) from the submitted predictions."""

import csv
import re
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.testing import assert_allclose

from analysis.stats.quality_estimation import QualityEstimation, evaluate_predictions
from analysis.stats.williams import williams_matrix, williams_test
from tests.replication.locating import replication_data

# Published figures have three decimals.
PUBLISHED = 0.0005 + 1e-9


@dataclass(frozen=True)
class Task:
    systems: list[str]
    predictions: np.ndarray
    gold: np.ndarray


@pytest.fixture(scope="module")
def task() -> Task:
    folder = replication_data("wmt14-qe")
    systems = (folder / "metrics.12").read_text().split()[1:]
    predictions: dict[str, dict[int, float]] = {name: {} for name in systems}
    gold: dict[int, float] = {}
    with open(folder / "task-1.2.csv", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            segment = int(row["SID"])
            gold[segment] = float(row["HUMAN"])
            predictions[row["METRIC"]][segment] = float(row["SCORE"])
    segments = sorted(gold)
    matrix = [[predictions[name][segment] for segment in segments] for name in systems]
    return Task(systems, np.array(matrix), np.array([gold[segment] for segment in segments]))


@pytest.fixture(scope="module")
def published() -> dict[str, dict[str, float]]:
    path = replication_data("wmt14-qe", "tables-2-3-5-computed-vs-published.csv")
    with open(path, newline="") as file:
        return {
            row.pop("sys"): {name: float(value) for name, value in row.items() if value}
            for row in csv.DictReader(file)
        }


@pytest.fixture(scope="module")
def evaluations(task: Task) -> dict[str, QualityEstimation]:
    return {
        name: evaluate_predictions(own, task.gold, higher_is_better=False)
        for name, own in zip(task.systems, task.predictions, strict=True)
    }


def test_there_are_eleven_systems_and_208_segments(task: Task) -> None:
    assert task.predictions.shape == (11, 208)


@pytest.mark.parametrize(
    ("measure", "published_as", "computed_as"),
    [
        ("pearson", "r_pub", "r"),
        ("mae", "mae_pub", "mae"),
        ("rmse", "rmse_pub", "rmse"),
        ("rescaled_mae", "mae_rs_pub", "mae_rs_halfgold_0"),
        ("rescaled_rmse", "rmse_rs_pub", "rmse_rs_halfgold_0"),
    ],
)
def test_measures_of_all_systems_are_the_published_ones(
    evaluations: dict[str, QualityEstimation],
    published: dict[str, dict[str, float]],
    measure: str,
    published_as: str,
    computed_as: str,
) -> None:
    assert set(evaluations) == set(published)
    for name, evaluation in evaluations.items():
        estimate = getattr(evaluation, measure).estimate
        assert_allclose(estimate, published[name][computed_as], rtol=0, atol=1e-9)
        assert_allclose(estimate, published[name][published_as], rtol=0, atol=PUBLISHED)


def test_the_williams_matrix_is_the_published_one(task: Task) -> None:
    path = replication_data("wmt14-qe", "task-1.2-pearson-sig.csv")
    lines = [
        re.split(r"\s+", line.strip()) for line in path.read_text().splitlines() if line.strip()
    ]
    order = [task.systems.index(name) for name in lines[0]]
    found = williams_matrix(task.predictions[order], task.gold)
    n_compared = 0
    for i, (name, *cells) in enumerate(lines[1:]):
        assert name == lines[0][i]
        for j, cell in enumerate(cells):
            if cell == "-":
                assert not found.estimates[i] > found.estimates[j]
                continue
            assert_allclose(found.pvalue[i, j], float(cell), rtol=0, atol=1e-9)
            n_compared += 1
    assert n_compared == 55


def test_the_published_example_of_one_test() -> None:
    text = replication_data("wmt14-qe", "nlp-williams-readme-example.txt").read_text()
    r13, r23, r12, n, pvalue = (
        float(value) for value in re.findall(r":\s*([0-9]+(?:\.[0-9]+)?)\s*$", text, re.MULTILINE)
    )
    assert_allclose(williams_test(r13, r23, r12, int(n)).pvalue, pvalue, rtol=0, atol=1e-12)
