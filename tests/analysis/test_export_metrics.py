"""The scores of all metrics as one table: by command, page and API, and read again by `evaluate`."""

import csv
import io
import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from analysis.exporting import ExportRefused, export
from analysis.metrics.computing import compute_metrics
from analysis.models import MetricScore
from analysis.scores.reading import read_scores
from hits.models import Campaign
from tests.api.callers import caller
from tests.factories import make_campaign, make_translations
from tests.people import client_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign() -> Campaign:
    campaign = make_campaign(name="News")
    make_translations(campaign, n_segments=3)
    compute_metrics(campaign=campaign, names=["BLEU", "WER"])
    return campaign


def test_the_command_writes_every_metric_with_its_direction(campaign, tmp_path):
    path = tmp_path / "scores.tsv"
    call_command("export", "metrics", "News", str(path), verbosity=0)
    header, *rows = path.read_text().splitlines()
    assert header.split("\t") == ["system", "segment", "BLEU:higher", "WER:lower"]
    assert len(rows) == 6
    system, segment, bleu, _ = rows[0].split("\t")
    stored = MetricScore.objects.get(
        metric__name="BLEU", metric__level="segment", system=system, segment=segment
    )
    assert float(bleu) == stored.score
    [first, *_] = json.loads((tmp_path / "scores.tsv.meta.json").read_text())["metrics"]
    assert first["origin"] == "computed" and "BLEU|" in first["signature"]


def test_what_was_written_can_be_read_as_scores(campaign, tmp_path):
    path = tmp_path / "scores.tsv"
    call_command("export", "metrics", "News", str(path), verbosity=0)
    tables = {table.name: table for table in read_scores(path).tables}
    assert {name: table.higher_is_better for name, table in tables.items()} == {
        "BLEU": True,
        "WER": False,
    }
    assert len(tables["WER"].keys) == 6


def test_page_and_api_write_the_same(campaign):
    page = client_of("researcher").get(
        reverse("result_export", args=[campaign.code, "system-metrics", "csv"])
    )
    api = caller("researcher", campaign).get(f"/campaigns/{campaign.code}/exports/system-metrics")
    content = b"".join(page.streaming_content)
    assert content == b"".join(api.streaming_content)
    rows = list(csv.DictReader(io.StringIO(content.decode())))
    assert [row["system"] for row in rows] == ["system-a", "system-b"]
    assert set(rows[0]) == {"system", "BLEU:higher", "WER:lower"}
    metrics = client_of("researcher").get(reverse("campaign_metrics", args=[campaign.code]))
    assert "Metric scores of systems as CSV" in metrics.content.decode()


def test_without_metrics_there_is_nothing_to_export(tmp_path):
    with pytest.raises(ExportRefused, match="no segment scores of metrics yet"):
        export(kind="metrics", campaign=make_campaign(), path=tmp_path / "x.csv", format="csv")


# Gold -----------------------------------------------------------------------------------------


def gold_lines() -> str:
    rows = [f"system-{s}\tsegment-{i}\t{i / 10}" for i in (1, 2, 3) for s in "ab"]
    return "\n".join(["system\tsegment\tHTER", *rows]) + "\n"


def test_a_command_adds_gold(campaign, tmp_path, capsys):
    path = tmp_path / "hter.tsv"
    path.write_text(gold_lines())
    call_command("add_gold", "News", str(path), "--kind", "hter", "--better", "lower")
    assert capsys.readouterr().out == "hter: 6 segment scores stored.\n"
    gold = campaign.gold_uploads.get()
    assert (gold.kind, gold.higher_is_better, gold.uploaded_by) == ("hter", False, None)


def test_the_command_refuses_what_cannot_be_used(campaign, tmp_path):
    path = tmp_path / "hter.tsv"
    options = ["--kind", "hter", "--better", "lower"]
    with pytest.raises(CommandError, match="Cannot read .*hter.tsv"):
        call_command("add_gold", "News", str(path), *options)
    path.write_text(gold_lines().replace("segment-3", "segment-9"))
    with pytest.raises(CommandError, match="the campaign has no segment segment-9 by system-a"):
        call_command("add_gold", "News", str(path), *options)
    assert not campaign.gold_uploads.exists()


def test_the_api_adds_gold_and_evaluates_against_it(campaign, tmp_path):
    ada = caller("researcher", campaign)
    path = Path(tmp_path / "hter.tsv")
    path.write_text(gold_lines())
    with path.open("rb") as file:
        fields = {"file": file, "kind": "hter", "higher_is_better": "false"}
        answer = ada.upload(f"/campaigns/{campaign.code}/golds", fields)
    assert answer.status_code == 201, answer.content
    [gold] = answer.json()
    assert (gold["name"], gold["higher_is_better"], gold["n_scores"]) == ("hter", False, 6)
    assert ada.get(f"/campaigns/{campaign.code}/golds").json()["items"] == [gold]
    body = {"golds": [{"upload": gold["code"]}]}
    job = ada.post(f"/campaigns/{campaign.code}/evaluations", body)
    assert job.status_code == 202
    assert campaign.jobs.get().arguments["golds"] == [{"upload": gold["code"]}]


def test_gold_without_a_direction_is_refused(campaign, tmp_path):
    path = Path(tmp_path / "hter.tsv")
    path.write_text(gold_lines())
    with path.open("rb") as file:
        answer = caller("researcher", campaign).upload(
            f"/campaigns/{campaign.code}/golds", {"file": file, "kind": "hter"}
        )
    assert answer.status_code == 422 and not campaign.gold_uploads.exists()
