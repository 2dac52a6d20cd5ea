"""Bad score files are refused with file, line and reason, all problems at once."""

import os
import time

import pytest

from analysis.scores.errors import ScoresRefused
from analysis.scores.raw_files import MAX_FILE_BYTES, RawFile
from analysis.scores.reading import read_scores

GOOD = b"system\tsegment\tscore\nA\t1\t0.5\nA\t2\t0.25\n"


def refusal(content: bytes, **options) -> str:
    with pytest.raises(ScoresRefused) as refused:
        read_scores(RawFile("m.tsv", content), **options)
    return str(refused.value)


BAD_FILES = {
    "empty": (b"", "m.tsv: is empty"),
    "blank": (b"\n\n", "m.tsv: has only empty lines"),
    "header only": (b"system\tsegment\tscore\n", "m.tsv: has no scores"),
    "no header": (b"A\t1\t0.5\n", "m.tsv, line 1: has neither a header"),
    "prose": (b"These are my scores.\n", "m.tsv, line 1: has neither a header"),
    "UTF-16": (GOOD.decode().encode("utf-16"), "m.tsv, line 1: is UTF-16"),
    "Latin-1": (GOOD.replace(b"A\t2", b"\xe9\t2"), "m.tsv, line 3: is not UTF-8: byte 0xE9"),
    "NUL in a name": (
        GOOD.replace(b"A\t2", b"A\x00\t2"),
        "m.tsv, line 3: the system's name contains a control character (U+0000)",
    ),
    "NUL in a number": (
        GOOD.replace(b"0.25", b"0.2\x00"),
        "m.tsv, line 3: the score '0.2\\\\x00' is not a finite number",
    ),
    "too few cells": (
        GOOD.replace(b"\t0.25", b""),
        "m.tsv, line 3: has 2 cells, but the header has 3",
    ),
    "too many cells": (GOOD.replace(b"0.25", b"0.25\t9"), "m.tsv, line 3: has 4 cells"),
    "an empty line": (GOOD + b"\nB\t1\t2\n", "m.tsv, line 4: is an empty line"),
    "text for a number": (
        GOOD.replace(b"0.25", b"good"),
        "line 3: the score 'good' is not a finite",
    ),
    "comma in a number": (
        GOOD.replace(b"0.25", b"0,25"),
        "line 3: the score '0,25' is not a finite",
    ),
    "grouped digits": (
        GOOD.replace(b"0.25", b"1_000"),
        "line 3: the score '1_000' is not a finite",
    ),
    "foreign digits": (
        GOOD.replace(b"0.25", "٣".encode()),
        "line 3: the score '٣' is not a finite number",
    ),
    "NaN": (GOOD.replace(b"0.25", b"nan"), "m.tsv, line 3: has no score ('nan')"),
    "None": (GOOD.replace(b"0.25", b"None"), "m.tsv, line 3: has no score ('None')"),
    "nothing": (GOOD.replace(b"0.25", b""), "m.tsv, line 3: has no score"),
    "infinity": (GOOD.replace(b"0.25", b"inf"), "line 3: the score 'inf' is not a finite number"),
    "overflow": (GOOD.replace(b"0.25", b"1e999"), "line 3: the score 1e999 is too large"),
    "doubled": (
        GOOD.replace(b"A\t2", b"A\t1"),
        "line 3: m already has a score for segment 1 by A on line 2",
    ),
    "no system's name": (GOOD.replace(b"A\t2", b"\t2"), "line 3: the system's name is empty"),
    "no segment's name": (GOOD.replace(b"A\t2", b"A\t"), "line 3: the segment's name is empty"),
    "a doubled column": (b"system\tscore\tscore\nA\t1\t2\n", "line 1: has 2 columns named 'score'"),
    "an unnamed column": (b"system\t\nA\t1\n", "line 1: has a column without a name"),
    "no scores' column": (b"system\tsegment\nA\t1\n", "line 1: has no column with scores"),
    "two ways at once": (
        b"system\tscore\tTER\nA\t1\t2\n",
        "line 1: has the column 'score' and so cannot have other metric columns: 'TER'",
    ),
    "a long title": (
        b"system\tsegment\t%s\nA\t1\t2\n" % (b"T" * 201),
        "m.tsv, line 1: has a column whose name is longer than 200 characters",
    ),
    "a long name in JSON": (
        b'{"system": "A", "%s": 1}\n' % (b"T" * 201),
        "m.tsv, line 1: has a column whose name is longer than 200 characters",
    ),
    "gzip": (b"\x1f\x8b\x08\x00", "m.tsv: is compressed (gzip); unpack it first"),
    "zip": (b"PK\x03\x04xxxx", "m.tsv: is compressed (zip)"),
    "broken CSV": (b'system,segment,score\nA,1,"2\n', "line 2: is not CSV"),
    "broken JSON": (b'{"system": "A", "score": 1}\n{"system"\n', "line 2: is not JSON"),
    "JSON of another shape": (
        b'{"system": "A", "score": 1}\n{"system": "B"}\n',
        "line 2: does not have the same keys as the first row",
    ),
    "JSON truth": (
        b'{"system": "A", "score": true}\n',
        "line 1: the value of 'score' is neither a string nor a number",
    ),
    "JSON NaN": (b'{"system": "A", "score": NaN}\n', "line 1: has no score ('nan')"),
    "JSON null": (b'{"system": "A", "score": null}\n', "line 1: has no score ('null')"),
    "unequal systems": (
        b"A\t1\nA\t2\nB\t1\n",
        "m.tsv: has different numbers of scores per system: A 2, B 1",
    ),
    "a line of a shared task cut short": (
        b"M\tcs-en\tt\tA\t1\t0.5\nM\tcs-en\tt\tA\t2\t0.5\nM\tcs-en\tt\tA\t3\n",
        "line 3: has 5 cells, but most lines have 6",
    ),
    "a QE line cut short": (
        b"".join(b"qe\t%d\t0.5\t0\n" % n for n in range(1, 11)) + b"qe\t11\t0.5\n",
        "line 11: has 3 cells, not 4",
    ),
    "a formula": (
        GOOD.replace(b"0.25", b"=1+1"),
        "line 3: the score '=1+1' is not a finite number",
    ),
}


@pytest.mark.parametrize("kind", BAD_FILES)
def test_a_bad_file_is_refused_with_its_line_and_reason(kind):
    content, reason = BAD_FILES[kind]
    assert reason in refusal(content)


@pytest.mark.parametrize(
    "content",
    [
        b"system\tsegment\ta%sb\nA\t1\t2\n" % (b" " * 50_000),
        b"system,segment,a%s:b\nA,1,2\n" % (b" " * 20_000),
        b'{"system": "A", "a%s": 1}\n' % (b"-qe" * 20_000),
        GOOD.replace(b"0.25", b"1" * 50_000 + b"x"),
    ],
    ids=["spaces", "a colon", "additions", "digits"],
)
def test_long_cells_do_not_slow_down_pattern_matching(content):
    began = time.process_time()
    assert "m.tsv, line" in refusal(content)
    assert time.process_time() - began < 5


def test_all_problems_are_reported_at_once():
    message = refusal(GOOD.replace(b"0.5", b"x").replace(b"0.25", b"y"))
    assert "2 problems" in message and "line 2" in message and "line 3" in message


def test_the_list_of_problems_is_cut_at_20():
    content = b"system\tsegment\tscore\n" + b"".join(b"A\t%d\tx\n" % n for n in range(5_000))
    message = refusal(content)
    assert "5,000 problems" in message and "… and 4,980 more" in message
    assert len(message.splitlines()) == 22


def test_a_file_that_is_too_large_is_refused_unread(tmp_path):
    path = tmp_path / "huge.tsv"
    with path.open("wb") as file:
        file.truncate(MAX_FILE_BYTES + 1)
    with pytest.raises(ScoresRefused, match=r"huge\.tsv: is larger than 67,108,864 bytes"):
        read_scores(path)


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(ScoresRefused, match=r"none\.tsv: does not exist"):
        read_scores(tmp_path / "none.tsv")


def test_a_folder_or_a_pipe_is_not_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe"):
        with pytest.raises(ScoresRefused, match="is not a regular file"):
            read_scores(path)


def test_an_ambiguous_file_needs_its_format():
    # A QE system named like a language pair, whose third cell is a whole number.
    content = b"en-de\t1\t2\t3\nen-de\t2\t3\t1\n"
    message = refusal(content)
    assert "could be wmt-qe or wmt-qe-pairs; choose its format" in message
    file = read_scores(RawFile("m", content), format="wmt-qe")
    assert [table.name for table in file.tables] == ["en-de", "en-de (ranks)"]


def test_an_unknown_format_is_refused():
    assert "'xls' is not a supported format; choose from tsv" in refusal(GOOD, format="xls")


def test_an_impossible_choice_is_refused():
    assert "has no column for the testset" in refusal(GOOD, only={"testset": "x"})
    assert "'year' cannot be chosen" in refusal(GOOD, only={"year": "x"})


def test_control_characters_do_not_reach_the_terminal():
    message = refusal(GOOD.replace(b"0.25", b"\x1b[31m"))
    assert "\x1b" not in message
