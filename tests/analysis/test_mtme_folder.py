"""A campaign with its gold as a folder of mt-metrics-eval, read back by `evaluate --folder` and as a campaign."""

import zipfile
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from analysis.exporting import export
from analysis.models import GoldRun
from analysis.scores.mt_metrics_eval import read_human_scores
from hits.campaigns.importing import import_campaign
from hits.models import Campaign, Segment
from tests.analysis.export_rows import gold_by_name, make_gold
from tests.api.callers import caller

pytestmark = pytest.mark.django_db


@pytest.fixture
def run() -> GoldRun:
    run = make_gold(name="News")
    for segment in Segment.objects.all():
        segment.document = f"doc {(segment.position - 1) // 5}"
        segment.save(update_fields=["document"])
    return run


def add_metrics(folder: Path) -> None:
    """Upload a metric for which lower is better, by system and segment."""
    rows, rng = ["system\tsegment\tTER:lower"], np.random.default_rng(1)
    for segment in Segment.objects.order_by("position"):
        rows += [
            f"{system}\t{segment.name}\t{rng.normal():.6f}" for system in ("system-a", "system-b")
        ]
    (folder / "TER.tsv").write_text("\n".join(rows) + "\n")
    call_command("add_scores", "News", str(folder / "TER.tsv"), stdout=StringIO())


def unpacked(folder: Path, campaign: Campaign) -> Path:
    archive = folder / "news.zip"
    export(kind="segments", campaign=campaign, path=archive, format="mtme-folder")
    root = folder / "wmt"
    with zipfile.ZipFile(archive) as file:
        file.extractall(root)
    return root


def test_the_folder_holds_texts_documents_and_scores(run: GoldRun, tmp_path: Path):
    root = unpacked(tmp_path, run.campaign)
    names = sorted(path.relative_to(root).as_posix() for path in root.rglob("*.*"))
    assert names == [
        "documents/de-en.docs",
        "human-scores/de-en.da-raw.seg.score",
        "human-scores/de-en.da-raw.sys.score",
        "human-scores/de-en.da.seg.score",
        "human-scores/de-en.da.sys.score",
        "references/de-en.refA.txt",
        "sources/de-en.txt",
        "system-outputs/de-en/system-a.txt",
        "system-outputs/de-en/system-b.txt",
    ]
    lines = (root / "documents" / "de-en.docs").read_text().splitlines()
    assert len(lines) == 14 and lines[5] == "all\tdoc%201"


def test_gold_is_read_back_with_its_documents(run: GoldRun, tmp_path: Path):
    root = unpacked(tmp_path, run.campaign)
    gold = read_human_scores(
        root, language_pair="de-en", name="da", kind="da", higher_is_better=True
    )
    expected = gold_by_name(run)
    for (system, place), score in zip(gold.keys, gold.scores, strict=True):
        kept = expected.get((system, f"segment-{place}"))
        assert score == pytest.approx(kept.z) if kept and kept.is_complete else np.isnan(score)
    assert gold.documents is not None and set(gold.documents) == {
        "doc%200",
        "doc%201",
        "doc%202",
    }


def test_evaluate_reads_the_folder(run: GoldRun, tmp_path: Path):
    add_metrics(tmp_path)
    root = unpacked(tmp_path, run.campaign)
    scores = (root / "metric-scores" / "de-en" / "TER.seg.score").read_text().splitlines()
    original = (tmp_path / "TER.tsv").read_text().splitlines()[1].split("\t")
    assert scores[0].split("\t") == ["system-a", str(-float(original[2]))]
    out = StringIO()
    call_command(
        "evaluate",
        *("--folder", str(root), "--pair", "de-en", "--gold", "da"),
        *("--out", str(tmp_path / "report"), "--resamples", "20"),
        stdout=out,
    )
    assert "TER" in out.getvalue()


def test_the_folder_is_a_campaign_again(run: GoldRun, tmp_path: Path):
    root = unpacked(tmp_path, run.campaign)
    copy = import_campaign(path=root, name="Copy", source_language="de", target_language="en")
    before = Segment.objects.filter(campaign=run.campaign).values_list("source", "reference")
    after = copy.campaign.segments.order_by("position").values_list("source", "reference")
    assert list(after) == list(before.order_by("position"))
    assert copy.n_outputs == 28


def test_it_is_for_segments_and_a_file_only(run: GoldRun, tmp_path: Path):
    arguments = ["News", "-", "--format", "mtme-folder"]
    with pytest.raises(CommandError, match="is for segments, not for ratings"):
        call_command("export", "ratings", *arguments)
    with pytest.raises(CommandError, match="is binary"):
        call_command("export", "segments", *arguments)


def test_the_api_offers_it(run: GoldRun):
    path = f"/campaigns/{run.campaign.code}/exports/segments?format=mtme-folder"
    answer = caller("admin").get(path)
    assert answer.status_code == 200 and answer["Content-Type"] == "application/zip"
    assert b"".join(answer.streaming_content).startswith(b"PK")
