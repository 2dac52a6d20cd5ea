"""The examples are complete, aligned and reproducible."""

import csv
import subprocess
import sys
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hits.campaigns.importing import import_campaign

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
DEMO = EXAMPLES / "demo-de-en"
N_SEGMENTS = 84
SYSTEMS = ["alder", "birch", "cedar", "dogwood"]
METRICS = ["editcost", "quillscore", "wordmatch"]
TEXT_FILES = [
    "campaign/sources.txt",
    "campaign/references.txt",
    "campaign/documents.txt",
    "campaign/ids.txt",
    *(f"campaign/systems/{system}.txt" for system in SYSTEMS),
]


def lines_of(name: str) -> list[str]:
    return (DEMO / name).read_text(encoding="utf-8").removesuffix("\n").split("\n")


def rows_of(name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(lines_of(name), delimiter="\t"))


def all_pairs() -> list[tuple[str, str]]:
    return [(system, segment) for system in SYSTEMS for segment in lines_of("campaign/ids.txt")]


@pytest.mark.parametrize("name", TEXT_FILES)
def test_a_text_file_has_one_clean_line_per_segment(name: str) -> None:
    raw = (DEMO / name).read_bytes()
    assert raw.endswith(b"\n") and b"\r" not in raw and not raw.startswith(b"\xef\xbb\xbf")
    lines = lines_of(name)
    assert len(lines) == N_SEGMENTS
    assert all(line and line == " ".join(line.split()) for line in lines)


def test_the_systems_are_the_four_named_ones() -> None:
    assert sorted(path.stem for path in (DEMO / "campaign" / "systems").iterdir()) == SYSTEMS


def test_segment_ids_are_unique_and_count_up_within_their_document() -> None:
    ids, documents = lines_of("campaign/ids.txt"), lines_of("campaign/documents.txt")
    assert len(set(ids)) == N_SEGMENTS
    expected = [
        f"{document}-{place:02d}"
        for document, members in groupby(documents)
        for place, _ in enumerate(members, start=1)
    ]
    assert ids == expected


def test_the_translations_of_a_segment_all_differ() -> None:
    translations = zip(
        *(lines_of(f"campaign/systems/{system}.txt") for system in SYSTEMS), strict=True
    )
    assert all(len(set(texts)) == len(SYSTEMS) for texts in translations)


def test_segments_range_from_headlines_to_long_sentences() -> None:
    lengths = [len(source.split()) for source in lines_of("campaign/sources.txt")]
    assert (min(lengths), max(lengths)) == (3, 45)


def test_every_translation_has_one_judgement_from_0_to_100() -> None:
    rows = rows_of("judgements.tsv")
    assert [(row["system"], row["segment"]) for row in rows] == all_pairs()
    assert all(0 <= int(row["judgement"]) <= 100 for row in rows)


@pytest.mark.parametrize("metric", METRICS)
def test_a_metric_scores_exactly_the_translations_of_the_demo(metric: str) -> None:
    rows = rows_of(f"metrics/{metric}.tsv")
    assert list(rows[0]) == ["system", "segment", "score"]
    assert [(row["system"], row["segment"]) for row in rows] == all_pairs()


@pytest.mark.parametrize("metric", METRICS)
def test_every_metric_orders_the_systems_as_the_judgements_do(metric: str) -> None:
    scores: dict[str, float] = dict.fromkeys(SYSTEMS, 0.0)
    for row in rows_of(f"metrics/{metric}.tsv"):
        scores[row["system"]] += float(row["score"])
    assert sorted(SYSTEMS, key=scores.__getitem__, reverse=metric != "editcost") == SYSTEMS


def test_text_metrics_agree_with_a_count_by_hand() -> None:
    """“New bakery opens” against “New bakery opens its doors”: 3 shared words, 2 to delete."""
    first = {metric: rows_of(f"metrics/{metric}.tsv")[0]["score"] for metric in METRICS}
    assert first["wordmatch"] == f"{2 * 3 / (3 + 5):.4f}"
    assert first["editcost"] == f"{2 / 3:.4f}"


@pytest.mark.parametrize("metric", METRICS)
def test_the_readme_states_the_correlation_with_the_judgements(metric: str) -> None:
    judgements = [float(row["judgement"]) for row in rows_of("judgements.tsv")]
    scores = [float(row["score"]) for row in rows_of(f"metrics/{metric}.tsv")]
    r = np.corrcoef(judgements, scores)[0, 1]
    assert f"{r:.2f} for `{metric}`" in (EXAMPLES / "README.md").read_text(encoding="utf-8")


def test_the_script_writes_the_committed_metric_files(tmp_path: Path) -> None:
    subprocess.run([sys.executable, DEMO / "make_metrics.py", tmp_path], check=True)
    rewritten = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    committed = {path.name: path.read_bytes() for path in (DEMO / "metrics").iterdir()}
    assert rewritten == committed
    assert sorted(rewritten) == [f"{metric}.tsv" for metric in METRICS]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("path", "presentation", "n_segments", "documents"),
    [
        ("media", "document", 3, {"station"}),
        ("media", "side", 3, {"station"}),
        ("wmt/test-set.jsonl", "document", 4, {"de-en_#_news_#_bakery", "de-en_#_social_#_rain"}),
    ],
)
def test_small_examples_are_imported(
    settings: Any,
    tmp_path: Path,
    path: str,
    presentation: str,
    n_segments: int,
    documents: set[str],
) -> None:
    settings.MEDIA_DIR = tmp_path
    campaign = import_campaign(
        path=EXAMPLES / path,
        name="small",
        source_language="de",
        target_language="en",
        task="source",
        presentation=presentation,
    ).campaign
    assert campaign.segments.count() == n_segments and campaign.systems.count() == 2
    assert set(campaign.segments.values_list("document", flat=True)) == documents
    assert campaign.has_media == (path == "media")
