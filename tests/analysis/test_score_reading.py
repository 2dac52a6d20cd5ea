"""Score files: the format is recognised by content, and scores are read to the last digit."""

import json
import time
from hashlib import sha256

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from analysis.scores.directions import split_declared, suggest_direction
from analysis.scores.errors import ScoresRefused
from analysis.scores.formats import FORMATS
from analysis.scores.raw_files import RawFile
from analysis.scores.reading import read_scores

LONG = "system\tsegment\tscore\nA\t1\t0.5\nA\t2\t-1.25\nB\t1\t3e-2\nB\t2\t7\n"
KEYS = (("A", "1"), ("A", "2"), ("B", "1"), ("B", "2"))
SCORES = [0.5, -1.25, 0.03, 7]


def read(text, name="M.tsv", **options):
    return read_scores(RawFile(name, text.encode()), **options)


def as_jsonl(text):
    header, *rows = [line.split("\t") for line in text.splitlines()]
    objects = [dict(zip(header, row, strict=True)) for row in rows]
    return "".join(
        json.dumps(
            {name: float(value) if name == "score" else value for name, value in row.items()}
        )
        + "\n"
        for row in objects
    )


WMT = [("A", 1, 0.5), ("A", 2, -1.25), ("B", 1, 0.03), ("B", 2, 7)]


def wmt(between, after=""):
    return "".join(
        f"M\tcs-en\tnewstest\t{between}{system}\t{segment}\t{score}{after}\n"
        for system, segment, score in WMT
    )


LAYOUTS = {
    "tsv": (LONG, "tsv"),
    "csv": (LONG.replace("\t", ","), "csv"),
    "spaces": (LONG.replace("\t", " "), "spaces"),
    "jsonl": (as_jsonl(LONG), "jsonl"),
    "other titles": (LONG.replace("system\tsegment", "SYS\tSID"), "tsv"),
    "with a metric": ("metric\t" + LONG.replace("\nA", "\nM\tA").replace("\nB", "\nM\tB"), "tsv"),
    "one column a metric": (LONG.replace("score", "M"), "tsv"),
    "mt-metrics-eval": ("A\t0.5\nA\t-1.25\nB\t3e-2\nB\t7\n", "mt-metrics-eval"),
    "mt-metrics-eval, spaces": ("A 0.5\nB 3e-2\nA -1.25\nB 7\n", "mt-metrics-eval"),
    "wmt": (wmt(""), "wmt-metrics"),
    "wmt, reference": (wmt("refA\t"), "wmt-metrics"),
    "wmt, domain": (wmt("news\trefA\t"), "wmt-metrics"),
    "wmt, document": (wmt("news\tdoc-1\trefA\t"), "wmt-metrics"),
    "wmt, ensemble": (wmt("", "\tnon-ensemble\tno"), "wmt-metrics"),
    "no final newline": (LONG.rstrip("\n"), "tsv"),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_gives_the_same_scores(layout):
    text, format = LAYOUTS[layout]
    file = read(text)
    assert file.format == format
    (table,) = file.tables
    scores = dict(zip(table.keys, table.scores.tolist(), strict=True))
    assert scores == dict(zip(KEYS, SCORES, strict=True))
    assert (table.name, table.level) == ("M", "segment")


def test_a_file_is_identified_by_its_sha256(tmp_path):
    path = tmp_path / "M.tsv"
    path.write_text(LONG)
    file = read_scores(path)
    assert file.sha256 == file.tables[0].sha256 == sha256(LONG.encode()).hexdigest()


@pytest.mark.parametrize(
    "text",
    [
        "system\tscore\nA\t1\nB\t2\n",
        "A\t1\nB\t2\n",
        "M\tcs-en\tnewstest\tA\t1\nM\tcs-en\tnewstest\tB\t2\n",
        "M\tcs-en\tnewstest\trefA\tA\t1\nM\tcs-en\tnewstest\trefA\tB\t2\n",
        "M\tcs-en\tnewstest\tnews\trefA\tA\t1\nM\tcs-en\tnewstest\tnews\trefA\tB\t2\n",
    ],
)
def test_a_file_without_segments_has_system_scores(text):
    (table,) = read(text).tables
    assert table.level == "system" and table.keys == (("A", ""), ("B", ""))
    assert_array_equal(table.scores, [1, 2])


def test_a_wide_table_has_a_metric_in_each_column():
    file = read("segment,system,BLEU,TER\n1,A,10,0.5\n2,A,20,0.25\n")
    assert [table.name for table in file.tables] == ["BLEU", "TER"]
    assert_array_equal(file.tables[1].scores, [0.5, 0.25])


def test_csv_cells_can_be_quoted():
    (table,) = read('system,segment,score\n"A, the first",1,2\n').tables
    assert table.keys == (("A, the first", "1"),)


def test_a_metric_without_a_name_is_named_by_its_file_or_the_caller():
    assert read("A\t1\nB\t2\n", name="BLEU-refA.sys.score").tables[0].name == "BLEU-refA"
    assert read("A\t1\nB\t2\n", name="x.tsv").tables[0].name == "x"
    assert read_scores(RawFile("x.tsv", LONG.encode()), name="mine").tables[0].name == "mine"


# Several language pairs ------------------------------------------------------------------------

TWO_PAIRS = wmt("") + wmt("").replace("cs-en", "de-en").replace("0.5", "0.75")


def test_a_language_pair_or_system_can_be_chosen_and_is_in_the_signature():
    (table,) = read(TWO_PAIRS, only={"language_pair": "de-en"}).tables
    assert table.scores[0] == 0.75 and table.signature.startswith("language_pair:de-en|")
    for system in "AB":
        (table,) = read("qe\t1\t0.5\t0\nqe\t2\t0.25\t0\n", system=system).tables
        assert table.keys[0] == (system, "1") and f"system:{system}" in table.signature
    assert read(wmt("")).tables[0].signature == ""


def test_several_language_pairs_need_a_valid_choice():
    with pytest.raises(ScoresRefused, match="several language pairs; choose one: cs-en, de-en"):
        read(TWO_PAIRS)
    with pytest.raises(ScoresRefused, match="has no language pair 'fr-en', only cs-en, de-en"):
        read(TWO_PAIRS, only={"language_pair": "fr-en"})


# Quality estimation ---------------------------------------------------------------------------


def test_a_scoring_submission_has_no_ranks():
    file = read("qe\t1\t0.5\t0\nqe\t2\t0.25\t0\n")
    assert file.format == "wmt-qe"
    (table,) = file.tables
    assert table.keys == (("", "1"), ("", "2")) and table.higher_is_better is None


def test_a_ranking_submission_has_no_scores():
    file = read("qe 1 0 2\nqe 2 0 1\n")
    (table,) = file.tables
    assert table.name == "qe (ranks)" and table.higher_is_better is False
    assert file.notes == ("qe (ranks): 1 is best",)


def test_a_submission_to_both_variants_has_two_tables():
    file = read("qe\t1\t0.5\t2\nqe\t2\t0.25\t1\n", directions=True)
    assert [(table.name, table.higher_is_better) for table in file.tables] == [
        ("qe", True),
        ("qe (ranks)", False),
    ]


def test_a_submission_can_name_the_language_pair_after_model_sizes():
    file = read("1024\n560000\nen-de\tqe\t0\t0.5\nen-de\tqe\t1\t0.25\n")
    assert file.format == "wmt-qe-pairs"
    assert file.tables[0].keys == (("", "0"), ("", "1"))


def test_figures_about_the_models_are_kept_as_notes_and_in_the_signature():
    file = read("2048\n583891109\n6\nen-cs\tEnsemble\t0\t0.5\nen-cs\tEnsemble\t1\t0.25\n")
    assert file.notes == ("Ensemble: 2,048 bytes, 583,891,109 parameters, 6 models",)
    assert file.tables[0].signature.startswith("bytes:2048|parameters:583891109|models:6|")
    with pytest.raises(ScoresRefused, match="line 4: has 1 cells, not 4"):
        read("1\n2\n3\n4\n" + "en-cs\tEnsemble\t0\t0.5\n" * 1, format="wmt-qe-pairs")


def test_gold_with_a_score_per_line_counts_segments_from_0():
    file = read("0.5\n-1.25\n3\n")
    assert file.format == "wmt-qe-lines"
    assert file.tables[0].keys == (("", "0"), ("", "1"), ("", "2"))
    assert file.tables[0].scores.tolist() == [0.5, -1.25, 3]
    with pytest.raises(ScoresRefused, match="line 2: has no score"):
        read("0.5\n\n3\n", format="wmt-qe-lines")


# Directions -----------------------------------------------------------------------------------


def test_a_direction_is_never_inferred_from_a_name():
    file = read(LONG.replace("score", "TER"))
    assert file.unconfirmed == ("TER",) and file.tables[0].higher_is_better is None
    assert file.suggestions["TER"].higher_is_better is False


def test_a_header_can_declare_directions():
    file = read("system\tsegment\tTER:lower\tchrF↑\tX\nA\t1\t1\t2\t3\n")
    ways = {table.name: table.higher_is_better for table in file.tables}
    assert ways == {"TER": False, "chrF": True, "X": None}
    assert file.unconfirmed == ("X",) and file.suggestions == {}


def test_directions_from_the_caller_override_the_header():
    text = "system\tsegment\tTER:lower\tX\nA\t1\t1\t2\n"
    file = read(text, directions={"TER": True})
    assert [table.higher_is_better for table in file.tables] == [True, None]
    assert read(text, directions=False).unconfirmed == ()


def test_a_long_table_declares_its_direction_in_the_score_column():
    assert read(LONG.replace("score", "score:lower")).tables[0].higher_is_better is False


LOWER = ["TER", "HTER", "H-TER", "WER", "PER", "CDER", "CharacTER", "MetricX-23-refA", "MQM errors"]
HIGHER = ["BLEU-refA", "chrF2++", "BLEURT-20-refA", "COMET", "HBLEU"]


@pytest.mark.parametrize(
    ("name", "higher"), [(name, False) for name in LOWER] + [(name, True) for name in HIGHER]
)
def test_a_known_name_suggests_a_direction(name, higher):
    assert suggest_direction(name).higher_is_better is higher


@pytest.mark.parametrize("name", ["MQM", "baseline", "DCU-rtm-svr", "", "42", "perfect"])
def test_an_unknown_name_suggests_nothing(name):
    assert suggest_direction(name) is None


@pytest.mark.parametrize(
    ("title", "name", "higher"),
    [("TER: lower", "TER", False), ("A: B : higher", "A: B", True)]
    # Neither another word after a colon nor a direction without a name is a declaration.
    + [(title, title, None) for title in ("COMET:22", "↑", ":lower")],
)
def test_a_title_is_split_into_name_and_direction(title, name, higher):
    assert split_declared(title) == (name, higher)


def test_a_title_is_split_in_linear_time():
    spaces = " " * 20_000
    began = time.process_time()
    for title in (f"a{spaces}b", f"{spaces}:lowe", f"a:{spaces}"):
        assert split_declared(title) == (title, None)
    assert time.process_time() - began < 5


# Properties -----------------------------------------------------------------------------------


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=2, max_size=20))
def test_a_number_is_read_back_to_the_last_bit(numbers):
    text = "system\tsegment\tscore\n" + "".join(
        f"A\t{place}\t{number!r}\n" for place, number in enumerate(numbers)
    )
    assert_array_equal(read(text).tables[0].scores, np.array(numbers))


@given(st.binary(max_size=200), st.sampled_from([None, *FORMATS]))
def test_any_bytes_are_read_or_refused(content, format):
    try:
        file = read_scores(RawFile("x", content), format=format)
    except ScoresRefused:
        return
    assert all(np.isfinite(table.scores).all() for table in file.tables)


@given(st.text(alphabet='AB12.-\t\n ,{}":esysgmntcor', max_size=200))
def test_any_text_is_read_or_refused(text):
    try:
        read(text)
    except ScoresRefused as refused:
        assert refused.n_problems > 0


def test_csv_lines_can_end_with_crlf():
    table = read(LONG.replace("\t", ",").replace("\n", "\r\n"), name="M.csv").tables[0]
    assert table.scores.tolist() == SCORES


@pytest.mark.parametrize("separator", ["\t", ","])
def test_a_byte_order_mark_and_line_ends_say_nothing_about_scores(separator):
    text = LONG.replace("\t", separator)
    plain = read(text).tables[0]
    marked = read("\ufeff" + text.replace("\n", "\r\n")).tables[0]
    assert marked.keys == plain.keys and (marked.scores == plain.scores).all()
    assert marked.sha256 != plain.sha256
