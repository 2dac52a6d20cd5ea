"""WMT14 quality estimation, task 1.2: the tables of Graham (ACL 2015)."""

import csv
import re
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.testing import assert_allclose

from analysis.stats.quality_estimation import QualityEstimation, evaluate_predictions
from analysis.stats.williams import williams_matrix, williams_test
from tests.replication.locating import replication_data
from tests.replication.published_figures import PUBLISHED, wmt14_figures, wmt14_williams_tests


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
def evaluations(task: Task) -> dict[str, QualityEstimation]:
    return {
        name: evaluate_predictions(predictions, task.gold, higher_is_better=False)
        for name, predictions in zip(task.systems, task.predictions, strict=True)
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
def test_measures_match_the_published_ones(
    evaluations: dict[str, QualityEstimation], measure: str, published_as: str, computed_as: str
) -> None:
    published = wmt14_figures()
    assert set(evaluations) == set(published)
    for name, evaluation in evaluations.items():
        estimate = getattr(evaluation, measure).estimate
        assert_allclose(estimate, published[name][computed_as], rtol=0, atol=1e-9)
        assert_allclose(estimate, published[name][published_as], rtol=0, atol=PUBLISHED)


def test_the_williams_matrix_matches_the_published_one(task: Task) -> None:
    names, lines = wmt14_williams_tests()
    order = [task.systems.index(name) for name in names]
    result = williams_matrix(task.predictions[order], task.gold)
    n_compared = 0
    for i, (name, *cells) in enumerate(lines):
        assert name == names[i]
        for j, cell in enumerate(cells):
            if cell == "-":
                assert not result.estimates[i] > result.estimates[j]
                continue
            assert_allclose(result.pvalue[i, j], float(cell), rtol=0, atol=1e-9)
            n_compared += 1
    assert n_compared == 55


def test_the_williams_test_matches_the_published_example() -> None:
    text = replication_data("wmt14-qe", "nlp-williams-readme-example.txt").read_text()
    r13, r23, r12, n, pvalue = (
        float(value) for value in re.findall(r":\s*([0-9]+(?:\.[0-9]+)?)\s*$", text, re.MULTILINE)
    )
    assert_allclose(williams_test(r13, r23, r12, int(n)).pvalue, pvalue, rtol=0, atol=1e-12)
