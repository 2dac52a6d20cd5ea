"""Tables for papers: escaped, rounded once, and naming the test."""

import numpy as np
import pytest
from django.template.loader import render_to_string

from analysis.evaluation import Options, evaluate
from analysis.evaluation.tables import tables_of
from analysis.tables import Cell, Column, Table, correlation, number, to_latex, to_markdown
from analysis.tables.table import ENDS, interval, signed
from analysis.tables.writing import escape_latex, escape_markdown
from tests.analysis.evaluation_tables import gold_table, metric


def table(*names: str) -> Table:
    return Table(
        name="Segment one",
        caption="A & B",
        columns=[Column("metric", is_number=False), Column("r")],
        rows=[[Cell(name, name, bold=True), correlation(0.5)] for name in names],
        note="Bold: p < .05.",
    )


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.5496, ".550"), (-0.0114, "−.011"), (1.0, "1.000"), (0.9996, "1.000"), (-0.0001, ".000"),
     (-1.0, "−1.000"), (None, "–")],
)  # fmt: skip
def test_correlations_have_three_places_and_no_zero_before_the_point(value, text):
    assert correlation(value).text == text


def test_numbers_are_rounded_only_for_display():
    assert number(1234.5678, 1) == Cell("1,234.6", 1234.5678)
    assert interval(0.1, 0.2).text == "[.100, .200]" and interval(None, 0.2).text == "–"
    assert [signed(change).text for change in (2, -3, 0)] == ["+2", "−3", "="]


def test_latex_is_escaped():
    assert escape_latex(r"a_b\c{d}50%&#$~^<|>") == (
        r"a\_b\textbackslash{}c\{d\}50\%\&\#\$\textasciitilde{}\textasciicircum{}"
        r"\textless{}\textbar{}\textgreater{}"
    )
    assert escape_latex("two\nlines\x00") == "two lines"


def test_a_latex_table_has_booktabs_rules_caption_and_label():
    latex = to_latex(table("BLEU_1", "[x]"))
    for part in (
        r"\toprule", r"\midrule", r"\bottomrule", r"\begin{tabular}{lr}", r"\textbf{BLEU\_1} & .500 \\",
        r"\caption{A \& B. Bold: p \textless{} .05.}", r"\label{tab:segment-one}", r"\textbf{{[x]}}",
    ):  # fmt: skip
        assert part in latex, part


def test_markdown_cells_cannot_break_the_table():
    assert escape_markdown("a|b*c_[d](e)") == r"a\|b\*c\_\[d\](e)"
    lines = to_markdown(table("a|b")).splitlines()
    assert lines[2:5] == ["| metric | r |", "| :-- | --: |", r"| **a\|b** | .500 |"]


def test_html_is_escaped_and_names_its_rows():
    html = render_to_string("analysis/_report_table.html", {"table": table("<b>")})
    assert '<th scope="row"><strong>&lt;b&gt;</strong></th><td class="number">.500</td>' in html
    assert "<caption>A &amp; B</caption>" in html


def test_csv_has_all_digits():
    assert table("=x").csv().decode() == "metric,r\n'=x,0.5\n"


def test_an_interval_is_two_numbers_in_the_data():
    columns = [Column("metric", is_number=False), Column("95 % interval", parts=ENDS), Column("r")]
    rows = [
        [Cell("m", "m"), interval(-0.25, 0.5), correlation(-0.5)],
        [Cell("n", "n"), interval(None, None), correlation(None)],
    ]
    intervals = Table("t", "c", columns, rows)
    assert intervals.csv().decode() == (
        "metric,95 % interval low,95 % interval high,r\nm,-0.25,0.5,-0.5\nn,,,\n"
    )
    frame = intervals.frame().set_index("metric")
    assert list(frame.loc["m"]) == [-0.25, 0.5, -0.5] and frame.loc["n"].isna().all()
    assert set(frame.dtypes) == {np.dtype(float)}


def test_interval_limits_have_separate_columns_in_the_data():
    result = evaluate([metric("TER", 4)], [gold_table()]).result
    r = result.golds[0].segment[0].pearson
    for metrics in tables_of(result)[:2]:
        lines = metrics.csv().decode().splitlines()
        assert lines[0].startswith("metric,r,95 % interval low,95 % interval high,Spearman")
        assert "'" not in lines[1] and "[" not in lines[1]
    assert f"TER,{r.estimate!r},{r.low!r},{r.high!r}," in tables_of(result)[0].csv().decode()


def test_rows_of_another_length_are_refused():
    with pytest.raises(ValueError, match="`rows`"):
        Table("x", "x", [Column("a")], [[Cell("1"), Cell("2")]])


def test_every_table_that_marks_winners_names_the_test():
    tables = [metric("good", 0.3), metric("TER", 1, higher=False)]
    golds = [gold_table(), gold_table("two")]
    result = evaluate(tables, golds, options=Options(qe=True)).result
    by_name = {table.name: table for table in tables_of(result)}
    assert set(by_name) == {
        f"{kind}-{gold}"
        for kind in ("segment", "prediction", "system", "tests", "by-system")
        for gold in ("gold", "two")
    } | {"compared-segment-gold-two", "compared-system-gold-two"}
    for name, marked in by_name.items():
        has_bold = any(cell.bold for row in marked.rows for cell in row)
        assert not has_bold or "Bold: not significantly outperformed" in marked.note, name
    expected = "(t test by segment, one-sided, p < .05 after Holm's correction for 2 tests)"
    assert expected in by_name["segment-gold"].note
    assert "25 segments count as independent" in by_name["segment-gold"].note
    assert "permutation by segment, one-sided" in by_name["system-gold"].note
    assert expected in by_name["compared-segment-gold-two"].note
    segments = by_name["segment-gold"]
    assert segments.rows[0][0] == Cell("good", "good", bold=True)
    assert "Metrics where lower is better have their signs reversed." in segments.note
    assert "n = 100 translations of 25 segments by 4 systems." in segments.note


def test_the_published_tables_name_fisher_and_williams():
    tables = [metric("good", 0.3), metric("poor", 2)]
    options = Options(uncertainty="published")
    by_name = {
        table.name: table
        for table in tables_of(evaluate(tables, [gold_table()], options=options).result)
    }
    assert set(by_name) == {"segment-gold", "system-gold", "by-system-gold"}
    note = by_name["segment-gold"].note
    assert (
        "interval (Fisher)" in note and "(Williams test, one-sided, p < .05; as published" in note
    )
    assert "all translations count as independent, no correction" in note
    assert "as published: no correction" in by_name["system-gold"].note


def test_the_table_of_tests_counts_significant_pairs_before_and_after_correction():
    tables = [metric("good", 0.3), metric("fair", 0.8), metric("poor", 2)]
    result = evaluate(tables, [gold_table()]).result
    table = next(table for table in tables_of(result) if table.name == "tests-gold")
    measures = [(row[0].text, row[1].text) for row in table.rows]
    assert measures[:2] == [("segment level", "Pearson r"), ("segment level", "Spearman")]
    assert len(measures) == 11 and measures[8] == ("system level", "soft pairwise accuracy")
    assert [row[2].text for row in table.rows[9:]] == ["Williams test, for comparison"] * 2
    assert "For comparison: what another test of r would find" in table.note
    n_raw, n_adjusted = ([row[i].value for row in table.rows] for i in (4, 5))
    assert all(raw >= adjusted for raw, adjusted in zip(n_raw, n_adjusted, strict=True))
    assert table.rows[0][7].text == "good"


def test_upright_titles_are_rotated_in_latex_and_named_among_its_needs():
    table = Table(
        name="t",
        caption="C",
        columns=[Column("system", is_number=False), Column("A_1", is_upright=True)],
        rows=[[Cell("A_1"), Cell("1")]],
    )
    latex = to_latex(table)
    assert r"system & \rotatebox{90}{A\_1} \\" in latex
    assert latex.startswith(r"% Needs \usepackage{booktabs} and \usepackage{graphicx}.")
    assert "rotatebox" not in to_markdown(table)
