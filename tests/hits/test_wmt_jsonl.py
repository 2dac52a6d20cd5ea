"""The JSONL files of WMT since 2024."""

import json
from pathlib import Path
from typing import Any

import pytest

from hits.campaigns.importing import ImportSummary, import_campaign
from hits.exceptions import ImportRefused
from hits.models import SystemOutput

pytestmark = pytest.mark.django_db

ROW = {
    "doc_id": "en-cs_CZ_#_news_#_storm",
    "src_lang": "en",
    "tgt_lang": "cs_CZ",
    "src_text": "One.\n\nTwo.",
    "refs": {"refA": {"ref": "Jedna.\n\nDvě."}},
    "tgt_text": {"alder": "Jeden.\n\nDva.", "birch": "Jedna\n\nDvě"},
}


def imported(tmp_path: Path, *rows: dict[str, Any], **options: Any) -> ImportSummary:
    path = tmp_path / "wmt.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    settings = {"name": "WMT", "source_language": "en", "target_language": "cs"} | options
    return import_campaign(path=path, **settings)


def test_a_document_is_split_into_paragraphs(tmp_path):
    campaign = imported(tmp_path, ROW, ROW | {"tgt_lang": "de_DE"}).campaign
    segments = campaign.segments.values_list("name", "document", "source", "reference")
    assert list(segments) == [
        (f"{ROW['doc_id']}_#_0", ROW["doc_id"], "One.", "Jedna."),
        (f"{ROW['doc_id']}_#_1", ROW["doc_id"], "Two.", "Dvě."),
    ]
    assert campaign.import_report.notes[0] == ("1 row of other languages is left out: en-de_DE")


def test_an_output_with_other_paragraphs_is_refused_or_left_out(tmp_path):
    row = ROW | {"tgt_text": {"alder": "Jeden.\n\nDva.", "birch": "Jedna. Dvě."}}
    with pytest.raises(ImportRefused, match="birch has 1 paragraphs, but the source has 2"):
        imported(tmp_path, row)
    assert imported(tmp_path, row, allow_missing_translations=True).n_outputs == 2


def test_rows_of_one_system_form_an_incomplete_grid(tmp_path):
    row = {"langs": "en-cs", "doc_id": "storm", "line_id": 7, "src": "One.", "domain": "news"}
    rows = [
        row | {"system": "alder", "tgt": "Jeden.", "annotator": "x"},
        row | {"system": "alder", "tgt": "Jeden.", "annotator": "y"},
        row | {"system": "birch", "tgt": "Dva.", "src": "Two.", "line_id": 8},
    ]
    with pytest.raises(ImportRefused, match=r"--allow-missing-translations: .* \(2\)"):
        imported(tmp_path, *rows, task="source")
    summary = imported(tmp_path, *rows, task="source", allow_missing_translations=True)
    assert (summary.n_systems, summary.n_segments, summary.n_outputs) == (2, 2, 2)
    assert SystemOutput.objects.get(system__name="birch").segment.document == "storm"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"doc_id": 7}, "line 1: has no doc_id"),
        ({"tgt_text": {"alder": 7}}, "line 1: has no doc_id, src_text and tgt_text"),
        ({"tgt_text": [7]}, "line 1: has no doc_id, src_text and tgt_text"),
        ({"refs": {}}, "has no references, which the task needs"),
        ({"tgt_text": {"alder": "\n\nDva."}}, "the translation by 'alder' is empty"),
        ({"tgt_lang": "de"}, "has no rows of en-cs, only of en-de"),
    ],
)
def test_a_fault_is_named(tmp_path, change, reason):
    with pytest.raises(ImportRefused) as caught:
        imported(tmp_path, ROW | change)
    assert reason in str(caught.value)
