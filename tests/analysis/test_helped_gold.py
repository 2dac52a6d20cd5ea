"""Gold whose system scores are corrected by a metric that is known for all outputs."""

import io
import json

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from analysis.exporting import export
from analysis.gold.all_segments import HelperRefused
from analysis.gold.ranking import rank_systems
from analysis.gold.report import make_report
from analysis.gold.runs import build_gold
from analysis.metrics.computing import compute_metrics
from analysis.models import GoldRun, GoldScore, MetricScore
from da_platform.jobs.models import Job
from da_platform.jobs.running import run_job
from hits.campaigns.behaviours import Behaviour
from hits.campaigns.building import build_hits
from hits.campaigns.lifecycle import change_status
from hits.models import Campaign
from tests.analysis.export_rows import read_back
from tests.api.callers import caller
from tests.documents.campaigns import document_campaign
from tests.factories import make_campaign, make_translations, make_worker
from tests.people import client_of
from tests.scored_hits import reader, weighed_hit
from tests.simulated_crowds import collect

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module", autouse=True)
def shared_campaign(shared_rows):
    """Eighty of 120 translations are rated, and a metric is known for all."""
    campaign = make_campaign(sample_size=80, hit_size=100, min_ratings=2, seed=3)
    make_translations(campaign, n_segments=60)
    build_hits(campaign=campaign)
    change_status(campaign=campaign, to=Campaign.Status.OPEN)
    for seed in (1, 2, 3):
        weighed_hit(campaign, make_worker(), reader(seed))
    compute_metrics(campaign=campaign, names=["chrF"], levels=["segment"])
    return campaign


@pytest.fixture
def campaign(shared_campaign) -> Campaign:
    return Campaign.objects.get(pk=shared_campaign.pk)


def helped_run(campaign: Campaign) -> GoldRun:
    return build_gold(campaign=campaign, minimum=1, helper="chrF")


def test_systems_are_scored_on_all_segments_and_segments_as_before(campaign):
    plain, run = build_gold(campaign=campaign, minimum=1), helped_run(campaign)
    assert run.helper_metric == "chrF" and plain.helper is None
    assert run.helper["n_rated"] == 80 < run.helper["n_outputs"] == 120
    assert run.input_digest == plain.input_digest
    rows, before = rank_systems(run).rows, {row["system"]: row for row in rank_systems(plain).rows}
    for row in rows:
        assert row["z_rated"] == pytest.approx(before[row["system"]]["z"])
        assert row["z"] != pytest.approx(row["z_rated"])
        assert row["low"] < row["z"] < row["high"]
        assert before[row["system"]]["z_rated"] is None
        assert row["raw"] == pytest.approx(before[row["system"]]["raw"])
    scores = [
        list(GoldScore.objects.filter(run=each).order_by("translation").values_list("z", "n"))
        for each in (plain, run)
    ]
    assert scores[0] == scores[1]


def test_the_signature_names_the_metric(campaign):
    run = helped_run(campaign)
    metric = campaign.metrics.get()
    assert f"helper:chrF,sha256={metric.sha256[:8]},folds=5|outputs:80,120" in run.signature
    assert "sys:control-variate" in rank_systems(run).signature
    assert "helper" not in build_gold(campaign=campaign, minimum=1).signature


def test_the_same_ratings_and_metric_give_the_same_scores(campaign):
    first, second = helped_run(campaign), helped_run(campaign)
    assert first.system_covariance == second.system_covariance
    assert first.helper == second.helper


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"helper": "COMET"}, "has no metric 'COMET' with scores of segments. There are: chrF."),
        ({"helper": "chrF", "method": "weighted"}, "Weighted gold cannot have a helper metric"),
        ({"helper": "chrF", "test": "published"}, "the other tests ignore the metric"),
    ],
)
def test_what_cannot_help_is_refused(campaign, options, words):
    with pytest.raises(HelperRefused, match="(?s)" + words.replace(".", r"\.")):
        build_gold(campaign=campaign, minimum=1, **options)
    assert not GoldRun.objects.exists()


def test_a_metric_with_gaps_is_refused(campaign):
    MetricScore.objects.filter(segment="segment-7").delete()
    with pytest.raises(HelperRefused, match=r"no score for 2 of 120 outputs, such as .*segment-7"):
        helped_run(campaign)


def test_without_scores_there_is_nothing_to_help(campaign):
    run = build_gold(campaign=campaign, minimum=50, helper="chrF")
    assert run.helper is None and run.n_scored == 0


def test_the_commands_say_what_it_was_worth(campaign, capsys):
    call_command("build_gold", campaign.name, "--minimum", "1", "--helper", "chrF")
    sentence = "System scores are for all 120 outputs, of which 80 have a score"
    assert sentence in capsys.readouterr().out
    call_command("rank_systems", campaign.name)
    assert sentence in capsys.readouterr().out
    call_command("rank_systems", campaign.name, "--json")
    facts = json.loads(capsys.readouterr().out)
    assert all(row["z_rated"] != row["z"] for row in facts["systems"])
    with pytest.raises(CommandError, match="no metric 'BLEU'"):
        call_command("build_gold", campaign.name, "--helper", "BLEU", stdout=io.StringIO())


def test_the_api_takes_a_helper_and_shows_it(campaign):
    api, path = caller("admin"), f"/campaigns/{campaign.code}/gold"
    assert api.post(path, {"helper": "BLEU"}).status_code == 409
    answer = api.post(path, {"helper": "chrF", "minimum": 1})
    job = run_job(Job.objects.get(code=answer.json()["code"]).pk)
    assert job.state == "done", job.error
    assert api.get(f"{path}/1").json()["helper"]["metric"] == "chrF"
    systems = api.get(f"{path}/1/ranking").json()["systems"]
    assert all(row["z_rated"] != row["z"] for row in systems)


def test_the_page_offers_shows_and_refuses_it(campaign):
    client = client_of("researcher")
    page = reverse("campaign_results", args=[campaign.code])
    build = reverse("build_gold", args=[campaign.code])
    fields = {"minimum": 1, "method": "per_worker", "test": "two_way", "helper": "chrF"}
    refused = client.post(build, fields | {"method": "weighted"}, follow=True)
    assert "Weighted gold cannot have a helper metric" in refused.content.decode()
    assert not Job.objects.exists()
    client.post(build, fields)
    job = run_job(Job.objects.get(kind="build_gold").pk)
    assert job.state == "done", job.error
    content = client.get(page).content.decode()
    assert "z of rated" in content and "corrected by chrF, which has scores for all" in content


def test_report_and_export_say_so(campaign, tmp_path):
    run = helped_run(campaign)
    assert "corrected by chrF, which has scores for all" in " ".join(make_report(run).methods)
    export(kind="systems", campaign=campaign, path=tmp_path / "s.jsonl", format="jsonl", run=run)
    for row in read_back(tmp_path / "s.jsonl"):
        assert row["z_rated"] != row["z"]


def test_systems_rated_in_documents_have_intervals_over_documents():
    campaign = document_campaign(n_segments=50, min_ratings=3, hit_size=100)
    collect(campaign, {Behaviour.HONEST: 6}, seed=2)
    compute_metrics(campaign=campaign, names=["chrF"], levels=["segment"])
    run = helped_run(campaign)
    assert run.system_covariance["unit"] == "documents"
    assert run.system_covariance["n_segments"] == 10
    ranking = rank_systems(run)
    assert ranking.interval_over == "documents and workers"
    assert ranking.ranked_by == "mean z over all segments, corrected by chrF"
