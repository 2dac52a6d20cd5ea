"""Evaluations of campaigns: stored once, numbered, and reproducible bit for bit."""

import numpy as np
import pytest
from scipy import stats

from analysis.evaluation.results import Options
from analysis.evaluation.stored_evaluations import (
    EvaluationRefused,
    GoldChoice,
    evaluate_again,
    evaluate_campaign,
    options_from,
    result_of,
)
from analysis.gold.runs import build_gold
from analysis.models import Evaluation, GoldRun, GoldScore, Metric
from analysis.scores.errors import ScoresRefused
from analysis.scores.gold_tables import campaign_gold
from analysis.scores.score_tables import ScoreTable
from analysis.scores.storing import ScoreSource, store_scores
from da_platform.jobs.models import Job
from da_platform.jobs.running import run_job, start_job
from hits.campaigns.simulation import Behaviour, simulate_workers
from hits.workers.trust import weigh_pending
from tests.factories import make_campaign, make_hits

pytestmark = pytest.mark.django_db


@pytest.fixture
def run() -> GoldRun:
    campaign = make_hits(n_segments=35, hit_size=100, min_ratings=2)
    simulate_workers(campaign=campaign, crowd={Behaviour.HONEST: 2}, seed=1)
    weigh_pending()
    return build_gold(campaign=campaign)


def store(run: GoldRun, name: str, noise: float, *, higher: bool | None = True, **how) -> Metric:
    gold = campaign_gold(run)
    rng = np.random.default_rng(int(noise * 100))
    scores = np.nan_to_num(gold.scores) + noise * rng.normal(size=len(gold.keys))
    table = ScoreTable(name, "segment", gold.keys, scores, higher, sha256=f"{noise}".ljust(64, "0"))
    return store_scores(table=table, home=run.campaign, source=ScoreSource(), **how)


def test_an_evaluation_is_stored_with_its_inputs(run):
    metrics = [store(run, "good", 0.2), store(run, "poor", 3)]
    evaluation = evaluate_campaign(campaign=run.campaign)
    gold = {"run": 1, "use": "z", "ceiling": True}
    assert (evaluation.number, evaluation.golds) == (1, [gold])
    assert set(evaluation.metrics.all()) == set(metrics)
    gold = result_of(evaluation).golds[0]
    assert gold.winners == ("good",) and gold.gold.n == 70
    z = campaign_gold(run).scores
    scores = np.array(list(metrics[0].scores.order_by("position").values_list("score", flat=True)))
    assert gold.segment[0].pearson.estimate == pytest.approx(stats.pearsonr(scores, z)[0])
    assert (
        evaluation.signature == evaluation.result["signature"]
        and len(evaluation.input_digest) == 64
    )


def test_running_it_again_gives_the_same_numbers(run):
    store(run, "good", 0.2)
    store(run, "poor", 3)
    evaluation = evaluate_campaign(campaign=run.campaign, options=Options(seed=5, qe=True))
    evaluation.refresh_from_db()
    assert evaluate_again(evaluation).result.to_dict() == evaluation.result
    assert evaluate_again(evaluation).result == result_of(evaluation)


def test_it_cannot_be_run_again_after_scores_changed(run):
    store(run, "good", 0.2)
    store(run, "poor", 3)
    evaluation = evaluate_campaign(campaign=run.campaign)
    store(run, "poor", 2, replace=True)
    with pytest.raises(EvaluationRefused, match="replaced or removed"):
        evaluate_again(evaluation)


def test_z_and_raw_scores_can_be_compared(run):
    store(run, "good", 0.2)
    store(run, "poor", 3)
    evaluation = evaluate_campaign(
        campaign=run.campaign, golds=[GoldChoice(1), GoldChoice(1, "raw")]
    )
    compared = result_of(evaluation).comparisons[0]
    assert (compared.first, compared.second) == ("gold 1", "gold 1, raw")


def test_evaluations_of_a_campaign_are_numbered(run):
    store(run, "good", 0.2)
    assert [evaluate_campaign(campaign=run.campaign).number for _ in range(3)] == [1, 2, 3]


def test_it_runs_as_a_job_with_progress(run, django_user_model):
    store(run, "good", 0.2)
    flat = store(run, "flat", 0)
    flat.scores.update(score=0.5)
    alice = django_user_model.objects.create(username="alice")
    job = start_job(kind="evaluate", campaign=run.campaign, started_by=alice)
    reports: list[tuple[int, int | None]] = []
    done = run_job(job.pk, listener=lambda *report: reports.append(report))
    assert done is not None and done.state == Job.State.DONE, done and done.traceback
    assert done.result["winners"] == {"gold 1": ["good"]}
    stored = Evaluation.objects.get(code=done.result["evaluation"])
    assert (stored.job, stored.created_by) == (job, alice)
    assert reports[-1][0] == reports[-1][1]


def test_a_restarted_job_stores_nothing_twice(run):
    store(run, "good", 0.2)
    job = start_job(kind="evaluate", campaign=run.campaign)
    first = evaluate_campaign(campaign=run.campaign, job=job)
    done = run_job(job.pk)
    assert done is not None and done.result["evaluation"] == str(first.code)
    assert Evaluation.objects.count() == 1


def test_a_job_can_choose_metrics_gold_and_options(run):
    good, _ = store(run, "good", 0.2), store(run, "poor", 3)
    arguments = {
        "metrics": [str(good.code)],
        "golds": [{"run": 1, "use": "raw"}],
        "options": {"seed": 3, "without_systems": ["system-a"]},
    }
    done = run_job(start_job(kind="evaluate", campaign=run.campaign, arguments=arguments).pk)
    assert done is not None and done.state == Job.State.DONE, done and done.error
    result = result_of(Evaluation.objects.get())
    assert result.options == Options(seed=3, without_systems=("system-a",))
    assert [row.metric for row in result.golds[0].segment] == ["good"]


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"golds": [{"run": 9}]}, "has no gold 9"),
        ({"golds": [{"run": 1, "use": "x"}]}, "not a kind of score"),
        ({"golds": [{"number": 1}]}, "Choose gold by"),
        ({"options": {"colour": 1}}, "Unknown option: colour"),
        ({"options": {"alpha": 2}}, "between 0 and 1"),
        ({"metrics": ["6f1c8a52-0000-4000-8000-000000000000"]}, "does not have all of these"),
    ],
)
def test_a_job_with_bad_arguments_fails_with_the_reason(run, arguments, reason):
    store(run, "good", 0.2)
    done = run_job(start_job(kind="evaluate", campaign=run.campaign, arguments=arguments).pk)
    assert done is not None and done.state == Job.State.FAILED and reason in done.error


def test_without_gold_or_metrics_it_is_refused(run):
    with pytest.raises(EvaluationRefused, match="no metric scores yet"):
        evaluate_campaign(campaign=run.campaign)
    with pytest.raises(EvaluationRefused, match="no gold yet"):
        evaluate_campaign(campaign=make_campaign(name="empty"))


def test_an_unconfirmed_direction_is_refused(run):
    store(run, "good", 0.2, higher=None)
    with pytest.raises(ScoresRefused, match="needs a confirmed direction"):
        evaluate_campaign(campaign=run.campaign)


def test_outputs_without_gold_are_left_out_and_counted(run):
    store(run, "good", 0.2)
    scarce = GoldScore.objects.filter(run=run)[:1].get()
    GoldScore.objects.filter(pk=scarce.pk).update(raw=None, z=None, is_complete=False)
    gold = result_of(evaluate_campaign(campaign=run.campaign)).golds[0].gold
    assert (gold.n, gold.n_without_gold) == (69, 1)


def test_options_are_read_from_json():
    assert options_from({}) == Options()
    assert options_from({"without_systems": ["a"]}).without_systems == ("a",)
