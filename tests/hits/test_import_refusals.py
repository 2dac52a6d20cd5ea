"""Each malformed campaign is refused for its own reason, and nothing is stored."""

import os
from pathlib import Path

import pytest

from da_platform.files.problems import MAX_LISTED
from hits.campaigns.importing import import_campaign, service
from hits.campaigns.importing.records import Draft
from hits.exceptions import ImportRefused
from hits.models import Campaign, Segment, System, SystemOutput, Translation

pytestmark = pytest.mark.django_db

MALFORMED = Path(__file__).parents[1] / "data" / "malformed"

# The case, the file and line that are named, and a part of the reason.
CASES = [
    ("wrong-line-count", "systems/B.txt", None, "has 1 line, but sources.txt has 2 lines"),
    ("short-documents", "documents.txt", None, "has 1 line, but sources.txt has 2 lines"),
    ("empty-source", "sources.txt", 2, "the source is empty"),
    ("empty-reference", "references.txt", 1, "the reference is empty"),
    ("empty-translation", "systems/B.txt", 2, "the translation is empty"),
    ("white-space-only", "systems/B.txt", 1, "only white space"),
    ("invisible-only", "systems/B.txt", 2, "only white space or invisible"),
    ("broken-utf8", "systems/B.txt", 2, "not UTF-8: byte 0xE4 at offset 5"),
    ("byte-order-mark", "systems/B.txt", 1, "byte order mark"),
    ("utf-16", "systems/B.txt", 1, "is UTF-16; save the file as UTF-8"),
    ("crlf", "systems/B.txt", 1, "ends with CR LF"),
    ("lone-cr", "systems/B.txt", 2, "carriage return (U+000D) at character 2"),
    ("nul", "systems/B.txt", 2, "control character (U+0000) at character 2"),
    ("bell", "systems/B.txt", 2, "control character (U+0007) at character 4"),
    ("tab", "systems/B.txt", 2, "a tab (U+0009)"),
    ("next-line", "systems/B.txt", 2, "line break (U+0085)"),
    ("line-separator", "systems/B.txt", 2, "line break (U+2028)"),
    ("bidi-override", "systems/B.txt", 2, "right-to-left override (U+202E)"),
    ("bidi-isolate", "references.txt", 2, "can make a text look different from what it is"),
    ("long-line", "systems/B.txt", 2, "longer than 10,000 characters"),
    ("no-references", "no-references", None, "has no references, which the task needs"),
    ("no-systems", "no-systems", None, "has no systems; put files at systems/NAME.txt"),
    ("no-lines", "systems/B.txt", None, "has no lines"),
    ("doubled-id", "ids.txt", 2, "id 'x' is already on line 1"),
    ("empty-id", "ids.txt", 2, "the segment's id is empty"),
    ("long-id", "ids.txt", 2, "the segment's id is longer than 200 characters"),
    ("spaced-id", "ids.txt", 2, "begins or ends with white space"),
    ("system-twice", "systems/B.txt", None, "the system's name 'B' is already used by systems/B.en"),
    ("long-system-name", f"systems/{'B' * 201}", None, "is longer than 200 characters"),
    ("two-sources", "two-sources", None, "several source files: sources.de, sources.txt"),
    ("unknown-file", "refs.txt", None, "does not belong in a campaign folder"),
    ("two-references", "two-references", None, "choose one (--reference): A, B"),
    ("reference-twice", "references.A.txt", None, "reference's name 'A' is already used by references/A.txt"),
    ("two-system-folders", "two-system-folders", None, "may contain systems: autumn, spring"),
    ("folder-for-a-file", "sources/deep", None, "is not a regular file"),
    ("unknown-column.tsv", "unknown-column.tsv", 1, "column 'ref' is unknown"),
    ("missing-column.tsv", "missing-column.tsv", 1, "has no column 'reference'"),
    ("doubled-column.tsv", "doubled-column.tsv", 1, "column 'source' appears 2 times"),
    ("no-header.tsv", "no-header.tsv", 1, "does not name the columns"),
    ("header-only.tsv", "header-only.tsv", None, "has no rows below its header"),
    ("no-lines.tsv", "no-lines.tsv", None, "has no lines"),
    ("empty-line.tsv", "empty-line.tsv", 3, "is an empty line"),
    ("cells.tsv", "cells.tsv", 3, "has 6 cells, but the header has 5"),
    ("other-source.tsv", "other-source.tsv", 3, "source of segment '1' is not the same as on line 2"),
    ("other-reference.tsv", "other-reference.tsv", 3, "is not the same as on line 2"),
    ("other-document.jsonl", "other-document.jsonl", 2, "is not the same as on line 1"),
    ("missing-output.tsv", "missing-output.tsv", None, "'B' has no translation of segment '2'"),
    ("doubled-output.tsv", "doubled-output.tsv", 4, "'A' already has a translation of segment '1' on line 2"),
    ("empty-cell.tsv", "empty-cell.tsv", 2, "the reference is empty"),
    ("system-without-name.tsv", "system-without-name.tsv", 2, "the system's name is empty"),
    ("unclosed-quote.csv", "unclosed-quote.csv", 3, "is not CSV: unexpected end of data"),
    ("line-break-in-cell.csv", "line-break-in-cell.csv", 2, "line break (U+000A) at character 2"),
    ("byte-order-mark.csv", "byte-order-mark.csv", 1, "byte order mark"),
    ("not-an-object.jsonl", "not-an-object.jsonl", 2, "is not a JSON object"),
    ("not-a-string.jsonl", "not-a-string.jsonl", 2, "value of 'translation' is not a string"),
    ("not-json.jsonl", "not-json.jsonl", 2, "is not JSON: Expecting property name"),
    ("half-a-pair.jsonl", "half-a-pair.jsonl", 2, "half a surrogate pair (U+D83D)"),
    ("doubled-key.jsonl", "doubled-key.jsonl", 2, "column 'system' appears 2 times"),
    ("missing-key.jsonl", "missing-key.jsonl", 2, "has no column 'system'"),
    ("too-deep.jsonl", "too-deep.jsonl", 2, "cannot be read as JSON"),
    ("unknown-ending.dat", "unknown-ending.dat", None, "name it .tsv, .csv, .jsonl, .json or .xml"),
    ("not-closed.xml", "not-closed.xml", 26, "is not XML: mismatched tag"),
    ("broken-utf8.xml", "broken-utf8.xml", 12, "is not XML: not well-formed"),
    ("entities.xml", "entities.xml", 2, "document type or an entity"),
    ("external-entity.xml", "external-entity.xml", 2, "document type or an entity"),
    ("doubled-segment.xml", "doubled-segment.xml", 8, "segment '1' is already on line 7"),
    ("doubled-document.xml", "doubled-document.xml", 21, "document 'x' is already on line 4"),
    ("missing-segment.xml", "missing-segment.xml", None, "'A' has no translation of segment 'x:2'"),
    ("missing-system.xml", "missing-system.xml", None, "'B' has no translation of segment 'y:1'"),
    ("missing-reference-segment.xml", "missing-reference-segment.xml", 8, "'2' has no reference"),
    ("unknown-segment.xml", "unknown-segment.xml", 18, "'2', but the source does not"),
    ("two-references.xml", "two-references.xml", None, "choose one (--reference): A, B"),
    ("no-reference.xml", "no-reference.xml", 4, "document 'x' has no reference"),
    ("other-language.xml", "other-language.xml", 5, "the source is in 'cs', not in 'de'"),
    ("no-system.xml", "no-system.xml", None, "has no systems (elements 'hyp') in 'en'"),
    ("empty-segment.xml", "empty-segment.xml", 17, "the translation by 'A' is empty"),
    ("markup-in-a-text.xml", "markup-in-a-text.xml", 17, "an element 'b' inside a segment"),
    ("part-in-a-text.xml", "part-in-a-text.xml", 17, "an element 'src' inside a segment"),
    ("unknown-encoding.xml", "unknown-encoding.xml", 1, "an encoding that cannot be read; save"),
    ("document-in-a-document.xml", "document-in-a-document.xml", 20, "'y' begins inside document 'x'"),
    ("system-twice.xml", "system-twice.xml", 20, "has the translation by 'A' twice"),
    ("no-documents.xml", "no-documents.xml", None, "has no documents"),
    ("document-without-id.xml", "document-without-id.xml", 4, "the document's id is empty"),
    ("outside-a-document.xml", "outside-a-document.xml", 4, "'src' outside of a document"),
    ("system-without-name.xml", "system-without-name.xml", 15, "the system's name is empty"),
    ("no-source.xml", "no-source.xml", 4, "document 'x' has no source segments"),
    ("long-ids.xml", "long-ids.xml", 7, "segment id is longer than 200 characters"),
    ("long-text.xml", "long-text.xml", 17, "by 'A' is longer than 10,000 characters"),
    ("other-reference-language.xml", "other-reference-language.xml", 4, "'x' has no reference"),
    ("huge-number.jsonl", "huge-number.jsonl", 2, "cannot be read as JSON"),
    ("no-references-folder", "no-references-folder", None, "has no references"),
    ("ambiguous-ids.xml", "ambiguous-ids.xml", 24, "segment 'x:1:2' appears twice"),
    ("other-pair", "other-pair", None, "has no systems; put files at system-outputs/de-en/NAME.txt (there are system-outputs/de-fr)"),
    ("documents-without-domain", "documents/de-en.docs", 1, "a domain, a tab and a document's name"),
    ("system-named-twice", "system-outputs/de-en/A.txt", None, "the system's name 'A' is already used by system-outputs/de-en/A"),
    ("long-name-of-an-output", f"system-outputs/de-en/{'A' * 201}.txt", None, "is longer than 200 characters"),
    ("two-named-references", "two-named-references", None, "choose one (--reference): refA, refB"),
]  # fmt: skip


def refusal(path: Path, **options: object) -> ImportRefused:
    """Import a campaign, check that it is refused and that nothing is stored."""
    settings = {"name": "Refused", "source_language": "de", "target_language": "en"} | options
    n_before = Campaign.objects.count()
    with pytest.raises(ImportRefused) as caught:
        import_campaign(path=path, **settings)  # type: ignore[arg-type]
    assert Campaign.objects.count() == n_before
    for model in (System, Segment, Translation, SystemOutput):
        assert not model.objects.exists()
    return caught.value


@pytest.mark.parametrize(("case", "file", "line", "words"), CASES, ids=[case[0] for case in CASES])
def test_a_malformed_campaign_is_refused_with_file_line_and_reason(
    case: str, file: str, line: int | None, words: str
) -> None:
    refused = refusal(MALFORMED / case)
    assert refused.n_problems == 1, str(refused)
    (problem,) = refused.problems
    assert (problem.file, problem.line) == (file, line)
    assert words in problem.reason


def test_every_malformed_campaign_is_tested() -> None:
    tested_below = {"many-problems", "no-sources", "neither"}
    tested_below |= {"broken-utf8.csv", "segment-without-id.xml"}
    assert {path.name for path in MALFORMED.iterdir()} == {case[0] for case in CASES} | tested_below


@pytest.mark.parametrize("encoding", ["shift_jis", "utf-7", "idna", "base64", "nonsense"])
def test_an_unsupported_encoding_is_refused(tmp_path, encoding: str) -> None:
    path = tmp_path / "set.xml"
    path.write_text(f"<?xml version='1.0' encoding='{encoding}'?>\n<dataset/>\n")
    (problem,) = refusal(path).problems
    assert (problem.line, problem.reason[:20]) == (1, "declares an encoding")


def test_line_numbers_stay_right_after_an_unreadable_line() -> None:
    first, second = refusal(MALFORMED / "broken-utf8.csv").problems
    assert (first.line, first.reason) == (3, "is not UTF-8: byte 0xE4 at offset 59")
    assert second.line == 4
    assert "right-to-left override" in second.reason


def test_a_segment_without_an_id_is_refused() -> None:
    refused = refusal(MALFORMED / "segment-without-id.xml")
    assert [(problem.line, problem.reason) for problem in refused.problems] == [
        (17, "the segment's id is empty"),
        (17, "the translation by 'A' has segment '', but the source does not"),
        (None, "system 'A' has no translation of segment 'x:1'"),
    ]


def test_a_table_needs_sources_or_references_even_for_fluency(tmp_path: Path) -> None:
    write(tmp_path, {"t.tsv": "segment\tsystem\ttranslation\n1\tA\t1.\n"})
    refused = refusal(tmp_path / "t.tsv", task="fluency")
    assert "neither a column 'source' nor a column 'reference'" in str(refused)
    refused = refusal(tmp_path / "t.tsv", task="source")
    assert "t.tsv, line 1: has no column 'source'" in str(refused)


def test_an_unknown_reference_is_refused() -> None:
    refused = refusal(MALFORMED / "two-references.xml", reference="C")
    assert "document 'x' has no reference 'C'" in str(refused)
    assert "has no reference 'C'; choose from A, B" in str(refused)
    refused = refusal(MALFORMED / "two-references", reference="C")
    assert "no reference 'C'; choose from A, B" in str(refused)


def test_it_lists_the_first_twenty_problems_and_counts_the_others() -> None:
    refused = refusal(MALFORMED / "many-problems")
    assert refused.n_problems == 25
    assert [problem.line for problem in refused.problems] == list(range(1, MAX_LISTED + 1))
    lines = str(refused).splitlines()
    assert lines[0] == "The campaign was not imported, and nothing was stored: 25 problems."
    assert lines[1] == "  systems/B.txt, line 1: the translation is empty"
    assert lines[21] == "  … and 5 more"
    assert lines[-1] == "  --allow-empty-translations: empty translations (25)"
    assert len(lines) == 24


def test_problems_of_several_files_are_reported_together(tmp_path: Path) -> None:
    write(tmp_path, {"sources.txt": "\n", "references.txt": "One.\nTwo.\n"})
    write(tmp_path, {"systems/A.txt": "\0\n"})
    files = [problem.file for problem in refusal(tmp_path).problems]
    assert files == ["sources.txt", "systems/A.txt", "references.txt"]


def test_the_texts_that_a_task_shows_are_required() -> None:
    assert "no sources" in str(refusal(MALFORMED / "no-sources", task="source"))
    assert "no references" in str(refusal(MALFORMED / "neither", task="reference"))
    assert "no sources" in str(refusal(MALFORMED / "neither", task="source"))
    assert "neither sources nor references" in str(refusal(MALFORMED / "neither", task="fluency"))


def test_a_link_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    write(tmp_path, {"secret.txt": "A secret.\n", "all/sources.txt": "Eins.\n"})
    write(tmp_path, {"all/references.txt": "One.\n", "all/systems/A.txt": "1.\n"})
    (tmp_path / "all/systems/B.txt").symlink_to("../../secret.txt")
    (problem,) = refusal(tmp_path / "all").problems
    assert problem.file == "systems/B.txt"
    assert problem.reason == "is a link to a place outside the campaign's folder"


def test_a_linked_folder_of_systems_is_refused(tmp_path: Path) -> None:
    write(tmp_path, {"all/sources.txt": "Eins.\n", "all/references.txt": "One.\n"})
    write(tmp_path, {"elsewhere/A.txt": "1.\n"})
    (tmp_path / "all/systems").symlink_to("../elsewhere")
    assert "systems: is a link to a place outside" in str(refusal(tmp_path / "all"))


def test_a_named_pipe_is_refused_without_waiting_for_it(tmp_path: Path) -> None:
    write(tmp_path, {"sources.txt": "Eins.\n", "references.txt": "One.\n", "systems/A.txt": "1.\n"})
    os.mkfifo(tmp_path / "systems/B.txt")
    assert "systems/B.txt: is not a regular file" in str(refusal(tmp_path))


def test_a_very_long_line_is_not_read_into_memory(tmp_path: Path) -> None:
    write(tmp_path, {"sources.txt": "Eins.\nZwei.\n", "references.txt": "One.\nTwo.\n"})
    (tmp_path / "systems").mkdir()
    (tmp_path / "systems/A.txt").write_bytes(b"x" * 3_000_000 + b"\nII\xff\n")
    first, second = refusal(tmp_path).problems
    assert (first.line, first.reason) == (1, "is longer than 1,000,000 bytes")
    assert (second.line, second.reason) == (2, "is not UTF-8: byte 0xFF at offset 3,000,003")


def test_a_missing_path_is_refused(tmp_path: Path) -> None:
    assert "nowhere: does not exist" in str(refusal(tmp_path / "nowhere"))


def test_a_wrong_or_unknown_format_is_refused() -> None:
    assert "is not a single file" in str(refusal(MALFORMED / "neither", format="tsv"))
    assert "is not a folder" in str(refusal(MALFORMED / "cells.tsv", format="plain-text"))
    assert "'tmx' is not a supported format" in str(refusal(MALFORMED / "cells.tsv", format="tmx"))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"name": ""}, "name: This field cannot be blank."),
        ({"name": "x" * 101}, "name: Ensure this value has at most 100 characters"),
        ({"name": "a\u202eb"}, "name: contains a right-to-left override"),
        ({"name": "a\0b"}, "name: contains a control character (U+0000)"),
        ({"currency": "E\0R"}, "currency: contains a control character (U+0000)"),
        ({"source_language": "xx"}, "source_language: 'xx' is not a known language code."),
        ({"target_language": "English"}, "target_language: 'English' is not a known language"),
        ({"hit_size": 45}, "hit_size: A HIT has an even number of sets"),
        ({"min_ratings": 0}, "min_ratings: Ensure this value is greater than or equal to 1."),
        ({"seed": -1}, "seed: Ensure this value is greater"),
        ({"task": "ranking"}, "task: Value 'ranking' is not a valid choice."),
        ({"instructions": "Rate.\nNUL: \0"}, "instructions: line 2 contains a control character"),
    ],
)
def test_an_invalid_setting_is_refused(settings: dict[str, object], words: str) -> None:
    campaigns = MALFORMED.parent / "campaigns"
    assert words in str(refusal(campaigns / "table.tsv", **settings))


def test_a_name_that_is_taken_is_refused() -> None:
    Campaign.objects.create(name="Taken", source_language="de", target_language="en")
    refused = refusal(MALFORMED.parent / "campaigns" / "table.tsv", name="Taken")
    assert "name: Campaign with this Name already exists." in str(refused)


def test_a_name_that_is_taken_while_the_files_are_read_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings = {"name": "Raced", "source_language": "de", "target_language": "en"}

    def take_the_name(*args: object) -> Draft:
        Campaign.objects.create(**settings)
        return read_draft(*args)  # type: ignore[arg-type]

    read_draft = service._read
    monkeypatch.setattr(service, "_read", take_the_name)
    with pytest.raises(ImportRefused, match="name: Campaign with this Name already exists"):
        import_campaign(path=MALFORMED.parent / "campaigns" / "table.tsv", **settings)
    assert Campaign.objects.count() == 1
    assert not Segment.objects.exists()


def test_circular_links_are_refused(tmp_path: Path) -> None:
    write(tmp_path, {"sources.txt": "Eins.\n", "references.txt": "One.\n", "systems/A.txt": "1.\n"})
    (tmp_path / "systems/B.txt").symlink_to("C.txt")
    (tmp_path / "systems/C.txt").symlink_to("B.txt")
    (tmp_path / "round").symlink_to("round")
    files = [problem.file for problem in refusal(tmp_path).problems]
    assert files == ["round", "systems/B.txt", "systems/C.txt"]


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
