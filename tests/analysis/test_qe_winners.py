"""Winners among predictions: bold and shaded in tables, by any sort key, from every way in."""

import json
from dataclasses import replace

import numpy as np
import pytest
from django.core.management import call_command

from analysis.evaluation import EvaluationResult, Options, evaluate
from analysis.evaluation.pictures import pictures_of_result
from analysis.evaluation.prediction_tables import prediction_table
from analysis.evaluation.report import findings
from analysis.evaluation.result_page import measures_offered
from analysis.evaluation.results import PREDICTION_SORTS, PredictionComparison
from analysis.evaluation.tables import tables_of
from analysis.scores.errors import ScoresRefused
from analysis.scores.score_tables import ScoreTable
from analysis.stats.quality_estimation import compare_predictions
from analysis.tables import to_latex, to_markdown
from tests.analysis.evaluation_tables import gold_scores, gold_table, keys, metric, write_table

GOOD, TWIN, POOR = metric("good", 0.3), metric("twin", 0.3, seed=9), metric("poor", 2, seed=4)
# Always near the mean: small errors, but hardly a ranking.
DULL = ScoreTable("dull", "segment", keys(), 0.01 * POOR.scores, True, "c" * 64)
QE = Options(qe=True, baseline="dull", n_resamples=200)


def evaluated(options: Options = QE):
    return evaluate([POOR, DULL, TWIN, GOOD], [gold_table()], options=options).result.golds[0]


def column(table, title: str) -> dict:
    place = [column.title for column in table.columns].index(title)
    return {row[0].text: row[place] for row in table.rows}


def test_winners_by_each_measure_are_bold():
    table = prediction_table(evaluated(), QE)
    for title in ("MAE", "DeltaAvg"):
        bold = {name for name, cell in column(table, title).items() if cell.bold}
        assert bold == {"good", "twin"}
    assert "t test by segment" in table.note
    assert "p < .05 after Holm's correction for 12 tests" in table.note


def test_what_does_not_differ_from_the_baseline_is_shaded():
    table = prediction_table(evaluated(), QE)
    # By MAE noise is worse than the mean; by DeltaAvg it is the same ranking.
    assert {name for name, cell in column(table, "MAE").items() if cell.shaded} == {"dull"}
    shaded = {name for name, cell in column(table, "DeltaAvg").items() if cell.shaded}
    assert shaded == {"dull", "poor"}
    assert "not significantly different from dull" in table.note
    assert r"\cellcolor[gray]{.85}" in to_latex(table) and "colortbl" in to_latex(table)
    assert " ° |" in to_markdown(table)


def test_without_a_baseline_nothing_is_shaded():
    options = replace(QE, baseline="")
    table = prediction_table(evaluated(options), options)
    assert not any(cell.shaded for row in table.rows for cell in row)
    assert "Shaded" not in table.note and "colortbl" not in to_latex(table)


@pytest.mark.parametrize("sort", PREDICTION_SORTS)
def test_the_table_is_sorted_by_the_chosen_measure(sort):
    options = replace(QE, sort=sort)
    table = prediction_table(evaluated(options), options)
    titles = {"r": "r", "mae": "MAE", "rmse": "RMSE", "delta_avg": "DeltaAvg"}
    # The last row is that of the mean, which is not a submission.
    values = [cell.value for cell in column(table, titles[sort]).values()][:-1]
    assert values == sorted(values, reverse=sort in ("r", "delta_avg"))
    assert f"Sorted by {titles[sort]}." in table.note


def test_the_published_tests_are_named_in_the_note():
    options = replace(QE, uncertainty="published")
    gold = evaluated(options)
    note = prediction_table(gold, options).note
    assert "paired bootstrap over translations, one-sided, p < .05." in note and "Holm" not in note
    assert gold.prediction_comparisons[0].correction == "none"
    assert "test:paired-bootstrap,200|" in gold.prediction_comparisons[0].signature


def test_the_findings_name_the_winners():
    result = evaluate([POOR, GOOD], [gold_table()], options=Options(qe=True)).result
    sentences = [sentence for sentence in findings(result) if "Best in" in sentence]
    assert sentences == [
        "Best in MAE, or not significantly worse (t test by segment, Holm's correction): good.",
        "Best in DeltaAvg, or not significantly worse (t test by segment, Holm's correction): good.",
    ]


def test_winners_are_the_best_and_those_not_significantly_worse():
    # Nobody significantly outperforms the third, but it is significantly worse than the best.
    pvalue = ((None, 0.2, 0.04), (0.8, None, 0.5), (0.96, 0.5, None))
    facts = {"metrics": ("one", "two", "three"), "pvalue": pvalue, "unit": "segment"}
    tests = PredictionComparison(
        measure="mae", correction="none", signature="", estimates=(0.1, 0.11, 0.2), **facts
    )
    assert tests.winners(0.05) == ("one", "two")
    by_delta = replace(tests, measure="delta_avg")
    assert by_delta.order == [2, 1, 0] and by_delta.winners(0.05) == ("one", "two", "three")


def test_errors_are_in_the_table_of_tests_and_have_a_map():
    result = evaluate([POOR, DULL, TWIN, GOOD], [gold_table()], options=QE).result
    table = next(table for table in tables_of(result) if table.name.startswith("tests"))
    rows = {row[1].text: [cell.text for cell in row[2:]] for row in table.rows}
    assert rows["MAE"][0] == rows["DeltaAvg"][0] == "t test by segment"
    assert int(rows["MAE"][2]) >= int(rows["MAE"][3]) and rows["MAE"][5] == "good, twin"
    assert "the best and those not significantly worse" in table.note
    (picture,) = (
        picture
        for picture in pictures_of_result(result)
        if picture.name == "significance-segment-mae-gold"
    )
    assert b"good" in picture.csv()
    assert "segment-delta_avg" in measures_offered(result)


def test_resampling_draws_segments_for_errors_too():
    options = replace(QE, uncertainty="resampling")
    gold = evaluated(options)
    mae = gold.prediction_comparisons[0]
    assert (mae.unit, mae.test, mae.correction) == ("segment", "bootstrap", "holm")
    segments = np.tile(np.arange(25), 4)
    scores = [table.scores for table in (POOR, DULL, TWIN, GOOD)]
    expected = compare_predictions(
        scores,
        gold_scores(),
        "mae",
        higher_is_better=True,
        segments=segments,
        rng=np.random.default_rng(options.seed),
        n_resamples=200,
    )
    np.testing.assert_allclose(np.array(mae.pvalue, dtype=float), expected.pvalue)
    assert "paired bootstrap by segment" in prediction_table(gold, options).note


def test_a_single_submission_is_not_tested():
    gold = evaluate([GOOD], [gold_table()], options=Options(qe=True)).result.golds[0]
    assert gold.prediction_comparisons == ()
    assert "paired bootstrap" not in prediction_table(gold, Options(qe=True)).note


def test_an_evaluation_stored_before_there_were_winners_still_opens():
    result = evaluate([POOR, GOOD], [gold_table()], options=Options(qe=True)).result
    facts = result.to_dict()
    for gold in facts["golds"]:
        del gold["prediction_comparisons"]
    for name in ("baseline", "sort", "uncertainty", "correction"):
        del facts["options"][name]
    restored = EvaluationResult.from_dict(facts)
    assert restored.golds[0].prediction_comparisons == ()
    assert prediction_table(restored.golds[0], restored.options).rows


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (Options(qe=True, baseline="other"), "there is no metric 'other' to use as the baseline"),
        (Options(baseline="good"), "a baseline needs quality estimation"),
    ],
)
def test_a_baseline_that_cannot_be_used_is_refused(options, reason):
    with pytest.raises(ScoresRefused, match=reason):
        evaluate([POOR, GOOD], [gold_table()], options=options)


def test_the_command_takes_a_baseline_and_a_sort_key(tmp_path, capsys):
    noise = np.random.default_rng(3).normal(size=(2, len(keys())))
    gold = gold_scores()
    scores = {"good": gold + 0.2 * noise[0], "dull": 0.01 * noise[1]}
    predictions = write_table(tmp_path / "p.tsv", scores)
    truth = write_table(tmp_path / "gold.tsv", {"score": gold})
    call_command(
        *("evaluate", str(predictions), "--gold", f"da={truth}", "--qe", "--all-higher"),
        *("--baseline", "dull", "--sort", "mae", "--out", str(tmp_path / "report")),
    )
    assert "Best in MAE, or not significantly worse" in capsys.readouterr().out
    page = (tmp_path / "report" / "index.html").read_text()
    assert 'class="number shaded"' in page and "different from dull" in page
    options = json.loads((tmp_path / "report" / "result.json").read_text())["options"]
    assert (options["baseline"], options["sort"]) == ("dull", "mae")
    assert (tmp_path / "report" / "figures" / "standardised-good-gold.svg").exists()
