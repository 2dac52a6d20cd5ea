"""Submissions to WMT's quality estimation task through the page and the API, as they are."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from analysis.evaluation.stored_evaluations import evaluate_collection, result_of
from analysis.models import Metric, ScoreCollection
from tests.api.callers import caller
from tests.factories import make_campaign, make_translations
from tests.people import client_of

pytestmark = pytest.mark.django_db

N = 12
FIGURES = "2048\n583891109\n6\n"


def rows(method: str, pair: str = "en-cs", *, factor: float = 1.0) -> str:
    return "".join(f"{pair}\t{method}\t{i}\t{factor * (i * 7 % 5)}\n" for i in range(N))


def upload(name: str, text: str) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, text.encode())


def test_the_page_takes_submissions_and_gold_as_they_are():
    client = client_of("researcher")
    client.post(reverse("new_collection"), {"name": "WMT22"})
    collection = ScoreCollection.objects.get()
    several = FIGURES + rows("Ensemble") + rows("Ensemble", "en-de", factor=2)
    files = [upload("team.txt", several), upload("other.txt", rows("Other", factor=-1))]
    address = reverse("collection_scores", args=[collection.code])
    refused = client.post(address, {"uploads": files})
    assert refused.status_code == 422
    assert "has several language pairs; choose one: en-cs, en-de" in refused.content.decode()
    files = [upload("team.txt", several), upload("other.txt", rows("Other", factor=-1))]
    client.post(address, {"uploads": files, "language_pair": "en-cs"})
    metrics = {metric.name: metric for metric in Metric.objects.all()}
    assert metrics.keys() == {"Ensemble", "Other"}
    # The size of the ensemble stays with its scores.
    assert "|bytes:2048|parameters:583891109|models:6|" in metrics["Ensemble"].signature
    Metric.objects.update(higher_is_better=True, direction_confirmed_at=collection.created_at)
    gold = upload("test.da_score", "".join(f"{i * 7 % 5 + 0.1 * i}\n" for i in range(N)))
    client.post(
        reverse("collection_gold", args=[collection.code]),
        {"gold-uploads": gold, "gold-kind": "da", "gold-direction": "higher"},
    )
    evaluation = evaluate_collection(collection=collection)
    page = client.get(reverse("evaluation", args=[evaluation.code])).content.decode()
    assert "Models behind the scores" in page and "583,891,109" in page
    assert "583,891,109 parameters" in page and "parameters:583891109" not in page
    table = reverse("evaluation_table", args=[evaluation.code, "models", "csv"])
    assert client.get(table).content.splitlines()[1] == b"Ensemble,583891109,6,2048"
    result = result_of(evaluation)
    r = {row.metric: row.pearson.estimate for row in result.golds[0].segment}
    assert r["Ensemble"] == pytest.approx(-r["Other"]) and r["Ensemble"] > 0.8


def test_the_api_takes_a_submission_for_the_outputs_of_a_system():
    campaign = make_campaign()
    make_translations(campaign, n_segments=N, n_systems=1)
    for segment in campaign.segments.all():
        segment.name = str(segment.position - 1)
        segment.save(update_fields=["name"])
    ada, address = caller("researcher", campaign), f"/campaigns/{campaign.code}/metrics"
    sent = {"file": upload("team.txt", FIGURES + rows("Ensemble")), "higher": ["Ensemble"]}
    answer = ada.upload(address, sent | {"system": "system-a"})
    assert answer.status_code == 201, answer.content
    (metric,) = answer.json()
    assert (metric["name"], metric["n_scores"]) == ("Ensemble", N)
    broken = FIGURES + rows("Broken") + "en-cs\tBroken\tNaN\n"
    refused = ada.upload(address, {"file": upload("b.txt", broken), "system": "system-a"})
    assert refused.status_code == 422
    assert refused.json()["problems"][0]["reason"] == "has 3 cells, not 4"
    assert refused.json()["problems"][0]["line"] == N + 4
