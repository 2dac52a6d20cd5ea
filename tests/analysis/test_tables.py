"""Tables for papers: escaped, rounded once, and with the test named."""

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
    ("value", "shown"),
    [(0.5496, ".550"), (-0.0114, "−.011"), (1.0, "1.000"), (0.9996, "1.000"), (-0.0001, ".000"),
     (-1.0, "−1.000"), (None, "–")],
)  # fmt: skip
def test_correlations_have_three_places_and_no_zero_before_the_point(value, shown):
    assert correlation(value).text == shown


def test_numbers_are_rounded_only_for_the_eye():
    assert number(1234.5678, 1) == Cell("1,234.6", 1234.5678)
    assert interval(0.1, 0.2).text == "[.100, .200]" and interval(None, 0.2).text == "–"
    assert [signed(change).text for change in (2, -3, 0)] == ["+2", "−3", "="]


def test_latex_sets_what_was_written():
    assert escape_latex(r"a_b\c{d}50%&#$~^<|>") == (
        r"a\_b\textbackslash{}c\{d\}50\%\&\#\$\textasciitilde{}\textasciicircum{}"
        r"\textless{}\textbar{}\textgreater{}"
    )
    assert escape_latex("two\nlines\x00") == "two lines"


def test_a_latex_table_has_booktabs_rules_caption_and_label():
    found = to_latex(table("BLEU_1", "[x]"))
    for part in (
        r"\toprule", r"\midrule", r"\bottomrule", r"\begin{tabular}{lr}", r"\textbf{BLEU\_1} & .500 \\",
        r"\caption{A \& B. Bold: p \textless{} .05.}", r"\label{tab:segment-one}", r"\textbf{{[x]}}",
    ):  # fmt: skip
        assert part in found, part


def test_markdown_cells_cannot_break_the_table():
    assert escape_markdown("a|b*c_[d](e)") == r"a\|b\*c\_\[d\](e)"
    lines = to_markdown(table("a|b")).splitlines()
    assert lines[2:5] == ["| metric | r |", "| :-- | --: |", r"| **a\|b** | .500 |"]


def test_html_is_escaped_and_names_its_rows():
    found = render_to_string("analysis/_report_table.html", {"table": table("<b>")})
    assert '<th scope="row"><strong>&lt;b&gt;</strong></th><td class="number">.500</td>' in found
    assert "<caption>A &amp; B</caption>" in found


def test_csv_has_all_digits():
    assert table("=x").csv().decode() == "metric,r\n'=x,0.5\n"


def test_as_data_an_interval_is_two_numbers():
    columns = [Column("metric", is_number=False), Column("95 % interval", parts=ENDS), Column("r")]
    rows = [
        [Cell("m", "m"), interval(-0.25, 0.5), correlation(-0.5)],
        [Cell("n", "n"), interval(None, None), correlation(None)],
    ]
    found = Table("t", "c", columns, rows)
    assert found.csv().decode() == (
        "metric,95 % interval low,95 % interval high,r\nm,-0.25,0.5,-0.5\nn,,,\n"
    )
    frame = found.frame().set_index("metric")
    assert list(frame.loc["m"]) == [-0.25, 0.5, -0.5] and frame.loc["n"].isna().all()
    assert set(frame.dtypes) == {np.dtype(float)}


def test_tables_of_metrics_have_the_ends_of_intervals_in_columns_of_their_own():
    result = evaluate([metric("TER", 4)], [gold_table()]).result
    (own,) = result.golds[0].segment
    for one in tables_of(result)[:2]:
        lines = one.csv().decode().splitlines()
        assert lines[0].startswith("metric,r,95 % interval low,95 % interval high,Spearman")
        assert "'" not in lines[1] and "[" not in lines[1]
    r = own.pearson
    assert f"TER,{r.estimate!r},{r.low!r},{r.high!r}," in tables_of(result)[0].csv().decode()


def test_rows_of_another_length_are_refused():
    with pytest.raises(ValueError, match="`rows`"):
        Table("x", "x", [Column("a")], [[Cell("1"), Cell("2")]])


def test_every_table_that_marks_winners_names_the_test():
    tables = [metric("good", 0.3), metric("TER", 1, higher=False)]
    golds = [gold_table(), gold_table("two")]
    found = {
        one.name: one for one in tables_of(evaluate(tables, golds, options=Options(qe=True)).result)
    }
    assert set(found) == {
        f"{kind}-{gold}"
        for kind in ("segment", "prediction", "system", "by-system")
        for gold in ("gold", "two")
    } | {"compared-segment-gold-two", "compared-system-gold-two"}
    for name, one in found.items():
        has_bold = any(cell.bold for row in one.rows for cell in row)
        assert not has_bold or "Williams test, one-sided, p < .05" in one.note, name
    assert found["segment-gold"].rows[0][0] == Cell("good", "good", bold=True)
    assert "Metrics where lower is better have their signs reversed." in found["segment-gold"].note
    assert "n = 100 translations of 25 segments by 4 systems." in found["segment-gold"].note
