"""Scores of documents: page, export and API, against means by hand."""

import csv
import math

import pytest
from django.core.management import call_command
from django.urls import reverse
from numpy.testing import assert_allclose

from analysis.exporting import ExportRefused, export
from analysis.gold.documents import document_rows
from analysis.models import GoldScore
from analysis.scores.gold_tables import campaign_gold
from hits.models import Campaign
from tests.api.callers import caller
from tests.evaluations import make_gold_run
from tests.factories import make_campaign, make_translations
from tests.people import client_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign() -> Campaign:
    """Two systems, two documents of three segments and a segment without one; a score is incomplete, another missing."""
    campaign = make_campaign(name="News")
    make_translations(campaign, n_segments=7)
    for segment in campaign.segments.all():
        segment.document = ("", "weather", "sports")[math.ceil((segment.position - 1) / 3)]
        segment.save(update_fields=["document"])
    run = make_gold_run(campaign)
    of_first = run.scores.filter(translation__outputs__system__name="system-a")
    of_first.update(z_se=0.3, raw_se=6)
    by_segment = {score.translation.segment.position: score for score in of_first}
    incomplete = {"raw": None, "z": None, "raw_se": None, "z_se": None, "is_complete": False}
    GoldScore.objects.filter(run=run, translation=by_segment[2].translation_id).update(**incomplete)
    GoldScore.objects.filter(run=run, translation=by_segment[7].translation_id).delete()
    return campaign


def expected_z(campaign: Campaign) -> dict[tuple[str, str], list[float]]:
    gold = campaign_gold(campaign.gold_runs.get())
    scores: dict[tuple[str, str], list[float]] = {}
    for (system, _), document, z in zip(gold.keys, gold.documents or (), gold.scores, strict=True):
        if document and not math.isnan(z):
            scores.setdefault((system, document), []).append(z)
    return scores


def test_a_document_has_the_mean_of_its_complete_segments(campaign):
    rows = {
        (row["system_name"], row["document"]): row
        for row in document_rows(campaign.gold_runs.get())
    }
    assert list(rows) == [(s, d) for d in ("weather", "sports") for s in ("system-a", "system-b")]
    for key, scores in expected_z(campaign).items():
        assert_allclose(rows[key]["z"], sum(scores) / len(scores))
        assert rows[key]["n_segments"] == len(scores)
        assert rows[key]["is_complete"] == (len(scores) == 3)
    weather, sports = rows["system-a", "weather"], rows["system-a", "sports"]
    # One is incomplete, and one has no score at all.
    assert (weather["n_incomplete"], sports["n_incomplete"]) == (1, 1)
    assert (weather["n_ratings"], sports["n_ratings"]) == (9, 6)
    assert_allclose(weather["z_se"], math.sqrt(2 * 0.3**2) / 2)
    assert_allclose(weather["raw_se"], math.sqrt(2 * 6**2) / 2)
    # Not all segments of the other system have one.
    assert rows["system-b", "weather"]["z_se"] is None


def test_a_document_without_any_complete_segment_has_no_score(campaign):
    run = campaign.gold_runs.get()
    run.scores.filter(translation__segment__document="sports").delete()
    row = document_rows(run, search="sport", system="system-b").get()
    assert (row["z"], row["raw"], row["z_se"], row["n_segments"]) == (None, None, None, 0)
    assert (row["n_incomplete"], row["n_ratings"], row["is_complete"]) == (3, 0, False)


def test_only_scores_of_the_run_count(campaign):
    run = campaign.gold_runs.get()
    before = list(document_rows(run))
    make_gold_run(campaign, seed=5)
    assert list(document_rows(run)) == before


def test_rows_are_sorted_and_filtered(campaign):
    run = campaign.gold_runs.get()
    z = [row["z"] for row in document_rows(run, sort="-z")]
    assert z == sorted(z, reverse=True)
    assert {row["system_name"] for row in document_rows(run, system="system-b")} == {"system-b"}
    assert document_rows(run, search="none of these").count() == 0
    assert len(document_rows(run, sort="'; DROP")) == 4


def test_the_page_the_export_and_the_api_agree(campaign, tmp_path):
    rows = list(document_rows(campaign.gold_runs.get(), sort="system"))
    client = client_of("researcher", campaign)
    results = client.get(reverse("campaign_results", args=[campaign.code])).content.decode()
    address = reverse("campaign_documents", args=[campaign.code])
    assert address in results and "Document scores" in results
    page = client.get(address, {"sort": "system"})
    assert list(page.context["page"].object_list) == rows
    assert "(1 incomplete)" in page.content.decode()
    call_command("export", "documents", "News", str(tmp_path / "documents.csv"))
    with (tmp_path / "documents.csv").open(newline="") as file:
        exported = list(csv.DictReader(file))
    assert [(row["system"], row["document"]) for row in exported] == [
        (row["system_name"], row["document"]) for row in rows
    ]
    assert [float(row["z"]) for row in exported] == [row["z"] for row in rows]
    assert exported[0]["is_complete"] == "false" and exported[0]["campaign"] == "News"
    listed = caller("researcher", campaign).get(f"/campaigns/{campaign.code}/gold/1/documents")
    by_key = {(row["system"], row["document"]): row["z"] for row in listed.json()["items"]}
    assert by_key == {(row["system_name"], row["document"]): row["z"] for row in rows}
    download = reverse("result_export", args=[campaign.code, "documents", "csv"])
    answer = client.get(download, {"run": 1})
    assert b"".join(answer.streaming_content) == (tmp_path / "documents.csv").read_bytes()


def test_the_sidecar_says_how_documents_were_scored(campaign, tmp_path):
    summary = export(kind="documents", campaign=campaign, path=tmp_path, format="jsonl")
    assert "|doc:mean-of-segments|" in summary.meta["signature"]
    assert summary.meta["gold_run"]["number"] == 1 and summary.n_rows == 4
    with pytest.raises(ExportRefused, match="mtme is for segments and systems, not for documents"):
        export(kind="documents", campaign=campaign, path=tmp_path, format="mtme")


def test_without_documents_there_is_nothing_to_open(campaign):
    campaign.segments.update(document="")
    client = client_of("researcher", campaign)
    results = client.get(reverse("campaign_results", args=[campaign.code])).content.decode()
    assert "Document scores" not in results
    page = client.get(reverse("campaign_documents", args=[campaign.code])).content.decode()
    assert "This campaign has no documents." in page
    assert (
        client.get(f"{reverse('campaign_documents', args=[campaign.code])}?run=7").status_code
        == 404
    )
