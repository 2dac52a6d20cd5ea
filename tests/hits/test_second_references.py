"""Second references: read from each format, checked, stored, and hidden among the translations."""

import csv
import io
import json
import shutil
from pathlib import Path

import pytest

from analysis.stats.roles import Role
from hits.campaigns.building import build_hits
from hits.campaigns.editing import duplicate_campaign
from hits.campaigns.importing import ImportSummary, import_campaign
from hits.exceptions import ImportRefused
from hits.models import Campaign, Item
from tests.factories import make_campaign, make_translations
from tests.people import make_person

pytestmark = pytest.mark.django_db

DATA = Path(__file__).parents[1] / "data"
SECOND = ["A dog sleeps in a garden.", 'She told us: "Come soon!"', "It is 3 €, no more."]
HIDDEN_NOTE = "is the second reference: rated as a hidden item, never shown in gray"


def imported(path: Path, **options: object) -> ImportSummary:
    settings = {"name": "Small", "source_language": "de", "target_language": "en"} | options
    return import_campaign(path=path, **settings)  # type: ignore[arg-type]


def second_references(campaign: Campaign) -> list[str]:
    return list(campaign.segments.order_by("position").values_list("second_reference", flat=True))


def problems_of(path: Path, **options: object) -> list[str]:
    with pytest.raises(ImportRefused) as caught:
        imported(path, **options)
    assert not Campaign.objects.exists()
    return [str(problem) for problem in caught.value.problems]


def folder(tmp_path: Path, name: str = "simple") -> Path:
    return Path(shutil.copytree(DATA / "campaigns" / name, tmp_path / "campaign"))


def write_lines(path: Path, *lines: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def table_rows() -> list[dict[str, str]]:
    with (DATA / "campaigns" / "table.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def with_column(name: str) -> list[dict[str, str]]:
    names = list(dict.fromkeys(row["segment"] for row in table_rows()))
    texts = dict(zip(names, SECOND, strict=True))
    return [row | {name: texts[row["segment"]]} for row in table_rows()]


def as_table(path: Path, rows: list[dict[str, str]]) -> Path:
    if path.suffix == ".jsonl":
        return write_lines(path, *(json.dumps(row) for row in rows))
    if path.suffix == ".tsv":
        return write_lines(
            path, *("\t".join(cells) for cells in [rows[0], *map(dict.values, rows)])
        )
    written = io.StringIO()
    writer = csv.DictWriter(written, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    path.write_text(written.getvalue(), encoding="utf-8")
    return path


# Tables --------------------------------------------------------------------------------------


@pytest.mark.parametrize("column", ["second_reference", "paraphrase"])
@pytest.mark.parametrize("ending", ["tsv", "csv", "jsonl"])
def test_a_column_of_a_table_holds_second_references(tmp_path, ending, column):
    path = as_table(tmp_path / f"table.{ending}", with_column(column))
    assert second_references(imported(path).campaign) == SECOND


def test_an_empty_cell_is_refused_with_its_line(tmp_path):
    rows = with_column("paraphrase")
    for row in rows:
        if row["segment"] == "garden:2":
            row["paraphrase"] = ""
    line = next(i for i, row in enumerate(rows, start=2) if row["segment"] == "garden:2")
    problems = problems_of(as_table(tmp_path / "table.csv", rows))
    assert problems == [f"table.csv, line {line}: the second reference is empty"]


def test_rows_of_a_segment_must_agree(tmp_path):
    rows = with_column("second_reference")
    rows[-1]["second_reference"] = "Another."
    (problem,) = problems_of(as_table(tmp_path / "table.tsv", rows))
    assert "the second reference of segment 'shop:1' is not the same as on line" in problem


def test_both_columns_together_are_refused(tmp_path):
    rows = [row | {"paraphrase": "Same."} for row in with_column("second_reference")]
    (problem,) = problems_of(as_table(tmp_path / "table.csv", rows))
    assert "column 'second_reference' appears 2 times" in problem


def test_second_references_need_references(tmp_path):
    rows = with_column("second_reference")
    for row in rows:
        del row["reference"]
    (problem,) = problems_of(as_table(tmp_path / "table.csv", rows), task="source")
    assert problem == "table.csv, line 1: has second references, but there are no references"


def test_json_lines_must_all_have_one_or_none(tmp_path):
    rows = with_column("second_reference")
    for row in rows:
        if row["segment"] == "shop:1":
            del row["second_reference"]
    line = next(i for i, row in enumerate(rows, start=1) if row["segment"] == "shop:1")
    problems = problems_of(as_table(tmp_path / "table.jsonl", rows))
    reason = "segment 'shop:1' has no second reference, but others have one"
    assert problems == [f"table.jsonl, line {line}: {reason}"]


# Folders of text files -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["second_references.txt", "second_reference.en", "paraphrases/by-bob.txt"]
)
def test_a_file_of_a_folder_holds_second_references(tmp_path, name):
    path = folder(tmp_path)
    write_lines(path / name, *SECOND)
    campaign = imported(path).campaign
    assert second_references(campaign) == SECOND
    assert campaign.segments.get(position=1).reference == "The dog is asleep in the garden."


def test_a_file_of_another_length_is_refused(tmp_path):
    path = folder(tmp_path)
    write_lines(path / "second_references.txt", *SECOND[:2])
    assert problems_of(path) == ["second_references.txt: has 2 lines, but sources.txt has 3 lines"]


def test_an_empty_line_is_refused_with_its_number(tmp_path):
    path = folder(tmp_path)
    write_lines(path / "second_references.txt", SECOND[0], "", SECOND[2])
    assert problems_of(path) == ["second_references.txt, line 2: the second reference is empty"]


def test_several_files_are_refused(tmp_path):
    path = folder(tmp_path)
    for name in ("second_references/A.txt", "second_references/B.txt"):
        write_lines(path / name, *SECOND)
    (problem,) = problems_of(path)
    assert "has several second reference files" in problem


def test_a_file_and_a_choice_are_refused(tmp_path):
    path = folder(tmp_path)
    write_lines(path / "second_references.txt", *SECOND)
    (problem,) = problems_of(path, second_reference="B")
    assert "has second_references.txt, so a second reference cannot be chosen" in problem


def test_equal_references_are_noted(tmp_path):
    path = folder(tmp_path)
    write_lines(path / "second_references.txt", *SECOND[:2], "That costs 3 €, no more.")
    assert (
        "1 of 3 second references equals the reference, so a script that compares texts "
        "recognises them"
    ) in imported(path).notes


# Several references --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "chosen", "other"),
    [
        ("two-references", "B", "A"),
        ("two-references.xml", "B", "A"),
        ("two-named-references", "refB", "refA"),
    ],
)
def test_another_reference_becomes_the_second(name, chosen, other):
    summary = imported(DATA / "malformed" / name, reference=chosen)
    segment = summary.campaign.segments.get(position=1)
    assert (segment.reference, segment.second_reference) == ("1", "One.")
    assert f"reference {other} {HIDDEN_NOTE}" in summary.notes


def test_only_references_that_workers_see_need_a_second():
    path = DATA / "malformed" / "two-references.xml"
    campaign = imported(path, reference="B", task="source").campaign
    assert second_references(campaign) == [""]
    named = imported(path, name="Named", reference="B", second_reference="A", task="source")
    assert second_references(named.campaign) == ["One."]


def test_the_second_reference_can_be_named(tmp_path):
    path = folder(tmp_path)
    (path / "references.txt").rename(path / "references.A.txt")
    for name in "BC":
        write_lines(path / f"references.{name}.txt", *(f"{text} {name}" for text in SECOND))
    first = imported(path, reference="A")
    assert second_references(first.campaign) == [f"{text} B" for text in SECOND]
    named = imported(path, name="Named", reference="A", second_reference="C")
    assert second_references(named.campaign) == [f"{text} C" for text in SECOND]


@pytest.mark.parametrize("name", ["two-references", "two-references.xml"])
@pytest.mark.parametrize(
    ("second", "reason"),
    [("B", "reference 'B' cannot be the second reference too"), ("C", "has no")],
)
def test_a_wrong_choice_is_refused(name, second, reason):
    path = DATA / "malformed" / name
    problems = problems_of(path, reference="B", second_reference=second)
    assert any(reason in problem for problem in problems)


def test_a_reference_that_is_rated_as_an_output_is_not_the_second_unless_named(tmp_path):
    path = folder(tmp_path, "mt-metrics-eval")
    for part in ("references/de-en.refB.txt", "system-outputs/de-en/refB.txt"):
        write_lines(path / part, *SECOND)
    assert second_references(imported(path, reference="refA").campaign) == ["", "", ""]
    named = imported(path, name="Named", reference="refA", second_reference="refB")
    assert second_references(named.campaign) == SECOND
    assert "refB" in named.campaign.systems.values_list("name", flat=True)


def two_documents(tmp_path: Path, *, in_second: str) -> Path:
    """Write a test set with reference B in the first document, and `in_second` in the second."""
    document = """<doc id="{name}"><src lang="de"><seg id="1">Eins.</seg></src>
    <ref lang="en" translator="A"><seg id="1">One.</seg></ref>{more}
    <hyp system="X" language="en"><seg id="1">1</seg></hyp></doc>"""
    more = '<ref lang="en" translator="B"><seg id="1">The first.</seg></ref>'
    documents = document.format(name="x", more=more) + document.format(name="y", more=in_second)
    return write_lines(tmp_path / "set.xml", f'<dataset id="set">{documents}</dataset>')


def test_a_reference_of_some_documents_is_left_out_with_a_note(tmp_path):
    summary = imported(two_documents(tmp_path, in_second=""), reference="A")
    assert second_references(summary.campaign) == ["", ""]
    assert (
        "reference B is not the second reference, because it is missing in 1 of 2 segments"
        in summary.notes
    )


def test_a_named_reference_must_be_in_every_document_and_segment(tmp_path):
    path = two_documents(tmp_path, in_second="")
    problems = problems_of(path, reference="A", second_reference="B")
    assert problems == ["set.xml, line 3: document 'y' has no reference 'B'"]
    path = two_documents(tmp_path, in_second='<ref lang="en" translator="B"></ref>')
    problems = problems_of(path, reference="A", second_reference="B")
    assert problems == ["set.xml, line 3: segment '1' has no reference 'B'"]


def test_one_reference_cannot_be_both(tmp_path):
    (problem,) = problems_of(DATA / "campaigns" / "test-set.xml", second_reference="A")
    assert "reference 'A' cannot be the second reference too" in problem


# In the campaign -----------------------------------------------------------------------------


def shown_references(campaign: Campaign) -> list[tuple[str, str, str]]:
    return list(
        Item.objects.filter(hit__campaign=campaign, role=Role.REFERENCE).values_list(
            "text", "translation__segment__reference", "translation__segment__second_reference"
        )
    )


def make_with_second_references(**fields: object) -> Campaign:
    campaign = make_campaign(is_open=False, **fields)
    make_translations(campaign, n_segments=20)
    for segment in campaign.segments.all():
        segment.second_reference = f"Also {segment.reference}"
        segment.save(update_fields=["second_reference"])
    return campaign


def test_balanced_hits_hide_second_references_in_every_set():
    campaign = make_with_second_references(degradation="balanced")
    build_hits(campaign=campaign)
    shown = shown_references(campaign)
    assert len(shown) == 8
    assert all(text == second != gray for text, gray, second in shown)


def test_published_hits_hide_the_reference_itself():
    campaign = make_with_second_references()
    build_hits(campaign=campaign)
    shown = shown_references(campaign)
    assert len(shown) == 8 and all(text == gray for text, gray, _ in shown)


def test_without_all_second_references_balanced_hits_hide_none():
    campaign = make_with_second_references(degradation="balanced")
    campaign.segments.filter(position=1).update(second_reference="")
    build_hits(campaign=campaign)
    assert shown_references(campaign) == []


def test_a_few_references_are_hidden_on_request():
    campaign = make_campaign(is_open=False, degradation="balanced", shows_gray_references=True)
    make_translations(campaign, n_segments=20)
    build_hits(campaign=campaign)
    shown = shown_references(campaign)
    assert len(shown) == campaign.hits.count() == 2
    assert all(text == gray for text, gray, _ in shown)


def test_a_copy_has_the_same_second_references():
    campaign = make_with_second_references()
    copy = duplicate_campaign(campaign=campaign, name="Copy", actor=make_person("admin"))
    assert second_references(copy) == second_references(campaign) != []
