"""Metrics against the gold of a campaign: right numbers, and wrong files named."""

from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from analysis.evaluation import MetricFile, ScoresRefused, evaluate_metrics
from analysis.gold import build_gold
from analysis.jobs import run_job, start_job
from analysis.models import GoldRun, GoldScore, Job
from hits.models import SystemOutput
from hits.simulation import Behaviour, simulate_workers
from hits.trust import weigh_pending
from tests.factories import make_hits

pytestmark = pytest.mark.django_db


@pytest.fixture
def run() -> GoldRun:
    campaign = make_hits(n_segments=35, hit_size=100, min_ratings=2)
    simulate_workers(campaign=campaign, crowd={Behaviour.HONEST: 2}, seed=1)
    weigh_pending()
    return build_gold(campaign=campaign)


def golds_of(run: GoldRun) -> dict[tuple[str, str], float]:
    z = dict(GoldScore.objects.filter(run=run).values_list("translation_id", "z"))
    rows = SystemOutput.objects.filter(system__campaign=run.campaign).values_list(
        "system__name", "segment__name", "translation_id"
    )
    return {(system, segment): z[pk] for system, segment, pk in rows}


def write(path: Path, scores: dict[tuple[str, str], float]) -> Path:
    lines = [f"{system}\t{segment}\t{score}" for (system, segment), score in scores.items()]
    path.write_text("\n".join(["system\tsegment\tscore", *lines]) + "\n")
    return path


def noisy(run: GoldRun, noise: float, seed: int) -> dict[tuple[str, str], float]:
    rng = np.random.default_rng(seed)
    return {key: z + noise * rng.standard_normal() for key, z in golds_of(run).items()}


def test_correlations_are_those_of_scipy_and_the_better_metric_wins(run, tmp_path):
    good, poor = noisy(run, 0.2, 1), noisy(run, 3.0, 2)
    files = [
        write(tmp_path / f"{name}.tsv", scores) for name, scores in [("good", good), ("poor", poor)]
    ]
    found = evaluate_metrics(run=run, files=[MetricFile(path, True) for path in files])
    gold = golds_of(run)
    pairs = [([scores[key] for key in gold], list(gold.values())) for scores in (good, poor)]
    np.testing.assert_allclose(
        [one.estimate for one in found.pearson], [stats.pearsonr(*pair)[0] for pair in pairs]
    )
    np.testing.assert_allclose(
        [one.estimate for one in found.kendall], [stats.kendalltau(*pair)[0] for pair in pairs]
    )
    assert found.metrics == ("good", "poor") and found.winners == ("good",) and found.n == 70


def test_a_metric_where_lower_is_better_has_its_sign_turned(run, tmp_path):
    costs = {key: -z for key, z in golds_of(run).items()}
    file = MetricFile(write(tmp_path / "cost.tsv", costs), higher_is_better=False)
    found = evaluate_metrics(run=run, files=[file])
    assert found.pearson[0].estimate == pytest.approx(1) and found.winners == ("cost",)


def test_outputs_without_gold_are_left_out_and_the_count_says_so(run, tmp_path):
    path = write(tmp_path / "metric.tsv", noisy(run, 0.5, 1))
    scarce = GoldScore.objects.filter(run=run)[:1].get()
    GoldScore.objects.filter(pk=scarce.pk).update(raw=None, z=None, is_complete=False)
    assert evaluate_metrics(run=run, files=[MetricFile(path, True)]).n == 69


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda lines: lines[:-1], "has no score for segment-35 by system-b"),
        (lambda lines: [*lines, lines[-1]], "metric.tsv, line 72: a second score"),
        (
            lambda lines: [*lines, "system-c\tsegment-1\t1"],
            "has no output for segment-1 by system-c",
        ),
        (
            lambda lines: [*lines[:-1], "system-b\tsegment-35\tgood"],
            "line 71: 'good' is not a number",
        ),
        (lambda lines: [*lines[:-1], "system-b\tsegment-35\tnan"], "'nan' is not a number"),
        (lambda lines: [*lines, "system-b"], "line 72: has 1 columns, not 3"),
        (lambda lines: lines[1:], "line 1: the columns must be system, segment, score"),
        (lambda lines: [], "line 1: the columns must be"),
    ],
)
def test_a_wrong_file_is_refused_by_line_and_reason(run, tmp_path, change, words):
    scores = dict(
        sorted(noisy(run, 0.5, 1).items(), key=lambda row: (row[0][0], int(row[0][1][8:])))
    )
    path = write(tmp_path / "metric.tsv", scores)
    path.write_text("\n".join(change(path.read_text().splitlines())))
    with pytest.raises(ScoresRefused, match=words):
        evaluate_metrics(run=run, files=[MetricFile(path, True)])


def test_a_missing_file_is_refused(run, tmp_path):
    with pytest.raises(ScoresRefused, match="nowhere.tsv: cannot be read"):
        evaluate_metrics(run=run, files=[MetricFile(tmp_path / "nowhere.tsv", True)])


def test_it_runs_as_a_job(run, tmp_path):
    good = write(tmp_path / "good.tsv", noisy(run, 0.2, 1))
    flat = write(tmp_path / "flat.tsv", dict.fromkeys(golds_of(run), 0.5))
    arguments = {"files": [[str(good), "higher"], [str(flat), "lower"]]}
    job = run_job(start_job(kind="evaluate_metrics", campaign=run.campaign, arguments=arguments).pk)
    assert job.state == Job.State.DONE, job.traceback
    assert job.result["winners"] == ["good"] and job.result["pearson"][1] is None
