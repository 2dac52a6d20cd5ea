"""A test set of WMT since 2025 with one file for each system."""

import json
from pathlib import Path
from typing import Any

import pytest

from hits.campaigns.importing import ImportSummary, import_campaign
from hits.exceptions import ImportRefused

pytestmark = pytest.mark.django_db

DOCUMENT = "WMT26_###_news_###_eng_Latn_###_ces_Latn_###_storm"
TEST_SET = [
    {
        "doc_id": DOCUMENT,
        "src_lang": "eng_Latn",
        "tgt_lang": "ces_Latn",
        "src_text": "<p>One.</p>\n<p>Two.</p>",
        "refs": {"refA": {"ref": "<p>Jedna.</p>\n<p>Dvě.</p>"}},
        "video": None,
    },
    {
        "doc_id": DOCUMENT.replace("ces", "deu"),
        "src_lang": "eng_Latn",
        "tgt_lang": "deu_Latn",
        "src_text": "One.",
        "refs": {},
    },
]
ALDER = [
    {"doc_id": DOCUMENT, "hypothesis": "<p>Jeden.</p>\n<p>Dva.</p>", "metadata": {"tokens": 5}},
    {"doc_id": TEST_SET[1]["doc_id"], "hypothesis": "Eins.", "metadata": {}},
]
BIRCH = [{"doc_id": DOCUMENT, "hypothesis": "<p>Jedna</p>\n<p>Dvě</p>", "paragraphs_match": True}]


def write(path: Path, rows: list[Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "wmt26"
    write(root / "wmt26-genmt.jsonl", TEST_SET)
    write(root / "systems" / "alder.jsonl", ALDER)
    write(root / "systems" / "Birch 3.jsonl", BIRCH)
    return root


def imported(folder: Path, **options: Any) -> ImportSummary:
    settings = {"name": "WMT26", "source_language": "en", "target_language": "cs"} | options
    return import_campaign(path=folder, **settings)


def test_paragraphs_become_segments_of_their_document(folder: Path):
    summary = imported(folder)
    segments = summary.campaign.segments.values_list("name", "document", "source", "reference")
    assert list(segments) == [
        (f"{DOCUMENT}_#_0", DOCUMENT, "One.", "Jedna."),
        (f"{DOCUMENT}_#_1", DOCUMENT, "Two.", "Dvě."),
    ]
    assert {system.name for system in summary.campaign.systems.all()} == {"alder", "Birch 3"}
    assert summary.n_outputs == 4
    notes = " ".join(summary.notes)
    assert "1 outputs are of documents that are not imported" in notes and "1 row of other" in notes


def test_a_system_without_a_document_is_refused_or_noted(folder: Path):
    flood = DOCUMENT.replace("storm", "flood")
    write(folder / "wmt26-genmt.jsonl", [*TEST_SET, TEST_SET[0] | {"doc_id": flood}])
    write(folder / "systems" / "alder.jsonl", [ALDER[0], ALDER[0] | {"doc_id": flood}])
    with pytest.raises(ImportRefused, match="'Birch 3' has no translation of segment .*flood"):
        imported(folder)
    assert imported(folder, allow_missing_translations=True).n_outputs == 6


def test_a_system_of_other_languages_only_is_not_in_the_campaign(folder: Path):
    write(folder / "systems" / "Birch 3.jsonl", [ALDER[1]])
    assert imported(folder).n_systems == 1


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([{"doc_id": DOCUMENT}], r"alder\.jsonl, line 1: has no doc_id and hypothesis"),
        ([ALDER[0], ALDER[0]], r"line 2: has document .* twice"),
        ([ALDER[0] | {"hypothesis": "Jeden."}], "alder has 1 paragraphs, but the source has 2"),
        (["x"], "is not a JSON object"),
    ],
)
def test_a_bad_file_of_a_system_is_refused(folder: Path, rows: list[Any], reason: str):
    write(folder / "systems" / "alder.jsonl", rows)
    with pytest.raises(ImportRefused, match=reason):
        imported(folder)


def test_there_must_be_one_test_set(folder: Path):
    write(folder / "other.jsonl", TEST_SET)
    with pytest.raises(ImportRefused, match=r"must have one \.jsonl file with the test set"):
        imported(folder)
