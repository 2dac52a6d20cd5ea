"""Good enough? Metrics and predictions that find the translations whose gold is not."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse
from numpy.testing import assert_allclose
from scipy.stats import mannwhitneyu

from analysis.evaluation import EvaluationResult, Options, evaluate
from analysis.evaluation.mending import mended
from analysis.evaluation.pictures import pictures_of_result
from analysis.evaluation.report import findings
from analysis.evaluation.stored_evaluations import options_from
from analysis.evaluation.stored_inputs import EvaluationRefused
from analysis.evaluation.tables import tables_of
from analysis.scores.errors import ScoresRefused
from analysis.tables.writing import to_latex
from da_platform.jobs.models import Job
from da_platform.jobs.running import run_job
from tests.analysis.evaluation_tables import gold_table, keys, metric
from tests.api.callers import caller
from tests.evaluations import make_scored_campaign
from tests.people import client_of
from tests.subprocesses import CHECKOUT

OPTIONS = Options(good_enough=0, n_resamples=50)
GOLD = gold_table("DA")
GOOD, POOR, ERRORS = metric("good", 0.5), metric("poor", 3), metric("ter", 1, higher=False)
IS_BAD = GOLD.scores < 0


def found(metrics=(GOOD, POOR, ERRORS), gold=GOLD, **options):
    result = evaluate(list(metrics), [gold], options=replace(OPTIONS, **options)).result
    return result.golds[0].good_enough


def row_of(name, **options):
    return next(row for row in found(**options).rows if row.metric == name)


def test_the_best_comes_first_and_areas_are_those_of_mann_and_whitney():
    assert [row.metric for row in found().rows] == ["good", "ter", "poor"]
    assert (found().n, found().n_bad) == (len(GOLD.scores), IS_BAD.sum())
    for name, quality in (("good", GOOD.scores), ("ter", -ERRORS.scores)):
        statistic = mannwhitneyu(quality[~IS_BAD], quality[IS_BAD]).statistic
        roc = row_of(name).roc
        assert_allclose(roc.estimate, statistic / (IS_BAD.sum() * (~IS_BAD).sum()))
        assert roc.low < roc.estimate < roc.high


def test_curves_lead_from_nothing_to_everything():
    row = row_of("good")
    assert (row.found[0], row.found[-1], len(row.found)) == (0, 1, 101)
    assert list(row.found) == sorted(row.found)
    read = round(100 * row.reading[1])
    assert row.found[read] >= 0.9 - 0.02 > row.found[read - 5]


def test_predictions_are_also_taken_at_their_word():
    flagged = GOOD.scores < 0
    right = (flagged & IS_BAD).sum()
    expected = [flagged.mean(), right / IS_BAD.sum(), right / flagged.sum()]
    assert_allclose(row_of("good", qe=True).at_threshold, expected)
    # Error rates do not predict gold where higher is better.
    assert row_of("ter", qe=True).at_threshold == () == row_of("good").at_threshold


def test_where_lower_gold_is_better_the_threshold_is_the_highest_that_is_good_enough():
    hter = replace(GOLD, kind="hter", scores=-GOLD.scores, higher_is_better=False)
    scores = replace(GOOD, scores=-GOOD.scores, higher_is_better=False)
    flipped = found([scores], hter, good_enough=-0.0, qe=True).rows[0]
    assert flipped == row_of("good", qe=True)


def test_the_intervals_do_not_depend_on_the_other_metrics():
    assert found([GOOD]).rows[0] == row_of("good")


def test_the_table_the_figure_and_the_sentence():
    result = evaluate([GOOD, POOR], [GOLD], options=replace(OPTIONS, qe=True)).result
    table = next(table for table in tables_of(result) if table.name == "good-enough-da")
    assert [row[0].text for row in table.rows] == ["good", "poor", "(at random)"]
    share = (
        f"{IS_BAD.sum()} of {len(IS_BAD)} translations ({IS_BAD.mean():.1%}) are not good enough"
    )
    assert f"{share}: DA below 0." in table.note and "bootstrap of segments" in table.note
    assert r"\begin{table}" in to_latex(table)
    (picture,) = (each for each in pictures_of_result(result) if each.name == "flagging-da")
    assert picture.csv().startswith(b"metric,read,found,false_alarms,precision\n")
    assert len(picture.rows) == 2 * 101 and b"<svg" in picture.render("svg")
    assert any(f"{share}: DA below 0. good finds them best" in each for each in findings(result))
    assert "|good_enough:0|" in result.signature
    assert EvaluationResult.from_dict(json.loads(json.dumps(result.to_dict()))) == result


def test_documents_are_found_as_segments_are():
    documents = tuple(f"doc{(int(segment) - 1) // 5}" for _, segment in keys())
    result = evaluate(
        [GOOD], [replace(GOLD, documents=documents)], options=replace(OPTIONS, level="document")
    ).result
    assert result.golds[0].good_enough.n == 20
    assert any("of 20 translated documents" in each for each in findings(result))


def test_a_threshold_that_separates_nothing_is_refused():
    with pytest.raises(
        ScoresRefused, match="DA: has all of its scores on one side of 70"
    ) as refused:
        found(good_enough=70.0)
    (fix,) = {problem.fix for problem in refused.value.problems}
    assert mended(Job(arguments={"options": {"good_enough": 70}}), [fix])["options"] == {
        "good_enough": None,
        "without_systems": [],
    }
    # Another gold has another scale.
    raw = replace(GOLD, name="raw", scores=70 + 10 * GOLD.scores)
    result = evaluate([GOOD], [GOLD, raw], options=replace(OPTIONS, good_enough=70.0)).result
    assert [gold.good_enough is None for gold in result.golds] == [True, False]
    assert "By DA, all translations are good enough at 70, or none." in findings(result)


def test_a_threshold_that_is_no_number_is_refused():
    with pytest.raises(EvaluationRefused, match="`good_enough` must be a finite number"):
        options_from({"good_enough": float("nan")})


# Front doors ----------------------------------------------------------------------------------

EXAMPLE = Path(CHECKOUT) / "examples" / "quality"


def run_command(out: Path, threshold: str) -> None:
    files = (str(EXAMPLE / "predictions.tsv"), "--gold", f"da={EXAMPLE / 'gold.tsv'}")
    how = ("--qe", "--all-higher", "--good-enough", threshold, "--out", str(out))
    call_command("evaluate", *files, *how)


def test_the_documented_example_prints_what_the_documentation_says(tmp_path, capsys):
    run_command(tmp_path / "report", "60")
    printed, _, _ = capsys.readouterr().out.partition("Wrote")
    assert printed in (Path(CHECKOUT) / "docs" / "evaluation.md").read_text()
    assert (tmp_path / "report" / "figures" / "flagging-gold.svg").is_file()
    assert (tmp_path / "report" / "tables" / "good-enough-gold.tex").is_file()
    result = json.loads((tmp_path / "report" / "result.json").read_text())
    flat = result["golds"][0]["good_enough"]["rows"][1]
    assert flat["metric"] == "flat"
    assert_allclose(flat["at_threshold"][0], 1 / 60)
    with pytest.raises(CommandError, match="--good-enough must be a finite number"):
        run_command(tmp_path / "other", "nan")


@pytest.mark.django_db
def test_the_api_and_the_page_ask_what_is_good_enough():
    campaign = make_scored_campaign()
    ada = caller("researcher", campaign)
    answer = ada.post(
        f"/campaigns/{campaign.code}/evaluations",
        {"options": {"good_enough": 0, "n_resamples": 20}},
    )
    assert answer.status_code == 202, answer.content
    run_job(Job.objects.get(code=answer.json()["code"]).pk)
    evaluation = campaign.evaluations.get()
    address = f"/campaigns/{campaign.code}/evaluations/1"
    assert ada.get(f"{address}/tables/good-enough-gold-1", format="tex").status_code == 200
    picture = ada.get(f"{address}/pictures/flagging-gold-1", format="csv")
    assert picture.content.startswith(b"metric,read,found")
    client = client_of("researcher", campaign)
    page = client.get(reverse("evaluation", args=[evaluation.code])).content.decode()
    assert "Finding what is not good enough in gold 1" in page
    form = client.get(reverse("campaign_evaluate", args=[campaign.code])).content.decode()
    assert 'name="good_enough"' in form


def test_at_random_nothing_is_gained():
    rng = np.random.default_rng(8)
    noise = replace(GOOD, scores=rng.normal(size=len(GOLD.scores)))
    row = found([noise], n_resamples=200).rows[0]
    assert row.roc.low < 0.5 < row.roc.high
