"""No text breaks a row or runs in a spreadsheet, and every text can be restored."""

import csv
import io
import json
import re

import pandas as pd
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.exporting.queries import Column, Kind
from analysis.exporting.writers import (
    CSVWriter,
    JSONLinesWriter,
    ParquetWriter,
    PublishedWriter,
    ScoreFileWriter,
    TSVWriter,
)
from da_platform.files import cells

# Any UTF-8 text, with more of the characters that cause trouble.
NASTY = st.text(
    st.one_of(
        st.sampled_from("'\"=+-@\t\r\n \\|,;%＝\ufeff\u2028\x85\x00"), st.characters(codec="utf-8")
    )
)
FORMULAS = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1"]
FORMULAS += ["＝1", "＋1", "－1", "＠x", "−1", " =1", "\ufeff=1"]
PLAIN = ["", "a=b", "1-2", "Online-A", "'quoted'", "a@b", "x\t=1", "HUMAN.0", "’=1"]


@pytest.mark.parametrize("text", FORMULAS)
def test_a_formula_is_defused(text):
    assert cells.defuse(text) == f"'{text}"


@pytest.mark.parametrize("text", PLAIN)
def test_an_ordinary_text_is_left_alone(text):
    assert cells.defuse(text) == text


@given(NASTY)
def test_a_defused_text_is_no_formula_and_can_be_restored(text):
    cell = cells.defuse(text)
    assert not re.match(r"[\s\ufeff]*[=+\-@＝＋－＠]|[\t\r\n]", cell)
    assert cells.undo_defuse(cell) == text


@given(NASTY)
def test_an_escaped_text_has_no_tab_or_line_break_and_can_be_restored(text):
    cell = cells.escape_tsv(text)
    assert not set(cell) & set("\t\r\n")
    assert cells.undo_escape_tsv(cell) == text


@given(st.lists(NASTY.filter(bool)))
def test_joined_names_can_be_split_again(names):
    assert cells.undo_join_names(cells.join_names(names)) == names


def test_a_single_name_is_unchanged_and_several_are_joined():
    assert cells.join_names(["Online-A"]) == "Online-A"
    assert cells.join_names(["Online-A", "b|c", "d\\"]) == "Online-A|b\\|c|d\\\\"


@given(NASTY)
def test_escaped_spaces_survive_a_reader_that_splits_at_spaces(text):
    cell = cells.escape_spaces(text)
    assert cell.split() == ([cell] if text else [])
    assert cells.undo_escape_spaces(cell) == text


# --- whole rows ---------------------------------------------------------------------------------------

COLUMNS = (
    Column("text", Kind.TEXT),
    Column("number", Kind.NUMBER),
    Column("names", Kind.NAMES),
    Column("count", Kind.INTEGER),
)
NUMBERS = st.none() | st.floats(allow_nan=False, allow_infinity=False)
ROWS = st.lists(
    st.tuples(
        NASTY,
        NUMBERS,
        st.lists(NASTY.filter(bool), max_size=3).map(tuple),
        st.none() | st.integers(-(2**62), 2**62),
    ),
    min_size=1,
    max_size=5,
)


def written(writer_class, rows, **options) -> bytes:
    stream = io.BytesIO()
    writer = writer_class(stream, COLUMNS, **options)
    writer.write([list(column) for column in zip(*rows, strict=True)])
    writer.finish()
    return stream.getvalue()


def row_of(line: list[str]) -> tuple:
    text, number, names, count = line
    return (
        cells.undo_defuse(text),
        float(number) if number else None,
        tuple(cells.undo_join_names(cells.undo_defuse(names))),
        int(count) if count else None,
    )


@given(ROWS)
def test_csv_rows_can_be_read_back(rows):
    text = written(CSVWriter, rows).decode()
    header, *lines = csv.reader(io.StringIO(text, newline=""))
    assert header == ["text", "number", "names", "count"]
    assert [row_of(line) for line in lines] == rows


@given(ROWS)
def test_tsv_has_one_line_per_row_and_can_be_read_back(rows):
    header, *lines, after_last_line = written(TSVWriter, rows).decode().split("\n")
    assert (header, after_last_line) == ("text\tnumber\tnames\tcount", "")
    split = [[cells.undo_escape_tsv(cell) for cell in line.split("\t")] for line in lines]
    assert [row_of(line) for line in split] == rows


@given(ROWS)
def test_json_lines_can_be_read_back_even_when_split_at_unicode_line_breaks(rows):
    lines = written(JSONLinesWriter, rows).decode().splitlines()
    back = [json.loads(line) for line in lines]
    assert [(r["text"], r["number"], tuple(r["names"]), r["count"]) for r in back] == rows


# The first call loads the library and exceeds the deadline.
@settings(deadline=None)
@given(ROWS)
def test_parquet_rows_can_be_read_back(rows):
    table = pq.read_table(io.BytesIO(written(ParquetWriter, rows, metadata={"made": "so"})))
    back = [(r["text"], r["number"], tuple(r["names"]), r["count"]) for r in table.to_pylist()]
    assert back == rows
    assert table.schema.metadata[b"made"] == b"so"


def test_negative_numbers_stay_numbers():
    rows = [("-0.5", -0.5, ("-a",), -3)]
    assert written(CSVWriter, rows).decode().splitlines()[1] == "'-0.5,-0.5,'-a,-3"
    assert written(TSVWriter, rows).decode().splitlines()[1] == "'-0.5\t-0.5\t'-a\t-3"
    frame = pd.read_csv(io.BytesIO(written(CSVWriter, rows)))
    assert frame["number"][0] == -0.5 and frame["count"][0] == -3


def test_pandas_reads_tsv_with_the_options_the_documentation_names():
    rows = [('"quoted', 0.1, ("a",), 1), ("two\nlines\tand a tab", None, (), None)]
    frame = pd.read_csv(
        io.BytesIO(written(TSVWriter, rows)),
        sep="\t",
        quoting=csv.QUOTE_NONE,
        keep_default_na=False,
    )
    assert list(frame["text"].map(cells.undo_escape_tsv)) == [row[0] for row in rows]


SCORES = st.lists(st.tuples(NASTY.filter(bool), NUMBERS), min_size=1)


@given(SCORES)
def test_score_files_split_at_spaces_into_system_and_score(scores):
    stream = io.BytesIO()
    writer = ScoreFileWriter(stream, COLUMNS[:2])
    writer.write([list(column) for column in zip(*scores, strict=True)])
    lines = stream.getvalue().decode().split("\n")[:-1]
    back = [line.split() for line in lines]
    assert [
        (cells.undo_escape_spaces(name), None if score == "None" else float(score))
        for name, score in back
    ] == scores


def test_published_lines_have_fifteen_digits_and_a_space_at_the_end():
    stream = io.BytesIO()
    writer = PublishedWriter(stream, COLUMNS[:2])
    writer.write([["A b", "c"], [100.0, -0.0250276951630604]])
    assert stream.getvalue() == b"text number \nA%20b 100 \nc -0.0250276951630604 \n"


def test_the_cell_cache_is_bounded():
    cache = cells.CellCache(str.upper)
    for number in range(3 * cache.MAX_CELLS):
        assert cache[f"x{number}"] == f"X{number}"
        assert len(cache) <= cache.MAX_CELLS
