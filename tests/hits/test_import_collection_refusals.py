"""A malformed collection is refused with file, line and reason, and nothing is stored."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from da_platform.files.problems import Problem
from hits.archives import Judgement, import_collection
from hits.archives.service import READERS
from hits.exceptions import ImportRefused
from hits.models import AuditEntry, Campaign, Rating, Segment, Worker

pytestmark = pytest.mark.django_db

DATA = Path(__file__).parents[1] / "data" / "collections"
SETTINGS: dict[str, Any] = {"name": "Old", "source_language": "de", "target_language": "en"}

Edit = Callable[[str], str]


def replace(old: str, new: str, *, line: int) -> Edit:
    """Replace the first `old` on a line."""

    def edit(text: str) -> str:
        lines = text.split("\n")
        assert old in lines[line - 1]
        lines[line - 1] = lines[line - 1].replace(old, new, 1)
        return "\n".join(lines)

    return edit


def repeat(line: int) -> Edit:
    return lambda text: text + text.split("\n")[line - 1] + "\n"


def refusal(paths: list[Path], format: str, **options: Any) -> list[Problem]:
    with pytest.raises(ImportRefused) as caught:
        import_collection(paths=paths, format=format, **SETTINGS | options)
    for model in (Campaign, Segment, Worker, Rating, AuditEntry):
        assert not model.objects.exists()  # type: ignore[attr-defined]
    return caught.value.problems


def edited(tmp_path: Path, name: str, edit: Edit) -> Path:
    path = tmp_path / name
    # Surrogates represent bytes that are not UTF-8.
    path.write_bytes(edit((DATA / name).read_text()).encode(errors="surrogateescape"))
    return path


def assert_refused(problems: list[Problem], file: str, line: int | None, reason: str) -> None:
    first = problems[0]
    assert (first.file, first.line) == (file, line)
    assert reason in first.reason


MTURK: dict[str, tuple[Edit, int | None, str]] = {
    "no lines": (lambda _: "", None, "has no lines"),
    "header only": (lambda text: text.split("\n")[0], None, "no rows below its header"),
    "no worker column": (replace("WorkerId", "Worker", line=1), 1, "no column 'WorkerId'"),
    "no answers": (replace("Answer.Q1", "Answer.Q2", line=1), 1, "no column 'Answer.Q1'"),
    "a segment column missing": (replace("Input.sid_3", "x", line=1), 1, "no column 'Input.sid_3'"),
    "no items": (lambda text: text.replace("sys_id", "sys"), 1, "no column 'Input.sys_id_0'"),
    "a column twice": (replace("Input.src", "Input.trg", line=1), 1, "'Input.trg' 2 times"),
    "cells missing": (lambda text: text + '"HIT1","x","y"\n', 6, "has 3 cells"),
    "cells too many": (
        lambda text: text.replace('"0_1000_50', '"","","","","0_1000_50'),
        3,
        "has 66 cells, but the header has 64",
    ),
    "text after a quote": (replace('"HIT1"', '"HIT1"x', line=3), 3, "is not CSV"),
    "quote left open": (lambda text: text + '"HIT1', 6, "is not CSV"),
    "not UTF-8": (replace("alice", "al\udce9ice", line=2), 2, "is not UTF-8: byte 0xE9"),
    "UTF-16": (lambda text: "\udcff\udcfe" + text, 1, "is UTF-16"),
    "other languages": (replace('"de"', '"cs"', line=2), 2, "is of cs-en, but"),
    "assignment twice": (repeat(2), 6, "is already in mturk.csv, line 2"),
    "unknown role": (replace('"cal"', '"bad"', line=2), 2, "Input.tst_1 'bad' is not one of"),
    "system without a name": (replace('"alder"', '""', line=2), 2, "system's name is empty"),
    "worker without an id": (replace('"bob"', '""', line=3), 3, "worker's name is empty"),
    "another composition": (replace('"birch"', '"alder"', line=3), 3, "different items in"),
    "unknown status": (replace("Approved", "Pending", line=2), 2, "AssignmentStatus 'Pending'"),
    "no time": (replace("Mar 01 12", "31.3. 12", line=2), 2, "AcceptTime 'Fri 31.3. 12"),
    "unknown zone": (replace("GMT", "XYZ", line=2), 2, "AcceptTime"),
    "a year far in the future": (replace(" 2024", " 9999", line=2), 2, "AcceptTime"),
    "submitted before it was accepted": (replace("12:08:40", "11:08:40", line=2), 2, "is before"),
    "answer cut short": (replace("0_1000_80", "0_1000", line=2), 2, "is not place_rid_score"),
    "place not in the HIT": (replace("12_1012_100", "13_1012_100", line=2), 2, "about item 13"),
    "place without end": (replace("0_1000_80", "9" * 5000 + "_1_80", line=2), 2, "is not place_"),
    "another rid": (replace("0_1000_80", "0_1001_80", line=2), 2, "the item has 1000"),
    "score above 100": (replace("0_1000_80", "0_1000_101", line=2), 2, "a whole number from 0"),
    "score below 0": (replace("0_1000_80", "0_1000_-1", line=2), 2, "a whole number from 0"),
    "no score": (replace("0_1000_80", "0_1000_", line=2), 2, "a whole number from 0"),
    "half a score": (replace("0_1000_80", "0_1000_80.5", line=2), 2, "a whole number from 0"),
    "item rated twice": (replace("1_1001_20", "0_1000_20", line=2), 2, "item 0 is rated twice"),
}


@pytest.mark.parametrize("case", MTURK)
def test_a_bad_mturk_file_is_refused(tmp_path: Path, case: str) -> None:
    edit, line, reason = MTURK[case]
    path = edited(tmp_path, "mturk.csv", edit)
    assert_refused(refusal([path], "mturk"), "mturk.csv", line, reason)


WMT_DA: dict[str, tuple[Edit, int | None, str]] = {
    "no lines": (lambda _: "", None, "has no lines"),
    "header only": (lambda text: text.split("\n")[0], None, "no rows below its header"),
    "no score column": (replace("score", "scr", line=1), 1, "exactly once: 'score'"),
    "a column twice": (replace("rid", "sid", line=1), 1, "exactly once: 'sid'"),
    "spaces for tabs": (lambda text: text.replace("\t", " "), 2, "has 1 tab-separated cells"),
    "cells missing": (replace("\tSYSTEM", "", line=2), 2, "has 11 tab-separated cells"),
    "an empty line": (lambda text: text.replace("\n", "\n\n", 1), 2, "has 1 tab-separated cells"),
    "not UTF-8": (replace("alder", "ald\udcffr", line=2), 2, "is not UTF-8"),
    "other languages": (replace("\ten\t", "\tfr\t", line=3), 3, "is of de-fr, but"),
    "no language": (replace("\tde\t", "\t?\t", line=3), 3, "is of ?-en, but"),
    "unknown type": (replace("SYSTEM", "SYS", line=2), 2, "type 'SYS' is not one of SYSTEM"),
    "system without a name": (replace("alder", "", line=2), 2, "system's name is empty"),
    "segment with a space": (replace("\t1\t0.6", "\t1 \t0.6", line=2), 2, "ends with white space"),
    "unknown worker": (replace("alice", "zoe", line=2), 2, "'zoe' has no mean and sd"),
    "no number": (replace("0.690999245371241", "good", line=2), 2, "gives no rating"),
    "not a number": (replace("0.690999245371241", "nan", line=2), 2, "gives no rating"),
    "between two ratings": (replace("0.690999", "0.701", line=2), 2, "belong together?"),
    "above 100": (replace("0.690999245371241", "4", line=2), 2, "not a whole number from 0 to 100"),
    "rated twice": (repeat(2), 41, "already rated this item on line 2"),
    "no time": (replace("520.0", "", line=2), 2, "is not a number of seconds"),
    "negative time": (replace("520.0", "-5", line=2), 2, "is not a number of seconds"),
    "another time": (replace("520.0", "521.0", line=3), 3, "differs from line 2"),
}


@pytest.mark.parametrize("case", WMT_DA)
def test_bad_wmt_ratings_are_refused(tmp_path: Path, case: str) -> None:
    edit, line, reason = WMT_DA[case]
    path = edited(tmp_path, "wmt-da.csv", edit)
    problems = refusal([path, DATA / "wmt-da-means.txt"], "wmt-da")
    assert_refused(problems, "wmt-da.csv", line, reason)


MEANS: dict[str, tuple[Edit, int | None, str]] = {
    "no worker": (replace('"bob"', "bob", line=4), 4, "is not a worker"),
    "no number": (replace("56", "fifty", line=2), 2, "is not a number"),
    "two numbers": (replace("56", "5.6.7", line=2), 2, "is not a number"),
    "a worker twice": (replace("bob", "alice", line=4), 4, "'alice' appears twice"),
    "a line too many": (lambda text: text + '[1] "dan"\n', 10, "does not have all three lines"),
    "not UTF-8": (replace("bob", "b\udcf6b", line=4), 4, "is not UTF-8"),
}


@pytest.mark.parametrize("case", MEANS)
def test_bad_wmt_means_are_refused(tmp_path: Path, case: str) -> None:
    edit, line, reason = MEANS[case]
    path = edited(tmp_path, "wmt-da-means.txt", edit)
    problems = refusal([DATA / "wmt-da.csv", path], "wmt-da")
    assert_refused(problems, "wmt-da-means.txt", line, reason)


def test_ratings_of_a_worker_without_an_sd_are_refused(tmp_path: Path) -> None:
    path = edited(tmp_path, "wmt-da-means.txt", replace("34.73231", "NA", line=3))
    problems = refusal([DATA / "wmt-da.csv", path], "wmt-da")
    assert_refused(problems, "wmt-da.csv", 2, "gives no rating")


@pytest.mark.parametrize("names", [["wmt-da.csv"], ["wmt-da-means.txt"], ["wmt-da.csv"] * 2])
def test_wmt_needs_one_file_of_each_kind(names: list[str]) -> None:
    problems = refusal([DATA / name for name in names], "wmt-da")
    assert_refused(problems, "", None, "a WMT collection needs one file of ratings")


APPRAISE: dict[str, tuple[Edit, int | None, str]] = {
    "no lines": (lambda _: "", None, "has no lines"),
    "a header": (
        lambda text: "user,system,item,type,source,target,score,start,end\n" + text,
        1,
        "is of source-target, but",
    ),
    "seven columns": (replace(",1709294640.000,1709294680.000", "", line=1), 1, "has 7 cells"),
    "some with batches": (
        lambda text: text.replace("440.000\n", "440.000,1,5\n"),
        2,
        "has 11 cells",
    ),
    "an empty line": (lambda text: text.replace("\n", "\n\n", 1), 2, "has 0 cells"),
    "other languages": (replace("eng", "fra", line=3), 3, "is of deu-fra, but"),
    "unknown type": (
        replace("TGT", "SRC", line=2),
        2,
        "type 'SRC' is not one of TGT, BAD, CHK, REF",
    ),
    "user without a name": (replace("alice", "", line=2), 2, "user's name is empty"),
    "system with a control character": (
        replace("alder", "al\x07der", line=2),
        2,
        "system's name contains a control character",
    ),
    "segment without a name": (replace(",1,TGT", ",,TGT", line=2), 2, "segment's name is empty"),
    "score above 100": (replace(",80,", ",101,", line=2), 2, "score '101' is not a whole number"),
    "half a score": (replace(",80,", ",80.5,", line=2), 2, "score '80.5' is not a whole number"),
    "negative score": (replace(",80,", ",-1,", line=2), 2, "score '-1' is not a whole number"),
    "no score": (replace(",80,", ",,", line=2), 2, "score '' is not a whole number"),
    "a date for seconds": (
        replace("1709294400.000", "2024-03-01", line=2),
        2,
        "time '2024-03-01' is not in seconds",
    ),
    "milliseconds": (
        replace("1709294400.000", "1709294400000", line=2),
        2,
        "is not in seconds since 1970",
    ),
    "not a number": (replace("1709294400.000", "nan", line=2), 2, "is not in seconds since 1970"),
    "ends before it starts": (
        replace("1709294440.000", "1709294399.000", line=2),
        2,
        "before it starts",
    ),
    "a row twice": (repeat(2), 40, "is the same as appraise.csv, line 2"),
    "quote left open": (lambda text: text + '"alice', 40, "is not CSV"),
    "not UTF-8": (replace("alder", "ald\udcffr", line=2), 2, "is not UTF-8"),
}


@pytest.mark.parametrize("case", APPRAISE)
def test_a_bad_appraise_file_is_refused(tmp_path: Path, case: str) -> None:
    edit, line, reason = APPRAISE[case]
    path = edited(tmp_path, "appraise.csv", edit)
    assert_refused(refusal([path], "appraise"), "appraise.csv", line, reason)


def test_byte_order_marks_and_other_line_endings_are_accepted(tmp_path: Path) -> None:
    path = edited(tmp_path, "mturk.csv", lambda text: "\ufeff" + text.replace("\n", "\r\n"))
    assert import_collection(paths=[path], format="mturk", **SETTINGS).n_ratings == 39


def test_the_same_file_given_twice_is_refused() -> None:
    path = DATA / "mturk.csv"
    assert_refused(
        refusal([path, path], "mturk"), "mturk.csv", 2, "is already in mturk.csv, line 2"
    )


@pytest.mark.parametrize("format", READERS)
def test_files_that_cannot_be_read_are_named(tmp_path: Path, format: str) -> None:
    missing = [tmp_path / "missing.csv", DATA / "wmt-da-means.txt"]
    assert_refused(refusal(missing, format), "missing.csv", None, "does not exist")
    folder = [tmp_path, DATA / "wmt-da-means.txt"]
    assert_refused(refusal(folder, format), tmp_path.name, None, "is not a regular file")


def test_files_without_a_single_rating_are_refused(tmp_path: Path) -> None:
    header = (DATA / "mturk.csv").read_text().split("\n")[:2]
    cells = header[1].split(",")
    cells[-2] = '""'
    path = tmp_path / "mturk.csv"
    path.write_text("\n".join([header[0], ",".join(cells)]))
    assert_refused(refusal([path], "mturk"), "", None, "contain no ratings")


def test_a_hit_with_too_many_items_for_the_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "appraise.csv"
    path.write_text(
        "".join(f"alice,alder,{n},TGT,deu,eng,50,{n}.0,{n + 1}.0\n" for n in range(32_768))
    )
    problems = refusal([path], "appraise")
    assert_refused(problems, "", None, "HIT 1 has 32,768 items, more than 32,767")


def test_many_problems_are_counted_and_twenty_listed(tmp_path: Path) -> None:
    path = edited(
        tmp_path, "appraise.csv", lambda text: text.replace("TGT", "?").replace("BAD", "?")
    )
    with pytest.raises(ImportRefused) as caught:
        import_collection(paths=[path], format="appraise", **SETTINGS)
    assert (len(caught.value.problems), caught.value.n_problems) == (20, 33)
    assert "… and 13 more" in str(caught.value)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"name": ""}, "name: "),
        ({"name": "x" * 101}, "name: "),
        ({"name": "a\nb"}, "name: contains a line break"),
        ({"target_language": "english"}, "target_language: "),
        ({"min_ratings": 0}, "min_ratings: "),
        ({"task": "guess"}, "task: "),
        ({"worker_namespace": ""}, "worker namespace: is empty"),
        ({"worker_namespace": "x" * 199}, "with the prefix 'xxx"),
        ({"judgement": Judgement(trusts_all=True, trusted=DATA / "x")}, "either all workers or"),
    ],
)
def test_bad_settings_are_refused(options: dict[str, Any], reason: str) -> None:
    problems = refusal([DATA / "wmt-da.csv", DATA / "wmt-da-means.txt"], "wmt-da", **options)
    assert any(problem.file == "" and reason in problem.reason for problem in problems)


def test_an_unknown_format_and_no_files_are_refused() -> None:
    assert_refused(
        refusal([DATA / "mturk.csv"], "excel"), "", None, "'excel' is not a supported format"
    )
    assert_refused(refusal([], "mturk"), "", None, "no files were given")


def test_a_name_that_is_taken_is_refused() -> None:
    Campaign.objects.create(**SETTINGS)
    with pytest.raises(ImportRefused, match="Campaign with this Name already exists"):
        import_collection(paths=[DATA / "mturk.csv"], format="mturk", **SETTINGS)
    assert not Rating.objects.exists()


def test_a_trust_file_without_any_worker_of_the_collection_is_refused(tmp_path: Path) -> None:
    names = tmp_path / "names.txt"
    names.write_text("mallory\n")
    problems = refusal([DATA / "mturk.csv"], "mturk", judgement=Judgement(trusted=names))
    assert_refused(problems, "names.txt", None, "names none of the workers")


def test_nothing_is_stored_when_storing_fails_half_way() -> None:
    def fail(n_stored: int) -> None:
        raise RuntimeError("the disk is full")

    with pytest.raises(RuntimeError, match="the disk is full"):
        import_collection(paths=[DATA / "mturk.csv"], format="mturk", progress=fail, **SETTINGS)
    assert not Campaign.objects.exists() and not Worker.objects.exists()
