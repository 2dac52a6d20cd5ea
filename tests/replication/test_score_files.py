"""Real score files: WMT14 quality estimation and WMT23 metrics."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from analysis.scores.gold_tables import read_gold
from analysis.scores.mt_metrics_eval import read_human_scores, read_metric_folder
from analysis.scores.reading import RANKS_SUFFIX, read_scores
from analysis.scores.score_tables import align
from analysis.stats.correlation import correlate
from tests.replication.locating import replication_data
from tests.replication.published_figures import wmt14_figures, wmt23_rows

# Shares module-scoped fixtures.
pytestmark = pytest.mark.xdist_group("score files")

PAIR = "en-de"
# The reference was rated, too, and metrics scored a text without ratings.
NOT_COMPARED = ("refA", "synthetic_ref")


def test_wmt14_predictions_correlate_with_hter_as_published():
    path = replication_data("wmt14-qe", "task-1.2.csv")
    tables = read_scores(path, directions=False).tables
    scoring = [table for table in tables if not table.name.endswith(RANKS_SUFFIX)]
    gold = read_gold(path, kind="hter", higher_is_better=False)
    rows = align(scoring, gold)
    assert rows.scores.shape == (11, 208)
    published = wmt14_figures()
    for name, scores in zip(rows.metrics, rows.scores, strict=True):
        r = np.corrcoef(scores, rows.gold)[0, 1]
        assert_allclose(r, published[name]["r"], rtol=1e-9)


def test_wmt14_systems_that_ranked_have_ranks_and_scores():
    tables = read_scores(replication_data("wmt14-qe", "task-1.2.csv")).tables
    ranks = [table for table in tables if table.name.endswith(RANKS_SUFFIX)]
    assert len(ranks) == 6 and all(table.higher_is_better is False for table in ranks)


@pytest.fixture(scope="module")
def root():
    return replication_data("wmt23-mtme", "wmt23")


@pytest.fixture(scope="module")
def segment_scores(root):
    files = read_metric_folder(root, language_pair=PAIR, directions=True)
    return [file.tables[0] for file in files]


@pytest.mark.parametrize(("name", "kind"), [("mqm", "mqm"), ("da-sqm", "da")])
def test_wmt23_segment_scores_correlate_as_in_mt_metrics_eval(root, segment_scores, name, kind):
    gold = read_human_scores(root, language_pair=PAIR, name=name, kind=kind, higher_is_better=True)
    rows = align(segment_scores, gold, without_systems=NOT_COMPARED)
    expected = wmt23_rows(name, "seg")
    assert set(rows.metrics) == set(expected) and gold.documents is not None
    for metric, scores in zip(rows.metrics, rows.scores, strict=True):
        assert len(scores) == int(expected[metric]["n"])
        r = correlate(scores, rows.gold, higher_is_better=True).estimate
        assert_allclose(r, float(expected[metric]["pearson"]), rtol=1e-9)


def test_wmt23_system_scores_correlate_as_in_mt_metrics_eval(root):
    files = read_metric_folder(root, language_pair=PAIR, level="system", directions=True)
    gold = read_human_scores(
        root, language_pair=PAIR, name="mqm", kind="mqm", level="system", higher_is_better=True
    )
    tables = [file.tables[0] for file in files]
    rows = align(tables, gold, without_systems=NOT_COMPARED)
    expected = wmt23_rows("mqm", "sys")
    for metric, scores in zip(rows.metrics, rows.scores, strict=True):
        r = correlate(scores, rows.gold, higher_is_better=True).estimate
        assert_allclose(r, float(expected[metric]["pearson"]), rtol=1e-9)
