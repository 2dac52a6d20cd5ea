"""The same small campaign gives the same rows in each format."""

import shutil
from pathlib import Path

import pytest

from hits.campaigns.importing import ImportSummary, import_campaign
from hits.campaigns.importing.plain_text import without_common_parts
from hits.models import Campaign

pytestmark = pytest.mark.django_db

CAMPAIGNS = Path(__file__).parents[1] / "data" / "campaigns"
MALFORMED = Path(__file__).parents[1] / "data" / "malformed"

SEGMENTS = [
    ("Der Hund schläft im Garten.", "The dog is asleep in the garden."),
    ('Sie sagte: "Komm bald!"', 'She said: "Come soon!"'),
    ("Das kostet 3 €, nicht mehr.", "That costs 3 €, no more."),
]
OUTPUTS = {
    "A": ["The dog sleeps in the garden.", 'She said, "Come soon!"', "It costs 3 €, not more."],
    "B": ["The dog sleeps in the garden.", 'She said "Come soon"', "That is 3 euros, no more."],
}
WITH_IDS = ["simple", "table.tsv", "table.csv", "table.jsonl", "test-set.xml", "wmt-sgml"]
WITH_DOCUMENTS = [*WITH_IDS, "mt-metrics-eval"]


def imported(path: Path, **options: object) -> ImportSummary:
    settings = {"name": "Small", "source_language": "de", "target_language": "en"} | options
    return import_campaign(path=path, **settings)  # type: ignore[arg-type]


def outputs_of(campaign: Campaign) -> dict[str, list[str]]:
    return {
        system.name: [
            str(output)
            for output in system.outputs.select_related("translation").order_by("segment__position")
        ]
        for system in campaign.systems.all()
    }


@pytest.mark.parametrize("name", [*WITH_DOCUMENTS, "test-set-folder", "wmt-humeval.jsonl"])
def test_each_format_is_recognised_and_read_exactly(name: str) -> None:
    summary = imported(CAMPAIGNS / name)
    campaign = summary.campaign
    assert list(campaign.segments.values_list("source", "reference")) == SEGMENTS
    assert outputs_of(campaign) == OUTPUTS
    counts = (summary.n_systems, summary.n_segments, summary.n_outputs, summary.n_translations)
    assert counts == (2, 3, 6, 5)
    assert "1 output identical to another system's is rated once" in summary.notes


def test_csv_files_may_have_windows_line_endings(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes((CAMPAIGNS / "table.csv").read_bytes().replace(b"\n", b"\r\n"))
    assert outputs_of(imported(path).campaign) == OUTPUTS


@pytest.mark.parametrize("name", WITH_DOCUMENTS)
def test_documents_are_kept(name: str) -> None:
    campaign = imported(CAMPAIGNS / name).campaign
    documents = list(campaign.segments.values_list("document", flat=True))
    assert documents == ["garden", "garden", "shop"]


@pytest.mark.parametrize("name", WITH_IDS)
def test_segment_ids_are_kept(name: str) -> None:
    campaign = imported(CAMPAIGNS / name).campaign
    names = list(campaign.segments.values_list("position", "name"))
    assert names == [(1, "garden:1"), (2, "garden:2"), (3, "shop:1")]


def test_segments_without_ids_are_named_by_their_line() -> None:
    campaign = imported(CAMPAIGNS / "test-set-folder").campaign
    assert list(campaign.segments.values_list("name", flat=True)) == ["1", "2", "3"]


def test_a_format_can_be_forced(tmp_path: Path) -> None:
    path = tmp_path / "outputs.txt"
    shutil.copy(CAMPAIGNS / "table.tsv", path)
    assert outputs_of(imported(path, format="tsv").campaign) == OUTPUTS


@pytest.mark.parametrize("name", ["two-references", "two-references.xml", "two-named-references"])
def test_one_of_several_references_is_chosen_by_name(name: str) -> None:
    reference = "refB" if name == "two-named-references" else "B"
    campaign = imported(MALFORMED / name, reference=reference).campaign
    assert campaign.segments.get(position=1).reference == "1"


def test_the_reference_is_rated_as_an_output_only_against_the_source() -> None:
    against_reference = imported(CAMPAIGNS / "mt-metrics-eval")
    assert "output refA is the reference and is not rated against itself" in against_reference.notes
    against_source = imported(CAMPAIGNS / "mt-metrics-eval", name="Bilingual", task="source")
    assert list(outputs_of(against_source.campaign)) == ["A", "B", "refA"]


@pytest.mark.parametrize(("task", "column"), [("source", "reference"), ("reference", "source")])
def test_texts_that_the_task_does_not_show_can_be_missing(task: str, column: str) -> None:
    campaign = imported(MALFORMED / f"no-{column}s", task=task).campaign
    assert set(campaign.segments.values_list(column, flat=True)) == {""}


def test_empty_translations_can_be_allowed() -> None:
    campaign = imported(MALFORMED / "empty-translation", allow_empty_translations=True).campaign
    assert outputs_of(campaign)["B"] == ["I.", ""]


def test_source_and_target_language_may_be_the_same() -> None:
    campaign = imported(CAMPAIGNS / "simple", source_language="en").campaign
    assert campaign.source_language == campaign.target_language


def test_joiners_and_direction_marks_are_kept(tmp_path: Path) -> None:
    text = "می\u200cخواهم \u200fالف\u200e क्\u200dष a\u0301 \xad"
    for name in ("sources.txt", "references.txt", "systems/A.txt"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"{text}\n", encoding="utf-8")
    assert outputs_of(imported(tmp_path, target_language="fa").campaign) == {"A": [text]}


def test_wrongly_decoded_punctuation_is_kept_with_a_note(tmp_path: Path) -> None:
    path = tmp_path / "table.tsv"
    path.write_text("segment\treference\tsystem\ttranslation\n1\tIt's\tA\tIt\x92s\n")
    summary = imported(path)
    assert outputs_of(summary.campaign) == {"A": ["It\x92s"]}
    assert any("U+0080 to U+009F" in note for note in summary.notes)


def test_the_systems_of_one_language_pair_are_found_among_others(tmp_path: Path) -> None:
    shutil.copytree(CAMPAIGNS / "test-set-folder", tmp_path, dirs_exist_ok=True)
    shutil.copytree(tmp_path / "smalltest/de-en", tmp_path / "smalltest/fr-en")
    (tmp_path / "README.md").write_text("Not a campaign file.")
    assert outputs_of(imported(tmp_path).campaign) == OUTPUTS


def test_rows_of_a_table_may_come_in_any_order(tmp_path: Path) -> None:
    header, *rows = (CAMPAIGNS / "table.tsv").read_text(encoding="utf-8").splitlines()
    path = tmp_path / "table.tsv"
    path.write_text("\n".join([header, *rows[::2], *rows[1::2]]), encoding="utf-8")
    campaign = imported(path).campaign
    # Segments are ordered by their first row: rows 1, 3, 5, then 2, 4, 6.
    names = list(campaign.segments.values_list("name", flat=True))
    assert names == ["garden:1", "shop:1", "garden:2"]
    segments = campaign.segments.order_by("position", "translations__pk")
    keys = list(segments.values_list("translations__pk", flat=True))
    assert keys == sorted(keys)


@pytest.mark.parametrize(
    ("files", "names"),
    [
        (["t.cs-en.online-B", "t.cs-en.PJATK"], ["online-B", "PJATK"]),
        (["t.A.1.en", "t.B.en"], ["A.1", "B"]),
        (["A.txt", "B.txt"], ["A", "B"]),
        (["A", "A.B"], ["A", "A.B"]),
        (["t.A.txt"], ["t.A"]),
        ([".txt"], [".txt"]),
    ],
)
def test_system_names_are_file_names_without_their_common_parts(
    files: list[str], names: list[str]
) -> None:
    assert without_common_parts(files) == names
