"""Files of metric scores: each format is told by its content and read to the last digit."""

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
    "with a metric": (
        "metric\t" + LONG.replace("\nA", "\nM\tA").replace("\nB", "\nM\tB"),
        "tsv",
    ),
    "one column a metric": (LONG.replace("score", "M"), "tsv"),
    "mt-metrics-eval": ("A\t0.5\nA\t-1.25\nB\t3e-2\nB\t7\n", "mt-metrics-eval"),
    "mt-metrics-eval, spaces": ("A 0.5\nB 3e-2\nA -1.25\nB 7\n", "mt-metrics-eval"),
    "wmt": (wmt(""), "wmt-metrics"),
    "wmt, reference": (wmt("refA\t"), "wmt-metrics"),
    "wmt, domain": (wmt("news\trefA\t"), "wmt-metrics"),
    "wmt, document": (wmt("news\tdoc-1\trefA\t"), "wmt-metrics"),
    "wmt, ensemble": (wmt("", "\tnon-ensemble\tno"), "wmt-metrics"),
    "no line end": (LONG.rstrip("\n"), "tsv"),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_gives_the_same_scores(layout):
    text, format = LAYOUTS[layout]
    found = read(text)
    assert found.format == format
    (table,) = found.tables
    scores = dict(zip(table.keys, table.scores.tolist(), strict=True))
    assert scores == dict(zip(KEYS, SCORES, strict=True))
    assert (table.name, table.level) == ("M", "segment")


def test_the_file_is_known_by_its_sha256(tmp_path):
    path = tmp_path / "M.tsv"
    path.write_text(LONG)
    found = read_scores(path)
    assert found.sha256 == found.tables[0].sha256 == sha256(LONG.encode()).hexdigest()


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
def test_a_file_without_segments_has_scores_of_systems(text):
    (table,) = read(text).tables
    assert table.level == "system" and table.keys == (("A", ""), ("B", ""))
    assert_array_equal(table.scores, [1, 2])


def test_a_wide_table_has_a_metric_in_each_column():
    found = read("segment,system,BLEU,TER\n1,A,10,0.5\n2,A,20,0.25\n")
    assert [table.name for table in found.tables] == ["BLEU", "TER"]
    assert_array_equal(found.tables[1].scores, [0.5, 0.25])


def test_a_cell_of_csv_may_be_quoted():
    (table,) = read('system,segment,score\n"A, the first",1,2\n').tables
    assert table.keys == (("A, the first", "1"),)


def test_a_metric_without_a_name_has_that_of_its_file_or_of_the_caller():
    assert read("A\t1\nB\t2\n", name="BLEU-refA.sys.score").tables[0].name == "BLEU-refA"
    assert read("A\t1\nB\t2\n", name="x.tsv").tables[0].name == "x"
    assert read_scores(RawFile("x.tsv", LONG.encode()), name="mine").tables[0].name == "mine"


# Several of a thing ---------------------------------------------------------------------------

TWO_PAIRS = wmt("") + wmt("").replace("cs-en", "de-en").replace("0.5", "0.75")


def test_one_language_pair_of_several_can_be_chosen():
    found = read(TWO_PAIRS, only={"language_pair": "de-en"})
    assert found.tables[0].scores[0] == 0.75


def test_what_a_file_was_read_as_is_told_where_there_is_a_choice():
    of_pair = read(TWO_PAIRS, only={"language_pair": "de-en"}).tables[0].signature
    assert of_pair.startswith("language_pair:de-en|")
    systems = {read("segment\tscore\n1\t7\n", system=who).tables[0].signature for who in "AB"}
    assert len(systems) == 2 and all("system:" in one for one in systems)
    assert read(wmt("")).tables[0].signature == ""


def test_several_language_pairs_without_a_choice_are_refused():
    with pytest.raises(ScoresRefused, match="several language pairs; choose one: cs-en, de-en"):
        read(TWO_PAIRS)


def test_a_language_pair_that_is_not_there_is_refused():
    with pytest.raises(ScoresRefused, match="has no language pair 'fr-en', only cs-en, de-en"):
        read(TWO_PAIRS, only={"language_pair": "fr-en"})


# Quality estimation ---------------------------------------------------------------------------


def test_a_scoring_submission_has_no_ranks():
    found = read("qe\t1\t0.5\t0\nqe\t2\t0.25\t0\n")
    assert found.format == "wmt-qe"
    (table,) = found.tables
    assert table.keys == (("", "1"), ("", "2")) and table.higher_is_better is None


def test_a_ranking_submission_has_no_scores():
    found = read("qe 1 0 2\nqe 2 0 1\n")
    (table,) = found.tables
    assert table.name == "qe (ranks)" and table.higher_is_better is False
    assert found.notes == ("qe (ranks): 1 is best",)


def test_a_submission_to_both_variants_has_two_tables():
    found = read("qe\t1\t0.5\t2\nqe\t2\t0.25\t1\n", directions=True)
    assert [(one.name, one.higher_is_better) for one in found.tables] == [
        ("qe", True),
        ("qe (ranks)", False),
    ]


def test_a_later_submission_names_the_language_pair_below_figures_of_the_model():
    found = read("1024\n560000\nen-de\tqe\t0\t0.5\nen-de\tqe\t1\t0.25\n")
    assert found.format == "wmt-qe-pairs"
    assert found.tables[0].keys == (("", "0"), ("", "1"))


def test_the_system_of_a_submission_can_be_given():
    (table,) = read("qe\t1\t0.5\t0\nqe\t2\t0.25\t0\n", system="online-A").tables
    assert table.keys[0] == ("online-A", "1")


# Directions -----------------------------------------------------------------------------------


def test_a_direction_is_never_taken_from_a_name():
    found = read(LONG.replace("score", "TER"))
    assert found.unconfirmed == ("TER",) and found.tables[0].higher_is_better is None
    assert found.suggestions["TER"].higher_is_better is False


def test_a_header_can_declare_directions():
    found = read("system\tsegment\tTER:lower\tchrF↑\tX\nA\t1\t1\t2\t3\n")
    ways = {table.name: table.higher_is_better for table in found.tables}
    assert ways == {"TER": False, "chrF": True, "X": None}
    assert found.unconfirmed == ("X",) and found.suggestions == {}


def test_the_caller_can_declare_directions_and_wins():
    text = "system\tsegment\tTER:lower\tX\nA\t1\t1\t2\n"
    found = read(text, directions={"TER": True})
    assert [table.higher_is_better for table in found.tables] == [True, None]
    assert read(text, directions=False).unconfirmed == ()


def test_a_long_table_declares_beside_the_score():
    assert read(LONG.replace("score", "score:lower")).tables[0].higher_is_better is False


@pytest.mark.parametrize(
    ("name", "higher"),
    [
        ("TER", False),
        ("HTER", False),
        ("H-TER", False),
        ("WER", False),
        ("PER", False),
        ("CDER", False),
        ("CharacTER", False),
        ("MetricX-23-refA", False),
        ("MQM errors", False),
        ("BLEU-refA", True),
        ("chrF2++", True),
        ("BLEURT-20-refA", True),
        ("COMET", True),
        ("HBLEU", True),
    ],
)
def test_a_known_name_suggests_a_direction(name, higher):
    assert suggest_direction(name).higher_is_better is higher


@pytest.mark.parametrize("name", ["MQM", "baseline", "DCU-rtm-svr", "", "42", "perfect"])
def test_another_name_suggests_nothing(name):
    assert suggest_direction(name) is None


def test_a_name_with_a_colon_is_not_a_declaration():
    assert split_declared("COMET:22") == ("COMET:22", None)
    assert split_declared("TER: lower") == ("TER", False)
    assert split_declared("A: B : higher") == ("A: B", True)


def test_a_direction_without_a_name_is_a_name():
    assert split_declared("↑") == ("↑", None)
    assert split_declared(":lower") == (":lower", None)


def test_a_title_is_taken_apart_in_time_that_grows_with_its_length_only():
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
def test_no_bytes_do_worse_than_a_refusal(content, format):
    try:
        found = read_scores(RawFile("x", content), format=format)
    except ScoresRefused:
        return
    assert all(np.isfinite(table.scores).all() for table in found.tables)


@given(st.text(alphabet='AB12.-\t\n ,{}":esysgmntcor', max_size=200))
def test_no_text_does_worse_than_a_refusal(text):
    try:
        read(text)
    except ScoresRefused as refused:
        assert refused.n_problems > 0


def test_csv_may_end_its_lines_as_excel_does():
    table = read(LONG.replace("\t", ",").replace("\n", "\r\n"), name="M.csv").tables[0]
    assert table.scores.tolist() == SCORES
