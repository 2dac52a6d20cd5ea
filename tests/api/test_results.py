"""Gold and evaluations over the API: agreement, comparison, report, pictures and tables."""

from uuid import uuid4

import numpy as np
import pytest

from analysis.gold.runs import build_gold
from analysis.models import Evaluation, GoldRun
from analysis.scores.gold_tables import campaign_gold
from analysis.scores.score_tables import ScoreTable
from analysis.scores.storing import ScoreSource, store_scores
from da_platform.jobs.models import Job
from da_platform.jobs.running import run_job
from hits.campaigns.simulation import Behaviour, simulate_workers
from hits.workers.trust import weigh_pending
from tests.api.callers import Caller, caller
from tests.factories import make_campaign, make_hits

pytestmark = pytest.mark.django_db


@pytest.fixture
def run() -> GoldRun:
    campaign = make_hits(n_segments=35, hit_size=100, min_ratings=3)
    simulate_workers(campaign=campaign, crowd={Behaviour.HONEST: 3}, seed=1)
    weigh_pending()
    return build_gold(campaign=campaign)


@pytest.fixture
def ada() -> Caller:
    return caller("researcher")


def finish(answer) -> Job:
    assert answer.status_code == 202, answer.content
    job = run_job(Job.objects.get(code=answer.json()["code"]).pk)
    assert job.state == "done", job.error
    return job


def content_of(answer) -> bytes:
    return b"".join(answer.streaming_content) if answer.streaming else answer.content


class TestGold:
    def test_agreement_is_measured_by_a_job(self, run, ada):
        path = f"/campaigns/{run.campaign.code}/agreement"
        assert ada.get(path).status_code == 404
        job = finish(ada.post(path))
        agreement = ada.get(path).json()
        assert agreement["job"] == str(job.code) and agreement["n_workers"] == 3
        assert set(agreement) >= {"between", "within", "alpha", "curve"}
        base = f"/campaigns/{run.campaign.code}/gold/1/pictures/how-many-ratings"
        assert ada.get(base, format="csv").status_code == 200

    def test_agreement_can_be_measured_with_a_second_campaign(self, run, ada):
        path = f"/campaigns/{run.campaign.code}/agreement"
        other = make_hits(name="unrated")
        answer = ada.post(f"{path}?replicate={other.code}")
        job = Job.objects.get(code=answer.json()["code"])
        assert job.arguments == {"replicate": str(other.code)}
        assert ada.post(f"{path}?replicate={uuid4()}").status_code == 404

    def test_systems_are_ranked_by_the_test_of_the_run_or_another(self, run, ada):
        path = f"/campaigns/{run.campaign.code}/gold/1/ranking"
        ranking = ada.get(path).json()
        assert ranking["test"] == "two_way" and ranking["correction"] == "holm"
        pair = ranking["pairs"][0]
        assert pair["p"] == ranking["pvalues"][0][1] >= ranking["unadjusted"][0][1]
        assert pair["low"] < pair["difference"] < pair["high"]
        published = ada.get(path, test="published").json()
        assert published["correction"] == "none"
        assert published["pairs"][0]["p"] == pair["p_mann_whitney"]
        assert ada.get(path, test="t").status_code == 422

    def test_two_runs_are_compared(self, run, ada):
        build_gold(campaign=run.campaign, minimum=2)
        path = f"/campaigns/{run.campaign.code}/gold/compare"
        comparison = ada.get(path, earlier=1, later=2).json()
        assert comparison["n_shared"] == 70 and comparison["z_r"] == pytest.approx(1)
        assert comparison["largest_raw_difference"] == 0 and comparison["n_no_longer_complete"] == 0
        assert ada.get(path, earlier=1, later=9).status_code == 404
        assert ada.get(path, earlier=1).status_code == 422

    def test_runs_without_shared_scores_have_an_empty_comparison(self, ada):
        campaign = make_hits()
        build_gold(campaign=campaign)
        path = f"/campaigns/{campaign.code}/gold/compare"
        comparison = ada.get(path, earlier=1, later=1).json()
        assert (comparison["n_shared"], comparison["z_r"], comparison["has_equal_input"]) == (
            0,
            None,
            True,
        )

    def test_the_report_is_a_pdf(self, run, ada):
        answer = ada.get(f"/campaigns/{run.campaign.code}/gold/1/report")
        assert answer.content.startswith(b"%PDF") and "gold-1.pdf" in answer["Content-Disposition"]

    def test_pictures_are_listed_and_downloaded(self, run, ada):
        path = f"/campaigns/{run.campaign.code}/gold/1/pictures"
        names = [picture["name"] for picture in ada.get(path).json()]
        assert len(names) == 4
        drawn = ada.get(f"{path}/{names[0]}")
        assert drawn["Content-Type"] == "image/svg+xml; charset=utf-8" and b"<svg" in drawn.content
        assert b"," in ada.get(f"{path}/{names[0]}", format="csv").content
        assert ada.get(f"{path}/none").status_code == 404
        assert ada.get(f"{path}/{names[0]}", format="exe").status_code == 422

    def test_an_export_can_be_of_an_earlier_run(self, run, ada):
        build_gold(campaign=run.campaign, minimum=60)
        path = f"/campaigns/{run.campaign.code}/exports/segments"
        first, latest = (content_of(ada.get(path, **query)) for query in ({"run": 1}, {}))
        assert first != latest
        assert ada.get(path, run=9).status_code == 404


def store(run: GoldRun, name: str, noise: float):
    gold = campaign_gold(run)
    rng = np.random.default_rng(int(noise * 100))
    scores = np.nan_to_num(gold.scores) + noise * rng.normal(size=len(gold.keys))
    table = ScoreTable(name, "segment", gold.keys, scores, True, sha256=f"{noise}".ljust(64, "0"))
    return store_scores(table=table, home=run.campaign, source=ScoreSource())


class TestEvaluations:
    def test_metrics_are_evaluated_against_gold(self, run, ada):
        store(run, "good", 0.2), store(run, "poor", 3)
        path = f"/campaigns/{run.campaign.code}/evaluations"
        job = finish(ada.post(path, {"golds": [{"run": 1}], "options": {"n_resamples": 50}}))
        assert job.result["winners"] == {"gold 1": ["good"]}
        number = job.result["number"]
        listed = ada.get(path).json()["items"]
        assert [row["number"] for row in listed] == [number] and "result" not in listed[0]
        evaluation = ada.get(f"{path}/{number}").json()
        assert evaluation["result"]["golds"][0]["segment"][0]["metric"] == "good"
        self.check_files(ada, f"{path}/{number}")

    def check_files(self, ada, path):
        tables = ada.get(f"{path}/tables").json()
        assert tables and tables[0]["caption"]
        name = tables[0]["name"]
        assert b"good" in ada.get(f"{path}/tables/{name}").content
        assert b"\\toprule" in ada.get(f"{path}/tables/{name}", format="tex").content
        assert b"|" in ada.get(f"{path}/tables/{name}", format="md").content
        assert ada.get(f"{path}/tables/none").status_code == 404
        pictures = ada.get(f"{path}/pictures").json()
        drawn = ada.get(f"{path}/pictures/{pictures[0]['name']}", format="png")
        assert drawn.content.startswith(b"\x89PNG")
        assert ada.get(f"{path}/pictures/none").status_code == 404

    def test_a_download_keeps_a_name_in_any_script(self, run, ada):
        store(run, "good", 0.2)
        path = f"/campaigns/{run.campaign.code}/evaluations"
        number = finish(ada.post(path, {"options": {"n_resamples": 50}})).result["number"]
        evaluation = Evaluation.objects.get()
        evaluation.result["golds"][0]["gold"]["name"] = "黄金"
        evaluation.save()
        answer = ada.get(f"{path}/{number}/tables/segment-黄金")
        assert answer["Content-Disposition"] == (
            "attachment; filename*=utf-8''segment-%E9%BB%84%E9%87%91.csv"
        )

    def test_workers_can_be_rows_next_to_metrics(self, run, ada):
        store(run, "good", 0.2)
        path = f"/campaigns/{run.campaign.code}/evaluations"
        finish(
            ada.post(path, {"golds": [{"run": 1, "human": True}], "options": {"n_resamples": 50}})
        )
        result = ada.get(f"{path}/1").json()["result"]
        rows = {row["metric"] for row in result["golds"][0]["segment"]}
        assert rows == {"good", "one worker"}

    def test_metrics_can_be_chosen(self, run, ada):
        good = store(run, "good", 0.2)
        store(run, "poor", 3)
        path = f"/campaigns/{run.campaign.code}/evaluations"
        choice = {"metrics": [str(good.code)], "options": {"n_resamples": 50}}
        number = finish(ada.post(path, choice)).result["number"]
        gold = ada.get(f"{path}/{number}").json()["result"]["golds"][0]
        assert [row["metric"] for row in gold["segment"]] == ["good"]

    def test_predictions_have_a_baseline_and_preferences(self, run, ada):
        store(run, "good", 0.2), store(run, "poor", 3)
        path = f"/campaigns/{run.campaign.code}/evaluations"
        options = {"qe": True, "baseline": "poor", "sort": "mae", "preference_points": 0.1}
        number = finish(ada.post(path, {"options": options})).result["number"]
        gold = ada.get(f"{path}/{number}").json()["result"]["golds"][0]
        assert [test["measure"] for test in gold["prediction_comparisons"]] == ["mae", "delta_avg"]
        assert gold["preferences"]["rows"][0]["metric"] == "good"
        notes = {row["name"]: row["note"] for row in ada.get(f"{path}/{number}/tables").json()}
        assert "not significantly different from poor" in notes["prediction-gold-1"]
        assert "at least 0.1 apart" in notes["preference-gold-1"]

    @pytest.mark.parametrize(
        "options",
        [
            {"alpha": 0},
            {"confidence": 1},
            {"n_resamples": 0},
            {"sort": "wins"},
            {"preference_points": -1},
        ],
    )
    def test_impossible_options_are_refused(self, ada, options):
        path = f"/campaigns/{make_campaign().code}/evaluations"
        assert ada.post(path, {"options": options}).status_code == 422
        assert not Job.objects.exists()

    def test_without_gold_the_job_fails_and_says_what_to_do(self, ada):
        answer = ada.post(f"/campaigns/{make_campaign().code}/evaluations")
        job = run_job(Job.objects.get(code=answer.json()["code"]).pk)
        assert job.state == "failed" and "Build it first" in job.error

    def test_an_evaluation_of_another_campaign_does_not_exist(self, ada):
        path = f"/campaigns/{make_campaign().code}/evaluations/1"
        assert ada.get(path).status_code == 404
