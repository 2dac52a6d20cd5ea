"""Submissions to WMT's quality estimation task through the page and the API, as they are."""

import csv
import json
import re
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.urls import reverse

from analysis.evaluation.stored_evaluations import evaluate_collection, result_of
from analysis.models import Metric, ScoreCollection
from da_platform.jobs.models import Job
from da_platform.jobs.running import run_job
from tests.api.callers import caller
from tests.factories import make_campaign, make_translations
from tests.people import client_of
from tests.subprocesses import CHECKOUT

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


def test_the_api_evaluates_collections_of_two_language_pairs_in_one_table():
    """Files of two pairs, as WMT publishes them: a table with a column for each pair, and the mean."""
    ada, codes, found = caller("researcher"), [], {}
    several = FIGURES + rows("Ensemble") + rows("Ensemble", "en-de", factor=-1)
    other = rows("Other", factor=-1) + rows("Other", "en-de", factor=2)
    for pair in ("en-cs", "en-de"):
        created = ada.post("/collections", {"name": f"WMT22 {pair}"})
        assert created.status_code == 201, created.content
        code = created.json()["code"]
        codes.append(code)
        address = f"/collections/{code}"
        files = [upload("team.txt", several), upload("other.txt", other)]
        sent = {"files": files, "language_pair": pair, "higher": ["Ensemble"]}
        answer = ada.upload(f"{address}/metrics", sent)
        assert answer.status_code == 201, answer.content
        (unconfirmed,) = [
            each for each in ada.get(address).json()["metrics"] if each["higher_is_better"] is None
        ]
        direction = f"{address}/metrics/{unconfirmed['code']}/direction"
        ada.post(direction, {"higher_is_better": True})
        gold = upload("test.da_score", "".join(f"{i * 7 % 5 + 0.1 * i}\n" for i in range(N)))
        sent = {"file": gold, "kind": "da", "higher_is_better": True}
        assert ada.upload(f"{address}/golds", sent).status_code == 201
        started = ada.post(f"{address}/evaluations", {"options": {"qe": True}})
        assert started.status_code == 202, started.content
        run_job(Job.objects.get(code=started.json()["code"]).pk)
        evaluations = f"{address}/evaluations"
        (listed,) = ada.get(evaluations).json()["items"]
        stored = ada.get(f"{evaluations}/{listed['number']}").json()
        found[pair] = {
            row["metric"]: row["pearson"]["estimate"]
            for row in stored["result"]["golds"][0]["segment"]
        }
        for name in stored["tables"]:
            table = ada.get(f"{evaluations}/{listed['number']}/tables/{name}", format="tex")
            assert table.status_code == 200, name
        picture = f"{evaluations}/{listed['number']}/pictures/{stored['pictures'][0]}"
        assert ada.get(picture, format="csv").status_code == 200
        assert ada.get(f"{evaluations}/{listed['number']}/tables/x").status_code == 404
    table = ada.get(f"/collections/{codes[0]}/evaluation-table", others=codes[1])
    lines = list(csv.DictReader(table.content.decode().splitlines()))
    assert [*lines[0]] == ["metric", "en-cs", "en-de", "mean"]
    for line in lines:
        values = [found[pair][line["metric"]] for pair in ("en-cs", "en-de")]
        assert [float(line["en-cs"]), float(line["en-de"])] == pytest.approx(values)
        assert float(line["mean"]) == pytest.approx(sum(values) / 2, abs=1e-12)
    names = [each["name"] for each in ada.get("/collections").json()["items"]]
    assert names == ["WMT22 en-de", "WMT22 en-cs"]


def test_collections_of_others_do_not_exist_in_the_api():
    code = caller("researcher").post("/collections", {"name": "Mine"}).json()["code"]
    member = caller("researcher", make_campaign())
    assert member.get(f"/collections/{code}").status_code == 404
    assert member.post(f"/collections/{code}/evaluations", {}).status_code == 404
    assert member.get("/collections").json()["items"] == []
    assert caller("outsider").post("/collections", {"name": "Mine"}).status_code == 403
    ada = caller("researcher")
    assert ada.post("/collections", {"name": " "}).status_code == 422
    address = f"/collections/{code}"
    bad = {"files": [upload("a.txt", "en-cs\tx\tnot\n")]}
    refused = ada.upload(f"{address}/metrics", bad)
    assert refused.status_code == 422 and refused.json()["problems"]
    assert ada.get(f"{address}/evaluation-table").status_code == 404
    empty = ada.post(f"{address}/evaluations", {})
    job = Job.objects.get(code=empty.json()["code"])
    run_job(job.pk)
    job.refresh_from_db()
    assert job.state == Job.State.FAILED and "no metric scores yet" in job.error


def test_one_command_evaluates_every_language_pair_of_its_files(tmp_path, capsys):
    files = {
        "team.txt": FIGURES + rows("Ensemble") + rows("Ensemble", "en-de", factor=-1),
        "one.txt": rows("Other", factor=2),
        "test.en-cs.da": "".join(f"{i * 7 % 5 + 0.1 * i}\n" for i in range(N)),
        "test.en-de.da": "".join(f"{i * 7 % 5 - 0.1 * i}\n" for i in range(N)),
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    scores = [str(tmp_path / name) for name in ("team.txt", "one.txt")]
    golds = [f"da={tmp_path / name}" for name in ("test.en-cs.da", "test.en-de.da")]
    how = ("--qe", "--all-higher", "--resamples", "10", "--by-pair")
    out = tmp_path / "report"
    call_command(
        "evaluate", *scores, "--gold", golds[0], "--gold", golds[1], *how, "--out", str(out)
    )
    assert "The means over 2 language pairs" in capsys.readouterr().out
    results = {
        pair: json.loads((out / pair / "result.json").read_text()) for pair in ("en-cs", "en-de")
    }
    r = {
        (pair, row["metric"]): row["pearson"]["estimate"]
        for pair, result in results.items()
        for row in result["golds"][0]["segment"]
    }
    assert r.keys() == {("en-cs", "Ensemble"), ("en-cs", "Other"), ("en-de", "Ensemble")}
    table = (out / "metrics-by-evaluation-pearson.csv").read_text().splitlines()
    lines = {row["metric"]: row for row in csv.DictReader(table)}
    mean = (r["en-cs", "Ensemble"] + r["en-de", "Ensemble"]) / 2
    assert float(lines["Ensemble"]["mean"]) == pytest.approx(mean)
    assert lines["Other"]["en-de"] == lines["Other"]["mean"] == ""
    assert (out / "metrics-by-evaluation-mae.tex").is_file()
    with pytest.raises(CommandError, match="no gold whose file is named after en-de"):
        call_command("evaluate", *scores, "--gold", golds[0], *how, "--out", str(tmp_path / "b"))
    with pytest.raises(CommandError, match="test.en-cs.da: has no column for the language pair"):
        wrong = [str(tmp_path / "test.en-cs.da")]
        call_command("evaluate", *wrong, "--gold", golds[0], *how, "--out", str(tmp_path / "c"))
    with pytest.raises(CommandError, match="takes files of all"):
        pair = ("--language-pair", "en-cs", "--out", str(tmp_path / "d"))
        call_command("evaluate", *scores, "--gold", golds[0], *how, *pair)


def test_the_documented_example_writes_what_the_documentation_says(tmp_path):
    page = (Path(CHECKOUT) / "docs" / "evaluation.md").read_text()
    shown = page.split("## One table over language pairs")[1].split("\n## ")[0]
    for name, text in re.findall(r"^\$ cat (\S+)\n(.*?)(?=^\$ cat|^```)", shown, re.M | re.S):
        (tmp_path / name).write_text(text)
    command = re.search(r"^manage.py (evaluate team.txt .*)$", shown, re.M)[1]
    for name in ("team.txt", "test.en-cs.da", "test.en-de.da", "report/"):
        command = command.replace(name, str(tmp_path / name))
    call_command(*command.split())
    table = (tmp_path / "report" / "metrics-by-evaluation-spearman.md").read_text()
    assert "\n".join(line for line in table.splitlines() if line.startswith("|")) in shown
