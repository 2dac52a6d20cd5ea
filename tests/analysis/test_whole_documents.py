"""Scores of whole documents by workers as gold of documents, and documents in the report of a campaign."""

import numpy as np
import pytest
from django.urls import reverse

from analysis.evaluation.results import Options
from analysis.evaluation.stored_evaluations import (
    EvaluationRefused,
    GoldChoice,
    evaluate_again,
    evaluate_campaign,
    result_of,
)
from analysis.gold.document_tables import document_table
from analysis.gold.documents import document_rows
from analysis.gold.report import _as_json, make_report, report_as_pdf
from analysis.gold.runs import build_gold
from analysis.models import Metric
from analysis.scores.score_tables import ScoreTable
from analysis.scores.storing import ScoreSource, campaign_keys, store_scores
from da_platform.jobs.models import Job
from da_platform.jobs.running import run_job
from hits.campaigns.behaviours import Behaviour
from hits.models import DocumentRating, Rating
from tests.api.callers import caller
from tests.documents.campaigns import document_campaign
from tests.people import client_of
from tests.simulated_crowds import collect

pytestmark = pytest.mark.django_db

BY_DOCUMENT = Options(level="document", n_resamples=20)


@pytest.fixture
def campaign():
    campaign = document_campaign(min_ratings=3, hit_size=100, n_segments=50, scores_documents=True)
    collect(campaign, {Behaviour.HONEST: 6}, seed=2)
    return campaign


@pytest.fixture
def run(campaign):
    return build_gold(campaign=campaign, minimum=1)


def give_scores(campaign) -> Metric:
    """Store scores of all segments, that grow with their place."""
    keys = tuple(campaign_keys(campaign, "segment"))
    scores = np.arange(len(keys), dtype=float)
    table = ScoreTable("length", "segment", keys, scores, higher_is_better=True)
    return store_scores(table=table, home=campaign, source=ScoreSource())


def test_metrics_of_segments_are_evaluated_against_scores_of_whole_documents(campaign, run):
    give_scores(campaign)
    whole = [GoldChoice(run.number, use="whole")]
    evaluation = evaluate_campaign(campaign=campaign, golds=whole, options=BY_DOCUMENT)
    (gold,) = result_of(evaluation).golds
    z = {}
    for rating in DocumentRating.objects.filter(item__role=0):
        own = Rating.objects.filter(assignment__worker=rating.assignment.worker)
        scores = np.array(own.values_list("score", flat=True), dtype=float)
        translation = rating.item.translation
        for output in translation.outputs.all():
            key = output.system.name, translation.segment.document
            z.setdefault(key, []).append((rating.score - scores.mean()) / scores.std(ddof=1))
    assert gold.gold.n == len(z) >= 15
    metric = Metric.objects.get()
    documents = dict(campaign.segments.values_list("name", "document"))
    means = {}
    for system, segment, score in metric.scores.values_list("system", "segment", "score"):
        means.setdefault((system, documents[segment]), []).append(score)
    pairs = [(np.mean(means[key]), np.mean(values)) for key, values in z.items()]
    expected = np.corrcoef(*np.transpose(pairs))[0, 1]
    assert gold.segment[0].pearson.estimate == pytest.approx(expected)
    assert gold.gold.name == f"gold {run.number}, whole documents"
    # The same from the stored inputs, and refused once a score has been added.
    assert evaluate_again(evaluation).result == result_of(evaluation)
    DocumentRating.objects.filter(item__role=0).first().delete()
    with pytest.raises(EvaluationRefused, match="have been replaced"):
        evaluate_again(evaluation)


def test_whole_documents_need_documents_and_scores(campaign, run):
    give_scores(campaign)
    whole = GoldChoice(run.number, use="whole")
    with pytest.raises(EvaluationRefused, match="need the level document"):
        evaluate_campaign(campaign=campaign, golds=[whole])
    held_out = GoldChoice(run.number, use="whole", human=True)
    with pytest.raises(EvaluationRefused, match="z and raw scores only"):
        evaluate_campaign(campaign=campaign, golds=[held_out], options=BY_DOCUMENT)
    DocumentRating.objects.all().delete()
    with pytest.raises(EvaluationRefused, match="no trusted scores of whole documents"):
        evaluate_campaign(campaign=campaign, golds=[whole], options=BY_DOCUMENT)


def test_page_and_api_offer_whole_documents_as_gold(campaign, run):
    give_scores(campaign)
    client = client_of("researcher")
    address = reverse("campaign_evaluate", args=[campaign.code])
    assert f'value="whole-{run.number}"' in client.get(address).content.decode()
    body = {"golds": [{"run": run.number, "use": "whole"}], "options": {"level": "document"}}
    started = caller("researcher").post(f"/campaigns/{campaign.code}/evaluations", body)
    assert started.status_code == 202, started.content
    job = Job.objects.get(code=started.json()["code"])
    run_job(job.pk)
    job.refresh_from_db()
    assert job.state == Job.State.DONE, job.error


def test_the_report_shows_the_scores_of_documents(campaign, run):
    table = document_table(run)
    rows = {(row["document"], row["system_name"]): row["z"] for row in document_rows(run)}
    assert [column.title for column in table.columns] == ["document", "system-a", "system-b"]
    assert len(table.rows) == 10
    for document, *cells in table.rows:
        for system, cell in zip(("system-a", "system-b"), cells, strict=True):
            assert cell.value == rows[document.text, system]
    page = client_of("researcher").get(reverse("campaign_report", args=[campaign.code]))
    assert "<h2>Documents</h2>" in page.content.decode()
    assert "article-9" in page.content.decode()
    report = make_report(run)
    (typeset,) = _as_json(report)["documents"]
    assert len(typeset["rows"]) == 10 and report_as_pdf(report)[:4] == b"%PDF"
    campaign.segments.update(document="")
    assert document_table(run) is None
