"""Published figures that several tests compare with."""

import csv
import re

from analysis.evaluation.results import GoldEvaluation
from tests.replication.locating import replication_data

# Published figures have three decimals.
PUBLISHED = 0.0005 + 1e-9
# How WMT14 quality estimation names the errors of predictions.
PREDICTION_COLUMNS = {
    "mae": "mae_pub",
    "rmse": "rmse_pub",
    "rescaled_mae": "mae_rs_pub",
    "rescaled_rmse": "rmse_rs_pub",
}


def wmt14_figures() -> dict[str, dict[str, float]]:
    """Return the figures of WMT14 quality estimation, task 1.2, by system."""
    path = replication_data("wmt14-qe", "tables-2-3-5-computed-vs-published.csv")
    with open(path, newline="") as file:
        return {
            row.pop("sys"): {name: float(value) for name, value in row.items() if value}
            for row in csv.DictReader(file)
        }


def wmt14_williams_tests() -> tuple[list[str], list[list[str]]]:
    """Return the systems, and for each its name and p-values against the others."""
    text = replication_data("wmt14-qe", "task-1.2-pearson-sig.csv").read_text()
    names, *lines = [re.split(r"\s+", line.strip()) for line in text.splitlines() if line.strip()]
    return names, lines


def assert_published_significance(gold: GoldEvaluation) -> None:
    """Check that exactly the published differences are significant, and the winners."""
    names, lines = wmt14_williams_tests()
    assert gold.comparison is not None
    place = {metric: i for i, metric in enumerate(gold.comparison.metrics)}
    outperformed, n_significant = set(), 0
    for name, *cells in lines:
        for other, cell in zip(names, cells, strict=True):
            p = gold.comparison.pvalue[place[name]][place[other]]
            expected = cell != "-" and float(cell) < 0.05
            assert (p is not None and p < 0.05) == expected, (name, other)
            n_significant += expected
            outperformed |= {other} if expected else set()
    assert n_significant > 20
    assert set(gold.winners) == set(names) - outperformed


def wmt23_rows(gold: str, level: str) -> dict[str, dict[str, str]]:
    """Return what mt-metrics-eval computes for WMT23 English to German, by metric."""
    with open(replication_data("wmt23-mtme", "expected.csv"), newline="") as file:
        return {
            row["metric"]: row
            for row in csv.DictReader(file)
            if row["gold"] == gold and row["level"] == level
        }
