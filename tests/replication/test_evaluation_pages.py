"""Real files through the pages: uploaded, confirmed, evaluated; published tables come out."""

import csv
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

pytestmark = pytest.mark.django_db

# Published figures have three decimals.
PUBLISHED = 0.0005 + 1e-9


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
    """Choose all gold and metrics as the form offers them, run the job, and return what it stored."""
    address = reverse("collection_evaluate", args=[ScoreCollection.objects.get().code])
    form = client.get(address).context["form"]
    chosen = {name: form.fields[name].initial for name in ("golds", "metrics", "seed")}
    answer = client.post(address, chosen | options)
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


def published() -> dict[str, dict[str, float]]:
    path = replication_data("wmt14-qe", "tables-2-3-5-computed-vs-published.csv")
    with open(path, newline="") as file:
        return {
            row.pop("sys"): {name: float(value) for name, value in row.items() if value}
            for row in csv.DictReader(file)
        }


def test_wmt14_predictions_have_their_published_figures(qe_page) -> None:
    client, evaluation = qe_page
    gold = result_by_json(client, evaluation).golds[0]
    expected = published()
    assert {one.metric for one in gold.segment} == set(expected) and len(expected) == 11
    for one in gold.segment:
        assert_allclose(one.pearson.estimate, expected[one.metric]["r_pub"], rtol=0, atol=PUBLISHED)
    for prediction in gold.predictions:
        for measure, column in (
            ("mae", "mae_pub"),
            ("rmse", "rmse_pub"),
            ("rescaled_mae", "mae_rs_pub"),
            ("rescaled_rmse", "rmse_rs_pub"),
        ):
            found = getattr(prediction, measure).estimate
            assert_allclose(found, expected[prediction.metric][column], rtol=0, atol=PUBLISHED)
    assert_published_significance(gold)
    assert_page_and_downloads(client, evaluation, gold)


def assert_published_significance(gold: GoldEvaluation) -> None:
    text = replication_data("wmt14-qe", "task-1.2-pearson-sig.csv").read_text()
    names, *lines = [re.split(r"\s+", line.strip()) for line in text.splitlines() if line.strip()]
    assert gold.comparison is not None
    place = {metric: i for i, metric in enumerate(gold.comparison.metrics)}
    n_significant = 0
    for name, *cells in lines:
        for other, cell in zip(names, cells, strict=True):
            p = gold.comparison.pvalue[place[name]][place[other]]
            expected = cell != "-" and float(cell) < 0.05
            assert (p is not None and p < 0.05) == expected, (name, other)
            n_significant += expected
    assert n_significant > 20


def assert_page_and_downloads(client: Client, evaluation: Evaluation, gold: GoldEvaluation) -> None:
    """What the reader sees and takes away says the same."""
    text = client.get(reverse("evaluation", args=[evaluation.code])).content.decode()
    row = text[text.index("Predictions of task-1.2") :]
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


def test_wmt14_run_again_gives_the_same_numbers(qe_page) -> None:
    client, evaluation = qe_page
    client.post(reverse("check_evaluation", args=[evaluation.code]))
    job = run_job(Job.objects.latest("pk").pk)
    assert job is not None and job.result["is_same"] is True
    text = client.get(reverse("evaluation", args=[evaluation.code])).content.decode()
    assert "the numbers are identical, to the last bit" in text


# WMT23 English to German -------------------------------------------------------------------------


def expected_rows(gold: str) -> dict[str, dict[str, str]]:
    with open(replication_data("wmt23-mtme", "expected.csv"), newline="") as file:
        return {
            row["metric"]: row
            for row in csv.DictReader(file)
            if row["gold"] == gold and row["level"] == "seg"
        }


def test_wmt23_metrics_against_two_golds_are_as_in_mt_metrics_eval() -> None:
    folder = replication_data("wmt23-mtme", "wmt23")
    client = client_of("researcher")
    collection = new_collection(client)
    upload(
        client, "collection_scores", sorted((folder / "metric-scores" / "en-de").glob("*.score"))
    )
    for kind, name in (("mqm", "mqm"), ("da", "da-sqm")):
        paths = [
            folder / "human-scores" / f"en-de.{name}.{level}.score" for level in ("seg", "sys")
        ]
        said = {"gold-kind": kind, "gold-direction": "higher"}
        upload(client, "collection_gold", paths, **said)
    post(client, "collection_directions", collection, rest="higher")
    evaluation = evaluated(client, without="refA\nsynthetic_ref")
    result = result_by_json(client, evaluation)
    for name in ("mqm", "da-sqm"):
        rows = expected_rows(name)
        gold = next(one for one in result.golds if one.gold.name == f"en-de.{name}")
        assert {one.metric for one in gold.segment} == set(rows) and len(rows) == 43
        assert len(gold.system) == 45
        for one in gold.segment:
            row = rows[one.metric]
            assert one.acc_eq is not None
            for own, column in ((one.pearson, "pearson"), (one.acc_eq, "acc_eq_item")):
                assert_allclose(
                    own.estimate, float(row[column]), rtol=0, atol=1e-9, err_msg=one.metric
                )
    compared = {one.level: len(one.changes) for one in result.comparisons}
    assert compared == {"segment": 43, "system": 45}
    text = client.get(reverse("evaluation", args=[evaluation.code])).content.decode()
    assert "Segment-level correlations with en-de.mqm and with en-de.da-sqm" in text
