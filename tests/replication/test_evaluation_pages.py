"""Evaluating real files on the pages reproduces the published tables."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse
from numpy.testing import assert_allclose

from analysis.evaluation.results import EvaluationResult, GoldEvaluation
from analysis.models import Evaluation, ScoreCollection
from da_platform.jobs.models import Job
from da_platform.jobs.running import run_job
from tests.people import client_of
from tests.replication.locating import replication_data
from tests.replication.published_figures import (
    PREDICTION_COLUMNS,
    PUBLISHED,
    assert_published_significance,
    wmt14_figures,
    wmt23_rows,
)

pytestmark = pytest.mark.django_db


def post(client: Client, name: str, collection: ScoreCollection, **fields: object) -> None:
    answer = client.post(reverse(name, args=[collection.code]), fields)
    assert answer.status_code == 302, answer.content.decode()[:3000]


def new_collection(client: Client) -> ScoreCollection:
    client.post(reverse("new_collection"), {"name": "Real files"})
    return ScoreCollection.objects.get()


def upload(client: Client, name: str, paths: list[Path], **fields: object) -> None:
    files = [path.open("rb") for path in paths]
    key = "gold-uploads" if name == "collection_gold" else "uploads"
    try:
        post(client, name, ScoreCollection.objects.get(), **{key: files}, **fields)
    finally:
        for file in files:
            file.close()


def evaluated(client: Client, **options: object) -> Evaluation:
    """Submit the form with its initial choices, as published; run the job and return the evaluation."""
    address = reverse("collection_evaluate", args=[ScoreCollection.objects.get().code])
    form = client.get(address).context["form"]
    chosen = {name: form.fields[name].initial for name in ("golds", "metrics", "seed")}
    answer = client.post(address, chosen | {"uncertainty": "published"} | options)
    assert answer.status_code == 302, answer.context["form"].errors
    job = run_job(Job.objects.latest("pk").pk)
    assert job is not None and job.state == "done", job and job.error
    return Evaluation.objects.get(code=job.result["evaluation"])


def result_by_json(client: Client, evaluation: Evaluation) -> EvaluationResult:
    answer = client.get(reverse("evaluation_json", args=[evaluation.code]))
    return EvaluationResult.from_dict(answer.json())


# WMT14 quality estimation, task 1.2 --------------------------------------------------------------


@pytest.fixture
def qe_page() -> Iterator[tuple[Client, Evaluation]]:
    path = replication_data("wmt14-qe", "task-1.2.csv")
    client = client_of("researcher")
    collection = new_collection(client)
    upload(client, "collection_scores", [path])
    upload(client, "collection_gold", [path], **{"gold-kind": "hter", "gold-direction": "lower"})
    post(client, "collection_directions", collection, rest="lower")
    yield client, evaluated(client, qe="on")


def test_wmt14_predictions_have_their_published_figures(qe_page) -> None:
    client, evaluation = qe_page
    gold = result_by_json(client, evaluation).golds[0]
    expected = wmt14_figures()
    assert {row.metric for row in gold.segment} == set(expected) and len(expected) == 11
    for row in gold.segment:
        assert_allclose(row.pearson.estimate, expected[row.metric]["r_pub"], rtol=0, atol=PUBLISHED)
    for prediction in gold.predictions:
        for measure, column in PREDICTION_COLUMNS.items():
            estimate = getattr(prediction, measure).estimate
            assert_allclose(estimate, expected[prediction.metric][column], rtol=0, atol=PUBLISHED)
    assert_published_significance(gold)
    assert_page_and_downloads(client, evaluation, gold)


def assert_page_and_downloads(client: Client, evaluation: Evaluation, gold: GoldEvaluation) -> None:
    """Check that the page and its downloads show the published figures."""
    text = client.get(reverse("evaluation", args=[evaluation.code])).content.decode()
    row = text[text.index("<h3>Predictions of task-1.2") :]
    row = row[row.index("DCU-rtm-svr") :]
    assert re.findall(r"\.\d{3}", row)[:5] == [".550", ".134", ".167", ".127", ".165"]
    latex = client.get(
        reverse("evaluation_table", args=[evaluation.code, "prediction-task-1.2", "tex"])
    ).content.decode()
    line = next(line for line in latex.splitlines() if "DCU-rtm-svr" in line)
    assert re.findall(r"\.\d{3}", line)[:5] == [".550", ".134", ".167", ".127", ".165"]
    assert "Williams test" in latex
    for name in ("significance-task-1.2", "densities-task-1.2", "scatter-dcu-rtm-svr-task-1.2"):
        answer = client.get(reverse("evaluation_picture", args=[evaluation.code, name, "csv"]))
        assert answer.status_code == 200, name
        if name.startswith("scatter"):
            assert len(answer.content.splitlines()) == gold.gold.n + 1 == 209


def test_running_wmt14_again_gives_the_same_numbers(qe_page) -> None:
    client, evaluation = qe_page
    client.post(reverse("check_evaluation", args=[evaluation.code]))
    job = run_job(Job.objects.latest("pk").pk)
    assert job is not None and job.result["is_same"] is True
    text = client.get(reverse("evaluation", args=[evaluation.code])).content.decode()
    assert "the numbers are identical, to the last bit" in text


# WMT23 English to German -------------------------------------------------------------------------


# Some of the metrics: tests/replication/test_evaluate_command.py evaluates all of them.
N_METRICS = 12


def test_wmt23_metrics_match_mt_metrics_eval_for_two_golds() -> None:
    folder = replication_data("wmt23-mtme", "wmt23")
    client = client_of("researcher")
    collection = new_collection(client)
    with_segments, all_metrics = (set(wmt23_rows("mqm", level)) for level in ("seg", "sys"))
    chosen = sorted(with_segments)[:N_METRICS]
    without_segments = sorted(all_metrics - with_segments)
    scores = folder / "metric-scores" / "en-de"
    upload(
        client,
        "collection_scores",
        [scores / f"{metric}.seg.score" for metric in chosen]
        + [scores / f"{metric}.sys.score" for metric in chosen + without_segments],
    )
    for kind, name in (("mqm", "mqm"), ("da", "da-sqm")):
        paths = [
            folder / "human-scores" / f"en-de.{name}.{level}.score" for level in ("seg", "sys")
        ]
        fields = {"gold-kind": kind, "gold-direction": "higher"}
        upload(client, "collection_gold", paths, **fields)
    post(client, "collection_directions", collection, rest="higher")
    evaluation = evaluated(client, without="refA\nsynthetic_ref")
    result = result_by_json(client, evaluation)
    for name in ("mqm", "da-sqm"):
        expected = wmt23_rows(name, "seg")
        gold = next(gold for gold in result.golds if gold.gold.name == f"en-de.{name}")
        assert {row.metric for row in gold.segment} == set(chosen)
        assert {row.metric for row in gold.system} == {*chosen, *without_segments}
        for row in gold.segment:
            assert row.acc_eq is not None
            estimates = [row.pearson.estimate, row.acc_eq.estimate]
            figures = [float(expected[row.metric][name]) for name in ("pearson", "acc_eq_item")]
            assert_allclose(estimates, figures, rtol=0, atol=1e-9, err_msg=row.metric)
    compared = {comparison.level: len(comparison.changes) for comparison in result.comparisons}
    assert compared == {"segment": N_METRICS, "system": N_METRICS + 2}
    text = client.get(reverse("evaluation", args=[evaluation.code])).content.decode()
    assert "Segment-level correlations with en-de.mqm and with en-de.da-sqm" in text
